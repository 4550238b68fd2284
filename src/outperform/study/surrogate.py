"""A model of one search: what it says of hyperparameters that were never tried.

Searches are simulated on it without any fit (`simulated_searches`).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from outperform.errors import InvalidInput, InvalidScores, TooFewRuns
from outperform.stats.checks import as_scores
from outperform.study.gaussian_process import (
    Chain,
    FloatArray,
    condition,
    matern,
    one_thread,
    sample_chain,
    square_differences,
)
from outperform.study.simulated_searches import count_needed_trials, simulate_searches
from outperform.study.sources import derive_seed
from outperform.study.spaces import Choices, Params, Space, Value, encode_dimensions, units_of
from outperform.study.surrogate_fidelity import (
    TELLING,
    Fidelity,
    Remoteness,
    average_left_out,
    list_doubts,
    measure_fidelity,
    measure_remoteness,
    refuse_unexplained,
)
from outperform.study.tuners import TUNERS, Trial, Tuner
from outperform.wording import enumerate_names

N_STEPS = 200  # of every walker of the chain, after half as many that are thrown away
_N_SAMPLES = 50  # of the chain, over which predictions are averaged
_MOST_TRIALS = 1000  # the time grows with their cube: minutes
_TIE = 1e-12  # of the largest score: spreads that are rounding errors
_BLOCK = 2**15  # covariances at a time while predicting: what a processor has at hand
# Simulated to see how far their optima lie from the trials: random ones, and by other tuners.
_N_SEARCHES, _N_OTHER_SEARCHES = 40, 10


@dataclass(frozen=True, slots=True)
class Inputs:
    """How points become inputs of a process: dimension by dimension, in the order of names."""

    space: Space  # the dimensions in which the trials differ
    absences: Mapping[str, tuple[str, tuple[Value, ...]]]  # name: (choice, options without it)

    def encode(self, points: Sequence[Params]) -> list[FloatArray]:
        """Points as arrays (n, columns), one per dimension, of what has an effect at each.

        Where a choice takes its meaning away, as that of a width where the model is linear, a
        hyperparameter may be missing, and has none.
        """
        present: list[Params] = []
        for point in points:
            choices = self.absences.items()
            absent = [name for name, (choice, without) in choices if point.get(choice) in without]
            kept = [name for name in self.space if name not in absent]
            lacking = [name for name in kept if name not in point]
            if lacking:
                raise InvalidInput(
                    f"a point has no {enumerate_names(map(repr, lacking))}: {point}",
                    "Give every hyperparameter that the trials had",
                )
            present.append({name: point[name] for name in kept})
        return encode_dimensions(self.space, units_of(self.space, present))


def choose_inputs(space: Space, points: Sequence[Params]) -> Inputs:
    """Dimensions in which the points differ, and where some of them have no effect."""
    if not points:
        return Inputs({}, {})
    columns = encode_dimensions(space, units_of(space, points))
    names = [
        name
        for name, column in zip(sorted(space), columns, strict=True)
        if np.ptp(column, axis=0).any()
    ]
    partial = [name for name in names if any(name not in point for point in points)]
    return Inputs(
        {name: space[name] for name in names},
        {name: _find_choice(space, points, name) for name in partial},
    )


def _find_choice(
    space: Space, points: Sequence[Params], name: str
) -> tuple[str, tuple[Value, ...]]:
    """The choice that tells where a hyperparameter is missing, and the options without it."""
    for choice in sorted(space):
        dimension = space[choice]
        if choice == name or not isinstance(dimension, Choices):
            continue
        options = tuple(
            option
            for option in dimension.options
            if any(point.get(choice) == option and name not in point for point in points)
        )
        if all((point.get(choice) in options) == (name not in point) for point in points):
            return choice, options
    n_missing = sum(name not in point for point in points)
    raise InvalidInput(
        f"{name!r} is missing in {n_missing} of {len(points)} trials, and no choice tells in which",
        "Give it in every trial, or add the choice that it depends on to the space",
    )


@dataclass(frozen=True, slots=True, eq=False)
class AveragedProcess:
    """Gaussian processes, one per sample of a chain, that predict scores together."""

    space: Space
    inputs: Inputs
    x: FloatArray  # (n, columns)
    log_thetas: FloatArray  # (samples, columns + 2)
    weights: FloatArray  # (samples, n): inverse covariances times standardised scores
    centre: float  # of the scores
    scale: float

    def predict(self, points: Sequence[Params]) -> FloatArray:
        """Expected scores at points: the mean over the chain of the processes' means."""
        at = np.concatenate(self.inputs.encode(points), axis=1)
        inverse2 = 5 * np.exp(-2 * self.log_thetas[:, 1:-1])
        weights = (np.exp(self.log_thetas[:, :1]) * self.weights)[:, :, None]
        block = max(1, _BLOCK // self.weights.size)
        total = np.empty(len(at))
        with one_thread():
            for start in range(0, len(at), block):
                part = at[start : start + block, None]
                differences2 = ((part - self.x) ** 2).reshape(-1, self.x.shape[1]).T
                root = inverse2 @ differences2
                correlations = matern(np.sqrt(root, out=root))
                shape = (len(inverse2), len(part), len(self.x))
                means = correlations.reshape(shape) @ weights
                total[start : start + block] = means.sum(axis=(0, 2))
        return self.centre + self.scale * total / len(inverse2)

    def measure_remoteness(self, optima: Sequence[Params]) -> Remoteness:
        """How far chosen hyperparameters lie from the trials."""
        at = np.concatenate(self.inputs.encode(optima), axis=1)
        return measure_remoteness(at, self.x, np.exp(self.log_thetas[:, 1:-1].mean(axis=0)))


@dataclass(frozen=True, slots=True, eq=False)
class Surrogate:
    """A model of a search, and how far it may be believed; higher scores are better.

    Attributes
    ----------
    untried
        Hyperparameters of which all trials have the same value, though others are possible.
    n_trials, n_failed, n_dropped
        Trials in the model; left out as they have no score; left out as they are the worst.
    """

    process: AveragedProcess
    chain: Chain
    fidelity: Fidelity
    untried: tuple[str, ...]
    n_trials: int
    n_failed: int
    n_dropped: int
    seed: int

    @property
    def space(self) -> Space:
        """The space that was searched."""
        return self.process.space

    def predict(self, points: Sequence[Params]) -> FloatArray:
        """Expected scores at points."""
        return self.process.predict(points)

    @property
    def doubts(self) -> tuple[str, ...]:
        """Why random searches of as many trials, simulated on it, may be unlike real ones."""
        return self.doubt(TUNERS["random"], self.n_trials + self.n_failed + self.n_dropped)

    def doubt(self, tuner: Tuner, n_trials: int) -> tuple[str, ...]:
        """Why searches by a tuner, simulated on it, may be unlike real ones.

        How far their optima lie from the trials is seen by searches of their own, so that no doubt
        hangs on how many runs happened to be asked for.
        """
        if tuner.draws_alike:
            tuner, n_searches = TUNERS["random"], _N_SEARCHES
        else:
            n_searches = _N_OTHER_SEARCHES
        seeds = [derive_seed(self.seed, "remoteness", index) for index in range(n_searches)]
        optima = simulate_searches(self.process, tuner, seeds, max(n_trials, 2))
        remoteness = self.process.measure_remoteness(optima)
        doubts = [*list_doubts(self.fidelity, remoteness), *self.chain.doubts]
        if self.n_trials < TELLING:
            doubts.append(
                f"the surrogate is fitted to {self.n_trials} trials, fewer than {TELLING}: what "
                "it explains is hardly known"
            )
        if self.untried:
            doubts.append(
                f"the trials do not differ in {enumerate_names(map(repr, self.untried))}, of whose "
                "effect the surrogate knows nothing"
            )
        return tuple(doubts)


def fit_surrogate(
    space: Space,
    trials: Sequence[Trial],
    *,
    seed: int,
    best_share: float | None = 0.85,
    n_steps: int = N_STEPS,
    chain: Chain | None = None,
) -> Surrogate:
    """Model how scores depend on hyperparameters, from the history of one search.

    A Gaussian process (Matérn-5/2, a length scale per hyperparameter, amplitude and noise), over
    whose hyperparameters a Markov chain integrates under the priors of `gaussian_process`. The same
    seed gives the same surrogate.

    Parameters
    ----------
    trials
        Higher scores are better. A hyperparameter may be missing where a choice takes its meaning
        away, such as a width where the model is linear.
    best_share
        The model is fitted to this share of the trials, the best; None: to all. The worst are
        often disasters, which say nothing of where the optimum is.
    chain
        That of an earlier surrogate of the same trials, of which this is to be the same.

    References
    ----------
    Anonymous authors, Simulated hyperparameter optimization for statistical tests in machine
    learning benchmarks, sections 4.1 and 5.
    """
    scored = [trial for trial in trials if trial.score is not None]
    kept = _keep_best(scored, best_share)
    points = [trial.params for trial in kept]
    scores = as_scores([cast(float, trial.score) for trial in kept], "the search", at_least=0)
    inputs = choose_inputs(space, points)
    _check_trials(scores, inputs, n_failed=len(trials) - len(scored))
    with one_thread():
        columns = inputs.encode(points)
        if chain is None:
            # A choice has several columns but one length scale.
            differences2 = np.stack([square_differences(c).sum(axis=0) for c in columns])
            y, own_seed = _standardise(scores)[0], derive_seed(seed, "surrogate")
            chain = sample_chain(
                differences2, y, seed=own_seed, n_steps=n_steps, n_samples=_N_SAMPLES
            )
        process, fidelity = _condition(chain, space, inputs, columns, scores)
        refuse_unexplained(fidelity)
    fixed = [n for n, d in space.items() if isinstance(d, Choices) and len(d.options) == 1]
    return Surrogate(
        process,
        chain,
        fidelity,
        untried=tuple(name for name in space if name not in inputs.space and name not in fixed),
        n_trials=len(kept),
        n_failed=len(trials) - len(scored),
        n_dropped=len(scored) - len(kept),
        seed=seed,
    )


def _standardise(scores: FloatArray) -> tuple[FloatArray, float, float]:
    """Scores of mean 0 and standard deviation 1, and what these were."""
    centre, scale = float(scores.mean()), float(scores.std())
    return (scores - centre) / scale, centre, scale


def _condition(
    chain: Chain, space: Space, inputs: Inputs, columns: list[FloatArray], scores: FloatArray
) -> tuple[AveragedProcess, Fidelity]:
    """The process of every sample of a chain, given the trials, and what they are worth."""
    scale_of_column = np.repeat(np.arange(len(columns)), [c.shape[1] for c in columns])
    log_thetas = chain.log_thetas[:, [0, *(1 + scale_of_column), -1]]
    x = np.concatenate(columns, axis=1)
    y, centre, scale = _standardise(scores)
    processes = [condition(log_theta, x, y) for log_theta in log_thetas]
    weights = np.array([process.weights for process in processes])
    averaged = AveragedProcess(space, inputs, x, log_thetas, weights, centre, scale)
    mean, sd = average_left_out(y, *np.swapaxes([p.leave_one_out(y) for p in processes], 0, 1))
    return averaged, measure_fidelity(scores, centre + scale * mean, scale * sd)


def _keep_best(scored: Sequence[Trial], share: float | None) -> list[Trial]:
    """The best share of the trials, in their order."""
    if share is None:
        return list(scored)
    if not 0 < share <= 1:
        raise InvalidInput(
            f"best_share is {share}", "Pass a share above 0 and at most 1, or None for all trials"
        )
    n_kept = math.ceil(round(share * len(scored), 9))  # 0.55 * 100 is 55.000000000000007
    order = np.argsort([-(trial.score or 0.0) for trial in scored], kind="stable")
    return [scored[index] for index in sorted(order[:n_kept].tolist())]


def _check_trials(scores: FloatArray, inputs: Inputs, *, n_failed: int) -> None:
    n, needed = len(scores), count_needed_trials(inputs.space)
    if n < needed:
        failed = f", {n_failed} failed ones left out" if n_failed else ""
        raise TooFewRuns(
            f"there are {n} trials to fit a surrogate to{failed}; {len(inputs.space)} "
            f"hyperparameters need at least {needed}",
            "Search longer, or hold the hyperparameters fixed",
        )
    if n > _MOST_TRIALS:
        raise InvalidInput(
            f"there are {n:,} trials to fit a surrogate to, more than {_MOST_TRIALS:,}",
            f"Pass the first {_MOST_TRIALS:,} of a random search, or a smaller best_share",
        )
    if not inputs.space:
        raise InvalidInput(
            f"all {n} trials tried the same hyperparameters", "Search a space with several values"
        )
    if scores.std() <= _TIE * np.abs(scores).max():
        raise InvalidScores(
            f"all {n} trials to fit a surrogate to score {scores[0]:g}",
            "Hold the hyperparameters fixed: they make no difference here",
        )
