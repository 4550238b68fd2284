"""Every learning source has a seed of its own, and nothing else is random."""

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.neural_network import MLPClassifier

from outperform.errors import InvalidInput
from outperform.study.datasets import Dataset
from outperform.study.neural import SPACE, Network, NeuralPipeline
from outperform.study.sources import LEARNING_SOURCES, derive_seed
from outperform.study.spaces import Uniform
from outperform.study.splits import OutOfBootstrap, Split
from outperform.study.tasks import BundledData

PIPELINE = NeuralPipeline(n_epochs=3)


@pytest.fixture(scope="module")
def digits() -> Dataset:
    return BundledData("digits")()


def draw(replicate: int, vary=LEARNING_SOURCES) -> dict[str, int]:
    """Seeds of a replicate; sources that do not vary stay at replicate 0."""
    return {s: derive_seed(0, s, replicate if s in vary else 0) for s in LEARNING_SOURCES}


def fit(dataset: Dataset, seeds: dict[str, int], pipeline: NeuralPipeline = PIPELINE, **params):
    split = OutOfBootstrap().split(dataset.n_examples, seed=seeds["split"])
    return pipeline.fit(params, split.refit(), seeds, dataset)["test"]


@pytest.mark.parametrize("source", LEARNING_SOURCES)
def test_a_seed_repeats_and_other_seeds_differ(digits, source):
    scores = np.array([[fit(digits, draw(seed, {source})) for _ in range(3)] for seed in range(5)])
    assert (scores == scores[:, :1]).all()  # bit by bit
    assert len(set(scores[:, 0])) >= 3


@pytest.mark.parametrize(
    ("source", "params"), [("augmentation", {"augmentation": 0.0}), ("dropout", {"dropout": 0.0})]
)
def test_a_source_that_is_switched_off_changes_nothing(digits, source, params):
    found = {fit(digits, draw(seed, {source}), **params) for seed in range(4)}
    assert len(found) == 1


def test_the_tuner_and_unknown_sources_change_nothing(digits):
    seeds = draw(0)
    assert fit(digits, seeds | {"hpo": 1, "noise": 2}) == fit(digits, seeds)


def test_defaults_learn_digits(digits):
    scores = [fit(digits, draw(seed), NeuralPipeline()) for seed in range(5)]
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
    found = set()
    for n_threads in (1, 2):
        with threadpoolctl.threadpool_limits(n_threads):
            found.add(fit(digits, seeds, n_hidden=128))
    assert len(found) == 1


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
    for found, wanted in zip(network.weights, expected, strict=True):
        np.testing.assert_allclose(found, wanted, atol=2e-4)
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
    scores = PIPELINE.fit({}, split, {}, Dataset(features, labels))
    assert set(scores) == {"valid", "test"}
    assert 0 <= scores["test"] <= 1 / 3


def test_inputs_that_do_not_vary_are_no_trouble():
    split = Split(np.arange(4), np.arange(4, 6), np.arange(6, 8))
    scores = PIPELINE.fit({}, split, {}, Dataset(np.ones((8, 3)), np.array([0, 1] * 4)))
    assert 0 <= scores["test"] <= 1


def test_construction_checks_the_space_and_the_fingerprint_the_settings():
    with pytest.raises(InvalidInput) as caught:
        NeuralPipeline(space={"lr": Uniform(0, 1)})
    assert str(caught.value) == (
        "pipeline 'neural' has no hyperparameter 'lr'. It has: learning_rate, n_hidden, "
        "weight_decay, augmentation, dropout."
    )
    for setting in ("n_epochs", "batch_size"):
        with pytest.raises(InvalidInput, match=r"is 0\. Pass a whole number not less than 1"):
            NeuralPipeline(**{setting: 0})
    assert NeuralPipeline().sources == LEARNING_SOURCES
    assert NeuralPipeline("other").fingerprint == NeuralPipeline().fingerprint
    assert NeuralPipeline(n_epochs=3).fingerprint != NeuralPipeline().fingerprint
    assert NeuralPipeline(batch_size=3).fingerprint != NeuralPipeline().fingerprint
