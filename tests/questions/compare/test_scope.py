"""What a comparison is about: this dataset, or data like it."""

import numpy as np
import pytest

from outperform import compare, compare_runs
from outperform.errors import InvalidInput
from outperform.stats import resampled_difference

RNG = np.random.default_rng(1)
NOISE = RNG.normal(0, 0.01, 30)
BASE = RNG.normal(0, 0.02, 30)  # what both share
SIZES = {"train_size": 800, "test_size": 200}


def rows(column, by):
    return [
        {"algorithm": name, "task": "digits", column: k, "accuracy": 0.9 + value}
        for name, scores in (("svm", BASE + NOISE + by), ("knn", BASE))
        for k, value in enumerate(scores)
    ]


@pytest.mark.parametrize(
    ("column", "varied"),
    [
        ("seed", "seeds"),
        ("split", "splits of this dataset"),
        ("fold", "folds of this dataset"),
        ("run", "runs"),
    ],
)
def test_the_replicate_column_says_what_varied(column, varied):
    result = compare_runs(rows(column, 0.01), "svm", "knn")
    assert result.to_dict()["scope"] == {"varied": [varied], "about": "this dataset"}
    assert result.to_dict()["population"] is None
    asks = any("--train-size and --test-size" in doubt for doubt in result.caveats)
    assert asks == (column in ("split", "fold"))


def test_sizes_say_that_splits_varied():
    result = compare_runs(rows("seed", 0.05), "svm", "knn", **SIZES)
    assert result.scope.varied == ("splits of this dataset", "seeds")
    assert result.scope.about == "data like these"
    assert not any("--train-size" in doubt for doubt in result.caveats)
    assert compare(range(1, 9), range(8), **SIZES).scope.varied == ("splits of this dataset",)
    assert compare(range(1, 9), range(8)).scope.varied == ("runs",)


def test_the_headline_is_the_weaker_of_the_two():
    result = compare_runs(rows("split", 0.008), "svm", "knn", **SIZES)
    population = resampled_difference(
        result.scores_a, result.scores_b, n_train=800, n_test=200, confidence_level=0.99
    )
    assert str(result).startswith(
        "svm outperforms knn on this sample of digits; for other data like it that is not shown "
        f"(p = {population.pvalue:.2g}): P(svm > knn) = "
    )
    assert result.to_dict()["population"] == {
        "difference": population.value,
        "low": population.interval.low,
        "high": population.interval.high,
        "confidence_level": pytest.approx(0.99),
        "pvalue": population.pvalue,
        "shown": False,
    }
    assert result.scope.about == "this dataset"


def test_what_holds_for_data_like_these_is_said_too():
    result = compare_runs(rows("split", 0.05), "svm", "knn", **SIZES)
    pvalue = f"{result.population.pvalue:.2g}"
    assert str(result).startswith(
        f"svm outperforms knn on digits and for data like these (p = {pvalue}): P(svm > knn) = 1 ["
    )
    assert result.to_dict()["population"]["shown"] is True


def test_without_a_winner_nothing_is_shown_for_other_data():
    result = compare(NOISE, np.zeros(30), **SIZES)
    assert result.winner is None
    assert result.to_dict()["population"]["shown"] is False


def test_losses_are_in_the_metrics_own_sign():
    up, down = (
        compare(NOISE + 0.05, np.zeros(30), **SIZES),
        compare(-NOISE - 0.05, np.zeros(30), goal="minimize", **SIZES),
    )
    assert up.population.value == pytest.approx(-down.population.value)
    assert up.holds_for_population
    assert down.holds_for_population


def test_a_margin_changes_what_is_known_of_the_size():
    constant = compare(np.full(30, 0.501) + NOISE / 1e6, np.full(30, 0.5), margin=0.01)
    assert constant.probability == 1
    assert (constant.size, constant.verdict) == ("ruled out", "significant, not meaningful")
    assert "at least γ = 0.75 shown, a difference of 0.01 ruled out" in str(constant)
    assert compare(np.full(30, 0.501) + NOISE / 1e6, np.full(30, 0.5)).size == "shown"


def test_one_size_is_not_enough():
    with pytest.raises(InvalidInput) as caught:
        compare(NOISE, np.zeros(30), train_size=100)
    assert str(caught.value) == (
        "the test size is missing, and one size says nothing without the other. Pass --train-size "
        "and --test-size (train_size and test_size in Python)."
    )


