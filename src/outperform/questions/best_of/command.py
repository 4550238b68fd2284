"""The command `outperform best-of`."""

import re
from typing import Any, get_args

import click
import numpy as np

from outperform.cli.options import (
    Output,
    alpha_option,
    drop_option,
    only_option,
    output_options,
    reading_options,
    seed_option,
)
from outperform.errors import InvalidInput
from outperform.questions.best_of.answer import best_of_runs
from outperform.render.terminal import say
from outperform.runs import Runs
from outperform.stats.best_of_n import BestOfEstimator
from outperform.stats.best_of_resamples import BestOfInterval
from outperform.store import is_store
from outperform.store.store import open_runs

_LONG = 2e7  # runs drawn, from which on it takes more than 2 seconds


@click.command()
@click.argument("words", nargs=-1, metavar="RUNS [A [B]]")
@click.option(
    "--n",
    "budgets",
    metavar="N",
    multiple=True,
    default=("5",),
    help="Candidates to choose from; may be repeated, or a range such as 1-20.  [default: 5]",
)
@click.option(
    "--estimator",
    type=click.Choice(get_args(BestOfEstimator)),
    default="v",
    show_default=True,
    help="v: that of Bajgar et al. (2018); u: without bias, n up to the number of runs; "
    "gaussian: normal scores.",
)
@click.option(
    "--interval",
    type=click.Choice(get_args(BestOfInterval)),
    default="jackknife",
    show_default=True,
    help="Jackknife, or percentiles of the bootstrap, which hold the truth less often.",
)
@click.option("--validation", metavar="COLUMN", help="Column with the scores that choose.")
@click.option("--trials", is_flag=True, help="RUNS is a store: take the trials of its searches.")
@only_option
@drop_option
@click.option(
    "--draws",
    "n_resamples",
    type=click.IntRange(1),
    default=10_000,
    show_default=True,
    help="Resamples of the bootstrap.",
)
@seed_option
@alpha_option
@reading_options
@output_options
def command(
    words: tuple[str, ...],
    budgets: tuple[str, ...],
    alpha: float,
    seed: int,
    only: str | None,
    output: Output,
    reading: dict[str, Any],
    validation: str | None,
    trials: bool,
    **options: Any,
) -> None:
    """Say what to expect of the best of n runs.

    \b
        outperform best-of runs.csv --n 5
        outperform best-of runs.csv resnet vgg --n 5 --n 20 --plot best.pdf
        outperform best-of fixed.csv fixed random --with random.csv
        outperform best-of study.db --trials

    n is a budget: the number of candidates that somebody would train before keeping the one with
    the best validation score. Its expected test score, Boo_n, does not depend on how many runs it
    is estimated from, as the score of the best single run does. With two algorithms, which one to
    train with such a budget, and from which budget on the other.
    """
    if not 1 <= len(words) <= 3:
        raise click.UsageError(
            "Name the runs file, then one or two algorithms, or none for all: RUNS A B."
        )
    a, b = (*words[1:], None, None)[:2]
    runs = _read(words[0], {**reading, "validation": validation}, trials=trials)
    if (b or options["interval"] == "percentile") and len(runs) * options["n_resamples"] > _LONG:
        say(f"Resampling {len(runs):,} runs {options['n_resamples']:,} times ...", err=True)
    result = best_of_runs(
        runs,
        a,
        b,
        n=[n for text in budgets for n in _parse_budgets(text)],
        task=only,
        confidence_level=1 - alpha,
        rng=np.random.default_rng(seed),
        **options,
    )
    output.show(result)


def _parse_budgets(text: str) -> range:
    """A number of candidates, or a range such as 1-20."""
    match = re.fullmatch(r"(\d+)(?:-(\d+))?", text.strip())
    numbers = range(int(match[1]), int(match[2] or match[1]) + 1) if match else range(0)
    if not numbers or numbers[0] < 1:
        raise InvalidInput(
            f"n is {text!r}", "Pass a whole number not less than 1, or a range such as 1-20"
        )
    return numbers


def _read(path: str, reading: dict[str, Any], *, trials: bool) -> Runs:
    """Runs of a file or a store; they choose by the score that is reported only if asked to."""
    if not trials:
        runs = open_runs(path, reading)
        if runs.validation is None and reading["validation"] is None:
            if is_store(path):
                raise InvalidInput(
                    f"the final fits in {runs.source} have no validation scores, by which the best "
                    "is chosen: they were trained on validation data too",
                    "Pass --trials to choose among the trials of its searches; --validation "
                    f"{runs.metric!r} chooses by the score that is reported, which is optimistic",
                )
            raise InvalidInput(
                f"no column of {runs.source} is recognised as validation scores, by which the best "
                "run is chosen",
                f"Name their column with --validation; --validation {runs.metric!r} chooses by the "
                "score that is reported, which is optimistic",
            )
        return runs
    if not is_store(path):
        raise InvalidInput(
            f"{path} is no store of a study, so it has no searches",
            "Leave out --trials: each row of a file is a run",
        )
    if reading["others"]:
        raise InvalidInput(
            "trials of a search cannot be joined with other runs", "Leave out --with or --trials"
        )
    from outperform.questions.best_of.search_trials import collect_trials
    from outperform.runner.stored_study import recall_study

    return collect_trials(recall_study(path), path, accept=reading["accept"])
