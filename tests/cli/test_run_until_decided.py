"""`outperform run --until-decided`: no more fits than decide, by a rule that stays."""

import json
import re
from itertools import pairwise

import pytest

import outperform as op
from outperform.store import open_store
from outperform.study.study_file import read_study
from tests.cli.running import call, run, run_here, write_study


def test_it_stops_as_soon_as_the_pair_is_decided(tmp_path):
    write_study(tmp_path, replicates=60, kind="fix-hopt")
    said = run(tmp_path, "--until-decided", "a", "b")
    ((decided, scope),) = [
        pair for pair in pairwise(said.splitlines()) if pair[0].startswith("Decided")
    ]
    # Nine wins in a row are the fewest that decide, and nothing is decided with fewer.
    assert (
        decided
        == "Decided for a after 9 of the 60 replicates that the study allows, each tuned once."
    )
    assert scope == (
        "Seeds varied, so this is about this split of this dataset, with the hyperparameters that "
        "one search found."
    )
    assert "24 fits done now, 0 were recorded before, 0 failed" in said  # 2 · (3 + 9)
    assert "9 pairs: 9 won by a, 0 by b, 0 tied; log ratio +3.65 for a, -6.24 for b\n" in said


def test_repetitions_are_not_run_to_decide(tmp_path):
    write_study(tmp_path, replicates=9, kind="fix-hopt")
    with (tmp_path / "study.toml").open("a") as study:
        study.write("repetitions = 5\n")
    said = run(tmp_path, "--until-decided", "a", "b")
    assert "24 fits done now, 0 were recorded before, 0 failed" in said  # 2 · (3 + 9)


def test_replicates_recorded_before_are_not_counted_among_the_first(tmp_path):
    write_study(tmp_path, replicates=40, kind="fix-hopt")
    run(tmp_path)
    with open_store(tmp_path / "study.db") as store:
        before = store.get_meta("study")
    said = run(tmp_path, "--until-decided", "a", "b")
    assert "9 pairs: 9 won by a, 0 by b, 0 tied" in said
    assert (
        "Decided for a after 9 of the 40 replicates that the study allows, each tuned once.\n"
        in said
    )
    assert "0 fits done now" in said
    with open_store(tmp_path / "study.db") as store:
        assert store.get_meta("study") == before
    assert "(40 pairs" in call("compare", tmp_path / "study.db", "a", "b").stdout


def test_the_store_is_that_of_the_whole_study_when_it_stops_early(tmp_path):
    write_study(tmp_path, replicates=60, kind="fix-hopt")
    said = run(tmp_path, "--until-decided", "a", "b")
    n_done = int(re.search(r"(\d+) fits done now", said)[1])
    assert n_done < 126
    status = call("status", tmp_path / "study.db").stdout
    assert f"{n_done} fits done, 0 failed of the 126 that the study needs" in status
    assert "Note" not in run(tmp_path)  # nothing has changed


def test_of_several_designs_the_one_that_is_compared_decides(tmp_path):
    write_study(tmp_path, replicates=10, kind="ideal")
    with (tmp_path / "study.toml").open("a") as study:
        study.write('[[design]]\nkind = "fix-hopt"\nreplicates = 50\n')
    said = run(tmp_path, "--until-decided", "a", "b")
    assert "of the 10 replicates that the study allows.\n" in said


def test_equals_are_run_until_an_advantage_that_matters_is_ruled_out(tmp_path):
    write_study(tmp_path, replicates=80, gain=0.0, kind="fix-hopt")
    said = run(tmp_path, "--until-decided", "a", "b")
    # Each tie takes ½ ln(1.5 · .5) = -.1438 from both: 21 make -3.02, the first below -2.970.
    assert (
        "Decided after 21 of the 80 replicates that the study allows, each tuned once: an "
        "advantage of a or b as large as γ = 0.75 was ruled out.\n"
    ) in said
    assert "48 fits done now" in said  # 2 · (3 + 21)
    assert "\nNext: outperform compare study.db a b --sequential\n" in said


def test_it_stops_where_nothing_can_be_decided_any_more(tmp_path):
    write_study(tmp_path, replicates=20, gain=0.0, kind="fix-hopt")
    said = run(tmp_path, "--until-decided", "a", "b", status=3)
    # After 8 ties, 12 wins would make 12 · .4055 - 8 · .1438 = 3.72; after 9, 11 make 3.17 only.
    assert (
        "Undecided between a and b after 9 of the 20 replicates that the study allows, each tuned "
        "once, as 11 more could not decide it.\n"
    ) in said
    assert "24 fits done now" in said  # 2 · (3 + 9)
    assert "its power was 0.45 in place of 0.95" in said.replace("\n    ", " ")
    assert (
        "\nNext: outperform compare study.db a b --sequential; to decide it with the power asked "
        "for, 0.95, let the study have 80 replicates, and go on with --new-rule.\n"
    ) in said
    study = (tmp_path / "study.toml").read_text()
    (tmp_path / "study.toml").write_text(study.replace("replicates = 20", "replicates = 80"))
    assert "Decided after 21" in run(tmp_path, "--until-decided", "a", "b", "--new-rule")


