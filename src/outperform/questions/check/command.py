"""The command `outperform check`."""

import shlex

import click

from outperform.cli.options import debug_option
from outperform.cli.output import print_json
from outperform.cli.progress import LiveLine, measure_seconds
from outperform.cli.sources import read_study
from outperform.engines import LocalEngine
from outperform.engines.local import count_cores
from outperform.questions.check.answer import Reproducibility, check_reproducibility, count_checks
from outperform.render.terminal import print_result
from outperform.study.study import Study
from outperform.wording import format_duration


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
    study, n_workers = read_study(study_file), workers or count_cores()
    _announce(study, seeds, repeats, n_workers)
    line = LiveLine()

    def report(n_done: int, n_fits: int) -> None:
        if line.is_due():
            line.show(n_done, n_fits - n_done, f"{n_done} of {n_fits} fits done")

    try:
        with LocalEngine(n_workers, timeout=study.timeout) as engine:
            found = check_reproducibility(
                study, engine, n_seeds=seeds, n_repeats=repeats, report=report
            )
    finally:
        line.clear()
    if as_json:
        print_json(found.to_dict())
    else:
        print_result(found)
        click.echo(f"\nNext: {_suggest(found, study_file)}")


def _announce(study: Study, n_seeds: int, n_repeats: int, workers: int) -> None:
    """Say how many fits it takes and how long, where JSON is not disturbed."""
    n_fits = count_checks(study, n_seeds=n_seeds, n_repeats=n_repeats)
    seconds = measure_seconds(study, workers)
    duration = format_duration(seconds.add_up(n_fits, workers))
    click.echo(
        f"{sum(n_fits.values())} fits, {n_seeds} seeds of every source {n_repeats} times each: "
        f"{seconds.about} {duration} on {workers} worker(s)",
        err=True,
    )


def _suggest(found: Reproducibility, study_file: str) -> str:
    if found.reproducible:
        return f"outperform run {shlex.quote(study_file)}"
    return (
        "find what draws without its seed, pass the seed on and check again; what then still "
        "differs is numerical noise, part of every score."
    )
