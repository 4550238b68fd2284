"""The command `outperform audit`, as a person meets it."""

import json

import pytest

from tests.command_line import call


@pytest.fixture
def runs_file(tmp_path):
    path = tmp_path / "runs.csv"
    rows = [
        f"{name},{task},{seed},{seed + (name == 'new') * (0.5 if seed < wins else -0.7)}"
        for task, wins in (("easy", 19), ("hard", 12))
        for name in ("new", "old")
        for seed in range(20)
        if seed != 7
    ]
    path.write_text("algorithm,task,seed,accuracy\n" + "\n".join(rows))
    return path


def test_the_verdict_comes_first_and_what_to_do_last(runs_file):
    result = call("audit", runs_file, "new", "old", "--on", "easy", "--draws", 50)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    # Six wins of seven are significant, five of six are not: 13 of the 18 wins must go.
    assert lines[0] == (
        "Robust: new outperforms old on easy; it takes 11 of 19 pairs hidden to undo that."
    )
    assert lines[3].startswith("new outperforms old on easy: P(new > old) = 0.947")
    assert lines[5].split("  ")[1] == "fewest of 19 pairs to hide until"
    assert "  - seeds 0…19 without 7: were these runs left out?" in lines
    assert lines[-1].startswith("Next: report the verdict with every seed")


def test_all_tasks_are_audited_where_none_is_named(runs_file):
    result = call("audit", runs_file, "new", "old", "--draws", 50)
    lines = result.stdout.splitlines()
    assert lines[0] == (
        "Of 2 tasks, the verdict on new and old is robust on 1 and undecided on 1; it is weakest "
        "on easy, where hiding 11 of 19 pairs is what it takes to undo that new outperforms old."
    )
    assert max(map(len, lines[3:7])) < 100
    answer = json.loads(call("audit", runs_file, "new", "old", "--draws", 50, "--json").stdout)
    assert answer["kind"] == "TaskAudits"
    assert [task["comparison"]["task"] for task in answer["tasks"]] == ["easy", "hard"]
    alone = call("audit", runs_file, "new", "--json")
    assert json.loads(alone.stdout)["kind"] == "TaskSelfAudits"


def test_tables_are_narrow_enough_for_a_terminal(runs_file):
    result = call("audit", runs_file, "new", "old", "--on", "hard", "--draws", 50)
    assert result.stdout.startswith("Undecided: no difference shown between new and old on hard;")
    table = [line for line in result.stdout.splitlines() if line.startswith("  ")]
    assert max(map(len, table)) < 100
    assert "same seeds, picked for old" in result.stdout


def test_json_is_the_result(runs_file):
    result = call("audit", runs_file, "new", "old", "--on", "easy", "--json", "--draws", 50)
    answer = json.loads(result.stdout)
    assert answer["verdict"] == "robust"
    assert answer["hidden"][0]["n"] == 11
    assert [each["rule"] for each in answer["sets"]] == ["verdict", "paired t", "brunner-munzel"]


def test_one_algorithm_alone(runs_file):
    result = call("audit", runs_file, "old", "--on", "easy")
    assert result.stdout.startswith("old on easy: picked by score, the best 5 of 19 runs are ")
    assert "accuracy, higher is better" in result.stdout


def test_the_only_algorithm_need_not_be_named(tmp_path):
    path = tmp_path / "resnet.csv"
    path.write_text("seed,accuracy\n" + "\n".join(f"{i},{0.9 + i / 1000}" for i in range(9)))
    assert call("audit", path).stdout.startswith("resnet: picked by score, the best 5 of 9 runs")


def test_joined_files_are_audited(tmp_path):
    for name, gain in (("new model", 0.01), ("old", 0.0)):
        rows = "\n".join(f"{i},{0.9 + i**2 % 13 / 100 + gain}" for i in range(12))
        (tmp_path / f"{name}.csv").write_text(f"seed,accuracy\n{rows}\n")
    files = (tmp_path / "new model.csv", "--with", tmp_path / "old.csv")
    unnamed = call("audit", *files)
    assert f"{tmp_path}/new model.csv' --with {tmp_path}/old.csv 'new model' old" in unnamed.stderr
    result = call("audit", *files, "new model", "old", "--draws", 50)
    assert result.stdout.startswith("Robust: new model outperforms old; it takes 7 of 12 pairs")


