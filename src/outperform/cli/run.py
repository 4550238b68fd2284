"""The command `outperform run`."""

import sys
import time
from dataclasses import replace
from pathlib import Path

import click

from outperform.analysis.comparing import compare_runs
from outperform.analysis.comparison import TaskComparisons
from outperform.analysis.stored_runs import load_store_runs
from outperform.cli.options import debug_option
from outperform.cli.output import format_duration, print_table
from outperform.cli.sources import read_study
from outperform.engines import LocalEngine
from outperform.engines.local import count_cores
from outperform.errors import InvalidInput, UnknownName
from outperform.runner import Progress, describe_changes, describe_study, run, time_fits
from outperform.runs.naming import suggest_names
from outperform.stats import smallest_conclusive
from outperform.store import SqliteStore
from outperform.study.estimators import FixHopt, Ideal
from outperform.study.study import Study

_PATIENCE = 20.0  # seconds given to the fits that are timed before a study starts
_EVERY = {True: 0.2, False: 30.0}  # seconds between lines of progress, on a terminal or not


@click.command()
@click.argument("study_file", metavar="STUDY.toml")
@click.option("--store", "store_file", metavar="FILE", help="Store.  [default: STUDY.db]")
@click.option("--workers", type=click.IntRange(min=1), help="Processes.  [default: all cores]")
@click.option("--dry-run", is_flag=True, help="Say what would be done and what it would cost.")
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
    study = read_study(study_file)
    if until_decided:
        _check_pair(study, until_decided)
    try:
        with SqliteStore(store_file or Path(study_file).with_suffix(".db")) as store:
            if dry_run:
                _announce(study, store, workers or count_cores())
            else:
                store.lock()
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
    _announce(study, store, workers)
    with LocalEngine(workers, timeout=study.timeout) as engine:
        if until_decided:
            progress = _run_until_decided(study, store, engine, until_decided, retry_failed)
        else:
            progress = _run_all(study, store, engine, retry_failed)
    _finish(study, store, progress, until_decided)


def _announce(study: Study, store: SqliteStore, workers: int) -> None:
    """What has changed, and fits and time of the estimators chosen beside the others."""
    before = store.get_meta("study") if store.path.exists() else None
    now = describe_study(study, before)
    for change in describe_changes(before, now):
        click.secho(f"Note: {change}.", fg="yellow")
    seconds = store.mean_seconds() if before else None
    seconds, about = (seconds, "about") if seconds is not None else _time_fits(study, workers)
    click.echo(
        f"{study.name}: {len(study.pipelines)} pipeline(s) on {len(study.tasks)} task(s), "
        f"{study.tuner} search with {study.n_trials} trials; one fit takes {about} {seconds:.2g} s"
    )
    print_table(
        ["estimator", "fits", f"time on {workers} worker(s)", ""],
        [
            [
                kind,
                f"{n_fits:,}",
                format_duration(n_fits * seconds / workers),
                "chosen" if kind in now["estimators"] else "",
            ]
            for kind, n_fits in now["prices"].items()
        ],
    )


def _time_fits(study: Study, workers: int) -> tuple[float, str]:
    """Mean seconds of one fit of each kind, and whether that is about right or more."""
    patience = min(_PATIENCE, study.timeout or _PATIENCE)
    with LocalEngine(workers, timeout=patience) as engine:
        outcomes = time_fits(study, engine)
    for (pipeline, task), outcome in sorted(outcomes.items()):
        if outcome.kind in ("error", "died"):
            click.secho(
                f"Note: a first fit of {pipeline} on {task}, with default hyperparameters, "
                f"failed: {_last_line(outcome.error)}",
                fg="yellow",
            )
    late = any(outcome.kind == "timeout" for outcome in outcomes.values())
    mean = sum(outcome.seconds for outcome in outcomes.values()) / len(outcomes)
    return mean, "more than" if late else "about"


class _ProgressLine:
    """Says how far a run has come: live on a terminal, now and then elsewhere."""

    def __init__(self) -> None:
        self.live = sys.stderr.isatty()
        self.began = self.shown = time.monotonic()

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        if now - self.shown < _EVERY[self.live]:
            return
        self.shown = now
        rate = (progress.n_done + progress.n_failed) / (now - self.began)
        left = format_duration(progress.n_left / rate) if rate else "?"
        line = (
            f"{progress.n_known + progress.n_done} done, {progress.n_failed} failed, "
            f"{progress.n_left} left, {rate:.1f} fits/s, {left} to go"
        )
        click.echo(f"\r{line}\x1b[K" if self.live else line, nl=not self.live, err=True)

    def clear(self) -> None:
        """Make room for what is said at the end."""
        if self.live:
            click.echo("\r\x1b[K", nl=False, err=True)


def _run_all(study: Study, store: SqliteStore, engine: LocalEngine, retry_failed: bool) -> Progress:
    line = _ProgressLine()
    try:
        return run(study, store, engine, retry_failed=retry_failed, report=line)
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
    if any(status == "failed" for _, _, status in store.counts()):
        click.echo(f"Why fits failed: outperform status {store.path}")
    names = [pipeline.name for pipeline in study.pipelines]
    kinds = {estimator.kind for estimator in study.estimators}
    if until_decided:  # runs stopped when decided need the interval that allows it
        pair = " ".join(until_decided)
        click.echo(f"\nNext: outperform compare {store.path} {pair} --sequential")
    elif len(names) > 1 and kinds & {"ideal", "fix-hopt"}:
        click.echo(f"\nNext: outperform compare {store.path} {names[0]} {names[1]}")
    elif kinds & {"variance", "crossed"}:
        click.echo(f"\nNext: outperform decompose {store.path}")


def _run_until_decided(
    study: Study,
    store: SqliteStore,
    engine: LocalEngine,
    pair: tuple[str, str],
    retry_failed: bool,
) -> Progress:
    """Add replicates until the anytime-valid interval decides, or the study's number is reached."""
    designs = [e for e in study.estimators if isinstance(e, Ideal | FixHopt)]
    most = max(design.n_replicates for design in designs)
    n, progress = min(most, smallest_conclusive(0.05)), Progress(0)
    while True:
        parts = tuple(replace(e, n_replicates=min(n, e.n_replicates)) for e in designs)
        part = replace(study, estimators=parts)
        progress = _add_up(progress, _run_all(part, store, engine, retry_failed))
        runs = load_store_runs(store)
        result = compare_runs(runs, *pair, interval="anytime", drop_incomplete=True)
        click.echo(f"{n} replicates: {result}")
        comparisons = result.comparisons if isinstance(result, TaskComparisons) else (result,)
        if all(comparison.winner is not None for comparison in comparisons):
            click.echo(f"Decided after {n} of the {most} replicates that the study allows.")
            return progress
        if n == most:
            click.echo(f"Undecided after all {most} replicates that the study allows.")
            return progress
        n, retry_failed = min(most, n + max(1, n // 4)), False


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
    if not all(isinstance(estimator, Ideal | FixHopt) for estimator in study.estimators):
        raise InvalidInput(
            "--until-decided adds replicates, but the study has estimators without pairs",
            "Keep only ideal or fix-hopt in the study",
        )


def _last_line(error: str | None) -> str:
    return ((error or "").strip().splitlines() or ["unknown"])[-1]
