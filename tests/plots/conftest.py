from dataclasses import replace

import numpy as np
import pytest

from outperform.analysis.comparing import compare
from outperform.analysis.comparison import TaskComparisons


def _make_comparison(*, n=29, shift=0.01, names=None, seed=0, decimals=9, **options):
    rng = np.random.default_rng(seed)
    shared = rng.normal(0.9, 0.01, n)
    a, b = (shared + rng.normal(mean, 0.01, n) for mean in (shift, 0))
    labels = {"a": "svm", "b": "forest", "metric": "accuracy"} | (names or {})
    return replace(compare(a.round(decimals), b.round(decimals), **options), **labels)


@pytest.fixture
def make_comparison():
    """Comparison of scores that share part of their noise; a leads by `shift` on average."""
    return _make_comparison


@pytest.fixture
def make_tasks():
    def make(n_tasks, names=None):
        return TaskComparisons(
            tuple(
                _make_comparison(
                    shift=0.02 * (i / n_tasks - 0.4),
                    seed=i,
                    names={"task": f"task {i}"} | (names or {}),
                )
                for i in range(n_tasks)
            )
        )

    return make


@pytest.fixture
def ax():
    from matplotlib.figure import Figure

    return Figure().subplots()


@pytest.fixture
def find():
    """Find the one artist with a gid, among axes or within a figure."""

    def search(where, gid):
        (artist,) = where.findobj(lambda artist: artist.get_gid() == gid)
        return artist

    return search
