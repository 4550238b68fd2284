"""The command `outperform compare`, as a person meets it."""

import json
import os
import pty
import subprocess
import sys
from typing import get_args

import numpy as np
import pytest
from click.testing import CliRunner

from outperform.cli import main
from outperform.questions.compare.named_tests import TestName
from tests.command_line import call, refused


@pytest.fixture
def runs_file(tmp_path):
    """Writes a runs file in which resnet wins so many of n pairs on each task."""

    def write(*wins: int, n: int = 29, metric: str = "accuracy", sign: int = 1):
        lines = [f"algorithm,task,seed,{metric}"]
        for number, n_wins in enumerate(wins):
            for seed in range(n):
                score = sign * (0.8 + seed / 1000)
                edge = sign * (0.0005 if seed < n_wins else -0.0005)
                lines.append(f"resnet,task{number},{seed},{score + edge:.6f}")
                lines.append(f"vgg,task{number},{seed},{score:.6f}")
        path = tmp_path / "runs.csv"
        path.write_text("\n".join(lines) + "\n")
        return path

    return write


def test_verdict_comes_first_in_one_sentence(runs_file):
    result = call("compare", runs_file(25), "resnet", "vgg")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0] == (
        "resnet outperforms vgg on task0: P(resnet > vgg) = 0.862 [0.683, 0.961], significant and "
        "meaningful (29 pairs, γ = 0.75 neither shown nor ruled out)."
    )
    assert lines[1].startswith("Seeds varied, so this is about this dataset")
    assert lines[3] == "accuracy, higher is better; 95% intervals"
    assert lines[-1].startswith("Next: ")


def test_a_level_that_is_not_the_usual_one_is_in_the_headline(runs_file):
    runs = call("compare", runs_file(18), "resnet", "vgg", "--alpha", 0.5)
    assert runs.stdout.splitlines()[0].endswith("γ = 0.75 ruled out, α = 0.5).")
    means = ("--summary", "resnet=76.3,0.4,10", "vgg=76.1,0.5,10", "--metric", "accuracy")
    published = call("compare", *means, "--alpha", 0.5)
    assert published.stdout.splitlines()[0].endswith(", α = 0.5).")


def test_next_step_names_the_missing_pairs(runs_file):
    result = call("compare", runs_file(18), "resnet", "vgg")
    assert "No difference shown between resnet and vgg" in result.stdout
    assert "more pairs (" in result.stdout


def test_json_is_the_result(runs_file):
    result = call("compare", runs_file(25), "resnet", "vgg", "--json")
    answer = json.loads(result.stdout)
    assert (answer["winner"], answer["verdict"]) == ("a", "significant and meaningful")
    assert answer["probability"] == pytest.approx(25 / 29)
    assert answer["interval"]["method"] == "exact"


