"""Reasons to doubt what makes scores vary."""

from collections.abc import Iterator

from outperform.questions.decompose.result import Decomposition, join_sources
from outperform.stats import VarianceComponents
from outperform.study.sources import NOISE, SPLIT
from outperform.wording import enumerate_names

_FEW_RUNS = 20
_FEW_LEVELS = 10


def doubt_sources(result: Decomposition, n_test: int | None) -> Iterator[str]:
    """What sources redrawn alone do not show, which look odd, and a test size of no use."""
    yield (
        "each source was redrawn alone, so shares do not add up to 1 and interactions are unseen; "
        "a crossed design tells both"
    )
    if result.reference != SPLIT:
        why = "does not vary" if SPLIT in {v.source for v in result.sources} else "is not there"
        yield f"split {why}: shares are of {result.reference}, the largest source"
    noise = next((v.sd.value for v in result.sources if v.source == NOISE), 0.0)
    if noise > 0:
        yield (
            f"noise is not 0: the same seeds give scores with a standard deviation of {noise:.3g}, "
            "which is part of every other source's"
        )
    idle = [v.source for v in result.sources if v.source != NOISE and v.sd.value == 0]
    if idle:
        used = "is its seed" if len(idle) == 1 else "are their seeds"
        yield f"redrawing {enumerate_names(idle)} changed no score: {used} used?"
    few = {v.source: v.n for v in result.sources if v.n < _FEW_RUNS}
    if few:
        listed = enumerate_names(f"{source} ({n})" for source, n in few.items())
        if len(few) == len(result.sources) > 1 and len({*few.values()}) == 1:
            listed = f"each source ({min(few.values())})"
        normal = ", and below 5 they hold for normal scores only" if min(few.values()) < 5 else ""
        yield f"fewer than {_FEW_RUNS} runs of {listed}: their intervals are rough{normal}"
    if result.failed:
        whole = {v.source: v.n for v in result.sources}
        listed = enumerate_names(
            f"{n} of {n + whole.get(source, 0)} of {source}" for source, n in result.failed.items()
        )
        yield (
            f"runs that failed are left out, {listed}: if they went badly, redrawing that makes "
            "scores vary more than is seen here"
        )
    if n_test is not None and all(v.binomial_sd is None for v in result.sources):
        yield (
            f"no binomial model of {result.metric}: it is for accuracies and error rates between 0 "
            "and 1, so named"
        )


def doubt_components(parts: VarianceComponents) -> Iterator[str]:
    """What components of variance rest on."""
    highest = parts.components[-1]
    yield (
        f"{join_sources(highest.names)} includes numerical noise, which one run per combination "
        "cannot tell from it"
    )
    yield "intervals are for normal effects: with heavier tails they are too short"
    negative = [join_sources(c.names) for c in parts.components if c.variance.value < 0]
    if negative:
        yield (
            f"negative estimates of {enumerate_names(negative)}: their variance is small beside "
            "the error of its estimate; they have no share"
        )
    levels = zip(parts.names, parts.levels, strict=True)
    few = [f"{name} ({n})" for name, n in levels if n < _FEW_LEVELS]
    if few:
        yield f"fewer than {_FEW_LEVELS} levels of {enumerate_names(few)}: components are rough"
