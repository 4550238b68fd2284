"""How many seeds are enough."""

import json

import numpy as np
import pytest
from scipy.stats import binomtest

from outperform import read_runs, trace_seeds
from outperform.errors import OutperformError, TooFewRuns
from outperform.questions.simulate.result import SeedsLine
from outperform.questions.simulate.seeds import trace_run_seeds


def trace(scores=None, seed=0, n_draws=2000, **options):
    scores = np.random.default_rng(1).normal(size=100) if scores is None else scores
    return trace_seeds(scores, n_draws=n_draws, rng=np.random.default_rng(seed), **options)


# By hand


@pytest.mark.parametrize(
    ("shares", "start"),
    [
        ((0.0, 0.2, 0.06, 0.05), 4),
        ((0.05, 0.04, 0.05, 0.05), 2),
        ((0.0, 0.2, 0.06, 0.2), None),
        ((0.2, 0.05, 0.2, 0.05), 5),
    ],
)
def test_the_level_holds_from_where_it_is_never_exceeded_again(shares, start):
    line = SeedsLine("welch-t", 0.05, (2, 3, 4, 5), shares, level_error=0.002)
    assert line.holds_from == start


def test_the_first_size_looked_at_is_named_not_one_between():
    line = SeedsLine("welch-t", 0.05, (5, 10, 25), (0.2, 0.06, 0.05), level_error=0.002)
    assert line.holds_from == 10


def test_half_the_level_more_is_allowed_and_no_luck():
    for share, start in ((0.0749, 2), (0.0751, None)):
        line = SeedsLine("welch-t", 0.05, (2,), (share,), level_error=0.002)
        assert line.holds_from == start


def test_all_ways_to_split_four_runs():
    # Runs 1, 2, 3, 4: two against two. Of six splits one in three separates them; Welch then has
    # t = 2/.7071 with 2 degrees of freedom, p = .1056; else p is larger.
    found = trace([1.0, 2, 3, 4], alphas=[0.11], tests=["welch-t"], sizes=[2], n_draws=30_000)
    hits = round(found.lines[0].shares[0] * 30_000)
    assert binomtest(hits, 30_000, 1 / 3).pvalue > 0.001


def test_the_permutation_test_keeps_its_level_at_every_size():
    test = "brunner-munzel-permutation"
    (line,) = trace(alphas=[0.1], tests=[test], sizes=[5, 20], n_draws=4000).lines
    # Standard error .005, and as much again of 100 runs that stand for all.
    assert line.shares == pytest.approx([0.1, 0.1], abs=0.03)


# Reference


def test_brunner_munzel_becomes_trustworthy_where_the_paper_says():
    # Gundersen et al. (2023): about 10 seeds at α = .05 and 25 at α = .001. At .001 the share is
    # about twice too large with 25, and more than ten times with 5.
    found = trace(tests=["brunner-munzel"], n_draws=None)
    at = {line.alpha: line for line in found.lines}
    assert at[0.05].holds_from <= 10
    five, twenty_five = (at[0.001].shares[n - 2] for n in (5, 25))
    assert five > 0.01
    assert 0.0015 < twenty_five < 0.003
    assert at[0.001].holds_from is None or at[0.001].holds_from > 25


@pytest.mark.parametrize(("alphas", "n"), [([0.05], 10_000), ([0.002, 0.1], 50_000)])
def test_small_levels_take_more_draws(alphas, n):
    assert trace(n_draws=None, alphas=alphas, tests=["welch-t"], sizes=[2]).n_draws == n


def test_what_keeps_its_level_is_seen_to():
    # The t-test of normal scores; 1.25 α and 10,000 draws would accuse it, or excuse others.
    found = trace(tests=["welch-t"], n_draws=None, sizes=range(2, 51, 4))
    assert [line.holds_from for line in found.lines] == [2, 2, 2]


def test_too_few_draws_are_a_caveat():
    few, enough = (trace(tests=["welch-t"], sizes=[5], n_draws=n) for n in (10_000, None))
    caveat = "more draws would tell more at α = 0.001: the error of a share is more than α / 6"
    assert caveat in few.caveats
    assert caveat not in enough.caveats


def test_progress_goes_up_to_the_end():
    told = []
    trace(
        n_draws=12_000,
        tests=["welch-t", "brunner-munzel"],
        sizes=[2],
        report=lambda *at: told.append(at),
    )
    assert told == [(i, 6) for i in range(1, 7)]


def test_bert_leaves_out_the_rows_that_sum_up_others(shared_data):
    runs = read_runs(shared_data / "bert_100_seeds" / "runs.csv", metric="MNLI dev acc.")
    found = trace_run_seeds(
        runs, alphas=[0.05], tests=["welch-t"], n_draws=500, rng=np.random.default_rng(0)
    )
    assert found.n_runs == 100
    assert "were left out: they are no runs" in found.caveats[0]


# Properties


