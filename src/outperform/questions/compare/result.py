"""The result of comparing two algorithms: a verdict, and the numbers that it rests on."""

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from outperform.questions.compare.advice import suggest_next
from outperform.questions.compare.conclusion import (
    SIZES,
    SIZES_IN_WORDS,
    OfTwo,
    Size,
    Verdict,
    Winner,
    describe,
    describe_pvalue,
    judge,
    judge_size,
    name_level,
)
from outperform.questions.compare.missing_runs import take_worst
from outperform.questions.compare.table import tabulate
from outperform.questions.result import Table
from outperform.runs import Goal
from outperform.runs.scope import DATA_LIKE_THESE, THIS_DATASET, UNKNOWN, Scope
from outperform.stats import (
    EquivalenceTest,
    HypothesisTest,
    Interval,
    MeanDifference,
    ResampledDifference,
    VerdictRule,
    cohens_d,
    outperforming_pvalue,
    paired_d,
    smallest_conclusive,
)
from outperform.stats.checks import FloatArray
from outperform.stats.outperforming import find_chances
from outperform.stats.verdicts import PlannedInterval

if TYPE_CHECKING:
    from outperform.stats import CombinedDifference, SearchesDifference


@dataclass(frozen=True)  # without slots, so that what is asked for often is computed once
class Comparison(OfTwo):
    """Whether algorithm `a` outperforms `b`, and how sure that is."""

    JSON = (
        "a b task metric goal verdict winner winner_name size scope population=_population "
        "probability interval reverse_probability reverse_interval=reverse gamma margin paired "
        "n_pairs n_a=scores_a.size n_b=scores_b.size mean_a mean_b sd_a sd_b lacking "
        "difference effect_size combined searches tests caveats"
    )

    a: str
    b: str
    scores_a: FloatArray = field(repr=False, compare=False)
    scores_b: FloatArray = field(repr=False, compare=False)
    goal: Goal
    paired: bool
    probability: float  # estimate of P(a > b)
    reverse_probability: float  # estimate of P(b > a); with strict ties they do not add up to 1
    interval: Interval  # of P(a > b)
    reverse: Interval  # of P(b > a)
    difference: MeanDifference = field(repr=False)  # of a minus b, in the metric's own sign
    gamma: float  # smallest chance to win that matters
    margin: float | None = None  # smallest difference that matters, in the metric's unit
    metric: str = "score"
    task: str = ""
    scope_here: Scope = UNKNOWN  # what varied between the runs, and what they are about at least
    # Of a - b, in the metric's sign, for data of which these are a sample; None where it is not
    # known how they were resampled.
    population: ResampledDifference | None = None
    # Of a - b, in the metric's sign, where the search was also simulated for every pair.
    combined: "CombinedDifference | None" = None
    # Of a - b, in the metric's sign, over several searches of each on these data.
    searches: "SearchesDifference | None" = None
    lacking: tuple[int, int] = (0, 0)  # replicates that `a`, and that `b`, has no complete run of
    tests: tuple[HypothesisTest | EquivalenceTest, ...] = ()
    # The chance to win that a sequential test of these runs found neither to have.
    ruled_out: float | None = None
    caveats: tuple[str, ...] = ()

    @cached_property
    def winner(self) -> Winner | None:
        """Who is significantly better, if anyone."""
        if not self.conclusive:
            return None
        if self.interval.low > 0.5:
            return "a"
        return "b" if self.reverse.low > 0.5 else None

    @cached_property
    def of_runs_left(self) -> "Comparison":
        """The same, as if no run were missing."""
        if not any(self.lacking):
            return self
        *_, interval, reverse = find_chances(
            *self.higher,
            paired=self.paired,
            ties="strict" if self.strict else "half",
            method=self.interval.method,  # type: ignore[arg-type]
            confidence_level=self.interval.confidence_level,
            rng=None,
        )
        return replace(self, interval=interval, reverse=reverse, lacking=(0, 0))

    @property
    def withstands_gaps(self) -> bool:
        """Whether runs that are missing, taken for the worst, leave somebody in favour."""
        return self.favoured == self.of_runs_left.favoured

    @cached_property
    def verdict(self) -> Verdict:
        """What may be concluded about the data that the runs share."""
        return judge(self.size)

    @cached_property
    def size(self) -> Size | None:
        """Whether the advantage is shown to matter: by gamma, and by the margin if there is one."""
        return min(self._sizes.values(), key=SIZES.index, default=None)

    @cached_property
    def _sizes(self) -> dict[str, Size]:
        """What matters, in words, and whether it is shown, if there is a winner."""
        if self.winner is None:
            return {}
        winning = self.interval if self.winner == "a" else self.reverse
        sizes = {f"γ = {self.gamma:g}": judge_size(winning, self.gamma)}
        if self.margin is not None:
            # What is too little on these data is so, whatever is not known of others.
            here = self.gain_here if self.winner == "a" else -self.gain_here
            known = (judge_size(gain, self.margin) for gain in (here, self.advantage))
            sizes[f"a difference of {self.margin:g}"] = min(known, key=SIZES.index)
        return sizes

    @property
    def gain_here(self) -> Interval:
        """Interval of the mean advantage of `a`, higher is better, on the data of these runs.

        A run that is missing may have gone badly enough to take any mean below any limit.
        """
        return self._bound((self._more_of_each or self.difference).interval)

    def _bound(self, interval: Interval) -> Interval:
        """Turn an interval of a - b to higher is better, open where runs are missing."""
        turned = interval if self.goal == "maximize" else -interval
        low, high = (math.inf if n_lacking else 0.0 for n_lacking in self.lacking)
        return replace(turned, low=turned.low - low, high=turned.high + high)

    @property
    def _more_of_each(self) -> "SearchesDifference | None":
        """Means of the searches that these runs are one of each of: of the same, and surer."""
        if self.searches is None or self.scope_here.tuned_once:
            return None
        return self.searches if self.searches.n_searches >= self.n_pairs else None

    @property
    def gain_tuned_anew(self) -> Interval | None:
        """The same of both tuned anew, by several searches, where pairs are after one of them."""
        if self.searches is None or not self.scope_here.tuned_once:
            return None
        interval = self.searches.interval
        return interval if self.goal == "maximize" else -interval

    @property
    def rests_on_one_search(self) -> bool:
        """Whether all runs are after one search of each, and no others tell more."""
        return self.scope_here.tuned_once and (self.searches is None or self.searches.is_open)

    @property
    def gain(self) -> Interval:
        """The same for data like these where that is known, which is the wider one."""
        if self.population is None:
            return self.gain_here
        return self._bound(self.population.interval)

    @property
    def better_mean(self) -> Winner | None:
        """Whose mean is better for sure, for all that is known, and if looking once was enough."""
        return self._favour(self.gain)

    @property
    def favoured(self) -> Winner | None:
        """Who wins or, if nobody does, whose mean is better on these data or for data like them."""
        return self.winner or self._favour(self.gain_here) or self.better_mean

    def _favour(self, gain: Interval) -> Winner | None:
        few = not self.conclusive and (gain != self.gain_here or self._more_of_each is None)
        if few or self.interval.method == "anytime" or 0 in gain:
            return None
        return "a" if gain.low > 0 else "b"

    @property
    def advantage(self) -> Interval:
        """The gain in the winner's favour, or in that of `a`."""
        return -self.gain if self.winner == "b" else self.gain

    @property
    def holds_for_population(self) -> bool | None:
        """Whether the winner is better for data like these; None where that is not known."""
        if self.population is None:
            return None
        return self.winner is not None and self.advantage.low > 0

    @property
    def evidence_beyond(self) -> str:
        """The p-value for data like these, and what it would have to be where it looks small."""
        assert self.population is not None
        pvalue, asked = self.population.pvalue, 1 - self.population.interval.confidence_level
        hint = f", where p < {asked:.2g} is asked for" if asked <= pvalue < self.alpha else ""
        return f"{describe_pvalue(pvalue)}{hint}"

    @property
    def scope(self) -> Scope:
        """What varied, and what the verdict is about for that reason."""
        here = self.scope_here
        return replace(here, about=DATA_LIKE_THESE) if self.holds_for_population else here

    @cached_property
    def conclusive(self) -> bool:
        """Whether there are enough runs for any outcome to be significant."""
        return self.n_decided >= smallest_conclusive(self.alpha)

    @cached_property
    def n_decided(self) -> int:
        """Independent pairs that can be evidence: a tie speaks for neither side."""
        if self.paired:
            return int(np.count_nonzero(self.scores_a != self.scores_b))
        return min(self.scores_a.size, self.scores_b.size)

    @cached_property
    def alpha(self) -> float:
        """Chance of a false alarm that the interval was made for."""
        return 1 - self.interval.confidence_level

    @cached_property
    def pvalues(self) -> dict[Winner, float]:
        """One-sided p-value of either side: of the test that the interval inverts, if it is exact.

        Intervals that err more often than they say (percentile, Wilson, bootstrap) have the p-value
        of the exact one. A side that is not the winner is not below its level, half of alpha. What
        a side lacks is taken for its worst.
        """
        a, b = self.higher
        sides: dict[Winner, tuple[FloatArray, FloatArray]] = {
            "a": take_worst(a, b, self.lacking[0], paired=self.paired),
            "b": take_worst(b, a, self.lacking[1], paired=self.paired),
        }
        options: dict[str, Any] = {
            "ties": "strict" if self.strict else "half",
            "method": "anytime" if self.interval.method == "anytime" else "exact",
        }
        plain = {
            side: outperforming_pvalue(*scores, paired=self.paired, **options)
            for side, scores in sides.items()
        }
        above = math.nextafter(self.alpha / 2, 1)
        return {side: p if self.winner == side else max(p, above) for side, p in plain.items()}

    @property
    def false_alarms(self) -> float:
        """Chance that equals, tied as often, are found to differ: exact if known, else alpha."""
        method: Any = self.interval.method
        if not self.paired or self.strict or method not in get_args(PlannedInterval):
            return self.alpha
        rule = VerdictRule(self.interval.confidence_level, interval=method)
        return rule.size(self.n_pairs, self.n_ties)

    @cached_property
    def n_ties(self) -> int:
        """Pairs that are tied; 0 where runs are not paired."""
        return self.n_pairs - self.n_decided if self.paired else 0

    @property
    def strict(self) -> bool:
        """Whether ties were counted as no win of either side, and there were any."""
        return self.probability + self.reverse_probability < 1 - 1e-9

    @cached_property
    def n_pairs(self) -> int:
        """Number of scores compared with one another; all with all where unpaired."""
        return self.scores_a.size if self.paired else self.scores_a.size * self.scores_b.size

    @property
    def higher(self) -> tuple[FloatArray, FloatArray]:
        """Scores of `a` and of `b`, turned so that higher is better."""
        if self.goal == "maximize":
            return self.scores_a, self.scores_b
        return -self.scores_a, -self.scores_b

    @property
    def effect_size(self) -> float:
        """Advantage of `a` in standard deviations: of the differences if paired, else pooled."""
        return (paired_d if self.paired else cohens_d)(*self.higher)

    def __str__(self) -> str:
        missing = "" if self.withstands_gaps else ", too many missing to tell"
        sizes = [SIZES_IN_WORDS[size].format(what) for what, size in self._sizes.items()]
        matters = ", ".join(sizes) or f"γ = {self.gamma:g}"
        return (
            f"{self.claim}: {self.describe_chance(self.winner)}, {self.verdict} "
            f"({self._count_runs()}{missing}, {matters}{name_level(self.alpha)})."
        )

    def describe_chance(self, side: Winner | None) -> str:
        """P(A>B) with its interval, or P(B>A) for the side of `b`."""
        if side == "b":
            return f"P({self.b} > {self.a}) = {self.reverse_probability:.3g} {self.reverse}"
        return f"P({self.a} > {self.b}) = {self.probability:.3g} {self.interval}"

    def _count_runs(self) -> str:
        runs = f"{self.scores_a.size} and {self.scores_b.size} runs"
        if self.paired:
            runs = f"{self.n_pairs} pairs"
            if self.n_ties == self.n_pairs:
                return f"{runs}, all tied"
            if self.n_ties and not self.conclusive:
                return f"{runs}, too few of them untied"
        return runs if self.conclusive else f"{runs}, too few to tell"

    @property
    def claim(self) -> str:
        """The verdict in words, and where it holds: the weaker of what is known."""
        return f"{self._claim_here}{self.claim_tuned_anew}"

    @property
    def claim_tuned_anew(self) -> str:
        """What several searches show, where all runs that were compared are after one."""
        if self.searches is None or self.gain_tuned_anew is None:
            return ""
        anew, evidence = "; tuned anew on these data, ", self.searches.evidence
        if self.searches.n_incomplete:
            return f"{anew}nothing is shown ({evidence})"
        shown, once = "no difference is shown", "" if self.searches.is_open else self.once
        if self.searches.shown:
            better = self.a if self.gain_tuned_anew.low > 0 else self.b
            shown = f"{better} has the better mean"
        return f"{anew}{self.searches.n_searches} times each, {shown} ({evidence}{once})"

    @property
    def _claim_here(self) -> str:
        a, b, task = self.a, self.b, self.task
        tuned = ", each tuned once" if self.scope_here.tuned_once else ""
        on = f" on {task}{tuned}" if task else tuned
        sample = f" on this sample of {task or 'the data'}{tuned}"
        if self.winner is None:
            by_mean = self._favour(self.gain_here)
            if by_mean is None:
                return describe(a, b, None, self.verdict, on=on)
            better, other = (a, b) if by_mean == "a" else (b, a)
            claim = f"but is not shown to beat {other} more often"
            if self._more_of_each is not None:
                claim = f"over {self._more_of_each.n_searches} searches of each, {claim}"
            if self.population is None or self.better_mean:
                return f"{better} has the better mean{on}, {claim}"
            beyond = f"for other data like it nothing is shown ({self.evidence_beyond})"
            return f"{better} has the better mean{sample}, {claim}; {beyond}"
        if self.population is None:
            return describe(a, b, self.winner, self.verdict, on=on)
        pvalue = self.evidence_beyond
        if self.holds_for_population:
            here = f" on {task or 'these data'}"
            where = f"{here} and for data like these ({pvalue}{self.once}){tuned}"
            claim = describe(a, b, self.winner, self.verdict, on=where)
            # What is ruled out is so on this dataset.
            return f"{claim} here" if self.verdict == "significant, not meaningful" else claim
        claim = describe(a, b, self.winner, self.verdict, on=sample)
        beyond = "that is not shown"
        if self.advantage.high < 0:  # wins more often, but loses by more
            beyond = f"{b if self.winner == 'a' else a} has the better mean"
        return f"{claim}; for other data like it {beyond} ({pvalue})"

    @property
    def tables(self) -> list[Table | str]:
        """Means, difference, P(A>B) and tests."""
        return [tabulate(self)]

    @property
    def as_worst(self) -> str:
        """What an interval of P(A>B) and a p-value hold for, where runs are missing."""
        return ", missing runs as the worst" if any(self.lacking) else ""

    @property
    def advice(self) -> str:
        """What to do next."""
        return suggest_next(self)

    @property
    def scope_hint(self) -> str:
        """How to tell that runs divide the data anew, where that is not known."""
        here = self.scope_here
        unknown = self.paired and here.about == THIS_DATASET and self.population is None
        if not unknown or here.divides_anew:
            return ""
        return "; if every run also divides the data anew, add --train-size and --test-size"

    @property
    def once(self) -> str:
        """What a test of means rests on where P(A>B) may be looked at again and again."""
        return ", were this the only look" if self.interval.method == "anytime" else ""

    @property
    def mean_a(self) -> float:
        """Mean score of `a`."""
        return float(self.scores_a.mean())

    @property
    def mean_b(self) -> float:
        """Mean score of `b`."""
        return float(self.scores_b.mean())

    @property
    def sd_a(self) -> float:
        """Standard deviation of the scores of `a`."""
        return float(self.scores_a.std(ddof=1))

    @property
    def sd_b(self) -> float:
        """Standard deviation of the scores of `b`."""
        return float(self.scores_b.std(ddof=1))

    @property
    def _population(self) -> dict[str, Any] | None:
        if self.population is None:
            return None
        return {
            "difference": self.population.value,
            "low": self.population.interval.low,
            "high": self.population.interval.high,
            "confidence_level": self.population.interval.confidence_level,
            "pvalue": self.population.pvalue,
            "shown": self.holds_for_population,
        }
