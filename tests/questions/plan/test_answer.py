"""Plans: how many runs, what they buy, what they cost."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import bdtrc
from scipy.stats import binom, binomtest

from outperform import compare, compare_runs, plan
from outperform.errors import InvalidInput
from outperform.questions.compare.advice import suggest_next
from outperform.questions.plan.result import plan_gammas
from outperform.stats import (
    VerdictRule,
    equivalence_test,
    noether_sample_size,
    plan_sequential_test,
    required_pairs,
    required_resplits,
    resplit_floor,
    second_look_level,
    verdict_power,
    verdict_size,
)


def pilot(n_wins: int, n_losses: int):
    base = np.arange(n_wins + n_losses) / 100
    return compare(base + np.repeat([0.001, -0.001], [n_wins, n_losses]), base)


def test_default_plan_names_both_sample_sizes():
    result = plan()
    assert (result.n_noether, result.n_required, result.n_pairs) == (29, 54, 54)
    assert result.power >= 0.95
    assert result.seconds is None


def test_noethers_number_is_too_small_for_pairs_and_the_plan_says_so():
    result = plan(n_pairs=29)
    assert result.power == verdict_power(29, 0.75) == pytest.approx(0.7125, abs=1e-4)
    assert result.false_alarms == verdict_size(29) == pytest.approx(0.0241, abs=1e-4)
    # P(W ≥ 21 of 29) is .95 there.
    assert bdtrc(20, 29, result.smallest_detectable) == pytest.approx(0.95)


def test_a_handful_of_pairs_detects_nothing():
    result = plan(n_pairs=5)
    assert (result.power, result.false_alarms, result.smallest_detectable) == (0, 0, None)


def test_cost_counts_a_fit_of_each_algorithm_per_pair():
    assert plan(n_pairs=10, seconds_per_fit=30).seconds == 600


def test_the_sequential_test_is_planned_beside_the_fixed_number():
    result = plan(seconds_per_fit=600)
    sequential = result.to_dict()["sequential"]
    pairs = [sequential[f"expected_pairs{who}"] for who in ("", "_equals")]
    assert pairs == pytest.approx([27.564, 34.292], abs=1e-3)
    assert sequential["worst_pairs"] == 80
    assert (sequential["power"], sequential["false_alarms"]) == pytest.approx((0.961, 0.0425), 1e-3)
    # Two fits of ten minutes per pair.
    assert sequential["expected_seconds"] == pytest.approx(1200 * pairs[0])
    assert sequential["expected_seconds_equals"] == pytest.approx(1200 * pairs[1])
    assert sequential["worst_seconds"] == 96_000
    assert result.tables[1].rows == [
        ("on average, if P(A>B) is 0.75", "54 (18.0 h)", "27.6 (9.2 h)"),
        ("on average, between equals", "54 (18.0 h)", "34.3 (11.4 h)"),
        ("at most", "54 (18.0 h)", "80 (26.7 h)"),
    ]


def test_the_sequential_test_of_a_pilot_is_for_gamma_and_costs_what_the_pilot_shows():
    better = plan(pilot=pilot(16, 4)).sequential
    test = plan_sequential_test(0.75)
    assert (better.test, better.better) == (test, test.operating(0.8))
    weaker = plan(pilot=pilot(6, 4)).sequential  # below γ: planned for what it shows
    assert weaker.test == plan_sequential_test(0.6)
    assert weaker.better.chance_a >= 0.95


def test_no_sequential_test_is_planned_where_it_takes_thousands_of_pairs():
    result = plan(gamma=0.53)
    assert result.sequential is None
    assert result.to_dict()["sequential"] is None
    assert len(result.tables) == 2


def test_pilot_is_planned_with_as_seen():
    result = plan(pilot=pilot(16, 4))
    assert result.probability == 0.8
    assert result.n_required == required_pairs(0.75, probability=0.8)
    assert result.caveats == (
        "the pilot of 20 pairs shows P(A wins) = 0.8 [0.563, 0.943]: if the truth is less, it "
        "takes more pairs; take new seeds, as those of the pilot have been looked at",
    )


def test_what_varied_between_the_runs_of_a_pilot_will_vary():
    assert str(plan(pilot=pilot(16, 4)).scope) == "Runs will vary, so this is about this dataset"


def test_a_pilot_that_b_wins_is_planned_for_b():
    result = plan(pilot=pilot(4, 16))
    assert (result.better, result.worse, result.probability) == ("B", "A", 0.8)
    assert "pairs make a true P(B > A) of 0.8 significant" in str(result)


def test_a_plan_for_significance_names_no_gamma():
    assert str(plan(pilot=pilot(6, 4))).endswith(
        "significant with power 0.95 (α = 0.05; Noether's formula says 181)."
    )


@pytest.mark.parametrize(
    ("n_lacking", "doubt"),
    [
        (0, None),
        (2, "had the 2 runs that new lacks gone badly, it would win 0.73 of the time, which takes"),
        (12, "gone badly, it would win 0.5 of the time, and no number of pairs that can be run"),
    ],
)
def test_a_pilot_that_lacks_runs_is_planned_with_them_too(n_lacking, doubt):
    signs = np.repeat([1, -1], [16, 4 + n_lacking])
    rows = [
        {
            "algorithm": name,
            "seed": i,
            "score": None if sign and i >= 20 else i + sign * s / (9 + i),
        }
        for name, sign in (("new", 1), ("old", 0))
        for i, s in enumerate(signs)
    ]
    result = plan(pilot=compare_runs(rows, "new", "old", drop_incomplete=True))
    assert result.n_required == plan(pilot=pilot(16, 4)).n_required
    (said,) = [each for each in result.caveats if "planned by the runs" in each] or [None]
    assert (said is None) == (doubt is None)
    if n_lacking:
        assert doubt in said
    if n_lacking == 2:
        # 16 of 22 is below γ, so that it is about being better at all.
        assert said.endswith(f" {required_pairs(0.5, probability=16 / 22)} pairs")


def test_ties_of_a_pilot_are_planned_with():
    base = np.arange(20) / 100
    tied = plan(pilot=compare(base + np.repeat([0.001, -0.001, 0], [11, 1, 8]), base))
    # As many ties, and 11 of the 12 others won: 27 pairs have the power, and 54 were asked for.
    assert (tied.probability, tied.tie_share, tied.n_required) == (0.75, 0.4, 27)
    assert tied.power >= 0.95 > verdict_power(26, 0.75, tie_share=0.4)
    assert str(tied).startswith(
        "27 pairs make a true P(A>B) of 0.75, 40% of pairs tied, significant and meaningful with "
        "power 0.95"
    )
    assert (
        "8 pairs of the pilot are tied, and as many are planned with: a tie says nothing, and with "
        "fewer of them the same P(A>B) takes more pairs, up to 54"
    ) in tied.caveats
    assert tied.tables[-1].title == "Pairs needed for power 0.95 at α = 0.05, without ties"
    rng = np.random.default_rng(3)
    found = sum(
        compare(base + rng.choice([0.001, -0.001, 0], 27, p=[0.55, 0.05, 0.4]), base).verdict
        == "significant and meaningful"
        for base in [np.arange(27) / 100] * 400
    )
    assert binomtest(found, 400, tied.power).pvalue > 0.001
    # Negative control: without ties, so many pairs of the same P(A>B) show less.
    assert verdict_power(27, 0.75) < 0.7
    assert plan(pilot=compare(*TIED, ties="half")).sequential.better.tie_share == 4 / 9


def test_a_pilot_that_loses_nothing_but_ties_is_too_good():
    base = np.arange(20) / 100
    tied = plan(pilot=compare(base + np.repeat([0.001, 0], [12, 8]), base))
    assert tied.probability == pytest.approx(0.5 + 0.6 * 0.45)
    assert "that is too good to plan with: 0.77 was used" in tied.caveats


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            ([0.9], [0.8]),
            "the pilot is of type tuple, not a comparison on one task. Pass what compare returned, "
            "or compare_runs with one task.",
        ),
        (
            compare([0.9, 0.8], [0.8, 0.7], paired=False),
            "the pilot compares 'A' and 'B' unpaired, but pairs are planned. Pass a paired "
            "comparison, or plan without a pilot.",
        ),
    ],
)
def test_what_is_no_pilot_is_refused(wrong, message):
    with pytest.raises(InvalidInput) as caught:
        plan(pilot=wrong)
    assert str(caught.value) == message


def test_pilot_below_gamma_plans_for_significance_only():
    result = plan(pilot=pilot(4, 6))
    assert (result.probability, result.gamma) == (0.6, 0.5)
    assert result.n_required == required_pairs(0.5, probability=0.6)
    assert "P(B wins) = 0.6" in result.caveats[0]
    assert "significant, not meaningful" in result.caveats[1]


def test_perfect_pilot_is_not_believed():
    result = plan(pilot=pilot(8, 0))
    assert result.probability == 0.95
    assert "too good to plan with" in result.caveats[1]


def test_pilot_without_any_difference_is_refused():
    with pytest.raises(InvalidInput) as caught:
        plan(pilot=pilot(5, 5))
    assert str(caught.value) == (
        "the pilot of 10 pairs shows no advantage: neither side wins more than half (0.5). Plan "
        "without a pilot, for the smallest P(A>B) that matters to you."
    )


TIED = ([1, 2, 3, 4, 5, 6, 7, 8, 9], [0, 1, 2, 3, 5, 6, 7, 8, 10])  # 4 wins, 4 ties, 1 loss


def test_pilot_of_which_neither_wins_half_is_refused():
    comparison = compare(*TIED, ties="strict")
    assert comparison.probability == 4 / 9
    with pytest.raises(InvalidInput, match=r"neither side wins more than half \(0\.44\)"):
        plan(pilot=comparison)


def test_wilson_asks_for_more_pairs_than_chance_does():
    assert plan(alpha=1e-4, interval="wilson", n_pairs=15).smallest_detectable is None
    assert plan(alpha=1e-4, interval="wilson", n_pairs=16).smallest_detectable > 0.9


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seconds_per_fit": 0}, "seconds_per_fit is 0. Pass a positive number."),
        ({"seconds_per_fit": "1"}, "seconds_per_fit is '1'. Pass a number."),
        ({"gamma": None}, "gamma is None. Pass a number."),
        ({"beta": "x"}, "beta is 'x'. Pass a number."),
        ({"n_pairs": 0}, "n_pairs is 0. Pass a whole number not less than 1."),
        ({"gamma": 1.2}, "gamma is 1.2"),
        ({"beta": 0.02}, "never stays above 0.98"),
    ],
)
def test_impossible_plans_are_refused(options, message):
    with pytest.raises(InvalidInput) as caught:
        plan(**options)
    assert message in str(caught.value)


def test_table_falls_with_gamma_and_needs_more_than_noether():
    rows = plan_gammas()
    needed = [row.n_required for row in rows]
    assert needed == sorted(needed, reverse=True)
    assert all(row.n_required > row.n_noether for row in rows)
    assert all(row.power_noether < 0.95 for row in rows)


@pytest.mark.parametrize(
    ("n_wins", "n_losses", "words"),
    [
        (28, 1, "report P(A>B) with its interval"),
        (600, 400, "the difference is real but small"),
        (15, 15, "use `compare --equivalence MARGIN`"),
        (18, 11, "more pairs ("),
    ],
)
def test_next_step_fits_the_verdict(n_wins, n_losses, words):
    assert words in suggest_next(pilot(n_wins, n_losses))


def test_next_step_does_not_call_a_perfect_sample_as_here():
    assert suggest_next(pilot(5, 0)).startswith("if A really wins 95% of the time, 7 more pairs")
    assert "60% of the time, as here, " in suggest_next(pilot(6, 4))


def tie_some(n_wins: int, n_losses: int, n_ties: int):
    base = np.arange(n_wins + n_losses + n_ties) / 100
    return compare(base + np.repeat([0.001, -0.001, 0], [n_wins, n_losses, n_ties]), base)


def test_next_step_counts_on_ties():
    # 6 of 9 that are not tied, so P = 2/3 among them, and 6 in 15 are: as many as are needed there
    # divided by 0.6, and more because the level that is left is lower.
    least = math.ceil(required_pairs(0.5, probability=2 / 3) / 0.6)
    words = suggest_next(tie_some(6, 3, 6))
    assert ", a tie being half a win, " in words
    assert least < count_advised(words) < 1.3 * least


def count_advised(words: str) -> int:
    return int(words.split(" in all")[0].rpartition("(")[2])


@pytest.mark.slow
@pytest.mark.parametrize("numbers", [(12, 7, 10), (6, 3, 6), (18, 11, 0)])
def test_the_pairs_advised_show_the_difference_as_often_as_promised(numbers):
    words = suggest_next(tie_some(*numbers))
    advised, level = count_advised(words), float(words.split("--alpha ")[1].split(",")[0])
    rng, shares = np.random.default_rng(0), np.array(numbers) / sum(numbers)
    rule = VerdictRule(1 - level)
    drawn = rng.multinomial(advised, shares, size=4000)
    found = sum(rule.holds(int(w), int(t), advised) for w, _, t in drawn)
    assert 0.94 < found / 4000 < 0.98
    fewer = rng.multinomial(advised // 2, shares, size=1000)  # the negative control
    assert sum(rule.holds(int(w), int(t), advised // 2) for w, _, t in fewer) < 850


def test_next_step_knows_what_unpaired_runs_cannot_do():
    a, b = np.random.default_rng(0).normal([[0.5], [0.0]], 1, (2, 20))
    words = suggest_next(compare(a, b, paired=False))
    assert "runs of each would show it with a chance of 95%: take fresh ones" in words
    assert "--interval anytime" not in words


def test_next_step_after_equivalence_was_shown():
    alike = tie_some(15, 14, 0)
    test = equivalence_test(alike.scores_a, alike.scores_b, margin=0.1)
    assert suggest_next(replace(alike, tests=(test,))) == (
        "the two are alike: report that a difference of 0.1 or more is ruled out."
    )
    better = tie_some(28, 1, 0)
    test = equivalence_test(better.scores_a, better.scores_b, margin=0.1)
    assert suggest_next(replace(better, tests=(test,))).startswith(
        "the difference is real but small"
    )


def test_nobody_is_advised_to_run_for_ever():
    words = "a difference as small as here would take more than 10,000 runs"
    assert words in suggest_next(pilot(501, 499))
    assert "neither wins more than half of the time" in suggest_next(pilot(15, 15))


def test_next_step_counts_the_missing_pairs():
    words = suggest_next(pilot(18, 11))
    n = count_advised(words)
    assert f"{n - 29} more pairs ({n} in all)" in words
    level = second_look_level(29, n)
    assert verdict_power(n, 18 / 29, gamma=0.5, alpha=level) >= 0.95
    assert words.endswith(
        "look again only then, with --alpha 0.029, which allows for this look; or look as often as "
        "you like with --interval anytime."
    )
    comparison = replace(pilot(4, 1), gamma=0.7999)  # A wins more often, and has to show it
    n = required_pairs(0.7999, probability=0.8)
    assert f"{n - 5} more pairs ({n} in all)" in suggest_next(comparison)


def test_next_step_of_unpaired_runs_is_two_sided():
    comparison = compare([3, 5, 7, 9], [2, 4, 6, 8, 8], paired=False)
    assert comparison.probability == 11 / 20
    n = noether_sample_size(0.55, 0.025, 0.05)
    words = suggest_next(comparison)
    assert f"{n} runs of each would show it" in words
    assert words.endswith("take fresh ones, since this look has used up the level for these.")


def test_next_step_names_a_second_level_for_the_sign_test_only():
    # Of 29 pairs the percentile interval has used up 6.1% already: nothing is left of 5%.
    seen = pilot(18, 11)
    words = suggest_next(compare(seen.scores_a, seen.scores_b, interval="percentile"))
    assert "--alpha" not in words
    assert "pairs would show it with a chance of 95%: take fresh ones" in words


def test_who_has_the_better_mean_is_not_advised_to_show_that_both_are_equally_good():
    b = np.arange(100.0)
    comparison = compare(b + np.repeat([9.0, -1.0], 50), b)
    assert comparison.better_mean == "a"
    assert suggest_next(comparison).startswith("report the difference of the means")


def test_a_pilot_is_named_even_if_its_better_side_is_called_a():
    named = replace(pilot(25, 4), a="A", b="C")
    assert "P(A > C)" in str(plan(pilot=named))


# Re-splits of one dataset


def make_pilot(shift, **options):
    rng = np.random.default_rng(0)
    b = rng.normal(0.8, 0.02, 20)
    return compare(b + rng.normal(shift, 0.01, 20), b, **options)


def test_without_a_pilot_the_floor_is_in_standard_deviations():
    # At a fifth of 0.05, as `compare` asks for: 2.576 · √(200/800) = 1.288.
    found = plan(train_size=800, test_size=200)
    assert found.resplits.floor == pytest.approx(1.288, abs=1e-4)
    assert (found.resplits.difference, found.resplits.n_required) == (None, None)
    assert found.resplits.tabulate().title == (
        "For other data like these, at p < 0.01, from re-splits of one dataset (standard "
        "deviations of the difference):"
    )
    assert found.to_dict()["resplits"]["alpha"] == pytest.approx(0.01)
    assert str(found).endswith(
        "; for other data like it, no number of re-splits shows a difference below 1.3 standard "
        "deviations of the difference."
    )
    assert " pairs make a true P(A>B) of 0.75 on this dataset significant" in str(found)
    assert plan().resplits is None
    assert "on this dataset" not in str(plan())


@pytest.mark.parametrize("made_with_sizes", [True, False])
def test_a_pilot_tells_how_many_resplits_show_its_difference(made_with_sizes):
    sizes = {"train_size": 800, "test_size": 200}
    pilot = make_pilot(0.03, **(sizes if made_with_sizes else {}))
    found = plan(pilot=pilot, **({} if made_with_sizes else sizes)).resplits
    seen = pilot.difference.value
    deviation = (pilot.scores_a - pilot.scores_b).std(ddof=1)
    assert found.difference == pytest.approx(seen)
    sizes = {"n_train": 800, "n_test": 200, "alpha": 0.01}
    assert found.floor == pytest.approx(resplit_floor(deviation, **sizes))
    needed = required_resplits(seen / deviation, **sizes)
    assert found.n_required == needed
    assert (
        str(found)
        == f"{needed} re-splits show the pilot's difference of {seen:.2g} with power 0.95"
    )


def test_of_a_small_difference_no_number_of_resplits_is_enough():
    found = plan(pilot=make_pilot(0.01), train_size=800, test_size=200)
    assert found.resplits.n_required is None
    assert re.search(
        r"no number of re-splits shows the pilot's difference of 0\.0\d+ with power 0\.95, nor any "
        r"below 0\.0\d+ at all\.$",
        str(found),
    )
    assert found.to_dict()["resplits"]["n_required"] is None


def test_a_pilot_that_does_not_vary_plans_no_resplits():
    pilot = compare([0.9] * 8, [0.8] * 8, train_size=80, test_size=20)
    assert plan(pilot=pilot).resplits is None


def test_one_size_is_none():
    with pytest.raises(InvalidInput, match="the test size is missing"):
        plan(train_size=800)


@pytest.mark.slow
@pytest.mark.parametrize("n", [5, 12, 20, 29])
def test_whoever_follows_the_advice_errs_about_as_rarely_as_alpha_says(n):
    """Its number of pairs depends on what was seen, for which no level can allow exactly."""
    errs = 0.0
    for wins in range(n + 1):
        chance = binom.pmf(wins, n, 0.5)
        first = pilot(wins, n - wins)
        if first.winner:
            errs += chance
            continue
        asked = re.search(r"([\d,]+) in all", first.advice)
        if asked is None:  # for no more pairs
            continue
        n_all = int(asked[1].replace(",", ""))
        level = re.search(r"--alpha ([\d.e-]+),", first.advice)
        every = wins + np.arange(n_all - n + 1)
        pvalues = 2 * binom.sf(np.maximum(every, n_all - every) - 1, n_all, 0.5)
        shown = pvalues <= (float(level[1]) if level else 0.05)
        errs += chance * binom.pmf(every - wins, n_all - n, 0.5) @ shown
    assert 0.03 < errs < 0.0605
