"""A small neural network in which every source of variation has a seed of its own.

Written in numpy, and the pattern for training code of your own: `fit` gets hyperparameters, the
positions of the examples to train, validate and test on, a seed per source, and the data.

    init          draws the weights
    order         draws the batches
    augmentation  draws the noise added to the inputs, a share of their standard deviation
    dropout       draws the hidden units that are left out

scikit-learn's MLPClassifier takes the same steps when it is driven batch by batch, at a third of
the speed, and drops no hidden units.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float32]
N_EPOCHS, BATCH_SIZE = 15, 128
SOURCES = ("init", "order", "augmentation", "dropout")
_BETA1, _BETA2, _EPSILON = 0.9, 0.999, 1e-8


def fit(params: Any, split: Any, seeds: Mapping[str, int], data: Any) -> dict[str, float]:
    """Train on the training rows; the accuracy on whatever other sets the split holds."""
    rngs = {name: np.random.default_rng(seeds[name]) for name in SOURCES}
    inputs, labels = data.take(split.train)
    scale = Scale.of(np.asarray(inputs, dtype=np.float32))
    classes, targets = np.unique(labels, return_inverse=True)
    network = Network.draw(inputs.shape[1], params["n_hidden"], len(classes), rngs["init"])
    for batch, target, kept in draw_batches(scale.apply(inputs), targets, params, rngs):
        network.step(batch, target, kept, params["learning_rate"], params["weight_decay"])
    scores = {}
    for name, rows in (("valid", split.valid), ("test", split.test)):
        if len(rows):  # the final fit has no validation data left
            inputs, labels = data.take(rows)
            predicted = classes[network.predict(scale.apply(inputs))]
            scores[name] = float(np.mean(predicted == labels))
    return scores


def draw_batches(
    inputs: FloatArray,
    targets: NDArray[np.int64],
    params: Mapping[str, Any],
    rngs: Mapping[str, np.random.Generator],
) -> Iterator[tuple[FloatArray, FloatArray, FloatArray]]:
    """Inputs with noise, one-hot targets, and a factor for each hidden unit: 0 if left out."""
    one_hot = np.eye(targets.max() + 1, dtype=np.float32)[targets]
    kept_share = np.float32(1 - params["dropout"])
    noise, shape = np.float32(params["augmentation"]), (len(inputs), params["n_hidden"])
    for _ in range(N_EPOCHS):
        order = rngs["order"].permutation(len(inputs))
        batches = inputs[order]
        batches += noise * rngs["augmentation"].standard_normal(inputs.shape, dtype=np.float32)
        is_kept = rngs["dropout"].random(shape, dtype=np.float32) < kept_share
        kept = is_kept.astype(np.float32) / kept_share
        for start in range(0, len(inputs), BATCH_SIZE):
            rows = slice(start, start + BATCH_SIZE)
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
