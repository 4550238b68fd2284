"""Two arrays of scores, or of scores by seed, brought in line."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from outperform.errors import TooFewRuns, UnpairedScores
from outperform.stats import noether_sample_size
from outperform.stats.checks import FloatArray, as_scores, check_paired, merge_stored


def align_scores(scores_a: Any, scores_b: Any, *, paired: bool) -> tuple[FloatArray, FloatArray]:
    """Scores as arrays; those that carry their seeds are paired by seed."""
    if isinstance(scores_a, Mapping) != isinstance(scores_b, Mapping):
        with_seeds, without = ("A", "B") if isinstance(scores_a, Mapping) else ("B", "A")
        raise UnpairedScores(
            f"the scores of {with_seeds} come with their seeds, those of {without} do not",
            "Pass two dicts of {seed: score}, or two plain sequences in the same order",
        )
    if isinstance(scores_a, Mapping) and isinstance(scores_b, Mapping):
        if paired:
            _check_same_seeds(list(scores_a), list(scores_b))
            scores_b = [scores_b[seed] for seed in scores_a]
        else:
            scores_b = list(scores_b.values())
        scores_a = list(scores_a.values())
    elif paired and _has_seeds(scores_a) and _has_seeds(scores_b):
        _check_same_seeds(list(scores_a.index), list(scores_b.index))
        scores_b = scores_b.reindex(scores_a.index)
    first, second = as_scores(scores_a, "scores_a"), as_scores(scores_b, "scores_b")
    if paired:
        check_paired(first.size, second.size)
    stored = (np.asarray(scores).dtype for scores in (scores_a, scores_b))
    first, second = merge_stored((first, second), stored)
    if min(first.size, second.size) < 2:
        raise TooFewRuns(
            f"there are {first.size} run(s) of A and {second.size} of B, and one run says nothing "
            "about the next",
            f"Run both with several seeds; {noether_sample_size()} are a good start",
        )
    return first, second


def _has_seeds(scores: Any) -> bool:
    """Whether scores are a pandas Series."""
    return hasattr(scores, "reindex") and hasattr(scores, "index")


def _check_same_seeds(seeds_a: list[Any], seeds_b: list[Any]) -> None:
    if len(set(seeds_a)) < len(seeds_a) or len(set(seeds_b)) < len(seeds_b):
        raise UnpairedScores(
            "some seeds stand more than once, so runs cannot be paired by seed",
            "Pass one score per seed, or plain arrays in the same order",
        )
    unmatched = set(seeds_a) ^ set(seeds_b)
    if unmatched:
        first = ", ".join(map(str, sorted(unmatched, key=str)[:5]))
        raise UnpairedScores(
            f"{len(unmatched)} seed(s) have a score of A or of B only (first: {first})",
            "Pass the seeds that both were run with, or paired=False if the runs are independent",
        )
