"""Figures: what they show and name, in every view and width."""

from itertools import pairwise

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from outperform.errors import InvalidInput
from outperform.questions.best_of.answer import best_of_runs
from outperform.questions.simulate.seeds import trace_seeds
from outperform.questions.sota.answer import best_of_equals
from outperform.render.figures import figure, plot, save_figure
from tests.render.results import RESULTS

RNG = np.random.default_rng(0)
TITLES = {
    "paired": "svm outperforms forest: significant and meaningful",
    "unpaired": "svm outperforms forest: significant and meaningful",
    "published": "A outperforms B: significant and meaningful, if scores are normal",
    "re-splits": "svm outperforms forest on this sample of the data; for other data like it that "
    "is not shown (p = 0.051): significant and meaningful",
    "audit": "Undecided: svm has the better mean, but is not shown to beat forest more often; "
    "hiding 3 of 40 pairs would show that svm outperforms forest, 20 that forest outperforms svm.",
    "plan": "54 pairs show a P(A > B) of 0.75 with power 0.95",
}


@pytest.fixture(scope="module")
def make_best_of():
    def make(n):
        rng = np.random.default_rng(0)
        runs = {f"model {i}": rng.normal(0.9 - 0.004 * i, 0.01, 20).tolist() for i in range(n)}
        return best_of_runs(runs, n=5)

    return make


@pytest.fixture(scope="module")
def figures():
    return {}


@pytest.fixture
def draw(results, figures):
    """Draw a result of a kind: once, for all tests that only look."""

    def draw_once(kind):
        if kind not in figures:
            figures[kind] = figure(results[kind])
        return figures[kind]

    return draw_once


@pytest.mark.parametrize("kind", ["paired", "7 tasks", "components of two designs", "re-splits"])
def test_what_it_is_about_stands_below(results, draw, find, kind):
    result = results[kind]
    about = find(draw(kind), "scope")
    varied = "Split, init and augmentation" if kind.startswith("comp") else str(result.scope)
    assert " ".join(about.get_text().split()).startswith(varied)
    assert about.get_fontsize() < 7


def test_what_is_known_of_data_like_these_is_drawn_wider(make_comparison, find):
    result = make_comparison(train_size=800, test_size=200)
    ax = plot(result, view="differences")
    here, beyond = (find(ax, f"{gid}-interval") for gid in ("difference", "population"))
    assert here.get_xdata().tolist() == [
        result.difference.interval.low,
        result.difference.interval.high,
    ]
    assert beyond.get_xdata().tolist() == [
        result.population.interval.low,
        result.population.interval.high,
    ]
    assert find(ax, "population").get_xdata()[0] == result.population.value
    assert ax.get_yticklabels()[-1].get_text() == "for data like\nthese, 99%"
    alone = plot(make_comparison(), view="differences")
    assert not alone.findobj(lambda artist: artist.get_gid() == "population")


def region_labels(drawn):
    children = [child for ax in drawn.axes for child in ax.child_axes]
    return {label for child in children for label in child.get_xticklabels()}


@pytest.mark.parametrize("kind", RESULTS)
def test_no_text_is_cut_off_or_overlaps_another(draw, check_texts, kind):
    drawn = draw(kind)
    # The empty lines that lift one name of a region above the others overlap these on purpose.
    check_texts(drawn, may_overlap=region_labels(drawn))


@pytest.mark.parametrize(
    ("kind", "width"), [("paired", 3.4), ("7 tasks", 7.0), ("plan", 3.4), ("audit", 7.0)]
)
def test_figures_are_as_wide_as_a_column_or_a_page(draw, kind, width):
    assert draw(kind).get_figwidth() == width


@pytest.mark.parametrize(("kind", "title"), TITLES.items())
def test_title_is_the_verdict(draw, kind, title):
    assert draw(kind).get_suptitle().replace("\n", " ") == title


def test_title_names_the_task(draw):
    title = draw("with task").get_suptitle().replace("\n", " ")
    assert title == "svm outperforms forest on digits: significant and meaningful"


