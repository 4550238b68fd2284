"""The figure of a check: a line per seed, joined to its repeats."""

import numpy as np
import pytest

from outperform.questions.check.result import Reproducibility, SourceCheck
from outperform.render.figures import figure, plot


@pytest.fixture
def result():
    scores = {
        "split": [[0.9, 0.9], [0.8, 0.8]],
        "init": [[0.9, 0.91], [0.8, 0.8]],
        "order": [[0.9, 0.9]] * 5,
    }
    names = ("gradient boosting, rate 0.1, $depth$ 7", "digits")
    return Reproducibility(tuple(SourceCheck(*names, s, np.array(x)) for s, x in scores.items()))


def test_every_seed_is_a_line_through_its_runs(result):
    lines = [line for line in plot(result).get_lines() if line.get_gid()]
    assert [line.get_gid() for line in lines] == [
        *["reproducible-0"] * 2,
        *["noisy-1"] * 2,
        *["unused-2"] * 5,
    ]
    assert lines[0].get_xdata() == pytest.approx([0.05, 0.05])
    assert np.ptp(lines[2].get_xdata()) == pytest.approx(0.01)  # the same seed, two scores
    assert len({line.get_ydata()[0] for line in lines}) == 9


@pytest.mark.parametrize("width", [None, 3.0])
def test_all_texts_have_room(result, check_texts, width):
    drawn = figure(result, width=width)
    check_texts(drawn)
    assert drawn.get_suptitle().startswith("Not reproducible: gradient boosting")
