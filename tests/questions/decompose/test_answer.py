"""Sources of variation: measured, ordered, and doubted where they should be."""

import csv
import itertools
import json
import math

import numpy as np
import pytest

from outperform.errors import InvalidInput, InvalidScores, TooFewRuns, UnreadableRuns
from outperform.questions.decompose.answer import decompose, decompose_crossed
from outperform.stats.variances import deviation, deviation_ratio, normality_pvalue

SUM = (
    "each source was redrawn alone, so shares do not add up to 1 and interactions are unseen; a "
    "crossed design tells both"
)
BINOMIAL = "accuracies and error rates between 0 and 1"


def normal(sd, n=200, mean=0.7):
    """Scores with exactly this mean and standard deviation, spread like a normal sample."""
    scores = np.random.default_rng(n).normal(size=n)
    return mean + sd * (scores - scores.mean()) / scores.std(ddof=1)


def by_source(found):
    return {variation.source: variation for variation in found.sources}


@pytest.fixture
def scores():
    return {"split": normal(0.03), "init": normal(0.01), "noise": [0.7] * 200, "all": normal(0.04)}


# What is measured


def test_every_source_is_measured(scores):
    found = decompose(scores, algorithm="bert", task="rte", metric="accuracy", n_test=277)
    sources = by_source(found)
    assert list(sources) == ["split", "init", "noise", "all"]
    init = sources["init"]
    assert (init.n, init.mean) == (200, pytest.approx(0.7))
    assert init.sd == deviation(scores["init"])
    assert init.share == deviation_ratio(scores["init"], scores["split"])
    assert init.share.value == pytest.approx(1 / 3)
    assert init.normality_pvalue == normality_pvalue(scores["init"])
    assert init.binomial_sd == pytest.approx(math.sqrt(0.7 * 0.3 / 277))
    assert (sources["noise"].sd.value, sources["noise"].share.value) == (0, 0)
    assert sources["all"].share.value == pytest.approx(4 / 3)


def test_the_share_of_the_reference_is_one_without_doubt(scores):
    share = by_source(decompose(scores))["split"].share
    assert (share.value, share.interval.low, share.interval.high) == (1, 1, 1)


def test_the_level_reaches_every_interval(scores):
    for variation in decompose(scores, confidence_level=0.8).sources:
        assert variation.sd.interval.confidence_level == 0.8
        assert variation.share.interval.confidence_level == 0.8
    narrow, wide = (by_source(decompose(scores, confidence_level=x))["init"] for x in (0.5, 0.99))
    assert narrow.share.interval.high < wide.share.interval.high


def test_without_split_shares_are_of_the_largest_single_source(scores):
    del scores["split"]
    found = decompose(scores | {"order": normal(0.02)})
    assert found.reference == "order"
    assert by_source(found)["init"].share.value == pytest.approx(0.5)
    assert "split is not there: shares are of order, the largest source" in found.caveats


def test_a_split_that_does_not_vary_is_no_reference(scores):
    found = decompose(scores | {"split": [0.7] * 200})
    assert found.reference == "init"
    assert "split does not vary: shares are of init, the largest source" in found.caveats


@pytest.mark.parametrize(
    "metric", ["accuracy", "test_acc", "Top-5 Accuracy", "error rate", "misclassification"]
)
def test_the_binomial_model_is_of_shares_of_right_answers(scores, metric):
    found = decompose(scores, metric=metric, n_test=100)
    assert by_source(found)["split"].binomial_sd == pytest.approx(math.sqrt(0.21 / 100))
    assert BINOMIAL not in " ".join(found.caveats)


@pytest.mark.parametrize(
    ("metric", "factor"),
    [("auc", 1), ("score", 1), ("balanced_accuracy", 1), ("word error rate", 1), ("accuracy", 100)],
)
def test_the_binomial_model_is_of_nothing_else(scores, metric, factor):
    percent = {name: np.multiply(x, factor) for name, x in scores.items()}
    found = decompose(percent, metric=metric, n_test=100)
    assert {variation.binomial_sd for variation in found.sources} == {None}
    assert found.caveats[-1] == f"no binomial model of {metric}: it is for {BINOMIAL}, so named"
    unasked = decompose(percent, metric=metric)
    assert BINOMIAL not in " ".join(unasked.caveats)


