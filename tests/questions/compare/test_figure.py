import numpy as np
import pytest
from matplotlib.colors import to_hex

from outperform.errors import InvalidInput
from outperform.questions.compare.answer import compare
from outperform.questions.compare.figure import draw_densities, draw_differences
from outperform.render.style import COLOUR_A, COLOUR_B, COLOUR_NEITHER


def positions(artist):
    return np.sort(artist.get_offsets()[:, 0])


@pytest.mark.parametrize("n", [2, 29, 1000, 5000])
def test_every_run_is_a_dot_at_its_score(make_comparison, find, ax, n):
    comparison = make_comparison(n=n)
    draw_densities(comparison, ax)
    np.testing.assert_array_equal(positions(find(ax, "runs-a")), np.sort(comparison.scores_a))
    np.testing.assert_array_equal(positions(find(ax, "runs-b")), np.sort(comparison.scores_b))


def test_dots_lie_below_their_own_density_and_above_the_next(make_comparison, find, ax):
    draw_densities(make_comparison(), ax)
    for side, baseline in (("a", 0), ("b", -1)):
        heights = find(ax, f"runs-{side}").get_offsets()[:, 1]
        assert heights.max() < baseline
        assert heights.min() > baseline - 0.45  # where the next density peaks
        assert find(ax, f"density-{side}").get_ydata().min() > baseline
        assert find(ax, f"density-{side}").get_ydata().max() == pytest.approx(baseline + 0.55)


def test_dots_are_spread_the_same_way_every_time(make_comparison, find, ax):
    draw_densities(make_comparison(), ax)
    draw_densities(make_comparison(), other := ax.figure.add_subplot())
    first, second = (find(axes, "runs-a").get_offsets() for axes in (ax, other))
    np.testing.assert_array_equal(first, second)
    assert np.unique(first[:, 1]).size == 29


def test_density_peaks_where_the_runs_are_and_stays_within_them(find, ax):
    a = [0.1, 0.8, 0.805, 0.81, 0.812, 0.815, 0.82, 0.822, 0.825, 0.83]
    draw_densities(compare(a, np.linspace(0.5, 0.9, 10)), ax)
    curve = find(ax, "density-a")
    assert 0.75 < curve.get_xdata()[np.argmax(curve.get_ydata())] <= 0.83
    assert curve.get_xdata()[[0, -1]].tolist() == [0.1, 0.83]


def test_density_of_binned_runs_is_that_of_all_runs(find, ax):
    from scipy.stats import gaussian_kde

    scores = np.random.default_rng(0).gamma(3, size=2500)
    draw_densities(compare(scores, scores[::-1]), ax)
    curve = find(ax, "density-a")
    exact = gaussian_kde(scores)(curve.get_xdata())
    np.testing.assert_allclose(curve.get_ydata() / 0.55, exact / exact.max(), atol=1e-3)


def test_means_are_marked(make_comparison, find, ax):
    comparison = make_comparison()
    draw_densities(comparison, ax)
    assert find(ax, "mean-a").get_xdata() == [comparison.scores_a.mean()]
    assert find(ax, "mean-b").get_xdata() == [comparison.scores_b.mean()]
    assert to_hex(find(ax, "mean-a").get_color()) == COLOUR_A.lower()
    assert to_hex(find(ax, "runs-b").get_facecolor()[0]) == COLOUR_B.lower()


def test_densities_are_labelled(make_comparison, ax):
    comparison = make_comparison(n=1200)
    draw_densities(comparison, ax)
    assert [label.get_text() for label in ax.get_yticklabels()] == [
        f"svm\n◆ mean {comparison.scores_a.mean():.4g}\nn = 1,200",
        f"forest\n◆ mean {comparison.scores_b.mean():.4g}\nn = 1,200",
    ]
    assert ax.get_xlabel() == "accuracy (higher is better)"


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e150])
@pytest.mark.parametrize(
    ("a", "b"),
    [
        ([0.9, 0.9, 0.9], [0.9, 0.9, 0.9]),
        ([0.9, 0.9, 0.9], [0.8, 0.8, 0.8]),
        ([0.0, 0.0], [0.0, 0.0]),
        ([0.9, 0.9], [0.1, 0.2]),
        ([0.9, np.nextafter(0.9, 1)], [0.1, 0.2]),
    ],
)
def test_scores_that_hardly_vary_are_drawn(find, ax, a, b, scale):
    a, b = (np.tile(scores, 6) * scale for scores in (a, b))  # enough for a density
    comparison = compare(a, b, interval="wilson")
    draw_densities(comparison, ax)
    draw_differences(comparison, other := ax.figure.add_subplot())
    ax.figure.draw_without_rendering()
    for side in "ab":
        assert np.isfinite(find(ax, f"density-{side}").get_xydata()).all()
        assert len(positions(find(ax, f"runs-{side}"))) == len(a)
    assert np.isfinite([*ax.get_xlim(), *other.get_xlim()]).all()


