"""Three learners that fit in milliseconds, and three tasks: what `designs.py` experiments with.

Every learner is tuned in two hyperparameters, whose names begin with a letter that it ignores. The
letters decide which of the two random search draws first. So the same learner with its letters
swapped has other searches, of the same distribution: equal to the first, and paired with it in
everything but tuning.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.tree import ExtraTreeClassifier

import outperform as op
from outperform.cli.templates import network

Params = Mapping[str, Any]
Array = NDArray[Any]
N_WAVES = 80


def fit_network(
    params: Params,
    split: op.Split,
    seeds: Mapping[str, int],
    data: op.Dataset,
    task: str,  # noqa: ARG001  # a function must ask for it where there are several
) -> dict[str, float]:
    """Train the network of `outperform demo`, with one hidden layer of 32 units."""
    fixed = {"n_hidden": 32, "weight_decay": 1e-4, "augmentation": 0.1}
    return network.fit(fixed | strip_letters(params), split, seeds, data)


def fit_kernel(
    params: Params,
    split: op.Split,
    seeds: Mapping[str, int],
    data: op.Dataset,
    task: str,  # noqa: ARG001
) -> dict[str, float]:
    """Least squares on random waves of the inputs (Rahimi and Recht, 2007)."""
    own, rng = strip_letters(params), np.random.default_rng(seeds["init"])
    inputs, labels = data.take(split.train)
    scale, n_inputs = network.Scale.of(inputs), inputs.shape[1]
    waves = rng.normal(size=(n_inputs, N_WAVES)) / (own["width"] * np.sqrt(n_inputs))
    phases = rng.uniform(0, 2 * np.pi, size=N_WAVES)

    def expand(rows: Array) -> Array:
        angles: Array = scale.apply(rows) @ waves + phases
        return np.cos(angles)

    classes, targets = np.unique(labels, return_inverse=True)
    features = expand(inputs)
    gram = features.T @ features + own["ridge"] * np.eye(N_WAVES)
    weights = np.linalg.solve(gram, features.T @ np.eye(len(classes))[targets])
    return score(lambda rows: classes[(expand(rows) @ weights).argmax(axis=1)], split, data)


def fit_tree(
    params: Params,
    split: op.Split,
    seeds: Mapping[str, int],
    data: op.Dataset,
    task: str,  # noqa: ARG001
) -> dict[str, float]:
    """One tree with thresholds at random: models of its searches are often refused as noise."""
    tree = ExtraTreeClassifier(**strip_letters(params), random_state=seeds["init"])
    return score(tree.fit(*data.take(split.train)).predict, split, data)


def strip_letters(params: Params) -> dict[str, Any]:
    """Hyperparameters by their names without the first letter: `a_width` is `width`."""
    return {name.partition("_")[2]: value for name, value in params.items()}


def score(predict: Callable[[Array], Array], split: op.Split, data: op.Dataset) -> dict[str, float]:
    """Accuracy on the sets that the split holds: the final fit has no validation data left."""
    held_out = {"valid": split.valid, "test": split.test}
    taken = {name: data.take(rows) for name, rows in held_out.items() if len(rows)}
    return {name: float(np.mean(predict(rows) == labels)) for name, (rows, labels) in taken.items()}


def load_cancer() -> tuple[Array, Array]:
    """Breast cancer of scikit-learn, every input on the same scale."""
    features, labels = load_breast_cancer(return_X_y=True)
    return (features - features.mean(axis=0)) / features.std(axis=0), labels


def load_clusters() -> tuple[Array, Array]:
    """Draw 2,000 examples of three classes with three clusters each, and some labels at random."""
    features, labels = make_classification(
        n_samples=2000,
        n_features=16,
        n_informative=8,
        n_redundant=4,
        n_classes=3,
        n_clusters_per_class=3,
        flip_y=0.05,
        class_sep=1.2,
        random_state=0,
    )
    return features, labels


# Few examples to train on, so that fits are quick, and many to test on, so that few scores tie.
_LARGE = op.OutOfBootstrap(train=300, valid=200, test=1000)
_SMALL = op.OutOfBootstrap(train=150, valid=100, test=300)
_TASKS = {
    "digits": ("digits", _LARGE),
    "cancer": (load_cancer, _SMALL),
    "clusters": (load_clusters, _LARGE),
}
TASKS = tuple(_TASKS)


def make_tasks(names: Sequence[str] = TASKS) -> list[op.Task]:
    """Tasks of these names, scored by accuracy."""
    chosen = [(name, *_TASKS[name]) for name in names]
    return [op.Task(name, "accuracy", data=data, splitter=split) for name, data, split in chosen]


_LEARNERS: dict[str, tuple[Callable[..., dict[str, float]], list[str], dict[str, Any]]] = {
    "network": (
        fit_network,
        [*network.SOURCES],
        {"learning_rate": op.LogUniform(1e-3, 1e-1), "dropout": op.Uniform(0.0, 0.8)},
    ),
    "kernel": (
        fit_kernel,
        ["init"],
        {"width": op.LogUniform(0.3, 10.0), "ridge": op.LogUniform(1e-1, 1e3)},
    ),
    "tree": (
        fit_tree,
        ["init"],
        {"min_samples_leaf": op.Integers(1, 30, log=True), "max_features": op.Uniform(0.05, 1.0)},
    ),
}
LEARNERS = tuple(_LEARNERS)
TWIN = " again"  # the end of a twin's name


def make_pipelines(names: Sequence[str] = LEARNERS) -> list[op.Pipeline]:
    """Learners of these names, each followed by its twin."""
    pipelines = []
    for name in names:
        fit, sources, space = _LEARNERS[name]
        for full_name, letters in ((name, "ab"), (name + TWIN, "ba")):
            named = {f"{a}_{key}": at for a, (key, at) in zip(letters, space.items(), strict=True)}
            pipelines.append(op.Pipeline(full_name, fit, space=named, sources=sources))
    return pipelines
