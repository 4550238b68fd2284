"""The command `outperform best-of`, as a person meets it."""

import json

import numpy as np
import pytest

from outperform import best_of_runs
from outperform.engines import InlineEngine
from outperform.runner import run_fits
from outperform.store import open_store
from outperform.study.study_file import parse_study_file
from tests.command_line import call, refused


@pytest.fixture
def write_runs(tmp_path):
    """Writes a file of one algorithm, called like it, without a column of algorithms."""

    def write(name="net", *, n_runs=80, mean=0.6, sd=0.02, columns="run,valid_acc,test_acc"):
        rng = np.random.default_rng(len(name))
        scores = rng.normal(size=n_runs)
        rows = [
            f"{i},{0.7 + sd * v:.6f},{mean + sd * (v + rng.normal() / 3):.6f}"
            for i, v in enumerate(scores)
        ]
        path = tmp_path / f"{name}.csv"
        path.write_text("\n".join([columns, *rows]) + "\n")
        return path

    return write


def test_the_expectation_comes_first_in_one_sentence(write_runs):
    result = call("best-of", write_runs())
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0].startswith(
        "The best of 5 runs of net chosen by valid_acc is expected to reach test_acc 0.6"
    )
    assert lines[3] == "test_acc, higher is better; 95% intervals"
    assert [line.split()[0] for line in lines[5:10]] == ["1", "2", "5", "10", "20"]
    assert lines[5].split()[-1] == "+0"
    assert lines[-1].startswith("Next: report the expected best of 5 (Boo_5) with its interval")


def test_lower_may_be_better_and_constant_scores_correlate_with_none(write_runs):
    columns = "run,val_loss,test_loss"
    lines = call("best-of", write_runs(columns=columns)).stdout.splitlines()
    assert lines[5].split()[-1] == "+0"
    constant = call("best-of", write_runs(columns=columns, sd=0)).stdout
    assert ["net", "80", "0.6", "±", "0", "0.6", "none"] in map(str.split, constant.splitlines())


def test_budgets_are_numbers_and_ranges(write_runs):
    answer = json.loads(call("best-of", write_runs(), "--n", 7, "--n", "2-3", "--json").stdout)
    assert answer["n"] == 7
    text = call("best-of", write_runs(), "--n", 7, "--n", "2-3").stdout
    shown = [line.split()[0] for line in text.splitlines()[5:12]]
    assert shown == ["1", "2", "3", "5", "7", "10", "20"]


def test_json_is_the_result(write_runs):
    answer = json.loads(call("best-of", write_runs(), "--estimator", "u", "--json").stdout)
    assert (answer["algorithm"], answer["estimator"], answer["n_runs"]) == ("net", "u", 80)
    assert answer["interval"]["low"] < answer["value"] < answer["interval"]["high"]
    assert answer["curve"]["n"] == list(range(1, 81))


def test_two_files_are_compared_and_cross(write_runs):
    steady, wild = write_runs("steady", mean=0.62, sd=0.004), write_runs("wild", mean=0.58, sd=0.03)
    result = call("best-of", steady, "steady", "wild", "--with", wild, "--n", 2, "--n", 20)
    assert result.exit_code == 0
    text = " ".join(result.stdout.split())
    assert text.startswith("With a budget of 2, steady is better: steady is expected to reach 0.62")
    assert "The curves cross: from n = " in text
    assert "on wild is ahead. They do so in " in text
    answer = json.loads(
        call("best-of", steady, "steady", "wild", "--with", wild, "--n", 2, "--json").stdout
    )
    assert (answer["winner"], answer["crossing"]["leader_after"]) == ("a", "wild")


def test_curves_that_do_not_cross_say_who_is_ahead(write_runs):
    good, bad = write_runs("good", mean=0.7), write_runs("bad!", mean=0.5)
    result = call("best-of", good, "bad!", "good", "--with", bad)
    assert "The curves do not cross: good is ahead at every n up to 80." in result.stdout
    assert "With a budget of 5, good is better" in result.stdout


