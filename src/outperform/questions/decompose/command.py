"""The command `outperform decompose`."""

from pathlib import Path
from typing import Any

import click

from outperform.cli.options import alpha_option, check_figure, output_options
from outperform.cli.output import Output, print_json
from outperform.cli.sources import is_store, read_study_of
from outperform.errors import InvalidInput
from outperform.questions.decompose.crossed import CrossedDecomposition
from outperform.questions.decompose.redrawn_runs import Variation
from outperform.questions.decompose.result import Decomposition
from outperform.questions.decompose.search_curves import SearchCurves, trace_searches
from outperform.questions.decompose.variation import open_variation
from outperform.render.terminal import print_result
from outperform.runs.columns import Wanted
from outperform.store import SqliteStore

_Result = Decomposition | CrossedDecomposition | SearchCurves


@click.command()
@click.argument("path", metavar="RUNS")
@click.option("--test-size", type=click.IntRange(min=1), help="Examples in the test set.")
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
@click.option("--study", metavar="STUDY.toml", help="Its study.  [default: beside the store]")
@click.option("--metric", metavar="COLUMN", help="Column with the scores.")
@click.option("--algorithm", metavar="COLUMN", help="Column with the algorithms' names.")
@click.option("--task", metavar="COLUMN", help="Column with the tasks.")
@alpha_option
@output_options
def command(
    path: str,
    test_size: int | None,
    source: str | None,
    crossed: str | None,
    curves: str | None,
    study: str | None,
    metric: str | None,
    algorithm: str | None,
    task: str | None,
    alpha: float,
    output: Output,
) -> None:
    """Measure how much each source of variation makes scores vary.

    \b
        outperform decompose study.db
        outperform decompose runs.csv --test-size 360 --plot sources.pdf
        outperform decompose grid.csv --crossed split,init
        outperform decompose study.db --curves searches.pdf

    RUNS is the store of a study with a variance or crossed design, or a file with the columns
    source (what was redrawn: split, init, ..., all, noise), score and, where there are several,
    algorithm and task. With the size of the test set, the binomial model stands beside accuracies.
    """
    wanted = Wanted(algorithm=algorithm, task=task, metric=metric)
    searches = _trace(path, study) if curves else None
    try:
        runs = open_variation(path, wanted=wanted, source=source, crossed=crossed)
    except InvalidInput:
        if searches is None:
            raise
        runs = []  # an ideal design searches, but redraws no source apart
    apart = [each for each in runs if each.by_source]
    singles = [each.decompose(n_test=test_size, confidence_level=1 - alpha) for each in apart]
    tables = _cross(runs, alpha, fatal=not singles)
    results: list[_Result] = [*singles, *tables, *([searches] if searches else [])]
    if output.as_json:
        print_json(_as_dict(singles, tables, searches))
    else:
        for number, result in enumerate(results):
            click.echo(nl=number > 0)
            print_result(result)
    if output.figure:
        _draw(singles, tables, output)
    if curves:
        Output().draw(searches, curves)


def _trace(path: str, study: str | None) -> SearchCurves:
    if not is_store(path):
        raise InvalidInput(f"{path} is no store of a study", "Leave out --curves")
    found = read_study_of(path, study)
    with SqliteStore(path) as store:
        return trace_searches(found, store.scores())


def _as_dict(
    singles: list[Decomposition], tables: list[CrossedDecomposition], searches: SearchCurves | None
) -> dict[str, Any]:
    return {
        "sources": [each.to_dict() for each in singles],
        "crossed": [each.to_dict() for each in tables],
    } | ({"searches": searches.to_dict()} if searches else {})


def _cross(runs: list[Variation], alpha: float, *, fatal: bool) -> list[CrossedDecomposition]:
    """Components of variance; an unfinished design is fatal only if there is nothing else."""
    found = []
    for each in runs:
        try:
            found += each.cross(confidence_level=1 - alpha)
        except InvalidInput as error:
            if fatal:
                raise
            click.secho(f"Note: {error}", fg="yellow", err=True)
    return found


def _draw(singles: list[Decomposition], tables: list[CrossedDecomposition], output: Output) -> None:
    """Draw the sources redrawn alone, and components of variance beside them if there are both."""
    if not singles and not tables:
        raise InvalidInput("there is no source to draw", "Leave out --plot, or draw --curves only")
    path = Path(output.figure or "")
    beside = path.with_stem(f"{path.stem}-crossed") if singles else path
    for group, file in ((singles, path), (tables, beside)):
        if group:
            output.draw(group[0] if len(group) == 1 else tuple(group), str(file))
