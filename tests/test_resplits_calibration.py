"""The simulation behind docs/scope.md: it splits, trains and tests as it says."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid

from calibration.resplit_studies import (
    DESIGNS,
    MAIN,
    SETTINGS,
    cross_validate,
    draw_differences,
    draw_gaussian,
    draw_regression,
    hold_out,
    out_of_bootstrap,
    score_centroids,
    score_neighbours,
    score_regression,
)
from calibration.resplits import (
    LEVELS,
    METHODS,
    N_STUDIES,
    SEED,
    corrections,
    pvalues,
    simulate,
    write_tables,
)
from outperform.stats import nadeau_bengio_test, paired_t_test, resampled_difference
from outperform.stats.dependent_replicates import cautious_alpha
from outperform.study.splits import CrossValidation, HoldOut, OutOfBootstrap

PAGE = Path(__file__).parents[1] / "docs" / "scope.md"
SMALL = replace(MAIN, n_splits=(29, 51), settings=("nearest centroid",))


# Splits


def test_bootstraps_are_those_of_studies():
    train, test = out_of_bootstrap(300, 500, np.random.default_rng(0))
    without_refit = out_of_bootstrap(300, 500, np.random.default_rng(0), refit=False)[0]
    splits = [OutOfBootstrap().split(300, seed=seed) for seed in range(500)]
    assert not ((train > 0) & test).any()
    assert ((train > 0) | test).all()  # with the refit all that is not tested trains
    assert (without_refit.sum(axis=1) == 300).all()
    for ours, theirs in [
        (test.sum(axis=1), [len(s.test) for s in splits]),
        (train.sum(axis=1), [len(s.refit().train) for s in splits]),
        ((train > 0).sum(axis=1), [len(set(s.refit().train)) for s in splits]),
        ((without_refit > 0).sum(axis=1), [len(set(s.train)) for s in splits]),
    ]:
        assert np.mean(ours) == pytest.approx(np.mean(theirs), abs=1.5)
        assert np.std(ours) == pytest.approx(np.std(theirs), rel=0.15)


def test_bootstraps_without_validation_test_all_that_was_not_drawn():
    train, test = out_of_bootstrap(300, 9, np.random.default_rng(0), test=1.0)
    assert (train.sum(axis=1) == 300).all()
    assert (test == (train == 0)).all()


def test_hold_outs_and_folds_are_those_of_studies():
    rng = np.random.default_rng(0)
    train, test = hold_out(100, 3, rng, test=0.3)
    split = HoldOut(valid=0.2, test=0.3).split(100, seed=0).refit()
    assert (test.sum(axis=1) == len(split.test)).all()
    assert (train.sum(axis=1) == len(split.train)).all()
    train, test = cross_validate(100, 20, rng, n_folds=10)
    split = CrossValidation(n_folds=10).split(100, seed=0).refit()
    assert (test.sum(axis=1) == len(split.test)).all()
    assert (train == ~test).all()
    assert (test[:10].sum(axis=0) == 1).all()
    assert (test[10:].sum(axis=0) == 1).all()
    assert (test[:10] != test[10:]).any()


def test_groups_are_kept_together_or_not():
    kept, ignored = (
        next(d for d in DESIGNS if d.name == f"10-fold, groups {how}")
        for how in ("of 5 kept", "ignored")
    )
    of_group = [design.split(np.random.default_rng(0))[1] for design in (kept, ignored)]
    together = [
        (mask.reshape(10, 60, 5).any(2) == mask.reshape(10, 60, 5).all(2)) for mask in of_group
    ]
    assert together[0].all()
    assert not together[1].all()


# Learners


@pytest.mark.parametrize("name", ["centroid", "neighbours", "regression"])
def test_learners_are_those_of_scikit_learn(name):
    rng = np.random.default_rng(1)
    score, learner, draw = {
        "centroid": (score_centroids, NearestCentroid(), draw_gaussian),
        "neighbours": (
            lambda *args: score_neighbours(*args, n_neighbours=5),
            KNeighborsClassifier(5),
            draw_gaussian,
        ),
        # Our intercept is penalised as well.
        "regression": (score_regression, Ridge(alpha=1, fit_intercept=False), draw_regression),
    }[name]
    data = draw(200, rng)
    train, test = out_of_bootstrap(200, 6, rng)
    ours = score(data.first, data.target, train, test)
    x, y = data.first, data.target
    if name == "regression":
        x = np.column_stack([np.ones(200), x])
    for split in range(6):
        drawn = np.repeat(np.arange(200), train[split])
        predicted = learner.fit(x[drawn], y[drawn]).predict(x[test[split]])
        errors = (predicted - y[test[split]]) ** 2
        expected = -errors.mean() if name == "regression" else (errors == 0).mean()
        assert ours[split] == pytest.approx(expected, rel=1e-9)


# Methods


def test_methods_are_those_of_the_library():
    drawn = draw_differences(SMALL, SETTINGS["nearest centroid"], 20, np.random.default_rng(3))
    factors = corrections(drawn, 51)
    by_name = {method.name: pvalues(drawn.better, method, factors) for method in METHODS}
    zeros = np.zeros(51)
    for i, differences in enumerate(drawn.better):
        sizes = {"n_train": drawn.n_distinct, "n_test": drawn.n_test}
        result = resampled_difference(differences, zeros, **sizes)
        assert by_name["corrected"][i] == pytest.approx(result.pvalue, rel=1e-9)
        counted = nadeau_bengio_test(differences, zeros, n_train=drawn.n_drawn, n_test=drawn.n_test)
        assert by_name["corrected, draws counted"][i] == pytest.approx(counted.pvalue, rel=1e-9)
        t = paired_t_test(differences, zeros)
        assert by_name["paired t"][i] == pytest.approx(t.pvalue, rel=1e-9)
        wins, losses = int((differences > 1e-12).sum()), int((differences < -1e-12).sum())
        assert by_name["sign test"][i] == pytest.approx(binomtest(wins, wins + losses).pvalue)


def test_differences_that_do_not_vary_show_nothing():
    constant = np.full((2, 8), 0.1)
    factors = dict.fromkeys(["none", "drawn", "distinct", "spread"], 0.2)
    for method in METHODS:
        if method.correction is not None:
            assert (pvalues(constant, method, factors) == 1).all()


# Rows


def rows_of(seed, n_studies=10, design=SMALL, done=()):
    cells = simulate(seed, n_studies=n_studies, designs=[design], done=done)
    return [row for cell in cells for row in cell]


def test_rows_repeat_whatever_else_is_simulated():
    more = replace(SMALL, settings=("regression, squared error", "nearest centroid"))
    alone, among = rows_of(1), rows_of(1, design=more)
    assert [row for row in among if row.setting == "nearest centroid"] == alone
    assert [row.power for row in rows_of(2)] != [row.power for row in alone]


def test_rows_that_are_done_are_not_simulated_again():
    rows = rows_of(1)
    assert not rows_of(1, done=rows)
    assert rows_of(1, n_studies=11, done=rows)


def test_tables_say_how_they_were_made():
    written = write_tables(rows_of(1))
    assert "10 studies per cell, seed 1" in written
    assert "| out-of-bootstrap | 300 | 29 |" in written


def test_the_page_shows_the_tables_as_they_are_written():
    page = PAGE.read_text()
    assert f"{N_STUDIES} studies per cell, seed {SEED};" in page
    headers = [line for line in write_tables(rows_of(1)).splitlines() if "---" not in line]
    assert {line for line in headers if line.startswith(("| one", "| learners", "| n "))} <= set(
        page.splitlines()
    )
    for design in DESIGNS:
        for k in design.n_splits:
            assert f"| {design.name} | {design.n_examples} | {k} |" in page


# Calibration


@pytest.mark.slow
@pytest.mark.parametrize("name", ["nearest centroid", "regression, squared error"])
def test_equals_are_rarely_told_apart_for_data_like_these(name):
    n_studies = 500
    drawn = draw_differences(SMALL, SETTINGS[name], n_studies, np.random.default_rng(6))
    sizes = {"n_train": drawn.n_distinct, "n_test": drawn.n_test}
    shown = sum(resampled_difference(d, np.zeros(51), **sizes).shown for d in drawn.equal)
    # docs/scope.md claims 6% at most for learners that average over many examples.
    assert binomtest(shown, n_studies, 0.06, alternative="greater").pvalue > 0.001
    # Negative control: wins alone tell equals apart in half of the studies.
    sign_test = next(method for method in METHODS if method.name == "sign test")
    by_wins = int((pvalues(drawn.equal, sign_test, {}) < 0.05).sum())
    assert binomtest(by_wins, n_studies, 0.35, alternative="less").pvalue > 0.001
    assert by_wins > 5 * shown


@pytest.mark.slow
def test_learners_that_remember_examples_need_the_level_that_compare_asks_for():
    n_studies = 500
    drawn = draw_differences(MAIN, SETTINGS["1 neighbour"], n_studies, np.random.default_rng(7))
    n_splits = drawn.equal.shape[1]
    sizes = {"n_train": drawn.n_distinct, "n_test": drawn.n_test}
    pvalue = np.array(
        [resampled_difference(d, np.zeros(n_splits), **sizes).pvalue for d in drawn.equal]
    )
    for alpha in LEVELS:
        errs = int((pvalue < cautious_alpha(alpha)).sum())
        assert binomtest(errs, n_studies, alpha, alternative="greater").pvalue > 0.001
    # Negative control: at the level itself, equals are told apart far more often than that.
    assert (
        binomtest(int((pvalue < 0.05).sum()), n_studies, 0.05, alternative="greater").pvalue < 0.001
    )
