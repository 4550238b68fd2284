"""Runs at hand followed by a sequential test, in the order of replicates."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from outperform import SequentialComparison, compare_runs, compare_sequentially, read_runs
from outperform.errors import InvalidInput, InvalidScores, UnpairedScores
from outperform.questions.compare.sequential import follow_runs, plan_rule
from outperform.runs import make_runs
from outperform.stats import outperforming_pvalue, plan_sequential_test

RULE = plan_rule(0.75, 0.05, 0.05)


def make_table(outcomes, *, goal="maximize", replicates=None):
    """Runs with these outcomes for a: 1 won, ½ tied, 0 lost, NaN where b failed."""
    x = np.asarray(outcomes, float)
    n = len(x)
    base = 1 + np.random.default_rng(0).random(n)
    other = base + np.where(x == 1, -0.05, np.where(x == 0, 0.05, 0.0))
    if goal == "minimize":
        other = base - (other - base)
    names, places = ["a"] * n + ["b"] * n, [*range(n)] if replicates is None else replicates
    scores = np.concatenate([base, np.where(np.isnan(x), np.nan, other)])
    return make_runs(
        names, ["toy"] * 2 * n, [*places] * 2, scores, metric="score", goal=goal, source="a table"
    )


def decide(outcomes, **options):
    return compare_sequentially(make_table(outcomes), "a", "b", **options)


@pytest.mark.parametrize("goal", ["maximize", "minimize"])
def test_it_ends_where_the_test_ends(goal):
    outcomes = [1, 1, 0, 1, 0.5, *[1] * 15]
    result = compare_sequentially(make_table(outcomes, goal=goal), "a", "b")
    call, end = plan_sequential_test().follow(outcomes, [0.5] * 20)
    assert (result.winner, result.n_pairs) == (call.item(), end.item()) == ("a", 14)
    # 13 pairs make 11 · .4055 - .693 - .144 = 3.62, which is below 3.64.
    assert (result.wins, result.losses, result.ties, result.n_beyond) == (12, 1, 1, 6)
    assert result.comparison.n_pairs == 14
    assert result.comparison.interval.method == "anytime"
    assert str(result) == (
        f"Decided for a on toy after 14 pairs: P(a > b) = 0.893 {result.comparison.interval} "
        "(Wald's test between ½ and γ = 0.75, α = 0.05, β = 0.05)."
    )
    assert (
        "pairs that came after the end of the test: 6; they count neither in the decision nor in "
        "the interval"
    ) in result.caveats


def test_an_interval_that_holds_what_is_ruled_out_is_explained():
    wider = "the interval of P(A>B) holds whenever one stops, by whatever rule, and so is wider"
    result = decide([1, 0] * 20)
    assert (result.outcome, result.n_pairs) == ("neither", 22)
    assert 0.75 in result.comparison.interval
    assert any(each.startswith(wider) for each in result.caveats)
    undecided = decide([1, 0] * 4)  # which claims nothing (control)
    assert undecided.outcome == "undecided"
    assert not any(each.startswith(wider) for each in undecided.caveats)


def test_a_test_that_misses_often_rules_out_little():
    doubt = "an advantage of γ = 0.75 would have been missed with a chance of up to 0.6, so that"
    assert any(doubt in each for each in decide([1, 0] * 20, beta=0.6).caveats)
    assert not any("missed" in each for each in decide([1, 0] * 20).caveats)


def test_the_loser_is_named_as_such():
    result = decide([0] * 9)
    assert (result.outcome, result.winner, result.winner_name) == ("decided", "b", "b")
    assert str(result).startswith("Decided for b on toy after 9 pairs: P(b > a) = 1 [")


def test_neither_and_undecided():
    neither = decide([0.5] * 30)
    assert (neither.outcome, neither.winner, neither.n_pairs) == ("neither", None, 21)
    assert "an advantage of either as large as γ = 0.75 is ruled out" in str(neither)
    open_still = decide([1, 0, 1, 1])
    assert (open_still.outcome, open_still.n_pairs) == ("undecided", 4)
    assert str(open_still).startswith("Undecided between a and b on toy after 4 pairs: P(a > b) = ")
    assert open_still.advice == (
        "add pairs and look after each, 76 more at most: this test allows it."
    )


def test_the_rule_must_have_been_fixed_before():
    result = decide([1] * 9)
    assert result.caveats[0] == (
        "the decision errs as rarely as it says only if its rule, with γ, α and β, was fixed "
        "before anybody looked at these runs; they are taken in the order of replicate, of which "
        "none may be left out"
    )


def test_pairs_are_taken_in_the_order_of_replicates_not_of_rows():
    # In the order of rows a would win the first nine.
    outcomes = [*[1] * 9, *[0] * 9]
    result = compare_sequentially(
        make_table(outcomes, replicates=[*range(9, 18), *range(9)]), "a", "b"
    )
    assert (result.winner, result.n_pairs) == ("b", 9)
    noise = np.random.default_rng(0).random(10) / 2
    rows = [
        {"algorithm": name, "seed": 10 - i, "accuracy": noise[i] + 0.1 * (name == winner)}
        for i, winner in enumerate("aaaaabbbbb")
        for name in "ab"
    ]
    path = compare_sequentially(read_runs(rows), "a", "b").path
    assert path.outcomes.tolist() == [0] * 5 + [1] * 5


def test_incomplete_pairs_are_refused_or_counted_against_the_decision():
    outcomes = [1, np.nan, *[1] * 14]
    with pytest.raises(InvalidScores):
        decide(outcomes)
    result = decide(outcomes, drop_incomplete=True)
    assert (result.winner, result.n_pairs, result.n_incomplete) == ("a", 12, 1)
    assert result.comparison.n_pairs == 11
    assert (
        "1 of 12 pairs are incomplete: the decision would be the same whoever had won them; the "
        "interval of P(A>B) leaves them out"
    ) in result.caveats
    hanging = decide([np.nan, *[1, 1, np.nan] * 5], drop_incomplete=True)
    assert (hanging.outcome, hanging.winner) == ("undecided", None)


def test_a_replicate_that_is_still_to_be_done_is_incomplete():
    done = [*range(3), *range(4, 16)]
    table = make_table([1] * 15, replicates=done)
    assert compare_sequentially(table, "a", "b").n_pairs == 9  # seeds may be any numbers
    of_store = replace(table, counted=True)
    result = compare_sequentially(of_store, "a", "b")
    assert (result.n_pairs, result.n_incomplete) == (12, 1)


def test_options_change_the_rule():
    assert decide([1] * 12, gamma=0.9).n_pairs < decide([1] * 12).n_pairs
    assert decide([1] * 20, confidence_level=0.999).n_pairs > 9
    result = decide([0.5] * 30, beta=0.2)
    assert result.n_pairs < 21
    assert (result.rule.gamma, result.rule.alpha, result.rule.beta) == (0.75, 0.05, 0.2)


def test_json_has_the_rule_its_errors_and_its_cost():
    values = json.loads(json.dumps(decide([1] * 12).to_dict()))
    assert values["kind"] == "SequentialComparison"
    assert (values["outcome"], values["winner"], values["n_pairs"]) == ("decided", "a", 9)
    rule = values["rule"]
    assert (rule["n_max"], rule["n_last"]) == (80, 80)
    errors = (rule["false_alarms"], rule["power"])
    assert errors == pytest.approx((0.0425, 0.961), abs=5e-4)
    costs = (rule["expected_pairs"], rule["expected_pairs_equals"])
    assert costs == pytest.approx((27.6, 34.3), abs=0.05)
    assert values["interval"]["method"] == "anytime"


def test_an_interval_that_reaches_below_one_half_is_explained():
    result = decide([*[1] * 7, *[0, 1] * 2, *[1] * 9])
    assert result.winner == "a"
    assert result.comparison.interval.low < 0.5
    assert (
        "the interval of P(A>B) holds whenever one stops, by whatever rule, and so is wider than "
        "what this rule decides by"
    ) in result.caveats


def test_several_tasks_are_decided_one_by_one():
    rows = [
        {
            "algorithm": name,
            "task": task,
            "seed": i,
            "accuracy": 0.5 + i / 100 + 0.01 * (name == "a"),
        }
        for name in "ab"
        for task in ("x", "y")
        for i in range(10)
    ]
    with pytest.raises(InvalidInput) as caught:
        compare_sequentially(rows, "a", "b")
    assert "has 2 tasks (x, y), and a sequential test decides on one. Name it with --on TASK" in (
        str(caught.value)
    )
    assert compare_sequentially(rows, "a", "b", task="y").winner == "a"


def test_a_rule_cut_short_says_what_power_is_left():
    rule = plan_rule(0.75, 0.05, 0.05, n_allowed=40)
    assert str(rule) == (
        "Wald's test between ½ and γ = 0.75, α = 0.05, β = 0.05: at most 40 pairs, on average 24.8 "
        "where one wins 75% of them and 30.6 between equals; the test may take 80, and ended after "
        "40 its power is 0.80 in place of 0.95"
    )
    assert rule.equals.chance_either <= 0.05
    with pytest.raises(InvalidInput) as caught:
        plan_rule(0.6, 0.05, 0.05, n_allowed=19)
    assert "19 pairs can decide nothing between ½ and γ = 0.6" in str(caught.value)
    assert plan_rule(0.6, 0.05, 0.05, n_allowed=20).better.chance_a > 0


# Calibration through tables of runs, and a negative control


def simulate(probability, tie_share, n_studies, seed):
    rng, win = np.random.default_rng(seed), probability - tie_share / 2
    chances = [win, tie_share, 1 - win - tie_share]
    for _ in range(n_studies):
        yield rng.choice([1.0, 0.5, 0.0], 80, p=chances)


def follow_all(studies):
    names = ("a", "b")
    return [follow_runs(make_table(each), names, "toy", RULE) for each in studies]


@pytest.mark.parametrize("tie_share", [0.0, 0.3])
def test_equals_are_decided_no_more_often_than_alpha(tie_share):
    found = [each.winner for each in follow_all(simulate(0.5, tie_share, 200, seed=1))]
    assert sum(winner is not None for winner in found) <= binom.ppf(0.999, 200, 0.05)


def test_an_advantage_of_gamma_is_found_as_often_as_planned_and_soon():
    found = follow_all(simulate(0.75, 0.1, 200, seed=2))
    assert sum(each.winner == "a" for each in found) >= binom.ppf(0.001, 200, 0.95)
    assert 24 < np.mean([each.n_pairs for each in found]) < 32


def test_the_exact_interval_looked_at_after_every_pair_is_no_such_rule():
    wrong = 0
    for outcomes in simulate(0.5, 0.0, 100, seed=3):
        half = np.full(80, 0.5)
        looks = range(6, 81, 2)
        pvalues = [
            min(
                outperforming_pvalue(outcomes[:n], half[:n]),
                outperforming_pvalue(half[:n], outcomes[:n]),
            )
            for n in looks
        ]
        wrong += min(pvalues) <= 0.025
    assert wrong > binom.ppf(0.999, 100, 0.05)


def test_the_verdict_of_one_look_is_that_of_compare():
    table = make_table([1, 0, 1, 1, 0.5, 1, 1, 1, 1])
    whole = compare_runs(table, "a", "b", interval="anytime")
    result = compare_sequentially(table, "a", "b")
    assert isinstance(result, SequentialComparison)
    assert result.outcome == "undecided"
    assert result.comparison.interval == whole.interval


# After one search


def test_a_decision_after_one_search_says_how_often_luck_decides():
    table = make_table([1] * 9)
    doubt = (
        "a wins with what one search found: if the luck of searches makes up 10% of the variance "
        "of a pair, this test decides between equals, were both tuned anew, in 32% of studies "
        "instead of 5%; only more searches tell"
    )
    shared = follow_runs(replace(table, one_search=True), ("a", "b"), "toy", RULE)
    assert (shared.winner, shared.caveats[0]) == ("a", doubt)
    assert doubt not in follow_runs(table, ("a", "b"), "toy", RULE).caveats


@pytest.mark.parametrize("rho", [0.05, 0.3])
@pytest.mark.parametrize("n_allowed", [80, 30])
def test_how_often_luck_decides_is_as_simulated(rho, n_allowed):
    rule, rng = plan_rule(0.75, 0.05, 0.05, n_allowed=n_allowed), np.random.default_rng(8)
    luck = rng.normal(0, rho**0.5, (8000, 1))
    pairs = luck + rng.normal(0, (1 - rho) ** 0.5, (8000, n_allowed))
    calls, _ = rule.test.follow(pairs, np.zeros_like(pairs))
    rate = np.isin(calls, ("a", "b")).mean()
    assert rule.false_alarms_after_one_search(rho) == pytest.approx(rate, abs=0.02)


def test_missing_pairs_are_not_sent_to_what_is_refused():
    runs = [{"algorithm": "a", "seed": i, "accuracy": 0.9 + i / 100} for i in range(8)]
    runs += [{"algorithm": "b", "seed": i, "accuracy": 0.8 + i / 100} for i in range(6)]
    with pytest.raises(UnpairedScores) as refused:
        compare_sequentially(runs, "a", "b")
    assert refused.value.remedy == (
        "Give every replicate a run of both, name the column that pairs them with --replicate, or "
        "pass --drop-incomplete"
    )
    with pytest.raises(UnpairedScores, match="or pass --unpaired"):
        compare_runs(runs, "a", "b")
