"""The command `outperform decompose`."""

from pathlib import Path
from typing import Any

import click

from outperform.cli.options import (
    Output,
    accept_option,
    alpha_option,
    at_option,
    check_figure,
    drop_option,
    output_options,
    print_json,
)
from outperform.errors import InvalidInput
from outperform.questions.decompose.answer import decompose
from outperform.questions.decompose.result import Decompositions
from outperform.render.terminal import print_result, say
from outperform.runner.stored_study import recall_study
from outperform.store import is_store


@click.command()
@click.argument("path", metavar="RUNS")
@click.option("--test-size", "n_test", type=click.IntRange(1), help="Examples in the test set.")
@click.option("--source", metavar="COLUMN", help="Column that says what was redrawn.")
@click.option(
    "--crossed", metavar="COLUMN,COLUMN", help="Columns with the seeds of a crossed design."
)
@click.option(
    "--curves",
    metavar="FILE",
    callback=check_figure,
    help="Draw how far the searches of a store got.",
)
@click.option("--metric", metavar="COLUMN", help="Column with the scores.")
@click.option("--algorithm", metavar="COLUMN", help="Column with the algorithms' names.")
@click.option("--task", metavar="COLUMN", help="Column with the tasks.")
@at_option
@accept_option
@drop_option
@alpha_option
@output_options
def command(
    path: str, n_test: int | None, curves: str | None, alpha: float, output: Output, **reading: Any
) -> None:
    """Measure how much each source of variation makes scores vary.

    \b
        outperform decompose study.db
        outperform decompose runs.csv --test-size 360 --plot sources.pdf
        outperform decompose grid.csv --crossed split,init
        outperform decompose study.db --curves searches.pdf

    RUNS is the store of a study with a variance or crossed design, or a file with the columns
    source or varied (what was redrawn: split, init, ..., all, noise), score and, where there are
    several, algorithm and task. With the size of the test set, the binomial model stands beside
    accuracies.
    """
    if curves and not is_store(path):
        raise InvalidInput(f"{path} is no store of a study", "Leave out --curves")
    result = decompose(
        path,
        study=recall_study(path) if curves else None,
        n_test=n_test,
        confidence_level=1 - alpha,
        **reading,
    )
    if output.as_json:
        print_json(result.to_dict())
    else:
        for number, each in enumerate(result):
            if number:
                say()
            print_result(each)
    for note in result.notes:
        say(f"Note: {note}.", fg="yellow", err=True)
    if output.figure:
        _draw(result, output)
    if curves:
        Output().draw(result.searches, curves)


def _draw(result: Decompositions, output: Output) -> None:
    """Draw the sources redrawn alone, and components of variance beside them if there are both."""
    if not result.sources and not result.crossed:
        raise InvalidInput("there is no source to draw", "Leave out --plot, or draw --curves only")
    path = Path(output.figure or "")
    beside = path.with_stem(f"{path.stem}-crossed") if result.sources else path
    apart, together = Decompositions(result.sources, ()), Decompositions((), result.crossed)
    for part, file in ((apart, path), (together, beside)):
        if results := [*part]:
            output.draw(results[0] if len(results) == 1 else part, str(file))
