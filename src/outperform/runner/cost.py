"""What a study will cost: seconds of a fit, as recorded, told or measured, and fits left to do."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from outperform.engines import Engine, Outcome
from outperform.engines.engine import summarize_error
from outperform.runner.description import Pair, Recorded, find_kept, read_recorded
from outperform.runner.planning import Planner
from outperform.runner.work import FitWork, list_needs
from outperform.store import Store
from outperform.study.designs import Design
from outperform.study.fits import Draw
from outperform.study.spaces import default_params
from outperform.study.study import Study
from outperform.wording import format_fit_time

_PATIENCE = 20.0  # seconds given to the fits that are timed before a study starts
_QUICK = 10.0  # seconds that a fit may take to be timed once more


@dataclass(frozen=True, slots=True)
class FitSeconds:
    """Mean seconds of a fit, for every pipeline on every task that they are known of."""

    by_pair: Mapping[Pair, float]
    late: bool = False  # a fit was given up: it takes longer
    failures: tuple[str, ...] = ()  # what was said of fits that failed when they were timed

    @property
    def about(self) -> str:
        """How sure the times are."""
        return "more than" if self.late else "about"

    def add_up(self, n_fits: Mapping[Pair, int], workers: int) -> float:
        """Seconds that so many fits of each pair take on so many workers, of which one does one."""
        some = {pair: n for pair, n in n_fits.items() if n}
        total = sum(n * self.by_pair[pair] for pair, n in some.items())
        return max(total / workers, max((self.by_pair[pair] for pair in some), default=0.0))

    def __str__(self) -> str:
        if not self.by_pair:
            return "how long a fit takes is not known yet"
        seconds = self.by_pair.__getitem__
        quick, slow = min(self.by_pair, key=seconds), max(self.by_pair, key=seconds)
        least, most = seconds(quick), seconds(slow)
        if most < 2 * least:
            mean = sum(self.by_pair.values()) / len(self.by_pair)
            return f"one fit takes {self.about} {format_fit_time(mean)}"
        return (
            f"one fit takes {self.about} {format_fit_time(least)} ({' on '.join(quick)}) to "
            f"{format_fit_time(most)} ({' on '.join(slow)})"
        )


def measure_seconds(
    study: Study, engine: Engine, known: Mapping[Pair, float] | None = None
) -> FitSeconds:
    """Seconds of a fit of every pair, timed by a fit that is thrown away where not known.

    Hyperparameters are the defaults.
    """
    known = known or {}
    draws = [draw for draw in study.draws if draw.pair not in known]
    outcomes = _time_fits(study, engine, draws)
    if all(outcome.seconds < _QUICK for outcome in outcomes.values()):
        outcomes = _time_fits(study, engine, draws)  # those before paid for imports
    timed = {pair: outcome.seconds for pair, outcome in outcomes.items()}
    late = any(outcome.kind == "timeout" for outcome in outcomes.values())
    failures = (
        f"a first fit of {pipeline} on {task}, with default hyperparameters, failed: "
        f"{summarize_error(outcome.error)}"
        for (pipeline, task), outcome in sorted(outcomes.items())
        if outcome.kind in ("error", "died")
    )
    return FitSeconds({**known, **timed}, late, tuple(failures))


def _time_fits(study: Study, engine: Engine, draws: Sequence[Draw]) -> dict[Pair, Outcome]:
    work, needs = FitWork.of(study), list_needs(study)
    patience = min(_PATIENCE, study.timeout or _PATIENCE)
    for draw in draws:
        params = default_params(draw.pipeline.space)
        fit = draw.make_fit(params, *draw.seeds({}), refit=True)
        engine.submit(work, fit, tag=draw.pair, timeout=patience, needs=needs[fit.pipeline])
    outcomes: dict[Pair, Outcome] = {}
    while len(outcomes) < len(draws):
        outcomes.update({outcome.tag: outcome for outcome in engine.wait()})
    return outcomes


class LeftFits:
    """Counts the fits that a run would still do, at most; nothing is written.

    They are planned as the run would, as far as the recorded fits go. Where all that is recorded
    has been met, no search is followed any more: of 100,000 fits, that takes seconds.
    """

    def __init__(
        self, study: Study, store: Store, description: Mapping[str, Any], *, retry_failed: bool
    ) -> None:
        self._study = study
        known, runs = read_recorded(store, retry_failed=retry_failed)
        # As `enter_study` forgets runs.
        before = store.get_meta("study")
        kept = {*find_kept(before, description, retry_failed=retry_failed)}
        finished = {role: key for role, key in runs.items() if role[3:] in kept}
        about = (study, store, description, Recorded(known, finished))
        self._plan = partial(Planner, *about, retry_failed=retry_failed, only_counts=True)

    def count(
        self, designs: tuple[Design, ...] | None = None, pipelines: Collection[str] = ()
    ) -> Counter[Pair]:
        """Fits left of what `Study.plan_runs` plans, for every pair of pipeline and task."""
        planner = self._plan()
        for order, planned in enumerate(self._study.plan_runs(designs, pipelines)):
            planner.take_up(order, planned)
        return planner.count_missing()
