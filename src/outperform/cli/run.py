"""The command `outperform run`."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import click
import numpy as np

from outperform.cli.options import debug_option
from outperform.cli.progress import FitSeconds, LiveLine, measure_seconds
from outperform.cli.sources import read_study
from outperform.engines import LocalEngine
from outperform.engines.local import count_cores
from outperform.errors import InvalidInput, UnknownName
from outperform.questions.compare.answer import compare_runs
from outperform.questions.compare.result import Comparison
from outperform.questions.compare.task_results import TaskComparisons
from outperform.questions.result import Table
from outperform.render.terminal import print_table
from outperform.runner import Progress, describe_changes, describe_study, find_same_code, run
from outperform.runs import Runs
from outperform.stats import smallest_conclusive
from outperform.stats.checks import check_positive
from outperform.store import SqliteStore
from outperform.store.final_runs import load_store_runs
from outperform.study.designs import FixHopt, Ideal
from outperform.study.study import Study
from outperform.wording import format_duration, suggest_names

_PAIRED = ("ideal", "fix-hopt")  # designs whose runs are paired


@click.command()
@click.argument("study_file", metavar="STUDY.toml")
@click.option("--store", "store_file", metavar="FILE", help="Store.  [default: STUDY.db]")
@click.option("--workers", type=click.IntRange(min=1), help="Processes.  [default: all cores]")
@click.option(
    "--dry-run", is_flag=True, help="Say what would be done and what it would cost; train nothing."
)
@click.option(
    "--seconds-per-fit", type=float, help="What a fit takes, where the store does not know it."
)
@click.option(
    "--measure", is_flag=True, help="With --dry-run: time a fit of every pipeline on every task."
)
@click.option("--retry-failed", is_flag=True, help="Try again what failed before.")
@click.option(
    "--until-decided",
    nargs=2,
    metavar="A B",
    help="Stop as soon as the anytime-valid interval decides between A and B.",
)
@debug_option
@click.pass_context
def command(
    ctx: click.Context,
    study_file: str,
    store_file: str | None,
    workers: int | None,
    dry_run: bool,
    seconds_per_fit: float | None,
    measure: bool,
    retry_failed: bool,
    until_decided: tuple[str, str] | None,
) -> None:
    """Do the fits of a study that are still missing.

    \b
        outperform run study.toml
        outperform run study.toml --dry-run
        outperform run study.toml --until-decided svm forest

    Interrupt it whenever you like: the same command resumes, and nothing is lost.
    """
    if measure and not dry_run:
        raise click.UsageError("--measure is for --dry-run: a run is timed by its own fits.")
    if seconds_per_fit is not None:
        check_positive("--seconds-per-fit", seconds_per_fit)
    cost = _Cost(seconds_per_fit, measure)
    study = read_study(study_file)
    if until_decided:
        _check_pair(study, until_decided)
    try:
        with SqliteStore(store_file or Path(study_file).with_suffix(".db")) as store:
            if dry_run:
                _announce(study, store, workers or count_cores(), cost)
            else:
                store.lock()
                _announce(study, store, workers or count_cores(), cost)
                _run(study, store, workers or count_cores(), until_decided, retry_failed)
    except KeyboardInterrupt:
        click.echo(
            "Interrupted. All that was finished is recorded: the same command resumes.", err=True
        )
        ctx.exit(130)


def _run(
    study: Study,
    store: SqliteStore,
    workers: int,
    until_decided: tuple[str, str] | None,
    retry_failed: bool,
) -> None:
    with LocalEngine(workers, timeout=study.timeout) as engine:
        if until_decided:
            progress = _run_until_decided(study, store, engine, until_decided, retry_failed)
        else:
            progress = _run_all(study, store, engine, retry_failed)
    _finish(study, store, progress, until_decided)


@dataclass(frozen=True, slots=True)
class _Cost:
    """What is told of the seconds of a fit, where the store does not know them."""

    per_fit: float | None = None
    measure: bool = False  # by fits that are thrown away


def _announce(study: Study, store: SqliteStore, workers: int, cost: _Cost) -> None:
    """What has changed, and fits and time of the designs chosen beside the others."""
    before = store.get_meta("study") if store.path.exists() else None
    now = describe_study(study, before)
    for change in describe_changes(before, now):
        click.secho(f"Note: {change}.", fg="yellow")
    known = store.mean_seconds() if before else {}
    unchanged = find_same_code(before, now)
    kept = {pair: known[pair] for pair in known if pair in unchanged}
    if cost.measure:
        seconds = measure_seconds(study, workers, kept)
    else:
        every = [(p.name, t.name) for t in study.tasks for p in study.pipelines]
        told = {} if cost.per_fit is None else dict.fromkeys(every, cost.per_fit)
        seconds = FitSeconds(told | kept)
    click.echo(
        f"{study.name}: {len(study.pipelines)} pipeline(s) on {len(study.tasks)} task(s), "
        f"{study.tuner} search with {study.n_trials} trials; {seconds}"
    )
    rows = []
    for kind, prices in now["prices"].items():
        n_fits = {(pipeline, task): n for pipeline, task, n in prices}
        known_of_all = n_fits.keys() <= seconds.by_pair.keys()
        duration = format_duration(seconds.add_up(n_fits, workers)) if known_of_all else "?"
        chosen = "chosen" if kind in now["kinds"] else ""
        rows.append([kind, f"{sum(n_fits.values()):,}", duration, chosen])
    print_table(Table(["design", "fits", f"time on {workers} worker(s)", ""], rows))


def _run_all(
    study: Study,
    store: SqliteStore,
    engine: LocalEngine,
    retry_failed: bool,
    whole: Study | None = None,
) -> Progress:
    line = LiveLine()

    def report(progress: Progress) -> None:
        if line.is_due():
            words = (
                f"{progress.n_known + progress.n_done} done, {progress.n_failed} failed, "
                f"{progress.n_left} left"
            )
            line.show(progress.n_done + progress.n_failed, progress.n_left, words)

    try:
        return run(study, store, engine, retry_failed=retry_failed, report=report, whole=whole)
    finally:
        line.clear()


def _finish(
    study: Study, store: SqliteStore, progress: Progress, until_decided: tuple[str, str] | None
) -> None:
    """What was done, what went wrong, and what to do next."""
    click.echo(
        f"{progress.n_done} fits done now, {progress.n_known} were recorded before, "
        f"{progress.n_failed} failed"
    )
    for noise in sorted(set(progress.noise)):
        click.secho(f"Note: {noise}.", fg="yellow")
    for where, n_runs in progress.blocked.items():
        click.secho(
            f"Note: {n_runs} run(s) of {where} cannot be done: every trial of their search failed.",
            fg="yellow",
        )
    n_failed = sum(n for (_, _, status), n in store.counts().items() if status == "failed")
    if n_failed:
        click.echo(f"{n_failed} of all recorded fits failed: outperform status {store.path}")
    _suggest_next(study, store, until_decided)


def _suggest_next(study: Study, store: SqliteStore, until_decided: tuple[str, str] | None) -> None:
    """Name the command that shows what the runs tell."""
    scores = store.scores()
    done = [label for label in store.run_labels() if label.key in scores]
    paired = {label.pipeline for label in done if label.design in _PAIRED}
    names = [pipeline.name for pipeline in study.pipelines if pipeline.name in paired]
    if until_decided:  # runs stopped when decided need the interval that allows it
        pair = " ".join(until_decided)
        click.echo(f"\nNext: outperform compare {store.path} {pair} --sequential")
    elif len(names) > 1:
        click.echo(f"\nNext: outperform compare {store.path} {names[0]} {names[1]}")
    elif any(label.design not in _PAIRED for label in done):
        click.echo(f"\nNext: outperform decompose {store.path}")


def _run_until_decided(
    study: Study,
    store: SqliteStore,
    engine: LocalEngine,
    pair: tuple[str, str],
    retry_failed: bool,
) -> Progress:
    """Add replicates until the anytime-valid interval decides, or the study's number is reached."""
    design = _choose_design(study)
    most = design.n_replicates
    n, progress = min(most, smallest_conclusive(0.05)), Progress(0)
    while True:
        part = replace(study, designs=(replace(design, n_replicates=n),))
        progress = _add_up(progress, _run_all(part, store, engine, retry_failed, whole=study))
        runs = _take_first(load_store_runs(store, design.kind), n)
        result = compare_runs(runs, *pair, interval="anytime", drop_incomplete=True)
        click.echo(f"{n} replicates: {result}")
        comparisons = result.comparisons if isinstance(result, TaskComparisons) else (result,)
        if all(comparison.winner is not None for comparison in comparisons):
            click.echo(_describe_decision(comparisons, n, most))
            return progress
        if n == most:
            click.echo(f"Undecided after all {most} replicates that the study allows.")
            return progress
        n, retry_failed = min(most, n + max(1, n // 4)), False


def _describe_decision(comparisons: Sequence[Comparison], n: int, most: int) -> str:
    """Say what is decided: never more than this dataset, of which no number of splits tells all."""
    after = f"after {n} of the {most} replicates that the study allows"
    known = [comparison for comparison in comparisons if comparison.population is not None]
    if not known:
        return f"Decided {after}."
    if len(comparisons) > 1:
        n_shown = sum(bool(comparison.holds_for_population) for comparison in known)
        beyond = f"that is shown on {n_shown} of {len(comparisons)} tasks, were this the only look"
        return f"Decided on these datasets {after}; for other data like them {beyond}."
    population = known[0].population
    assert population is not None
    pvalue = f"p = {population.pvalue:.2g}"
    if known[0].holds_for_population:
        beyond = f"too, were this the only look ({pvalue})"
    else:
        beyond = f"that is not shown ({pvalue})"
        if math.isfinite(population.floor):
            floor = f"{population.floor:.2g}"
            beyond += f", and no number of splits of it shows a difference below {floor}"
    return f"Decided on this dataset {after}; for other data like it {beyond}."


def _choose_design(study: Study) -> Ideal | FixHopt:
    """The design whose runs `outperform compare` takes."""
    designs = [
        replace(e, n_repetitions=1) if isinstance(e, FixHopt) else e  # only the first is compared
        for e in study.designs
        if isinstance(e, Ideal | FixHopt)
    ]
    return min(designs, key=lambda e: (e.kind != "ideal", "+".join(getattr(e, "vary", ()))))


def _take_first(runs: Runs, n_replicates: int) -> Runs:
    """Leave out later replicates, which a store may hold from a run before."""
    assert runs.replicates is not None
    early = np.array([int(label) < n_replicates for label in runs.replicates])[runs.replicate]
    columns = ("algorithm", "task", "replicate", "score", "row")
    return replace(runs, **{name: getattr(runs, name)[early] for name in columns})


def _add_up(earlier: Progress, later: Progress) -> Progress:
    """Progress over two runs; what the first has done, the second has found recorded."""
    return replace(
        later,
        n_known=later.n_known - earlier.n_done - earlier.n_failed,
        n_done=earlier.n_done + later.n_done,
        n_failed=earlier.n_failed + later.n_failed,
        noise=earlier.noise + later.noise,
    )


def _check_pair(study: Study, pair: tuple[str, str]) -> None:
    names = [pipeline.name for pipeline in study.pipelines]
    for name in pair:
        if name not in names:
            raise UnknownName(f"the study has no pipeline {name!r}", suggest_names(name, names))
    if not all(isinstance(design, Ideal | FixHopt) for design in study.designs):
        raise InvalidInput(
            "--until-decided adds replicates, but the study has designs without pairs",
            "Keep only ideal or fix-hopt in the study",
        )
