"""What is to be said where the fits of a study ran on different versions or processors."""

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import combinations

from outperform.store.store import Store
from outperform.wording import join_words

# Difference between the shares of two algorithms' fits that ran on one version: from here on, more
# of them ran apart than together.
_APART = 0.5
_N_SHOWN = 3  # values of one name

_Counts = Mapping[str, Counter[str]]  # by algorithm, fits by version


def describe_versions(store: Store) -> Iterator[str]:
    """Say where runs of a study differ in what they ran on, and whether algorithms do.

    Where that is not known of a fit, as in stores of before, it is no difference.
    """
    counts = _count(store)
    differing = {name: own for name, own in counts.items() if len(_add_up(own)) > 1}
    apart = {name: own for name, own in differing.items() if _find_distance(own) >= _APART}
    if apart:
        described = join_words([_describe_apart(name, own) for name, own in apart.items()])
        yield (
            f"fits of different algorithms ran with different {described}: what looks like a "
            "difference between algorithms may be one between versions or processors; do all "
            "fits on equal ones before you conclude anything"
        )
    mixed = [_describe(name, _add_up(own)) for name, own in differing.items() if name not in apart]
    if mixed:
        reason = "scores may differ for that reason"
        yield f"fits ran with different {join_words(mixed)}: {reason}"


def _count(store: Store) -> dict[str, dict[str, Counter[str]]]:
    """Fits by what has a version, algorithm and version."""
    counts: dict[str, dict[str, Counter[str]]] = {}
    for pipeline, versions, n_fits in store.versions():
        for name, version in versions.items():
            counts.setdefault(name, {}).setdefault(pipeline, Counter())[str(version)] += n_fits
    return counts


def _add_up(counts: _Counts) -> Counter[str]:
    return sum(counts.values(), Counter[str]())


def _find_distance(counts: _Counts) -> float:
    """Largest share of fits by which two algorithms differ: 1 where they have none in common."""
    distances = [
        sum(abs(a[version] / a.total() - b[version] / b.total()) for version in {*a, *b}) / 2
        for a, b in combinations(counts.values(), 2)
    ]
    return max(distances, default=0.0)


def _describe(name: str, counts: Counter[str]) -> str:
    return f"{name} ({_list_counts(counts)})"


def _describe_apart(name: str, counts: _Counts) -> str:
    own = [f"{pipeline} with {_list_counts(each)}" for pipeline, each in counts.items()]
    more = [f"{len(own) - _N_SHOWN} other algorithms"] if len(own) > _N_SHOWN else []
    return f"{name} ({'; '.join([*own[:_N_SHOWN], *more])})"


def _list_counts(counts: Counter[str]) -> str:
    """Versions and how many fits have them, the most frequent first.

    Examples
    --------
    >>> _list_counts(Counter({"2.1": 40, "2.2": 3}))
    '2.1: 40 fits, 2.2: 3'
    """
    often = [f"{version}: {n}" for version, n in counts.most_common(_N_SHOWN)]
    n_others = len(counts) - _N_SHOWN
    often[0] += " fits"
    return ", ".join([*often, *([f"{n_others} others"] if n_others > 0 else [])])
