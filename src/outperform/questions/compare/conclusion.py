"""What is concluded of two algorithms, how it is said, and its numbers as text."""

import math
from typing import TYPE_CHECKING, Any, Literal

from outperform.questions.result import Result, Table
from outperform.stats import EquivalenceTest, HypothesisTest, Interval
from outperform.wording import describe_goal, format_spread

if TYPE_CHECKING:
    from outperform.questions.compare.published import PublishedComparison
    from outperform.questions.compare.result import Comparison

_LONGEST_HEADER = 40  # characters, beyond which algorithms are called A and B

Verdict = Literal["not significant", "significant, not meaningful", "significant and meaningful"]
Winner = Literal["a", "b"]
Size = Literal["shown", "not ruled out", "ruled out"]
# From the weakest to the strongest claim.
VERDICTS: tuple[Verdict, ...] = (
    "not significant",
    "significant, not meaningful",
    "significant and meaningful",
)
SIZES_IN_WORDS: dict[Size, str] = {
    "shown": "at least {} shown",
    "not ruled out": "{} neither shown nor ruled out",
    "ruled out": "{} ruled out",
}
SIZES: tuple[Size, ...] = ("ruled out", "not ruled out", "shown")


def judge_size(interval: Interval, smallest: float) -> Size:
    """Whether the winner's advantage, such as its chance to win, is shown to be large enough."""
    if interval.low >= smallest:
        return "shown"
    return "not ruled out" if interval.high > smallest else "ruled out"


def judge(size: Size | None) -> Verdict:
    """Verdict on the winner's advantage (Bouthillier et al. 2021, appendix C.6).

    It is meaningful unless that is ruled out; whether it is shown, `Size` says. Without a winner
    there is none.
    """
    if size is None:
        return "not significant"
    return "significant, not meaningful" if size == "ruled out" else "significant and meaningful"


def describe(a: str, b: str, winner: Winner | None, verdict: Verdict, *, on: str = "") -> str:
    """Verdict in words, the winner's name first; `on` is where it holds, such as `` on digits``."""
    first, second = (b, a) if winner == "b" else (a, b)
    if verdict == "significant and meaningful":
        return f"{first} outperforms {second}{on}"
    if verdict == "significant, not meaningful":
        return f"{first} is better than {second}{on}, but by too little to matter"
    return f"No difference shown between {first} and {second}{on}"


def name_level(alpha: float) -> str:
    """Words for a chance of a false alarm that is not the usual one.

    Examples
    --------
    >>> name_level(0.05), name_level(0.5)
    ('', ', α = 0.5')
    """
    return "" if math.isclose(alpha, 0.05) else f", α = {alpha:.2g}"


def describe_pvalue(pvalue: float) -> str:
    """Words for a p-value, or for why there is none.

    Examples
    --------
    >>> describe_pvalue(0.213), describe_pvalue(math.nan)
    ('p = 0.21', 'runs are missing')
    """
    return "runs are missing" if math.isnan(pvalue) else f"p = {pvalue:.2g}"


class OfTwo(Result):
    """A result about two algorithms, `a` and `b`, of which one may be the `winner`."""

    __slots__ = ()

    @property
    def winner_name(self: Any) -> str | None:
        """What the user calls the winner."""
        names: dict[Winner | None, str | None] = {"a": self.a, "b": self.b, None: None}
        return names[self.winner]


def tabulate(comparison: "Comparison") -> Table:
    """Means, difference, P(A>B) and tests of one comparison."""
    difference, population = comparison.difference, comparison.population
    rows = [
        (comparison.a, format_spread(comparison.mean_a, comparison.sd_a)),
        (comparison.b, format_spread(comparison.mean_b, comparison.sd_b)),
        (name_difference(comparison), f"{difference.value:+.3g} {difference.interval}"),
    ]
    if population is not None:
        interval = f"{population.value:+.3g} {population.interval}"
        pvalue = describe_pvalue(population.pvalue)
        value = f"{interval} ({population.interval.level}), {pvalue}"
        rows.append(("  for data like these", value))
    if comparison.searches is not None:
        value = f"{comparison.searches.value:+.3g} {comparison.searches.interval}, "
        value = "" if comparison.searches.is_open else value
        label = f"  over {comparison.searches.n_planned} searches"
        rows.append((label, f"{value}{comparison.searches.evidence}"))
    if comparison.combined is not None:
        combined = comparison.combined
        interval = f"{combined.value:+.3g} {combined.interval}"
        sds = f"{combined.sd_fixed:.2g} fixed, {combined.sd_redrawn:.2g} simulated"
        rows.append(("  with simulated searches", f"{interval}, sd of {sds}"))
    chance = f"{comparison.probability:.3g} {comparison.interval}"
    rows += [
        (name_chance(comparison), f"{chance} ({comparison.interval.method}{comparison.as_worst})"),
        *(describe_test(test, comparison.as_worst) for test in comparison.tests),
    ]
    left = f"{comparison.n_pairs} pairs" if comparison.paired else "runs"
    of_left = f", of the {left} that are left" if any(comparison.lacking) else ""
    return Table((), rows, title=f"{entitle(comparison)}{of_left}")


def entitle(result: "Comparison | PublishedComparison") -> str:
    """Title of a table of numbers: the metric, its direction, the level of intervals."""
    # Or P(A > B) would be read as that of the higher score.
    sign = "" if result.goal == "maximize" else ", and > means better"
    return f"{result.metric}, {describe_goal(result.goal)}{sign}; {result.interval.level} intervals"


def name_chance(result: "Comparison | PublishedComparison") -> str:
    """P(A>B) with names, unless they are too long for a header."""
    named = f"P({result.a} > {result.b})"
    return named if len(named) <= _LONGEST_HEADER else "P(A > B)"


def name_difference(result: "Comparison") -> str:
    """Whose mean is taken from whose, where that may be misread: the second of them is better."""
    named = f"difference, {result.a} − {result.b}"
    named = named if len(named) <= _LONGEST_HEADER else "difference, A − B"
    return named if result.winner == "b" else "difference"


def describe_test(test: HypothesisTest | EquivalenceTest, as_worst: str = "") -> tuple[str, str]:
    """Row of a table: a test with its p-value, and how that takes missing runs."""
    if isinstance(test, EquivalenceTest):
        return test.name, str(test)
    return test.name, f"p = {test.pvalue:.2g} ({test.alternative}{as_worst})"
