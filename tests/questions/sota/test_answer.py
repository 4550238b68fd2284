"""Sober readings: of the best of many, of a leaderboard, of predictions."""

import json

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from outperform.errors import OutperformError, UnpairedScores
from outperform.questions.sota.answer import assess_leaderboard, assess_predictions, best_of_equals
from outperform.questions.sota.doubts import count_decimals, fit_test_size
from outperform.questions.sota.score_models import AccuracyModel
from outperform.runs.leaderboards import read_leaderboard
from outperform.stats import (
    best_of_distribution,
    common_chance,
    common_chance_interval,
    miss_of_alike,
)
from outperform.stats.best_of_dependent import condition_on_reference

BOARD = [0.93, 0.92, 0.9, 0.9, 0.89, 0.86, 0.7]


def refusal(function, *arguments, **options):
    with pytest.raises(OutperformError) as caught:
        function(*arguments, **options)
    return str(caught.value)


# The best of many


def test_best_of_equals_has_the_papers_numbers():
    found = best_of_equals(1000, test_size=3000, accuracy=0.9)
    assert (round(found.mean, 4), round(found.upper, 4)) == (0.9173, 0.9213)
    assert (round(found.alone.low, 4), round(found.better, 4)) == (0.8887, 0.9105)
    assert round(found.chance_to_exceed_upper, 4) == 0.0161
    assert round(found.chance_to_reach_upper, 4) == 0.0190
    assert round(found.chance_to_reach_mean, 4) == 0.0996
    assert found.better < found.mean < found.needed
    assert json.loads(json.dumps(found.to_dict()))["chance_to_reach_mean"] == pytest.approx(
        0.0996, abs=5e-5
    )


def test_dependence_can_be_said_in_two_ways():
    alone, agreeing, correlated = (
        best_of_equals(1000, test_size=3000, accuracy=0.9, **options)
        for options in ({}, {"agreement": 0.95}, {"dependence": 0.5})
    )
    assert round(agreeing.upper, 4) == 0.9187
    assert alone.mean > agreeing.mean > 0.9
    assert alone.mean > correlated.mean > 0.9
    assert len(alone.caveats) == 2
    assert len(agreeing.caveats) == len(correlated.caveats) == 1


def test_what_makes_no_sense_is_refused():
    expect = {"test_size": 3000, "accuracy": 0.9}
    assert refusal(best_of_equals, 1000, **expect | {"accuracy": 90.0}) == (
        "accuracy is 90.0. Pass a value between 0 and 1 (90% is 0.9)."
    )
    assert refusal(best_of_equals, 0, **expect) == (
        "n_classifiers is 0. Pass a whole number not less than 1."
    )
    assert refusal(best_of_equals, 10, **expect, dependence=2.0) == (
        "correlation is 2. Pass a value between -1 and 1."
    )
    assert refusal(best_of_equals, 10, **expect, dependence=0.5, agreement=0.95) == (
        "dependence is 0.5 and agreement 0.95. Pass one of the two."
    )
    assert refusal(best_of_equals, 10, test_size=7, accuracy=0.9, agreement=0.95) == (
        "no reference is right on exactly 0.9 of 7 examples. Pass an accuracy such as 0.857143, or "
        "a dependence instead of an agreement."
    )
    assert refusal(best_of_equals, 10, test_size=10, accuracy=0.999, agreement=0.95).startswith(
        "no reference is right on exactly 0.999 of 10 examples. Pass an accuracy such as 0.9, or "
    )
    assert refusal(best_of_equals, 10, **expect, better=0.9) == (
        "better is 0.9, which is not above the accuracy 0.9. Pass the true accuracy of one that is "
        "better than the others."
    )


# Leaderboards


def test_leaderboard_says_what_the_statistics_say():
    found = assess_leaderboard(BOARD, test_size=1000)
    assert found.top == 0.93
    assert found.best == "entry 1"
    assert found.sober == pytest.approx(common_chance(7, 1000, 70))
    expected = common_chance_interval(7, 1000, 70)
    assert (found.interval.low, found.interval.high) == pytest.approx((expected.low, expected.high))
    assert best_of_distribution(7, 1000, found.sober).mean == pytest.approx(0.93, abs=1e-6)
    assert found.luck == pytest.approx(0.93 - found.sober)
    assert found.luck_share == pytest.approx(found.luck / 0.03)
    assert found.lead == pytest.approx(0.01)
    assert found.sober < found.sober_if_different < 0.93
    assert found.indistinguishable == ("entry 1", "entry 2")  # 0.9 lags by more than 0.028
    assert json.loads(json.dumps(found.to_dict()))["n_entries"] == 7


