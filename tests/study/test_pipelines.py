"""Estimators and functions: seeded from their sources alone, scored where asked."""

import pickle
import sys

import cloudpickle
import numpy as np
import pytest

pytest.importorskip("sklearn")

from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from outperform.errors import InvalidInput, InvalidScores, MissingExtra
from outperform.study.command_pipeline import CommandPipeline
from outperform.study.datasets import Dataset
from outperform.study.designs import Ideal
from outperform.study.estimator_pipeline import EstimatorPipeline
from outperform.study.pipelines import FunctionPipeline, Pipeline, check_scores
from outperform.study.spaces import LogUniform
from outperform.study.splits import OutOfBootstrap, Split
from outperform.study.study import Study
from outperform.study.tasks import Task

SEEDS = {"split": 1, "init": 2, "order": 3, "augmentation": 4, "dropout": 5, "hpo": 6}
NOTHING = np.empty(0, dtype=np.int64)


@pytest.fixture(scope="module")
def digits() -> Dataset:
    features, labels = load_digits(return_X_y=True)
    return Dataset(features[:600], labels[:600])


@pytest.fixture(scope="module")
def split(digits) -> Split:
    return OutOfBootstrap().split(digits.n_examples, seed=0)


class Spy(ClassifierMixin, BaseEstimator):
    """Remembers what it was trained on; its score is its random_state."""

    def __init__(self, random_state=None, inner=None, depth=1):
        self.random_state = random_state
        self.inner = inner
        self.depth = depth

    def fit(self, X, y):
        SPIED.append((X[:, 0].tolist(), self.get_params()))
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


SPIED: list[tuple[list[float], dict[str, object]]] = []


def spy_on(pipeline: Pipeline, seeds: dict[str, int], params=None):
    SPIED.clear()
    data = Dataset(np.arange(40.0).reshape(20, 2), np.arange(20) % 2)
    split = Split(np.arange(10), np.arange(10, 15), np.arange(15, 20))
    pipeline.fit(params or {}, split, seeds, data)
    return SPIED[-1]


def test_scores_equal_plain_scikit_learn(digits, split):
    pipeline = EstimatorPipeline(
        "forest", "sklearn.ensemble.RandomForestClassifier", fixed={"n_estimators": 5}
    )
    scores = pipeline.fit({"max_depth": 4}, split, SEEDS, digits)
    rows = np.random.default_rng(3).permutation(split.train)
    forest = RandomForestClassifier(n_estimators=5, max_depth=4, random_state=2)
    forest.fit(digits.features[rows], digits.labels[rows])
    assert scores == {
        "valid": forest.score(digits.features[split.valid], digits.labels[split.valid]),
        "test": forest.score(digits.features[split.test], digits.labels[split.test]),
    }
    assert type(scores["test"]) is float


def test_only_the_sets_of_the_split_are_scored(digits, split):
    pipeline = EstimatorPipeline("svm", SVC())
    search = Split(split.train, split.valid, NOTHING)
    assert set(pipeline.fit({}, search, SEEDS, digits)) == {"valid"}
    final = pipeline.fit({}, split.refit(), SEEDS, digits, refit=True)
    assert set(final) == {"test"}
    assert set(pipeline.fit({}, split, SEEDS, digits)) == {"valid", "test"}


def test_the_metric_is_any_scorer_in_its_own_sign(digits, split):
    fixed = {"max_depth": 3}
    pipeline = EstimatorPipeline(
        "tree", DecisionTreeClassifier(), metric="neg_log_loss", fixed=fixed
    )
    assert pipeline.fit({}, split, SEEDS, digits)["test"] < 0


def test_a_study_gives_its_metric_and_makes_no_estimator_anew(monkeypatch):
    options = {"space": {"C": LogUniform(0.1, 10)}, "fixed": {"kernel": "linear"}}
    pipeline = EstimatorPipeline("svm", SVC(), **options)
    known = EstimatorPipeline("svm", SVC(), metric="accuracy", **options)
    monkeypatch.delattr(EstimatorPipeline, "__post_init__")
    (scored,) = Study([pipeline], [Task("digits", metric="accuracy")], [Ideal(2)]).pipelines
    assert (pipeline.metric, scored.metric) == (None, "accuracy")
    assert scored.estimator is pipeline.estimator
    assert scored.fingerprint == known.fingerprint != pipeline.fingerprint


