"""What a run will cost: fits and time of every design, and what is left of them."""

from collections.abc import Mapping
from itertools import chain
from shlex import quote
from typing import TYPE_CHECKING, Any

from outperform.cli.options import print_json
from outperform.cli.progress import say_if_slow
from outperform.engines import Engine
from outperform.questions.result import Table
from outperform.render.terminal import print_table, say
from outperform.runner.cost import FitSeconds, LeftFits, measure_seconds
from outperform.runner.description import Pair, find_unchanged
from outperform.store import Store
from outperform.study.designs import count_fits
from outperform.study.study import Study
from outperform.wording import count, format_duration

if TYPE_CHECKING:
    from outperform.questions.compare.decision import PlannedDecision


def find_seconds(
    study: Study,
    store: Store,
    before: Mapping[str, Any] | None,
    now: Mapping[str, Any],
    per_fit: float | None,
) -> FitSeconds:
    """Seconds of a fit as recorded from the same code, else as told."""
    seconds = {} if per_fit is None else {draw.pair: per_fit for draw in study.draws}
    if before is not None:
        recorded = store.mean_seconds()
        unchanged = find_unchanged(before, now, however_searched=True)
        seconds |= {pair: recorded[pair] for pair in recorded if pair in unchanged}
    return FitSeconds(seconds)


def time_one_fit_each(study: Study, engine: Engine, known: FitSeconds) -> FitSeconds:
    """Seconds of a fit as measured, where they are not known."""
    with say_if_slow("Timing a fit of every pipeline on every task ..."):
        seconds = measure_seconds(study, engine, known.by_pair)
    for failure in seconds.failures:
        say(f"Note: {failure}", fg="yellow", err=True)
    return seconds


class Costs:
    """Fits and time of every design: those of the study and, to compare, ideal and fix-hopt.

    Where two are to be decided, it is what that may take, at most.
    """

    def __init__(
        self,
        study: Study,
        description: Mapping[str, Any],
        seconds: FitSeconds,
        n_workers: int,
        planned: "PlannedDecision | None",
    ) -> None:
        self.study, self.description, self.planned = study, description, planned
        self.seconds, self.n_workers = seconds, n_workers
        self.n_fits = {
            kind: {(pipeline, task): n for pipeline, task, n in prices}
            for kind, prices in description["prices"].items()
        }
        if planned:
            pairs = [draw for draw in study.draws if draw.pipeline.name in planned.names]
            longest = (planned.longest,)
            self.n_fits = {
                planned.design.kind: {draw.pair: count_fits(longest, draw) for draw in pairs}
            }
        self.left: dict[str, Mapping[Pair, int]] | None = None  # of the designs that are chosen
        self.n_left = 0  # of all of them together

    def count_left(self, store: Store, *, retry_failed: bool) -> None:
        """Count what would still be done; fits that several designs need are done once."""
        chosen = [kind for kind in self.n_fits if kind in self.description["kinds"]]
        designs = {
            kind: tuple(each for each in self.study.designs if each.kind == kind) for kind in chosen
        }
        names: tuple[str, ...] = ()
        if self.planned:
            designs, names = {self.planned.design.kind: (self.planned.longest,)}, self.planned.names
        every = tuple(chain.from_iterable(designs.values()))
        if not store.exists() or not store.counts():
            self.left = {kind: self.n_fits[kind] for kind in chosen}
            self.n_left = self.study.count_fits(every, names)
            return
        if self.planned and not retry_failed and self._has_ended(store):
            self.left = {self.planned.design.kind: {}}
            return
        with say_if_slow("Counting the fits that are left ..."):
            counter = LeftFits(self.study, store, self.description, retry_failed=retry_failed)
            self.left = {kind: counter.count(own, names) for kind, own in designs.items()}
            total = self.left[chosen[0]] if len(chosen) == 1 else counter.count(every, names)
        self.n_left = sum(total.values())

    def _has_ended(self, store: Store) -> bool:
        """Whether the test of two has ended, on runs that still are what they were."""
        assert self.planned is not None
        unchanged = find_unchanged(store.get_meta("study"), self.description)
        pairs = self.n_fits[self.planned.design.kind]
        return self.planned.has_ended(store) and pairs.keys() <= {*unchanged}

    def show(self, store: Store, *, as_json: bool) -> None:
        """Print what would be done, and what to do next."""
        if as_json:
            about = {"study": self.study.name, "n_workers": self.n_workers, "n_left": self.n_left}
            designs = [self._describe(kind) for kind in self.n_fits]
            print_json({**about, "designs": designs}, kind="RunCost")
            return
        self._show_table()
        if not self.n_left:
            say("", f"Next: nothing is left to do; outperform status {quote(store.address)}")
            return
        chosen = [kind for kind in self.n_fits if kind in self.description["kinds"]]
        timed = all(self._describe(kind)["seconds"] is not None for kind in chosen)
        how = "pass --seconds-per-fit, or --measure to time a fit of each pipeline; then "
        most = "at most " if self.planned else ""
        does = f"the same command without --dry-run does {most}{self.n_left:,} fits."
        say("", f"Next: {'' if timed else how}{does}")

    def show_ahead(self, store: Store, *, retry_failed: bool, as_json: bool) -> None:
        """Print what a run will do before it starts, what is left if resumed; programs get none."""
        if as_json:
            return
        if store.counts():
            self.count_left(store, retry_failed=retry_failed)
        self._show_table()

    def _show_table(self) -> None:
        """Print a table, of what is left too where that was counted."""
        counted = self.left is not None
        rows = []
        for cost in map(self._describe, self.n_fits):
            time = "?" if cost["seconds"] is None else format_duration(cost["seconds"])
            left = "–" if cost["n_left"] is None else f"{cost['n_left']:,}"
            row = [cost["design"], f"{cost['n_fits']:,}", *([left] if counted else []), time]
            rows.append([*row, "chosen" if cost["chosen"] else ""])
        left_column = ["left"] if counted else []
        header = ["design", "fits", *left_column, f"time on {count(self.n_workers, 'worker')}", ""]
        print_table(Table(header, rows))

    def _describe(self, kind: str) -> dict[str, Any]:
        """Cost of a design: of what is left of it, or of all where that was not counted."""
        n_fits = self.n_fits[kind]
        n_left = None if self.left is None else self.left.get(kind)
        to_do = {pair: n for pair, n in (n_fits if n_left is None else n_left).items() if n}
        is_timed = to_do.keys() <= self.seconds.by_pair.keys()
        return {
            "design": kind,
            "n_fits": sum(n_fits.values()),
            "n_left": None if n_left is None else sum(n_left.values()),
            "seconds": self.seconds.add_up(to_do, self.n_workers) if is_timed else None,
            "chosen": kind in self.description["kinds"],
        }
