"""The command `outperform decompose`, as a person meets it."""

import itertools
import json
import sqlite3
from contextlib import closing

import numpy as np
import pytest

from outperform import __version__
from outperform.engines import InlineEngine
from outperform.questions.decompose.answer import decompose, decompose_crossed
from outperform.runner import describe_study, run_fits
from outperform.store import open_store
from outperform.study.designs import Crossed, Ideal, Variance
from outperform.study.pipelines import FunctionPipeline
from outperform.study.spaces import Uniform
from outperform.study.study import Study
from outperform.study.study_file import read_study
from outperform.study.tasks import Task
from tests.command_line import call, refused


def score(params, split, seeds):
    """Much from split, little from init, and a bit more where both are large; nothing random."""
    big, small = seeds["split"] / 2**32, seeds["init"] / 2**32
    value = 0.8 + 0.1 * big + 0.01 * small + 0.02 * big * small - params["c"] / 100
    return {"valid": value, "test": value}


def make_study(*designs):
    pipeline = FunctionPipeline("toy", score, {"c": Uniform(0, 1)}, ("split", "init"))
    task = Task("numbers", metric="accuracy")
    return Study((pipeline,), (task,), designs, trials=3)


def run_study(path, *designs):
    study = make_study(*designs)
    with open_store(path) as store:
        store.set_meta("study", describe_study(study))
        run_fits(study, store, InlineEngine())
    return path


@pytest.fixture
def store(tmp_path):
    return run_study(tmp_path / "study.db", Variance(12, n_searches=4), Crossed(4))


@pytest.fixture
def runs_file(tmp_path):
    """Scores by source, as CSV."""

    def write(scores: dict[str, list[float]], header: str = "source,accuracy"):
        lines = [f"{source},{value}" for source, values in scores.items() for value in values]
        path = tmp_path / "runs.csv"
        path.write_text("\n".join([header, *lines]) + "\n")
        return path

    return write


SCORES = {
    "split": [0.90, 0.86, 0.94, 0.91, 0.88],
    "init": [0.90, 0.89, 0.91, 0.90, 0.90],
    "noise": [0.9] * 5,
    "all": [0.92, 0.85, 0.95, 0.9, 0.88],
}


# Files


def test_a_file_gives_what_python_gives(runs_file):
    result = call("decompose", runs_file(SCORES), "--json", "--test-size", 300)
    assert result.exit_code == 0
    expected = decompose(SCORES, metric="accuracy", n_test=300).to_dict()
    del expected["kind"], expected["version"]  # which the whole has
    printed = json.loads(result.stdout)
    assert (printed.pop("kind"), printed.pop("version")) == ("Decompositions", __version__)
    assert printed == {"sources": [expected], "crossed": [], "searches": None, "notes": []}


def test_the_largest_source_comes_first_in_one_sentence(runs_file):
    lines = call("decompose", runs_file(SCORES), "--test-size", 300).stdout.splitlines()
    assert lines[0].startswith("split seems the largest source of variation of the accuracy: ")
    assert lines[3].split("  ")[1] == "source"
    assert lines[3].endswith("binomial sd")
    assert [line.split()[0] for line in lines[4:8]] == ["split", "init", "noise", "all"]


def test_without_a_test_size_there_is_no_binomial_model(runs_file):
    result = call("decompose", runs_file(SCORES))
    assert result.exit_code == 0
    assert "binomial" not in result.stdout