def test_every_random_state_is_seeded_nested_ones_too():
    nested = Spy(inner=make_pipeline(StandardScaler(), SGDClassifier()))
    _, params = spy_on(EstimatorPipeline("spy", nested), SEEDS)
    states = {name: value for name, value in params.items() if name.endswith("random_state")}
    assert states == {"random_state": 2, "inner__sgdclassifier__random_state": 2}


def test_the_estimator_given_is_never_touched():
    estimator = Spy(random_state=99)
    pipeline = EstimatorPipeline("spy", estimator)
    spy_on(pipeline, SEEDS, {"depth": 7})
    assert (estimator.random_state, estimator.depth) == (99, 1)
    assert pipeline.estimator.depth == 1


def test_rows_are_permuted_by_order_alone():
    pipeline = EstimatorPipeline("spy", Spy())
    first, _ = spy_on(pipeline, SEEDS)
    assert sorted(first) == list(range(0, 20, 2))
    assert first != sorted(first)
    assert spy_on(pipeline, SEEDS | {"init": 77})[0] == first
    assert spy_on(pipeline, SEEDS | {"order": 77})[0] != first


def test_undeclared_sources_change_nothing():
    pipeline = EstimatorPipeline("spy", Spy())
    expected = spy_on(pipeline, SEEDS)
    assert spy_on(pipeline, SEEDS | {"dropout": 77, "augmentation": 77, "hpo": 77}) == expected
    unordered = EstimatorPipeline("spy", Spy(), sources=("split", "init"))
    assert spy_on(unordered, SEEDS)[0] == list(range(0, 20, 2))


def test_several_declared_sources_are_all_in_the_number():
    pipeline = EstimatorPipeline("spy", Spy(), sources=("split", "init", "dropout"))
    numbers = [
        spy_on(pipeline, seeds)[1]["random_state"]
        for seeds in (SEEDS, SEEDS | {"init": 77}, SEEDS | {"dropout": 77}, SEEDS | {"split": 77})
    ]
    assert len(set(numbers[:3])) == 3
    assert numbers[3] == numbers[0]
    swapped = SEEDS | {"init": SEEDS["dropout"], "dropout": SEEDS["init"]}
    assert spy_on(pipeline, swapped)[1]["random_state"] != numbers[0]


def test_sources_say_what_is_honoured():
    assert EstimatorPipeline("svm", "sklearn.svm.SVC").sources == ("split", "order", "init")
    knn = "sklearn.neighbors.KNeighborsClassifier"
    assert EstimatorPipeline("knn", knn).sources == ("split", "order")
    with pytest.raises(InvalidInput) as caught:
        EstimatorPipeline("knn", knn, sources=("split", "init"))
    assert str(caught.value) == (
        "pipeline 'knn' cannot honour init: its estimator has no random_state. Leave it out of "
        "sources."
    )


def test_steps_make_a_scikit_learn_pipeline(digits, split):
    pipeline = EstimatorPipeline(
        "svm",
        ["sklearn.preprocessing.StandardScaler", "sklearn.svm.SVC"],
        {"svc__C": LogUniform(0.1, 10)},
    )
    assert pipeline.fit({"svc__C": 2.0}, split, SEEDS, digits)["test"] > 0.9


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"estimator": "sklearn.svm.SVCC"},
            "there is no 'SVCC' in sklearn.svm. Did you mean 'SVC' or 'NuSVC'? It has: "
            "LinearSVC, LinearSVR, NuSVC, NuSVR, OneClassSVM, SVC, SVR, l1_min_c.",
        ),
        (
            {"estimator": "sklearn.smv.SVC"},
            "there is no module 'sklearn.smv'. Check the spelling, and that it lies beside the "
            "study file or on Python's path (PYTHONPATH).",
        ),
        ({"estimator": "SVC"}, "'SVC' is no import path. Write it as package.module:name."),
        (
            {"estimator": "math.pi"},
            "'math.pi' is no estimator: it has no fit and set_params. Pass a scikit-learn "
            "estimator, or wrap your code in a function.",
        ),
        (
            {"estimator": "sklearn.svm.LinearSVC", "metric": "acuracy"},
            "scikit-learn has no scorer 'acuracy'. Did you mean 'accuracy' or 'top_k_accuracy'? "
            "It has: accuracy,",
        ),
        (
            {"estimator": "sklearn.svm.SVC", "space": {"c": LogUniform(1, 2)}},
            "the estimator of pipeline 'p' has no parameter 'c'. Did you mean 'C'?",
        ),
        (
            {"estimator": "sklearn.svm.SVC", "space": {"C": LogUniform(1, 2)}, "fixed": {"C": 1.0}},
            "pipeline 'p' both searches and fixes 'C'. Do one of the two.",
        ),
        (
            {"estimator": "sklearn.svm.SVC", "fixed": {"random_state": 1}},
            "pipeline 'p' sets random_state, which the study seeds. Leave it out; to keep it "
            "fixed, do not vary the source init.",
        ),
        (
            {"estimator": "sklearn.ensemble.VotingClassifier"},
            "cannot make a VotingClassifier (VotingClassifier.__init__() missing 1 required "
            "positional argument: 'estimators'). Pass an estimator instead of its class.",
        ),
    ],
)
def test_what_cannot_work_is_refused_at_construction(options, message):
    with pytest.raises(InvalidInput) as caught:
        EstimatorPipeline("p", **options)
    assert str(caught.value).startswith(message)


