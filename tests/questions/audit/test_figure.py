"""Figures of an audit hold the numbers of the audit."""

import numpy as np
import pytest

from outperform.errors import InvalidInput
from outperform.questions.audit.answer import audit
from outperform.render.figures import figure, plot
from outperform.render.style import COLOUR_A, COLOUR_B


@pytest.fixture(scope="module")
def scores():
    rng = np.random.default_rng(1)
    return {"new": rng.normal(0.9, 0.01, 40).tolist(), "old": rng.normal(0.89, 0.02, 40).tolist()}


@pytest.fixture(scope="module")
def result(scores):
    return audit(scores, "new", "old", n_resamples=50)


@pytest.fixture(scope="module")
def alone(scores):
    return audit(scores, "new")


@pytest.mark.parametrize(
    ("view", "field"), [("within", "within"), ("between", "between"), ("same seeds", "same_seeds")]
)
def test_pvalues_are_drawn_for_both_sides_and_tests(result, find, ax, view, field):
    plot(result, ax, view=view)
    for side, picked, colour in zip(
        "ab", getattr(result, field), (COLOUR_A, COLOUR_B), strict=True
    ):
        for test, pvalues in (("t", picked.t_pvalue), ("Brunner–Munzel", picked.rank_pvalue)):
            line = find(ax, f"{test}-{side}")
            assert line.get_xdata().tolist() == picked.sizes.tolist()
            assert line.get_ydata().tolist() == np.maximum(pvalues, 1e-10).tolist()
            assert line.get_color() == colour
    assert find(ax, "alpha").get_ydata()[0] == pytest.approx(0.05)
    assert ax.get_yscale() == "log"
    assert "≤ 10⁻¹⁰" in [text.get_text() for text in ax.texts]


def test_shares_of_random_sets_are_drawn_by_every_rule(result, find, ax):
    plot(result, ax)  # the default
    for shares in result.sets:
        assert find(ax, f"{shares.rule}-a").get_ydata().tolist() == shares.share_a.tolist()
        assert find(ax, f"{shares.rule}-b").get_xdata().tolist() == shares.sizes.tolist()
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["new better", "old better", "verdict", "paired t", "Brunner–Munzel"]


@pytest.mark.parametrize(
    ("view", "field", "first"),
    [("differences", "difference", 0), ("effect sizes", "effect_size", 0), ("gaps", "gap", 2)],
)
def test_effects_of_best_against_worst_are_drawn(result, alone, find, view, field, first):
    for drawn, picked in ((result, result.within[0]), (alone, alone.picked)):
        line = find(plot(drawn, view=view), "curve-a")
        assert line.get_ydata()[first:].tolist() == getattr(picked, field)[first:].tolist()
    # Intervals of two and three runs would hide all others.
    if first:
        assert np.isnan(line.get_ydata()[:first]).all()


def test_few_seeds_are_drawn_above_and_below_the_line(result, ax):
    plot(result, ax, view="few seeds")
    of_five = [line for line in ax.lines if line.get_gid() == "density-b-5"]
    assert len(of_five) == 20
    assert max(line.get_ydata().max() for line in of_five) <= 0
    assert [label.get_text() for label in ax.get_yticklabels()] == [
        *(f"n = {n}" for n in (5, 10, 15, 20, 25)),
        "all",
    ]


def test_every_run_of_one_algorithm_is_a_dot(alone, find, ax):
    plot(alone, ax, view="densities")
    drawn = np.sort(find(ax, "runs-a").get_offsets()[:, 0])
    np.testing.assert_array_equal(drawn, np.sort(alone.scores))


def test_the_summary_has_six_views(result, alone, scores):
    for drawn in (result, alone, audit(scores, "new", "old", paired=False, n_resamples=20)):
        assert len(figure(drawn).axes) == 6


def test_seeds_that_are_not_shared_cannot_be_picked(scores, ax):
    unpaired = audit(scores, "new", "old", paired=False, n_resamples=20)
    with pytest.raises(InvalidInput) as caught:
        plot(unpaired, ax, view="same seeds")
    assert str(caught.value) == (
        "'new' and 'old' are compared unpaired, so they share no seeds to pick. Draw another view."
    )


def test_one_narrow_seed_set_does_not_flatten_the_others(ax):
    # Many runs nearly tie, so that some sets of five have a density like a needle.
    scores = np.concatenate([np.linspace(0.8, 0.9, 12), np.full(12, 0.85) + np.arange(12) * 1e-9])
    plot(audit({"new": scores.tolist(), "old": scores.tolist()}, "new"), ax, view="few seeds")
    drawn = [line for line in ax.get_lines() if line.get_gid() == "density-a-5"]
    peaks = [line.get_ydata().max() for line in drawn]
    assert max(peaks) == pytest.approx(0.85)
    assert np.median(peaks) >= 0.4


def test_tasks_are_drawn_by_the_share_that_moves_their_verdicts(find, ax):
    rng = np.random.default_rng(2)
    rows = [
        {"algorithm": name, "task": task, "seed": seed, "accuracy": score}
        for task, lead in (("won", 0.02), ("open", 0.0), ("lost", -0.02))
        for name, mean in (("new", 0.9 + lead), ("old", 0.9))
        for seed, score in enumerate(rng.normal(mean, 0.01, 20))
    ]
    tasks = audit(rows, "new", "old", n_resamples=5)
    plot(tasks, ax)
    dots = [find(ax, f"hidden-{row}") for row in range(3)]
    for dot, each in zip(dots, tasks.audits, strict=True):
        assert dot.get_xdata()[0] == each.easiest_move.n / 20
    assert [dot.get_color() for dot in (dots[0], dots[2])] == [COLOUR_A, COLOUR_B]
    assert [dot.get_markerfacecolor() for dot in dots] == [COLOUR_A, "white", COLOUR_B]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["won", "open", "lost"]
    alone = audit(rows, "new")
    drawn = find(plot(alone), "fooled-1")
    assert drawn.get_xdata()[0] == alone.audits[1].n_fooled / 20
