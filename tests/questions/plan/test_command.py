"""The command `outperform plan`, as a person meets it."""

import json

import pytest

from tests.command_line import call


@pytest.fixture
def pilot_file(tmp_path):
    path = tmp_path / "pilot.csv"
    rows = [
        f"{name},{task},{seed},{seed + (name == 'new') * (0.5 if seed < wins else -0.5)}"
        for task, wins in (("easy", 16), ("hard", 12))
        for name in ("new", "old")
        for seed in range(20)
    ]
    path.write_text("algorithm,task,seed,accuracy\n" + "\n".join(rows))
    return path


def test_plan_says_the_number_first():
    result = call("plan")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[0] == (
        "54 pairs make a true P(A>B) of 0.75 significant and meaningful with power 0.95 (γ = 0.75, "
        "α = 0.05; Noether's formula says 29)."
    )
    row = next(line for line in result.stdout.splitlines() if line.startswith("  0.75"))
    assert row.split() == ["0.75", "29", "71%", "54"]


def test_plan_judges_a_number_of_pairs_and_its_cost():
    result = call("plan", "--pairs", 10, "--seconds-per-fit", 900)
    text = " ".join(result.stdout.split())
    assert "With 10 pairs" in text
    assert "time for 20 fits 5.0 h" in text


def test_plan_shows_what_deciding_after_every_pair_costs():
    lines = call("plan", "--seconds-per-fit", 600).stdout.splitlines()
    row = next(line for line in lines if line.startswith("  on average, between equals"))
    assert row.split(maxsplit=4)[-1].split() == ["54", "(18.0", "h)", "34.3", "(11.4", "h)"]


def test_json_has_the_table():
    answer = json.loads(call("plan", "--gamma", 0.8, "--json").stdout)
    assert (answer["n_noether"], answer["n_required"]) == (21, 35)
    assert [row["gamma"] for row in answer["table"]][4] == 0.75


def test_pilot(pilot_file):
    result = call("plan", pilot_file, "new", "old", "--on", "easy", "--json")
    answer = json.loads(result.stdout)
    assert answer["probability"] == 0.8
    assert "the pilot of 20 pairs" in answer["caveats"][0]
    assert (answer["better"], answer["worse"]) == ("new", "old")


def test_a_pilot_may_be_in_two_files(tmp_path):
    for name, shift in (("new", 0.5), ("old", 0)):
        rows = [f"{seed},{seed + (shift if seed < 16 else -shift)}" for seed in range(20)]
        (tmp_path / f"{name}.csv").write_text("seed,accuracy\n" + "\n".join(rows))
    words = [tmp_path / "new.csv", "new", "old", "--with", tmp_path / "old.csv", "--json"]
    assert json.loads(call("plan", *words).stdout)["probability"] == 0.8


def test_pilot_with_several_tasks_asks_which(pilot_file):
    result = call("plan", pilot_file, "new", "old")
    assert result.exit_code == 2
    assert "has 2 tasks (easy, hard): plan for one with --on TASK." in " ".join(
        result.stderr.split()
    )


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        (
            [],
            "run both algorithms with the same 54 seeds, decide nothing before all are done, then",
        ),
        (["--pairs", 10], "with the same 54 seeds, not 10, decide"),
        (["--pairs", 60], "with the same 60 seeds, decide"),
        (["--gamma", 0.8, "--interval", "wilson"], "compare --gamma 0.8 --interval wilson`."),
    ],
)
def test_the_next_step_fits_the_plan(words, advice):
    assert advice in call("plan", *words).stdout.splitlines()[-1]


def test_options_of_a_pilot_need_one():
    result = call("plan", "--wide", "--on", "easy")
    assert result.exit_code == 2
    assert "--on, --wide needs a pilot: RUNS A B." in result.stderr


def test_plot(tmp_path):
    figure = tmp_path / "plan.svg"
    assert call("plan", "--plot", figure).exit_code == 0
    assert figure.stat().st_size > 1000


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--gamma", 0.4], "gamma is 0.4. Pass a value from 0.5 up to, not including, 1."),
        (["--gamma", 0.5], "P(A>B) = 0.5 is no advantage of A, so no number of pairs shows one."),
        (["--alpha", 5], "alpha is 5.0. Pass a value between 0 and 1 (5% is 0.05)."),
        (["--beta", 0.01], "never stays above 0.99. Pass a beta above alpha/2, or plan for"),
        (["--gamma", 0.501], "takes more than 300,000 pairs. Plan for a larger P(A>B)"),
        (
            ["file.csv"],
            "A pilot is a runs file and two algorithms: RUNS A B. A study alone is planned for a "
            "--budget of fits, or --hours.",
        ),
    ],
)
def test_impossible_plans_are_refused_with_the_reason(words, message):
    result = call("plan", *words)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())
    assert "Traceback" not in result.stderr


def test_a_power_that_only_the_pilot_reaches(pilot_file):
    result = call("plan", pilot_file, "new", "old", "--on", "easy", "--beta", 0.02, "--json")
    answer = json.loads(result.stdout)
    assert answer["power"] >= 0.98
    assert answer["table"] == []


def test_the_next_step_knows_what_re_splits_cannot_show():
    sizes = ["--train-size", 1136, "--test-size", 661]
    elsewhere = (
        "To conclude for other data like these, collect more of them, or use several datasets."
    )
    assert call("plan", *sizes).stdout.splitlines()[-1].endswith(elsewhere)
    assert elsewhere not in call("plan").stdout