def test_every_test_and_level_has_a_line_over_all_sizes():
    found = trace(np.arange(24.0), n_draws=500)
    assert [(line.test, line.alpha) for line in found.lines] == [
        (test, alpha)
        for test in ("welch-t", "brunner-munzel", "brunner-munzel-permutation")
        for alpha in (0.05, 0.01, 0.001)
    ]
    assert all(line.sizes == tuple(range(2, 13)) for line in found.lines)


def test_half_the_runs_are_the_largest_sample():
    assert trace(np.arange(30.0), n_draws=200).lines[0].sizes[-1] == 15


def test_the_same_seed_repeats_and_blocks_lose_no_draw(monkeypatch):
    first, again, other = (trace(seed=seed, n_draws=500, sizes=[5, 9]) for seed in (1, 1, 2))
    assert first == again
    assert first != other
    monkeypatch.setattr("outperform.questions.simulate.seeds._BLOCK", 7000)
    counts = np.array(trace(n_draws=500, tests=["welch-t"]).lines[0].shares) * 500
    assert np.allclose(counts, counts.round())


def test_scale_does_not_matter():
    scores = np.random.default_rng(1).normal(size=60)
    few = {"n_draws": 300, "sizes": [4, 8]}
    assert trace(scores, **few).lines == trace(scores * 4, **few).lines


# Calibration


@pytest.mark.slow
@pytest.mark.parametrize("decimals", [9, 1])
def test_the_permutation_test_keeps_every_level_with_ties_too(decimals):
    scores = np.random.default_rng(3).exponential(size=100).round(decimals)
    found = trace(scores, tests=["brunner-munzel-permutation"], sizes=[4, 8, 25], n_draws=20_000)
    for line in found.lines:
        assert max(line.shares) <= line.alpha + 5 * line.level_error


# Negative controls


def test_small_samples_do_not_keep_a_small_level():
    line = trace(tests=["brunner-munzel"], alphas=[0.001]).lines[0]
    assert line.holds_from is None or line.holds_from > 5
    assert max(line.shares) > 0.005


def test_samples_have_no_run_in_common():
    # Of two far-apart clusters of two, samples of two are separated in one split of three; drawn
    # with replacement they would be in one of eight.
    found = trace([0.0, 0.1, 9.0, 9.1], alphas=[0.05], tests=["welch-t"], sizes=[2], n_draws=9000)
    hits = round(found.lines[0].shares[0] * 9000)
    assert binomtest(hits, 9000, 1 / 3).pvalue > 0.001


# The result and refusals


def test_the_sentence_and_the_json():
    found = trace(tests=["welch-t"], alphas=[0.05], n_draws=5000)
    assert (
        str(found)
        == "Among 100 runs of A, the test welch-t keeps its level from 2 runs on at α = 0.05."
    )
    answer = json.loads(json.dumps(found.to_dict()))
    assert answer["lines"][0]["holds_from"] == 2
    assert answer["lines"][0]["sizes"][:2] == [2, 3]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"sizes": [60]},
            "two samples of 60 runs without one in common need 120, but there are 100. "
            "Ask for at most 50, or add runs.",
        ),
        ({"sizes": [1]}, "the sample size is 1. Pass a whole number not less than 2."),
        ({"sizes": []}, "there is no sample size to look at. Name one or more."),
        ({"alphas": []}, "there is no level alpha to look at. Name one or more."),
        ({"tests": []}, "there is no test to look at. Name one or more."),
        ({"alphas": [5]}, "alpha is 5. Pass a value between 0 and 1 (5% is 0.05)."),
        (
            {"tests": ["welch"]},
            "there is no test 'welch' here. Did you mean 'welch-t'? It has: welch-t, "
            "brunner-munzel, brunner-munzel-permutation.",
        ),
        ({"n_draws": 5}, "n_draws is 5. Pass a whole number not less than 100."),
        ({"scores": [1.0, 2, 3]}, "scores has 3 scores. At least 4 are needed."),
        (
            {"scores": [1.0] * 10},
            "all 10 runs have the same score 1. Add runs whose seed reaches the training.",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(options, message):
    with pytest.raises(OutperformError) as caught:
        trace(**options)
    assert str(caught.value) == message


def test_an_algorithm_has_to_be_named_where_there_are_several():
    with pytest.raises(OutperformError) as caught:
        trace_run_seeds({"new": [1.0] * 8, "old": [1.0] * 8}, rng=np.random.default_rng(0))
    assert str(caught.value) == (
        "the dict has 2 algorithms and none was named. Name one, or two to compare: new, old."
    )


def test_too_few_runs_are_refused_by_the_name_of_the_algorithm_and_the_file(tmp_path):
    path = tmp_path / "runs.csv"
    path.write_text("algorithm,seed,accuracy\nresnet,0,0.93\nresnet,1,0.92\n")
    with pytest.raises(TooFewRuns) as caught:
        trace_run_seeds(path, "resnet", rng=np.random.default_rng(0))
    assert str(caught.value) == (
        "'resnet' has 2 runs in runs.csv. At least 4 are needed, to draw two samples of two; "
        "better 40."
    )