def test_constant_scores_stand_in_the_middle_of_a_readable_axis(ax):
    draw_densities(compare([0.9, 0.9], [0.9, 0.9]), ax)
    assert ax.get_xlim() == pytest.approx((0.81, 0.99))


@pytest.mark.parametrize(("n", "rasterized"), [(500, False), (501, True)])
def test_many_dots_become_small_faint_and_an_image(make_comparison, find, ax, n, rasterized):
    draw_densities(make_comparison(n=n), ax)
    draw_densities(make_comparison(n=29), few := ax.figure.add_subplot())
    dots, others = find(ax, "runs-a"), find(few, "runs-a")
    assert dots.get_rasterized() is rasterized
    assert dots.get_sizes()[0] < others.get_sizes()[0]
    assert 0.1 < dots.get_alpha() < others.get_alpha()


@pytest.mark.parametrize("n", [2, 29, 1000])
@pytest.mark.parametrize("goal", ["maximize", "minimize"])
def test_every_pair_is_a_dot_in_its_winners_colour(make_comparison, find, ax, n, goal):
    comparison = make_comparison(n=n, shift=0, goal=goal)
    draw_differences(comparison, ax)
    differences = comparison.scores_a - comparison.scores_b
    wins_a, wins_b = differences > 0, differences < 0
    if goal == "minimize":
        wins_a, wins_b = wins_b, wins_a
    for gid, chosen, colour in (("wins-a", wins_a, COLOUR_A), ("wins-b", wins_b, COLOUR_B)):
        assert chosen.any()
        np.testing.assert_array_equal(positions(find(ax, gid)), np.sort(differences[chosen]))
        assert to_hex(find(ax, gid).get_facecolor()[0]) == colour.lower()
    assert len(positions(find(ax, "ties"))) == 0


def test_pairs_are_sorted_upwards(make_comparison, find, ax):
    draw_differences(make_comparison(), ax)
    dots = np.concatenate([find(ax, gid).get_offsets() for gid in ("wins-a", "wins-b")])
    dots = dots[np.argsort(dots[:, 0])]
    np.testing.assert_allclose(dots[:, 1], np.linspace(0, 1, 29))


def test_ties_are_grey_and_counted(find, ax):
    draw_differences(compare([3, 2, 2, 2, 1], [1, 2, 2, 1, 2]), ax)
    assert positions(find(ax, "ties")).tolist() == [0, 0]
    assert find(ax, "ties").get_zorder() > find(ax, "zero").get_zorder()
    assert to_hex(find(ax, "ties").get_facecolor()[0]) == COLOUR_NEITHER
    assert ax.get_yticklabels()[0].get_text() == "5 pairs,\n2 tied"
    assert ax.get_title(loc="left") == "B wins 1"
    assert ax.get_title(loc="right") == "A wins 2"


def test_wins_are_counted_on_the_side_where_they_lie(make_comparison, ax):
    comparison = make_comparison(goal="minimize", names={"metric": "loss"})
    draw_differences(comparison, ax)
    wins = int((comparison.scores_a < comparison.scores_b).sum())
    assert ax.get_title(loc="left") == f"svm wins {wins}"
    assert ax.get_title(loc="right") == f"forest wins {29 - wins}"
    assert ax.get_xlabel() == "svm − forest, loss (lower is better)"


def test_mean_difference_stands_with_its_interval_against_zero(make_comparison, find, ax):
    comparison = make_comparison(confidence_level=0.9)
    draw_differences(comparison, ax)
    mean = comparison.difference
    ends = find(ax, "difference-interval").get_xdata()
    assert list(ends) == [mean.interval.low, mean.interval.high]
    assert find(ax, "difference").get_xdata() == [mean.value]
    assert list(find(ax, "zero").get_xdata()) == [0, 0]
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels == ["29 pairs,\nsorted", "◆ mean,\n90% interval"]


def test_unpaired_runs_have_no_differences(make_comparison, ax):
    with pytest.raises(InvalidInput) as caught:
        draw_differences(make_comparison(paired=False), ax)
    assert str(caught.value) == (
        "'svm' and 'forest' are compared unpaired, so their runs have no differences to draw. "
        "Draw the view 'densities' or 'probability'."
    )
    assert not ax.lines
