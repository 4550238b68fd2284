"""The command `outperform compare`."""

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click
import numpy as np

from outperform.cli.options import (
    Output,
    alpha_option,
    beta_option,
    drop_option,
    find_given,
    gamma_option,
    only_option,
    output_options,
    paired_option,
    reading_options,
    resplit_options,
    seed_option,
)
from outperform.questions.compare.answer import compare_runs
from outperform.questions.compare.gate import GateClaim, GateScope, decide_gate
from outperform.questions.compare.named_tests import TestName
from outperform.questions.compare.published import PublishedComparison, compare_published
from outperform.questions.compare.published_tasks import (
    PublishedTasks,
    PublishedTasksTried,
    compare_published_table,
)
from outperform.questions.compare.result import Comparison
from outperform.questions.compare.task_results import TaskComparisons
from outperform.questions.result import doubt_metric
from outperform.render.terminal import say
from outperform.runs import Runs
from outperform.runs.files import open_file
from outperform.runs.metrics import resolve_goal
from outperform.runs.published_tables import is_published_table, parse_summary, read_summary
from outperform.stats.outperforming import IntervalMethod
from outperform.store.store import is_store, open_runs, show_address

if TYPE_CHECKING:
    from outperform.questions.compare.sequential import SequentialComparison


@click.command()
@click.argument("words", nargs=-1, metavar="RUNS A B")
@gamma_option
@alpha_option
@beta_option
@paired_option
@click.option(
    "--interval",
    type=click.Choice(get_args(IntervalMethod)),
    help="How the interval of P(A>B) is made.  [default: exact; unpaired: brunner-munzel]",
)
@click.option(
    "--sequential",
    is_flag=True,
    help="Decide by a sequential test between ½ and γ that looks after every pair.",
)
@click.option(
    "--test",
    "tests",
    multiple=True,
    type=click.Choice(get_args(TestName)),
    help="Add a hypothesis test; may be given several times.",
)
@resplit_options
@click.option("--equivalence", type=float, metavar="MARGIN", help="Test that |A - B| < MARGIN.")
@click.option(
    "--margin", type=float, help="Smallest mean difference that matters, in the metric's unit."
)
@click.option(
    "--ties",
    type=click.Choice(["half", "strict"]),
    default="half",
    show_default=True,
    help="A tie counts as half a win for both, or as no win.",
)
@only_option
@drop_option
@click.option(
    "--summary", is_flag=True, help="Compare published means, as in the last two examples."
)
@click.option(
    "--n",
    "n_runs",
    type=int,
    help="With --summary: runs behind each mean, if the table does not say.  [default: 3, 5 and "
    "10 are tried]",
)
@click.option(
    "--gate",
    type=click.Choice(get_args(GateClaim)),
    is_flag=False,
    flag_value="better",
    help="Exit with 0 if it is shown, on every task, that A outperforms B (not-worse: that A is "
    "not worse by --margin), 1 if that is refuted, 3 if neither. Give it last.",
)
@click.option(
    "--scope",
    type=click.Choice(get_args(GateScope)),
    help="What the gate must hold for.  [default: all that is known]",
)
@seed_option
@reading_options
@output_options
def command(words: tuple[str, ...], output: Output, **options: Any) -> None:
    """Test whether algorithm A outperforms algorithm B.

    \b
        outperform compare runs.csv resnet vgg
        outperform compare wide.csv resnet vgg --wide --maximize --test wilcoxon --plot fig.pdf
        outperform compare resnet.csv resnet vgg --with vgg.csv
        outperform compare runs.csv resnet vgg --sequential --plot ratios.pdf --view ratios
        outperform compare --summary resnet=76.3,0.4,10 vgg=75.1,0.5,10
        outperform compare --summary table.csv resnet vgg --n 5 --metric accuracy

    RUNS is a CSV, TSV, JSONL or Parquet file with one row per run and columns such as algorithm,
    task, seed and accuracy, or the store of a study. A file without a column of algorithms holds
    the runs of one, which has the name of the file.

    With --summary, give mean, standard deviation and number of runs, or a published table: with
    the columns algorithm, mean, sd, n and, if there are several, dataset; or as papers print it,
    with a row per method, a column per dataset and cells such as 91.2 ± 0.4.
    """
    if options.pop("sequential"):
        output.show(_compare_sequentially(words, **options))
        return
    summary = options.pop("summary")
    claim, scope = options.pop("gate"), options.pop("scope")
    if claim == "not-worse" and options["margin"] is None:
        raise click.UsageError(
            "--gate not-worse needs --margin: how much worse may A be, in the metric's unit?"
        )
    if scope and not claim:
        raise click.UsageError("--scope says what --gate must hold for: add --gate.")
    if not summary and "--beta" in find_given(()):
        raise click.UsageError("--beta is the chance that --sequential misses: add that.")
    options.pop("beta")
    result = _compare_summaries(words, **options) if summary else _compare_runs(words, **options)
    gate = decide_gate(result, claim, scope=scope) if claim else None
    output.show(result, **({"gate": gate.to_dict()} if gate else {}))
    if gate:
        colour = {"shown": "green", "refuted": "red", "undecided": "yellow"}[gate.outcome]
        say(str(gate), fg=colour, err=True)
        raise click.exceptions.Exit(gate.exit_status)


