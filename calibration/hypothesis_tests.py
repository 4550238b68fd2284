"""Every hypothesis test, and the interval of the mean difference, on the same draws."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from calibration.cells import ALPHA, GAMMA, LEVEL, SIZES, BoolArray, Cell, share
from calibration.data import (
    KINDS,
    N_TEST,
    N_TRAIN,
    FloatArray,
    Kind,
    shift_for_chance,
    shift_for_equal_means,
)
from outperform.stats.dependent_replicates import nadeau_bengio_test, resampled_difference
from outperform.stats.effect_sizes import mean_difference
from outperform.stats.mean_tests import (
    equivalence_test,
    paired_t_test,
    sign_flip_test,
    welch_t_test,
)
from outperform.stats.rank_tests import brunner_munzel, wilcoxon_test

N_STUDIES = 20_000
N_LOOPED = 5_000  # where a function takes one study at a time
N_PERMUTED = 1_000  # where each study has a random null of its own
N_NULL = 49_999  # splits of the null that all studies without ties share
N_RESAMPLES = 999
FEWER_SIZES = (6, 10, 20, 50)

Equal = Literal["chance", "mean"]
PValues = Callable[[FloatArray, FloatArray, np.random.Generator], FloatArray]


@dataclass(frozen=True, slots=True)
class Tested:
    """A test by its name on the command line, and what it takes equals to have in common."""

    equal: Equal
    paired: bool
    pvalues: PValues
    n_studies: int


def _one_by_one(test: Callable[..., Any], **options: Any) -> PValues:
    def pvalues(a: FloatArray, b: FloatArray, rng: np.random.Generator) -> FloatArray:
        drawing = {"rng": rng} if "n_resamples" in options else {}
        pairs = zip(a, b, strict=True)
        return np.array([test(*scores, **options, **drawing).pvalue for scores in pairs])

    return pvalues


def _permute(a: FloatArray, b: FloatArray, rng: np.random.Generator) -> FloatArray:
    if np.array_equal(a, np.rint(a)):  # with ties each study has its own null
        test = _one_by_one(brunner_munzel, method="permutation", n_resamples=N_RESAMPLES)
        return test(a[:N_PERMUTED], b[:N_PERMUTED], rng)
    found = brunner_munzel(a, b, method="permutation", n_resamples=N_NULL, rng=rng)
    return np.asarray(found.pvalue)


TESTS = {
    "brunner-munzel": Tested(
        "chance", False, lambda a, b, _: np.asarray(brunner_munzel(a, b).pvalue), N_STUDIES
    ),
    "brunner-munzel-permutation": Tested("chance", False, _permute, N_STUDIES),
    "welch-t": Tested(
        "mean", False, lambda a, b, _: np.asarray(welch_t_test(a, b).pvalue), N_STUDIES
    ),
    "paired-t": Tested(
        "mean", True, lambda a, b, _: np.asarray(paired_t_test(a, b).pvalue), N_STUDIES
    ),
    "wilcoxon": Tested("chance", True, _one_by_one(wilcoxon_test), N_LOOPED),
    "sign-flip": Tested(
        "mean", True, _one_by_one(sign_flip_test, n_resamples=N_RESAMPLES), N_LOOPED // 2
    ),
    "nadeau-bengio": Tested(
        "mean", True, _one_by_one(nadeau_bengio_test, n_train=N_TRAIN, n_test=N_TEST), N_LOOPED
    ),
}


def list_blocks() -> list[dict[str, Any]]:
    """What is computed in one go."""
    return [
        {"kind": kind.name, "n": n}
        for kind in KINDS.values()
        for n in (FEWER_SIZES if kind.n_b else SIZES)
    ]


def measure(
    rng: np.random.Generator, *, kind: str, n: int, n_studies: int = N_STUDIES
) -> list[Cell]:
    """Size and power of all tests, coverage of the mean difference."""
    kind_of_data = KINDS[kind]
    drawn = kind_of_data.draw(rng, n_studies, n)
    cells = [
        cell
        for name, tested in TESTS.items()
        if not (tested.paired and kind_of_data.n_b)
        for cell in _measure_test(name, tested, kind_of_data, drawn, rng)
    ]
    for paired in (True, False):
        if not (paired and kind_of_data.n_b):
            cells.extend(_measure_means(kind_of_data, drawn, paired=paired))
    return cells


def _measure_test(
    name: str, tested: Tested, kind: Kind, drawn: Any, rng: np.random.Generator
) -> Iterator[Cell]:
    drawn_a, drawn_b = (scores[: tested.n_studies] for scores in drawn)
    n, b = drawn_a.shape[1], kind.observe(drawn_b)
    equal = shift_for_chance(kind.name, 0.5)
    if tested.equal == "mean":
        equal = shift_for_equal_means(kind)
    pvalue = tested.pvalues(kind.observe(drawn_a, equal), b, rng)
    size, error = _share_of_null(pvalue <= ALPHA, shared_null=name.endswith("permutation"))
    yield Cell("tests", name, "size", kind.name, str(n), "", size, error, alpha=ALPHA)
    if not kind.shared and not kind.n_b:
        fewer = slice(len(b) // 4)  # no claim hangs on power
        better = kind.observe(drawn_a[fewer], shift_for_chance(kind.name, GAMMA))
        power = share(tested.pvalues(better, b[fewer], rng) <= ALPHA)
        yield Cell("tests", name, "power", *_row_of_power(kind, n), *power)


def _row_of_power(kind: Kind, n: int) -> tuple[str, str, str]:
    """Power is shown for normal data, and where it is lowest."""
    if kind.name == "normal":
        return kind.name, str(n), ""
    return "lowest of the others", str(n), kind.name


def _share_of_null(rejected: BoolArray, *, shared_null: bool) -> tuple[float, float]:
    """Share of studies, with the error that a random null shared by all studies adds."""
    size, error = share(rejected)
    shared = math.sqrt(ALPHA * (1 - ALPHA) / N_NULL) if shared_null else 0.0
    return size, math.hypot(error, shared)


def _measure_means(kind: Kind, drawn: Any, *, paired: bool) -> Iterator[Cell]:
    """Coverage of a mean difference of 0; equivalence claimed at the margin, and at 0."""
    a = kind.observe(drawn[0][:N_LOOPED], shift_for_equal_means(kind))
    b, n = kind.observe(drawn[1][:N_LOOPED]), a.shape[1]
    studies = list(zip(a, b, strict=True))
    place = (kind.name, str(n), "") if kind.shared else ("worst of the others", str(n), kind.name)
    for method, interval in _list_intervals(paired=paired).items():
        covered = share(0 in interval(*scores).interval for scores in studies)
        yield Cell("means", method, "coverage", *place, *covered, alpha=ALPHA)
    margin = kind.difference_sd

    def claim(shift: float) -> tuple[float, float]:
        return share(
            equivalence_test(x + shift, y, margin=margin, paired=paired).equivalent
            for x, y in studies
        )

    method = f"equivalence_test, {_name(paired=paired)}"
    yield Cell("means", method, "size", *place, *claim(margin), alpha=ALPHA)
    if kind.name == "normal":
        yield Cell("means", method, "power", kind.name, str(n), "", *claim(0.0))


def _list_intervals(*, paired: bool) -> dict[str, Callable[..., Any]]:
    """Intervals of the mean difference."""
    usual = partial(mean_difference, paired=paired, confidence_level=LEVEL)
    corrected = partial(
        resampled_difference, n_train=N_TRAIN, n_test=N_TEST, confidence_level=LEVEL
    )
    intervals: dict[str, Callable[..., Any]] = {f"mean_difference, {_name(paired=paired)}": usual}
    return intervals | ({"resampled_difference": corrected} if paired else {})


def _name(*, paired: bool) -> str:
    return "paired" if paired else "unpaired"