def test_only_the_two_that_are_asked_about_are_trained(tmp_path, monkeypatch):
    write_study(tmp_path, replicates=60, kind="fix-hopt")
    monkeypatch.chdir(tmp_path)
    study = (tmp_path / "study.toml").read_text()
    third = '[[pipeline]]\nname = "c"\nfunction = "training:fit_c"\nsources = ["init"]\n'
    code = (tmp_path / "training.py").read_text()
    other = "def fit_c(params, split, seeds):\n    return {'valid': 0.5, 'test': 0.5}\n"
    (tmp_path / "training.py").write_text(code + other)
    (tmp_path / "study.toml").write_text(study.replace("[[design]]", f"{third}[[design]]"))
    said = run(tmp_path, "--until-decided", "a", "b")
    assert "\nOnly these two are trained, not c.\n" in said
    assert "24 fits done now, 0 were recorded before, 0 failed" in said  # 2 · (3 + 9)
    assert (
        "Decided for a after 9 of the 60 replicates that the study allows, each tuned once." in said
    )
    # What nobody asked for is not missing, and a ranking of all says whom it leaves out.
    assert "still to be done" not in said
    assert "still to be done" not in call("compare", "study.db", "a", "b").stdout
    assert "left out, as none of their runs has a score: c" in call("rank", "study.db").stdout
    assert "162 fits done now, 24 were recorded before" in run(tmp_path)  # 2 · 51 and 60 of c


def test_a_study_too_small_to_decide_is_refused_before_the_first_fit(tmp_path):
    write_study(tmp_path, replicates=8)
    assert run(tmp_path, "--until-decided", "a", "b", status=2) == (
        "Error: 8 pairs can decide nothing between ½ and γ = 0.75 (α = 0.05, β = 0.05): whoever is "
        "better must win 9 in a row at least.\n"
        "Let the study have 80 replicates, which is the most that are needed, or 9 at the very "
        "least; or pass a larger gamma.\n"
    )
    assert not (tmp_path / "study.db").exists()


def test_a_decision_is_what_python_gives_as_json(tmp_path, monkeypatch):
    write_study(tmp_path, replicates=60, kind="fix-hopt")
    result = run_here(tmp_path, "--until-decided", "a", "b", "--json", "--workers", "1")
    assert result.exit_code == 0, result.output
    printed = json.loads(result.stdout)
    assert (printed["outcome"], printed["winner"], printed["winner_name"]) == ("decided", "a", "a")
    assert (printed["n_allowed"], printed["n_replicates"], printed["n_beyond"]) == (60, 9, 0)
    assert [look["pairs"] for look in printed["looks"]] == [*range(1, 10)]
    assert printed["looks"][-1]["log_ratio_a"] >= printed["rule"]["upper"]
    assert "9 pairs: 9 won by a" in result.stderr
    monkeypatch.chdir(tmp_path)
    decision = op.run_until_decided(
        read_study("study.toml"), "python.db", "a", "b", engine="inline"
    )
    assert decision.to_dict() == printed
    assert str(decision).startswith("Decided for a after ")
    html = decision._repr_html_()
    assert "Decided for a after" in html
    assert "<svg" in html


def test_what_an_intended_stop_left_out_is_not_missing(tmp_path, monkeypatch):
    write_study(tmp_path, replicates=60)
    monkeypatch.chdir(tmp_path)
    run(tmp_path, "--until-decided", "a", "b")
    compared = json.loads(call("compare", "study.db", "a", "b", "--json").stdout)
    # The exact interval holds for one look only, and the run has looked again and again.
    assert compared["interval"]["method"] == "anytime"
    caveats = compared["caveats"]
    assert not [caveat for caveat in caveats if "still to be done" in caveat]
    (stop,) = [caveat for caveat in caveats if "the run stopped" in caveat]
    assert re.fullmatch(
        r"the run stopped after \d+ of 60 replicates, as soon as a and b were decided: only an "
        r"anytime interval allows for that",
        stop,
    )
    # Neither a run that goes on and is interrupted nor a study cut down to the stop undoes it.
    n_stopped = int(stop.split()[4])
    study = (tmp_path / "study.toml").read_text()
    (tmp_path / "study.toml").write_text(study.replace("60", str(n_stopped)))
    run(tmp_path)
    assert "(anytime)" in call("compare", "study.db", "a", "b").stdout
    (tmp_path / "study.toml").write_text(study)
    run(tmp_path)  # to its end, which takes no look back
    said = call("compare", "study.db", "a", "b").stdout
    assert "the run stopped" not in said
    assert "(anytime)" in said


