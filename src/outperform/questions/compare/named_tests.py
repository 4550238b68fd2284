"""Hypothesis tests asked for by name, applied to a comparison."""

from collections.abc import Callable
from functools import partial
from typing import Literal, get_args

import numpy as np

from outperform.errors import InvalidInput
from outperform.questions.compare.result import Comparison
from outperform.stats import (
    HypothesisTest,
    brunner_munzel,
    nadeau_bengio_test,
    paired_t_test,
    sign_flip_test,
    welch_t_test,
    wilcoxon_test,
)
from outperform.stats.checks import FloatArray, check_choice

TestName = Literal[
    "brunner-munzel",
    "brunner-munzel-permutation",
    "nadeau-bengio",
    "paired-t",
    "sign-flip",
    "welch-t",
    "wilcoxon",
]
_OF_PAIRS = ("nadeau-bengio", "paired-t", "sign-flip", "wilcoxon")


def apply_test(
    comparison: Comparison,
    name: TestName,
    *,
    rng: np.random.Generator,
    n_train: int | None = None,
    n_test: int | None = None,
) -> HypothesisTest:
    """Two-sided test of a comparison's scores.

    Parameters
    ----------
    name
        ``"brunner-munzel"`` and ``"welch-t"`` take runs as independent; the others need pairs.
    rng
        Draws for the permutation tests.
    n_train, n_test
        Sizes of the splits, for ``"nadeau-bengio"``.
    """
    check_choice("test", name, get_args(TestName))
    if name in _OF_PAIRS and not comparison.paired:
        raise InvalidInput(
            f"the test {name!r} needs pairs, but the runs are compared unpaired",
            "Use brunner-munzel or welch-t, or pair the runs by a replicate column",
        )
    a, b = comparison.higher_a, comparison.higher_b
    if name == "nadeau-bengio":
        return _apply_corrected(a, b, n_train, n_test)
    tests: dict[TestName, Callable[..., HypothesisTest]] = {
        "brunner-munzel": brunner_munzel,
        "brunner-munzel-permutation": partial(brunner_munzel, method="permutation", rng=rng),
        "paired-t": paired_t_test,
        "sign-flip": partial(sign_flip_test, rng=rng),
        "welch-t": welch_t_test,
        "wilcoxon": wilcoxon_test,
    }
    return tests[name](a, b)


def _apply_corrected(
    a: FloatArray, b: FloatArray, n_train: int | None, n_test: int | None
) -> HypothesisTest:
    if n_train is None or n_test is None:
        raise InvalidInput(
            "the test 'nadeau-bengio' corrects for overlapping splits, but their sizes are not "
            "known",
            "Pass --train-size and --test-size (n_train and n_test in Python)",
        )
    return nadeau_bengio_test(a, b, n_train=n_train, n_test=n_test)
