"""Every result says what it is about: in its first lines, and in its JSON."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from outperform.cli import main
from outperform.questions.audit.result import Audit, SelfAudit
from outperform.questions.audit.task_results import TaskAudits, TaskSelfAudits
from outperform.questions.best_of.result import BestOf, BestOfComparison, BestOfEach
from outperform.questions.check.result import Reproducibility
from outperform.questions.compare.decision import Decision
from outperform.questions.compare.published import PublishedComparison
from outperform.questions.compare.published_tasks import PublishedTasks, PublishedTasksTried
from outperform.questions.compare.result import Comparison
from outperform.questions.compare.sequential import SequentialComparison
from outperform.questions.compare.task_results import TaskComparisons
from outperform.questions.decompose.result import (
    CrossedDecomposition,
    Decomposition,
    Decompositions,
)
from outperform.questions.decompose.search_curves import SearchCurves
from outperform.questions.plan.budget_result import BudgetPlan
from outperform.questions.plan.result import Plan
from outperform.questions.quality.result import Quality
from outperform.questions.rank.result import Ranking
from outperform.questions.simulate.result import ErrorRates, SeedsCurve
from outperform.questions.sota.result import (
    BestOfEquals,
    LeaderboardAssessment,
    PredictionAssessment,
)
from outperform.runs.scope import Scope, join_scopes, varied_by
from tests.test_rooms import list_drawn_kinds

STUDY = """
[tuning]
trials = 2
[[task]]
data = "iris"
metric = "accuracy"
split = "hold-out"
[[pipeline]]
name = "knn"
estimator = "sklearn.neighbors.KNeighborsClassifier"
[pipeline.space]
n_neighbors = {integers = [1, 20], default = 5}
[[pipeline]]
name = "tree"
estimator = "sklearn.tree.DecisionTreeClassifier"
[[design]]
kind = "ideal"
replicates = 8
"""
SIZES = "; if every run also divides the data anew, add --train-size and --test-size"
# The command that makes a result, and its second line.
COMMANDS = {
    Comparison: (
        "compare runs.csv new old --on easy",
        f"Seeds varied, so this is about this dataset{SIZES}.",
    ),
    SequentialComparison: (
        "compare runs.csv new old --on easy --sequential",
        "Seeds varied, so this is about this dataset.",
    ),
    TaskComparisons: (
        "compare runs.csv new old",
        f"Seeds varied, so this is about these tasks{SIZES}.",
    ),
    PublishedComparison: (
        "compare --summary new=76.3,0.4,10 old=75.1,0.5,10",
        "Runs varied, so this is about this dataset.",
    ),
    PublishedTasks: (
        "compare --summary table.csv new old --n 5 --maximize",
        "Runs varied, so this is about these tasks.",
    ),
    PublishedTasksTried: (
        "compare --summary table.csv new old --maximize",
        "Runs varied, so this is about these tasks.",
    ),
    Ranking: (
        "rank runs.csv",
        "Seeds varied, so this is about these tasks (2 tasks are too few to tell of others; "
        "--tasks sampled asks anyway).",
    ),
    Audit: (
        "audit runs.csv new old --on easy --draws 50",
        f"Seeds varied, so this is about this dataset{SIZES}.",
    ),
    SelfAudit: (
        "audit runs.csv new --on easy",
        "Seeds varied, so this is about this dataset.",
    ),
    TaskAudits: (
        "audit runs.csv new old --draws 50",
        f"Seeds varied, so this is about these tasks{SIZES}.",
    ),
    TaskSelfAudits: (
        "audit runs.csv new",
        "Seeds varied, so this is about these tasks.",
    ),
    Plan: (
        "plan",
        "Seeds or splits of one dataset will vary, so this is about that dataset.",
    ),
    ErrorRates: (
        "simulate --rule verdict",
        "Simulated comparisons varied, so this is about normal scores.",
    ),
    SeedsCurve: (
        "simulate runs.csv new --on easy --rule welch-t --draws 100",
        "Random samples of these runs varied, so this is about runs of this algorithm on this "
        "dataset.",
    ),
    BestOf: (
        "best-of runs.csv new --on easy --draws 100",
        "Seeds varied, so this is about this dataset.",
    ),
    BestOfComparison: (
        "best-of runs.csv new old --on easy --draws 100",
        "Seeds varied, so this is about this dataset.",
    ),
    BestOfEach: (
        "best-of runs.csv --on easy --draws 100",
        "Seeds varied, so this is about this dataset.",
    ),
    BestOfEquals: (
        "sota --classifiers 10 --test-size 300 --accuracy 0.9",
        "Examples vary, so this is about equally good classifiers on test sets of 300 examples.",
    ),
    LeaderboardAssessment: (
        "sota board.csv --test-size 300",
        "Examples vary, so this is about these trained models.",
    ),
    PredictionAssessment: (
        "sota --predictions predictions.csv",
        "Examples varied, so this is about these trained models.",
    ),
    Decomposition: (
        "decompose sources.csv",
        "Split and init varied, so this is about this dataset.",
    ),
    CrossedDecomposition: (
        "decompose crossed.csv --crossed split,init",
        "Split and init varied, so this is about this dataset.",
    ),
    SearchCurves: (
        "decompose study.db --curves searches.svg",
        "All sources varied, so this is about this dataset.",
    ),
    Quality: (
        "quality study.db",
        "Splits of this dataset and seeds varied, so this is about this dataset.",
    ),
    BudgetPlan: (
        "plan study.toml --budget 500",
        "Searches and seeds will vary, so this is about this dataset.",
    ),
    Reproducibility: (
        "check study.toml --seeds 2 --repeats 2 --workers 1",
        "Seeds and repeats of each seed varied, so this is about these pipelines on this machine.",
    ),
}


def call(line: str):
    result = CliRunner().invoke(main, line.split())
    assert result.exit_code == 0, result.output
    return result


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made, rng = tmp_path_factory.mktemp("scopes"), np.random.default_rng(0)
    rows = [
        f"{name},{task},{seed},{score:.4f},{score + 0.01:.4f}"
        for task in ("easy", "hard")
        for name, mean in (("new", 0.9), ("old", 0.88))
        for seed, score in enumerate(rng.normal(mean, 0.01, 20))
    ]
    files = {
        "runs.csv": ["algorithm,task,seed,accuracy,val_accuracy", *rows],
        "table.csv": ["Method,x,y", "new,9 ± 1,8 ± 1", "old,7 ± 1,8 ± 1"],
        "board.csv": ["entry,accuracy", "x,0.93", "y,0.9", "z,0.9"],
        "predictions.csv": ["label,one,two", *(f"{i % 2},{i % 2},{i // 3 % 2}" for i in range(60))],
        "sources.csv": [
            "source,score",
            *(f"{s},{x}" for s in ("split", "init", "noise", "all") for x in rng.random(5)),
        ],
        "crossed.csv": [
            "split,init,score",
            *(f"{i},{j},{rng.random()}" for i in range(3) for j in range(3)),
        ],
        "study.toml": [STUDY],
    }
    for name, lines in files.items():
        (made / name).write_text("\n".join(lines))
    return made


@pytest.fixture
def here(folder, monkeypatch):
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def store(here):
    if not (here / "study.db").exists():
        call("run study.toml --engine inline")
    return here / "study.db"


def test_all_kinds_of_results_are_here():
    # Decompositions are those of every algorithm and task, each of which is printed by itself; what
    # a decision is about stands below what its study costs: tests/cli/test_run_until_decided.py.
    assert {*COMMANDS, Decompositions, Decision} == {*list_drawn_kinds()}


def find_scopes(value):
    """Scopes of a result, and of those that it is made of."""
    if isinstance(value, dict):
        if "scope" in value:
            yield value["scope"]
        for item in value.values():
            yield from find_scopes(item)
    elif isinstance(value, list):
        for item in value:
            yield from find_scopes(item)


@pytest.mark.parametrize("kind", COMMANDS, ids=lambda kind: kind.__name__)
def test_what_it_is_about_comes_second_and_is_in_the_json(kind, here, request):
    if kind in (SearchCurves, Quality):
        request.getfixturevalue("store")
    line, expected = COMMANDS[kind]
    assert call(line).stdout.splitlines()[1] == expected
    scopes = list(find_scopes(json.loads(call(f"{line} --json").stdout)))
    assert scopes
    for scope in scopes:
        assert scope.keys() == {"varied", "about"}
        assert scope["about"]
        assert scope["varied"]
        assert all(scope["varied"])


def test_a_page_says_it_too(tmp_path):
    from outperform import compare
    from outperform.render.html import write_report

    write_report(compare([3, 4, 5, 6, 7, 8], [1, 2, 3, 4, 5, 7]), tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "</h2>\n<p>Runs varied, so this is about this dataset.</p>" in page


def test_sizes_are_asked_for_only_where_they_could_be_told(here):
    def second(words):
        return call(words).stdout.splitlines()[1]

    for words in ("--unpaired", "--train-size 80 --test-size 20"):
        assert SIZES not in second(f"compare runs.csv new old --on easy {words}")


def test_trials_of_a_search_are_about_one_split(store):
    line = call(f"best-of {store} --trials --n 2 --draws 100").stdout.splitlines()[1]
    assert line == "Hyperparameters varied, so this is about this split of this dataset."


def test_words_of_columns():
    assert varied_by(["Split"]) == ("splits of this dataset",)
    assert varied_by(["run"]) == ("runs",)


def test_scopes_of_several_tasks_are_about_them():
    seeds, splits = Scope(("seeds",), "x"), Scope(("splits", "seeds"), "x", how="will vary")
    assert join_scopes([seeds, splits], ["a", "a"]) == Scope(("seeds", "splits"), "x")
    assert str(join_scopes([splits, seeds], ["a", "b"])) == (
        "Splits and seeds will vary, so this is about these tasks"
    )