def test_a_verdict_stands_on_one_line_of_the_title(draw):
    title = draw("undecided").get_suptitle()
    assert title == "No difference shown between svm and forest:\nnot significant"


def test_paired_runs_are_drawn_in_three_views(draw, find):
    densities, differences, probability = draw("paired").axes
    assert find(densities, "runs-a")
    assert find(differences, "difference")
    assert find(probability, "interval-0")


def test_unpaired_runs_are_drawn_without_differences(draw, find):
    densities, probability = draw("unpaired").axes
    assert find(densities, "runs-a")
    assert find(probability, "interval-0")


def test_numbers_of_every_task_stand_beside_it(make_tasks, drawn_texts):
    tasks = make_tasks(7)
    drawn = figure(tasks)
    texts = [text.get_text() for text in drawn_texts(drawn)]
    assert drawn.get_suptitle().replace("\n", " ") == str(tasks)
    average = tasks.average.interval
    assert f"{tasks.average.probability:.3f} [{average.low:.3f}, {average.high:.3f}]" in texts
    for comparison in tasks.comparisons:
        chance, difference = comparison.interval, comparison.difference
        assert f"{comparison.probability:.3f} [{chance.low:.3f}, {chance.high:.3f}]" in texts
        ends = f"[{difference.interval.low:+.3g}, {difference.interval.high:+.3g}]"
        assert f"{difference.value:+.3g} {ends}".replace("-", "−") in texts


def test_numbers_of_tasks_have_room_for_browsers_that_write_wider(make_tasks, drawn_texts):
    drawn = figure(make_tasks(3))
    numbers = max(drawn_texts(drawn), key=lambda text: text.get_window_extent().x1)
    assert numbers.get_window_extent().x1 <= 0.98 * drawn.bbox.x1


def test_forty_tasks_get_the_height_they_need(make_tasks):
    drawn = figure(make_tasks(40))
    tops = sorted(label.get_window_extent().y0 for label in drawn.axes[0].get_yticklabels())
    heights = [label.get_window_extent().height for label in drawn.axes[0].get_yticklabels()]
    assert np.diff(tops).min() > max(heights)


@pytest.mark.parametrize(
    ("view", "gid"),
    [
        (None, "interval-0"),
        ("probability", "interval-0"),
        ("densities", "runs-a"),
        ("differences", "difference"),
    ],
)
def test_plot_draws_the_view_asked_for(make_comparison, find, ax, view, gid):
    assert plot(make_comparison(), ax, view=view) is ax
    assert find(ax, gid)
    own = plot(make_comparison(), view=view)
    assert find(own, gid)
    assert own.get_figure().get_figwidth() == 3.4


@pytest.mark.parametrize("kind", ["7 tasks", "published", "plan"])
def test_plot_draws_any_result_on_one_axes(results, kind):
    ax = plot(results[kind])
    assert ax.figure.axes == [ax]
    assert ax.lines


def test_plot_grows_with_the_number_of_tasks(make_tasks):
    heights = [plot(make_tasks(n)).get_figure().get_figheight() for n in (1, 10, 40)]
    assert heights == sorted(set(heights))


@pytest.mark.parametrize(
    ("kind", "view", "choices"),
    [
        ("paired", "violin", "'probability', 'densities', 'differences'"),
        ("7 tasks", "densities", "'probability'"),
        ("plan", "probability", "'sample sizes'"),
    ],
)
def test_unknown_view_is_refused(results, kind, view, choices):
    with pytest.raises(InvalidInput) as caught:
        plot(results[kind], view=view)
    assert str(caught.value) == f"view is {view!r}. Choose one of {choices}."


@pytest.mark.parametrize("draw", [plot, figure, lambda result: save_figure(result, "x.svg")])
def test_unknown_result_is_refused(draw):
    with pytest.raises(InvalidInput) as caught:
        draw([0.9, 0.8])
    assert str(caught.value) == (
        "there is no figure of a list. "
        "Pass a result, such as what `compare`, `plan` or `decompose` returned."
    )