def test_json_has_no_infinities(tmp_path):
    path = tmp_path / "runs.jsonl"
    rows = [
        {"algorithm": name, "seed": seed, "score": float(name == "a")}
        for name in "ab"
        for seed in range(8)
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    words = ("--test", "paired-t", "--json", "--accept", "constant")
    result = call("compare", path, "a", "b", *words)
    assert json.loads(result.stdout)["tests"][0] == {
        "name": "paired t",
        "statistic": None,
        "pvalue": 0.0,
        "alternative": "two-sided",
    }


@pytest.mark.parametrize(
    ("n_wins", "status", "words"),
    [
        (25, 0, "shown:"),
        (15, 3, "undecided: the claim is that"),
        (2, 1, "refuted: the claim is that"),
    ],
)
def test_gate_passes_only_if_a_outperforms_b(runs_file, n_wins, status, words):
    result = call("compare", runs_file(n_wins), "resnet", "vgg", "--gate")
    assert result.exit_code == status
    assert result.stderr == (
        f"Gate {words} resnet outperforms vgg (with 29 pairs, equals pass in 1.2% of cases, and "
        "a true P(A>B) of 0.75 in 71%).\n"
    )


def test_gate_needs_every_task(runs_file):
    path = runs_file(25, 15)
    assert call("compare", path, "resnet", "vgg", "--gate").exit_code == 3
    refuted = call("compare", runs_file(25, 15, 2), "resnet", "vgg", "--gate")
    assert refuted.exit_code == 1
    assert "Gate refuted: the claim is that resnet outperforms vgg on all of 3 tasks (" in (
        refuted.stderr
    )
    path = runs_file(25, 15)
    assert call("compare", path, "resnet", "vgg", "--gate", "--on", "task0").exit_code == 0


def test_small_differences_do_not_pass_the_gate(runs_file):
    result = call("compare", runs_file(600, n=1000), "resnet", "vgg", "--gate")
    assert result.exit_code == 1
    assert "significant, not meaningful" in result.stdout


def test_losses_are_read_as_losses(runs_file):
    words = ("compare", runs_file(25, metric="loss", sign=-1), "resnet", "vgg")
    answer = json.loads(call(*words, "--json").stdout)
    assert (answer["goal"], answer["winner"]) == ("minimize", "a")
    # P(resnet > vgg) is not that of the higher loss.
    assert "\nloss, lower is better, and > means better; 95% intervals\n" in call(*words).stdout


def test_a_loss_told_to_be_maximized_carries_a_caveat(runs_file):
    path = runs_file(25, metric="loss")
    result = call("compare", path, "resnet", "vgg", "--maximize")
    assert "'loss' usually is to minimize, but was told to maximize" in result.stdout


@pytest.mark.parametrize("metric", ["val_accuracy", "train_accuracy"])
def test_scores_of_data_that_chose_carry_a_caveat(runs_file, metric):
    path = runs_file(25, metric=metric)
    words = ["compare", path, "resnet", "vgg", "--metric", metric]
    assert (
        f"'{metric}' is not of test data by its name: what was trained, tuned or stopped by it "
        "looks better than it is, most of all what was tried most"
    ) in json.loads(call(*words, "--json").stdout)["caveats"]


def test_the_best_epoch_of_a_run_carries_a_caveat(runs_file):
    def list_caveats(metric: str) -> str:
        result = call("compare", runs_file(25, metric=metric), "resnet", "vgg", "--json")
        return " ".join(json.loads(result.stdout)["caveats"])

    told = "'best_test_accuracy' is the best of several by its name, such as of all epochs"
    assert told in list_caveats("best_test_accuracy")
    assert "best of several" not in list_caveats("test_accuracy")


def test_every_test_can_be_asked_for(runs_file):
    names = get_args(TestName)
    words = [word for name in names for word in ("--test", name)]
    sizes = ["--train-size", 800, "--test-size", 200]
    result = call("compare", runs_file(25), "resnet", "vgg", *words, *sizes, "--json")
    pvalues = {test["name"]: test["pvalue"] for test in json.loads(result.stdout)["tests"]}
    assert len(pvalues) == 7
    assert all(0 <= p <= 1 for p in pvalues.values())
    assert pvalues["wilcoxon"] < 0.01 < pvalues["welch t"]


def test_tests_that_ignore_pairs_are_pointed_out(runs_file):
    words = ["compare", runs_file(29), "resnet", "vgg", "--test", "welch-t"]
    doubt = "of the tests, welch t took the runs as independent, although they are paired"
    assert doubt in " ".join(call(*words, "--test", "paired-t").stdout.split())
    assert "took the runs" not in call(*words, "--unpaired").stdout


def test_tests_that_draw_repeat_with_their_seed(runs_file):
    path = runs_file(19)
    words = ["compare", path, "resnet", "vgg", "--test", "sign-flip", "--json", "--seed"]
    outputs = [call(*words, seed).stdout for seed in (1, 1, 2)]
    assert outputs[0] == outputs[1] != outputs[2]


def test_equivalence(runs_file):
    path = runs_file(15)
    wide = call("compare", path, "resnet", "vgg", "--equivalence", 0.01)
    assert "a difference of ±0.01 or more is ruled out (p = " in wide.stdout
    narrow = call("compare", path, "resnet", "vgg", "--equivalence", 0.00001)
    assert "a difference of ±1e-05 or more is not ruled out" in narrow.stdout


def test_sequential_decides_pair_by_pair_beside_the_anytime_interval(runs_file):
    path = runs_file(25)
    answer = json.loads(call("compare", path, "resnet", "vgg", "--sequential", "--json").stdout)
    assert (answer["kind"], answer["winner_name"]) == ("SequentialComparison", "resnet")
    assert answer["interval"]["method"] == "anytime"
    assert answer["n_pairs"] + answer["n_beyond"] == 29
    said = call("compare", path, "resnet", "vgg", "--sequential", "--beta", 0.1).stdout
    assert said.startswith(
        f"Decided for resnet on task0 after {answer['n_pairs']} pairs: P(resnet > vgg)"
    )
    assert "\nWald's test between ½ and γ = 0.75, α = 0.05, β = 0.1:\n" in said
    # ln(.9 / .025) and ln(.1 / .975).
    assert "ends at +3.58 of one, which wins, or -2.28 of both" in " ".join(said.split())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--interval", "wilson"], "--sequential uses the anytime interval, not wilson."),
        (["--unpaired"], "--sequential looks after every pair: leave out --unpaired."),
        (
            ["--test", "wilcoxon", "--gate"],
            "--test, --gate is not for --sequential, which decides by wins alone; --interval "
            "anytime may be looked at after every pair too.",
        ),
    ],
)
def test_what_a_sequential_test_cannot_take_is_refused(options, message, runs_file):
    result = call("compare", runs_file(25), "resnet", "vgg", "--sequential", *options)
    assert message in refused(result)