# What is said


def test_the_sentence_names_the_largest_source_and_its_lead(scores):
    found = decompose(scores, algorithm="bert", task="rte", metric="accuracy")
    ratio = deviation_ratio(scores["split"], scores["init"])
    assert str(found) == (
        "split is the largest source of variation of the accuracy of bert on rte: standard "
        f"deviation {deviation(scores['split'])} over 200 runs, {ratio} times that of init."
    )


def test_the_sentence_admits_a_lead_that_may_be_chance():
    found = decompose({"split": normal(0.020), "init": normal(0.021)})
    assert str(found).startswith("init seems the largest source of variation of the score: ")
    assert str(found).endswith(" times that of split, not significantly more.")


@pytest.mark.parametrize("other", [{}, {"noise": [0.7] * 200}])
def test_a_single_source_leads_nobody(other):
    assert str(decompose({"init": normal(0.1)} | other)).endswith(" over 200 runs.")


def test_all_together_is_no_source_unless_there_is_nothing_else(scores):
    assert decompose(scores).ranked[0].source == "split"
    assert decompose({"all": normal(0.1)}).ranked[0].source == "all"


def test_constant_scores_are_no_error():
    found = decompose({"init": [0.5] * 30, "noise": [0.5] * 30}, algorithm="svm")
    assert str(found) == "No source changes the score of svm."
    assert {variation.share.value for variation in found.sources} == {0}


def test_json_holds_everything(scores):
    found = json.loads(json.dumps(decompose(scores, task="rte").to_dict(), allow_nan=False))
    assert (found["task"], found["largest"], found["reference"]) == ("rte", "split", "split")
    assert found["caveats"] == [SUM]
    assert found["sources"][2] == {
        "source": "noise",
        "n": 200,
        "mean": pytest.approx(0.7),
        "sd": {"value": 0, "interval": decompose(scores).sources[2].sd.interval.to_dict()},
        "share": {"value": 0, "interval": decompose(scores).sources[2].share.interval.to_dict()},
        "normality_pvalue": 1,
        "binomial_sd": None,
    }


# What is doubted


def test_a_clean_study_has_one_caveat(scores):
    assert decompose(scores).caveats == (SUM,)


def test_an_idle_seed_is_doubted(scores):
    caveats = decompose(scores | {"order": [0.7] * 200, "dropout": [0.7] * 200}).caveats
    assert caveats[1:] == ("redrawing order, dropout changed no score: are their seeds used?",)
    (_, one) = decompose(scores | {"order": [0.7] * 200}).caveats
    assert one == "redrawing order changed no score: is its seed used?"


def test_noise_is_doubted(scores):
    assert decompose(scores | {"noise": normal(0.002)}).caveats[1:] == (
        "noise is not 0: the same seeds give scores with a standard deviation of 0.002, which is "
        "part of every other source's",
    )


def test_few_runs_are_doubted(scores):
    caveats = decompose(scores | {"init": normal(0.1, 19), "hpo": normal(0.1, 20)}).caveats
    assert caveats[1:] == ("fewer than 20 runs of init (19): their intervals are rough",)
    caveats = decompose(scores | {"init": normal(0.1, 4), "hpo": normal(0.1, 5)}).caveats
    assert caveats[1:] == (
        "fewer than 20 runs of init (4), hpo (5): their intervals are rough, and below 5 they hold "
        "for normal scores only",
    )


def test_few_runs_of_all_sources_are_doubted_in_one_breath():
    result = decompose({name: normal(0.1, 6) for name in ("init", "order", "split")})
    assert result.caveats[1:] == (
        "fewer than 20 runs of each source (6): their intervals are rough",
    )