def chance_to_rule_out(m, n, p, gap_of):
    """Exact chance that one of m equals lags behind the top by more than the gap."""
    failures = np.arange(n + 1)
    tops = np.diff(binom.cdf(failures, n, p) ** (m - 1), prepend=0.0)  # by the others
    likely = failures[tops > 1e-6]
    return sum(tops[x] * binom.cdf(x - gap_of(m, n, int(x)) - 1, n, p) for x in likely)


def gap_of_board(m, n, right):
    board = np.full(m, (right - 1) / n)
    board[0] = right / n
    return round(assess_leaderboard(board, test_size=n).gap * n)


def gap_at_sober(m, n, right):
    model = AccuracyModel(n, 0.0)
    return round(model.gap(m, min(model.estimate(m, right / n), 1 - 1e-6), 0.95) * n)


@pytest.mark.parametrize(
    ("m", "n", "p"), [(2, 50, 0.9), (5, 20, 0.8), (5, 100, 0.95), (20, 200, 0.95), (3, 100, 0.5)]
)
def test_the_truly_best_is_ruled_out_no_more_often_than_is_said(m, n, p):
    assert chance_to_rule_out(m, n, p, gap_of_board) <= 0.05


def test_the_sober_score_would_rule_it_out_too_often():
    """Negative control: a lucky top looks as if entries varied little."""
    assert chance_to_rule_out(20, 200, 0.95, gap_at_sober) == pytest.approx(0.071, abs=1e-3)


def test_all_of_the_lead_may_be_luck():
    rng = np.random.default_rng(0)
    scores = rng.binomial(500, 0.8, 2001) / 500
    found = assess_leaderboard(scores, test_size=500)
    assert found.luck_share > 0.9
    assert found.sober == pytest.approx(0.8, abs=0.01)
    assert not any("spread" in doubt for doubt in found.caveats)


def test_dependence_leaves_less_to_luck():
    alone, alike = (assess_leaderboard(BOARD, test_size=1000, dependence=r) for r in (0.0, 0.8))
    assert alike.luck < alone.luck
    assert alike.gap < alone.gap
    assert alike.sober_if_different > alone.sober_if_different
    (caveat,) = [doubt for doubt in alone.caveats if "independent" in doubt]
    some, much = miss_of_alike(len(BOARD), 0.5), miss_of_alike(len(BOARD), 0.8)
    assert (
        "the more often the 95% interval misses: where all are equally good and the successes of "
        f"any two correlate by 0.25, in about {some:.0%} of leaderboards of {len(BOARD)} entries "
        f"(by 0.64: {much:.0%}), less often with few examples"
    ) in caveat
    assert 0.05 < some < much
    assert not any("independent" in doubt for doubt in alike.caveats)


@pytest.mark.slow
def test_luck_of_entries_that_differ_and_resemble_a_reference():
    # What entries share is taken to act like more examples, which is an approximation.
    rng, n, p = np.random.default_rng(9), 1000, np.linspace(0.86, 0.9, 25)
    right, wrong = condition_on_reference(p, 0.7, 0.88)
    k = rng.binomial(n, 0.88, (20_000, 1))
    shown = rng.binomial(k, right, (20_000, 25)) + rng.binomial(n - k, wrong, (20_000, 25))
    luck = shown.max(axis=1) / n - p[(shown + rng.random(shown.shape) / 2).argmax(axis=1)]
    assert AccuracyModel(n, 0.7).luck(p) == pytest.approx(luck.mean(), rel=0.05)
    assert AccuracyModel(n, 0.0).luck(p) > 1.2 * luck.mean()


def test_scores_by_name_are_those_of_entries_with_names():
    named = assess_leaderboard({"x": 0.93, "y": 0.9, "z": 0.91}, test_size=500)
    listed = assess_leaderboard([0.93, 0.9, 0.91], test_size=500, entries=["x", "y", "z"])
    assert named.entries == ("x", "y", "z")
    assert named.to_dict() == listed.to_dict()


