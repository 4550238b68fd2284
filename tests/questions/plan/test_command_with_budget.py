"""The command `outperform plan` with a budget, as a person meets it."""

import json

import pytest

from outperform.store import open_store
from tests.command_line import call

STUDY = """
name = "toy"
[tuning]
trials = {trials}
[[task]]
data = "iris"
metric = "accuracy"
[[pipeline]]
name = "knn"
estimator = "sklearn.neighbors.KNeighborsClassifier"
[pipeline.space]
n_neighbors = {{integers = [1, 15], default = 5}}
[[pipeline]]
name = "tree"
estimator = "sklearn.tree.DecisionTreeClassifier"
[pipeline.space]
max_depth = {{integers = [1, 9], default = 5}}
[[design]]
kind = "fix-hopt"
replicates = 3
repetitions = 2
"""


@pytest.fixture
def study_file(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text(STUDY.format(trials=50))
    return path


def test_fits_beside_a_study_file_are_pointed_at(study_file):
    store = study_file.with_suffix(".db")
    hint = "has fits, which this did not look at"
    assert hint not in call("plan", study_file, "--budget", 2000).stdout
    with open_store(store) as opened:
        opened.set_meta("blocked", {})
    caveats = json.loads(call("plan", study_file, "--budget", 2000, "--json").stdout)["caveats"]
    assert f"{store} {hint}: plan {store} instead" in caveats


def test_a_study_file_is_planned_with_typical_constants(study_file):
    result = call("plan", study_file, "--budget", 2000)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0] == (
        "2,000 fits are best spent on 15 searches of 50 trials with 16 replicates each (fix-hopt): "
        "the mean of a pipeline is then known to 0.12 standard deviations of a run (ideal: 0.23; "
        "fix-hopt, one search: 0.4); in `outperform compare` it shows a P(A>B) of 0.677 by the "
        "means of 15 searches, 0.903 by 15 wins (ideal: a P(A>B) of 0.809 by the means of 19 "
        "searches, 0.890 by 19 wins)."
    )
    assert lines[-1].endswith("`outperform compare STORE A B`, which tests the means of searches.")
    ideal = next(line for line in lines if line.startswith("  ideal"))
    assert ideal.split()[:6] == ["ideal", "19", "50", "1", "1,938", "0.229"]
    begin = lines.index("  Write into the study file:") + 1
    assert [line.strip() for line in lines[begin : begin + 9]] == [
        *("[tuning]", "trials = 50"),
        *("[[design]]", 'kind = "ideal"', "replicates = 15"),
        *("[[design]]", 'kind = "fix-hopt"', "replicates = 16", "repetitions = 15"),
    ]
    assert "typical of published case studies, not measured on yours" in result.stdout


def test_hours_need_to_know_what_a_fit_takes(study_file):
    result = call("plan", study_file, "--hours", 12)
    assert result.exit_code == 2
    assert "how long a fit of knn on iris takes is not known" in " ".join(result.stderr.split())
    told = call("plan", study_file, "--hours", 12, "--seconds-per-fit", 60, "--json")
    answer = json.loads(told.stdout)
    assert (answer["unit"], answer["budget"]) == ("seconds", 43200)
    assert max(design["n_fits"] for design in answer["designs"]) == 720


def test_a_store_is_planned_with_what_it_measured(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text(STUDY.format(trials=2))
    assert call("run", path, "--engine", "inline").exit_code == 0
    figure = tmp_path / "budget.svg"
    words = [path.with_suffix(".db"), "--budget", 100, "--gamma", 0.8, "--plot", figure, "--json"]
    answer = json.loads(call("plan", *words).stdout)
    assert answer["kind"] == "BudgetPlan"
    assert answer["constants"][0]["typical"] is False
    assert answer["rates"] == {"gamma": 0.8, "alpha": 0.05, "beta": 0.05}
    assert [each["pipeline"] for each in answer["variations"]] == ["knn", "tree"]
    names = {curve["name"] for curve in answer["curves"]}
    assert {design["name"] for design in answer["designs"]} <= names
    assert answer["recommended"] in names
    assert figure.stat().st_size > 1000
    one = call("plan", path.with_suffix(".db"), "knn", "tree", "--on", "iris", *words[1:3])
    assert one.exit_code == 0
    hours = call("plan", path.with_suffix(".db"), "--hours", 0.05)
    assert hours.stdout.startswith("3.0 min of fits are best spent on ")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["--budget", 100],
            "A budget needs a study: STORE or STUDY.toml, and A B if you like.",
        ),
        (
            ["{csv}", "--budget", 100],
            "runs.csv is neither the store of a study nor a study file. Name one of the two: a "
            "table of runs does not say what was searched, and at what cost.",
        ),
        (["{study}", "--budget", -5], "budget is -5. Pass a positive number."),
        (["{study}", "--budget", 50], "the budget is 50 fits, but one search of 50 trials"),
        (["{study}", "--budget", 50, "--hours", 1], "Pass one of the two: budget or hours."),
        (["{study}", "--budget", 500, "--pairs", 3], "--pairs is not for a budget."),
        (
            ["{study}", "--budget", 500, "--seconds-per-fit", 3],
            "--seconds-per-fit is for --hours: a --budget is of fits.",
        ),
        (["{study}", "--budget", 500, "--gamma", 2], "gamma is 2.0."),
        (["{study}", "knn", "tre", "--budget", 500], "study.toml has no pipeline 'tre'."),
        (["missing.toml", "--budget", 500], "missing.toml"),
        (["missing.db", "--budget", 500], "missing.db"),
    ],
)
def test_what_cannot_be_planned_is_refused(words, message, study_file, tmp_path):
    csv = tmp_path / "runs.csv"
    csv.write_text("algorithm,seed,accuracy\na,0,0.5\nb,0,0.4\n")
    given = [str(word).format(csv=csv, study=study_file) for word in words]
    result = call("plan", *given)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())
    assert "Traceback" not in result.stderr