@pytest.mark.parametrize(("alpha", "asked"), [(0.01, 0.00071123), (0.05, 0.01), (0.1, 0.02)])
def test_for_data_like_these_a_fifth_of_alpha_or_less_is_asked_for(alpha, asked):
    """At alpha itself the correction errs too often with learners that remember examples."""
    for by in np.linspace(0, 0.03, 40):
        result = compare(NOISE + by, np.zeros(30), confidence_level=1 - alpha, **SIZES)
        pvalue, population = result.population.pvalue, result.population.interval
        assert result.holds_for_population == (result.winner is not None and pvalue < asked)
        assert (0 in population) == (pvalue >= asked)
        assert population.confidence_level == pytest.approx(1 - asked)
        close = result.winner is not None and asked <= pvalue < alpha
        assert (
            f"not shown (p = {pvalue:.2g}, where p < {asked:.2g} is asked for)" in str(result)
        ) == close


def test_a_level_that_rounding_loses_is_answered_all_the_same():
    result = compare(NOISE + 0.03, np.zeros(30), confidence_level=1 - 1e-12, **SIZES)
    assert result.population.interval.confidence_level < 1
    assert not result.holds_for_population


def test_no_caveat_takes_back_what_is_shown_for_data_like_these():
    results = [compare(BASE + NOISE + by, BASE, **SIZES) for by in (0.0115, 0.02, 0.05)]
    assert [result.holds_for_population for result in results] == [False, True, True]
    assert [result.caveats for result in results] == [(), (), ()]


def test_who_loses_by_more_has_the_better_mean_on_neither_side_of_the_sentence():
    # 48 of 72 won by 0.01, 24 lost by 0.1: mean -0.0267, s = 0.0522. The corrected error is
    # 0.0522·√(1/72 + 1/79) = 0.0085, so t = -3.14: p = 0.0025.
    differences = np.repeat([0.01, -0.1], [48, 24])
    result = compare(differences, np.zeros(72), train_size=790, test_size=10)
    assert (result.winner, result.holds_for_population) == ("a", False)
    assert result.claim == (
        "A outperforms B on this sample of the data; for other data like it B has the better mean "
        "(p = 0.0025)"
    )
    mirrored = compare(np.zeros(72), differences, train_size=790, test_size=10)
    assert mirrored.claim.endswith("; for other data like it A has the better mean (p = 0.0025)")


def test_too_little_to_matter_is_said_of_this_dataset_alone():
    # Here a difference of 0.03 is ruled out; for data like these the interval reaches beyond.
    result = compare(BASE + NOISE + 0.025, BASE, margin=0.03, **SIZES)
    assert result.holds_for_population
    assert result.gain_here.high < 0.03 < result.gain.high
    assert result.claim == (
        "A is better than B on these data and for data like these "
        f"(p = {result.population.pvalue:.2g}), but by too little to matter here"
    )


def test_next_step_says_no_more_than_is_known_of_data_like_these():
    # Ruled out on this dataset, while the interval for data like these reaches far beyond 0.01.
    for options in (SIZES, {}):
        alike = compare_runs(rows("split", 0), "svm", "knn", equivalence=0.01, **options)
        assert alike.advice == (
            "the two are alike: report that a difference of 0.01 or more is ruled out on this "
            "dataset."
        )
    # It is shown already that more splits would speak for the other side.
    differences = np.repeat([0.01, -0.1], [48, 24])
    torn = compare(differences, np.zeros(72), train_size=790, test_size=10)
    assert torn.advice == "report both: who wins more often here, and who has the better mean."
    constant = compare(np.full(10, 0.75), np.full(10, 0.5), **SIZES)
    assert constant.advice == (
        "for other data like these, collect more of them, or compare on several datasets: "
        "differences that do not vary tell nothing of others."
    )


def test_the_means_of_many_looks_hold_for_one_only_and_the_headline_says_so():
    result = compare(NOISE + 0.05, np.zeros(30), interval="anytime", **SIZES)
    assert result.holds_for_population
    assert ", were this the only look): P(A > B) = 1" in str(result)
    assert "only look" not in str(compare(NOISE + 0.05, np.zeros(30), **SIZES))


def test_a_better_mean_on_this_dataset_alone_is_said_of_it_alone():
    differences = np.repeat([-0.001, 0.03], 40) + np.tile(NOISE[:20], 4) / 10
    result = compare(differences, np.zeros(80), **SIZES)
    assert (result.winner, result.better_mean) == (None, None)
    assert 0 not in result.difference.interval
    assert result.claim == (
        "A has the better mean on this sample of the data, but is not shown to beat B more often; "
        f"for other data like it nothing is shown (p = {result.population.pvalue:.2g})"
    )
    unsized = compare(differences, np.zeros(80))
    assert unsized.claim == "A has the better mean, but is not shown to beat B more often"
