import pytest

from outperform.questions.plan.answer import plan
from outperform.questions.plan.budget_result import BudgetPlan, Costs, ErrorRates, list_options
from outperform.questions.plan.constants import Constants, SearchLength
from outperform.questions.plan.figure import draw_plan
from outperform.questions.plan.result import plan_gammas
from outperform.render.figures import figure, plot


@pytest.fixture(scope="module")
def rows():
    return plan_gammas()


def test_both_sample_sizes_are_drawn_against_gamma(rows, ax):
    draw_plan(plan(), ax)
    exact, noether, _ = ax.lines
    assert list(exact.get_xdata()) == list(noether.get_xdata()) == [row.gamma for row in rows]
    assert list(exact.get_ydata()) == [row.n_required for row in rows]
    assert list(noether.get_ydata()) == [row.n_noether for row in rows]
    assert ax.get_yscale() == "log"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "pairs, for the paired verdict",
        "Noether, per group, all with all",
    ]
    assert ax.get_xlabel() == "smallest P(A > B) that matters, γ"
    assert ax.get_ylabel() == "runs of each algorithm"


def test_the_plan_is_marked_with_its_numbers(find, ax):
    draw_plan(plan(), ax)
    assert find(ax, "required").get_xydata().tolist() == [[0.75, 54]]
    numbers = find(ax, "numbers")
    assert numbers.xy == (0.75, 54)
    assert numbers.get_text() == "54 pairs (Noether: 29)\nγ = 0.75, α = 0.05, β = 0.05"
    assert len(ax.lines) == 3


def test_pairs_asked_for_are_marked_too(find, ax):
    asked = plan(n_pairs=40)
    draw_plan(asked, ax)
    assert find(ax, "asked").get_xydata().tolist() == [[0.75, 40]]
    assert find(ax, "numbers").get_text().endswith(f"\n◇ 40 pairs: power {asked.power:.2f}")


def test_a_pilot_is_marked_at_what_it_showed(make_comparison, find, ax):
    pilot = make_comparison(n=20)
    planned = plan(pilot=pilot, gamma=0.7)
    assert planned.probability != planned.gamma
    plot(planned, ax)
    expected = [[planned.probability, planned.n_required]]
    assert find(ax, "required").get_xydata().tolist() == expected
    line = f"for a true P(svm > forest) of {planned.probability:.2g}"
    assert line in find(ax, "numbers").get_text().split("\n")


def test_a_plan_is_drawn_for_its_own_error_rates(find):
    planned = plan(alpha=0.01, beta=0.2, interval="wilson")
    ax = plot(planned)
    expected = [row.n_required for row in plan_gammas(0.01, 0.2, interval="wilson")]
    assert list(ax.lines[0].get_ydata()) == expected
    assert find(ax, "numbers").get_text().endswith("γ = 0.75, α = 0.01, β = 0.2")


@pytest.fixture(scope="module")
def budget_plan():
    constants, costs = (Constants("fix-hopt", 0.1, 0.1, 0.0, 0.4),), Costs(2.0, 2.0, "fits", 2, 2)
    options = tuple(list_options(constants, (SearchLength(10, 0.01, 0.1),), 50))
    plans = tuple(option.plan(2000, costs, ErrorRates()) for option in options)
    return BudgetPlan(2000, costs, 50, ErrorRates(), constants, plans, options)


def test_errors_are_drawn_against_the_budget_a_line_per_design(budget_plan, find):
    ax = plot(budget_plan)
    lines = ax.lines[: len(budget_plan.options)]
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == [option.name for option in budget_plan.options]
    for line, curve in zip(lines, budget_plan.curves, strict=True):
        assert list(line.get_xdata()) == list(curve.budgets)
        assert list(line.get_ydata()) == list(curve.errors)
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert ax.get_xlabel() == "budget, fits of the whole study"
    assert find(ax, "best").get_xydata().tolist() == [[2000, budget_plan.recommended.error]]


def test_the_names_of_designs_hide_no_curve_and_fit_the_figure():
    kinds = ("fix-hopt", "simulated-hopt", "resampled-hopt")
    constants = tuple(Constants(kind, 0.1, 0.1, 0.0, 0.4) for kind in kinds)
    costs = Costs(2.0, 2.0, "fits", 2, 2)
    options = tuple(list_options(constants, (SearchLength(10, 0.01, 0.1),), 50))
    plans = tuple(option.plan(2000, costs, ErrorRates()) for option in options)
    drawn = figure(BudgetPlan(2000, costs, 50, ErrorRates(), constants, plans, options))
    drawn.draw_without_rendering()
    (ax,) = drawn.axes
    names = ax.get_legend().get_window_extent()
    assert names.y1 < ax.get_window_extent().y0
    assert names.x0 >= 0
    assert names.x1 <= drawn.bbox.x1


def test_the_title_of_a_budget_is_what_to_do(budget_plan):
    best = budget_plan.recommended
    title = " ".join(figure(budget_plan).get_suptitle().split())
    assert title.startswith(f"2,000 fits are best spent on {best.split.n_searches} searches of ")


def test_curves_pass_through_the_plans(budget_plan):
    for plan_, curve in zip(budget_plan.plans, budget_plan.curves, strict=True):
        assert curve.errors[curve.budgets.index(2000)] == plan_.error