@pytest.mark.parametrize("ax", [3, "axes", Figure()])
def test_what_is_no_axes_is_refused(results, ax):
    with pytest.raises(InvalidInput) as caught:
        plot(results["paired"], ax=ax)
    assert str(caught.value) == (
        f"ax is of type {type(ax).__name__}, not matplotlib's axes. Pass one of the axes that "
        "plt.subplots returned, or leave it out."
    )


@pytest.mark.parametrize(
    ("kind", "width"),
    [
        *((kind, width) for kind in ("paired", "plan", "components") for width in (3.0, 5.0, 9.0)),
        ("7 tasks", 9.0),
        ("audit", 9.0),
    ],
)
def test_another_width_cuts_nothing_off(results, check_texts, kind, width):
    drawn = figure(results[kind], width=width)
    assert drawn.get_figwidth() == width
    check_texts(drawn, may_overlap=region_labels(drawn))


@pytest.mark.parametrize(
    ("view", "width"), [("probability", 2.5), ("probability", 3.0), (None, 3.0)]
)
def test_names_of_regions_stand_apart_in_narrow_figures(results, view, width):
    drawn = figure(results["paired"], view=view, width=width)
    drawn.draw_without_rendering()
    names = [name for name in region_labels(drawn) if name.get_text().endswith("meaningful")]
    assert len(names) == 4
    boxes = sorted((name.get_window_extent() for name in names), key=lambda box: box.x0)
    gaps = [right.x0 - left.x1 for left, right in pairwise(boxes)]
    assert min(gaps) > 0.02 * drawn.dpi  # inches


def test_a_title_may_be_left_to_the_caption(results, check_texts):
    with_title, without = (figure(results["paired"], title=each) for each in (True, False))
    assert without.get_suptitle() == ""
    assert without.get_figheight() < with_title.get_figheight()
    check_texts(without, may_overlap=region_labels(without))


@pytest.mark.parametrize("width", [1, 50, float("nan")])
def test_a_width_that_serves_nobody_is_refused(results, width):
    with pytest.raises(InvalidInput) as caught:
        figure(results["paired"], width=width)
    assert str(caught.value) == f"the width is {width:g} inches. Choose one from 2.5 to 20."


@pytest.mark.parametrize(
    ("kind", "usual", "views"),
    [
        ("7 tasks", 7, "probability"),
        (
            "audit",
            7,
            "'random sets', between, 'same seeds', densities, 'few seeds', differences, "
            "'effect sizes', within, gaps",
        ),
        # There is room for the axes, and none for the text below them.
        ("paired", 3.4, "probability, densities, differences"),
    ],
)
def test_a_width_without_room_for_the_views_is_refused(results, kind, usual, views):
    with pytest.raises(InvalidInput) as caught:
        figure(results[kind], width=2.5)
    assert str(caught.value) == (
        "2.5 inches have no room for all views of this result. "
        f"Choose a larger width ({usual:g} is usual), or draw one view only (--view, view= in "
        f"Python): {views}."
    )


def test_a_width_without_room_for_one_view_is_refused(make_comparison):
    with pytest.raises(InvalidInput) as caught:
        figure(make_comparison(names={"metric": "accuracy" * 9}), view="differences", width=2.5)
    assert str(caught.value) == (
        "2.5 inches have no room for differences of this result. Choose a larger width (3.4 is "
        "usual)."
    )


@pytest.mark.parametrize("layout", [None, "constrained"])
def test_small_axes_side_by_side_do_not_overlap(make_comparison, check_texts, layout):
    drawn = Figure(figsize=(9, 2.6), layout=layout)
    views = ("probability", "densities", "differences")
    for view, ax in zip(views, drawn.subplots(1, 3), strict=True):
        plot(make_comparison(), ax, view=view)
    check_texts(drawn, may_overlap=region_labels(drawn))


@pytest.mark.parametrize("view", ["probability", "differences"])
def test_axes_of_two_inches_have_labels_that_fit(make_comparison, check_texts, view):
    drawn = Figure(figsize=(7, 2))
    for ax in drawn.subplots(1, 3):
        plot(make_comparison(), ax, view=view)
    check_texts(drawn)


