"""The command `outperform run`, and where the fits of a study file run."""

from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from shlex import quote
from time import monotonic
from typing import TYPE_CHECKING

import click

from outperform.cli import FAILURES, INTERRUPTED
from outperform.cli.options import (
    alpha_option,
    beta_option,
    debug_option,
    find_given,
    gamma_option,
    print_json,
)
from outperform.cli.progress import ProgressBar, describe_pace, describe_undone, say_if_slow
from outperform.cli.status import suggest_command
from outperform.engines import Engine, open_engine
from outperform.errors import OutperformError
from outperform.questions.result import Table
from outperform.render.terminal import print_result, print_table, say
from outperform.runner import Coordinator, Progress, describe_changes
from outperform.runner.cost import FitSeconds, RunCost, find_seconds, measure_seconds, price_run
from outperform.runner.spool import LEAST_PATIENCE, PATIENCE, find_heartbeat
from outperform.runner.stored_study import StoredStudy
from outperform.stats.checks import check_positive
from outperform.store import open_store
from outperform.store.planned_runs import find_needed_failures
from outperform.study.study import Study
from outperform.study.study_file import EngineTable, read_study_file
from outperform.wording import count, enumerate_names, format_duration

if TYPE_CHECKING:
    from outperform.questions.compare.until_decided import PlannedDecision

# Options that say nothing of the rule by which --until-decided decides.
_ALL_BUT_RULE = {
    *("study_file", "address", "engine", "workers", "dry_run", "seconds_per_fit", "measure"),
    *("spool", "retry_failed", "until_decided"),
}


@click.command()
@click.argument("study_file", metavar="STUDY.toml")
@click.option(
    "--store",
    "address",
    metavar="STORE",
    help="Store: a file, or postgresql://HOST/DATABASE.  [default: STUDY.db]",
)
@click.option(
    "--engine",
    metavar="ENGINE",
    help="Where fits run: local, local:4, dask://HOST:PORT, ray://HOST:PORT, module:executor, "
    "inline.  [default: [engine] of STUDY.toml, else local]",
)
@click.option("--workers", type=click.IntRange(min=1), help="Short for --engine local:N.")
@click.option(
    "--dry-run", is_flag=True, help="Say what would be done and what it would cost; train nothing."
)
@click.option(
    "--seconds-per-fit", type=float, help="What a fit takes, where the store does not know it."
)
@click.option(
    "--measure", is_flag=True, help="With --dry-run: time a fit of every pipeline on every task."
)
@click.option(
    "--spool",
    metavar="DIR",
    help="Folder that workers share: results are kept there until they are recorded.",
)
@click.option("--retry-failed", is_flag=True, help="Try again what failed before.")
@click.option(
    "--until-decided",
    nargs=2,
    metavar="A B",
    help="Train A and B only, until a sequential test between ½ and γ decides.",
)
@gamma_option
@alpha_option
@beta_option
@click.option(
    "--new-rule",
    is_flag=True,
    help="With --until-decided: change the rule after a look, which the store tells ever after.",
)
@click.option("--json", "as_json", is_flag=True, help="Print what came out as JSON.")
@debug_option
@click.pass_context
def command(
    ctx: click.Context,
    study_file: str,
    address: str | None,
    engine: str | None,
    workers: int | None,
    dry_run: bool,
    seconds_per_fit: float | None,
    measure: bool,
    spool: str | None,
    retry_failed: bool,
    until_decided: tuple[str, str] | None,
    gamma: float,
    alpha: float,
    beta: float,
    new_rule: bool,
    as_json: bool,
) -> None:
    """Do the fits of a study that are still missing.

    \b
        outperform run study.toml
        outperform run study.toml --dry-run
        outperform run study.toml --until-decided svm forest

    Interrupt it whenever you like: the same command resumes, and nothing is lost.

    Exit status: 0 all fits are done; 4 done, but some failed; 130 interrupted; 2 bad input. With
    --until-decided: 0 decided, which may be that neither has an advantage of γ; 3 undecided.
    """
    if measure and not dry_run:
        raise click.UsageError(
            "--measure is for --dry-run, as a run is timed by its own fits: leave it out."
        )
    if seconds_per_fit is not None:
        check_positive("--seconds-per-fit", seconds_per_fit)
    study, table = read_study_file(study_file)
    planned = _plan_decision(study, until_decided, gamma, alpha, beta)
    folder = None if dry_run else spool or table.spool
    try:
        with (
            open_store(address or Path(study_file).with_suffix(".db")) as store,
            open_place(table, engine, workers, spool=folder) as opened,
        ):
            if not dry_run:
                store.lock()
            if planned and store.exists():  # another rule is refused before anything is said
                from outperform.questions.compare.until_decided import check_rule

                check_rule(store, planned, new_rule=new_rule)
            stored = StoredStudy(study, store, retry_failed=retry_failed)
            seconds = find_seconds(stored, seconds_per_fit)
            if measure:
                seconds = _time_one_fit_each(study, opened, seconds)
            _announce(stored, seconds, planned, err=as_json)
            if dry_run or not as_json:
                n_workers, is_asked = opened.n_workers, dry_run or stored.n_recorded > 0
                with say_if_slow("Counting the fits that are left ..."):
                    cost = price_run(stored, seconds, n_workers, planned, counts_left=is_asked)
                if dry_run:
                    _show_dry_run(cost, store.address, may_end_early=bool(planned), as_json=as_json)
                    return
                _show_ahead(cost)
            coordinator = Coordinator(stored, opened, spool=folder)
            run = _Run(coordinator, as_json)
            status = run.decide(planned, new_rule=new_rule) if planned else run.finish()
    except KeyboardInterrupt:
        say("Interrupted. All that was finished is recorded: the same command resumes.", err=True)
        status = INTERRUPTED
    if status:  # who calls this command from another goes on where all is well
        ctx.exit(status)


