"""Figures of the best of n."""

import numpy as np
import pytest

from outperform.errors import InvalidInput
from outperform.questions.best_of.answer import best_of_runs, trace_spreads
from outperform.render.figures import figure, plot
from outperform.stats import best_of_weights


def make_records(name, *, n_runs=40, mean=0.6, sd=0.02, validation=True):
    rng = np.random.default_rng(len(name))
    scores = rng.normal(size=n_runs)
    return [
        {"algorithm": name, "accuracy": mean + sd * (v + rng.normal() / 2)}
        | ({"validation": 0.7 + sd * v} if validation else {})
        for v in scores
    ]


@pytest.fixture(scope="module")
def one():
    return best_of_runs(make_records("net"), n_resamples=200)


@pytest.fixture(scope="module")
def two():
    records = [
        *make_records("steady", mean=0.62, sd=0.004),
        *make_records("wild", mean=0.58, sd=0.03),
    ]
    return best_of_runs(records, "steady", "wild", n=3, n_resamples=200)


def test_the_curve_is_the_estimate_over_n(one, find):
    ax = plot(one)
    curve = find(ax, "curve-0")
    assert curve.get_xdata().tolist() == one.curve.n.tolist()
    assert curve.get_ydata().tolist() == one.curve.value.tolist()
    assert find(ax, "best-0").get_xydata().tolist() == [[5, one.value]]
    corners = find(ax, "band-0").get_paths()[0].vertices[:, 1]
    assert (corners.min(), corners.max()) == (one.curve.low.min(), one.curve.high.max())
    assert ax.get_xscale() == "log"
    assert [t.get_text() for t in ax.get_xticklabels()] == ["1", "2", "5", "10", "20"]
    assert ax.get_legend().get_texts()[0].get_text() == "net (40 runs)"


def test_a_width_at_which_labels_run_into_other_axes_is_refused():
    records = [*make_records("new"), *make_records("older")]
    with pytest.raises(InvalidInput) as caught:
        figure(best_of_runs(records, "new", "older", n_resamples=200), width=3.4)
    assert str(caught.value) == (
        "3.4 inches have no room for all views of this result. Choose a larger width (7 is "
        "usual), or draw one view only (--view, view= in Python): curves, densities, agreement."
    )


def test_two_curves_and_where_they_cross(two, find):
    ax = plot(two)
    assert {line.get_gid() for line in ax.lines} >= {"curve-0", "curve-1", "crossing"}
    assert find(ax, "crossing").get_xdata()[0] == two.crossing.n
    note = find(ax, "crossing-n")
    assert note.get_text() == f"cross at n = {two.crossing.n}"
    assert note.get_window_extent().y0 >= ax.get_window_extent().y1  # no legend is there


def test_densities_mark_the_mean_and_the_best(one, two, find):
    ax = plot(one, view="densities")
    assert find(ax, "best-1").get_xdata()[0] == one.value
    assert find(ax, "mean-0").get_xdata()[0] == pytest.approx(one.validation.mean())
    assert list(find(ax, "interval-1").get_xdata()) == [one.interval.low, one.interval.high]
    labels = [text.get_text() for text in ax.get_yticklabels()]
    assert labels[1] == f"test\n◆ mean {one.mean:.4g}\n▲ best of 5: {one.value:.4g}"
    labels = [
        text.get_text().split("\n")[0] for text in plot(two, view="densities").get_yticklabels()
    ]
    assert labels == ["steady", "wild"]


def test_agreement_shades_where_choices_come_from(one, find):
    ax = plot(one, view="agreement")
    dots = find(ax, "runs-0").get_offsets()
    assert dots[:, 0].tolist() == one.validation.tolist()
    assert dots[:, 1].tolist() == one.test.tolist()
    edge = find(ax, "chosen").get_x()
    chosen = one.validation >= edge
    weights = best_of_weights(5, one.validation)
    assert weights[chosen].sum() >= 0.9 > weights[chosen].sum() - weights[chosen].min()
    assert find(ax, "best-0").get_ydata()[0] == one.value


def test_lower_validation_is_shaded_on_the_left(find):
    records = [
        {"algorithm": "net", "loss": -r["accuracy"], "validation": -r["validation"]}
        for r in make_records("net")
    ]
    found = best_of_runs(records, n_resamples=50)
    ax = plot(found, view="agreement")
    span = find(ax, "chosen")
    low, high = sorted((span.get_x(), span.get_x() + span.get_width()))
    assert low <= found.validation.min() <= high < found.validation.max()


def test_spreads_are_those_of_whole_experiments(one, find):
    ax = plot(one, view="spreads")
    spreads = trace_spreads(one, rng=np.random.default_rng(0))
    for index, name in enumerate(("best_single", "best_of", "average")):
        line = find(ax, f"mean-{index}")
        assert line.get_xdata().tolist() == spreads.n_runs.tolist()
        assert line.get_ydata().tolist() == getattr(spreads, name).mean.tolist()
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["best single run", "best of 5", "mean"]


def test_whole_figures(one, two):
    assert len(figure(one).axes) == 4
    assert len(figure(two).axes) == 4
    same = best_of_runs(make_records("net", validation=False), n_resamples=50)
    assert len(figure(same).axes) == 3  # scores agree with themselves
    records = [r for name in ("a", "bb", "ccc") for r in make_records(name)]
    each = figure(best_of_runs(records, n_resamples=50))
    assert len(each.axes[0].get_legend().get_texts()) == 3


@pytest.mark.parametrize("n_algorithms", [5, 30])
def test_the_legend_of_many_covers_no_curve(n_algorithms):
    records = [r for number in range(n_algorithms) for r in make_records("net" * (number + 1))]
    drawn = figure(best_of_runs(records, n_resamples=50))
    drawn.canvas.draw()
    (ax,), page = drawn.axes, drawn.bbox
    legend = ax.get_legend().get_window_extent()
    assert legend.x0 >= ax.get_window_extent().x1
    assert page.x1 >= legend.x1
    assert page.y0 <= legend.y0


def test_scores_that_choose_and_are_reported_have_no_agreement_to_show():
    records = [r for name in ("a", "bb") for r in make_records(name, validation=False)]
    drawn = figure(best_of_runs(records, "a", "bb", n=2, n_resamples=50))
    assert len(drawn.axes) == 3


def test_constant_validation_correlates_with_nothing():
    records = [{**r, "validation": 0.7} for r in make_records("net")]
    ax = plot(best_of_runs(records, n=2, n_resamples=50), view="agreement")
    assert ax.get_legend().get_texts()[0].get_text() == "runs, correlation none"


def test_names_may_be_long_or_hold_dollars():
    names = ["$a$ " + "very " * 20 + "long", "$b$ " + "very " * 20 + "long"]
    records = [{**r, "algorithm": name} for name in names for r in make_records("x")]
    made = figure(best_of_runs(records, *names, n_resamples=50))
    assert "$" in made.get_suptitle()
