"""Words of a figure: names of any length in little space, metrics with their direction."""

from typing import Protocol

from outperform.questions.compare.published import PublishedComparison
from outperform.questions.compare.result import Comparison
from outperform.runs import Goal
from outperform.stats import Interval
from outperform.wording import cut_to, describe_goal, make_visible, measure, shorten, wrap_lines

_LINE = 40  # characters below an axis

PairResult = Comparison | PublishedComparison


class Measured(Protocol):
    """A result in the unit of one metric."""

    @property
    def metric(self) -> str:
        """Name of the metric."""

    @property
    def goal(self) -> Goal:
        """Whether higher or lower is better."""


def escape(text: str) -> str:
    """Keep matplotlib from reading dollar signs as mathematics, and files from breaking."""
    return make_visible(text).replace("$", r"\$")


def short_names(result: PairResult, length: int) -> tuple[str, str]:
    """Names of both algorithms on one line, shortened but never to the same words."""
    first, second = _tell_apart(result, length)
    return escape(first), escape(second)


def wrapped_names(result: PairResult, width: int = 12) -> tuple[str, str]:
    """Names of both algorithms on two lines at most."""
    first, second = _tell_apart(result, 2 * width)
    return escape(wrap_name(first, width)), escape(wrap_name(second, width))


def _tell_apart(result: PairResult, length: int) -> tuple[str, str]:
    first, second = shorten(result.a, length), shorten(result.b, length)
    if first == second and result.a != result.b:
        return shorten(f"A: {result.a}", length), shorten(f"B: {result.b}", length)
    return first, second


def wrap_name(name: str, width: int) -> str:
    r"""Break a name into two lines at most.

    Examples
    --------
    >>> wrap_name("gradient boosting", 12), wrap_name("best_test_acc", 12)
    ('gradient\nboosting', 'best_\ntest_acc')
    """
    lines = wrap_lines(name, width)
    joints = [i for i in range(1, len(name)) if name[i - 1] in "_./:"]
    fitting = [i for i in joints if max(measure(name[:i]), measure(name[i:])) <= width]
    if len(lines) == 2 and " " not in name and fitting:
        place = min(fitting, key=lambda i: abs(2 * i - len(name)))
        return f"{name[:place]}\n{name[place:]}"
    if len(lines) > 2:
        name = shorten(name, 2 * width)
        first = cut_to(name, width)
        lines = [first, name[len(first) :]]
    return "\n".join(lines)


def describe_metric(result: Measured) -> str:
    """Name of the metric and which way is better."""
    return f"{escape(shorten(result.metric, 20))} ({describe_goal(result.goal)})"


def join_phrases(*phrases: str) -> str:
    """Join with commas, on as few lines as a column is wide."""
    lines = [phrases[0]]
    for phrase in phrases[1:]:
        if measure(lines[-1]) + measure(phrase) <= _LINE:
            lines[-1] += f", {phrase}"
        else:
            lines.append(phrase)
    return "\n".join(lines)


def describe_level(interval: Interval) -> str:
    """Confidence level in percent."""
    return f"{100 * interval.confidence_level:g}%"