@pytest.mark.parametrize("size", [(2, 2), (3, 2)])
@pytest.mark.parametrize("letters", [10, 12])
@pytest.mark.parametrize(
    ("kind", "view"),
    [
        ("paired", "probability"),
        ("paired", "densities"),
        ("paired", "differences"),
        ("7 tasks", "probability"),
    ],
)
def test_letters_too_large_for_small_axes_are_drawn_smaller(
    results, check_texts, kind, view, letters, size
):
    with matplotlib.rc_context({"font.size": letters}):
        drawn = Figure(figsize=size)
        ax = plot(results[kind], drawn.subplots(), view=view)
    check_texts(drawn, may_overlap=region_labels(drawn))
    assert 6 < ax.xaxis.label.get_fontsize() < letters


def test_titles_are_broken_where_axes_are_small(results):
    with matplotlib.rc_context({"font.size": 12}):
        drawn = Figure(figsize=(3, 2))
        ax = plot(results["audit"], drawn.subplots(), view="few seeds")
    drawn.draw_without_rendering()
    assert "\n" in ax.get_title(loc="left")
    (title,) = [text for text in ax.findobj(Text) if text.get_text() == ax.get_title(loc="left")]
    assert title.get_window_extent().x1 <= drawn.bbox.x1


@pytest.mark.parametrize(
    ("kind", "view"),
    [
        ("audit", "within"),
        ("audit", "between"),
        ("audit", "random sets"),
        ("audit of one", "within"),
        ("plan", "sample sizes"),
        ("searches", "validation"),
    ],
)
def test_a_legend_is_there_but_does_not_squeeze_small_axes(results, kind, view):
    wide, narrow = (Figure(figsize=size) for size in ((6, 3), (2, 2)))
    first, second = (plot(results[kind], drawn.subplots(), view=view) for drawn in (wide, narrow))
    narrow.draw_without_rendering()
    told = [[text.get_text() for text in ax.get_legend().get_texts()] for ax in (first, second)]
    assert told[0] == told[1]  # else nobody knows which colour is whom
    box = second.get_legend().get_window_extent()
    assert box.x0 >= second.bbox.x0
    assert box.x1 <= narrow.bbox.x1
    assert min(second.get_position().width, second.get_position().height) > 0.4


@pytest.mark.parametrize(
    "make",
    [
        lambda: best_of_equals(10, test_size=1000, accuracy=0.9),  # with an axis above
        lambda: trace_seeds(np.linspace(0.8, 0.9, 10), alphas=[0.05], rng=RNG),  # with a title
    ],
)
def test_a_legend_above_small_axes_stands_above_whatever_is_there(make):
    drawn = Figure(figsize=(2, 2))
    ax = plot(make(), drawn.subplots())
    drawn.draw_without_rendering()
    legend = ax.get_legend().get_window_extent().padded(-1)
    texts = [text for each in (ax, *ax.child_axes) for text in each.findobj(Text)]
    names = {*ax.get_legend().findobj(Text)}
    for text in texts:
        if text.get_text() and text not in names:
            assert not legend.overlaps(text.get_window_extent()), text


def test_labels_that_are_broken_anew_keep_their_lines_apart(make_tasks):
    drawn = Figure(figsize=(7, 2))
    ax = plot(make_tasks(3), drawn.subplots(1, 4)[1])
    lines = ax.get_xlabel().split("\n")
    assert len(lines) > 4
    assert not [line for line in lines if "interval each" in line or "itself by" in line]


def test_what_a_legend_left_out_was_titled_stays(results):
    ax = plot(results["audit"], Figure(figsize=(1, 1)).subplots(), view="between")
    assert ax.get_legend() is None
    assert ax.get_title(loc="left").replace("\n", " ") == (
        "Best n of one against worst n of the other"
    )


def test_phrases_below_small_axes_stand_on_lines_of_their_own(results):
    axes = Figure(figsize=(7, 2.2)).subplots(1, 3)
    label = plot(results["paired"], axes[0], view="probability").get_xlabel()
    assert label.split("\n") == [
        "P(svm > forest),",
        "95% interval",
        "by accuracy",
        "(higher is better)",
    ]


