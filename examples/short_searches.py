"""What a budget of fits is worth, spent on one long search, on several, or on many short ones."""

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from outperform.questions.quality.result import Middle, PairQuality, Quality, format_ratio
from outperform.questions.result import Table
from outperform.render.style import COLOURS
from outperform.stats import DesignQuality, assess_design
from outperform.stats.budget_split import cheapest_repetitions, scores_of_one_repetition
from outperform.store.repeated_runs import RepeatedRuns

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Split = Literal["a fit each", "one search", "best split"]  # of a budget, into searches and fits
_FIXED = "fix-hopt (all)"
_LINES = {"a fit each": "-", "one search": "--", "best split": ":"}


class Errors(NamedTuple):
    """What makes the error of a plan, in variances of an ideal replicate of a long search."""

    n_trials: int
    shared: float  # by the fits of one search
    within: float  # between the fits of one search
    bias: float
    squared_bias: float  # without what chance adds

    def mse(self, budget: float, split: Split) -> float:
        """Mean squared error of what can be had for so many fits."""
        most = max(1, math.floor(budget / (self.n_trials + 1)))
        if split == "a fit each":  # parts of a search count: budgets are rarely whole searches
            return (self.shared + self.within) * (self.n_trials + 1) / budget + self.squared_bias
        searches = np.arange(1, 1 + (most if split == "best split" else 1))
        n_fits = np.maximum(np.floor(budget / searches) - self.n_trials, 1)
        return float(np.min((self.shared + self.within / n_fits) / searches)) + self.squared_bias

    def count_fits(self, n_ideal: int, split: Split) -> float:
        """Fits for the precision of so many ideal replicates; infinite where no number does."""
        allowed = 1 / n_ideal - self.squared_bias
        if split == "best split":
            efforts = cheapest_repetitions(
                self.shared, self.within, allowed, overhead=self.n_trials
            )
            return float(efforts.cost)
        if split == "one search":
            alone = scores_of_one_repetition(self.shared, self.within, allowed)
            return self.n_trials + float(alone)
        n = math.ceil((self.shared + self.within) / allowed) if allowed > 0 else math.inf
        return n * (self.n_trials + 1)


class Plan(NamedTuple):
    """A way to spend a budget, for every pipeline and task."""

    name: str
    split: Split
    errors: Mapping[str, Errors]

    def worth(self, budget: float) -> Middle:
        """Ideal replicates with the same mean squared error as so many fits."""
        return Middle.of([1 / each.mse(budget, self.split) for each in self.errors.values()])

    def count_beaten(self, rival: "Plan", budget: float) -> str:
        """In how many pairs of pipeline and task another plan has a smaller error."""
        lost = [
            rival.errors[name].mse(budget, rival.split) < each.mse(budget, self.split)
            for name, each in self.errors.items()
        ]
        return f"{sum(lost)} of {len(lost)}"

    def count_fits(self, n_ideal: int) -> Middle:
        """Fits for the precision of so many ideal replicates, by pipeline and task."""
        return Middle.of([each.count_fits(n_ideal, self.split) for each in self.errors.values()])


def list_plans(quality: Quality, short: Mapping[int, RepeatedRuns]) -> Iterator[Plan]:
    """Plans with long searches, as `quality` measured them, and with short ones."""
    n_trials = quality.pairs[0].ideal.n_fits - 1
    alone = Errors(n_trials, 0.0, 1.0, 0.0, 0.0)
    pairs = {pair.name: pair for pair in quality.pairs}
    yield Plan(f"searches of {n_trials}", "a fit each", dict.fromkeys(pairs, alone))
    for name in quality.names:
        own = {key: (pair, d) for key, pair in pairs.items() if (d := pair.find(name))}
        errors = {key: find_errors(pair, d.quality, n_trials) for key, (pair, d) in own.items()}
        yield Plan(f"{name}, {n_trials} trials", "one search", errors)
        if name == _FIXED:
            yield Plan(f"{name}, {n_trials} trials", "best split", errors)
    for trials, runs in short.items():
        errors = {key: find_short_errors(pair, runs, trials) for key, pair in pairs.items()}
        yield Plan(f"searches of {trials}", "a fit each", errors)
        several = {key: find_repeated_errors(pair, runs, trials) for key, pair in pairs.items()}
        yield Plan(f"{_FIXED}, {trials} trials", "one search", several)
        yield Plan(f"{_FIXED}, {trials} trials", "best split", several)


