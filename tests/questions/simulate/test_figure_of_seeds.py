import pytest

from outperform.questions.simulate.figure import draw_seeds
from outperform.questions.simulate.result import SeedsCurve, SeedsLine
from outperform.render.figures import figure, plot


@pytest.fixture
def curve():
    sizes = (2, 3, 4)
    lines = (
        SeedsLine("welch-t", 0.05, sizes, (0.02, 0.04, 0.05), 0.002),
        SeedsLine("brunner-munzel", 0.05, sizes, (0.0, 0.1, 0.06), 0.002),
        SeedsLine("welch-t", 0.01, sizes, (0.2, 0.2, 0.2), 0.001),
        SeedsLine("brunner-munzel", 0.01, sizes, (0.0, 0.0, 0.0), 0.001),
    )
    return SeedsCurve("resnet", 100, 10_000, lines)


def test_shares_are_drawn_on_a_logarithmic_scale_with_the_level(curve, find, ax):
    plot(curve, ax)
    assert list(find(ax, "welch-t").get_xdata()) == [2, 3, 4]
    assert list(find(ax, "welch-t").get_ydata()) == [0.02, 0.04, 0.05]
    assert list(find(ax, "level").get_ydata()) == [0.05, 0.05]
    assert ax.get_yscale() == "log"
    assert ax.get_title() == "level α = 0.05"
    # A share of 0 has no place on this scale: it lies below.
    assert find(ax, "brunner-munzel").get_ydata()[0] < ax.get_ylim()[0]


def test_runs_are_counted_in_whole_numbers(curve, ax):
    draw_seeds(curve, ax)
    assert {*ax.get_xticks()} >= {2, 3, 4}
    assert all(tick == round(tick) for tick in ax.get_xticks())


def test_rings_mark_where_the_level_is_kept(curve, ax):
    draw_seeds(curve, ax, alpha=0.05)
    rings = [line.get_xydata().tolist()[0] for line in ax.lines if line.get_gid() == "holds-from"]
    assert rings == [[2, 0.02], [4, 0.06]]


def test_no_ring_where_it_never_is(curve, ax):
    draw_seeds(curve, ax, alpha=0.01)
    rings = [line for line in ax.lines if line.get_gid() == "holds-from"]
    assert [ring.get_xdata()[0] for ring in rings] == [2]


def test_one_level_alone_says_whose_each_line_is(curve, check_texts):
    made = figure(curve, view="seeds")
    legend = made.axes[0].get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["Welch t", "Brunner–Munzel"]
    assert legend.get_title().get_text() == "○ from here on the level is kept"
    check_texts(made)


def test_a_panel_per_level(curve):
    made = figure(curve)
    assert [ax.get_title() for ax in made.axes] == ["level α = 0.05", "level α = 0.01"]
    assert made.get_suptitle().startswith("resnet against itself: 100 runs, 10,000 draws")


def test_the_legend_leaves_room_for_what_it_is_about(curve, check_texts):
    check_texts(figure(curve))
