"""A gate: whether runs show, refute or leave open what a person wants to be sure of."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from outperform.errors import InvalidInput
from outperform.plain_values import Plain
from outperform.questions.compare.published import PairResult
from outperform.questions.compare.published_tasks import PublishedTasks, PublishedTasksTried
from outperform.questions.compare.result import Comparison
from outperform.questions.compare.task_results import TaskComparisons
from outperform.stats import Interval, smallest_conclusive, verdict_power
from outperform.stats.checks import ROUNDING, check_choice
from outperform.stats.verdicts import PlannedInterval

GateClaim = Literal["better", "not-worse"]
GateOutcome = Literal["shown", "refuted", "undecided"]
GateScope = Literal["dataset", "population"]

EXIT_STATUS: dict[GateOutcome, int] = {"shown": 0, "refuted": 1, "undecided": 3}

Compared = PairResult | TaskComparisons | PublishedTasks | PublishedTasksTried


@dataclass(frozen=True, slots=True)
class Gate(Plain):
    """What a gate lets pass, and how often it errs."""

    JSON = "claim outcome errors exit_status"

    claim: str
    outcome: GateOutcome
    errors: str  # how often it errs with so many runs

    def __str__(self) -> str:
        # "Refuted: A outperforms B" would read as if A did.
        what = "" if self.outcome == "shown" else "the claim is that "
        return f"Gate {self.outcome}: {what}{self.claim} ({self.errors})."

    @property
    def exit_status(self) -> int:
        """Status that a command ends with."""
        return EXIT_STATUS[self.outcome]


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
    if isinstance(result, PublishedTasksTried):
        raise InvalidInput(
            "a gate cannot depend on a number of runs that nobody knows", "Pass it with --n"
        )
    several = isinstance(result, TaskComparisons | PublishedTasks)
    parts: Sequence[PairResult] = (
        result.comparisons if several else (result,)  # type: ignore[union-attr, assignment]
    )
    if scope == "population":
        _check_population(parts)
    outcomes = [_judge(part, claim, scope) for part in parts]
    tasks = f" on all of {len(parts)} tasks" if len(parts) > 1 else ""
    tasks += _describe_scope(parts, scope) + _describe_tuning(parts)
    words = f"{result.a} outperforms {result.b}{tasks}"
    if claim == "not-worse":
        margin = getattr(parts[0], "margin", None)
        words = f"{result.a} is not worse than {result.b} by {margin:g} or more{tasks}"
    return Gate(words, _combine(outcomes), _describe_errors(parts, claim, scope))


def _check_population(parts: Sequence[PairResult]) -> None:
    if any(isinstance(part, Comparison) and not part.paired for part in parts):
        raise InvalidInput(
            "runs that are not paired tell nothing of other data like these",
            "Pair the runs by their splits, or ask for the scope dataset",
        )
    if any(getattr(part, "population", None) is None for part in parts):
        raise InvalidInput(
            "how the data were divided is not known, so nothing is known of other data like them",
            "Pass --train-size and --test-size (train_size and test_size in Python)",
        )


def _describe_tuning(parts: Sequence[PairResult]) -> str:
    """What the claim is about, where all runs are after one search of the hyperparameters."""
    once = [part for part in parts if isinstance(part, Comparison) and part.scope_here.tuned_once]
    if not once:
        return ""
    anew = all(part.searches is not None for part in once)
    return ", tuned once and tuned anew" if anew else ", each tuned once"


def _describe_scope(parts: Sequence[PairResult], scope: GateScope | None) -> str:
    """What the claim is about, where runs divide their data anew."""
    known = [getattr(part, "population", None) is not None for part in parts]
    if scope != "dataset" and any(known):
        return f", here and{'' if all(known) else ', where that is known,'} for data like these"
    if any(part.scope.divides_anew for part in parts):
        return ", on this dataset only" if len(parts) == 1 else ", on these datasets only"
    return ""


def _combine(outcomes: list[GateOutcome]) -> GateOutcome:
    """All must be shown; one that is refuted refutes the whole."""
    if "refuted" in outcomes:
        return "refuted"
    return "undecided" if "undecided" in outcomes else "shown"


def _judge(part: PairResult, claim: GateClaim, scope: GateScope | None) -> GateOutcome:
    if claim == "better":
        outcomes: list[GateOutcome] = ["undecided"]
        if part.winner is not None:
            won = part.winner == "a" and part.size != "ruled out"
            outcomes = ["shown" if won else "refuted"]
        if isinstance(part, Comparison) and part.population is not None and scope != "dataset":
            # For data like these, by the rules of the sentence.
            if part.holds_for_population:
                outcomes.append("shown" if part.winner == "a" else "refuted")
            else:
                outcomes.append("refuted" if part.better_mean == "b" else "undecided")
        return _combine([*outcomes, *_judge_searches(part)])
    if not isinstance(part, Comparison) or part.margin is None:
        raise InvalidInput(
            "a gate for not being worse needs runs, and a margin to be worse by",
            "Pass runs, and --margin (margin in Python) in the unit of the metric",
        )
    if _says_nothing_of_variation(part):
        return "undecided"
    gains = [part.gain_here if scope == "dataset" else part.gain]
    if part.gain_tuned_anew is not None:
        gains.append(part.gain_tuned_anew)
    return _combine([_judge_gain(gain, -part.margin) for gain in gains])


def _judge_searches(part: PairResult) -> list[GateOutcome]:
    """Whether several searches show the better mean too, where pairs are after one of them."""
    gain = part.gain_tuned_anew if isinstance(part, Comparison) else None
    return [] if gain is None else [_judge_gain(gain, 0.0)]


def _judge_gain(gain: Interval, limit: float) -> GateOutcome:
    """Whether an advantage is shown to lie above a limit."""
    if gain.low > limit:
        return "shown"
    return "refuted" if gain.high < limit else "undecided"


def _says_nothing_of_variation(part: Comparison) -> bool:
    """Whether differences do not vary, and are so few that chance explains it."""
    largest = max(float(np.abs(scores).max()) for scores in (part.scores_a, part.scores_b))
    constant = part.gain_here.high - part.gain_here.low <= ROUNDING * largest
    fewest = min(part.scores_a.size, part.scores_b.size)
    return constant and fewest < smallest_conclusive(part.alpha)


def _describe_errors(parts: Sequence[PairResult], claim: GateClaim, scope: GateScope | None) -> str:
    """How often it errs. All tasks must pass, so the worst case is one without an advantage."""
    alpha, gamma = 1 - parts[0].interval.confidence_level, parts[0].gamma
    of_runs = [part for part in parts if isinstance(part, Comparison)]
    pairs = [part for part in of_runs if part.paired]
    resplit = scope != "dataset" and any(part.population for part in pairs)
    strict = resplit or any(part.gain_tuned_anew for part in of_runs)
    about = "at most about" if strict else "about"
    if claim == "not-worse":
        return f"one that is worse by just the margin passes in {about} {alpha / 2:.1%} of cases"
    equals, all_of_them = ("equals on one task", " on all") if len(parts) > 1 else ("equals", "")
    if strict or len(pairs) < len(parts):
        once = of_runs[0].once if strict else ""
        return f"{equals} pass in {about} {alpha / 2:.1%} of cases{once}"
    n_pairs = sorted({part.n_pairs for part in pairs})
    size = max(part.false_alarms for part in pairs) / 2
    errors = f"with {' to '.join(map(str, n_pairs[:: max(1, len(n_pairs) - 1)]))} pairs, {equals} "
    errors += f"pass in {size:.1%} of cases"
    method: Any = pairs[0].interval.method
    unknown = any(part.n_ties or part.margin is not None for part in pairs)
    if unknown or method not in get_args(PlannedInterval):
        return errors
    powers = [
        verdict_power(p.n_pairs, gamma, gamma=gamma, alpha=alpha, interval=method) for p in pairs
    ]
    return f"{errors}, and a true P(A>B) of {gamma:g}{all_of_them} in {math.prod(powers):.0%}"