def test_beta_is_that_of_a_sequential_test(runs_file):
    result = call("compare", runs_file(25), "resnet", "vgg", "--beta", 0.1)
    assert "--beta is the chance that --sequential misses: add that." in refused(result)


def test_the_log_ratios_are_drawn(runs_file, tmp_path):
    file = tmp_path / "ratios.svg"
    words = ("--sequential", "--plot", file, "--view", "ratios")
    assert call("compare", runs_file(25), "resnet", "vgg", *words).exit_code == 0
    for gid in ("log-ratio-a", "log-ratio-b", "upper", "lower"):
        assert f'id="{gid}"' in file.read_text()


def test_several_tasks_get_a_row_each(runs_file):
    result = call("compare", runs_file(25, 24, 15), "resnet", "vgg")
    assert result.stdout.startswith(
        "resnet is better than vgg on at least 2 of 3 tasks; P(resnet > vgg) = 0.736 [0.63, 0.824] "
        "on average over these tasks.\n"
    )
    rows = [line for line in result.stdout.splitlines() if line.startswith("  task")]
    assert [row.split()[0] for row in rows] == ["task", "task0", "task1", "task2"]


def test_wide_files(tmp_path):
    path = tmp_path / "wide.csv"
    rng = np.random.default_rng(0)
    rows = "\n".join(f"{i},{b + 0.01},{b}" for i, b in enumerate(rng.normal(size=20)))
    path.write_text(f"seed,new,old\n{rows}\n")
    result = call("compare", path, "new", "old", "--wide", "--maximize", "--json")
    assert json.loads(result.stdout)["probability"] == 1


@pytest.mark.parametrize("suffix", ["svg", "pdf", "png"])
def test_plot_writes_a_figure(runs_file, tmp_path, suffix):
    figure = tmp_path / f"figure.{suffix}"
    result = call("compare", runs_file(25), "resnet", "vgg", "--json", "--plot", figure)
    assert figure.stat().st_size > 1000
    assert json.loads(result.stdout)
    assert f"Figure written to {figure}" in result.stderr


def test_an_unknown_name_lists_the_nearest(runs_file):
    message = refused(call("compare", runs_file(25), "resent", "vgg"))
    assert "resent" in message
    assert "resnet" in message


def test_missing_names_are_suggested(runs_file):
    path = runs_file(25)
    message = refused(call("compare", path))
    assert f"Name two algorithms of {path}: resnet, vgg." in message
    assert f"outperform compare {path} resnet vgg" in message
    assert "Name the runs file and two algorithms" in refused(call("compare"))
    assert "put names with spaces in quotes" in refused(call("compare", path, "a", "b", "c"))


def test_two_files_are_told_how_to_be_joined(tmp_path):
    paths = [tmp_path / "resnet.csv", tmp_path / "vgg.csv"]
    for path in paths:
        path.write_text("seed,accuracy\n1,0.9\n2,0.8\n")
    first, second = map(str, paths)
    assert refused(call("compare", *paths)).endswith(
        f"Name two algorithms of {first} and {second}: resnet, vgg. "
        f"For example: outperform compare {first} resnet vgg --with {second}"
    )
    assert refused(call("compare", first)).endswith(
        f"For example: outperform compare {first} resnet vgg --with vgg.csv"
    )


def test_a_missing_file_is_named():
    assert "nowhere.csv" in refused(call("compare", "nowhere.csv", "a", "b"))


