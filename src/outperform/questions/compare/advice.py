"""What to do after a comparison."""

import math
from typing import TYPE_CHECKING, cast

from outperform.errors import InvalidInput
from outperform.stats import (
    EquivalenceTest,
    noether_sample_size,
    required_pairs,
    second_look_level,
    verdict_power,
)
from outperform.stats.verdicts import PlannedInterval
from outperform.wording import count

if TYPE_CHECKING:
    from outperform.questions.compare.result import Comparison

_BETA = 0.05  # chance that the runs advised miss the difference
TOO_GOOD = 0.95  # P(A>B) beyond which a sample is not believed
_TOO_MANY = 10_000  # runs that nobody is advised to add


def suggest_next(comparison: "Comparison") -> str:
    """Say what to do after a comparison, in one sentence."""
    equivalences = [test for test in comparison.tests if isinstance(test, EquivalenceTest)]
    if equivalences and any(comparison.lacking):
        return "complete the runs that are missing: without them, nothing is ruled out."
    if any(test.equivalent for test in equivalences):
        return _suggest_equivalence(comparison, equivalences)
    if comparison.searches is not None and comparison.searches.n_incomplete:
        return (
            "complete all searches (`outperform run`, with --retry-failed where runs failed): "
            "those at hand tell nothing of pipelines tuned anew."
        )
    if not comparison.withstands_gaps:
        return "complete the runs that are missing: the others do not decide without them."
    if _is_open_tuned_anew(comparison):
        return _suggest_searches(comparison)
    if comparison.winner and comparison.holds_for_population is False:
        return _suggest_data(comparison)
    if comparison.verdict == "significant and meaningful":
        return (
            "report P(A>B) with its interval, the number of runs and the seeds; --plot draws every "
            "run."
        )
    if comparison.verdict == "significant, not meaningful":
        return (
            "the difference is real but small: report its size; more runs will not make it matter."
        )
    if comparison.interval.method == "anytime":
        return _suggest_looks(comparison.ruled_out)
    return _suggest_runs(comparison)


def _suggest_looks(ruled_out: float | None) -> str:
    """Say how to go on where any number of looks is allowed for."""
    if ruled_out is None:
        return (
            "add pairs and look again as often as you like: this interval allows it. What a "
            "sequential test decides, with fewer pairs, --sequential shows."
        )
    return (
        "report what the sequential test of these runs decided (--sequential): an advantage of "
        f"either as large as γ = {ruled_out:g} is ruled out, and more pairs could show a smaller "
        "one only."
    )


def _suggest_equivalence(comparison: "Comparison", tests: list[EquivalenceTest]) -> str:
    """Say what to report where a difference is ruled out: after one search, or over several."""
    conclusion = "the two are alike"
    if comparison.winner:
        anew = comparison.searches is None or comparison.searches.shown
        conclusion = f"{'the difference is real but' if anew else 'any difference is'} small"
    here = " on this dataset" if comparison.scope_here.divides_anew else ""
    if comparison.scope_here.tuned_once:
        after = ("after this search", "for pipelines tuned anew")
        places = [*zip(after, (test.equivalent for test in tests), strict=False)]
        here += f" {' and '.join(place for place, ruled_out in places if ruled_out)}"
        here += "".join(f", but not {place}" for place, ruled_out in places if not ruled_out)
    margin = f"{tests[0].margin:g}"
    return f"{conclusion}: report that a difference of {margin} or more is ruled out{here}."


def _suggest_data(comparison: "Comparison") -> str:
    """Say what would show it for data like these: re-splits may never."""
    population = comparison.population
    assert population is not None
    if math.isnan(population.pvalue):
        return "complete the runs that are missing: of other data, the others tell nothing."
    if comparison.advantage.high < 0:
        return "report both: who wins more often here, and who has the better mean."
    if math.isinf(population.floor):
        return (
            "for other data like these, collect more of them, or compare on several datasets: "
            "differences that do not vary tell nothing of others."
        )
    if population.floor < abs(population.value):
        return (
            "for other data like these, add splits, or better, collect more data or compare on "
            "several datasets."
        )
    return (
        "for other data like these, collect more of them, or compare on several datasets: no "
        f"number of splits of this one shows a difference below {population.floor:.3g}, and "
        f"here it is {abs(population.value):.3g}."
    )


def _is_open_tuned_anew(comparison: "Comparison") -> bool:
    """Whether several searches, which vary, do not bear out what pairs after one of them show."""
    gain = comparison.gain_tuned_anew
    if gain is None or math.isinf(gain.low):
        return False
    favoured = "a" if gain.low > 0 else "b" if gain.high < 0 else None
    return favoured is None or favoured != comparison.winner


