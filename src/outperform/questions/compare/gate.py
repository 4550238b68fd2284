"""A gate: whether runs show, refute or leave open what a person wants to be sure of."""

from dataclasses import dataclass
from typing import Any, Literal, get_args

from outperform.errors import InvalidInput
from outperform.questions.compare.published import PublishedComparison
from outperform.questions.compare.result import Comparison, TaskComparisons
from outperform.stats import Interval, verdict_power
from outperform.stats.checks import check_choice
from outperform.stats.power import PlannedInterval

GateClaim = Literal["better", "not-worse"]
GateOutcome = Literal["shown", "refuted", "undecided"]
GateScope = Literal["dataset", "population"]

EXIT_STATUS: dict[GateOutcome, int] = {"shown": 0, "refuted": 1, "undecided": 3}

Compared = Comparison | TaskComparisons | PublishedComparison


@dataclass(frozen=True, slots=True)
class Gate:
    """What a gate lets pass, and how often it errs."""

    claim: str
    outcome: GateOutcome
    errors: str  # how often it errs with so many runs

    def __str__(self) -> str:
        return f"Gate {self.outcome}: {self.claim} ({self.errors})."

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            "claim": self.claim,
            "outcome": self.outcome,
            "errors": self.errors,
            "exit_status": EXIT_STATUS[self.outcome],
        }


def decide_gate(
    result: Compared, claim: GateClaim = "better", *, scope: GateScope | None = None
) -> Gate:
    """Decide whether a comparison lets a change pass.

    Parameters
    ----------
    claim
        ``"better"``: a outperforms b, by the rule of the verdict. ``"not-worse"``: a is worse by
        less than the margin that the comparison was made with.
    scope
        What it must hold for: this dataset, or data like it too. By default for all that is known.

    Examples
    --------
    >>> from outperform import compare
    >>> result = compare([3, 4, 5, 6, 7, 8], [1, 2, 3, 4, 5, 7])
    >>> decide_gate(result).outcome
    'shown'
    """
    check_choice("claim", claim, get_args(GateClaim))
    parts = result.comparisons if isinstance(result, TaskComparisons) else (result,)
    if scope == "population" and any(getattr(p, "population", None) is None for p in parts):
        raise InvalidInput(
            "how the data were divided is not known, so nothing is known of other data like them",
            "Pass --train-size and --test-size (train_size and test_size in Python)",
        )
    outcomes = [_judge(part, claim, scope) for part in parts]
    tasks = f" on all of {len(parts)} tasks" if len(parts) > 1 else ""
    if scope != "dataset" and any(getattr(part, "population", None) for part in parts):
        tasks += ", here and for data like these"
    words = f"{result.a} outperforms {result.b}{tasks}"
    if claim == "not-worse":
        margin = getattr(parts[0], "margin", None)
        words = f"{result.a} is not worse than {result.b} by {margin:g} or more{tasks}"
    return Gate(words, _combine(outcomes), _describe_errors(parts[0], claim))


def _combine(outcomes: list[GateOutcome]) -> GateOutcome:
    """All must be shown; one that is refuted refutes the whole."""
    if "refuted" in outcomes:
        return "refuted"
    return "undecided" if "undecided" in outcomes else "shown"


def _judge(
    part: Comparison | PublishedComparison, claim: GateClaim, scope: GateScope | None
) -> GateOutcome:
    if claim == "better":
        outcomes = [_judge_verdict(part)]
        if isinstance(part, Comparison) and part.population is not None and scope != "dataset":
            outcomes.append(_locate(part.gain, 0.0))
        return _combine(outcomes)
    if not isinstance(part, Comparison) or part.margin is None:
        raise InvalidInput(
            "a gate for not being worse needs runs, and a margin to be worse by",
            "Pass runs, and --margin (margin in Python) in the unit of the metric",
        )
    return _locate(part.gain_here if scope == "dataset" else part.gain, -part.margin)


def _judge_verdict(part: Comparison | PublishedComparison) -> GateOutcome:
    if part.winner is None:
        return "undecided"
    return "shown" if part.winner == "a" and part.size != "ruled out" else "refuted"


def _locate(interval: Interval, threshold: float) -> GateOutcome:
    """Whether all values compatible with the data lie above the threshold, or all below."""
    if interval.low > threshold:
        return "shown"
    return "refuted" if interval.high < threshold else "undecided"


def _describe_errors(part: Comparison | PublishedComparison, claim: GateClaim) -> str:
    alpha = 1 - part.interval.confidence_level
    if claim == "not-worse":
        return f"one that is worse by just the margin passes in at most {alpha / 2:.2g} of cases"
    if not isinstance(part, Comparison) or not part.paired or part.n_pairs < 1:
        return f"equals pass in about {alpha / 2:.1%} of cases"
    equals = f"with {part.n_pairs} pairs, equals pass in {part.false_alarms / 2:.1%} of cases"
    if part.interval.method not in get_args(PlannedInterval):
        return equals
    method: Any = part.interval.method
    power = verdict_power(part.n_pairs, part.gamma, gamma=part.gamma, alpha=alpha, interval=method)
    return f"{equals}, and a true P(A>B) of {part.gamma:g} in {power:.0%}"