def test_another_rule_after_a_look_is_refused_unless_told(tmp_path, monkeypatch):
    write_study(tmp_path, replicates=60, kind="fix-hopt")
    monkeypatch.chdir(tmp_path)
    decide = ("--until-decided", "a", "b")
    assert run_here(tmp_path, *decide).exit_code == 0
    changed = run_here(tmp_path, *decide, "--gamma", "0.8", "--alpha", "0.01", "--beta", "0.1")
    assert changed.exit_code == 2
    assert changed.stdout == ""
    assert changed.stderr == (
        "Error: study.db has been looked at by one rule, a against b on toy by Wald's test between "
        "½ and γ = 0.75, α = 0.05, β = 0.05, at most 60 pairs of fix-hopt, and this is another: a "
        "against b on toy by Wald's test between ½ and γ = 0.8, α = 0.01, β = 0.1, at most 50 "
        "pairs of fix-hopt.\n"
        "Go on by the first, with its options, names and number of replicates; or take the other "
        "with --new-rule (new_rule=True in Python), which every later result of this store will "
        "tell.\n"
    )
    told = run_here(tmp_path, *decide, "--gamma", "0.8", "--new-rule")
    assert told.exit_code == 0, told.output
    doubt = "2 sequential tests were begun here (the rule was changed), and chances to err add up"
    assert doubt in told.stdout.replace("\n    ", " ")
    assert told.stdout.endswith(
        "\nNext: outperform compare study.db a b --sequential --gamma 0.8\n"
    )
    for words in (("compare", "study.db", "a", "b"), ("rank", "study.db")):
        assert doubt in call(*words).stdout.replace("\n    ", " ")
    status = call("status", "study.db")
    for rule, n_pairs in (("γ = 0.75", 9), ("γ = 0.8", 8)):
        (line,) = [each for each in status.stdout.splitlines() if rule in each]
        assert line.startswith("Looked at after every pair, a against b on toy by Wald's test")
        assert line.endswith(f"decided for a on toy after {n_pairs} pairs.")
    kept = json.loads(call("status", "study.db", "--json").stdout)["sequential"]
    assert [(each["rule"]["gamma"], len(each["looks"])) for each in kept] == [(0.75, 9), (0.8, 8)]


def test_the_rule_and_what_it_costs_are_said_before_the_first_fit(tmp_path):
    write_study(tmp_path, replicates=40)
    said = run(tmp_path, "--until-decided", "a", "b", "--dry-run").splitlines()
    assert said[1] == (
        "Deciding between a and b by Wald's test between ½ and γ = 0.75, α = 0.05, β = 0.05: at "
        "most 40 pairs, on average 24.8 where one wins 75% of them and 30.6 between equals; the "
        "test may take 80, and ended after 40 its power is 0.80 in place of 0.95."
    )
    assert not (tmp_path / "study.db").exists()


@pytest.mark.parametrize("option", [("--gamma", "0.8"), ("--beta", "0.1"), ("--new-rule",)])
def test_a_rule_is_refused_where_nothing_is_decided(option, tmp_path):
    write_study(tmp_path)
    assert f"{option[0]} is for --until-decided A B." in run(tmp_path, *option, status=2)


def test_what_to_do_after_a_decision_allows_for_runs_that_failed(tmp_path, monkeypatch):
    write_study(tmp_path, replicates=60)
    code = (tmp_path / "training.py").read_text()
    once = "def fit_b(params, split, seeds, refit):\n    assert not refit or seeds['init'] % 7"
    (tmp_path / "training.py").write_text(code.replace("def fit_b(params, split, seeds):", once))
    said = run(tmp_path, "--until-decided", "a", "b")
    (line,) = [each for each in said.splitlines() if each.startswith("Next: outperform ")]
    assert line.endswith("compare study.db a b --sequential --drop-incomplete")
    monkeypatch.chdir(tmp_path)
    assert call(*line.split()[2:]).exit_code == 0


@pytest.mark.parametrize(
    ("kind", "pair", "message"),
    [
        ("ideal", ("a", "bb"), "the study has no pipeline 'bb'"),
        (
            "variance",
            ("a", "b"),
            "deciding adds replicates, but the study has designs without pairs",
        ),
    ],
)
def test_a_pair_that_cannot_be_decided_is_refused(kind, pair, message, tmp_path):
    write_study(tmp_path, kind=kind)
    assert message in run(tmp_path, "--until-decided", *pair, status=2)
    assert not (tmp_path / "study.db").exists()
