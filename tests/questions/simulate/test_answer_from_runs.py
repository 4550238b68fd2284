"""Error rates by drawing from runs at hand."""

import re

import numpy as np
import pytest

from outperform import read_runs, resample_error_rates
from outperform.errors import OutperformError
from outperform.questions.simulate.answer import _Pool
from outperform.stats import verdict_power
from outperform.stats.decision_rules import RULES

RUN_RULES = [rule for rule in RULES if rule not in ("oracle", "nadeau-bengio")]


def make_runs(n=40, seed=0, shift=0.3, goal="maximize", metric="score"):
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=n)
    scores = {"a": shared + rng.normal(shift, 1, n), "b": shared + rng.normal(0, 1, n)}
    sign = 1 if goal == "maximize" else -1
    table = {
        name: {str(i): sign * float(x) for i, x in enumerate(values)}
        for name, values in scores.items()
    }
    return read_runs(table, goal=goal, metric=metric)


def resample(runs=None, seed=1, n_draws=500, **options):
    runs = make_runs() if runs is None else runs
    rng = np.random.default_rng(seed)
    return resample_error_rates(runs, "a", "b", n_draws=n_draws, rng=rng, **options)


# By hand


def test_shifts_by_hand():
    # Differences 1, 2, 4: A wins a third of the pairs if moved by -3, halfway between 2 and 4.
    pool = _Pool(np.array([1.0, 2.0, 4.0]), np.zeros(3), True)
    shifts = pool.find_shifts([1 / 3, 2 / 3, 1.0])
    assert list(shifts) == pytest.approx([1 / 3, 2 / 3, 1.0])
    assert list(shifts.values())[:2] == pytest.approx([-3, -1.5])
    assert min(pool.a + list(shifts.values())[2]) > 0


def test_unpaired_shifts_by_hand():
    # All with all: 1 - 0, 1 - 3, 2 - 0, 2 - 3: -2, -1, 1, 2. Half are won as they are.
    pool = _Pool(np.array([1.0, 2.0]), np.array([0.0, 3.0]), False)
    assert pool.find_shifts([0.5]) == {0.5: 0.0}


def test_verdict_is_exact():
    curve = resample(rules=["verdict"], n_pairs=[30]).curves[0]
    assert curve.exact
    expected = [verdict_power(30, p) for p in curve.probabilities]
    assert list(curve.rates) == pytest.approx(expected)


# Properties


def test_all_rules_that_need_no_more_are_applied_to_pairs():
    rates = resample(n_pairs=[20, 10])
    assert list(rates.rules) == RUN_RULES
    assert [setting[1] for setting in rates.settings] == [10, 20]
    for curve in rates.curves:
        assert all(0 <= rate <= 1 for rate in curve.rates)
        assert curve.rates[-1] >= curve.rates[0]


def test_a_metric_to_minimise_gives_the_same_rates():
    up = resample(make_runs(), n_pairs=[15])
    down = resample(make_runs(goal="minimize", metric="loss"), n_pairs=[15])
    assert up.curves == down.curves


def test_the_same_seed_repeats():
    assert resample(rules=["paired-t"]) == resample(rules=["paired-t"])
    assert resample(rules=["paired-t"]) != resample(rules=["paired-t"], seed=2)


def test_pairs_are_kept_together():
    # Noise that both share does not trouble a paired test, and does trouble one of all with all.
    rng = np.random.default_rng(5)
    shared = rng.normal(0, 5, size=60)
    a, b = shared + rng.normal(0, 1, 60), shared + rng.normal(0, 1, 60)
    runs = read_runs({"a": dict(enumerate(a)), "b": dict(enumerate(b))}, metric="score")
    paired, welch = resample(runs, rules=["paired-t", "welch-t"], n_pairs=[30]).curves
    assert paired.false_negatives < 0.5 < welch.false_negatives


def test_unpaired_runs_allow_rules_without_pairs_only():
    rates = resample(paired=False, n_pairs=[15])
    assert not {"verdict", "paired-t", "wilcoxon", "anytime"} & set(rates.rules)
    with pytest.raises(OutperformError, match="there is no rule 'verdict' here"):
        resample(paired=False, rules=["verdict"])


# Calibration


@pytest.mark.slow
def test_welch_keeps_its_level_where_runs_are_symmetric():
    rng = np.random.default_rng(11)
    half = rng.normal(size=200)
    table = {"a": np.r_[half, -half].tolist(), "b": (rng.permutation(np.r_[half, -half])).tolist()}
    runs = read_runs(table, metric="score", goal="maximize")
    curve = resample(runs, paired=False, rules=["welch-t"], n_pairs=[20], n_draws=20_000).curves[0]
    assert curve.false_positives == pytest.approx(0.025, abs=4 * curve.false_positives_error)


# Negative control


def test_skewed_differences_are_no_null_to_tests_of_means():
    rng = np.random.default_rng(0)
    a, b = rng.exponential(size=(2, 100))
    table = {"a": (3 * a).tolist(), "b": b.tolist()}
    rates = resample(read_runs(table, metric="score", goal="maximize"), paired=True, n_pairs=[50])
    paired_t = next(curve for curve in rates.curves if curve.rule == "paired-t")
    assert paired_t.false_positives > 0.1
    assert any("skewed" in caveat for caveat in rates.caveats)


# Caveats and refusals


def test_a_gamma_that_cannot_be_had_is_named():
    rates = resample(make_runs(n=6), rules=["verdict"])
    assert re.search(r"of those with P\(A>B\) = 0\.(833|667), nearest to γ = 0\.75 \(", str(rates))
    caveats = rates.caveats
    assert caveats[0] == (
        "false negatives are at P(A>B) = 0.833, not 0.75: the runs at hand allow nothing nearer"
    ) or caveats[0].startswith("false negatives are at P(A>B) = 0.667, not 0.75")
    assert "6 runs are few to stand for all: these rates are rough" in caveats


def test_equals_that_cannot_be_had_are_named():
    """Of seven pairs three or four are won: what is found there is no rate between equals."""
    rates = resample(make_runs(n=7), rules=["verdict"], n_pairs=[30])
    share = rates.curves[0].at(0.5)[0]
    assert abs(share - 0.5) == pytest.approx(1 / 14)
    assert f"of the comparisons with P(A>B) = {share:.3g}, nearest to equals, and" in str(rates)
    assert any(
        f"equals are made to win {share:.3g} of the time" in doubt for doubt in rates.caveats
    )
    even = resample(make_runs(n=8), rules=["verdict"], n_pairs=[30])
    assert "of the comparisons of equals, and" in str(even)
    assert any("equals are made to win equally often, which" in doubt for doubt in even.caveats)


def test_constant_scores_are_refused():
    runs = read_runs({"a": [1.0, 1, 1], "b": [1.0, 1, 1]}, accept="constant")
    with pytest.raises(OutperformError) as caught:
        resample(runs)
    assert str(caught.value) == (
        "all runs of a have the same score, and so have those of b. "
        "Add runs with other seeds that reach the training."
    )


def test_progress_goes_up_to_the_end(monkeypatch):
    monkeypatch.setattr("outperform.questions.simulate.drawn_rates._BLOCK", 4000)
    told = []
    resample(n_pairs=[5, 10], rules=["welch-t"], report=lambda *at: told.append(at))
    n_steps = told[0][1]
    assert told == [(i, n_steps) for i in range(1, n_steps + 1)]
    assert n_steps % 5 == 0  # blocks of 400 and of 200 draws
    told.clear()
    resample(rules=["verdict"], report=lambda *at: told.append(at))
    assert told == []
