"""The command `outperform rank`."""

from typing import Any, get_args

import click

from outperform.cli.options import (
    Output,
    alpha_option,
    gamma_option,
    paper_output_options,
    reading_options,
    seed_option,
)
from outperform.cli.progress import say_if_slow
from outperform.questions.rank.answer import TESTS, rank_runs
from outperform.questions.rank.grids import Gaps
from outperform.questions.rank.result import Correction, Normalization
from outperform.stats.task_aggregates import TasksAre
from outperform.store.store import open_runs


@click.command()
@click.argument("path", metavar="RUNS")
@click.option(
    "--tasks",
    type=click.Choice(get_args(TasksAre)),
    help="Ask about these tasks, or about tasks like these, of which they are a sample.  [default: "
    "sampled from 10 tasks on, or with one run of each]",
)
@click.option("--baseline", metavar="NAME", help="Compare all others with this algorithm only.")
@click.option(
    "--correction",
    type=click.Choice(get_args(Correction)),
    default="holm",
    show_default=True,
    help="How p-values and intervals are corrected for the number of pairs.",
)
@click.option(
    "--test",
    type=click.Choice(TESTS),
    help="How pairs are tested.  [default: wins; for tasks like these: wilcoxon]",
)
@click.option("--paired/--unpaired", default=None, help="Pair runs by replicate, or at random.")
@click.option(
    "--only",
    multiple=True,
    metavar="NAME",
    help="Rank only this algorithm and others named so; to be repeated.",
)
@click.option("--family", metavar="COLUMN", help="Column that says which tasks belong together.")
@click.option(
    "--complete", is_flag=True, help="Leave out tasks and replicates that not all algorithms have."
)
@click.option("--gaps", is_flag=True, help="Keep gaps, taken for the worst where pairs are told.")
@click.option(
    "--normalize",
    type=click.Choice(get_args(Normalization)),
    help="Make scores comparable, and aggregate them over tasks.",
)
@click.option(
    "--references",
    metavar="FILE|COLUMN,COLUMN",
    help="Baseline and target of each task, for --normalize baseline.",
)
@gamma_option
@alpha_option
@seed_option
@reading_options
@paper_output_options
def command(
    path: str,
    complete: bool,
    gaps: bool,
    alpha: float,
    reading: dict[str, Any],
    output: Output,
    **options: Any,
) -> None:
    """Say which of many algorithms may be the best.

    \b
        outperform rank runs.csv
        outperform rank runs.csv --baseline resnet --plot ranks.pdf
        outperform rank runs.csv --format latex > table.tex
        outperform rank table.csv --wide --rows tasks --maximize

    RUNS has one row per run, with columns such as algorithm, task, seed and accuracy. Per task:
    mean ± standard deviation, and a mark on every algorithm that may be the best. Over tasks:
    the ranks that each may truly have, and P(A>B) of all pairs, corrected for their number.
    """
    if complete and gaps:
        raise click.UsageError("--complete leaves gaps out and --gaps keeps them: choose one.")
    way: Gaps = "complete" if complete else "keep" if gaps else "refuse"
    with say_if_slow("Comparing all pairs ..."):
        ranking = rank_runs(
            open_runs(path, reading), gaps=way, confidence_level=1 - alpha, **options
        )
    output.show(ranking)