def find_errors(pair: PairQuality, quality: DesignQuality, n_trials: int) -> Errors:
    """Errors of a design as they were measured, in ideal variances."""
    sd = pair.ideal.sd.value
    shared, within = quality.shared_variance / sd**2, quality.within_variance.value / sd**2
    return Errors(n_trials, shared, within, quality.bias.value / sd, quality.squared_bias / sd**2)


def find_repeated_errors(pair: PairQuality, runs: RepeatedRuns, n_trials: int) -> Errors:
    """Errors of several fits after each short search, against long searches."""
    found = runs.find_repetitions("fix-hopt", "all", pair.pipeline, pair.task)
    rng = np.random.default_rng(0)
    quality = assess_design(found.scores, pair.ideal.scores, found.numbers, rng=rng)
    return find_errors(pair, quality, n_trials)


def find_short_errors(pair: PairQuality, runs: RepeatedRuns, n_trials: int) -> Errors:
    """Errors of short searches with a fit each: less variance to save, but what they lose."""
    scores = np.array([*runs.find_ideal(pair.pipeline, pair.task).values()])
    sd, n = pair.ideal.sd.value, scores.size
    losses = (scores - pair.ideal.scores[:n]) / sd  # replicates of both have the same seeds
    bias, error = float(losses.mean()), float(losses.std(ddof=1)) / math.sqrt(n)
    variance = float(scores.var(ddof=1)) / sd**2
    return Errors(n_trials, 0.0, variance, bias, max(0.0, bias**2 - error**2))


def tabulate_plans(quality: Quality, short: Mapping[int, RepeatedRuns], budget: int) -> Table:
    """What budgets are worth by each plan, and what the precision of ideal replicates costs."""
    n, whole = quality.n_ideal, quality.n_ideal * quality.pairs[0].ideal.n_fits
    plans, rows = [*list_plans(quality, short)], []
    shorter = f"searches of {next(iter(short))}"
    rival = next(plan for plan in plans if plan.name == shorter)
    for plan in plans:
        bias = Middle.of([each.bias for each in plan.errors.values()])
        numbers = (bias, plan.worth(budget), plan.worth(whole))
        cells = [f"{m.median:.2g} ({m.low:.2g} to {m.high:.2g})" for m in numbers]
        needed = plan.count_fits(n)
        median, *ends = (format_ratio(m / whole) for m in (needed.median, needed.low, needed.high))
        beaten = [plan.count_beaten(rival, fits) for fits in (budget, whole)]
        cells += [f"{median} ({ends[0]} to {ends[1]})", ", ".join(beaten)]
        rows.append([plan.name, plan.split, *cells])
    fits = [f"{budget} fits are worth", f"{whole} fits are worth", f"fits for {n}", "beaten in"]
    return Table(
        ["plan", "spent on", "bias / σ", *fits],
        rows,
        title=f"What a budget is worth (median and range of {len(quality.pairs)} pairs):",
        note=(
            f"worth: ideal replicates with the same mean squared error. fits for {n}: for the "
            f"precision of {n} ideal replicates, as a share of their {whole} fits.\nbeaten in: "
            f"pairs where {shorter} with a fit each are worth more, for {budget} and {whole} fits."
        ),
    )


def draw_plans(quality: Quality, short: Mapping[int, RepeatedRuns], ax: "Axes") -> None:
    """Draw the error of plans against the budget, the median over pipelines and tasks."""
    budgets = np.geomspace(60, 3000, 80)
    colours: dict[int, str] = {}
    for plan in list_plans(quality, short):
        n_trials = next(iter(plan.errors.values())).n_trials
        colour = colours.setdefault(n_trials, COLOURS[len(colours)])
        if plan.name.startswith(("searches", _FIXED)):
            errors = [plan.worth(budget).median ** -0.5 for budget in budgets]
            label = f"{n_trials} trials, {plan.split}"
            ax.plot(budgets, errors, _LINES[plan.split], color=colour, label=label)
    ax.set(xscale="log", yscale="log", xlabel="fits", ylabel="error of the mean, in σ")
    for axis, ticks in ((ax.xaxis, (100, 300, 1000, 3000)), (ax.yaxis, (0.1, 0.2, 0.5, 1))):
        axis.set_ticks(ticks, [f"{tick:,g}" for tick in ticks])
        axis.set_ticks([], minor=True)
    ax.legend(loc="upper center", bbox_to_anchor=(0.45, -0.15), ncols=2)
