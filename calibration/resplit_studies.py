"""Studies that re-split one dataset, with learners that really train.

Every study draws a fresh dataset from a population, re-splits it k times and trains two learners
on each split. The two see different features of the same examples, which are distributed alike
given the target: on every dataset one of them is luckier, and over datasets neither is better. A
third, with noisier features, is truly worse. Learners train in closed form on all splits of a
dataset at once: a matrix says how often each split trains on each example.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]  # of each split (row), how often it trains on each example (column)
Mask = NDArray[np.bool_]  # of each split, which examples it tests
Rng = np.random.Generator


# Resampling: (number of examples, number of splits, rng) -> what trains and what tests


def out_of_bootstrap(
    n: int, k: int, rng: Rng, *, test: float = 0.5, refit: bool = True
) -> tuple[Counts, Mask]:
    """Split as `OutOfBootstrap()` does; the final fit trains on validation examples too."""
    drawn = rng.multinomial(n, np.full(n, 1 / n), size=k)
    order = np.where(drawn == 0, rng.random((k, n)), 2.0).argsort(axis=1).argsort(axis=1)
    n_test = (test * (drawn == 0).sum(axis=1) + 0.5).astype(np.int64)
    tested = order < n_test[:, None]
    valid = (drawn == 0) & ~tested
    return (drawn + valid if refit else drawn), tested


def hold_out(n: int, k: int, rng: Rng, *, test: float) -> tuple[Counts, Mask]:
    """Hold out a share at random, anew each time."""
    held_out = rng.random((k, n)).argsort(axis=1) < round(test * n)
    return (~held_out).astype(np.int64), held_out


def cross_validate(n: int, k: int, rng: Rng, *, n_folds: int) -> tuple[Counts, Mask]:
    """Fold after fold, and with other folds again where k is a multiple."""
    fold_of = rng.random((k // n_folds, n)).argsort(axis=1) % n_folds
    held_out = (fold_of[:, None, :] == np.arange(n_folds)[:, None]).reshape(k, n)
    return (~held_out).astype(np.int64), held_out


Resample = Callable[[int, int, Rng], tuple[Counts, Mask]]


# Learners: (features, target, what trains, what tests) -> score of each split


def score_centroids(x: Floats, y: Floats, train: Counts, test: Mask) -> Floats:
    """Accuracy of the class with the nearer mean."""
    up, down = train * (y > 0), train * (y < 0)
    high, low = up @ x / up.sum(1)[:, None], down @ x / down.sum(1)[:, None]
    middle = ((high**2).sum(1) - (low**2).sum(1)) / 2
    return _accuracy((high - low) @ x.T - middle[:, None], y, test)


def score_ridge(x: Floats, y: Floats, train: Counts, test: Mask) -> Floats:
    """Accuracy of the sign of a ridge regression."""
    return _accuracy(_ridge(x, y, train), y, test)


def score_regression(x: Floats, y: Floats, train: Counts, test: Mask) -> Floats:
    """Minus the mean squared error of a ridge regression."""
    return -np.asarray(((_ridge(x, y, train) - y) ** 2 * test).sum(1) / test.sum(1))


def score_neighbours(
    x: Floats, y: Floats, train: Counts, test: Mask, *, n_neighbours: int
) -> Floats:
    """Accuracy of the vote of the nearest training examples, as often as they were drawn."""
    square = (x**2).sum(1)
    distance = square[:, None] + square - 2 * x @ x.T
    # At least half of all examples train, so that enough are among the nearest two dozen.
    near = np.argpartition(distance, 24, axis=1)[:, :25]
    near = np.take_along_axis(near, np.take_along_axis(distance, near, 1).argsort(1), 1)
    split, example = np.nonzero(test)
    neighbours = near[example]
    times = train[split[:, None], neighbours]
    votes = np.clip(n_neighbours - (times.cumsum(1) - times), 0, times)
    right = (votes * y[neighbours]).sum(1) * y[example] > 0
    return np.asarray(np.bincount(split, right, minlength=len(test)) / test.sum(1))


def _ridge(x: Floats, y: Floats, train: Counts, penalty: float = 1.0) -> Floats:
    z = np.column_stack([np.ones(len(x)), x])
    products = (z[:, :, None] * z[:, None, :]).reshape(len(z), -1)
    gram = (train @ products).reshape(len(train), z.shape[1], z.shape[1])
    moments = train @ (z * y[:, None])
    weights = np.linalg.solve(gram + penalty * np.eye(z.shape[1]), moments[..., None])[..., 0]
    return np.asarray(weights @ z.T)


def _accuracy(values: Floats, y: Floats, test: Mask) -> Floats:
    return np.asarray(((values * y > 0) & test).sum(1) / test.sum(1))


Score = Callable[[Floats, Floats, Counts, Mask], Floats]


# Populations: (number of examples, rng) -> two sets of features, a noisier second one, the target


@dataclass(frozen=True, slots=True)
class Dataset:
    """Two sets of features that are distributed alike given the target, and a noisier one."""

    first: Floats
    second: Floats
    noisier: Floats
    target: Floats


def draw_gaussian(
    n: int, rng: Rng, *, n_features: int = 5, noise: float = 1.3, group_size: int = 1
) -> Dataset:
    """Two classes around two means; examples of a group share their class and half the noise."""
    group = np.arange(n) // group_size
    y = rng.choice([-1.0, 1.0], size=n)[group]

    def draw_noise() -> Floats:
        own, shared = rng.normal(size=(2, n, n_features))
        return np.asarray(own if group_size == 1 else (own + shared[group]) / np.sqrt(2))

    signal = np.repeat(y[:, None], n_features, 1) / np.sqrt(n_features)
    one, other = draw_noise(), draw_noise()
    return Dataset(signal + one, signal + other, signal + noise * other, y)


def draw_rings(n: int, rng: Rng, *, noise: float = 1.3) -> Dataset:
    """Two classes on two rings: no line divides them."""
    y = rng.choice([-1.0, 1.0], size=n)

    def draw_ring() -> tuple[Floats, Floats]:
        angle, blur = rng.uniform(0, 2 * np.pi, n), rng.normal(size=(n, 2)) / 2
        return (2 + y / 2)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]), blur

    (ring, blur), (other, blur_of_other) = draw_ring(), draw_ring()
    return Dataset(ring + blur, other + blur_of_other, other + noise * blur_of_other, y)


def draw_regression(n: int, rng: Rng, *, n_features: int = 8, noise: float = 1.2) -> Dataset:
    """A number, and noisy readings of what it depends on."""
    cause = rng.normal(size=(n, 1))
    one, other = 1.5 * rng.normal(size=(2, n, n_features))
    y = cause[:, 0] + rng.normal(size=n) / 2
    return Dataset(cause + one, cause + other, cause + noise * other, y)


def draw_shared(n: int, rng: Rng) -> Dataset:
    """The same features for both learners, which differ themselves."""
    drawn = draw_gaussian(n, rng, noise=1.3)
    return Dataset(drawn.second, drawn.second, drawn.noisier, drawn.target)


@dataclass(frozen=True, slots=True)
class Setting:
    """A population, and the two learners that are compared on its two sets of features."""

    name: str
    draw: Callable[..., Dataset]
    score_a: Score
    score_b: Score


one_neighbour = partial(score_neighbours, n_neighbours=1)
five_neighbours = partial(score_neighbours, n_neighbours=5)
wide_gaussian = partial(draw_gaussian, n_features=10)
SETTINGS = {
    setting.name: setting
    for setting in (
        Setting("nearest centroid", draw_gaussian, score_centroids, score_centroids),
        Setting("linear, 10 features", wide_gaussian, score_ridge, score_ridge),
        Setting("regression, squared error", draw_regression, score_regression, score_regression),
        Setting("5 neighbours, rings", draw_rings, five_neighbours, five_neighbours),
        Setting("1 neighbour", draw_gaussian, one_neighbour, one_neighbour),
        # Not alike: the level is that of finding their mean difference over datasets not so.
        Setting("5 neighbours against linear", draw_shared, score_ridge, five_neighbours),
    )
}


# Designs: how often which dataset is split, and how


@dataclass(frozen=True, slots=True)
class Design:
    """Re-splits of datasets of n examples."""

    name: str
    resample: Resample
    n_splits: tuple[int, ...]
    n_examples: int = 300
    group_size: int = 1
    groups_kept: bool = True
    settings: tuple[str, ...] = tuple(SETTINGS)

    def split(self, rng: Rng) -> tuple[Counts, Mask]:
        """Draw splits of examples, or of groups that stay together."""
        size = self.group_size if self.groups_kept else 1
        train, test = self.resample(self.n_examples // size, max(self.n_splits), rng)
        return np.repeat(train, size, axis=1), np.repeat(test, size, axis=1)


_GROUPED = ("nearest centroid", "linear, 10 features", "1 neighbour")
_TENFOLD = partial(cross_validate, n_folds=10)
MAIN = Design("out-of-bootstrap", out_of_bootstrap, (8, 10, 29, 51, 100))
DESIGNS = (
    MAIN,
    Design("out-of-bootstrap", out_of_bootstrap, (51,), n_examples=100),
    Design("out-of-bootstrap", out_of_bootstrap, (51,), n_examples=1000, settings=_GROUPED),
    Design("out-of-bootstrap, no refit", partial(out_of_bootstrap, refit=False), (51,)),
    Design("out-of-bootstrap, no validation", partial(out_of_bootstrap, test=1.0), (51,)),
    Design("hold-out 80/20", partial(hold_out, test=0.2), (10, 51)),
    Design("hold-out 50/50", partial(hold_out, test=0.5), (10, 51)),
    Design("5-fold", partial(cross_validate, n_folds=5), (5,)),
    Design("10-fold", _TENFOLD, (10,)),
    Design("5 times 10-fold", _TENFOLD, (50,)),
    Design("out-of-bootstrap, groups of 5 kept", out_of_bootstrap, (51,), 300, 5, True, _GROUPED),
    Design("10-fold, groups of 5 kept", _TENFOLD, (10,), 300, 5, True, _GROUPED),
    Design("out-of-bootstrap, groups ignored", out_of_bootstrap, (51,), 300, 5, False, _GROUPED),
    Design("10-fold, groups ignored", _TENFOLD, (10,), 300, 5, False, _GROUPED),
)


@dataclass(frozen=True, slots=True)
class Differences:
    """Scores of a minus those of b, of each study (row) and split, and the sizes of splits."""

    equal: Floats  # where neither is better for the population, but for unlike learners
    better: Floats  # where a is
    n_test: float
    n_drawn: float  # training examples, as often as they were drawn
    n_distinct: float  # training examples, each counted once


def draw_differences(design: Design, setting: Setting, n_studies: int, rng: Rng) -> Differences:
    """Run studies of one design and setting."""
    equal, better, sizes = [], [], []
    grouped = {} if design.group_size == 1 else {"group_size": design.group_size}
    with threadpool_limits(1):  # matrices are small
        for _ in range(n_studies):
            data = setting.draw(design.n_examples, rng, **grouped)
            train, test = design.split(rng)
            a = setting.score_a(data.first, data.target, train, test)
            equal.append(a - setting.score_b(data.second, data.target, train, test))
            better.append(a - setting.score_b(data.noisier, data.target, train, test))
            sizes.append([x.sum() / len(x) for x in (test, train, train > 0)])
    return Differences(np.array(equal), np.array(better), *np.mean(sizes, axis=0).tolist())
