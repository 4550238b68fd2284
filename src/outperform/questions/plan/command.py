"""The command `outperform plan`."""

from typing import TYPE_CHECKING, Any, get_args

import click

from outperform.cli.options import (
    Output,
    alpha_option,
    beta_option,
    drop_option,
    find_given,
    gamma_option,
    only_option,
    output_options,
    reading_options,
    resplit_options,
)
from outperform.questions.compare.answer import compare_runs
from outperform.questions.compare.result import Comparison
from outperform.questions.plan.answer import plan
from outperform.stats.verdicts import PlannedInterval
from outperform.store.store import open_runs

if TYPE_CHECKING:
    from outperform.questions.plan.budget_result import BudgetPlan

_FOR_BUDGET = {*("alpha", "beta", "gamma", "seconds_per_fit", "budget", "hours", "only", "words")}
_WITHOUT_PILOT = {
    *("alpha", "beta", "gamma", "interval", "n_pairs", "seconds_per_fit"),
    *("train_size", "test_size"),
}


@click.command()
@click.argument("words", nargs=-1, metavar="[RUNS A B | STORE | STUDY.toml]")
@gamma_option
@alpha_option
@beta_option
@click.option("--pairs", "n_pairs", type=int, help="Say what this number of pairs can show.")
@click.option(
    "--budget", type=int, help="Number of fits: which design of a study are they best spent on?"
)
@click.option("--hours", type=float, help="... or hours, if fits are done one after the other.")
@click.option(
    "--seconds-per-fit",
    type=float,
    help="Add the time that runs take; with --hours, needed if the store does not know it.",
)
@click.option(
    "--interval",
    type=click.Choice(get_args(PlannedInterval)),
    default="exact",
    show_default=True,
    help="Interval that the verdict will be drawn from.",
)
@resplit_options
@only_option
@drop_option
@reading_options
@output_options
def command(
    words: tuple[str, ...],
    reading: dict[str, Any],
    output: Output,
    only: str | None,
    drop_incomplete: bool,
    budget: int | None,
    hours: float | None,
    **options: Any,
) -> None:
    """Plan how many paired runs a verdict needs.

    \b
        outperform plan --gamma 0.75 --seconds-per-fit 600
        outperform plan --pairs 10
        outperform plan pilot.csv resnet vgg
        outperform plan pilot.csv resnet vgg --train-size 800 --test-size 200
        outperform plan study.db --budget 2000
        outperform plan study.toml --hours 12 --seconds-per-fit 60

    With RUNS A B, a pilot, it plans for the P(A>B) seen there instead of gamma. With the sizes of
    the sets that every run divides one dataset into, it says what such runs can show about other
    data like it, and what no number of them ever can.

    With a budget of fits or hours, it says what each design buys with it, and how it is best split
    between searches and replicates. The store of a study, whose fix-hopt design was repeated, tells
    how much the luck of a search matters; a study file without any fit is planned with typical
    constants. Two pipelines may be named, A B, and one task: --on TASK.
    """
    if budget is not None or hours is not None:
        output.show(_plan_budget(words, only, budget=budget, hours=hours, **options))
        return
    if not words and (given := find_given(_WITHOUT_PILOT)):
        raise click.UsageError(f"{', '.join(given)} needs a pilot: RUNS A B.")
    sizes = {name: options[name] for name in ("train_size", "test_size")}
    taking = {"task": only, "drop_incomplete": drop_incomplete, **sizes}
    pilot = _read_pilot(words, reading, taking) if words else None
    result = plan(pilot=pilot, **options)
    output.show(result)


def _plan_budget(words: tuple[str, ...], only: str | None, **options: Any) -> "BudgetPlan":
    from outperform.questions.plan.budget_answer import plan_budget  # imports studies

    if len(words) not in (1, 3):
        raise click.UsageError("A budget needs a study: STORE or STUDY.toml, and A B if you like.")
    if given := find_given(_FOR_BUDGET):
        raise click.UsageError(f"{', '.join(given)} is not for a budget.")
    if options["hours"] is None and options["seconds_per_fit"] is not None:
        raise click.UsageError("--seconds-per-fit is for --hours: a --budget is of fits.")
    names = ("alpha", "beta", "gamma", "seconds_per_fit", "budget", "hours")
    chosen = {name: options[name] for name in names}
    return plan_budget(words[0], pipelines=words[1:], task=only, **chosen)


def _read_pilot(
    words: tuple[str, ...], reading: dict[str, Any], taking: dict[str, Any]
) -> Comparison:
    if len(words) != 3:
        raise click.UsageError(
            "A pilot is a runs file and two algorithms: RUNS A B. A study alone is planned for a "
            "--budget of fits, or --hours."
        )
    runs = open_runs(words[0], reading)
    result = compare_runs(runs, words[1], words[2], paired=True, **taking)
    if not isinstance(result, Comparison):
        raise click.UsageError(
            f"{runs.source} has {len(runs.tasks)} tasks ({', '.join(runs.tasks)}): plan for one "
            "with --on TASK."
        )
    return result
