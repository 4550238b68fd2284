"""Hypothesis tests asked for by name, applied to a comparison."""

from typing import Literal, get_args

import numpy as np

from outperform.analysis.comparison import Comparison
from outperform.errors import InvalidInput
from outperform.stats import (
    HypothesisTest,
    brunner_munzel,
    nadeau_bengio_test,
    paired_t_test,
    sign_flip_test,
    welch_t_test,
    wilcoxon_test,
)
from outperform.stats.checks import check_choice

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
    match name:
        case "brunner-munzel":
            return brunner_munzel(a, b)
        case "brunner-munzel-permutation":
            return brunner_munzel(a, b, method="permutation", rng=rng)
        case "paired-t":
            return paired_t_test(a, b)
        case "sign-flip":
            return sign_flip_test(a, b, rng=rng)
        case "welch-t":
            return welch_t_test(a, b)
        case "wilcoxon":
            return wilcoxon_test(a, b)
        case "nadeau-bengio":
            if n_train is None or n_test is None:
                raise InvalidInput(
                    "the test 'nadeau-bengio' corrects for overlapping splits, but their sizes "
                    "are not known",
                    "Pass --train-size and --test-size (n_train and n_test in Python)",
                )
            return nadeau_bengio_test(a, b, n_train=n_train, n_test=n_test)