def test_without_scikit_learn_the_error_says_how_to_get_it(monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "sklearn"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(MissingExtra) as caught:
        EstimatorPipeline("svm", "sklearn.svm.SVC")
    assert str(caught.value) == (
        "estimators, scorers and bundled datasets need scikit-learn, which is not installed. "
        "Install it with `pip install scikit-learn`."
    )


def test_an_estimator_needs_data(split):
    with pytest.raises(InvalidInput) as caught:
        EstimatorPipeline("svm", SVC()).fit({}, split, SEEDS, None)
    assert str(caught.value) == (
        "pipeline 'svm' needs data, and the task has none. Give the task its data."
    )


def test_a_function_gets_params_split_and_its_seeds(split):
    seen = []

    def fit(params, split, seeds):
        seen.append((params, split, seeds))
        return {"valid": np.float32(0.5), "test": np.array(0.25), "epochs": 3, "log": "x.txt"}

    pipeline = FunctionPipeline("net", fit, sources=("split", "init"))
    scores = pipeline.fit({"lr": 0.1}, split, SEEDS, None)
    assert scores == {"valid": 0.5, "test": 0.25, "epochs": 3.0}
    assert seen == [({"lr": 0.1}, split, {"split": 1, "init": 2})]


def test_a_function_is_told_what_it_asks_for_by_name():
    answers = {}

    def fit(params, split, seeds, fold, *, refit, task="?"):
        answers.update(task=task, fold=fold, refit=refit)
        return {"test": 1.0}

    pipeline = FunctionPipeline("net", fit)
    assert pipeline.asks == ("task", "fold", "refit")
    pipeline.fit({}, None, SEEDS, None, task="wine", fold=2, refit=True)
    assert answers == {"task": "wine", "fold": 2, "refit": True}


def test_a_function_gets_the_data_that_it_asks_for(digits, split):
    def fit(params, split, seeds, data):
        return {"test": float(data.labels[split.test].mean())}

    scores = FunctionPipeline("net", fit).fit({}, split, SEEDS, digits)
    assert scores == {"test": digits.labels[split.test].mean()}


class Trainer:
    """Neither an estimator nor a function."""


@pytest.mark.parametrize(
    ("what", "kind"),
    [
        (SVC(), EstimatorPipeline),
        (SVC, EstimatorPipeline),
        ("sklearn.svm.SVC", EstimatorPipeline),
        ([StandardScaler(), SVC()], EstimatorPipeline),
        (["sklearn.preprocessing.StandardScaler", "sklearn.svm:SVC"], EstimatorPipeline),
        (lambda params, split, seeds: {"test": 1.0}, FunctionPipeline),
        ("shutil:copytree", FunctionPipeline),
        ("python train.py {seed.init}", CommandPipeline),
        ("./train {seed.init}", CommandPipeline),
        (["python", "train.py", "{seed.init}"], CommandPipeline),
    ],
)
def test_what_is_trained_decides_the_kind(what, kind):
    pipeline = Pipeline("p", what)
    assert type(pipeline) is kind
    assert isinstance(pipeline, Pipeline)
    assert pipeline.fingerprint == kind("p", what).fingerprint
    assert pickle.loads(cloudpickle.dumps(pipeline)).fingerprint == pipeline.fingerprint


def test_pipelines_take_lists_and_options_of_their_kind(digits, split):
    options = {"space": {"C": LogUniform(0.1, 10)}, "sources": ["init"]}
    pipeline = Pipeline("svm", SVC(), fixed={"kernel": "linear"}, **options)
    assert pipeline.sources == ("init",)
    assert pipeline.estimator.kernel == "linear"
    assert pipeline.fit({"C": 2.0}, split, SEEDS, digits)["test"] > 0.9  # its own score: accuracy


@pytest.mark.parametrize(
    ("what", "options", "message"),
    [
        (
            5,
            {},
            "pipeline 'p' is 5, which cannot be trained. Pass a scikit-learn estimator, a function "
            "fit(params, split, seeds), or a command with placeholders.",
        ),
        (Trainer(), {}, "pipeline 'p' is a Trainer, which cannot be trained. Pass a scikit-learn"),
        (Trainer, {}, f"pipeline 'p' is {Trainer!r}, which cannot be trained."),
        ("math.pi", {}, "pipeline 'p' is 'math.pi', which cannot be trained. "),
        (None, {}, "pipeline 'p' is None, which cannot be trained. "),
        (["python", "run.py", 3], {}, "the command of pipeline 'p' holds 3. Write it as text."),
        ("", {}, "pipeline 'p' has an empty command. Name the program to run."),
        (
            "train.py",
            {},
            "there is no module 'train'. Check the spelling, and that it lies beside the "
            "study file or on Python's path (PYTHONPATH); a command has blanks: 'python train.py "
            "--seed {seed.init}'.",
        ),
        (
            print,
            {"fixed": {"a": 1}},
            "pipeline 'p' is of the kind function, which has no option 'fixed'. It has: space, "
            "sources, resources.",
        ),
        (SVC(), {"source": ["init"]}, "pipeline 'p' is of the kind estimator, which has no option "
         "'source'. Did you mean 'sources' or 'resources'? It has: space, metric, fixed, "
         "sources, resources."),
        (SVC(), {"sources": "init"}, "sources are the text 'init'. Pass a list: ['init']."),
        (print, {"sources": "init"}, "sources are the text 'init'. Pass a list: ['init']."),
    ],
)  # fmt: skip
def test_what_cannot_be_trained_is_refused_kindly(what, options, message):
    with pytest.raises(InvalidInput) as caught:
        Pipeline("p", what, **options)
    assert str(caught.value).startswith(message)


def test_a_function_that_asks_for_nothing_is_told_nothing():
    for function in (lambda params, split, seeds: {"test": 1.0}, lambda *_, **__: {"test": 1.0}):
        pipeline = FunctionPipeline("net", function)
        assert pipeline.asks == ()
        assert pipeline.fit({}, None, SEEDS, None, task="wine") == {"test": 1.0}


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda params, split: None, "too many positional arguments"),
        (lambda params, split, seeds, rate: None, "missing a required argument: 'rate'"),
        (lambda task, split, seeds: None, "multiple values for argument 'task'"),
    ],
)
def test_a_function_that_cannot_be_called_is_refused_at_once(function, reason):
    with pytest.raises(InvalidInput) as caught:
        FunctionPipeline("net", function)
    assert str(caught.value) == (
        "the function of pipeline 'net' cannot be called with (params, split, seeds): "
        f"{reason}. Let it take these three and, if it likes, task, fold, refit, data by name."
    )