def test_small_axes_with_long_names_do_not_overlap(results, check_texts):
    drawn = Figure(figsize=(7, 4.4))
    for ax, view in zip(drawn.subplots(2, 2).flat, ["densities", "differences"] * 2, strict=True):
        plot(results["re-splits, long names"], ax, view=view)
    check_texts(drawn)


def test_numbers_on_small_axes_do_not_touch(results):
    drawn = Figure(figsize=(7, 4))
    for ax in drawn.subplots(2, 3).flat:
        plot(results["components"], ax)
    drawn.draw_without_rendering()
    (shares,) = drawn.axes[0].child_axes
    shown = [text for text in shares.get_xticklabels() if text.get_text()]
    boxes = [text.get_window_extent() for text in shown]
    assert len(boxes) > 1
    assert all(left.x1 + 2 < right.x0 for left, right in pairwise(boxes))


def test_a_legend_beside_small_axes_leaves_them_room(make_best_of):
    drawn = Figure(figsize=(7, 4))
    axes = drawn.subplots(2, 3)
    for ax in axes.flat:
        plot(make_best_of(12), ax)
    drawn.draw_without_rendering()
    legend = axes[0, 0].get_legend()
    assert legend.get_title().get_text() == "20 runs each"
    assert [text.get_text() for text in legend.get_texts()][:2] == ["model 0", "model 1"]
    assert axes[0, 0].bbox.width > 0.8 * legend.get_window_extent().width
    assert legend.get_window_extent().x1 <= axes[0, 1].bbox.x0


@pytest.mark.parametrize("size", [(2, 2), (3, 2)])
@pytest.mark.parametrize("kind", ["sequential", "sequential, long names"])
def test_names_of_both_log_ratios_do_not_overlap(results, kind, size):
    drawn = Figure(figsize=size)
    ax = plot(results[kind], drawn.subplots(), view="ratios")
    drawn.draw_without_rendering()
    titles = {ax.get_title(loc=where): where for where in ("left", "right")}
    boxes = {titles.get(text.get_text()): text.get_window_extent() for text in ax.findobj(Text)}
    left, right = boxes["left"], boxes["right"]
    # The first is written above the second, over an empty line, or ends before it begins.
    assert right.y1 <= left.y0 + 0.6 * left.height or left.x1 < right.x0


def test_letters_that_fit_are_those_that_were_set(make_comparison):
    with matplotlib.rc_context({"font.size": 14}):
        ax = plot(make_comparison(), Figure(figsize=(5, 4)).subplots(), view="densities")
    assert ax.xaxis.label.get_fontsize() == 14


def test_who_laid_out_a_figure_keeps_the_layout(make_comparison):
    drawn = Figure(layout="tight")
    engine = drawn.get_layout_engine()
    plot(make_comparison(), drawn.subplots())
    assert drawn.get_layout_engine() is engine


def test_few_runs_have_dots_and_no_density(make_comparison, find):
    few, enough = (plot(make_comparison(n=n), view="densities") for n in (9, 10))
    assert find(few, "range-a").get_xdata()[0] == make_comparison(n=9).scores_a.min()
    assert not few.findobj(lambda artist: artist.get_gid() == "density-a")
    assert find(enough, "density-a")


def test_all_wins_have_the_width_that_is_known_of_them(make_comparison, find):
    result = make_comparison(shift=0.5, interval="percentile")
    assert result.interval.low == result.interval.high == 1
    line = find(plot(result), "interval-0")
    # 29 of 29: Clopper and Pearson's lower end is 0.025**(1/29).
    assert line.get_xdata() == pytest.approx([0.025 ** (1 / 29), 1])
    assert line.get_linestyle() == ":"


def test_axes_that_somebody_placed_stay_where_they_are(results, recwarn):
    drawn = Figure(figsize=(4, 4))
    ax = plot(results["audit"], drawn.add_axes((0.3, 0.3, 0.5, 0.4)), view="between")
    drawn.draw_without_rendering()
    assert not recwarn.list  # matplotlib's, that there is no grid to lay out
    assert ax.get_position().bounds == pytest.approx((0.3, 0.3, 0.5, 0.4))