def test_all_algorithms_have_a_row_each(write_runs):
    files = [write_runs(name, mean=mean) for name, mean in (("a", 0.5), ("bb", 0.6), ("c c", 0.55))]
    result = call("best-of", files[0], "--with", files[1], "--with", files[2], "--n", 3, "--n", 9)
    lines = result.stdout.splitlines()
    assert lines[0].startswith("With a budget of 3, most is to be expected of bb: test_acc 0.6")
    assert lines[4].split()[2:8] == ["best", "of", "3", "best", "of", "9"]
    assert [line.split()[0] for line in lines[5:8]] == ["bb", "c", "a"]
    assert lines[-1] == "Next: `outperform best-of RUNS bb 'c c'` compares the two at the top."


def test_validation_scores_are_named(write_runs):
    path = write_runs(columns="run,dev,test_acc")
    assert refused(call("best-of", path, "--metric", "test_acc")) == (
        "Error: no column of net.csv is recognised as validation scores, by which the best run is "
        "chosen. "
        "Name their column with --validation; --validation 'test_acc' chooses by the score that is "
        "reported, which is optimistic."
    )
    without = call("best-of", path, "--validation", "test_acc")
    assert "net chosen by test_acc is expected to reach test_acc" in without.stdout
    assert (
        "runs are chosen and reported by the same test_acc: the best of them looks better than it "
        "will be on other data; if there are validation scores, name their column (--validation, "
        "or validation= of read_runs)"
    ) in " ".join(without.stdout.split())
    named = call("best-of", path, "--metric", "test_acc", "--validation", "dev")
    assert "net chosen by dev is expected" in named.stdout
    assert "Caveats" not in named.stdout


def test_the_seed_and_the_level_matter(write_runs):
    path = write_runs()
    first, other, wide = (
        json.loads(call("best-of", path, "--interval", "percentile", *words, "--json").stdout)[
            "interval"
        ]
        for words in ([], ["--seed", 1], ["--alpha", 0.01])
    )
    assert first["low"] != other["low"]
    assert wide["low"] < first["low"]
    assert wide["confidence_level"] == 0.99


def test_what_takes_long_says_so_beside_the_result(write_runs, monkeypatch):
    monkeypatch.setattr("outperform.questions.best_of.command._LONG", 80 * 99)
    drawn = ("best-of", write_runs(), "--interval", "percentile", "--draws")
    result = call(*drawn, 100, "--json")
    assert result.stderr == "Resampling 80 runs 100 times ...\n"
    assert json.loads(result.stdout)["n_runs"] == 80
    assert call(*drawn, 99).stderr == ""
    assert call("best-of", write_runs(), "--draws", 100).stderr == ""  # which draws nothing


@pytest.mark.parametrize("names", [[], ["net"], ["net", "other"]])
def test_plot(write_runs, tmp_path, names):
    figure = tmp_path / "best.svg"
    other = write_runs("other")
    result = call("best-of", write_runs(), *names, "--with", other, "--plot", figure)
    assert result.exit_code == 0
    assert figure.stat().st_size > 1000


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--n", 0], "Error: n is '0'. Pass a whole number not less than 1, or a range such as "
         "1-20."),
        (["--n", "2.5"], "Error: n is '2.5'. Pass a whole number not less than 1, or a range such "
         "as 1-20."),
        (["--n", 81, "--estimator", "u"], "Error: n is 81, but there are 80 runs: estimator 'u' "
         "draws n of them without replacement. Pass an n up to 80, add runs, or use estimator "
         "'v'."),
        (["--validation", "val_acc"], "Error: no column 'val_acc' in net.csv. Did you mean "
         "'valid_acc'? It has: valid_acc, test_acc."),
        (["nett"], "Error: no algorithm 'nett' in net.csv. Did you mean 'net'? It has: net."),
        (["--alpha", 5], "Error: alpha is 5.0. Pass a value between 0 and 1 (5% is 0.05)."),
        (["--on", "cifar"], "Error: no task 'cifar' in net.csv, which has no column of tasks. "
         "Leave out the task, or name the column with --task."),
    ],
)  # fmt: skip
def test_bad_input_is_refused_with_the_reason(write_runs, words, message):
    assert refused(call("best-of", write_runs(), *words)) == message