def test_pairs_are_needed_by_paired_tests(runs_file):
    path = runs_file(25)
    result = call("compare", path, "resnet", "vgg", "--unpaired", "--test", "wilcoxon")
    assert refused(result) == (
        "Error: the test 'wilcoxon' needs pairs, but the runs are compared unpaired. Use "
        "brunner-munzel or welch-t, or pair the runs by a replicate column."
    )


def test_bugs_are_confessed_without_a_traceback(runs_file, monkeypatch):
    from outperform.questions.compare import command

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr(command, "compare_runs", broken)
    words = ["compare", runs_file(25), "resnet", "vgg"]
    assert refused(call(*words)) == (
        "Error: outperform failed unexpectedly (RuntimeError: boom). This is a bug: run the "
        "command again with --debug and report what it prints."
    )
    debugged = call(*words, "--debug")
    assert debugged.exit_code == 2  # 1 would say that a gate is refuted
    assert "Traceback" in debugged.stderr
    assert "RuntimeError: boom" in debugged.stderr


def test_real_runs_of_bert_show_no_difference_between_odd_and_even_seeds(shared_data, tmp_path):
    """A negative control on data that nobody here made: one model against itself."""
    lines = (shared_data / "bert_100_seeds" / "runs.csv").read_text("utf-8-sig").splitlines()
    scores = [line.split(",")[1] for line in lines[1:101]]
    rows = [
        f"{'even' if seed % 2 == 0 else 'odd'},{seed // 2},{score}"
        for seed, score in enumerate(scores)
    ]
    path = tmp_path / "bert.csv"
    path.write_text("algorithm,seed,accuracy\n" + "\n".join(rows))
    result = call("compare", path, "even", "odd", "--json")
    assert json.loads(result.stdout)["verdict"] == "not significant"


def test_sizes_of_splits_are_not_ignored(runs_file):
    result = call("compare", runs_file(25), "resnet", "vgg", "--test-size", 5)
    assert refused(result) == (
        "Error: the train size is missing, and one size says nothing without the other. Pass "
        "--train-size and --test-size (train_size and test_size in Python)."
    )


def test_the_winner_comes_first_whichever_was_named_first(runs_file):
    result = call("compare", runs_file(25), "vgg", "resnet")
    assert result.stdout.splitlines()[0] == (
        "resnet outperforms vgg on task0: P(resnet > vgg) = 0.862 [0.683, 0.961], significant and "
        "meaningful (29 pairs, γ = 0.75 neither shown nor ruled out)."
    )
    assert "P(vgg > resnet) 0.138 [0.0389, 0.317] (exact)" in " ".join(result.stdout.split())


def test_text_and_json_have_the_same_numbers(runs_file):
    words = ["compare", runs_file(25), "resnet", "vgg", "--test", "wilcoxon"]
    answer = json.loads(call(*words, "--json").stdout)
    text = call(*words).stdout
    assert f"resnet           {answer['mean_a']:.4f} ± {answer['sd_a']:.4f}\n" in text
    difference, chance = answer["difference"], answer["interval"]
    bounds = difference["interval"]
    assert f"{difference['value']:+.3g} [{bounds['low']:.3g}, {bounds['high']:.3g}]" in text
    bounds = f"[{chance['low']:.3g}, {chance['high']:.3g}]"
    assert f"P(resnet > vgg)  {answer['probability']:.3g} {bounds} (exact)\n" in text
    assert f"wilcoxon         p = {answer['tests'][0]['pvalue']:.2g} (two-sided)\n" in text


def test_columns_align_whatever_the_script(tmp_path):
    path = tmp_path / "runs.csv"
    rows = [
        f"{name},{task},{seed},0.{80 + seed + (name == '残差网络')}"
        for name in ("残差网络", "vgg")
        for task in ("画像分類", "mnist")
        for seed in range(7)
    ]
    path.write_text("algorithm,task,seed,accuracy\n" + "\n".join(rows), encoding="utf-8")
    lines = call("compare", path, "残差网络", "vgg").stdout.splitlines()
    columns = [sum(1 + (letter > "\u2fff") for letter in line) for line in lines[4:7]]
    assert len(set(columns)) == 1


def test_several_tasks_fit_a_terminal(runs_file):
    lines = call("compare", runs_file(25, 4, 15), "resnet", "vgg").stdout.splitlines()
    assert max(map(len, lines[4:8])) <= 80
    assert [line.split("]  ")[1].strip() for line in lines[5:8]] == [
        "resnet, meaningful  <.001",
        "vgg, meaningful  <.001",
        "not significant      1",
    ]
    assert lines[8] == (
        "  verdict: each task by itself; Holm: its p corrected for all tasks; a task counts above "
        "where that is at most 0.05"
    )