def test_it_says_what_to_do_about_the_largest_source(scores):
    largest = decompose(scores | {"init": normal(9.0)})
    assert largest.advice == (
        "redraw init in every run that you compare: runs that share one draw of it say nothing of "
        "others."
    )
    assert decompose({"noise": normal(0.1), "split": [0.5] * 20}).advice == ""


# Real standard deviations


def test_the_order_of_real_sources_is_recovered(shared_data):
    path = shared_data / "variance_constants" / "fig1_stds_by_source.csv"
    rng = np.random.default_rng(6)
    truth: dict[str, dict[str, float]] = {}
    with path.open() as file:
        for row in csv.DictReader(file):
            truth.setdefault(row["task"], {})[row["source"]] = float(row["std"])
    largest = {}
    for task, sds in truth.items():
        drawn = {source: rng.normal(0.5, sd, 20_000) for source, sd in sds.items()}
        found = decompose(drawn, task=task)
        largest[task] = found.ranked[0].source
        ranked = [variation.source for variation in found.ranked]
        for first, second in itertools.pairwise(ranked):
            assert sds[first] > 0.97 * sds[second]  # nearer ones may change places
        whole = max(sds.values())
        for variation in found.sources:
            assert variation.share.value == pytest.approx(sds[variation.source] / whole, rel=0.03)
    assert largest == {
        "bert-sst2": "bootstrap",
        "bert-rte": "bootstrap",
        "segmentation": "bootstrap",
        "vgg": "bayesopt",
        "bio-task2": "bootstrap",
    }


@pytest.mark.slow
def test_true_shares_are_covered_at_the_papers_sizes():
    rng = np.random.default_rng(12)
    hits = 0
    for _ in range(2000):
        found = decompose({"split": rng.normal(0, 3, 200), "hpo": rng.normal(0, 1, 20)})
        hits += 1 / 3 in by_source(found)["hpo"].share.interval
    assert 0.93 < hits / 2000 < 0.97


# A crossed design


def test_crossed_shares_are_those_of_the_components():
    found = decompose_crossed(
        [[1, 2], [5, 8]], ["split", "init"], algorithm="bert", task="rte", metric="loss"
    )
    assert str(found) == (
        "split causes 83% of the variance of the loss of bert on rte when every source is redrawn "
        "(2 × 2 runs)."
    )
    assert found.caveats == (
        "split × init includes numerical noise, which one run per combination cannot tell from it",
        "intervals are for normal effects: with heavier tails they are too short",
        "fewer than 10 levels of split (2), init (2): components are rough",
    )
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert [part["names"] for part in plain["components"]] == [
        ["split"],
        ["init"],
        ["split", "init"],
    ]
    assert sum(part["share"] for part in plain["components"]) == pytest.approx(1)
    assert (plain["total"]["value"], plain["algorithm"], plain["metric"]) == (14.5, "bert", "loss")


def test_crossed_interactions_are_named_and_negative_estimates_doubted():
    found = decompose_crossed([[1, -1], [-1, 1]], ["split", "init"])
    assert str(found).startswith("split × init causes 100% of the variance of the score when ")
    assert found.caveats[2] == (
        "negative estimates of split, init: their variance is small beside the error of its "
        "estimate; they have no share"
    )


def test_crossed_constants_and_many_levels():
    assert str(decompose_crossed(np.ones((3, 3)), ["a", "b"])) == "No source changes the score."
    rng = np.random.default_rng(5)
    table = rng.normal(0, 3, (30, 1)) + rng.normal(0, 1, (30, 30))
    found = decompose_crossed(table, ["a", "b"])
    assert found.largest.names == ("a",)
    assert found.largest.share == pytest.approx(0.9, abs=0.05)
    assert not [doubt for doubt in found.caveats if "levels" in doubt]


# What is refused