@pytest.mark.parametrize(
    ("function", "name", "wanted"),
    [
        (lambda params, seeds, split: None, "seeds", "split"),
        (lambda split, params, seeds: None, "split", "params"),
    ],
)
def test_a_function_with_parameters_in_another_order_is_refused(function, name, wanted):
    with pytest.raises(InvalidInput) as caught:
        FunctionPipeline("net", function)
    assert str(caught.value) == (
        f"the function of pipeline 'net' has its '{name}' where '{wanted}' is put. Let it take "
        "(params, split, seeds) in this order."
    )


def scale_in_place(params, split, seeds, data):
    features = data.features
    features *= 2
    return {"test": float(features.sum())}


def test_no_function_changes_the_data_of_others():
    pipeline, labels = FunctionPipeline("net", scale_in_place), np.arange(3)
    own = np.eye(3)
    with pytest.raises(ValueError, match="read-only"):
        pipeline.fit({}, None, SEEDS, Dataset(own, labels))
    own += 1  # whoever made it may go on writing
    shared = Dataset(sparse.csr_matrix(np.eye(3)), labels)
    for _fit in range(2):
        assert pipeline.fit({}, None, SEEDS, shared) == {"test": 6.0}


def test_a_function_that_says_nothing_honours_all_learning_sources():
    pipeline = FunctionPipeline("net", lambda params, split, seeds: {"test": len(seeds)})
    assert pipeline.fit({}, None, SEEDS, None) == {"test": 5.0}


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (0.9, "pipeline 'net' returned 0.9, not scores. "),
        (None, "pipeline 'net' returned None, not scores. "),
        ([0.9, 0.8], "pipeline 'net' returned [0.9, 0.8], not scores. "),
        ({}, "pipeline 'net' returned no 'valid' or 'test', but nothing. "),
        ({"acc": 1.0}, "pipeline 'net' returned no 'valid' or 'test', but 'acc'. "),
        ({"test": "0.9"}, "pipeline 'net' returned '0.9' as its 'test' score. "),
        ({"test": True}, "pipeline 'net' returned True as its 'test' score. "),
        ({"test": None}, "pipeline 'net' returned None as its 'test' score. "),
        ({"valid": 0.5, "test": float("nan")}, "pipeline 'net' returned nan as its 'test' score. "),
        ({"valid": -np.inf}, "pipeline 'net' returned -inf as its 'valid' score. "),
    ],
)
def test_wrong_scores_are_refused(scores, message):
    pipeline = FunctionPipeline("net", lambda params, split, seeds: scores)
    with pytest.raises(InvalidScores) as caught:
        pipeline.fit({}, None, SEEDS, None)
    assert str(caught.value).startswith(message)


