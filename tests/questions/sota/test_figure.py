import numpy as np
import pytest

from outperform.questions.sota.answer import assess_leaderboard, assess_predictions, best_of_equals
from outperform.render.figures import figure, plot


@pytest.fixture(scope="module")
def expected():
    return best_of_equals(1000, test_size=3000, accuracy=0.9)


@pytest.mark.parametrize("view", ["one", "best cdf", "best pmf"])
def test_the_expected_best_and_its_bound_are_marked(expected, view, find):
    ax = plot(expected, view=view)
    assert find(ax, "expected best").get_xdata() == [expected.mean] * 2
    assert find(ax, "upper bound").get_xdata() == [expected.upper] * 2
    texts = [text.get_text() for text in ax.texts]
    assert texts == ["expected best\n0.9173", "upper bound\n0.9213"]
    assert ax.child_axes[0].get_xlabel() == "failures"


def test_bars_are_the_probabilities(expected):
    ax = plot(expected, view="best pmf")
    best = expected.distribution
    for bar in ax.patches:
        z = round(best.n * (1 - (bar.get_x() + bar.get_width() / 2)))
        assert bar.get_height() == pytest.approx(float(best.pmf(z)))
    assert sum(bar.get_height() for bar in ax.patches) == pytest.approx(1, abs=1e-3)


def test_shaded_areas_are_the_chances_to_look_better(expected, find):
    ax = plot(expected, view="one")
    for name, chance in (
        ("mean-area", expected.chance_to_reach_mean),
        ("upper-area", expected.chance_to_reach_upper),
    ):
        (path,) = find(ax, name).get_paths()
        height = {round(x, 9): max(y for u, y in path.vertices if u == x) for x, _ in path.vertices}
        assert sum(height.values()) == pytest.approx(chance, abs=2e-3)


def test_scores_are_drawn_by_rank(find):
    scores = [0.903, 0.93, 0.92, 0.5]
    found = assess_leaderboard(scores, test_size=1000)
    ax = plot(found)
    may, cannot = ax.collections
    assert may.get_offsets().tolist() == [[1, 0.93], [2, 0.92]]
    assert cannot.get_offsets().tolist() == [[3, 0.903]]
    assert ax.get_xlabel() == "rank (1 entry lies below)"
    assert find(ax, "top").get_ydata() == [0.93, 0.93]
    assert find(ax, "sober").get_ydata() == [found.sober] * 2
    band, interval = find(ax, "band"), find(ax, "interval")
    assert (band.get_y(), band.get_y() + band.get_height()) == pytest.approx((0.92, 0.93))
    assert interval.get_y() == pytest.approx(found.interval.low)


def test_no_dot_is_cut_by_the_axis():
    for last in np.linspace(0.902, 0.904, 21):
        ax = figure(assess_leaderboard([0.93, 0.925, last], test_size=1000)).axes[0]
        low, high = ax.get_ylim()
        lowest = min(dots.get_offsets()[:, 1].min() for dots in ax.collections)
        assert lowest > low + 0.02 * (high - low)


def test_entries_that_are_not_shown_lie_below():
    found = assess_leaderboard([0.93, 0.92], test_size=1000, n_entries=50)
    assert plot(found).get_xlabel() == "rank (48 entries lie below)"
    assert figure(found).get_suptitle().startswith("The best of 50: accuracy 0.9300")


def test_equal_scores_have_a_readable_axis():
    labels = [0, 1] * 20
    ax = plot(assess_predictions({"a": labels, "b": labels}, labels, n_resamples=100))
    ax.figure.draw_without_rendering()
    assert ax.yaxis.get_offset_text().get_text() == ""


def test_predictions_are_drawn_alike(find):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 100)
    columns = {name: np.where(rng.random(100) < 0.8, labels, 1 - labels) for name in "abc"}
    found = assess_predictions(columns, labels, n_resamples=200)
    made = figure(found)
    assert find(made, "sober").get_ydata() == [found.sober] * 2
    assert f"soberly {found.sober:.4f}" in made.get_suptitle()


def test_thousands_of_entries_become_an_image():
    scores = np.random.default_rng(0).binomial(500, 0.8, 3000) / 500
    ax = plot(assess_leaderboard(scores, test_size=500))
    assert all(dots.get_rasterized() for dots in ax.collections)