def test_entries_that_are_not_shown_add_luck():
    rng = np.random.default_rng(5)
    scores = np.sort(rng.binomial(500, 0.8, 1000) / 500)[::-1]
    whole = assess_leaderboard(scores, test_size=500)
    top = assess_leaderboard(scores[:20], test_size=500, n_entries=1000)
    assert (top.sober, top.interval, top.gap) == (whole.sober, whole.interval, whole.gap)
    assert (top.n_entries, len(top.entries), top.lead_chance) == (1000, 20, whole.lead_chance)
    assert assess_leaderboard(scores[:20], test_size=500).sober > top.sober
    assert top.caveats[0] == (
        "only 20 of 1,000 entries are shown, which are taken to be the top: more may be the best, "
        "and the estimate by score counts only those shown"
    )
    assert not any("more alike than assumed" in caveat for caveat in top.caveats)


def test_areas_need_the_positives():
    found = assess_leaderboard(BOARD, test_size=1000, n_positives=100)
    assert found.metric == "AUC"
    assert found.interval.method == "binormal"
    assert found.interval.low < found.sober < found.interval.high
    assert found.sober < found.sober_if_different < 0.93
    assert any("binormal" in doubt for doubt in found.caveats)
    alike = assess_leaderboard(BOARD, test_size=1000, n_positives=100, dependence=0.8)
    assert alike.luck < found.luck


def test_doubts_name_what_the_scores_contradict():
    board = [0.9333, 0.92, 0.9067, 0.9067, 0.2]
    doubts = assess_leaderboard(board, test_size=1000).caveats
    assert doubts[0] == (
        "3 of 5 scores cannot come from 1,000 examples (first: 0.9333 is no multiple of 1/1000); "
        "75 examples would fit all of them: is the test size right?"
    )
    assert doubts[1].startswith("scores spread")
    assert doubts[2].startswith("1 entry has a score that another has too; if it is a copy, only 4")
    coarse = assess_leaderboard([0.93, 0.92], test_size=1000).caveats
    assert coarse[0] == "scores have 2 decimals, too few to tell 1,000 examples apart"


def test_few_round_scores_are_no_doubt():
    assert not any("decimal" in d for d in assess_leaderboard([0.5, 0.5, 1], test_size=100).caveats)


@pytest.mark.parametrize("rho", [0.0, 0.5])
def test_perfect_scores_are_not_taken_for_certainty(rho):
    found = assess_leaderboard([1.0, 0.99, 0.5], test_size=100, dependence=rho)
    assert (found.sober, found.luck, found.interval.high) == (1, 0, 1)
    assert found.interval.low < 0.96
    assert found.indistinguishable == ("entry 1", "entry 2")
    assert 0.99 < found.sober_if_different < 1


def test_a_lone_leader_is_called_so():
    found = assess_leaderboard([0.99, 0.5], test_size=1000)
    assert str(found).endswith("; no other can be taken for the best.")


def test_test_sizes_are_found_from_rounded_and_from_cut_scores():
    shares = np.array([951, 949, 803, 611, 5]) / 1003
    assert fit_test_size(shares.round(5), 3000) == 1003
    assert fit_test_size(np.floor(shares * 1e5) / 1e5, 3000) == 1003
    assert fit_test_size(np.array([0.123456789, 0.987654321]), 100) is None
    assert count_decimals(np.array([0.5, 0.25])) == 2


