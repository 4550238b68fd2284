from dataclasses import replace

import pytest
from matplotlib.colors import to_hex

from outperform.questions.compare.answer import compare
from outperform.questions.compare.figure import draw_probability, draw_tasks
from outperform.questions.compare.published import compare_published
from outperform.render.style import COLOUR_A, COLOUR_B, COLOUR_NEITHER
from outperform.stats import Summary


def region_names(ax):
    return [tick.get_text().strip() for tick in ax.child_axes[0].get_xticklabels()]


def wins_of(n_wins, n, **options):
    return compare([i < n_wins for i in range(n)], [i >= n_wins for i in range(n)], **options)


def test_interval_and_estimate_are_where_they_belong(make_comparison, find, ax):
    comparison = make_comparison()
    draw_probability(comparison, ax)
    ends = find(ax, "interval-0").get_xdata()
    assert list(ends) == [comparison.interval.low, comparison.interval.high]
    assert find(ax, "probability-0").get_xdata() == [comparison.probability]
    assert [label.get_text() for label in ax.get_yticklabels()] == [
        f"{comparison.probability:.3g}\n{comparison.interval}"
    ]


def test_half_and_gamma_are_marked_in_both_directions(make_comparison, find, ax):
    draw_probability(make_comparison(gamma=0.8), ax)
    assert list(find(ax, "half").get_xdata()) == [0.5, 0.5]
    assert list(find(ax, "gamma-a").get_xdata()) == [0.8, 0.8]
    assert list(find(ax, "gamma-b").get_xdata()) == pytest.approx([0.2, 0.2])
    labels = [label.get_text() for label in ax.get_xticklabels()]
    assert labels == ["0", "0.5", "γ = 0.8", "1"]
    assert list(ax.get_xticks()) == [0, 0.5, 0.8, 1]


@pytest.mark.parametrize("gamma", [0.75, 0.9, 0.99])
def test_regions_are_named(make_comparison, ax, gamma):
    draw_probability(make_comparison(gamma=gamma), ax)
    ticks = ax.child_axes[0].get_xticks()
    assert region_names(ax) == [
        "meaningful",
        "meaningful",
        "not\nmeaningful",
        "not\nmeaningful",
        "across 0.5: not significant",
    ]
    assert 0 < ticks[0] < 1 - gamma < ticks[2] < 0.5 < ticks[3] < gamma < ticks[1] < 1


@pytest.mark.parametrize("gamma", [0.51, 0.6, 0.7])
def test_narrow_regions_are_named_together(make_comparison, ax, gamma):
    draw_probability(make_comparison(gamma=gamma), ax)
    joint = "across 0.5: not significant\nwithin γ:\nnot meaningful"
    assert region_names(ax) == ["meaningful", "meaningful", joint]


@pytest.mark.parametrize("gamma", [0.5])
def test_gamma_that_excludes_nothing_is_not_drawn(make_comparison, ax, gamma):
    draw_probability(make_comparison(gamma=gamma), ax)
    assert region_names(ax) == ["meaningful", "across 0.5: not significant", "meaningful"]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["0", "0.5", "1"]
    assert not ax.findobj(lambda artist: str(artist.get_gid()).startswith("gamma"))


@pytest.mark.parametrize(
    ("n_wins", "n", "colour", "filled"),
    [
        (25, 29, COLOUR_A, True),
        (4, 29, COLOUR_B, True),
        (620, 1000, COLOUR_A, False),
        (380, 1000, COLOUR_B, False),
        (15, 29, COLOUR_NEITHER, True),
        (3, 3, COLOUR_NEITHER, True),  # too few to conclude, whoever wins
    ],
)
def test_verdict_shows_in_colour_and_fill(find, ax, n_wins, n, colour, filled):
    draw_probability(wins_of(n_wins, n), ax)
    dot = find(ax, "probability-0")
    assert to_hex(find(ax, "interval-0").get_color()) == colour.lower()
    assert to_hex(dot.get_color()) == colour.lower()
    assert to_hex(dot.get_markerfacecolor()) == (colour.lower() if filled else "#ffffff")


@pytest.mark.parametrize(("goal", "better"), [("maximize", "higher"), ("minimize", "lower")])
def test_axis_names_metric_direction_and_level(make_comparison, ax, goal, better):
    draw_probability(make_comparison(goal=goal, confidence_level=0.99), ax)
    expected = f"P(svm > forest), 99% interval\nby accuracy ({better} is better)"
    assert ax.get_xlabel() == expected


@pytest.mark.parametrize("n_tasks", [1, 2, 40])
def test_tasks_are_rows_from_the_top_down(make_tasks, find, ax, n_tasks):
    comparisons = make_tasks(n_tasks).comparisons
    draw_probability(comparisons, ax)
    assert [label.get_text() for label in ax.get_yticklabels()] == [c.task for c in comparisons]
    assert ax.yaxis_inverted()
    for row, comparison in enumerate(comparisons):
        line = find(ax, f"interval-{row}")
        assert list(line.get_xdata()) == [comparison.interval.low, comparison.interval.high]
        assert list(line.get_ydata()) == [row, row]


def test_published_comparison_is_drawn_alike(find, ax):
    published = compare_published(Summary(76.3, 0.8, 10), Summary(75.1, 0.9, 10))
    draw_probability(replace(published, metric="top-1"), ax)
    ends = find(ax, "interval-0").get_xdata()
    assert list(ends) == [published.interval.low, published.interval.high]
    assert ax.get_xlabel() == "P(A > B), 95% interval\nby top-1 (higher is better)"


def test_published_comparisons_may_be_rows_too(find, ax):
    rows = [
        compare_published(Summary(mean, 0.8, 10), Summary(75.1, 0.9, 10)) for mean in (74.0, 77.0)
    ]
    draw_probability(rows, ax)
    assert to_hex(find(ax, "interval-0").get_color()) == COLOUR_B.lower()
    assert to_hex(find(ax, "interval-1").get_color()) == COLOUR_A.lower()


def test_the_average_over_tasks_stands_below_them(make_tasks, find, ax):
    tasks = make_tasks(4)
    draw_tasks(tasks, ax)
    average = tasks.average
    assert find(ax, "average").get_xdata()[0] == average.probability
    interval = [average.interval.low, average.interval.high]
    assert list(find(ax, "average-interval").get_xdata()) == interval
    assert find(ax, "average").get_ydata()[0] == 4
    assert [label.get_text() for label in ax.get_yticklabels()][-1] == "on average"
