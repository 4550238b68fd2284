"""Fixtures for tests of figures: comparisons to draw, and what was drawn in fact."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.text import Text

from outperform.questions.compare.answer import compare
from outperform.questions.compare.task_results import TaskComparisons


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


@pytest.fixture(autouse=True)
def _close_figures():
    """Close what `plot` has opened, which pyplot keeps for whoever shows it."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


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


@pytest.fixture
def drawn_texts(monkeypatch):
    """Draw a figure and list the texts that were drawn in fact."""

    def draw(drawn):
        seen, original = [], Text.draw

        def record(text, renderer):
            seen.append(text)
            original(text, renderer)

        with monkeypatch.context() as patch:
            patch.setattr(Text, "draw", record)
            drawn.draw_without_rendering()
        return [t for t in dict.fromkeys(seen) if t.get_visible() and t.get_text().strip()]

    return draw


@pytest.fixture
def check_texts(drawn_texts):
    """Check that no text is cut off, and that none overlaps another unless it may."""

    def check(drawn, may_overlap=()):
        texts = drawn_texts(drawn)
        assert len(texts) > 5
        boxes = {text: Text.get_window_extent(text) for text in texts}
        for text, box in boxes.items():
            assert box.x0 >= 0, text
            assert box.y0 >= 0, text
            assert box.x1 <= drawn.bbox.x1, text
            assert box.y1 <= drawn.bbox.y1, text
        others = [text for text in texts if text not in may_overlap]
        corners = np.array([boxes[text].padded(-1).get_points() for text in others])
        low, high = corners.min(axis=1), corners.max(axis=1)
        begins_before_end = (low[:, None] <= high).all(axis=2)
        overlaps = np.argwhere(np.triu(begins_before_end & begins_before_end.T, k=1))
        assert not overlaps.size, [(others[i], others[j]) for i, j in overlaps]

    return check