@pytest.mark.parametrize(
    ("scores", "options", "message"),
    [
        (
            [91.2, 90.1],
            {},
            "the scores go up to 91.2, so they look like per cent. Divide them by 100 (on the "
            "command line: --percent).",
        ),
        (
            [0.9, -0.1],
            {},
            "the scores go from -0.1 to 0.9. Pass shares of 1, between 0 and 1.",
        ),
        (
            [0.9, 900.0],
            {},
            "the scores go from 0.9 to 900. Pass shares of 1, between 0 and 1.",
        ),
        (
            [0.9],
            {},
            "a leaderboard of 1 entry has no luck of the draw. Pass the scores of all entries.",
        ),
        ([0.0, 0.0], {}, "all scores are 0. Pass accuracies, not errors."),
        (
            [0.9, 0.8],
            {"test_size": 1},
            "test_size is 1. Pass a whole number not less than 2.",
        ),
        (
            [0.9, 0.8],
            {"dependence": 1.0},
            "dependence is 1. Pass a correlation from 0 (independent) up to, not including, 1 (all "
            "the same).",
        ),
        (
            [0.9, 0.8],
            {"n_positives": 100},
            "100 of 100 examples are positive. Pass fewer positives than examples: AUC compares "
            "both kinds.",
        ),
        (
            [1.0, 0.8],
            {"n_positives": 10},
            "the best AUC is 1, for which the binormal model says nothing. Pass the predictions, "
            "to resample the examples instead.",
        ),
        ([0.9, 0.8], {"entries": ["a"]}, "1 names for 2 scores. Name every entry, or none."),
    ],
)
def test_boards_that_make_no_sense_are_refused(scores, options, message):
    assert refusal(assess_leaderboard, scores, **{"test_size": 100} | options) == message


def test_a_file_is_read_as_the_command_line_reads_it(tmp_path):
    path = tmp_path / "board.csv"
    path.write_text("who,error,seconds\nann,7,3\nbob,10,2\ncai,12.5,9\n")
    result = assess_leaderboard(path, test_size=500, metric="error", entries="who", percent=True)
    assert (result.entries, result.metric) == (("ann", "bob", "cai"), "accuracy (1 − error)")
    assert result.scores.tolist() == pytest.approx([0.93, 0.9, 0.875])
    assert assess_leaderboard([93, 90, 87.5], test_size=500, percent=True).sober == result.sober
    assert refusal(assess_leaderboard, str(path), test_size=500, entries=["a", "b", "c"]) == (
        "3 names are passed with a file. Name the column that has them."
    )


def test_the_sentence_takes_entries_as_equals_only_where_no_caveat_denies_it():
    for scores, unequal in (([0.93, 0.9, 0.9, 0.89, 0.88], False), ([0.95, 0.9, 0.8, 0.7], True)):
        result = assess_leaderboard(scores, test_size=500)
        assert result.are_unequal == unequal
        assert any("entries are not equally good" in doubt for doubt in result.caveats) == unequal
        assert ("if all entries are equally good" in str(result)) != unequal
    assert str(result).startswith(
        "The best accuracy of 4 entries, 0.9500, is partly luck: a sober estimate is "
        f"{result.sober:.4f} (if all entries were equally good) to "
        f"{result.sober_if_different:.4f} (if each were as good as its score); "
    )


def test_kaggle_obesity(shared_data):
    """The README counts 13,840 private examples: the scores say 11,072, 80% of them."""
    board = read_leaderboard(shared_data / "kaggle_obesity" / "private.csv")
    stated = assess_leaderboard(board.scores, test_size=13_840)
    assert stated.caveats[0].startswith("2,402 of 3,587 scores cannot come from 13,840 examples")
    assert "11,072 examples would fit all of them" in stated.caveats[0]
    found = assess_leaderboard(board.scores, test_size=11_072)
    assert not any("cannot come from" in doubt for doubt in found.caveats)
    assert (round(found.sober, 4), round(found.sober_if_different, 4)) == (0.9016, 0.9035)
    assert found.luck_share == 1
    assert any("more alike than assumed" in doubt for doubt in found.caveats)
    assert "a sober estimate is 0.9016 or more, since entries are more alike than assumed; " in str(
        found
    )
    public = read_leaderboard(shared_data / "kaggle_obesity" / "public.csv")
    assert fit_test_size(public.scores, 13_840) == 13_840 - 11_072


# Predictions


@pytest.fixture
def predictions():
    rng = np.random.default_rng(2)
    labels = rng.choice(["cat", "dog", "owl"], 400)
    wrong = rng.choice(["cat", "dog", "owl"], (4, 400))
    by_entry = {
        name: np.where(rng.random(400) < share, labels, guess)
        for name, share, guess in zip("abcd", (0.8, 0.79, 0.6, 0.2), wrong, strict=True)
    }
    return by_entry, labels


