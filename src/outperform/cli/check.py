"""The command `outperform check`."""

import sys

import click

from outperform.analysis.reproducibility import Reproducibility, check_reproducibility
from outperform.cli.options import debug_option
from outperform.cli.output import print_caveats, print_json, print_table
from outperform.cli.sources import read_study
from outperform.engines import LocalEngine
from outperform.engines.local import count_cores


@click.command()
@click.argument("study_file", metavar="STUDY.toml")
@click.option("--seeds", default=5, show_default=True, help="Seeds of each source.")
@click.option("--repeats", default=5, show_default=True, help="Runs of each seed.")
@click.option("--workers", type=click.IntRange(min=1), help="Processes.  [default: all cores]")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@debug_option
def command(study_file: str, seeds: int, repeats: int, workers: int | None, as_json: bool) -> None:
    """Check that every seed does what it should.

    \b
        outperform check study.toml

    Fits each pipeline with several seeds of every source it honours, several times each: the same
    seed must repeat the score, another should change it. Differences within a seed are numerical
    noise, and are measured. Nothing is recorded.
    """
    study = read_study(study_file)
    with LocalEngine(workers or count_cores(), timeout=study.timeout) as engine:
        found = check_reproducibility(
            study, engine, n_seeds=seeds, n_repeats=repeats, report=_show_progress
        )
    if as_json:
        print_json(found.to_dict())
    else:
        _print(found)


def _show_progress(n_done: int, n_fits: int) -> None:
    if sys.stderr.isatty():
        click.echo(f"\r{n_done} of {n_fits} fits done ", nl=n_done == n_fits, err=True)


def _print(found: Reproducibility) -> None:
    click.secho(str(found), fg="green" if found.reproducible else "yellow", bold=True)
    click.echo()
    print_table(
        ["pipeline", "task", "source", "finding", "between seeds", "within a seed", "sd within"],
        [
            [
                check.pipeline,
                check.task,
                check.source,
                check.finding,
                f"{check.spread:.3g}",
                f"{check.noise:.3g}",
                f"{check.noise_sd:.3g}",
            ]
            for check in found.checks
        ],
    )
    print_caveats(found.caveats)
