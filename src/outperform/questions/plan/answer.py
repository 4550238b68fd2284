"""How many runs, what power, what cost."""

from contextlib import suppress
from dataclasses import replace

from outperform.errors import InvalidInput
from outperform.questions.compare.advice import TOO_GOOD
from outperform.questions.compare.answer import find_population, make_resplit
from outperform.questions.compare.result import Comparison
from outperform.questions.plan.result import PAIRS, Plan, PlannedResplits, SequentialDesign
from outperform.runs.scope import SPLITS, THIS_DATASET, Resplit, Scope
from outperform.stats import noether_sample_size, plan_sequential_test, required_pairs
from outperform.stats.checks import check_count, check_gamma, check_positive
from outperform.stats.dependent_replicates import cautious_alpha
from outperform.stats.verdicts import PlannedInterval
from outperform.wording import count

_MOST_PAIRS = 1_000_000_000  # nobody has more


def plan(
    *,
    gamma: float = 0.75,
    alpha: float = 0.05,
    beta: float = 0.05,
    n_pairs: int | None = None,
    pilot: Comparison | None = None,
    seconds_per_fit: float | None = None,
    interval: PlannedInterval = "exact",
    train_size: int | None = None,
    test_size: int | None = None,
) -> Plan:
    """Plan how many paired runs a comparison needs.

    Parameters
    ----------
    gamma
        Smallest P(A>B) that matters.
    alpha, beta
        Accepted chances of a false alarm and of a miss.
    n_pairs
        A number of pairs to judge; by default the number that is needed.
    pilot
        Runs at hand: plan for the P(A>B) they show instead of gamma.
    seconds_per_fit
        Adds the cost.
    train_size, test_size
        Sizes of the sets that one dataset will be divided into anew for every pair: adds what
        such pairs can show about other data like it. A pilot of a store knows its own.

    Examples
    --------
    >>> print(plan())
    54 pairs make a true P(A>B) of 0.75 significant and meaningful with power 0.95 (γ = 0.75, \
α = 0.05; Noether's formula says 29).
    """
    check_gamma(gamma)
    if seconds_per_fit is not None:
        check_positive("seconds_per_fit", seconds_per_fit)
    resplit = make_resplit(train_size, test_size)
    probability, caveats, better, worse = gamma, tuple[str, ...](), "A", "B"
    tie_share = 0.0
    scope = PAIRS if resplit is None else Scope((SPLITS,), THIS_DATASET, how="will vary")
    if pilot is not None:
        seen, better, worse = _find_better(pilot)
        if resplit is not None:
            scores, level = (pilot.scores_a, pilot.scores_b), pilot.interval.confidence_level
            pilot = replace(pilot, population=find_population(*scores, resplit, level))
        scope = replace(pilot.scope_here, how="will vary")
        # Where ties count for neither side, a pair that is tied is not won.
        tie_share = 0.0 if pilot.strict else pilot.n_ties / pilot.n_pairs
        probability, gamma, caveats = _learn_from(pilot, seen, better, gamma, tie_share)
        if n_lacking := pilot.lacking[0 if better == pilot.a else 1]:
            least, enough = seen * pilot.n_pairs / (pilot.n_pairs + n_lacking), None
            with suppress(InvalidInput):  # not above a half, or as good as that
                reached = gamma if least >= gamma else 0.5
                enough = required_pairs(reached, alpha, beta, probability=least, interval=interval)
            caveats += (_doubt_missing(better, n_lacking, least, enough),)
    rates = {"probability": probability, "interval": interval}
    needed = required_pairs(gamma, alpha, beta, tie_share=tie_share, **rates)
    if pilot is not None and tie_share:
        without = required_pairs(gamma, alpha, beta, **rates)
        caveats += (
            f"{pilot.n_ties} pairs of the pilot are tied, and as many are planned with: a tie says "
            f"nothing, and with fewer of them the same P(A>B) takes more pairs, up to {without:,}",
        )
    if n_pairs is not None:
        check_count("n_pairs", n_pairs, at_least=1, at_most=_MOST_PAIRS)
    return Plan(
        gamma=gamma,
        alpha=alpha,
        beta=beta,
        interval=interval,
        better=better,
        worse=worse,
        probability=probability,
        tie_share=tie_share,
        n_noether=noether_sample_size(probability, alpha, beta),
        n_required=needed,
        n_pairs=needed if n_pairs is None else n_pairs,
        seconds_per_fit=seconds_per_fit,
        sequential=_plan_sequentially(
            gamma, alpha, beta, probability, seconds_per_fit, tie_share=tie_share
        ),
        scope=scope,
        resplits=_plan_resplits(resplit, pilot, alpha=alpha, beta=beta),
        caveats=caveats,
    )


