"""A small neural network in which every learning source has a seed of its own.

It is written in numpy, though scikit-learn's MLPClassifier could be driven batch by batch with
`partial_fit`: that spends most of its time checking its input (a third of the speed), and drops no
hidden units. It takes the same steps: `test_steps_match_scikit_learn` holds the two together.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from outperform.errors import InvalidInput
from outperform.stats.checks import check_count
from outperform.study.datasets import Dataset
from outperform.study.fingerprints import fingerprint
from outperform.study.pipelines import require_data
from outperform.study.scores import check_scores, held_out, needed_sets
from outperform.study.sources import LEARNING_SOURCES
from outperform.study.spaces import Integers, LogUniform, Params, Space, Uniform, default_params
from outperform.study.splits import Split
from outperform.study.study_file_entries import entry
from outperform.wording import suggest_names

FloatArray = NDArray[np.float32]
_BETA1, _BETA2, _EPSILON = 0.9, 0.999, 1e-8
_VERSION = 1  # of the training procedure: raise it when scores change

SPACE: Space = {
    "learning_rate": LogUniform(1e-4, 1e-1, default=1e-2),
    "n_hidden": Integers(8, 128, default=64, log=True),
    "weight_decay": LogUniform(1e-7, 1e-2, default=1e-5),
    "augmentation": Uniform(0.0, 1.0, default=0.2),
    "dropout": Uniform(0.0, 0.6, default=0.1),
}


@dataclass(frozen=True, slots=True)
class NeuralPipeline:
    """A classifier with one hidden layer, trained by Adam; scores are accuracies.

    `init` draws the weights, `order` the batches, `augmentation` the noise added to the inputs (a
    share of their standard deviation), `dropout` the hidden units that are left out; `split` is
    the split. A source without a seed counts as seeded with 0.

    Examples
    --------
    >>> NeuralPipeline().sources
    ('split', 'init', 'order', 'augmentation', 'dropout')
    """

    name: str = "neural"
    space: Space = field(default_factory=lambda: dict(SPACE))
    n_epochs: int = 10
    batch_size: int = 128
    metric: ClassVar[str] = "accuracy"

    def __post_init__(self) -> None:
        with entry("epochs"):
            check_count("epochs", self.n_epochs, at_least=1)
        with entry("batch_size"):
            check_count("batch_size", self.batch_size, at_least=1)
        for name in self.space:
            if name not in SPACE:
                problem = f"pipeline {self.name!r} has no hyperparameter {name!r}"
                with entry("space", name):
                    raise InvalidInput(problem, suggest_names(name, list(SPACE)))

    @property
    def sources(self) -> tuple[str, ...]:
        """Sources of variation that it honours: all learning sources."""
        return LEARNING_SOURCES

    @property
    def fingerprint(self) -> str:
        """Hash of the version of the procedure and its fixed settings."""
        return fingerprint(
            "neural", _VERSION, self.n_epochs, self.batch_size, default_params(SPACE)
        )

    def fit(
        self,
        params: Params,
        split: Split | None,
        seeds: Mapping[str, int],
        dataset: Dataset | None,
        *,
        task: str = "",
        fold: int = 0,
        refit: bool = False,
    ) -> dict[str, float]:
        """Train on the training rows; score whatever other sets the split holds."""
        data, split = require_data(self.name, dataset, split)
        settings: dict[str, Any] = default_params(SPACE) | params
        rngs = {name: np.random.default_rng(seeds.get(name, 0)) for name in LEARNING_SOURCES}
        inputs, labels = data.take(split.train)
        scale = Scale.of(np.asarray(inputs, dtype=np.float32))
        classes, targets = np.unique(labels, return_inverse=True)
        network = Network.draw(inputs.shape[1], settings["n_hidden"], len(classes), rngs["init"])
        for batch, target, kept in self._batches(scale.apply(inputs), targets, settings, rngs):
            network.step(batch, target, kept, settings["learning_rate"], settings["weight_decay"])
        scores = {}
        for name, rows in held_out(split):
            if len(rows):
                inputs, labels = data.take(rows)
                predicted = classes[network.predict(scale.apply(inputs))]
                scores[name] = float(np.mean(predicted == labels))
        return check_scores(scores, self.name, needed_sets(split))

    def _batches(
        self,
        inputs: FloatArray,
        targets: NDArray[np.int64],
        settings: dict[str, Any],
        rngs: Mapping[str, np.random.Generator],
    ) -> Iterator[tuple[FloatArray, FloatArray, FloatArray]]:
        """Inputs with noise, one-hot targets, and a factor for each hidden unit: 0 if left out."""
        one_hot = np.eye(targets.max() + 1, dtype=np.float32)[targets]
        kept_share = np.float32(1 - settings["dropout"])
        noise, shape = np.float32(settings["augmentation"]), (len(inputs), settings["n_hidden"])
        for _ in range(self.n_epochs):
            order = rngs["order"].permutation(len(inputs))
            batches = inputs[order]
            batches += noise * rngs["augmentation"].standard_normal(inputs.shape, dtype=np.float32)
            is_kept = rngs["dropout"].random(shape, dtype=np.float32) < kept_share
            kept = is_kept.astype(np.float32) / kept_share
            for start in range(0, len(inputs), self.batch_size):
                rows = slice(start, start + self.batch_size)
                yield batches[rows], one_hot[order[rows]], kept[rows]


@dataclass(frozen=True, slots=True, eq=False)
class Scale:
    """Centres every input; one factor for all, as pixels of little variation are of little use."""

    centre: FloatArray
    spread: np.float32

    @classmethod
    def of(cls, inputs: FloatArray) -> "Scale":
        """Scale on which these inputs have mean 0 and about standard deviation 1."""
        spread = np.sqrt(inputs.var(axis=0).mean())
        return cls(inputs.mean(axis=0), np.float32(spread) or np.float32(1))

    def apply(self, inputs: NDArray[Any]) -> FloatArray:
        """Inputs on this scale."""
        return (np.asarray(inputs, dtype=np.float32) - self.centre) / self.spread


class Network:
    """Weights of one hidden layer and their moments in Adam, each in one piece of memory."""

    def __init__(self, shapes: list[tuple[int, ...]], values: FloatArray) -> None:
        self.values = values
        self.gradient, self.mean, self.square = (np.zeros_like(values) for _ in range(3))
        self.weights, self.gradients = _cut(values, shapes), _cut(self.gradient, shapes)
        # Weights decay, biases do not.
        self.decays = np.concatenate([np.full(np.prod(s), len(s) > 1) for s in shapes])
        self.n_steps = 0

    @classmethod
    def draw(
        cls, n_inputs: int, n_hidden: int, n_classes: int, rng: np.random.Generator
    ) -> "Network":
        """Network with random weights (Glorot's uniform) and biases 0."""
        shapes: list[tuple[int, ...]] = [
            (n_inputs, n_hidden),
            (n_hidden,),
            (n_hidden, n_classes),
            (n_classes,),
        ]
        values = np.zeros(sum(int(np.prod(shape)) for shape in shapes), dtype=np.float32)
        for weights in _cut(values, shapes)[::2]:
            bound = np.sqrt(6 / sum(weights.shape))
            weights[:] = rng.uniform(-bound, bound, size=weights.shape)
        return cls(shapes, values)

    def step(
        self,
        inputs: FloatArray,
        targets: FloatArray,
        kept: FloatArray,
        learning_rate: float,
        weight_decay: float,
    ) -> None:
        """Take one step of Adam on the cross-entropy of a batch."""
        w1, b1, w2, b2 = self.weights
        g1, h1, g2, h2 = self.gradients
        hidden = np.maximum(inputs @ w1 + b1, 0) * kept
        error = (_softmax(hidden @ w2 + b2) - targets) / np.float32(len(inputs))
        np.matmul(hidden.T, error, out=g2)
        error.sum(axis=0, out=h2)
        error = (error @ w2.T) * kept * (hidden > 0)
        np.matmul(inputs.T, error, out=g1)
        error.sum(axis=0, out=h1)
        self.gradient += np.float32(weight_decay) * self.values * self.decays
        self._move(learning_rate)

    def _move(self, learning_rate: float) -> None:
        self.n_steps += 1
        self.mean += np.float32(1 - _BETA1) * (self.gradient - self.mean)
        self.square += np.float32(1 - _BETA2) * (self.gradient**2 - self.square)
        correction = np.sqrt(1 - _BETA2**self.n_steps) / (1 - _BETA1**self.n_steps)
        pace = np.float32(learning_rate * correction)
        self.values -= pace * self.mean / (np.sqrt(self.square) + np.float32(_EPSILON))

    def predict(self, inputs: FloatArray) -> NDArray[np.int64]:
        """Class number of every input."""
        w1, b1, w2, b2 = self.weights
        logits: FloatArray = np.maximum(inputs @ w1 + b1, 0) @ w2 + b2
        numbers: NDArray[np.int64] = logits.argmax(axis=1)
        return numbers


def _cut(values: FloatArray, shapes: list[tuple[int, ...]]) -> list[FloatArray]:
    """Views of one array, one per shape."""
    ends = np.cumsum([np.prod(shape) for shape in shapes])[:-1]
    pieces = np.split(values, ends)
    return [piece.reshape(shape) for piece, shape in zip(pieces, shapes, strict=True)]


def _softmax(logits: FloatArray) -> FloatArray:
    raised = np.exp(logits - logits.max(axis=1, keepdims=True))
    share: FloatArray = raised / raised.sum(axis=1, keepdims=True)
    return share
