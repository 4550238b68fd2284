"""Study files: what they mean, and what is said where they make no sense."""

from pathlib import Path

import pytest

from outperform.errors import InvalidInput
from outperform.study.estimators import FixHopt, Ideal
from outperform.study.files import parse_study
from outperform.study.fits import gather_fingerprints
from outperform.study.pipelines import EstimatorPipeline
from outperform.study.spaces import LogUniform
from outperform.study.splits import OutOfBootstrap
from outperform.study.study import Study
from outperform.study.tasks import make_task

FILE = """
name = "digits"
seed = 7

[tuning]
tuner = "random"
trials = 5

[limits]
timeout = 60
retries = 1

[[task]]
data = "digits"
metric = "accuracy"
split = {kind = "out-of-bootstrap", stratified = true}

[[pipeline]]
name = "svm"
estimator = "sklearn.svm.SVC"
fixed = {kernel = "rbf"}
[pipeline.space]
C = {log-uniform = [0.01, 100.0], default = 1.0}

[[estimator]]
kind = "ideal"
replicates = 3

[[estimator]]
kind = "fix-hopt"
replicates = 10
vary = ["split"]
"""


def parse(text: str = FILE) -> Study:
    return parse_study(text, folder=Path())


def test_a_file_and_python_give_the_same_keys():
    study = parse()
    space = {"C": LogUniform(0.01, 100.0, default=1.0)}
    task = make_task(
        "digits", metric="accuracy", data="digits", splitter=OutOfBootstrap(stratified=True)
    )
    same = Study(
        (EstimatorPipeline("svm", "sklearn.svm.SVC", space, fixed={"kernel": "rbf"}),),
        (task,),
        (Ideal(3), FixHopt(10, ("split",))),
        name="digits",
        seed=7,
        n_trials=5,
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
neural = true
epochs = 3

[[pipeline]]
name = "script"
command = "python train.py --lr {lr} --seed {seed.init}"
[pipeline.space]
lr = {log-uniform = [1e-4, 1e-1]}

[[pipeline]]
function = "json:dumps"
sources = ["init"]
"""
    )
    # fix-hopt varies the split, which not all of these honour, so look at the names only
    assert [pipeline.name for pipeline in parse(text).pipelines] == [
        "svm",
        "neural",
        "script",
        "dumps",
    ]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "seed = 7",
            "sede = 7",
            "the study has an unknown word 'sede' (line 3). Did you mean 'see",
        ),
        ("trials = 5", "trails = 5", "tuning has an unknown word 'trails' (line 7). Did you mean"),
        ("fixed =", "fixd =", "pipeline 1 has an unknown word 'fixd' (line 21). Did you mean 'fi"),
        ('data = "digits"', 'data = "digist"', "no dataset 'digist' (line 13: [[task]])"),
        ("log-uniform", "log-unifrom", "(line 18: [[pipeline]])"),
        ('kind = "ideal"', 'kind = "idael"', "(line 25: [[estimator]]). Did you mean 'ideal'"),
        ("replicates = 3", "", "does not say how many replicates (line 25: [[estimator]])"),
        ('metric = "accuracy"', "", "the task has no metric (line 13: [[task]])"),
        ('estimator = "sklearn.svm.SVC"', "", "the pipeline has nothing to train (line 18"),
        ("[[task]]", "[task]", "task is no list of tables (line 13). Begin each with [[task]]"),
        ("seed = 7", "seed = -1", "seed is -1. Pass a whole number not less than 0."),
        ("trials = 5", 'trials = "5"', "trials is 5. Pass a whole number not less than 1."),
        ("replicates = 3", "replicates = 2.5", "replicates is 2.5 (line 25: [[estimator]])"),
        ('vary = ["split"]', 'vary = "split"', "vary of estimator 'fix-hopt' is 'split' (line 29"),
        ('[tuning]\ntuner = "random"\ntrials = 5', 'tuning = "random"', "tuning is 'random', not"),
        ('metric = "accuracy"', "metric = 3", "a value has the wrong kind"),
        ("seed = 7", "seed = ", "the study file is not TOML: Invalid value (at line 3"),
    ],
)
def test_mistakes_are_named_with_their_line(old, new, message):
    assert old in FILE
    with pytest.raises(InvalidInput) as caught:
        parse(FILE.replace(old, new, 1))
    assert message in str(caught.value)


def test_different_metrics_make_different_studies():
    text = FILE + '[[task]]\ndata = "wine"\nmetric = "f1_macro"\n'
    with pytest.raises(InvalidInput, match="the tasks have different metrics"):
        parse(text)


def test_commands_run_where_the_study_file_lies(tmp_path):
    (tmp_path / "train.py").write_text('print(\'{"valid": 0.5, "test": 0.25}\')')
    text = """
    [[task]]
    metric = "accuracy"
    [[pipeline]]
    command = "python train.py {seed.init}"
    [[estimator]]
    kind = "ideal"
    replicates = 2
    """
    (pipeline,) = parse_study(text, folder=tmp_path).pipelines
    assert pipeline.fit({}, None, {"init": 1}, None, refit=True)["test"] == 0.25