def _learn_from(
    pilot: Comparison, seen: float, better: str, gamma: float, tie_share: float
) -> tuple[float, float, tuple[str, ...]]:
    """P(A>B) to plan for, the gamma that can be reached with it, and what that rests on."""
    if seen <= 0.5:  # less than half where ties count for neither side
        raise InvalidInput(
            f"the pilot of {pilot.n_pairs} pairs shows no advantage: neither side wins more than "
            f"half ({seen:.2g})",
            "Plan without a pilot, for the smallest P(A>B) that matters to you",
        )
    caveats = [
        f"the pilot of {pilot.n_pairs} pairs shows P({better} wins) = {seen:.2g} "
        f"{pilot.interval if better == pilot.a else pilot.reverse}: if the truth is less, it takes "
        "more pairs; take new seeds, as those of the pilot have been looked at"
    ]
    # Pairs that are not tied tell who wins.
    most = 0.5 + (1 - tie_share) * (TOO_GOOD - 0.5)
    if seen > most:
        caveats.append(f"that is too good to plan with: {most:.3g} was used")
    seen = min(seen, most)
    if seen < gamma:
        caveats.append(
            f"{seen:.2g} is below γ = {gamma:g}: these pairs make the difference significant, not "
            "meaningful"
        )
    caveats += [f"the pilot: {doubt}" for doubt in pilot.caveats]
    return seen, gamma if seen >= gamma else 0.5, tuple(caveats)


def _doubt_missing(better: str, n_lacking: int, least: float, n_pairs: int | None) -> str:
    """Say how many pairs it takes if runs that the better one of a pilot lacks went badly."""
    takes = (
        "and no number of pairs that can be run would show it"
        if n_pairs is None
        else f"which takes {n_pairs:,} pairs"
    )
    return (
        f"planned by the runs that are left: had the {count(n_lacking, 'run')} that {better} lacks "
        f"gone badly, it would win {least:.2g} of the time, {takes}"
    )


def _find_better(pilot: Comparison) -> tuple[float, str, str]:
    """Chance to win of the better one of a pilot, its name, and the other's."""
    if not isinstance(pilot, Comparison):
        raise InvalidInput(
            f"the pilot is of type {type(pilot).__name__}, not a comparison on one task",
            "Pass what compare returned, or compare_runs with one task",
        )
    if not pilot.paired:
        raise InvalidInput(
            f"the pilot compares {pilot.a!r} and {pilot.b!r} unpaired, but pairs are planned",
            "Pass a paired comparison, or plan without a pilot",
        )
    if pilot.probability >= pilot.reverse_probability:
        return pilot.probability, pilot.a, pilot.b
    return pilot.reverse_probability, pilot.b, pilot.a


def _plan_sequentially(
    gamma: float,
    alpha: float,
    beta: float,
    probability: float,
    seconds_per_fit: float | None = None,
    *,
    tie_share: float = 0.0,
) -> SequentialDesign | None:
    """Plan a sequential test; None where it would take thousands of pairs, or chance would do.

    Where gamma, the smallest P(A>B) that matters, is ½, what is planned for takes its place.

    >>> design = _plan_sequentially(0.75, 0.05, 0.05, probability=0.75)
    >>> round(design.better.expected_pairs, 1), design.test.n_max
    (27.6, 80)
    """
    with suppress(InvalidInput):
        test = plan_sequential_test(gamma if gamma > 0.5 else probability, alpha, beta)
        better, equals = (test.operating(p, tie_share=tie_share) for p in (probability, 0.5))
        return SequentialDesign(test, better, equals, seconds_per_fit)
    return None


def _plan_resplits(
    resplit: Resplit | None, pilot: Comparison | None, *, alpha: float, beta: float
) -> PlannedResplits | None:
    """Plan for data like these, where sizes of splits, or a pilot made of such, are known.

    With a pilot, which was compared with them, the sizes are of no matter. None where nothing is
    known of how the data are divided, or a pilot's differences do not vary.

    >>> print(_plan_resplits(Resplit(800, 200), None, alpha=0.05, beta=0.05))
    no number of re-splits shows a difference below 1.3 standard deviations of the difference
    """
    alpha = cautious_alpha(alpha)
    if pilot is None:
        if resplit is None:
            return None
        return PlannedResplits(resplit.n_test / resplit.n_train, alpha, beta)
    seen = pilot.population
    if seen is None or seen.deviation == 0:
        return None
    return PlannedResplits(seen.overlap, alpha, beta, seen.deviation, pilot.metric, seen.value)