def test_algorithms_and_tasks_are_kept_apart(tmp_path):
    path = tmp_path / "runs.jsonl"
    rows = [
        {"model": model, "dataset": task, "source": "split", "score": value + shift}
        for model, shift in (("a", 0.0), ("b", 1.0))
        for task in ("x", "y")
        for value in (0.1, 0.2, 0.4)
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    found = json.loads(call("decompose", path, "--json").stdout)["sources"]
    assert [(each["algorithm"], each["task"]) for each in found] == [
        ("a", "x"), ("a", "y"), ("b", "x"), ("b", "y"),
    ]  # fmt: skip
    assert [round(each["sources"][0]["mean"], 3) for each in found] == [0.233, 0.233, 1.233, 1.233]


def test_columns_can_be_named(runs_file):
    path = runs_file(SCORES, header="redrawn,points")
    result = call("decompose", path, "--source", "redrawn", "--metric", "points", "--json")
    assert json.loads(result.stdout)["sources"][0]["metric"] == "points"


def test_a_file_without_sources_is_refused(runs_file):
    message = refused(call("decompose", runs_file(SCORES, header="what,accuracy")))
    assert message == (
        "Error: no column 'source' in runs.csv. It has: what, accuracy; name the column that says "
        "which source was redrawn with --source, or those of a crossed design with --crossed "
        "split,init."
    )


def test_a_file_without_scores_is_refused(runs_file):
    message = refused(call("decompose", runs_file(SCORES, header="source,what")))
    assert message == (
        "Error: no column of runs.csv looks like a score (it has: source, what). Name it with "
        "--metric."
    )


def test_a_source_with_one_run_is_refused(runs_file):
    assert "source 'init' has 1 score" in refused(
        call("decompose", runs_file({"split": [0.1, 0.2], "init": [0.1]}))
    )


# Rows of a file that are no runs, or raise a question, as in `compare`

SPLIT = [0.90, 0.86, 0.94, 0.91, 0.88]
INIT = [0.90, 0.89, 0.91, 0.90, 0.88]


def write(path, header, *rows):
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n")
    return path


def test_failed_runs_are_left_out_only_when_asked(tmp_path):
    rows = [("split", x, "finished") for x in SPLIT] + [("init", x, "finished") for x in INIT]
    path = write(tmp_path / "runs.csv", "source,accuracy,status", *rows, ("init", 0.1, "failed"))
    assert refused(call("decompose", path)) == (
        "Error: 1 of 6 runs of 'init' are incomplete in runs.csv: 1 failed (row 12). Complete "
        "them, or pass --drop-incomplete to leave them out."
    )
    result = call("decompose", path, "--drop-incomplete", "--json")
    printed = json.loads(result.stdout)
    assert [each["n"] for each in printed["sources"][0]["sources"]] == [5, 5]
    assert printed["notes"] == ["1 of 11 runs in runs.csv are incomplete and were left out"]


def test_points_of_a_learning_curve_are_no_runs(tmp_path):
    rows = [
        (source, seed, epoch, score + epoch / 10)
        for source, scores in (("split", SPLIT), ("init", INIT))
        for seed, score in enumerate(scores)
        for epoch in (0, 1)
    ]
    path = write(tmp_path / "runs.csv", "source,seed,epoch,accuracy", *rows)
    assert "they are points of a learning curve, not runs" in refused(call("decompose", path))
    printed = json.loads(call("decompose", path, "--at", 0, "--json").stdout)["sources"][0]
    assert [each["mean"] for each in printed["sources"]] == pytest.approx([0.898, 0.896])


@pytest.mark.parametrize(
    ("split", "doubt"),
    [
        ([90.1, 86.2, 94.3, 91.4, 88.5], "scale"),
        ([*SPLIT, 1e9], "outlier"),
        (SPLIT + SPLIT, "repeated"),
    ],
)
def test_a_file_raises_the_questions_that_runs_raise(runs_file, split, doubt):
    path = runs_file({"split": split, "init": INIT})
    assert f"pass --accept {doubt}" in refused(call("decompose", path))
    printed = json.loads(call("decompose", path, "--accept", doubt, "--json").stdout)
    assert printed["notes"][0].endswith("which was accepted as right")


def test_runs_of_several_networks_are_not_pooled(tmp_path):
    rows = [
        (network, source, score - (network == "small") / 2)
        for network in ("large", "small")
        for source, scores in (("split", SPLIT), ("init", INIT))
        for score in scores
    ]
    path = write(tmp_path / "runs.csv", "network,source,accuracy", *rows)
    assert "depend on network (of runs, 0.898 on large" in refused(call("decompose", path))
    printed = json.loads(call("decompose", path, "--algorithm", "network", "--json").stdout)
    assert [each["algorithm"] for each in printed["sources"]] == ["large", "small"]


def test_what_means_the_same_as_the_source_is_no_question(tmp_path):
    rows = [("split", "data", x - 0.5) for x in SPLIT] + [("init", "learner", x) for x in INIT]
    path = write(tmp_path / "runs.csv", "source,stage,accuracy", *rows)
    assert call("decompose", path).exit_code == 0


def test_validation_scores_are_not_the_score(tmp_path):
    rows = [("split", x, x - 0.1) for x in SPLIT] + [("init", x, x) for x in INIT]
    path = write(tmp_path / "runs.csv", "source,test_accuracy,val_accuracy", *rows)
    assert json.loads(call("decompose", path, "--json").stdout)["sources"][0]["metric"] == (
        "test_accuracy"
    )


# Crossed designs in a file


@pytest.fixture
def crossed_file(tmp_path):
    path = tmp_path / "grid.csv"
    scores = np.random.default_rng(0).normal(size=(4, 3))
    cells = itertools.product(range(4), range(3))
    path.write_text("\n".join(["split,init,score", *(f"{i},{j},{scores[i, j]}" for i, j in cells)]))
    return path, scores


def test_a_crossed_file_gives_components(crossed_file):
    path, scores = crossed_file
    found = json.loads(call("decompose", path, "--crossed", "split,init", "--json").stdout)
    expected = decompose_crossed(scores, ["split", "init"]).to_dict()
    assert found["crossed"][0]["levels"] == [4, 3]
    for part, wanted in zip(found["crossed"][0]["components"], expected["components"], strict=True):
        assert part["variance"]["value"] == pytest.approx(wanted["variance"]["value"])
        assert part["variance"]["interval"]["high"] == pytest.approx(
            wanted["variance"]["interval"]["high"]
        )


def test_the_components_are_printed(crossed_file):
    result = call("decompose", crossed_file[0], "--crossed", "split,init")
    assert [line.split()[0] for line in result.stdout.splitlines()[3:8]] == [
        "component", "split", "init", "split", "all",
    ]  # fmt: skip


def test_a_missing_combination_is_refused(crossed_file):
    path, _ = crossed_file
    path.write_text("\n".join(path.read_text().splitlines()[:-1]))
    assert refused(call("decompose", path, "--crossed", "split,init")) == (
        "Error: 1 of the 4 × 3 combinations of split, init are missing. Let `outperform run` "
        "finish the crossed design, or complete the file."
    )


def test_a_combination_recorded_twice_is_refused(crossed_file):
    path, _ = crossed_file
    path.write_text(path.read_text() + "\n0,0,0.5\n")
    assert refused(call("decompose", path, "--crossed", "split,init")) == (
        "Error: two runs have split 0, init 0. Keep one run per combination."
    )


def test_the_components_are_drawn(crossed_file, tmp_path):
    words = ("--crossed", "split,init", "--plot", tmp_path / "figure.svg")
    result = call("decompose", crossed_file[0], *words)
    assert result.exit_code == 0, result.stderr
    assert "variance of score" in (tmp_path / "figure.svg").read_text()


def test_a_view_of_several_designs_is_refused_in_words(crossed_file, tmp_path):
    path, _ = crossed_file
    header, *rows = path.read_text().splitlines()
    both = [f"{name},{row}" for name in ("svm", "knn") for row in rows]
    path.write_text("\n".join([f"algorithm,{header}", *both]))
    words = ("--crossed", "split,init", "--plot", tmp_path / "figure.svg")
    assert refused(call("decompose", path, *words, "--view", "components")) == (
        "Error: the view 'components' is of one crossed design, and there are 2. Draw all of them, "
        "without a view, or the single results: `for each in result: plot(each)`."
    )
    assert call("decompose", path, *words).exit_code == 0


def test_the_level_reaches_the_components(crossed_file):
    words = ("--crossed", "split,init", "--alpha", 0.1, "--json")
    (found,) = json.loads(call("decompose", crossed_file[0], *words).stdout)["crossed"]
    assert found["total"]["interval"]["confidence_level"] == pytest.approx(0.9)


# Stores


def test_a_store_gives_every_source(store):
    found = json.loads(call("decompose", store, "--json").stdout)
    (decomposition,) = found["sources"]
    sources = {each["source"]: each for each in decomposition["sources"]}
    assert {name: each["n"] for name, each in sources.items()} == {
        "split": 12, "init": 12, "all": 12, "noise": 12, "hpo": 4,
    }  # fmt: skip
    assert decomposition["largest"] == "split"
    assert sources["noise"]["sd"]["value"] == 0
    assert sources["hpo"]["sd"]["value"] > 0


def test_levels_of_a_store_come_from_its_seeds(store):
    (crossed,) = json.loads(call("decompose", store, "--json").stdout)["crossed"]
    study = make_study(Crossed(4))
    seeds = [dict(run.seeds) for run in study.plan_runs()]
    splits, inits = ([*dict.fromkeys(s[name] for s in seeds)] for name in ("split", "init"))
    table = np.zeros((4, 4))
    for s in seeds:
        table[splits.index(s["split"]), inits.index(s["init"])] = score({"c": 0.5}, None, s)["test"]
    expected = decompose_crossed(table, ["split", "init"]).to_dict()
    assert crossed["levels"] == [4, 4]
    for part, wanted in zip(crossed["components"], expected["components"], strict=True):
        assert part["names"] == wanted["names"]
        assert part["variance"]["value"] == pytest.approx(wanted["variance"]["value"])


def test_both_designs_are_printed(store):
    result = call("decompose", store)
    assert result.exit_code == 0
    assert "split is the largest source of variation of the accuracy of toy" in result.stdout
    assert "split × init" in result.stdout


def test_a_figure_is_written(store, tmp_path):
    path = tmp_path / "sources.svg"
    result = call("decompose", store, "--plot", path, "--json")
    assert json.loads(result.stdout)
    assert path.read_text().startswith("<?xml")
    assert "variance of accuracy" in (tmp_path / "sources-crossed.svg").read_text()


def test_a_store_of_another_study_is_refused(tmp_path):
    path = run_study(tmp_path / "study.db", Ideal(2))
    assert refused(call("decompose", path)) == (
        f"Error: {path} holds no runs in which sources were redrawn apart (designs: ideal). Add "
        'a [[design]] with kind = "variance" to the study and run it.'
    )


def test_runs_that_the_study_does_not_have_any_more_are_left_out_and_counted(store):
    run_study(store, Variance(5, sources=("init",)), Crossed(3))
    result = call("decompose", store, "--json")
    found = json.loads(result.stdout)
    ((decomposition,), (crossed,)) = found["sources"], found["crossed"]
    assert {each["source"]: each["n"] for each in decomposition["sources"]} == {
        "init": 5, "all": 5, "noise": 5,
    }  # fmt: skip
    assert crossed["levels"] == [3, 3]
    n_left_out = 12 + 3 * 7 + 4 + 16 - 9  # of split, of three others, of hpo, and crossed
    assert result.stderr == (
        f"Note: left out: {n_left_out} runs of replicates or sources that the study does not have "
        "any more.\n"
    )


def test_runs_that_failed_are_not_left_out_in_silence(tmp_path):
    def fit_sometimes(params, split, seeds):
        assert seeds["init"] % 2
        return score(params, split, seeds)

    def fit_never(params, split, seeds):
        raise MemoryError

    fits = {"toy": score, "half": fit_sometimes, "none": fit_never}
    pipelines = [
        FunctionPipeline(name, fit, {"c": Uniform(0, 1)}, ("split", "init"))
        for name, fit in fits.items()
    ]
    study = Study(
        pipelines, (Task("numbers", metric="accuracy"),), (Variance(12, sources=("init",)),)
    )
    with open_store(tmp_path / "study.db") as store:
        store.set_meta("study", describe_study(study))
        run_fits(study, store, InlineEngine())
    result = call("decompose", tmp_path / "study.db", "--json")
    of_half, of_none = result.stderr.splitlines()
    found = json.loads(result.stdout)["sources"]
    assert [each["algorithm"] for each in found] == ["toy", "half"]
    n_done = sum(each["n"] for each in found[1]["sources"])
    assert found[0]["failed"] == {}
    assert sum(found[1]["failed"].values()) == 36 - n_done
    assert of_half == (
        f"Note: {36 - n_done} of 36 runs of half on numbers failed, or are still to be done: what "
        "they would add to its variation is not known."
    )
    assert of_none == (
        "Note: 36 of 36 runs of none on numbers failed, or are still to be done: nothing is told "
        "of it."
    )


def test_an_unfinished_crossed_design_does_not_hide_the_rest(store):
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute("DELETE FROM run_labels WHERE design = 'crossed' AND replicate = 5")
    result = call("decompose", store, "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["crossed"] == []
    assert "Note: 1 of the 4 × 4 combinations of split, init are missing" in result.stderr


def test_an_unfinished_crossed_design_does_not_hide_another(tmp_path):
    crossed = Crossed(3, ("split", "init")), Crossed(4, ("init", "split"))
    store = run_study(tmp_path / "study.db", Variance(5), *crossed)
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute("DELETE FROM run_labels WHERE source = 'init+split' AND replicate = 5")
    result = call("decompose", store, "--json")
    (found,) = json.loads(result.stdout)["crossed"]
    assert found["levels"] == [3, 3]
    assert "Note: 1 of the 4 × 4 combinations of init, split are missing" in result.stderr


# Searches


def write_study(folder):
    (folder / "toy.py").write_text(
        "def fit(params, split, seeds):\n"
        "    return {'valid': params['c'] + seeds['init'] / 2**40, 'test': params['c']}\n"
    )
    (folder / "study.toml").write_text(
        "[tuning]\ntrials = 6\n"
        '[[task]]\nname = "t"\nmetric = "accuracy"\n'
        '[[pipeline]]\nname = "toy"\nfunction = "toy:fit"\nsources = ["init"]\n'
        "[pipeline.space]\nc = {uniform = [0.0, 1.0]}\n"
        '[[design]]\nkind = "ideal"\nreplicates = 4\n'
    )


def test_curves_need_no_sources_redrawn_apart(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    write_study(tmp_path)
    study = read_study(str(tmp_path / "study.toml"))
    store = tmp_path / "study.db"
    with open_store(store) as opened:
        opened.set_meta("study", describe_study(study))
        run_fits(study, opened, InlineEngine())
    result = call("decompose", store, "--curves", tmp_path / "curves.svg", "--json")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    assert (found["sources"], found["crossed"]) == ([], [])
    assert len(found["searches"]["curves"][0]["test"]["mean"]) == 6
    assert (tmp_path / "curves.svg").read_text().startswith("<?xml")
    printed = call("decompose", store, "--curves", tmp_path / "curves.svg").stdout
    assert "2 trials" in printed
    assert "6 trials" in printed


def test_curves_of_a_file_are_refused(runs_file, tmp_path):
    path = runs_file(SCORES)
    assert refused(call("decompose", path, "--curves", tmp_path / "curves.svg")) == (
        f"Error: {path} is no store of a study. Leave out --curves."
    )


def test_curves_need_no_study_beside_the_store(tmp_path):
    store = run_study(tmp_path / "study.db", Ideal(2))
    assert not (tmp_path / "study.toml").exists()
    assert call("decompose", store, "--curves", tmp_path / "curves.svg").exit_code == 0
    assert (tmp_path / "curves.svg").exists()
