"""Study files: what they mean."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from outperform.engines import open_engine
from outperform.errors import InvalidInput
from outperform.study.designs import FixHopt, Ideal, make_design
from outperform.study.estimator_pipeline import EstimatorPipeline
from outperform.study.fits import gather_fingerprints
from outperform.study.pipelines import FunctionPipeline
from outperform.study.spaces import Integers, LogUniform
from outperform.study.splits import HoldOut, OutOfBootstrap
from outperform.study.study import Study
from outperform.study.study_file import parse_study_file
from outperform.study.tasks import Task

FILE = (Path(__file__).parent / "digits.toml").read_text()
COMMAND = (Path(__file__).parent / "command.toml").read_text()


def parse(text: str) -> Study:
    return parse_study_file(text, folder=Path()).study


def test_a_file_and_python_give_the_same_keys():
    study = parse(FILE)
    space = {"C": LogUniform(0.01, 100.0, default=1.0)}
    task = Task(
        "digits", metric="accuracy", data="digits", splitter=OutOfBootstrap(stratified=True)
    )
    same = Study(
        (EstimatorPipeline("svm", "sklearn.svm.SVC", space, fixed={"kernel": "rbf"}),),
        (task,),
        (Ideal(3), FixHopt(10, ("split",))),
        name="digits",
        seed=7,
        trials=5,
        timeout=60,
        retries=1,
    )
    assert list(study.plan_runs()) == list(same.plan_runs())
    fingerprints = [gather_fingerprints(s.pipelines, s.tasks) for s in (study, same)]
    assert fingerprints[0] == fingerprints[1]
    assert (study.timeout, study.retries) == (60, 1)


def test_every_kind_of_pipeline_can_be_written():
    text = (
        FILE
        + """
[[pipeline]]
name = "script"
command = "python train.py --lr {lr} --seed {seed.init} --split {split}"
[pipeline.space]
lr = {log-uniform = [1e-4, 1e-1]}

[[pipeline]]
command = ["/usr/bin/python3", "-u", "code/run.py", "{split}"]

[[pipeline]]
function = "shutil:copytree"
sources = ["split"]
"""
    )
    assert [pipeline.name for pipeline in parse(text).pipelines] == [
        "svm",
        "script",
        "run",
        "copytree",
    ]


def test_a_task_is_called_like_its_file(tmp_path):
    (tmp_path / "rows.csv").write_text("x,label\n1,0\n2,1\n")
    for data in ('"rows.csv"', '{path = "rows.csv"}'):
        text = FILE.replace('data = "digits"', f"data = {data}")
        assert parse_study_file(text, folder=tmp_path).study.tasks[0].name == "rows"


def test_a_function_of_a_hidden_module_is_refused_as_data(tmp_path):
    (tmp_path / "random.py").write_text("def load(): ...\n")
    text = FILE.replace('data = "digits"', 'data = "random:load"')
    line = 1 + text[: text.index("random:load")].count("\n")
    with pytest.raises(InvalidInput) as caught:
        parse_study_file(text, folder=tmp_path)
    assert str(caught.value) == (
        "random.py beside the study has the name of a module of Python's standard library, which "
        f"Python takes first (line {line}). Rename it, in the study too."
    )


def test_a_split_may_be_given_by_its_kind_alone():
    text = FILE.replace('{kind = "out-of-bootstrap", stratified = true}', '"hold-out"')
    assert parse(text).tasks[0].splitter == HoldOut()


def test_several_tasks_for_whoever_asks_for_the_task():
    text = COMMAND.replace('"--split"', '"{task}", "--split"').replace(
        "[[pipeline]]", '[[task]]\nname = "other"\nmetric = "accuracy"\n[[pipeline]]'
    )
    assert [task.name for task in parse(text).tasks] == ["task", "other"]


def test_commands_run_where_the_study_file_lies(tmp_path):
    (tmp_path / "train.py").write_text('print(\'{"valid": 0.5, "test": 0.25}\')')
    text = """
    [[task]]
    metric = "accuracy"
    [[pipeline]]
    command = "python train.py {seed.init}"
    [[design]]
    kind = "ideal"
    replicates = 2
    """
    (pipeline,) = parse_study_file(text, folder=tmp_path).study.pipelines
    assert pipeline.fit({}, None, {"init": 1}, None, refit=True)["test"] == 0.25


PAGE = (Path(__file__).parents[2] / "docs" / "studies.md").read_text()


def test_the_study_of_the_documentation_means_something_and_so_does_its_mistake():
    text, engine, more = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    assert [pipeline.name for pipeline in parse(text + engine).pipelines] == ["svm", "mine"]
    table = parse_study_file(text + engine, folder=Path()).engine
    with open_engine(table.address, table.options) as opened:
        assert opened.n_workers == 4
    added = tomllib.loads(more)["design"]
    assert [design.kind for design in map(make_design, added)] == [each["kind"] for each in added]
    with pytest.raises(InvalidInput) as caught:
        parse(text.replace("fixed", "fixd"))
    assert f"Error: {caught.value.problem}.\n{caught.value.remedy}.\n" in PAGE


def test_the_function_of_the_documentation_runs():
    (code,) = re.findall(r"```python\n([^`]*def fit.*?)```", PAGE, re.DOTALL)
    names: dict[str, Any] = {}
    exec(code, names)
    pipeline = FunctionPipeline("tree", names["fit"], {"max_depth": Integers(1, 3)})
    split = HoldOut().split(150, seed=0)
    iris = Task("iris", metric="accuracy").data()
    for refit, scored in ((False, {"valid", "test"}), (True, {"test"})):
        part = split.refit() if refit else split
        scores = pipeline.fit({"max_depth": 3}, part, {"init": 0}, iris, refit=refit)
        assert scores.keys() == scored
        assert min(scores.values()) > 0.8
