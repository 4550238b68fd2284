"""Reasons to doubt what designs are said to be worth."""

from collections.abc import Iterator, Sequence

from outperform.questions.quality.result import PairQuality
from outperform.wording import enumerate_names

_FEW_REPETITIONS = 10
_TOO_FEW = 4  # repetitions, below which intervals are of little use
_FEW_IDEAL = 30


def doubt_quality(pairs: Sequence[PairQuality]) -> Iterator[str]:
    """What the numbers rest on, and where there are too few of them."""
    designs = {each.name: each.quality for pair in pairs for each in pair.designs}
    if designs:
        yield (
            "intervals are for normal scores; those of equivalent replicates and of fits needed "
            "take the ideal runs and the repetitions as independent, although they share searches"
        )
    if len(designs) > 1:
        yield (
            "which design is the cheapest is seen by the same runs as its ratio, which therefore "
            "looks smaller than it is, the more so the closer the designs are"
        )
    numbers = {name: quality.n_repetitions for name, quality in designs.items()}
    useless = [f"{name} ({n})" for name, n in numbers.items() if n < _TOO_FEW]
    if useless:
        yield f"so few repetitions tell next to nothing of the error: {enumerate_names(useless)}"
    few = [f"{name} ({n})" for name, n in numbers.items() if _TOO_FEW <= n < _FEW_REPETITIONS]
    if few:
        yield f"fewer than {_FEW_REPETITIONS} repetitions are rough: {enumerate_names(few)}"
    small = [
        f"{p.name} ({p.ideal.n_replicates})" for p in pairs if p.ideal.n_replicates < _FEW_IDEAL
    ]
    if small:
        yield (
            f"fewer than {_FEW_IDEAL} ideal replicates tell the true mean and deviation roughly: "
            f"{enumerate_names(small, limit=4)}"
        )
    yield from _doubt_costs(pairs)


def _doubt_costs(pairs: Sequence[PairQuality]) -> Iterator[str]:
    """Where a design may be no cheaper than the ideal one, and where luck makes it look better."""
    measured = [(f"{each.name} for {p.name}", each.quality) for p in pairs for each in p.designs]
    unsure = [
        name for name, q in measured if q.reach.ratio.value < 1 <= q.reach.ratio.interval.high
    ]
    if unsure:
        yield (
            "estimated to be cheaper than the ideal design, and not shown to be, as the interval "
            f"of the fits needed goes beyond 100%: {enumerate_names(unsure, limit=4)}"
        )
    lucky = [
        f"{name} (ρ = {q.correlation.value:.2g})"
        for name, q in measured
        if q.correlation.value < 0 and q.equivalent.values[-1] > q.n_scores
    ]
    if lucky:
        yield (
            "worth more ideal replicates than it has fits, which is chance, as ρ below 0 is: "
            f"{enumerate_names(lucky, limit=4)}"
        )
    repeated = {each.name for pair in pairs for each in pair.designs}
    deviations = [each for pair in pairs for each in pair.deviations if each.name not in repeated]
    single = dict.fromkeys(each.name for each in deviations if each.estimates.n_repetitions == 1)
    if single:
        yield (
            f"{enumerate_names(single)}: done once, so nothing tells its bias, ρ or error; only "
            "its standard deviation is known"
        )
    reaches = [(f"{name} ({q.reach.n_scores:g})", q) for name, q in measured]
    far = [name for name, q in reaches if q.n_scores < q.reach.n_scores < float("inf")]
    if far:
        yield (
            "more replicates of a search are needed than were measured, and equation 7 says how "
            f"they would do: {enumerate_names(far, limit=4)}"
        )
