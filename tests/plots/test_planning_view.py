import pytest

from outperform.questions.plan.answer import plan
from outperform.questions.plan.figure import draw_sample_sizes
from outperform.questions.plan.result import plan_gammas
from outperform.render.figures import plot


@pytest.fixture(scope="module")
def rows():
    return plan_gammas()


def test_both_sample_sizes_are_drawn_against_gamma(rows, ax):
    draw_sample_sizes(rows, ax)
    exact, noether = ax.lines
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


def test_the_plan_is_marked_with_its_numbers(rows, find, ax):
    draw_sample_sizes(rows, ax, highlight=plan())
    assert find(ax, "required").get_xydata().tolist() == [[0.75, 54]]
    numbers = find(ax, "numbers")
    assert numbers.xy == (0.75, 54)
    assert numbers.get_text() == "54 pairs (Noether: 29)\nγ = 0.75, α = 0.05, β = 0.05"
    assert len(ax.lines) == 3


def test_pairs_asked_for_are_marked_too(rows, find, ax):
    asked = plan(n_pairs=40)
    draw_sample_sizes(rows, ax, highlight=asked)
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
