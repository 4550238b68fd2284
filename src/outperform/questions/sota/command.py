"""The command `outperform sota`."""

from typing import Any

import click

from outperform.cli.options import Output, alpha_option, output_options
from outperform.cli.progress import say_if_slow
from outperform.errors import InvalidInput
from outperform.questions.sota.answer import assess_leaderboard, assess_predictions, best_of_equals
from outperform.questions.sota.result import (
    BestOfEquals,
    LeaderboardAssessment,
    PredictionAssessment,
)
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
    help="How many classifiers there are; with a leaderboard, if it shows only the top.",
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
@click.option(
    "--positives", type=int, help="How many test examples are positive; says that scores are AUC."
)
@click.option("--percent", is_flag=True, help="Scores are per cent.")
@alpha_option
@output_options
def command(
    path: str | None, predictions: str | None, alpha: float, output: Output, **options: Any
) -> None:
    """Say how much of a top score is luck.

    \b
        outperform sota --classifiers 1000 --test-size 3000 --accuracy 0.9
        outperform sota leaderboard.csv --test-size 3000
        outperform sota --predictions predictions.csv --metric auc

    LEADERBOARD has a row per entry with its score, and a name if you like. All scores come from
    the same test set. With predictions, the examples are resampled and the winner with them, which
    respects how alike entries are; otherwise say so with --dependence.
    """
    if path and predictions:
        raise InvalidInput(
            "a leaderboard and predictions are given", "Give one: predictions say more"
        )
    with say_if_slow("Working out what luck does; predictions and --dependence take a while."):
        if predictions:
            output.show(_assess_predictions(predictions, alpha, options))
        elif path:
            output.show(_assess_leaderboard(path, alpha, options))
        else:
            output.show(_assess_equals(alpha, options))


def _assess_equals(alpha: float, options: dict[str, Any]) -> BestOfEquals:
    known = {"accuracy", "better", "dependence", "agreement"}
    _refuse_others(options, {"classifiers", *known}, "there is no leaderboard")
    examples = {"classifiers": "1000", "test_size": "3000", "accuracy": "0.9"}
    if missing := [_spell(name, n) for name, n in examples.items() if options[name] is None]:
        raise InvalidInput(
            "there is no leaderboard, and too little is said of the classifiers",
            f"Give a leaderboard file, or add {' '.join(missing)}",
        )
    return best_of_equals(
        options["classifiers"],
        test_size=options["test_size"],
        confidence_level=1 - alpha,
        **{name: options[name] for name in known},
    )


def _assess_leaderboard(path: str, alpha: float, options: dict[str, Any]) -> LeaderboardAssessment:
    known = {"dependence", "metric", "percent"}
    others = {"classifiers", "entry", "positives"}
    _refuse_others(options, known | others, "a leaderboard is given")
    if options["test_size"] is None:
        raise InvalidInput(
            f"nothing says how many examples the scores of {path} come from",
            "Add --test-size N: luck depends on it",
        )
    return assess_leaderboard(
        path,
        test_size=options["test_size"],
        n_entries=options["classifiers"],
        n_positives=options["positives"],
        entries=options["entry"],
        confidence_level=1 - alpha,
        **{name: options[name] for name in known},
    )


def _assess_predictions(path: str, alpha: float, options: dict[str, Any]) -> PredictionAssessment:
    _refuse_others(options, {"label", "metric"}, "predictions are given")
    metric = (options["metric"] or "accuracy").casefold()
    result = assess_predictions(
        path,
        options["label"],
        metric=_METRICS.get(metric, metric),  # type: ignore[arg-type]
        confidence_level=1 - alpha,
    )
    if options["test_size"] not in (None, result.test_size):
        raise InvalidInput(
            f"the test size is {options['test_size']}, but {path} has {result.test_size} examples",
            "Leave out --test-size: the rows are counted",
        )
    return result


def _refuse_others(options: dict[str, Any], known: set[str], situation: str) -> None:
    named = {name for name, value in options.items() if value} - {"test_size"}
    if others := sorted(map(_spell, named - known)):
        raise InvalidInput(
            f"{situation}, where {others[0]} says nothing", f"Leave out {enumerate_names(others)}"
        )


def _spell(option: str, value: str = "") -> str:
    return f"--{option.replace('_', '-')} {value}".rstrip()