def test_bad_scores_are_refused_by_the_name_of_their_source(scores):
    with pytest.raises(InvalidScores, match=r"^source 'init' has 1 score that is NaN"):
        decompose(scores | {"init": [0.1, math.nan]})
    with pytest.raises(TooFewRuns, match=r"^source 'hpo' has 1 score\. At least 2 are need"):
        decompose(scores | {"hpo": [0.1]})
    with pytest.raises(InvalidInput, match=r"^there are no sources of variation\. "):
        decompose({})
    with pytest.raises(
        InvalidInput, match=r"^n_test is 0\. Pass a whole number not less than 1\.$"
    ):
        decompose(scores, n_test=0)


def test_scores_by_source_raise_the_questions_that_runs_raise():
    scores = {"split": [90.1, 86.2, 94.3], "init": [0.90, 0.89, 0.91]}
    with pytest.raises(InvalidScores, match="these look like fractions and per cent"):
        decompose(scores)
    assert decompose(scores, accept="scale").caveats[-1].endswith("which was accepted as right")


def test_a_list_of_dicts_is_read_as_a_file_is(tmp_path):
    rng = np.random.default_rng(0)
    rows = [
        {"source": source, "accuracy": float(score)}
        for source, sd in (("split", 0.02), ("init", 0.01))
        for score in rng.normal(0.8, sd, size=10).round(4)
    ]
    path = tmp_path / "runs.csv"
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, ["source", "accuracy"])
        writer.writeheader()
        writer.writerows(rows)
    assert decompose(rows).to_dict() == decompose(path).to_dict()
    with pytest.raises(UnreadableRuns) as caught:
        decompose(5)
    assert str(caught.value) == (
        "cannot read runs from a value of type int. Pass a path, a dict, a list of dicts or a data "
        "frame."
    )


# Runs that failed


def make_records(of_source, failed):
    """Runs of each source; those at these places failed."""
    return [
        {"source": name, "seed": i, "score": None if i in failed.get(name, ()) else x}
        for name, own in of_source.items()
        for i, x in enumerate(own)
    ]


def decompose_left(of_source, failed):
    (found,) = decompose(make_records(of_source, failed), drop_incomplete=True).sources
    return found


def test_no_source_is_the_largest_beside_one_of_which_runs_failed(scores):
    del scores["noise"], scores["all"]
    whole, other = decompose_left(scores, {}), decompose_left(scores, {"init": range(3)})
    assert str(whole).startswith("split is the largest source of variation of the score: ")
    assert str(other).startswith("split seems the largest source of variation of the score: ")
    assert str(other).endswith(" times that of init; runs of init failed.")
    assert other.failed == {"init": 3}
    assert (
        "runs that failed are left out, 3 of 200 of init: if they went badly, redrawing that makes "
        "scores vary more than is seen here"
    ) in other.caveats
    assert whole.failed == {}
    assert not any("failed" in each for each in whole.caveats)


def test_failed_runs_of_the_largest_source_itself_do_not_call_it_into_question(scores):
    del scores["noise"], scores["all"]
    found = decompose_left(scores, {"split": range(3)})
    assert str(found).startswith("split is the largest source of variation of the score: ")
    assert any("3 of 200 of split" in each for each in found.caveats)


def test_a_source_of_which_every_run_failed_may_be_the_largest(scores):
    found = decompose_left({"split": scores["split"], "init": scores["init"]}, {"init": range(200)})
    assert not found.is_surely_largest
    assert str(found).endswith(" over 200 runs; runs of init failed.")
    assert any("200 of 200 of init" in each for each in found.caveats)


@pytest.mark.slow
def test_a_source_is_hardly_ever_called_the_largest_for_what_another_lacks():
    rng, said, unheard = np.random.default_rng(2), 0, 0
    for _ in range(300):
        of_source = {name: rng.normal(0.8, 0.02, 40) for name in ("split", "init")}
        worst = np.argsort(of_source["init"])
        said += decompose_left(of_source, {"init": worst[:8].tolist()}).is_surely_largest
        left = of_source | {"init": of_source["init"][worst[8:]]}
        unheard += decompose(left).is_surely_largest
    assert said <= 0.05 * 300
    assert unheard > 0.2 * 300  # where nobody knows that runs are missing