def _compare_runs(
    words: tuple[str, ...],
    *,
    reading: dict[str, Any],
    alpha: float,
    only: str | None,
    seed: int,
    interval: IntervalMethod | None,
    n_runs: int | None,
    **options: Any,
) -> Comparison | TaskComparisons:
    if n_runs is not None:
        raise click.UsageError("--n is of a published table: add --summary.")
    runs, a, b = _open_words(words, reading)
    return compare_runs(
        runs,
        a,
        b,
        task=only,
        confidence_level=1 - alpha,
        interval=interval or "exact",
        rng=np.random.default_rng(seed),
        **options,
    )


def _compare_sequentially(
    words: tuple[str, ...],
    *,
    reading: dict[str, Any],
    alpha: float,
    only: str | None,
    interval: IntervalMethod | None,
    paired: bool | None,
    **options: Any,
) -> "SequentialComparison":
    from outperform.questions.compare.sequential import compare_sequentially

    if interval not in (None, "anytime"):
        raise click.UsageError(f"--sequential uses the anytime interval, not {interval}.")
    if paired is False:
        raise click.UsageError("--sequential looks after every pair: leave out --unpaired.")
    used = ("gamma", "beta", "train_size", "test_size", "drop_incomplete")
    others = {*reading, *used, "words", "alpha", "only", "interval", "paired", "sequential"}
    if given := find_given(others):
        raise click.UsageError(
            f"{', '.join(given)} is not for --sequential, which decides by wins alone; --interval "
            "anytime may be looked at after every pair too."
        )
    runs, a, b = _open_words(words, reading)
    terms = {name: options[name] for name in used}
    return compare_sequentially(runs, a, b, task=only, confidence_level=1 - alpha, **terms)


def _open_words(words: tuple[str, ...], reading: dict[str, Any]) -> tuple[Runs, str, str]:
    """Runs and the two algorithms that the words name."""
    if len(words) != 3:
        raise _explain_words(words, reading)
    path, a, b = words
    return open_runs(path, reading, (a, b)), a, b


def _explain_words(words: tuple[str, ...], reading: dict[str, Any]) -> click.UsageError:
    """Say what is missing or too much, with the algorithms of the file where one was named."""
    if len(words) > 3:
        return click.UsageError(
            f"compare takes a file and two algorithms, not {len(words)} words: put names with "
            "spaces in quotes."
        )
    if not words:
        return click.UsageError("Name the runs file and two algorithms: RUNS A B.")
    # An address of runs may have parameters.
    is_runs = is_store(words[0]) or Path(words[0]).exists()
    if all("=" in word for word in words) and not is_runs:
        return click.UsageError("To compare published means, add --summary.")
    # Two files are meant to be joined.
    joined = words[1:] if Path(words[-1]).is_file() else ()
    names = open_runs(words[0], {**reading, "others": (*reading["others"], *joined)}).algorithms
    shown = [*map(show_address, words)]
    example = [shown[0], *(names[:2] if len(names) > 1 else (*names, "vgg", "--with", "vgg.csv"))]
    example += [word for file in shown[1 : 1 + len(joined)] for word in ("--with", file)]
    return click.UsageError(
        f"Name two algorithms of {' and '.join(shown[: 1 + len(joined)])}: {', '.join(names)}. "
        f"For example: outperform compare {shlex.join(example)}"
    )


def _compare_summaries(
    words: tuple[str, ...],
    *,
    reading: dict[str, Any],
    gamma: float,
    alpha: float,
    n_runs: int | None,
    drop_incomplete: bool,
    **_: Any,
) -> PublishedComparison | PublishedTasks | PublishedTasksTried:
    used = {"words", "summary", "gamma", "alpha", "metric", "goal", "gate", "n_runs"}
    if given := find_given(used | {"drop_incomplete"}):
        raise click.UsageError(f"{', '.join(given)} needs runs: --summary has only their means.")
    terms: dict[str, Any] = {"gamma": gamma, "confidence_level": 1 - alpha}
    match words:
        case (first, second):
            if n_runs is not None:
                raise click.UsageError("--n is of a table: NAME=MEAN,SD,N says the number of runs.")
            (a, summary_a), (b, summary_b) = parse_summary(first), parse_summary(second)
        case (path, a, b):
            table = open_file(Path(path))
            if is_published_table(table):
                metric_and_goal = {"metric": reading["metric"], "goal": reading["goal"]}
                terms |= metric_and_goal | {"n": n_runs, "drop_incomplete": drop_incomplete}
                return compare_published_table(path, a, b, **terms)
            summary_a, summary_b = (read_summary(table, name, n_runs) for name in (a, b))
        case _:
            raise click.UsageError("Name two summaries, A=MEAN,SD,N B=MEAN,SD,N, or TABLE A B.")
    if drop_incomplete:
        raise click.UsageError("--drop-incomplete needs runs, or a table of several datasets.")
    metric = reading["metric"] or "score"
    goal = resolve_goal(metric, reading["goal"])
    terms |= {"goal": goal, "metric": metric}
    result = compare_published(summary_a, summary_b, names=(a, b), **terms)
    return replace(result, caveats=(*result.caveats, *doubt_metric(metric, goal)))