def test_real_files_are_joined_and_audited(shared_data):
    folder = shared_data / "boon_runs"
    first, second = (f"derived_asreader_cbtcn_{name}" for name in ("fixed", "randomhp"))
    words = ("audit", folder / f"{first}.csv", "--with", folder / f"{second}.csv", first, second)
    refused = call(*words)
    assert refused.exit_code == 2
    assert "--drop-incomplete" in refused.stderr
    result = call(*words, "--drop-incomplete", "--draws", 20)
    assert result.stdout.startswith(
        f"Robust: {first} outperforms {second}; it takes 70 of 197 pairs hidden to undo that."
    )
    assert max(map(len, result.stdout.split("What 5 runs")[1].splitlines())) < 120


def test_a_figure_is_written(runs_file, tmp_path):
    path = tmp_path / "audit.svg"
    call("audit", runs_file, "new", "old", "--on", "easy", "--draws", 20, "--plot", path)
    assert path.read_text().startswith("<?xml")


def test_seeds_of_the_draws_repeat(runs_file):
    words = ("audit", runs_file, "new", "old", "--on", "hard", "--draws", 50, "--seed")
    assert call(*words, 3).stdout == call(*words, 3).stdout
    assert call(*words, 3).stdout != call(*words, 4).stdout


def test_whoever_waits_is_told_what_for(runs_file, monkeypatch):
    class Impatient:
        def __init__(self, seconds, function, args, kwargs):
            assert seconds == 2
            self.start = lambda: function(*args, **kwargs)

        def cancel(self):
            pass

    monkeypatch.setattr("outperform.cli.progress.Timer", Impatient)
    result = call("audit", runs_file, "new", "old", "--on", "hard", "--draws", 50, "--json")
    assert result.stderr == "Drawing 50 seed sets of each size; fewer --draws are faster.\n"
    assert json.loads(result.stdout)["verdict"] == "undecided"


def test_a_spreadsheet_of_a_hundred_runs(shared_data):
    path = shared_data / "bert_100_seeds" / "runs.csv"
    result = call("audit", path, "--metric", "MNLI dev acc.")
    assert result.stdout.startswith("runs: picked by score, the best 5 of 100 runs are 0.00958")
    assert "sum up other rows (Mean, Maximum, Minimum, Standard deviation)" in result.stdout
    wide = call(
        *("audit", path, "Lexical (nonent)", "Constituent (nonent)", "--wide", "--maximize"),
        *("--draws", 20),
    )
    assert wide.stdout.splitlines()[0] == (
        "Robust: Lexical (nonent) outperforms Constituent (nonent); it takes 45 of 100 pairs "
        "hidden to undo that."
    )
    unsure = call("audit", path)
    assert unsure.exit_code == 2
    assert "or add --wide if each column is an algorithm" in unsure.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "Name the runs file and one or two algorithms, RUNS A [B]; put names with spaces"),
        (("{runs}",), "which has new, old. For example: outperform audit {runs} new old"),
        (("{runs}", "new", "new", "--on", "easy"), "cannot audit 'new' against itself"),
        (("{runs}", "nev", "old", "--on", "easy"), "Did you mean 'new'?"),
        (("{runs}", "new", "old", "--alpha", "5"), "alpha is 5.0"),
        (("{runs}", "new", "old", "--on", "easy", "--gamma", "75"), "(75% is 0.75)"),
        (("{runs}", "new", "old", "--plot", "x.jpg"), "cannot save a figure as 'x.jpg'"),
    ],
)
def test_what_makes_no_sense_is_refused_kindly(runs_file, words, message):
    result = call("audit", *(word.format(runs=runs_file) for word in words))
    assert result.exit_code == 2
    assert message.format(runs=runs_file) in result.stderr
    assert "Traceback" not in result.output