def _plan_decision(
    study: Study, pair: tuple[str, str] | None, gamma: float, alpha: float, beta: float
) -> "PlannedDecision | None":
    """Plan by which rule two are decided, where they are to be."""
    if pair is None:
        if given := find_given(_ALL_BUT_RULE):
            raise click.UsageError(f"{', '.join(given)} is for --until-decided A B.")
        return None
    from outperform.questions.compare.until_decided import plan_decision  # imports scipy

    return plan_decision(study, *pair, gamma=gamma, alpha=alpha, beta=beta)


def _announce(
    stored: StoredStudy, seconds: FitSeconds, planned: "PlannedDecision | None", *, err: bool
) -> None:
    """What has changed, what the study is, and how two are decided."""
    study = stored.study
    for change in describe_changes(stored.before, stored.now) if stored.before else ():
        say(f"Note: {change}.", fg="yellow", err=err)
    pipelines, tasks = count(len(study.pipelines), "pipeline"), count(len(study.tasks), "task")
    say(
        f"{study.name}: {pipelines} on {tasks}, {study.tuner} search with "
        f"{count(study.trials, 'trial')}; {seconds}",
        err=err,
    )
    if planned:
        say(f"{planned}.", err=err)
        names = [each.name for each in study.pipelines if each.name not in planned.names]
        if names:
            say(f"Only these two are trained, not {enumerate_names(names)}.", err=err)


class _Run:
    """A run that is under way, and what is said of it."""

    def __init__(self, coordinator: Coordinator, as_json: bool) -> None:
        self.coordinator, self.as_json = coordinator, as_json
        self.bar, self.began = ProgressBar("fitting"), monotonic()
        self._awaited: str | None = None  # what the engine waits for, as far as was said

    def finish(self) -> int:
        """Do all that is missing; the exit status."""
        with self.bar:
            progress = self.coordinator.run(report=self._show)
        if self.as_json:
            others = {"n_failed_in_study": self._n_failed, "store": self.coordinator.store.address}
            print_json({**asdict(progress), **others}, kind="Run")
        else:
            self._sum_up()
            stored, scores = self.coordinator.stored, self.coordinator.known
            if advice := suggest_command(stored.store, stored.now, scores, self._n_failed):
                say("", f"Next: {advice}")
        return FAILURES if self._n_failed or progress.unsimulated else 0

    def decide(self, planned: "PlannedDecision", *, new_rule: bool) -> int:
        """Do no more than decides between two; the exit status."""
        from outperform.questions.compare.until_decided import add_replicates

        try:
            with self.bar:
                decision = add_replicates(
                    self.coordinator,
                    planned,
                    new_rule=new_rule,
                    report=self._show,
                    show=lambda look: say(look, err=True),
                )
        except OutperformError as error:
            if not self._n_failed:
                raise
            self._sum_up()
            say(f"Error: {error.problem}.", fg="red", err=True)
            say(f"{error.remedy}.", err=True)
            return FAILURES
        if self.as_json:
            print_json(decision.to_dict())
        else:
            self._sum_up()
            print_result(decision)
        return decision.exit_status

    def _show(self, progress: Progress) -> None:
        before, self._awaited = self._awaited, self.coordinator.engine.waits_for
        if self._awaited and self._awaited != before:
            say(f"Note: {self._awaited}.", fg="yellow", err=True)
        if monotonic() >= self.bar.due:
            pace = describe_pace(progress.n_done + progress.n_failed, progress.n_left, self.began)
            self.bar(progress.n_fits - progress.n_left, progress.n_fits, f"{progress}, {pace}")

    def _sum_up(self) -> None:
        """What was done, and what went wrong."""
        progress, address = self.coordinator.progress, self.coordinator.store.address
        say(
            f"{progress.n_done} fits done now, {progress.n_known} were recorded before, "
            f"{progress.n_failed} failed"
        )
        notes = [*sorted(set(progress.noise)), progress.shortage, *progress.spool]
        notes += describe_undone(progress.blocked, progress.unsimulated, progress.refusals)
        for note in filter(None, notes):
            say(f"Note: {note}.", fg="yellow")
        if self._n_failed:
            say(f"{self._n_failed} of the study's fits failed: outperform status {quote(address)}")

    @cached_property
    def _n_failed(self) -> int:
        """Failed fits, of this run or before it, that the study needs; for when the run is over."""
        return len(find_needed_failures(self.coordinator.store))


