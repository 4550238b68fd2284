"""Figures of what designs are worth."""

import math
from dataclasses import replace

import numpy as np
import pytest

from outperform.errors import InvalidInput
from outperform.questions.quality.answer import COMBINED
from outperform.questions.quality.figure import (
    compose_quality,
    draw_deviations,
    draw_means,
    draw_parts,
    draw_standard_errors,
)
from outperform.questions.quality.result import (
    IdealRuns,
    MeasuredDesign,
    MeasuredDeviations,
    PairQuality,
    Quality,
)
from outperform.render.figures import figure
from outperform.render.style import house_style
from outperform.runs.scope import UNKNOWN
from outperform.stats import assess_design, assess_deviations
from outperform.stats.variances import deviation

NAMES = ("fix-hopt (init)", "fix-hopt (all)", "simulated-hopt")


def make_pair(number=0, *, repeated=True, names=NAMES, task="digits", n_fits=10):
    rng = np.random.default_rng(number)
    ideal = rng.normal(0.9, 0.01, 40)
    tables = {
        name: 0.9 + rng.normal(0, 0.006, (8, 1)) + rng.normal(0, 0.004 * (i + 1), (8, n_fits))
        for i, name in enumerate(names)
    }
    designs = [
        MeasuredDesign(
            *(name, name.split()[0], "all", 30, 60.0, 21, table.mean(axis=1)),
            assess_design(table, ideal, overhead=20, rng=rng),
        )
        for name, table in tables.items()
    ]
    groups = {name: [table] for name, table in tables.items()}
    groups[COMBINED] = [tables[names[1]], tables[names[-1]]]
    deviations = [
        MeasuredDeviations(name, 30, assess_deviations(group, ideal, rng=rng))
        for name, group in groups.items()
    ]
    runs = IdealRuns(ideal, deviation(ideal), 21, 42.0)
    about = ("svm", f"{task} {number}", "accuracy", "maximize", runs)
    return PairQuality(*about, tuple(designs) if repeated else (), tuple(deviations))


def make(n_pairs=1, **options):
    pairs = tuple(make_pair(number, **options) for number in range(n_pairs))
    return Quality(10, pairs, UNKNOWN)


def test_standard_errors_of_one_pair_are_in_its_unit_with_bands(find, ax):
    result = make()
    draw_standard_errors(result, ax)
    (pair,) = result.pairs
    ideal = find(ax, "errors-ideal").get_ydata()
    assert ideal == pytest.approx(pair.ideal.sd.value / np.sqrt(np.arange(1, 11)))
    for design in pair.designs:
        errors = design.quality.standard_error.values
        assert find(ax, f"errors-{design.name}").get_ydata() == pytest.approx(errors)
        band = find(ax, f"band-{design.name}").get_paths()[0].vertices[:, 1]
        assert band.max() == pytest.approx(errors[0] * (1 + 1 / math.sqrt(14)))


def test_standard_errors_of_several_pairs_are_medians_in_ideal_deviations(find, ax):
    result = make(3)
    draw_standard_errors(result, ax)
    curves = [
        pair.designs[0].quality.standard_error.values / pair.ideal.sd.value for pair in result.pairs
    ]
    drawn = find(ax, f"errors-{NAMES[0]}").get_ydata()
    assert drawn == pytest.approx(np.median(curves, axis=0))
    assert find(ax, "errors-ideal").get_ydata()[0] == 1
    assert ax.get_ylabel() == "standard error\nin σ of the ideal design"


@pytest.mark.parametrize("n_fits", [3, 6, 10])
def test_fits_are_counted_in_whole_numbers(n_fits):
    made = figure(make(2, n_fits=n_fits))
    made.canvas.draw()
    ticks = next(ax.get_xticks() for ax in made.axes if ax.get_title() == "standard error")
    assert len(ticks) > 1
    assert (ticks % 1 == 0).all()


def test_parts_add_up_to_the_mean_squared_error(find, ax):
    result = make()
    draw_parts(result, ax)
    for design in result.pairs[0].designs:
        variance, bias = find(ax, f"variance-{design.name}"), find(ax, f"bias-{design.name}")
        assert variance.get_width() == pytest.approx(design.quality.mean_variance.value)
        assert bias.get_x() + bias.get_width() == pytest.approx(design.mse.value)
        ends = find(ax, f"mse-{design.name}").get_xdata()
        assert tuple(ends) == (design.mse.interval.low, design.mse.interval.high)
    target = find(ax, "target").get_xdata()[0]
    assert target == pytest.approx(result.pairs[0].ideal.sd.value ** 2 / 10)
    assert find(ax, "target").get_label() == "10 ideal replicates"
    labels = [label.get_text() for label in ax.get_yticklabels()]
    rho = result.pairs[0].designs[0].quality.correlation.value
    assert labels[0] == f"fix-hopt (init)\nρ = {rho:.2f}"


def test_every_repetition_is_a_tick(find, ax):
    result = make()
    draw_means(result, ax)
    (pair,) = result.pairs
    assert find(ax, "means-ideal").get_xdata() == pytest.approx(pair.ideal.scores)
    for design in pair.designs:
        assert find(ax, f"means-{design.name}").get_xdata() == pytest.approx(design.means)
        (mean,) = find(ax, f"means-mean-{design.name}").get_xdata()
        assert mean == pytest.approx(design.means.mean())


def test_deviations_stand_beside_the_ideal_one(find, ax):
    result = make()
    draw_deviations(result, ax)
    (pair,) = result.pairs
    for each in pair.deviations:
        drawn = find(ax, f"deviations-{each.name}").get_xdata()
        assert drawn == pytest.approx(each.estimates.values)
    assert find(ax, "ideal-sd").get_xdata()[0] == pair.ideal.sd.value
    assert ax.get_yticklabels()[-1].get_text() == "average of both"


@pytest.mark.parametrize("n_pairs", [1, 2, 8, 12])
def test_no_text_is_cut_or_overlaps(n_pairs, check_texts):
    with house_style():
        drawn = compose_quality(make(n_pairs))
    assert len(drawn.axes) == (4 * n_pairs if 1 < n_pairs <= 8 else 4)
    check_texts(drawn)


def test_long_names_and_many_designs_fit(check_texts):
    names = tuple(f"fix-hopt (a-source-with-a-long-name-{i})" for i in range(8))
    for n_pairs in (1, 3):
        with house_style():
            drawn = compose_quality(make(n_pairs, names=names, task="a task with a long name"))
        check_texts(drawn)


@pytest.mark.parametrize("view", ["standard-errors", "parts", "means", "deviations"])
@pytest.mark.parametrize("n_pairs", [1, 4])
def test_views_fit_a_column(view, n_pairs, check_texts):
    with house_style():
        check_texts(figure(make(n_pairs), view=view))


def test_rows_of_pairs_are_drawn_where_there_is_room_for_their_texts(check_texts):
    check_texts(figure(make(6), width=5.5))
    with pytest.raises(InvalidInput) as caught:
        figure(make(6), width=3.3)
    assert str(caught.value) == (
        "3.3 inches have no room for all views of this result. Choose a larger width (7 is "
        "usual), or draw one view only (--view, view= in Python): standard-errors, parts, means, "
        "deviations."
    )


def test_what_was_not_repeated_has_its_deviations_only():
    result = make(repeated=False)
    with house_style():
        assert len(compose_quality(result).axes) == 1
    alone = replace(result, pairs=(replace(result.pairs[0], deviations=()),))
    with house_style():
        assert len(figure(alone).axes) == 1
