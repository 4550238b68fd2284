"""P-values of P(A>B) against 1/2: those of the intervals, and no smaller than they should be."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from outperform.errors import InvalidInput
from outperform.stats import outperforming_interval, outperforming_pvalue


def wins(n_wins, n_losses, n_ties=0):
    base = np.arange(n_wins + n_losses + n_ties) / 100
    return base + np.repeat([0.001, -0.001, 0.0], [n_wins, n_losses, n_ties]), base


def test_by_hand():
    assert outperforming_pvalue(*wins(6, 0)) == 1 / 64
    assert outperforming_pvalue(*wins(5, 1)) == pytest.approx(7 / 64)
    assert outperforming_pvalue(*wins(6, 0, 4)) == 1 / 64  # a tie says nothing
    # Strictly, a tie is a loss: 6 wins of 10, whose chance is 386 / 1024.
    assert outperforming_pvalue(*wins(6, 0, 4), ties="strict") == pytest.approx(386 / 1024)
    assert outperforming_pvalue(*wins(0, 0, 5)) == 1
    # Five above five others, unpaired: no more than five pairs that were all won.
    above = outperforming_pvalue(np.arange(5) + 9, np.arange(5), paired=False)
    assert above == pytest.approx(1 / 32)
    # 2 wins of 2 by the mixture: B(2.5, 0.5) / B(0.5, 0.5) = 3/8, against 1/4; half of the ratio.
    assert outperforming_pvalue(*wins(2, 0), method="anytime") == pytest.approx(1 / 3)


def test_mixed_scores_say_no_more_than_complete_separation_does():
    # Student's tail would be 0.08, from a variance that two scores of b can hardly tell.
    mixed = outperforming_pvalue([1, 3, 4, 5, 6, 7, 8, 9], [0, 2], paired=False)
    separated = outperforming_pvalue([2, 3, 4, 5, 6, 7, 8, 9], [0, 1], paired=False)
    assert mixed == separated == 0.25


def test_against_scipy():
    for n_wins, n_losses in ((25, 4), (3, 9), (60, 41)):
        reference = binomtest(n_wins, n_wins + n_losses, alternative="greater").pvalue
        assert outperforming_pvalue(*wins(n_wins, n_losses, 7)) == pytest.approx(reference)


@given(
    st.lists(st.integers(-4, 8), min_size=2, max_size=30),
    st.floats(0.001, 0.2),
    st.sampled_from(["exact", "anytime", "brunner-munzel"]),
    st.sampled_from(["half", "strict"]),
)
def test_it_is_below_a_tail_where_the_interval_leaves_out_one_half(gaps, tail, method, ties):
    b = np.arange(len(gaps)) % 7
    a, paired = b + np.array(gaps), method != "brunner-munzel"
    options = {"paired": paired, "ties": ties, "method": method}
    pvalue = outperforming_pvalue(a, b, **options)
    assert 0 <= pvalue <= 1
    low = outperforming_interval(a, b, confidence_level=1 - 2 * tail, **options).low
    if abs(pvalue - tail) > 1e-9:
        assert (pvalue < tail) == (low > 0.5)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["exact", "anytime", "brunner-munzel"])
def test_equals_are_below_a_level_no_more_often_than_it_says(method):
    rng = np.random.default_rng(6)
    paired = method != "brunner-munzel"
    found = np.array(
        [
            outperforming_pvalue(a, b, paired=paired, method=method)
            for a, b in rng.normal(size=(4000, 2, 12)) * [[1], [3]]
        ]
    )
    for level in (0.025, 0.025 / 6):
        assert (found <= level).mean() < level + 3 * (level / 4000) ** 0.5
    # The negative control: what is better is found.
    a, b = rng.normal(size=(2, 12))
    assert outperforming_pvalue(a + 9, b, paired=paired, method=method) < 0.025


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"method": "wilson"},
            "interval 'wilson' is not made for paired scores. Choose one of 'exact', 'anytime'.",
        ),
        (
            {"paired": False, "method": "anytime"},
            "interval 'anytime' is not made for unpaired scores. Choose one of 'brunner-munzel', "
            "or pair the scores by their seeds.",
        ),
        ({"ties": "no"}, "ties is 'no'. Choose one of 'half', 'strict'."),
    ],
)
def test_what_has_no_pvalue_is_refused(options, message):
    with pytest.raises(InvalidInput) as caught:
        outperforming_pvalue([1, 2, 3], [2, 1, 3], **options)
    assert str(caught.value) == message
