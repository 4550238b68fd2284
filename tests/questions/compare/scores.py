"""Scores with so many wins, tables of them, and what is said of both."""

import numpy as np

from outperform import Comparison


def wins(n_wins: int, n_losses: int, n_ties: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Scores in which A wins, loses and ties so many pairs, no two pairs alike."""
    base = np.arange(n_wins + n_losses + n_ties) / 100
    shift = np.repeat([0.001, -0.001, 0.0], [n_wins, n_losses, n_ties])
    return base + shift, base


def doubts(comparison: Comparison) -> str:
    return " | ".join(comparison.caveats)


def table(**tasks: tuple[np.ndarray, np.ndarray]) -> list[dict[str, object]]:
    return [
        {"algorithm": name, "task": task, "seed": seed, "reward": score}
        for task, pair in tasks.items()
        for name, scores in zip(("new", "old"), pair, strict=True)
        for seed, score in enumerate(scores)
    ]
