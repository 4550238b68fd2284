"""The numbers of a comparison as text, and how they are called."""

from typing import TYPE_CHECKING

from outperform.questions.compare.conclusion import describe_pvalue
from outperform.questions.result import Table
from outperform.stats import EquivalenceTest, HypothesisTest
from outperform.wording import describe_goal, format_spread

if TYPE_CHECKING:
    from outperform.questions.compare.published import PublishedComparison
    from outperform.questions.compare.result import Comparison

_LONGEST_HEADER = 40  # characters, beyond which algorithms are called A and B


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