@pytest.mark.parametrize("metric", ["accuracy", "balanced accuracy", "f1"])
def test_predictions_give_a_sober_score(predictions, metric):
    by_entry, labels = predictions
    found = assess_predictions(by_entry, labels, metric=metric, n_resamples=1000)
    assert found.best in ("a", "b")
    assert found.interval.low < found.sober < found.top
    assert set("ab") <= set(found.indistinguishable) <= set("abc")
    answer = json.loads(json.dumps(found.to_dict()))
    assert [entry["entry"] for entry in answer["entries"]] == list("abcd")
    again = assess_predictions(by_entry, labels, metric=metric, n_resamples=1000)
    assert again.sober == found.sober


def test_two_classes_have_an_area_and_a_positive():
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 2, 300)
    values = {name: labels + rng.normal(size=300) for name in "ab"}
    found = assess_predictions(values, labels, metric="auc", n_resamples=500)
    assert found.metric == "AUC"
    assert 0.6 < found.sober < found.top < 0.9
    classes = {name: (column > 0.5).astype(int) for name, column in values.items()}
    f1 = assess_predictions(classes, labels, metric="f1", n_resamples=500)
    best = classes[f1.best]
    assert f1.top == pytest.approx(2 * (best & labels).sum() / (best.sum() + labels.sum()))


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (
            {},
            {"metric": "auc"},
            "AUC is of two classes, but the labels have 3 (cat, dog, owl). Use the metric balanced "
            "accuracy or f1, or make labels of one class against the rest.",
        ),
        (
            {"a": np.linspace(0, 1, 400)},
            {},
            "'a' predicts 0, which is no label (labels: cat, dog, owl). Predict classes, spelled "
            "as the labels are; scores of how likely a class is are for the metric auc.",
        ),
        (
            {"a": np.array(["Cat"] * 400)},
            {},
            "'a' predicts Cat, which is no label (labels: cat, dog, owl). Predict classes, spelled "
            "as the labels are; scores of how likely a class is are for the metric auc.",
        ),
        (
            {"a": np.array(["cat"] * 399)},
            {},
            "'a' has predictions of shape (399,) for 400 labels. Pass one prediction per example.",
        ),
        (
            {},
            {"metric": "rmse"},
            "metric is 'rmse'. Choose one of 'accuracy', 'balanced accuracy', 'f1', 'auc'.",
        ),
        (
            {f"copy {i}": np.array(["cat"] * 400) for i in range(400)},
            {},
            "404 entries predict only 400 examples. Put entries in columns and examples in rows.",
        ),
    ],
)
def test_predictions_that_make_no_sense_are_refused(predictions, change, options, message):
    by_entry, labels = predictions
    assert refusal(assess_predictions, by_entry | change, labels, **options) == message


def test_a_file_of_predictions_is_read(predictions, tmp_path):
    by_entry, labels = predictions
    rows = [",".join(map(str, row)) for row in zip(labels, *by_entry.values(), strict=True)]
    path = tmp_path / "predictions.csv"
    path.write_text("\n".join([",".join(["species", *by_entry]), *rows]))
    result = assess_predictions(path, "species", n_resamples=100)
    assert result.to_dict() == assess_predictions(by_entry, labels, n_resamples=100).to_dict()
    assert refusal(assess_predictions, path, labels) == (
        "labels are passed with a file of predictions. Name the column that has them."
    )
    assert refusal(assess_predictions, by_entry) == (
        "predictions come without labels. Pass the true class of each example."
    )


def test_labels_that_make_no_sense_are_refused(predictions):
    by_entry, _ = predictions
    assert refusal(assess_predictions, by_entry, ["cat"] * 400) == (
        "every label is cat. Pass labels of two or more classes."
    )
    assert refusal(assess_predictions, {"a": by_entry["a"]}, ["cat"] * 400) == (
        "1 entry has predictions. Pass those of two or more: one has no luck."
    )
    numbers = {"a": [0.1, 0.2], "b": [0.1, 0.2]}
    assert refusal(assess_predictions, numbers, [0.0, np.nan]) == (
        "1 labels are missing. Remove the examples without one."
    )