def _suggest_searches(comparison: "Comparison") -> str:
    """Say what shows more of pipelines tuned anew than pairs after one search do."""
    from outperform.stats import required_searches  # only here, of studies

    searches = comparison.searches
    assert searches is not None
    if searches.shown:
        return (
            f"report the mean difference over {searches.n_searches} searches with its interval: "
            "pairs after one search tell of what that one found."
        )
    more = "for pipelines tuned anew, search more often instead of adding pairs after one search"
    needed = required_searches(searches, beta=_BETA)
    if needed is None:
        return f"{more}; a difference as small as here would take more than 1,000 searches."
    needed = max(needed, searches.n_searches + 1)
    return (
        f"{more}: if means differ and vary as here, {needed:,} searches of each (repetitions = "
        f"{needed}) would show it with a chance of {1 - _BETA:.0%}; give the study another seed, "
        "since this look has used up the level for these."
    )


def _suggest_runs(comparison: "Comparison") -> str:
    """Say how many more runs would show the difference seen, or that none would."""
    # A sample that won every comparison says little about how often it would lose.
    best = min(max(comparison.probability, comparison.reverse_probability), TOO_GOOD)
    needed = _needed(best, comparison) if best > 0.5 else None
    if needed is None or needed > _TOO_MANY:
        if comparison.better_mean:
            return (
                "report the difference of the means with its interval; no thinkable number of runs "
                "would show who wins more often."
            )
        seen = "neither wins more than half of the time"
        if best > 0.5:
            seen = f"a difference as small as here would take more than {_TOO_MANY:,} runs"
        return f"{seen}; to show that the two are equally good, use `compare --equivalence MARGIN`."
    a_leads = comparison.probability >= comparison.reverse_probability
    better = comparison.a if a_leads else comparison.b
    as_here = "" if best == TOO_GOOD else ", as here"
    as_here += ", a tie being half a win" if comparison.n_ties else ""
    start = f"if {better} really wins {best:.0%} of the time{as_here},"
    if not comparison.paired or comparison.interval.method != "exact":
        # What is left of the level is known for the sign test only.
        more = count(needed, "pair")
        if not comparison.paired:
            more = f"{count(needed, 'run')} of each"
        return (
            f"{start} {more} would show it with a chance of {1 - _BETA:.0%}: take fresh ones, "
            "since this look has used up the level for these."
        )
    return f"{start} {_suggest_second_look(comparison, needed, best)}"


def _suggest_second_look(comparison: "Comparison", needed: int, best: float) -> str:
    """Say how to go on after a look that found nothing, without more false alarms than alpha."""
    n, alpha = comparison.n_pairs, comparison.alpha
    untied = max(comparison.n_decided, 1) / n
    chance = min(0.5 + (best - 0.5) / untied, TOO_GOOD)
    total = max(needed, n + 1)
    while total <= 4 * needed + n:
        n_untied = max(round(total * untied), comparison.n_decided + 1)
        level = second_look_level(max(comparison.n_decided, 1), n_untied, alpha=alpha)
        if level is not None and (
            verdict_power(n_untied, chance, gamma=0.5, alpha=level) >= 1 - _BETA
        ):
            more = total - n
            digits = 1 - math.floor(math.log10(level))
            rounded_down = math.floor(level * 10**digits) / 10**digits
            allowance = f", with --alpha {rounded_down:g}, which allows for this look"
            if f"{rounded_down:g}" == f"{alpha:g}":  # it could find nothing, and used up nothing
                allowance = ""
            return (
                f"{count(more, 'more pair')} ({total:,} in all) would show it with a chance of "
                f"{1 - _BETA:.0%}: look again only then{allowance}; or "
                "look as often as you like with --interval anytime."
            )
        total = max(total + 1, math.ceil(1.01 * total))
    return (
        "add pairs and look as often as you like with --interval anytime: this look has used up α."
    )


def _needed(best: float, comparison: "Comparison") -> int | None:
    """Find the runs that would show the better side's advantage, if a thinkable number does."""
    try:
        if not comparison.paired:
            # Two-sided, as the verdict is.
            return noether_sample_size(best, comparison.alpha / 2, _BETA)
        # Ties say nothing: the others must show the advantage, which is larger among them.
        untied = 1.0 if comparison.strict else comparison.n_decided / comparison.n_pairs
        chance = min(0.5 + (best - 0.5) / untied, TOO_GOOD)
        gamma = 0.5 + (comparison.gamma - 0.5) / untied
        interval = cast(PlannedInterval, comparison.interval.method)
        needed = required_pairs(
            gamma if chance > gamma else 0.5,
            comparison.alpha,
            _BETA,
            probability=chance,
            interval=interval,
        )
        return math.ceil(needed / untied)
    except InvalidInput:
        return None
