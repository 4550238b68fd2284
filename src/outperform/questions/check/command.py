"""The command `outperform check`."""

import shlex
from time import monotonic

import click

from outperform.cli.options import debug_option
from outperform.cli.output import (
    format_duration,
    print_caveats,
    print_headline,
    print_json,
    print_table,
)
from outperform.cli.progress import ProgressBar, describe_pace
from outperform.cli.sources import read_study
from outperform.engines import Engine, open_engine
from outperform.questions.check.answer import Reproducibility, check_reproducibility, count_checks
from outperform.runner.cost import measure_seconds
from outperform.study.study import Study


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
    with open_engine(f"local:{workers}" if workers else "local") as engine:
        _announce(study, seeds, repeats, engine)
        began = monotonic()

        def report(n_done: int, n_fits: int) -> None:
            pace = describe_pace(n_done, n_fits - n_done, began)
            bar(n_done, n_fits, f"{n_done} of {n_fits} fits done, {pace}")

        with ProgressBar("checking") as bar:
            found = check_reproducibility(
                study, engine, n_seeds=seeds, n_repeats=repeats, report=report
            )
    if as_json:
        print_json(found.to_dict())
    else:
        _print(found)
        click.echo(f"\nNext: {_suggest(found, study_file)}")


def _announce(study: Study, n_seeds: int, n_repeats: int, engine: Engine) -> None:
    """Say how many fits it takes and how long, where JSON is not disturbed."""
    n_fits = count_checks(study, n_seeds=n_seeds, n_repeats=n_repeats)
    seconds, workers = measure_seconds(study, engine), engine.n_workers
    for failure in seconds.failures:
        click.secho(f"Note: {failure}", fg="yellow", err=True)
    duration = format_duration(seconds.add_up(n_fits, workers))
    click.echo(
        f"{sum(n_fits.values())} fits, {n_seeds} seeds of every source {n_repeats} times each: "
        f"{seconds.about} {duration} on {workers} worker(s)",
        err=True,
    )


def _print(found: Reproducibility) -> None:
    print_headline(found, fg="green" if found.reproducible else "yellow")
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


def _suggest(found: Reproducibility, study_file: str) -> str:
    if found.reproducible:
        return f"outperform run {shlex.quote(study_file)}"
    return (
        "find what draws without its seed, pass the seed on and check again; what then still "
        "differs is numerical noise, part of every score."
    )
