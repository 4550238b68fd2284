"""The command `outperform sota`."""

from typing import Any

import click

from outperform.cli.options import alpha_option, output_options
from outperform.cli.output import Output, say_if_slow
from outperform.errors import InvalidInput
from outperform.questions.sota.expected_best import ExpectedBest, expect_best
from outperform.questions.sota.leaderboards import LeaderboardAssessment, assess_leaderboard
from outperform.questions.sota.predicted_leaderboards import (
    PredictionAssessment,
    assess_predictions,
)
from outperform.runs.boards import read_leaderboard, read_predictions, standardise
from outperform.wording import enumerate_names

_METRICS = {
    "acc": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "balanced-accuracy": "balanced accuracy",
    "roc_auc": "auc",
}


@click.command()
@click.argument("path", metavar="[LEADERBOARD]", required=False)
@click.option(
    "--classifiers",
    type=int,
    help="How many there are; for a leaderboard, if only its top is shown.",
)
@click.option("--accuracy", type=float, help="Their true accuracy.")
@click.option("--test-size", type=int, help="Examples in the test set.")
@click.option("--better", type=float, help="True accuracy of a better classifier.")
@click.option(
    "--dependence",
    type=float,
    default=0.0,
    show_default=True,
    help="Correlation of each classifier's successes with those of a common reference.",
)
@click.option("--agreement", type=float, help="Chance to be right where the reference is.")
@click.option("--predictions", metavar="FILE", help="Predictions: a column per entry, and labels.")
@click.option("--label", metavar="COLUMN", help="Column with the labels of the predictions.")
@click.option(
    "--metric",
    help="Column with the scores; with --predictions: accuracy, balanced accuracy, f1 or auc.",
)
@click.option("--entry", metavar="COLUMN", help="Column with the entries' names.")
@click.option("--positives", type=int, help="Positive examples; then the scores are AUC.")
@click.option("--percent", is_flag=True, help="Scores are per cent.")
@alpha_option
@output_options
def command(output: Output, **options: Any) -> None:
    """Say how much of a top score is luck.

    \b
        outperform sota --classifiers 1000 --test-size 3000 --accuracy 0.9
        outperform sota leaderboard.csv --test-size 3000
        outperform sota --predictions predictions.csv --metric auc

    LEADERBOARD has a row per entry with its score, and a name if you like. All scores come from
    the same test set. With predictions, the examples are resampled and the winner with them, which
    respects how alike entries are; otherwise say so with --dependence.
    """
    with say_if_slow("Working out what luck does; predictions and --dependence take a while."):
        result = _choose(**options)
    output.show(result)


_Result = ExpectedBest | LeaderboardAssessment | PredictionAssessment


def _choose(path: str | None, predictions: str | None, **options: Any) -> _Result:
    given = {name for name, value in options.items() if value} - {"alpha", "test_size"}
    if path and predictions:
        raise InvalidInput(
            "a leaderboard and predictions are given", "Give one: predictions say more"
        )
    if predictions:
        _refuse_others(given, {"label", "metric"}, "predictions are given")
        return _assess_predictions(predictions, options)
    if path:
        allowed = {"classifiers", "dependence", "metric", "entry", "positives", "percent"}
        _refuse_others(given, allowed, "a leaderboard is given")
        return _assess_leaderboard(path, options)
    _refuse_others(
        given,
        {"classifiers", "accuracy", "better", "dependence", "agreement"},
        "there is no leaderboard",
    )
    return _expect(options)


def _refuse_others(given: set[str], allowed: set[str], situation: str) -> None:
    if others := sorted(given - allowed):
        raise InvalidInput(
            f"{situation}, where --{others[0].replace('_', '-')} says nothing",
            f"Leave out {enumerate_names('--' + name.replace('_', '-') for name in others)}",
        )


def _expect(options: dict[str, Any]) -> ExpectedBest:
    needed = {"classifiers": "1000", "test_size": "3000", "accuracy": "0.9"}
    missing = [name for name in needed if options[name] is None]
    if missing:
        listed = " ".join(f"--{name.replace('_', '-')} {needed[name]}" for name in missing)
        raise InvalidInput(
            "there is no leaderboard, and too little is said of the classifiers",
            f"Give a leaderboard file, or add {listed}",
        )
    return expect_best(
        options["classifiers"],
        test_size=options["test_size"],
        accuracy=options["accuracy"],
        dependence=options["dependence"],
        agreement=options["agreement"],
        better=options["better"],
        confidence_level=1 - options["alpha"],
    )


def _assess_leaderboard(path: str, options: dict[str, Any]) -> LeaderboardAssessment:
    if options["test_size"] is None:
        raise InvalidInput(
            f"nothing says how many examples the scores of {path} come from",
            "Add --test-size N: luck depends on it",
        )
    board = read_leaderboard(path, metric=options["metric"], entry=options["entry"])
    board = standardise(board, percent=options["percent"], is_auc=options["positives"] is not None)
    return assess_leaderboard(
        board.scores,
        test_size=options["test_size"],
        n_entries=options["classifiers"],
        n_positives=options["positives"],
        dependence=options["dependence"],
        confidence_level=1 - options["alpha"],
        entries=board.entries,
        metric=board.metric,
    )


def _assess_predictions(path: str, options: dict[str, Any]) -> PredictionAssessment:
    table = read_predictions(path, label=options["label"])
    n = options["test_size"]
    if n is not None and n != table.labels.size:
        raise InvalidInput(
            f"the test size is {n}, but {path} has {table.labels.size} examples",
            "Leave out --test-size: the rows are counted",
        )
    metric = (options["metric"] or "accuracy").casefold()
    return assess_predictions(
        table.by_entry,
        table.labels,
        metric=_METRICS.get(metric, metric),  # type: ignore[arg-type]
        confidence_level=1 - options["alpha"],
    )