def _time_one_fit_each(study: Study, engine: Engine, known: FitSeconds) -> FitSeconds:
    """Seconds of a fit as measured, where they are not known."""
    with say_if_slow("Timing a fit of every pipeline on every task ..."):
        seconds = measure_seconds(study, engine, known.by_pair)
    for failure in seconds.failures:
        say(f"Note: {failure}", fg="yellow", err=True)
    return seconds


def _show_dry_run(cost: RunCost, address: str, *, may_end_early: bool, as_json: bool) -> None:
    """Print what a run into a store would do, and what to do next."""
    if as_json:
        print_json(cost.to_dict(), kind="RunCost")
        return
    _show_ahead(cost)
    if not cost.n_left:
        say("", f"Next: nothing is left to do; outperform status {quote(address)}")
        return
    timed = all(each.seconds is not None for each in cost.designs if each.chosen)
    how = "pass --seconds-per-fit, or --measure to time a fit of each pipeline; then "
    most = "at most " if may_end_early else ""
    does = f"the same command without --dry-run does {most}{cost.n_left:,} fits."
    say("", f"Next: {'' if timed else how}{does}")


def _show_ahead(cost: RunCost) -> None:
    """Print what a run will do before it starts, and what is left where that was counted."""
    counted = any(each.n_left is not None for each in cost.designs)
    rows = []
    for each in cost.designs:
        time = "?" if each.seconds is None else format_duration(each.seconds)
        left = "–" if each.n_left is None else f"{each.n_left:,}"
        row = [each.design, f"{each.n_fits:,}", *([left] if counted else []), time]
        rows.append([*row, "chosen" if each.chosen else ""])
    left_column = ["left"] if counted else []
    header = ["design", "fits", *left_column, f"time on {count(cost.n_workers, 'worker')}", ""]
    print_table(Table(header, rows))


def open_place(
    table: EngineTable,
    address: str | None,
    workers: int | None,
    *,
    spool: str | Path | None = None,
) -> Engine:
    """Engine of an address or of so many local workers; of the table [engine] if neither is given.

    Options in that table are for the kind of engine that it names. In the spool, somebody has to
    keep a heartbeat: without it, workers take us for dead.
    """
    if address and workers:
        raise click.UsageError("--workers N is short for --engine local:N: give one of them.")
    click.get_current_context().meta["engine options"] = table.options  # no error shows them
    own = table.address or "local"
    where = address or (f"local:{workers}" if workers else own)
    kind, own_kind = where.partition(":")[0], own.partition(":")[0]
    options = table.options
    if options and kind != own_kind:
        say(
            f"Note: the study file's [engine.options] are for {own_kind}, and left out on {kind}.",
            fg="yellow",
            err=True,
        )
        options = {}
    patience = PATIENCE if table.patience is None else max(table.patience, LEAST_PATIENCE)
    heartbeat = None if spool is None else find_heartbeat(spool)
    return open_engine(where, options, heartbeat=heartbeat, patience=patience)
