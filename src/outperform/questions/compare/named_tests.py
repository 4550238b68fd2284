"""Hypothesis tests asked for by name."""

from collections.abc import Callable
from functools import partial
from typing import Literal, get_args

import numpy as np

from outperform.errors import InvalidInput
from outperform.questions.compare.missing_runs import withstand_worst
from outperform.runs.scope import Resplit
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
    a: FloatArray,
    b: FloatArray,
    name: TestName,
    *,
    paired: bool,
    rng: np.random.Generator,
    resplit: Resplit | None = None,
    lacking: tuple[int, int] = (0, 0),
) -> HypothesisTest:
    """Two-sided test; higher is better, and the sizes of splits are for ``"nadeau-bengio"``.

    Its p-value holds whatever the runs were that either side lacks, if they went badly.
    """
    check_choice("test", name, get_args(TestName))
    if name in _OF_PAIRS and not paired:
        raise InvalidInput(
            f"the test {name!r} needs pairs, but the runs are compared unpaired",
            "Use brunner-munzel or welch-t, or pair the runs by a replicate column",
        )
    return withstand_worst(find_test(name, rng, resplit), (a, b), lacking, paired=paired)


def find_test(
    name: str, rng: np.random.Generator, resplit: Resplit | None = None
) -> Callable[..., HypothesisTest]:
    """Test of two arrays of scores, by its name; higher is better."""
    if name == "nadeau-bengio":
        if resplit is None:
            raise InvalidInput(
                "the test 'nadeau-bengio' corrects for overlapping splits, but their sizes are not "
                "known",
                "Pass --train-size and --test-size (train_size and test_size in Python)",
            )
        return partial(nadeau_bengio_test, n_train=resplit.n_train, n_test=resplit.n_test)
    tests: dict[str, Callable[..., HypothesisTest]] = {
        "brunner-munzel": brunner_munzel,
        "brunner-munzel-permutation": partial(brunner_munzel, method="permutation", rng=rng),
        "paired-t": paired_t_test,
        "sign-flip": partial(sign_flip_test, rng=rng),
        "welch-t": welch_t_test,
        "wilcoxon": wilcoxon_test,
    }
    return tests[name]
