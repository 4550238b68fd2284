"""Which fits would complete the picture, and what they cost."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from outperform.plain_values import Plain
from outperform.store.repeated_runs import RepeatedRuns, Repeats
from outperform.study.sources import ALL

KINDS = ("fix-hopt", "simulated-hopt", "resampled-hopt")  # of designs that search once
N_REPETITIONS = 20  # of Bouthillier et al. (2021)
N_REPLICATES = 50  # of a design that is not there yet
N_IDEAL = 50
_ENOUGH_TRIALS = 20  # for a surrogate


@dataclass(frozen=True, slots=True)
class MissingFits(Plain):
    """A design that a study should have, as its file says it, and what that costs."""

    line: str
    n_fits: int  # more than there are
    seconds: float


def count_trials(study: Mapping[str, Any], pipeline: str) -> int:
    """Fits of one search of a pipeline; 0 where there is nothing to search."""
    plan = study.get("plan")
    if plan is None:  # of an older version, or a design is the person's own
        words = str(study["search"]).split()
        return int(words[-2])
    own = next(each for each in plan["pipelines"] if each["name"] == pipeline)
    return int(plan["trials"]) if own["space"] else 0


def list_missing(
    runs: RepeatedRuns,
    pairs: Collection[tuple[str, str]],
    seconds: Mapping[tuple[str, str], float],
) -> Iterator[MissingFits]:
    """Designs to add or to repeat, each as if it were the only one that is added."""
    n_ideal = max((d["replicates"] for d in runs.designs if d["design"] == "ideal"), default=0)
    searched = max([n_ideal, *(r.n_repetitions for k in KINDS for r in _repeats(runs, k).values())])

    def price(line: str, n_searches: int, n_final: int) -> MissingFits:
        """So many searches, as far as they are not there yet, and final fits."""
        n_new = max(0, n_searches - searched)
        n_fits = {pair: n_new * count_trials(runs.study, pair[0]) + n_final for pair in pairs}
        time = sum(n * seconds.get(pair, 0.0) for pair, n in n_fits.items())
        return MissingFits(f"[[design]] {line}", sum(n_fits.values()), time)

    if n_ideal < N_IDEAL:
        yield price(f'kind = "ideal", replicates = {N_IDEAL}', N_IDEAL, N_IDEAL - n_ideal)
    for kind in KINDS:
        for source, has in _repeats(runs, kind).items():
            if has.n_repetitions < N_REPETITIONS or has.n_replicates < 2:
                k = max(has.n_replicates, 2)
                n_shared = min(n_ideal, N_REPETITIONS) if kind == "fix-hopt" else 0
                there = max(has.n_repetitions * has.n_replicates, n_shared)
                yield price(_write(kind, source, k), N_REPETITIONS, N_REPETITIONS * k - there)


def _repeats(runs: RepeatedRuns, kind: str) -> Mapping[str, Repeats]:
    """What there is of a kind; where it is not there and could be, none of what there should be."""
    known = runs.count_repeats(kind)
    if known or not (kind == "fix-hopt" or _can_redraw_searches(runs.study)):
        return known
    return {ALL: Repeats(N_REPLICATES, 0)}


def _can_redraw_searches(study: Mapping[str, Any]) -> bool:
    """Whether searches can surely be simulated, and redrawn from their trials."""
    plan = study.get("plan")
    return (
        plan is not None
        and plan["tuner"] == "random"
        and plan["trials"] >= _ENOUGH_TRIALS
        and all(pipeline["space"] for pipeline in plan["pipelines"])
    )


def _write(kind: str, source: str, n_replicates: int) -> str:
    listed = ", ".join(f'"{name}"' for name in source.split("+"))
    vary = "" if source == ALL else f", vary = [{listed}]"
    return f'kind = "{kind}", replicates = {n_replicates}, repetitions = {N_REPETITIONS}{vary}'
