"""The verdict's rule is one: whoever applies it, for either side, concludes the same."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outperform.questions.audit.answer import audit
from outperform.questions.compare.answer import compare
from outperform.runs import read_runs
from outperform.stats import VerdictRule, count_verdicts, hide_to_show
from outperform.stats.decision_rules import Criteria, decide_by_verdict
from outperform.stats.sequential import decide_by_looking
from outperform.stats.verdicts import wins_needed

counts = st.integers(2, 60).flatmap(
    lambda n: st.integers(0, n - 1).flatmap(
        lambda ties: st.tuples(st.integers(0, n - ties), st.just(ties), st.just(n))
    )
)
levels = st.sampled_from([0.001, 0.01, 0.05, 0.0625, 0.1, 0.125, 0.25, 0.3])
gammas = st.sampled_from([0.5, 0.6, 2 / 3, 0.7, 0.75, 0.8, 0.9])
intervals = st.sampled_from(["percentile", "wilson", "exact", "anytime"])


def draw_pairs(wins, ties, n):
    return np.array([1.0] * wins + [0.0] * ties + [-1.0] * (n - wins - ties)), np.zeros(n)


def outperforms(comparison, side):
    return comparison.winner == side and comparison.verdict == "significant and meaningful"


@given(counts, levels, gammas, intervals)
def test_compare_agrees_for_either_side(numbers, alpha, gamma, interval):
    a, b = draw_pairs(*numbers)
    options = {"gamma": gamma, "confidence_level": 1 - alpha, "interval": interval}
    expected = VerdictRule(1 - alpha, gamma, interval).holds(*numbers)
    assert outperforms(compare(a, b, **options), "a") == expected
    assert outperforms(compare(b, a, **options), "b") == expected


def test_a_share_of_exactly_gamma_does_not_matter_for_either_side():
    # 27 of 45, α = 0.3: the interval ends at 30/45, which is gamma and not above it.
    a, b = draw_pairs(27, 0, 45)
    for first, second in ((a, b), (b, a)):
        options = {"gamma": 2 / 3, "confidence_level": 0.7, "interval": "percentile"}
        result = compare(first, second, **options)
        assert result.verdict == "significant, not meaningful"


@given(counts, levels, gammas, st.sampled_from(["percentile", "wilson", "exact"]))
def test_plan_needs_the_wins_that_compare_needs(numbers, alpha, gamma, interval):
    wins, _, n = numbers
    needed = int(wins_needed(np.array([n]), gamma, alpha, interval)[0])
    assert (wins >= needed) == VerdictRule(1 - alpha, gamma, interval).holds(wins, 0, n)


@given(counts, levels, gammas)
def test_simulate_decides_as_compare_does(numbers, alpha, gamma):
    a, b = draw_pairs(*numbers)
    decided = decide_by_verdict(a[None], b[None], Criteria(gamma=gamma, alpha=alpha))
    expected = VerdictRule(1 - alpha, gamma).holds(*numbers)
    assert decided.tolist() == [expected]


@given(counts, levels, gammas, st.randoms(use_true_random=False))
def test_simulate_looks_as_compare_does(numbers, alpha, gamma, random):
    order = random.sample(range(numbers[2]), numbers[2])
    a, b = (scores[order] for scores in draw_pairs(*numbers))
    decided = decide_by_looking(a[None], b[None], gamma=gamma, alpha=alpha)
    options = {"gamma": gamma, "confidence_level": 1 - alpha, "interval": "anytime"}
    looks = (compare(a[:n], b[:n], **options) for n in range(2, a.size + 1))
    over = next((each for each in looks if each.winner is not None), None)
    assert decided.tolist() == [over is not None and outperforms(over, "a")]


@given(counts, levels, gammas, intervals)
def test_an_audit_of_all_pairs_concludes_as_compare_does(numbers, alpha, gamma, interval):
    wins, ties, n = numbers
    rule = VerdictRule(1 - alpha, gamma, interval)
    expected = rule.holds(wins, ties, n)
    shares = count_verdicts((wins, ties, n - wins - ties), [n], rule=rule)
    assert shares.share_a == pytest.approx([float(expected)])
    assert (hide_to_show(wins, ties, n - wins - ties, rule=rule) == 0) == expected


def test_an_audit_is_decided_where_compare_is():
    for wins in range(13):
        a, b = draw_pairs(wins, 1, 13)
        runs = read_runs({"a": a.tolist(), "b": b.tolist()}, accept="constant")
        audited, compared = audit(runs, "a", "b", n_resamples=2), compare(a, b)
        assert (audited.verdict == "undecided") == (compared.winner is None)
        assert audited.comparison.verdict == compared.verdict
