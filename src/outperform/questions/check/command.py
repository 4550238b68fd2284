"""The command `outperform check`."""

import shlex
from time import monotonic
from typing import Any

import click

from outperform.cli import FAILURES
from outperform.cli.options import debug_option, print_json
from outperform.cli.progress import ProgressBar, describe_pace
from outperform.cli.run import open_place
from outperform.questions.check.answer import check, plan_checks
from outperform.questions.check.result import THOROUGH
from outperform.render.terminal import print_result, say
from outperform.study.study_file import read_study_file
from outperform.wording import count

_QUICK = 2  # seeds of each source, and runs of each seed


@click.command()
@click.argument("study_file", metavar="STUDY.toml")
@click.option(
    "--pipeline", "pipelines", metavar="NAME", multiple=True, help="Only this one; may be repeated."
)
@click.option(
    "--source", "sources", metavar="NAME", multiple=True, help="Only this one; may be repeated."
)
@click.option("--thorough", is_flag=True, help="Five seeds of each source, five runs of each.")
@click.option(
    "--seeds",
    type=int,
    help="Seeds of each source; up to 5 where they change nothing.  [default: 2]",
)
@click.option("--repeats", type=int, help="Runs of each seed.  [default: 2]")
@click.option("--gate", is_flag=True, help="Exit with 1 if a seed is noisy or unused.")
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    help="Processes here.  [default: [engine] of STUDY.toml, else all cores]",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@debug_option
def command(
    study_file: str,
    thorough: bool,
    seeds: int | None,
    repeats: int | None,
    gate: bool,
    workers: int | None,
    as_json: bool,
    **chosen: Any,
) -> None:
    """Check that every seed does what it should.

    \b
        outperform check study.toml
        outperform check study.toml --pipeline mine --source init
        outperform check study.toml --thorough --gate

    Fits each pipeline with two seeds of every source it honours, twice each: the same seed must
    repeat the score, another should change it. Where both seeds give the same score, which few test
    examples make likely, three more are tried. Differences within a seed are numerical noise, and
    are measured; global generators (random, numpy, torch) that are drawn from unseeded are named.
    Nothing is recorded.

    Exit status: 0 all were checked; 4 some pipelines were not, as fits of theirs failed; with
    --gate, 1 if a seed is noisy or unused.
    """
    study, table = read_study_file(study_file)
    usual = THOROUGH if thorough else _QUICK
    n_seeds, n_repeats = (usual if n is None else n for n in (seeds, repeats))
    plans = plan_checks(study, n_seeds=n_seeds, **chosen)
    began = monotonic()

    def report(n_done: int, n_fits: int) -> None:
        pace = describe_pace(n_done, n_fits - n_done, began)
        bar(n_done, n_fits, f"{n_done} of {n_fits} fits done, {pace}")

    with open_place(table, None, workers) as engine:
        n_fits = n_repeats * sum(len(plan.first_fits) for plan in plans)
        more = "; more seeds where these change nothing" if n_seeds < THOROUGH else ""
        say(
            f"{n_fits} fits, {n_seeds} seeds of every source {n_repeats} times each, on "
            f"{count(engine.n_workers, 'worker')}{more}",
            err=True,
        )
        with ProgressBar("checking") as bar:
            chosen |= {"n_seeds": n_seeds, "n_repeats": n_repeats}
            result = check(study, engine, report=report, **chosen)
    if as_json:
        print_json(result.to_dict())
    else:
        print_result(result)
        if result.passed:
            say("", f"Next: outperform run {shlex.quote(study_file)}")
    if gate and result.doubted:
        raise click.exceptions.Exit(1)
    if result.failed:
        raise click.exceptions.Exit(FAILURES)
