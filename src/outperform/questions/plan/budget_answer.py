"""What a budget buys by each design, and how it is best split between searches and replicates."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from outperform.errors import InvalidInput
from outperform.questions.plan.budget_result import (
    BudgetPlan,
    Costs,
    DesignPlan,
    ErrorRates,
    list_options,
)
from outperform.questions.plan.constants import (
    Constants,
    Pair,
    RunVariation,
    SearchLength,
    estimate_typical,
    make_typical,
    measure_constants,
    measure_search_lengths,
)
from outperform.runner.stored_study import recall_study
from outperform.stats.checks import check_gamma, check_open_unit, check_positive
from outperform.store import Store, is_store
from outperform.store.repeated_runs import choose_pairs
from outperform.store.store import use_store
from outperform.study.designs import MOST_RUNS
from outperform.study.study import Study
from outperform.study.study_file import read_study
from outperform.wording import count, enumerate_names, format_duration

_HOUR = 3600.0
_PILOT = (10, 5)  # repetitions and replicates that measure ρ well enough


def plan_budget(
    source: str | Path | Store | Study,
    *,
    budget: float | None = None,
    hours: float | None = None,
    seconds_per_fit: float | None = None,
    pipelines: Collection[str] = (),
    task: str | None = None,
    gamma: float = 0.75,
    alpha: float = 0.05,
    beta: float = 0.05,
) -> BudgetPlan:
    """Plan which design a budget of fits or hours goes to, and how it is split.

    Parameters
    ----------
    source
        A store, whose runs tell how much scores after one search have in common; or a study, or
        its file, for which typical constants of published case studies are taken.
    budget, hours
        Fits of the whole study, or hours that they take one after the other: one of the two.
    seconds_per_fit
        Where the store does not know it.
    pipelines, task
        Those that the budget is for; all by default.
    gamma, alpha, beta
        Smallest P(A>B) that matters, accepted chances of a false alarm and of a miss.

    References
    ----------
    Bouthillier et al. (2021), Accounting for Variance in ML Benchmarks, section 3.3.
    """
    check_gamma(gamma)
    check_open_unit("alpha", alpha)
    check_open_unit("beta", beta)
    if (budget is None) == (hours is None):
        raise InvalidInput(
            f"the budget is {budget} fits and {hours} hours", "Pass one of the two: budget or hours"
        )
    given = {"budget": budget, "hours": hours, "seconds_per_fit": seconds_per_fit}
    for name, value in given.items():
        if value is not None:
            check_positive(name, value)
    pilot = _learn(source, pipelines, task)
    costs = _price(pilot, seconds_per_fit, in_seconds=hours is not None)
    total = budget if hours is None else hours * _HOUR
    assert total is not None
    _check_enough(total, costs, pilot)
    options = tuple(list_options(pilot.constants, pilot.lengths, pilot.study.trials))
    rates = ErrorRates(gamma, alpha, beta)
    plans = []
    for option in options:
        plan = option.plan(total, costs, rates)
        several = plan.name.endswith(", several searches")
        # Several searches that are one, or ideal, are one of the others.
        if not (several and 1 in (plan.split.n_searches, plan.split.n_replicates)):
            plans.append(plan)
    return BudgetPlan(
        budget=total,
        costs=costs,
        n_trials=pilot.study.trials,
        rates=rates,
        constants=pilot.constants,
        plans=tuple(plans),
        options=options,
        variations=pilot.variations,
        search_lengths=pilot.lengths,
        caveats=tuple(_find_doubts(pilot, plans)),
    )


def _check_enough(budget: float, costs: Costs, pilot: "_Pilot") -> None:
    """Refuse what does not pay for one search and a replicate of each, or for more than can be."""
    n_trials = pilot.study.trials
    least, most = costs.search(n_trials) + costs.fit, MOST_RUNS * costs.fit / len(pilot.pairs)
    if least <= budget * (1 + 1e-9) <= most * (1 + 2e-9):
        return
    given, needed, limit = (
        f"{cost:,.0f} fits" if costs.unit == "fits" else format_duration(cost)
        for cost in (budget, least, most)
    )
    if budget > most:
        raise InvalidInput(
            f"the budget is {given}, but no study has more than {MOST_RUNS:,} runs, which take "
            f"{limit}",
            "Plan for less",
        )
    n_searched = costs.fits_per_trial
    raise InvalidInput(
        f"the budget is {given}, but one search of {n_trials} trials for each of "
        f"{count(n_searched, 'pipeline')} on a task, with one final fit, takes {needed}",
        f"Plan for {needed} or more, or let the study search with fewer trials",
    )


@dataclass(frozen=True, slots=True)
class _Pilot:
    """What is known before the budget is spent."""

    study: Study
    pairs: tuple[Pair, ...]
    searched: tuple[Pair, ...]  # those of pipelines with hyperparameters to search
    constants: tuple[Constants, ...]
    lengths: tuple[SearchLength, ...] = ()
    variations: tuple[RunVariation, ...] = ()
    seconds: Mapping[Pair, float] | None = None  # None: nothing was run
    doubts: tuple[str, ...] = ()


def _learn(
    source: str | Path | Store | Study, pipelines: Collection[str], task: str | None
) -> _Pilot:
    """What a store tells; of a study that was not run, typical constants."""
    if not isinstance(source, Study) and (not isinstance(source, str | Path) or is_store(source)):
        with use_store(source) as store:
            study = recall_study(store)
            pairs, searched = _list_pairs(study, store.address, pipelines, task)
            constants, variations, doubts = measure_constants(store, searched)
            lengths = measure_search_lengths(study, store, searched)
            known = lengths, variations, store.mean_seconds(), doubts
            return _Pilot(study, pairs, searched, constants, *known)
    doubts = ()
    if isinstance(source, Study):
        study, address = source, source.name
    elif Path(source).suffix.casefold() != ".toml":
        raise InvalidInput(
            f"{source} is neither the store of a study nor a study file",
            "Name one of the two: a table of runs does not say what was searched, and at what cost",
        )
    else:
        study, address = read_study(source), str(source)
        beside = Path(source).with_suffix(".db")  # where `outperform run` keeps its fits
        if beside.exists() and is_store(beside):
            doubts = (f"{beside} has fits, which this did not look at: plan {beside} instead",)
    pairs, searched = _list_pairs(study, address, pipelines, task)
    return _Pilot(study, pairs, searched, (make_typical(),), doubts=doubts)


def _price(pilot: _Pilot, per_fit: float | None, *, in_seconds: bool) -> Costs:
    """What a trial of every search, and a replicate of every pair, cost; as recorded, or told."""
    sizes = len(pilot.searched), len(pilot.pairs)
    if not in_seconds:
        return Costs(float(sizes[0]), float(sizes[1]), "fits", *sizes)
    recorded = pilot.seconds or {}
    unknown = [pair for pair in pilot.pairs if pair not in recorded]
    if unknown and per_fit is None:
        raise InvalidInput(
            f"how long a fit of {' on '.join(unknown[0])} takes is not known",
            "Pass --seconds-per-fit (seconds_per_fit in Python), or a budget of fits",
        )
    trial, fit = (
        sum(recorded.get(pair, per_fit or 0.0) for pair in pairs)
        for pairs in (pilot.searched, pilot.pairs)
    )
    return Costs(trial, fit, "seconds", *sizes)


def _list_pairs(
    study: Study, address: str, pipelines: Collection[str], task: str | None
) -> tuple[tuple[Pair, ...], tuple[Pair, ...]]:
    """Pipelines on tasks that the budget is for, and those of them that are searched."""
    known = [each.name for each in study.pipelines], [each.name for each in study.tasks]
    pairs = tuple(choose_pairs(pipelines, task, known, address))
    searched = tuple(pair for pair in pairs if study.pipeline(pair[0]).space)
    if not searched:
        raise InvalidInput(
            f"no pipeline of {address} has hyperparameters to search, so that all runs are "
            "independent and there is nothing to split",
            "Plan the number of pairs: `outperform plan` without a budget",
        )
    return pairs, searched


def _find_doubts(pilot: _Pilot, plans: list[DesignPlan]) -> Iterator[str]:
    first = pilot.constants[0]
    reach = f"from {first.low:.2g} to {first.high:.2g}"
    if first.typical:
        yield from _doubt_typical(pilot, f"ρ = {first.correlation:.2g} on average, {reach}")
    else:
        yield (
            f"ρ, the correlation of runs after the same search, was estimated to be "
            f"{first.estimate:.2g}, {reach}: {first.correlation:.2g} is expected, and planned with"
        )
    yield from pilot.doubts
    if len(pilot.constants) == 1:
        yield (
            "simulated-hopt and resampled-hopt take a search and k fits as fix-hopt does, and "
            "their mean is taken to be as precise; what they add is the standard deviation"
        )
    yield (
        "P(A>B) of pipelines tuned anew is what a t test of the means of searches finds, if scores "
        "are normal and differences after the same search correlate as scores do; they correlate "
        "more where paired runs share noise, as that of a split, and then less is found"
    )
    if any(plan.holds_ideal and not plan.is_ideal for plan in plans):
        yield (
            "after several searches of fix-hopt `outperform compare` tests the means of all of "
            "them, each counted once; the wins that it counts are of one run after each, those of "
            "the ideal design, which cost no further fit"
        )
    others = [p.design for p in plans if p.split.n_searches > 1 and not p.holds_ideal]
    if others:
        yield (
            f"of several searches of {enumerate_names(others)} `outperform compare` counts the "
            "wins after the first alone, which tell nothing of pipelines tuned anew; the means of "
            "all of them, which it tests, do"
        )
    yield from _doubt_lengths(pilot)


def _doubt_typical(pilot: _Pilot, rho: str) -> Iterator[str]:
    values = ", ".join(f"{name} {value:.2g}" for name, value in estimate_typical().items())
    n_repetitions, k = _PILOT
    sizes = len(pilot.searched), len(pilot.pairs)
    n_fits = n_repetitions * (pilot.study.trials * sizes[0] + k * sizes[1])
    why = "" if pilot.seconds is None else " (fix-hopt was not repeated, or its runs do not vary)"
    yield (
        f"ρ is typical of published case studies, not measured on yours{why}: {rho} (Bouthillier "
        f"et al., 2021: {values})"
    )
    recorded = pilot.seconds or {}
    hours = ""
    if all(pair in recorded for pair in pilot.pairs):
        searching = sum(recorded[pair] for pair in pilot.searched) * pilot.study.trials
        fitting = sum(recorded[pair] for pair in pilot.pairs) * k
        hours = f", {format_duration(n_repetitions * (searching + fitting))}"
    yield (
        f'a pilot of {n_fits:,} fits{hours} would measure it: kind = "fix-hopt", replicates = {k}, '
        f"repetitions = {n_repetitions}"
    )


def _doubt_lengths(pilot: _Pilot) -> Iterator[str]:
    if pilot.lengths:
        yield (
            "what shorter searches would find is taken from the recorded trials: their bias "
            f"against {pilot.study.trials} trials is part of the error, and P(A>B) is of pipelines "
            "tuned with as few"
        )
    elif pilot.seconds is not None:
        yield (
            "whether shorter searches would do is not known: that takes five finished random "
            "searches of each pipeline, whose trials are scored on test data"
        )
    if pilot.seconds is not None:
        yield "the budget is that of a new study: fits that the store has already are not taken off"