def test_one_run_is_refused(write_runs):
    assert refused(call("best-of", write_runs(n_runs=1))) == (
        "Error: 'net' has 1 run in net.csv: too few to say anything about the best of several. "
        "Train it with several seeds, many more than the candidates you would choose from."
    )


@pytest.mark.parametrize("words", [(), ("runs.csv", "a", "b", "c")])
def test_too_few_and_too_many_words_are_refused(words):
    assert "Name the runs file, then one or two algorithms" in refused(call("best-of", *words))


# Trials of searches

STUDY = """
[tuning]
tuner = "random"
trials = 6

[[task]]
data = "iris"
metric = "accuracy"

[[pipeline]]
name = "tree"
estimator = "sklearn.tree.DecisionTreeClassifier"
[pipeline.space]
max_depth = {integers = [1, 9]}

[[design]]
kind = "ideal"
replicates = 2
"""


@pytest.fixture
def store_file(tmp_path):
    """A store beside its study."""
    (tmp_path / "toy.toml").write_text(STUDY)
    path = tmp_path / "toy.db"
    with open_store(path) as store:
        run_fits(parse_study_file(STUDY, folder=tmp_path).study, store, InlineEngine())
    return path


def test_trials_of_a_store_are_runs(store_file):
    result = call("best-of", store_file, "--trials", "--n", 3)
    assert result.exit_code == 0, result.stderr
    text = " ".join(result.stdout.split())
    assert text.startswith("The best of 3 runs of tree on iris ")
    assert "(6 runs)" in text
    assert "chosen by validation" in text
    assert "left out: 1 other search of the study, on other splits" in text


def test_final_fits_of_a_store_are_runs_too(store_file):
    assert refused(call("best-of", store_file, "--n", 2)) == (
        f"Error: the final fits in {store_file} have no validation scores, by which the best is "
        "chosen: they were trained on validation data too. Pass --trials to choose among the "
        "trials of its searches; --validation 'accuracy' chooses by the score that is reported, "
        "which is optimistic."
    )
    result = call("best-of", store_file, "--n", 2, "--validation", "accuracy")
    assert "The best of 2 runs of tree on iris chosen by accuracy is expected" in result.stdout
    assert str(best_of_runs(str(store_file), n=2)) == result.stdout.splitlines()[0]


def test_trials_are_retraced_without_the_study(store_file, write_runs):
    assert refused(call("best-of", store_file, "--trials", "--with", write_runs())) == (
        "Error: trials of a search cannot be joined with other runs. Leave out --with or --trials."
    )
    beside = call("best-of", store_file, "--trials", "--json").stdout
    store_file.with_suffix(".toml").unlink()
    assert call("best-of", store_file, "--trials", "--json").stdout == beside


def test_a_store_without_a_plan_has_no_trials(store_file):
    with open_store(store_file) as store:
        store.set_meta("study", {**store.get_meta("study"), "plan": None})
    assert refused(call("best-of", store_file, "--trials")) == (
        f"Error: {store_file} does not say which fits are trials of which search, as a design is "
        "the person's own. Pass the study in Python."
    )


def test_a_crossing_that_no_resample_shows_is_said_to_be_one(write_runs):
    first, second = write_runs("a", n_runs=20, sd=0.03), write_runs("bb", n_runs=20, mean=0.58)
    words = ["best-of", first, "a", "bb", "--with", second, "--draws", 1]
    text = call(*words).stdout
    assert "The curves cross: from n = 20 on bb is ahead. They do so in no resample." in text


def test_a_file_has_no_trials(write_runs):
    path = write_runs()
    assert refused(call("best-of", path, "--trials")) == (
        f"Error: {path} is no store of a study, so it has no searches. Leave out --trials: each "
        "row of a file is a run."
    )
