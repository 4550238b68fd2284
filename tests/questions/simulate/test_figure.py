import numpy as np
import pytest

from outperform import describe_variation, plot, simulate_error_rates
from outperform.errors import InvalidInput
from outperform.questions.simulate.scenarios import IDEAL
from outperform.render.figures import figure

RULES = ("verdict", "average", "oracle")


def simulate(scenarios=(IDEAL,), **options):
    return simulate_error_rates(scenarios, rules=RULES, rng=np.random.default_rng(0), **options)


def test_rates_are_drawn_against_the_truth_with_three_regions(find, ax):
    rates = simulate()
    plot(rates, ax)
    for curve in rates.curves:
        line = find(ax, curve.rule)
        assert tuple(line.get_xdata()) == curve.probabilities
        assert tuple(line.get_ydata()) == curve.rates
    band = find(ax, "not-meaningful")
    assert (band.get_x(), band.get_x() + band.get_width()) == (0.5, 0.75)
    regions = [text.get_text() for text in ax.texts if text.get_gid() == "region"]
    assert regions == ["not\nbetter", "better, not\nmeaningfully", "meaningfully\nbetter"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("true P(A > B)", "A declared better")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "oracle",
        "P(A > B) verdict",
        "average > δ",
    ]


def test_a_panel_per_scenario_under_one_legend():
    scenarios = [
        IDEAL,
        *(describe_variation(1, bias_sd=i / 5, name=f"bias {i}") for i in range(1, 5)),
    ]
    made = figure(simulate(scenarios))
    visible = [ax for ax in made.axes if ax.get_visible()]
    assert [ax.get_title() for ax in visible] == [
        "ideal",
        "bias 1",
        "bias 2",
        "bias 3",
        "bias 4",
    ]
    # Every column of panels says at its foot what its axis shows.
    assert [ax.get_xlabel() for ax in visible] == ["", "", *["true P(A > B)"] * 3]
    assert len(made.legends) == 1
    assert made.get_suptitle() == "How often A is declared better: 50 pairs, γ = 0.75, α = 0.05"


def test_one_number_of_pairs_is_a_dot_as_it_makes_no_line(find, ax):
    rates = simulate(n_pairs=[30])
    plot(rates, ax, view="effort")
    assert {find(ax, rule).get_marker() for rule in RULES} == {"o"}
    plot(simulate(n_pairs=[20, 30]), several := ax.figure.add_subplot(), view="effort")
    assert {find(several, rule).get_marker() for rule in RULES} == {"None"}


def test_effort_is_drawn_in_a_row_each(find):
    rates = simulate(n_pairs=[30, 10, 20], gammas=[0.6, 0.75, 0.9], delta=None)
    made = figure(rates)
    assert len(made.axes) == 8
    sizes, gammas = made.axes[0], made.axes[4]
    assert sizes.get_xlabel() == "pairs (γ = 0.75)"
    assert gammas.get_xlabel() == "γ (20 pairs)"
    assert list(find(sizes, "verdict").get_xdata()) == [10, 20, 30]
    assert list(find(gammas, "verdict").get_xdata()) == [0.6, 0.75, 0.9]
    expected = [c.at(0.5)[1] for c in rates.curves if (c.rule, c.gamma) == ("verdict", 0.75)]
    assert list(find(sizes, "verdict").get_ydata()) == expected


@pytest.mark.parametrize(("n", "other"), [(1, "bias 0"), (3, "mean of 3 scenarios")])
def test_effort_of_biased_designs_has_a_row(n, other, find):
    biased = [describe_variation(1, bias_sd=1, name=f"bias {i}") for i in range(n)]
    rates = simulate([IDEAL, *biased], n_pairs=[10, 20])
    made = figure(rates)
    assert [ax.get_ylabel() for ax in made.axes[::4]] == [
        "A declared better\nideal",
        f"A declared better\n{other}",
    ]
    expected = [c.at(0.5)[1] for c in rates.select("bias 0", 10, 0.75) if c.rule == "verdict"]
    assert find(made.axes[4], "verdict").get_ydata()[0] == pytest.approx(expected[0])


def test_the_view_of_effort_is_at_gamma(find, ax):
    rates = simulate(n_pairs=[10, 20])
    plot(rates, ax, view="effort")
    expected = [1 - c.false_negatives for c in rates.curves if c.rule == "oracle"]
    assert list(find(ax, "oracle").get_ydata()) == pytest.approx(expected)


def test_unknown_views_are_refused():
    with pytest.raises(InvalidInput, match="view is 'densities'"):
        plot(simulate(), view="densities")


def test_the_legend_leaves_room_for_what_it_is_about(check_texts):
    check_texts(figure(simulate()))
