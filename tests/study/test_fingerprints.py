"""Fingerprints change with the code that a pipeline runs, and with nothing else."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("sklearn")

from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from outperform.errors import InvalidInput
from outperform.study.estimator_pipeline import EstimatorPipeline
from outperform.study.pipelines import FunctionPipeline


def test_the_fingerprint_of_an_estimator():
    def fingerprint_of(estimator, **options):
        return EstimatorPipeline("p", estimator, **options).fingerprint

    svm = fingerprint_of(SVC())
    assert fingerprint_of("sklearn.svm.SVC") == svm
    assert fingerprint_of(SVC(random_state=3)) == svm
    assert fingerprint_of(SVC(C=1.0)) == svm
    assert fingerprint_of(SVC(), fixed={"C": 2.0}) == fingerprint_of(SVC(C=2.0))
    scaled = make_pipeline(StandardScaler(), SVC())
    others = [
        svm,
        fingerprint_of(SVC(C=2.0)),
        fingerprint_of(SVC(), metric="f1_macro"),
        fingerprint_of(scaled),
        fingerprint_of(make_pipeline(StandardScaler(), SVC(C=2.0))),
        fingerprint_of(SVC(class_weight={0: 1.0, 1: 2.0})),
        fingerprint_of(SVC(class_weight={0: 2.0, 1: 1.0})),
        fingerprint_of(DecisionTreeClassifier()),
        fingerprint_of(DecisionTreeClassifier(), sources=("split", "init")),
    ]
    assert len(set(others)) == len(others)


MODULE = """
from my_helper import scale
RATE = {rate}
CONFIG = {config}
SEEN = {{}}

class Net:
    width = {width}
    def forward(self):
        return {forward}

def build():
    return again(0)

def again(n):
    return build() if n else Net().forward() in {{"a", "b", "c", "d", RATE}}

def fit(params, split, seeds):
    SEEN[seeds["init"]] = CONFIG["layers"]
    return {{"test": build() * scale(1.0)}}
"""
DEFAULTS = {
    "config": "{'layers': [64, None], 'mix': {1, 2}}",
    "rate": "0.5",
    "width": "8",
    "forward": "'a'",
    "helper": "x",
}


def fingerprint_in_a_new_process(folder: Path, hash_seed: str, **changes: str) -> str:
    text = DEFAULTS | changes
    (folder / "my_training.py").write_text(MODULE.format(**text))
    (folder / "my_helper.py").write_text(f"def scale(x):\n    return {text['helper']}\n")
    code = (
        "from outperform.study.pipelines import FunctionPipeline\n"
        "print(FunctionPipeline('net', 'my_training:fit').fingerprint)"
    )
    path = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = os.environ | {
        "PYTHONHASHSEED": hash_seed,
        "PYTHONPATH": path,
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return result.stdout.strip()


def test_changed_code_changes_the_fingerprint_and_nothing_else_does(tmp_path):
    first = fingerprint_in_a_new_process(tmp_path, "1")
    assert len(first) == 32
    assert fingerprint_in_a_new_process(tmp_path, "2") == first
    changes = [
        {"rate": "0.6"},
        {"width": "9"},
        {"width": "(8, 9)"},
        {"width": "(8, 10)"},
        {"forward": "'b'"},
        {"helper": "2 * x"},
        {"config": "{'layers': [64, 32], 'mix': {1, 2}}"},
    ]
    others = [fingerprint_in_a_new_process(tmp_path, "1", **change) for change in changes]
    assert len({first, *others}) == 8


NOTEBOOK = """
from functools import cache, partial
from outperform.study.estimator_pipeline import EstimatorPipeline
from outperform.study.pipelines import FunctionPipeline
from sklearn.base import BaseEstimator
from sklearn.svm import SVC
from sklearn.compose import ColumnTransformer
from sklearn.preprocessing import FunctionTransformer
import numpy as np

class Own(BaseEstimator):
    def __init__(self, kernel=None): self.kernel = kernel
    def fit(self, X, y): return self

def fit(params, split, seeds, shift=frozenset({"x", "y", "z"})):
    return {"test": 1.0 if seeds in {"a", "b", "c"} else 0.0}

@cache
def cached(): return 1

estimators = [Own(), Own(kernel=np.tanh), Own(kernel=len), Own(kernel=np.mean), Own(kernel=cached),
    SVC(kernel=lambda a, b: a @ b.T), Own(kernel=np.random.default_rng(3)),
    FunctionTransformer(np.log1p)]
functions = [fit, partial(fit, shift={"p", "q"}), lambda p, s, d: 1, lambda p, s, d: 2]
for e in estimators: print(EstimatorPipeline("e", e).fingerprint)
for f in functions: print(FunctionPipeline("f", f).fingerprint)
"""


def test_notebook_code_without_source_has_a_stable_fingerprint():
    hashes = []
    for hash_seed in ("1", "2"):
        command = [sys.executable, "-c", NOTEBOOK]
        environment = os.environ | {"PYTHONHASHSEED": hash_seed}
        result = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert result.stderr == ""
        hashes.append(result.stdout.splitlines())
    assert hashes[0] == hashes[1]
    assert len(set(hashes[0])) == len(hashes[0]) == 12


def test_closures_count():
    def make(rate):
        def fit(params, split, seeds):
            return {"test": rate}

        return fit

    one, same, other = (FunctionPipeline("f", make(rate)).fingerprint for rate in (1, 1, 2))
    assert one == same != other


def test_what_a_closure_is_not_given_yet_is_nothing():
    def fit(params, split, seeds):
        return later(params)

    before = FunctionPipeline("f", fit).fingerprint

    def later(params):
        return {"test": 1.0}

    assert FunctionPipeline("f", fit).fingerprint != before


def test_two_lambdas_on_one_line_are_two_functions():
    pair = (lambda params, split, seeds: {"test": 1}, lambda params, split, seeds: {"test": 2})
    assert len({FunctionPipeline("f", function).fingerprint for function in pair}) == 2


def test_what_cannot_be_known_again_is_refused():
    import threading

    lock = threading.Lock()

    def fit(params, split, seeds):
        with lock:
            return {"test": 1.0}

    with pytest.raises(InvalidInput) as caught:
        FunctionPipeline("f", fit)
    assert str(caught.value) == (
        "nothing says whether a lock is the same in the next process. Make it inside the "
        "function, or pass it as a plain value."
    )


HOLDS_ITSELF: list[object] = [1]
HOLDS_ITSELF.append(HOLDS_ITSELF)
FILLED: dict[str, int] = {}


def test_what_holds_itself_or_is_filled_at_work_is_no_constant():
    def fit(params, split, seeds):
        return {"test": len(HOLDS_ITSELF) + len(FILLED)}

    assert FunctionPipeline("f", fit).fingerprint == FunctionPipeline("f", fit).fingerprint


CALLS = [1]
SEEN = {"first": [0]}


def test_what_a_function_changes_at_work_is_no_constant():
    def fit(params, split, seeds):
        CALLS.append(len(CALLS))
        SEEN["first"][0] += 1
        return {"test": 0.5}

    pipeline = FunctionPipeline("f", fit)
    fit({}, None, {})
    assert len(CALLS) == 2
    assert FunctionPipeline("f", fit).fingerprint == pipeline.fingerprint