def test_an_interval_from_few_examples_is_said_to_be_too_narrow():
    rng = np.random.default_rng(3)
    words = "examples the interval is too narrow where few may be the best: of two to five equals"
    for n, m, said in ((30, 2, True), (199, 5, True), (200, 2, False), (50, 20, False)):
        labels = np.arange(n) % 2
        entries = {str(i): np.where(rng.random(n) < 0.85, labels, 1 - labels) for i in range(m)}
        result = assess_predictions(entries, labels, n_resamples=300)
        assert any(words in each for each in result.caveats) == said


@pytest.mark.slow
def test_an_interval_from_few_examples_misses_as_often_as_is_said():
    rng, n, n_studies, missed = np.random.default_rng(4), 30, 800, 0
    labels = np.arange(n) % 2
    for right in rng.random((n_studies, 2, n)) < 0.85:
        entries = {
            name: np.where(each, labels, 1 - labels) for name, each in zip("ab", right, strict=True)
        }
        interval = assess_predictions(entries, labels, n_resamples=400, rng=rng).interval
        missed += not interval.low - 1e-9 <= 0.85 <= interval.high + 1e-9
    assert binomtest(missed, n_studies, 0.14, alternative="greater").pvalue > 0.001
    # Negative control: it is more than the 5% that the level allows.
    assert binomtest(missed, n_studies, 0.05, alternative="greater").pvalue < 0.001


def test_a_score_that_never_varies_is_no_certainty():
    labels = [0, 1] * 20
    found = assess_predictions({"a": labels, "b": labels}, labels, n_resamples=500)
    assert found.interval.low == found.interval.high == 1
    assert found.caveats[0] == (
        "the best score is the same in every resample, so its interval has no width and is not to "
        "be believed: even 40 of 40 right fit a true accuracy of 0.9119"
    )
    assert found.caveats[-1] == (
        "where all entries are equally good, a third of the luck is left in, or more if scores are "
        "nearly perfect: then believe the interval rather than the estimate"
    )


def test_missing_predictions_are_counted():
    missing = {"a": [0.0, 1.0, np.nan, 1.0], "b": [0.0, 1.0, 0.0, 1.0]}
    assert refusal(assess_predictions, missing, [0, 1, 0, 1]) == (
        "'a' lacks 1 of 4 predictions. Leave it out, or the examples that it does not predict."
    )


def test_few_examples_of_a_class_are_a_doubt():
    rng = np.random.default_rng(5)
    labels = np.array([1] * 8 + [0] * 100)
    values = {name: labels + rng.normal(size=108) for name in "ab"}
    found = assess_predictions(values, labels, metric="auc", n_resamples=500)
    assert found.caveats[0].startswith("only 8 examples have the label 1")


def test_predictions_of_the_other_class_are_suspected():
    labels, rng = np.arange(100) % 2, np.random.default_rng(3)
    good, better = labels + rng.normal(size=100), labels + rng.normal(scale=0.5, size=100)
    plain = assess_predictions({"a": good, "b": better}, labels, metric="auc", n_resamples=100)
    assert not any("turned round" in caveat for caveat in plain.caveats)
    turned = assess_predictions({"a": good, "b": -better}, labels, metric="auc", n_resamples=100)
    assert turned.best == "a"
    assert turned.caveats[-1].startswith("turned round, b would have AUC 0.9")


def test_predictions_are_matched_with_labels_by_their_index():
    pandas = pytest.importorskip("pandas")
    labels = pandas.Series([0, 1, 1, 0])
    frame = pandas.DataFrame({"a": [0, 1, 1, 0], "b": [0, 1, 0, 0]})
    assert assess_predictions(frame, labels, n_resamples=100).best == "a"
    assert assess_predictions(frame[::-1], labels[::-1], n_resamples=100).best == "a"
    assert assess_predictions(frame, labels.tolist(), n_resamples=100).best == "a"
    turned = assess_predictions(frame[::-1], labels, n_resamples=100)
    assert turned == assess_predictions(frame, labels, n_resamples=100)
    with pytest.raises(UnpairedScores) as caught:
        assess_predictions(frame, labels.set_axis([0, 1, 2, 9]), n_resamples=100)
    assert str(caught.value) == (
        "2 entries of the index have a score in labels or in 'a' only (first: 3, 9). Pass those "
        "that both have, or plain arrays (.to_numpy()) in the same order."
    )
