"""The command `outperform sota`."""

from typing import Any

import click

from outperform.cli.options import alpha_option, output_options
from outperform.cli.output import (
    present,
    print_end,
    print_headline,
    print_lines,
    print_table,
    say_if_slow,
)
from outperform.errors import InvalidInput
from outperform.questions.sota.expected_best import ExpectedBest, expect_best
from outperform.questions.sota.leaderboards import LeaderboardAssessment, assess_leaderboard
from outperform.questions.sota.predicted_leaderboards import (
    PredictionAssessment,
    assess_predictions,
)
from outperform.questions.sota.table import tabulate_predictions
from outperform.runs.leaderboards import read_leaderboard, read_predictions, standardise
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
def command(as_json: bool, figure: str | None, **options: Any) -> None:
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
    present(result, _print, as_json=as_json, figure=figure)


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


def _print(result: _Result) -> None:
    print_headline(result)
    click.echo()
    if isinstance(result, ExpectedBest):
        _print_expected(result)
    elif isinstance(result, LeaderboardAssessment):
        _print_leaderboard(result)
    else:
        _print_predictions(result)
    print_end(result.caveats, _suggest(result))


def _print_expected(result: ExpectedBest) -> None:
    best, alone = result.distribution, result.alone
    level = f"{100 * result.interval.confidence_level:g}%"
    print_lines(
        {
            "expected best": f"{result.mean:.4f} ± {best.sd:.6f}",
            f"{level} of the best": f"{result.interval.low:.4f} to {result.upper:.4f}",
            f"{level} of one alone": f"{alone.low:.4f} to {alone.high:.4f}",
        }.items()
    )
    click.echo(
        f"\nA truly better classifier, of accuracy {result.better:.4f}, has a chance to show"
    )
    print_lines(
        {
            "at least the expected best": f"{result.chance_to_reach_mean:.2%}",
            f"at least {result.upper:.4f}": f"{result.chance_to_reach_upper:.2%}",
            f"more than {result.upper:.4f}": f"{result.chance_to_exceed_upper:.2%}",
        }.items()
    )
    click.echo(
        f"\nTo show at least the expected best with a chance of {result.power:.0%}, its true "
        f"accuracy must be {result.needed:.4f}."
    )


def _print_leaderboard(result: LeaderboardAssessment) -> None:
    level = f"{100 * result.interval.confidence_level:g}%"
    share = "all" if result.luck_share == 1 else f"{result.luck_share:.0%}"
    ahead = f", {share} of the lead over the median ({result.median:.4f})"
    n_shown = f"{len(result.entries):,}"
    if result.is_cut_off:
        ahead, n_shown = "", f"{n_shown} shown"
    print_lines(
        {
            "top score": f"{result.top:.5g} ({result.best})",
            "sober, if all are equally good": f"{result.sober:.4f}, {level} interval "
            f"[{result.interval.low:.4f}, {result.interval.high:.4f}]",
            "sober, if each is as good as its score": f"{result.sober_if_different:.4f}",
            "luck, if all are equally good": f"{result.luck:.4f}{ahead}",
            "lead over the second": f"{result.lead:.5f}; if all are equally good, the chance "
            f"of such a lead is {result.lead_chance:.0%}",
            "may be the truly best": f"{int(result.contends.sum()):,} of {n_shown}, at {level} "
            f"confidence: scores from {max(0.0, result.top - result.gap):.4f} up",
        }.items()
    )


def _print_predictions(result: PredictionAssessment) -> None:
    found = result.bootstrap
    click.echo(f"luck in the top score: {found.bias:.4f} ({found.n_resamples:,} resamples)")
    table = tabulate_predictions(result)
    print_table(*table)
    if n_more := len(result.entries) - len(table.rows):
        click.echo(f"  and {n_more} more")


def _suggest(result: _Result) -> str:
    if isinstance(result, ExpectedBest):
        return (
            "compare with the accuracy you expect of the classifiers, not with the best score "
            "that one of them showed."
        )
    what = "the sober estimate with its interval"
    if isinstance(result, LeaderboardAssessment):
        what = (
            "both sober estimates (the best is worth something between them, if entries are as "
            "independent as assumed)"
        )
    return (
        f"report {what} and all entries that may be the best; only a fresh test set tells them "
        "apart."
    )