def test_the_table_of_tasks_says_where_other_data_are_not_shown(runs_file):
    words = ["compare", runs_file(25, 4), "resnet", "vgg", "--train-size", 800, "--test-size", 200]
    header, *rows = call(*words).stdout.splitlines()[4:7]
    assert header.endswith("verdict   Holm  p, other data")
    tasks = json.loads(call(*words, "--json").stdout)["tasks"]
    pvalues = [f"{task['population']['pvalue']:.2g}" for task in tasks]
    assert [row.split()[-1] for row in rows] == pvalues
    assert "other data" not in call(*words[:4]).stdout.splitlines()[4]


def test_caveats_fit_a_terminal(runs_file):
    words = ["compare", str(runs_file(25, 29, 15)), "resnet", "vgg", "--interval", "percentile"]
    ours, terminal = pty.openpty()
    environment = os.environ | {"COLUMNS": "60"}
    command = [sys.executable, "-m", "outperform", *words]
    subprocess.run(command, stdout=terminal, env=environment, check=True)
    seen = os.read(ours, 100_000).decode()
    piped = subprocess.run(command, capture_output=True, env=environment, text=True).stdout
    narrow, wide = (text.split("Caveats")[1].split("Next")[0].split("\n") for text in (seen, piped))
    assert max(map(len, narrow[1:])) <= 61 < max(map(len, wide)) <= 96  # 61: with a carriage return
    assert " ".join(narrow[1:]).split() == " ".join(wide).split()


def test_a_figure_that_cannot_be_written_is_refused_first(runs_file):
    result = call("compare", runs_file(25), "resnet", "vgg", "--plot", "figure.jpg")
    assert "cannot save a figure as 'figure.jpg'" in refused(result)
    assert result.stdout == ""


def test_other_columns_of_a_wide_file_may_hold_anything(tmp_path):
    path = tmp_path / "wide.csv"
    rows = "\n".join(f"{i},{i + 0.1},{i},diverged" for i in range(8))
    path.write_text(f"seed,new,old,notes\n{rows}\n")
    assert call("compare", path, "new", "old", "--wide", "--maximize").exit_code == 0


def test_rows_that_sum_up_others_are_left_out_with_a_word(tmp_path):
    path = tmp_path / "runs.csv"
    rows = [f"{name},{seed},{seed + (name == 'a') / 10}" for name in "ab" for seed in range(8)]
    path.write_text("\n".join(["algorithm,seed,score", *rows, "a,mean,3.6", "b,Mean,3.5"]))
    result = call("compare", path, "a", "b")
    assert "(8 pairs" in result.stdout
    assert "rows 18, 19 sum up other rows" in " ".join(result.stdout.split())


def test_runs_of_another_file_are_joined(tmp_path):
    for name, shift in (("new", 0.01), ("old", 0.0)):
        rows = [f"{seed},{0.8 + seed / 1000 + shift}" for seed in range(20)]
        (tmp_path / f"{name}.csv").write_text("seed,accuracy\n" + "\n".join(rows))
    words = [tmp_path / "new.csv", "new", "old", "--with", tmp_path / "old.csv"]
    assert json.loads(call("compare", *words, "--json").stdout)["winner"] == "a"
    assert "20 pairs" in call("compare", *words).stdout


def test_wide_files_are_joined_too(tmp_path):
    for name, shift in (("new", 0.01), ("old", 0.0)):
        (tmp_path / f"{name}.csv").write_text(f"{name}\n" + "\n".join("123456789") + f"\n{shift}\n")
    words = [tmp_path / "new.csv", "new", "old", "--with", tmp_path / "old.csv", "--wide"]
    answer = json.loads(call("compare", *words, "--maximize", "--json").stdout)
    assert (answer["n_a"], answer["n_b"]) == (10, 10)


@pytest.mark.parametrize("more", [(), ("--gate",)])
def test_a_name_cannot_steer_the_terminal(runs_file, more):
    path = runs_file(25)
    path.write_text(path.read_text().replace("vgg", "vgg\x1b[2Kresnet"))
    words = ["compare", str(path), "resnet", "vgg\x1b[2Kresnet", *more]
    shown = CliRunner().invoke(main, words, color=True).output
    assert "\x1b[2K" not in shown
    assert shown.count(r"vgg\x1b[2Kresnet") >= 3