def test_the_score_asked_for_must_be_there(split):
    searched = Split(split.train, split.valid, NOTHING)
    only_test = FunctionPipeline("net", lambda params, split, seeds: {"test": 1.0})
    with pytest.raises(InvalidScores) as caught:
        only_test.fit({}, searched, SEEDS, None)
    assert str(caught.value) == (
        "pipeline 'net' returned no 'valid', but 'test'. "
        'Return a mapping such as {"valid": 0.91, "test": 0.9}.'
    )
    only_valid = FunctionPipeline("net", lambda params, split, seeds: {"valid": 1.0})
    for final in (split.refit(), None):
        with pytest.raises(InvalidScores, match="returned no 'test', but 'valid'"):
            only_valid.fit({}, final, SEEDS, None, refit=True)


@pytest.mark.parametrize("nothing", [None, float("nan")])
def test_a_final_fit_may_say_that_it_has_no_validation_score(split, nothing):
    scores = {"valid": nothing, "test": 0.9}
    pipeline = FunctionPipeline("net", lambda params, split, seeds: scores)
    for final in (split.refit(), None):
        assert pipeline.fit({}, final, SEEDS, None, refit=True) == {"test": 0.9}
    with pytest.raises(InvalidScores, match=f"returned {nothing} as its 'valid' score"):
        pipeline.fit({}, split, SEEDS, None)


def test_further_numbers_are_kept_if_finite():
    scores = {"test": 1, "loss": float("nan"), "seconds": 2, 3: 4.0}
    assert check_scores(scores, "p") == {"test": 1.0, "seconds": 2.0, "3": 4.0}


def test_an_error_of_the_function_is_its_own():
    def fit(params, split, seeds):
        raise RuntimeError("CUDA out of memory")

    with pytest.raises(RuntimeError, match="CUDA out of memory"):
        FunctionPipeline("net", fit).fit({}, None, SEEDS, None)


def test_functions_are_checked_at_construction():
    with pytest.raises(InvalidInput, match=r"there is no 'sqroot' in math\. Did you mean 'sqrt'"):
        FunctionPipeline("f", "math:sqroot")
    with pytest.raises(
        InvalidInput, match=r"pipeline 'f' is the float 'math:pi'\. Pass a function"
    ):
        FunctionPipeline("f", "math:pi")


def test_a_module_that_cannot_import_shows_its_own_error(tmp_path, monkeypatch):
    (tmp_path / "my_broken.py").write_text("import not_there_at_all\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "my_raising.py").write_text("1 / 0\n")
    with pytest.raises(InvalidInput, match="it needs 'not_there_at_all', which is not installed"):
        FunctionPipeline("f", "my_broken:fit")
    with pytest.raises(InvalidInput, match=r"cannot import 'my_raising' \(ZeroDivisionError"):
        FunctionPipeline("f", "my_raising:fit")


def test_pipelines_from_notebooks_travel_to_workers(digits, split):
    for pipeline in (
        EstimatorPipeline("svm", SVC()),
        FunctionPipeline("f", lambda params, split, seeds: {"test": len(split.test)}),
    ):
        copy = cloudpickle.loads(cloudpickle.dumps(pipeline))
        assert copy.fingerprint == pipeline.fingerprint
        assert copy.fit({}, split, SEEDS, digits) == pipeline.fit({}, split, SEEDS, digits)
