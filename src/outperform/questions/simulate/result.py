"""How often rules declare A better, rightly or wrongly, and how many seeds a test needs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np

from outperform.plain_values import Plain
from outperform.questions.result import Result, Table
from outperform.runs.scope import Scope
from outperform.stats.checks import FloatArray
from outperform.stats.decision_rules import Rule

IDEAL_NAME = "ideal"  # the scenario of a design without bias
_MOST_TABLES = 8  # of settings; where there are more, means stand for them
_SIZES = (2, 3, 5, 10, 15, 20, 25, 30, 40, 50)  # numbers of seeds shown
INFLATION = 1.5  # of its level, up to which a test keeps it: the liberal criterion of Bradley, 1978
Region = Literal["not better", "not meaningful", "meaningful"]
SeedsTest = Literal["welch-t", "brunner-munzel", "brunner-munzel-permutation"]
SEEDS_TESTS: tuple[SeedsTest, ...] = get_args(SeedsTest)
_NAMES: dict[Rule, str] = {
    "single-point": "one run of each",
    "average": "the average with a threshold",
    "verdict": "the P(A>B) verdict",
    "anytime": "the anytime-valid verdict",
    "paired-t": "the paired t-test",
    "welch-t": "Welch's t-test",
    "wilcoxon": "Wilcoxon's test",
    "brunner-munzel": "Brunner–Munzel's test",
    "brunner-munzel-permutation": "Brunner–Munzel's permutation test",
    "nadeau-bengio": "Nadeau and Bengio's test",
    "oracle": "the oracle",
}


@dataclass(frozen=True, slots=True)
class DetectionCurve(Plain):
    """How often one rule declares A better, by the true P(A>B)."""

    JSON = (
        "rule scenario n_pairs gamma exact false_positives false_positives_error "
        "false_negatives false_negatives_error points"
    )

    rule: Rule
    scenario: str
    n_pairs: int
    gamma: float
    probabilities: tuple[float, ...]
    rates: tuple[float, ...]  # one for each of these
    errors: tuple[float, ...]  # Monte-Carlo standard errors of the rates; 0 where they are exact

    @property
    def exact(self) -> bool:
        """Whether the rates were computed, not simulated."""
        return not any(self.errors)

    @property
    def false_positives(self) -> float:
        """Share of comparisons of equals, P(A>B) = 0.5, in which A is declared better."""
        return self.rates[self._nearest(0.5)]

    @property
    def false_negatives(self) -> float:
        """Share of comparisons at P(A>B) = γ in which A is not declared better."""
        return 1 - self.rates[self._nearest(self.gamma)]

    @property
    def false_positives_error(self) -> float:
        """Monte-Carlo standard error of the false positives."""
        return self.errors[self._nearest(0.5)]

    @property
    def false_negatives_error(self) -> float:
        """Monte-Carlo standard error of the false negatives."""
        return self.errors[self._nearest(self.gamma)]

    def at(self, probability: float) -> tuple[float, float]:
        """The true P(A>B) nearest to this one, and the rate there."""
        nearest = self._nearest(probability)
        return self.probabilities[nearest], self.rates[nearest]

    @property
    def points(self) -> list[dict[str, float | str]]:
        """The curve, point by point."""
        points = zip(self.probabilities, self.rates, self.errors, strict=True)
        return [
            {"probability": p, "region": name_region(p, self.gamma), "rate": rate, "error": error}
            for p, rate, error in points
        ]

    def _nearest(self, probability: float) -> int:
        return int(np.argmin(np.abs(np.array(self.probabilities) - probability)))


@dataclass(frozen=True, slots=True)
class ErrorRates(Result):
    """How often rules declare A better than B, right or wrong."""

    JSON = "scores scope alpha n_draws curves means caveats"
    ADVICE = (
        "choose the rule and the number of pairs whose errors you can live with, before "
        "running: `outperform plan` says how many pairs the verdict needs."
    )

    curves: tuple[DetectionCurve, ...]
    alpha: float
    n_draws: int  # behind each rate that was simulated
    scores: str  # what scores are like, in words
    caveats: tuple[str, ...] = ()

    @property
    def scope(self) -> Scope:
        """What varied, and what this is about for that reason."""
        return Scope(("simulated comparisons",), self.scores)

    @property
    def settings(self) -> tuple[tuple[str, int, float], ...]:
        """Scenario, number of pairs and γ of the curves, each once, in their order."""
        return tuple(dict.fromkeys((c.scenario, c.n_pairs, c.gamma) for c in self.curves))

    @property
    def rules(self) -> tuple[Rule, ...]:
        """Rules in the order of the curves, each once."""
        return tuple(dict.fromkeys(curve.rule for curve in self.curves))

    def select(self, scenario: str, n_pairs: int, gamma: float) -> tuple[DetectionCurve, ...]:
        """Curves of one setting."""
        wanted = (scenario, n_pairs, gamma)
        return tuple(c for c in self.curves if (c.scenario, c.n_pairs, c.gamma) == wanted)

    @property
    def means(self) -> tuple[DetectionCurve, ...]:
        """Mean curves of all scenarios but the ideal one, where there are several."""
        groups: dict[tuple[int, float, Rule], list[DetectionCurve]] = {}
        for curve in self.curves:
            if curve.scenario != IDEAL_NAME:
                key = curve.n_pairs, curve.gamma, curve.rule
                groups.setdefault(key, []).append(curve)
        means = []
        for (n_pairs, gamma, rule), curves in groups.items():
            if len(curves) > 1:
                setting = f"mean of {len(curves)} scenarios", n_pairs, gamma
                # Scenarios share their draws, so that errors do not average out.
                rates = np.mean([(curve.rates, curve.errors) for curve in curves], axis=0)
                grid = np.array(curves[0].probabilities)
                means.append(make_curve(rule, setting, grid, *rates))
        return tuple(means)

    def __str__(self) -> str:
        first = next((c for c in self.curves if c.rule == "verdict"), self.curves[0])
        others = [c for c in self.curves if c.rule == first.rule]
        wrong = _span([c.false_positives for c in others])
        missed = _span([c.false_negatives for c in others])
        pairs = _span([c.n_pairs for c in others], "d")
        gammas = [c.gamma for c in others]
        chance = f"γ = {_span(gammas, 'g')}"
        # Runs at hand do not allow every chance; an odd number of them, not even equals.
        equals = _span([c.at(0.5)[0] for c in others], ".3g")
        of_equals = "of equals" if equals == "0.5" else f"with P(A>B) = {equals}, nearest to equals"
        nearest = _span([c.at(c.gamma)[0] for c in others], ".3g")
        if nearest != _span(gammas, ".3g"):
            chance = f"{nearest}, nearest to {chance}"
        return (
            f"With {pairs} pairs, {_NAMES[first.rule]} declares A better in {wrong} of the "
            f"comparisons {of_equals}, and fails to in {missed} of those with P(A>B) = {chance} "
            f"({self.scores}, α = {self.alpha:g})."
        )

    @property
    def tables(self) -> list[Table | str]:
        """How often each rule errs, a table per setting."""
        first = self.settings[0][0]
        is_long = len(self.settings) > _MOST_TABLES and self.means
        shown = [c for c in self.curves if not is_long or c.scenario == first]
        rows: dict[str, list[tuple[str, ...]]] = {}
        for c in (*shown, *self.means):
            wrong = _format_rate(c.false_positives, c.false_positives_error)
            missed = _format_rate(c.false_negatives, c.false_negatives_error)
            row = c.rule, wrong, missed, "exact" if c.exact else "simulated"
            name = f"{c.scenario}: {c.n_pairs} pairs, γ = {c.gamma:g}"
            rows.setdefault(name, []).append(row)
        header = ("rule", "false positives", "false negatives", "how")
        parts: list[Table | str] = [Table(header, own, title=name) for name, own in rows.items()]
        if is_long:
            parts.append("Every scenario of these means: --json.")
        if not all(curve.exact for curve in self.curves):
            parts.append(f"± is the Monte-Carlo standard error of {self.n_draws:,} draws.")
        return parts


@dataclass(frozen=True, slots=True)
class SeedsLine(Plain):
    """Share of comparisons of an algorithm with itself that find a difference, by sample size."""

    JSON = "test alpha sizes shares level_error holds_from"

    test: SeedsTest
    alpha: float
    sizes: tuple[int, ...]
    shares: tuple[float, ...]
    level_error: float  # Monte-Carlo standard error of a share where the test keeps its level

    @property
    def holds_from(self) -> int | None:
        """First sample size from which on the share is at most 1.5 alpha, of those looked at."""
        held = None
        for n, share in zip(reversed(self.sizes), reversed(self.shares), strict=True):
            if share > INFLATION * self.alpha:
                break
            held = n
        return held


@dataclass(frozen=True, slots=True)
class SeedsCurve(Result):
    """From how many seeds on a test does not find differences where there are none."""

    JSON = "algorithm task metric scope n_runs n_draws lines caveats"
    ADVICE = (
        "run at least that many seeds, fixed beforehand; with fewer, or at small α, use "
        "`outperform compare --test brunner-munzel-permutation`."
    )
    scope: ClassVar[Scope] = Scope(
        ("random samples of these runs",), "runs of this algorithm on this dataset"
    )

    algorithm: str
    n_runs: int
    n_draws: int
    lines: tuple[SeedsLine, ...]
    metric: str = "score"
    task: str = ""
    caveats: tuple[str, ...] = ()

    @property
    def alphas(self) -> tuple[float, ...]:
        """Levels, each once."""
        return tuple(dict.fromkeys(line.alpha for line in self.lines))

    def __str__(self) -> str:
        test = "brunner-munzel"
        shown = [line for line in self.lines if line.test == test] or list(self.lines)
        parts = [
            f"at no size up to {line.sizes[-1]} at α = {line.alpha:g}"
            if line.holds_from is None
            else f"from {line.holds_from} runs on at α = {line.alpha:g}"
            for line in shown
        ]
        on = f" on {self.task}" if self.task else ""
        return (
            f"Among {self.n_runs} runs of {self.algorithm}{on}, the test {shown[0].test} keeps its "
            f"level {', '.join(parts)}."
        )

    @property
    def tables(self) -> list[Table | str]:
        """Shares found different, by number of seeds."""
        known = self.lines[0].sizes
        sizes = [n for n in known if n in _SIZES] or list(known[:10])
        rows = [
            (
                line.test,
                f"{line.alpha:g}",
                "-" if line.holds_from is None else str(line.holds_from),
                *(f"{line.shares[line.sizes.index(n)]:.2%}" for n in sizes),
            )
            for line in self.lines
        ]
        header = ("share found different", "α", "kept from", *(f"n = {n}" for n in sizes))
        return [Table(header, rows)]


def name_region(probability: float, gamma: float) -> Region:
    """What is true at a P(A>B): A is not better, not meaningfully better, or meaningfully."""
    if probability <= 0.5:
        return "not better"
    return "not meaningful" if probability < gamma else "meaningful"


def make_curve(rule: Rule, setting: tuple[str, int, float], *numbers: FloatArray) -> DetectionCurve:
    """Curve of plain numbers: true P(A>B), rates there and their errors."""
    return DetectionCurve(rule, *setting, *(tuple(each.tolist()) for each in numbers))


def _span(values: Sequence[float], digits: str = ".1%") -> str:
    low, high = f"{min(values):{digits}}", f"{max(values):{digits}}"
    return low if low == high else f"{low} to {high}"


def _format_rate(rate: float, error: float) -> str:
    return f"{rate:.1%}" + (f" ± {error:.1%}" if error else "")
