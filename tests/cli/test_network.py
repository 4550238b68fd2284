"""The network of the demo: every source has a seed of its own, and nothing else is random."""

import tomllib

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.neural_network import MLPClassifier

from outperform.cli.init import TEMPLATES
from outperform.cli.templates import network as module
from outperform.cli.templates.network import Network
from outperform.study.datasets import Dataset
from outperform.study.sources import LEARNING_SOURCES, derive_seed
from outperform.study.spaces import default_params, make_space
from outperform.study.splits import OutOfBootstrap, Split
from outperform.study.tasks import BundledData

PIPELINES = tomllib.loads((TEMPLATES / "demo.toml").read_text())["pipeline"]
SPACE = make_space(next(table for table in PIPELINES if table["name"] == "neural")["space"])


@pytest.fixture(autouse=True)
def epochs(monkeypatch):
    """Train for three epochs: enough for every seed to show."""
    monkeypatch.setattr(module, "N_EPOCHS", 3)


@pytest.fixture(scope="module")
def digits() -> Dataset:
    return BundledData("digits")()


def draw(replicate: int, vary=LEARNING_SOURCES) -> dict[str, int]:
    """Seeds of a replicate; sources that do not vary stay at replicate 0."""
    return {s: derive_seed(0, s, replicate if s in vary else 0) for s in LEARNING_SOURCES}


def fit(dataset: Dataset, seeds: dict[str, int], **params):
    split = OutOfBootstrap().split(dataset.n_examples, seed=seeds["split"])
    return module.fit(default_params(SPACE) | params, split.refit(), seeds, dataset)["test"]


@pytest.mark.parametrize("source", LEARNING_SOURCES)
def test_a_seed_repeats_and_other_seeds_differ(digits, source):
    scores = np.array([[fit(digits, draw(seed, {source})) for _ in range(3)] for seed in range(5)])
    assert (scores == scores[:, :1]).all()  # bit by bit
    assert len(set(scores[:, 0])) >= 3


@pytest.mark.parametrize(
    ("source", "params"), [("augmentation", {"augmentation": 0.0}), ("dropout", {"dropout": 0.0})]
)
def test_a_source_that_is_switched_off_changes_nothing(digits, source, params):
    scores = {fit(digits, draw(seed, {source}), **params) for seed in range(4)}
    assert len(scores) == 1


def test_the_tuner_and_unknown_sources_change_nothing(digits):
    seeds = draw(0)
    assert fit(digits, seeds | {"hpo": 1, "noise": 2}) == fit(digits, seeds)


def test_defaults_learn_digits(digits, monkeypatch):
    monkeypatch.setattr(module, "N_EPOCHS", 10)
    scores = [fit(digits, draw(seed)) for seed in range(5)]
    assert np.mean(scores) > 0.96


@pytest.mark.parametrize("name", SPACE)
def test_every_hyperparameter_matters(digits, name):
    low, high = (
        [fit(digits, draw(i), **{name: value}) for i in range(3)]
        for value in (SPACE[name].from_unit(0.0), SPACE[name].from_unit(1.0))
    )
    assert low != high


def test_the_number_of_threads_changes_nothing(digits):
    threadpoolctl = pytest.importorskip("threadpoolctl")
    seeds = draw(0)
    scores = set()
    for n_threads in (1, 2):
        with threadpoolctl.threadpool_limits(n_threads):
            scores.add(fit(digits, seeds, n_hidden=128))
    assert len(scores) == 1


def test_steps_match_scikit_learn():
    """The same steps as MLPClassifier driven batch by batch from the same weights."""
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(96, 5)).astype(np.float32)
    labels = rng.integers(0, 3, size=96)
    labels[:3] = 0, 1, 2
    network = Network.draw(5, 7, 3, np.random.default_rng(1))
    peer = MLPClassifier((7,), learning_rate_init=0.01, alpha=32 * 0.02, shuffle=False)
    peer.partial_fit(inputs[:32], labels[:32], classes=[0, 1, 2])
    w1, b1, w2, b2 = (weights.astype(np.float64) for weights in network.weights)
    before = w1.copy()
    del peer._optimizer
    peer.coefs_, peer.intercepts_ = [w1, w2], [b1, b2]
    everything = np.ones((32, 7), dtype=np.float32)
    one_hot = np.eye(3, dtype=np.float32)[labels]
    for start in [*range(0, 96, 32)] * 20:
        rows = slice(start, start + 32)
        peer.partial_fit(inputs[rows].astype(np.float64), labels[rows])
        network.step(inputs[rows], one_hot[rows], everything, 0.01, 0.02)
    expected = [peer.coefs_[0], peer.intercepts_[0], peer.coefs_[1], peer.intercepts_[1]]
    for weights, wanted in zip(network.weights, expected, strict=True):
        np.testing.assert_allclose(weights, wanted, atol=2e-4)
    assert not np.allclose(network.weights[0], before, atol=0.05)  # it did move


def test_units_left_out_take_no_part():
    network = Network.draw(4, 6, 3, np.random.default_rng(0))
    before = network.values.copy()
    kept = np.ones((8, 6), dtype=np.float32)
    kept[:, 2] = 0
    inputs = np.random.default_rng(1).normal(size=(8, 4)).astype(np.float32)
    network.step(inputs, np.eye(3, dtype=np.float32)[[0, 1, 2, 0, 1, 2, 0, 1]], kept, 0.01, 0.0)
    w1, _, w2, _ = network.weights
    moved = network.values != before
    assert moved.any()
    unmoved = Network.draw(4, 6, 3, np.random.default_rng(0)).weights
    np.testing.assert_array_equal(w1[:, 2], unmoved[0][:, 2])
    np.testing.assert_array_equal(w2[2], unmoved[2][2])


def test_text_labels_and_classes_that_never_trained():
    features = np.random.default_rng(0).normal(size=(30, 4))
    labels = np.array(["a", "b"] * 14 + ["c", "c"])
    split = Split(np.arange(24), np.arange(24, 27), np.arange(27, 30))
    scores = module.fit(default_params(SPACE), split, draw(0), Dataset(features, labels))
    assert set(scores) == {"valid", "test"}
    assert 0 <= scores["test"] <= 1 / 3


def test_inputs_that_do_not_vary_are_no_trouble():
    split = Split(np.arange(4), np.arange(4, 6), np.arange(6, 8))
    data = Dataset(np.ones((8, 3)), np.array([0, 1] * 4))
    scores = module.fit(default_params(SPACE), split, draw(0), data)
    assert 0 <= scores["test"] <= 1
