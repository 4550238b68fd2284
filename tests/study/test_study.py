"""A study as plain data plans the same fits, and imports nothing."""

import inspect
import json

import pytest

from outperform.errors import InvalidInput
from outperform.study.designs import Crossed, FixHopt, Ideal, Variance
from outperform.study.fits import gather_fingerprints
from outperform.study.pipelines import Pipeline
from outperform.study.spaces import Choices, Integers, LogUniform, Uniform
from outperform.study.splits import CrossValidation, FixedSplit, HoldOut
from outperform.study.study import Study, describe_plan, plan_study
from outperform.study.tasks import Task

SPACE = {
    "lr": LogUniform(1e-4, 0.3, default=0.01),
    "width": Integers(1, 64, log=True),
    "momentum": Uniform(0, 1),
    "act": Choices(["relu", 1, 2.5, True], default=2.5),
}


def fit(params, split, seeds):
    return {"valid": 0.5, "test": 0.5}


def make_study(splitter, design):
    return Study(
        pipelines=[
            Pipeline("net", fit, space=SPACE, sources=["init", "own"]),
            Pipeline("tree", "sklearn.tree.DecisionTreeClassifier"),
        ],
        tasks=[Task("iris", metric="accuracy", splitter=splitter)],
        designs=[design],
        seed=7,
        trials=4,
    )


def list_fits(study):
    hashes = gather_fingerprints(study.pipelines, study.tasks)
    params = {"lr": 0.1}
    return [(run, run.search, run.make_fit(params).key(hashes)) for run in study.plan_runs()]


@pytest.mark.parametrize("splitter", [CrossValidation(3), HoldOut(), FixedSplit([0, 1], [], [2])])
@pytest.mark.parametrize(
    "design",
    [
        Ideal(4),
        FixHopt(3, vary=("init",), n_repetitions=2),
        Variance(2, 2),
        Variance(2, sources=("init",)),
        Crossed(3, ("init",)),
    ],
)
def test_a_planned_study_has_the_fits_of_the_study(splitter, design):
    study = make_study(splitter, design)
    plan = json.loads(json.dumps(describe_plan(study)))
    hashes = gather_fingerprints(study.pipelines, study.tasks)
    planned = plan_study(plan, hashes, "study")
    assert list_fits(planned) == list_fits(study)
    assert [each.space for each in planned.pipelines] == [each.space for each in study.pipelines]


def test_a_design_of_the_persons_own_has_no_plan():
    class Mine:
        kind = "mine"

        def plan_runs(self, draw):
            yield draw.run(("mine", "all", 0), {}, None)

    assert describe_plan(make_study(HoldOut(), Mine())) is None


def test_a_plan_that_makes_no_sense_is_refused():
    study = make_study(HoldOut(), Ideal(2))
    plan = describe_plan(study) | {"pipelines": [{"name": "net"}]}
    with pytest.raises(InvalidInput) as caught:
        plan_study(plan, {}, "study")
    assert str(caught.value) == (
        "the plan of study 'study' cannot be read (KeyError: 'space'). Run the study once more: "
        "nothing is trained anew, and its plan is written again."
    )


def test_a_pipeline_of_scikit_learn_is_refused_a_task_without_data():
    tree = Pipeline("tree", "sklearn.tree.DecisionTreeClassifier")
    with pytest.raises(InvalidInput) as caught:
        Study([Pipeline("net", fit), tree], [Task("nosuch", metric="accuracy")], [Ideal(3)])
    assert str(caught.value) == (
        "pipeline 'tree' needs data, and task 'nosuch' has none. Give the task its data: digits, "
        "breast_cancer, wine, iris, diabetes, a CSV or NPZ file, or a function that loads it."
    )


def test_the_old_word_for_designs_is_refused_with_the_new_one():
    with pytest.raises(InvalidInput) as caught:
        Study([Pipeline("net", fit)], [Task("toy", metric="accuracy")], estimators=[Ideal(3)])
    assert str(caught.value) == (
        "the study has estimators=, which is called designs= now. Write designs= instead; an "
        "estimator is scikit-learn's, in a Pipeline."
    )
    assert "estimators" not in str(inspect.signature(Study))
    assert "designs" in str(inspect.signature(Study))
