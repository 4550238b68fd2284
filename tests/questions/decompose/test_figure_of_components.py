"""The figure of components of variance."""

import numpy as np
import pytest

from outperform.errors import InvalidInput
from outperform.questions.decompose.answer import decompose_crossed
from outperform.questions.decompose.figure import components_height, draw_components
from outperform.questions.decompose.result import Decompositions
from outperform.render.figures import figure, plot

SCORES = [[1, 2], [5, 8]]


@pytest.fixture
def found():
    return decompose_crossed(SCORES, ["split", "init"], algorithm="svm", metric="accuracy")


def widths(ax):
    return {bar.get_gid().removeprefix("bar-"): bar.get_width() for bar in ax.patches}


def test_bars_are_the_components_and_their_sum_is_on_top(found, ax):
    draw_components(found, ax)
    assert widths(ax) == {"all": 14.5, "split": 12, "init": 1.5, "split × init": 1}
    assert [label.get_text() for label in ax.get_yticklabels()] == list(widths(ax))
    assert ax.get_ylim()[0] > ax.get_ylim()[1]  # the first bar is the highest
    assert ax.get_xlabel() == "variance of accuracy, 95% interval"
    (shares,) = ax.child_axes
    assert shares.get_xlabel() == "as share of all"


def test_every_interval_is_drawn(found, find, ax):
    draw_components(found, ax)
    for component in found.parts.components:
        line = find(ax, f"interval-{' × '.join(component.names)}")
        interval = component.variance.interval
        assert line.get_xdata() == pytest.approx([interval.low, interval.high])


def test_estimates_below_nothing_are_drawn_so_that_bars_add_up(ax):
    draw_components(decompose_crossed([[1, -1.5], [-1, 1]], ["split", "init"]), ax)
    drawn = widths(ax)
    assert min(drawn.values()) < 0
    assert ax.get_xlim()[0] < min(drawn.values())
    assert drawn.pop("all") == pytest.approx(sum(drawn.values()))


def test_absurd_intervals_are_cut(found, ax):
    draw_components(found, ax)
    assert found.parts.total.interval.high > 1000
    assert ax.get_xlim()[1] < 40


@pytest.mark.parametrize(
    ("scores", "title"),
    [
        (SCORES, "Largest part of variance of svm: split"),
        (np.ones((3, 3)), "No source changes the accuracy"),
    ],
)
def test_title_names_the_largest(scores, title):
    found = decompose_crossed(scores, ["split", "init"], algorithm="svm", metric="accuracy")
    assert figure(found).axes[0].get_title() == title


@pytest.fixture
def both(found):
    return Decompositions(
        (), (found, decompose_crossed(np.arange(8).reshape(2, 2, 2), ["a", "b", "c"]))
    )


def test_several_designs_are_drawn_below_one_another(found, both):
    first, second = figure(both).axes
    assert len(first.patches) == 4
    assert len(second.patches) == 8
    assert plot(found).figure.get_figheight() == components_height(found)


def test_a_view_is_of_one_design(found, both):
    assert len(plot(Decompositions((), (found,)), view="components").patches) == 4
    with pytest.raises(InvalidInput) as caught:
        plot(both, view="components")
    assert str(caught.value) == (
        "the view 'components' is of one crossed design, and there are 2. Draw all of them, "
        "without a view, or the single results: `for each in result: plot(each)`."
    )
