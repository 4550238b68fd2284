"""The command `outperform audit`."""

import shlex
from typing import Any, get_args

import click
import numpy as np

from outperform.cli.options import (
    Output,
    alpha_option,
    drop_option,
    gamma_option,
    only_option,
    output_options,
    paired_option,
    reading_options,
    resplit_options,
    seed_option,
)
from outperform.cli.progress import say_if_slow
from outperform.questions.audit.answer import audit
from outperform.runs import Runs
from outperform.stats.outperforming import PairedMethod
from outperform.store.store import open_runs, show_address
from outperform.wording import enumerate_names


@click.command()
@click.argument("words", nargs=-1, metavar="RUNS [A [B]]")
@gamma_option
@alpha_option
@paired_option
@click.option(
    "--interval",
    type=click.Choice(get_args(PairedMethod)),
    default="exact",
    show_default=True,
    help="How the interval of P(A>B) is made, for pairs.",
)
@resplit_options
@only_option
@drop_option
@click.option(
    "--draws",
    type=click.IntRange(1),
    default=10_000,
    show_default=True,
    help="Random seed sets of each size.",
)
@seed_option
@reading_options
@output_options
def command(
    words: tuple[str, ...],
    reading: dict[str, Any],
    output: Output,
    alpha: float,
    only: str | None,
    draws: int,
    seed: int,
    **options: Any,
) -> None:
    """Show how far picking seeds could move a conclusion.

    \b
        outperform audit runs.csv resnet vgg
        outperform audit runs.csv resnet vgg --plot audit.pdf
        outperform audit runs.csv resnet

    How few runs must be hidden to undo the verdict on A and B, or to turn it; what the best runs
    of one against the worst of the other would show; how random seed sets conclude; whether seeds
    are missing. The verdict: robust, fragile or undecided. With A alone: how different from itself
    A can be made to look. Of several tasks, the verdict on each, and the weakest; all of one with
    --on TASK.
    """
    runs, a, b = _open(words, reading)
    with say_if_slow(f"Drawing {draws:,} seed sets of each size; fewer --draws are faster."):
        result = audit(
            runs,
            a,
            b,
            task=only,
            confidence_level=1 - alpha,
            n_resamples=draws,
            rng=np.random.default_rng(seed),
            **options,
        )
    output.show(result)


def _open(words: tuple[str, ...], reading: dict[str, Any]) -> tuple[Runs, str, str | None]:
    """Runs and the names of one or two algorithms; the only one need not be named."""
    if not 1 <= len(words) <= 3:
        raise click.UsageError(
            "Name the runs file and one or two algorithms, RUNS A [B]; put names with spaces in "
            "quotes."
        )
    path, *names = words
    runs = open_runs(path, reading, names)
    if not names and len(runs.algorithms) > 1:
        joined = (word for other in reading["others"] for word in ("--with", other))
        files = map(show_address, [path, *joined])
        example = shlex.join([*files, *runs.algorithms[:2]])
        raise click.UsageError(
            f"Name one or two algorithms of {runs.source}, which has "
            f"{enumerate_names(runs.algorithms)}. For example: outperform audit {example}"
        )
    names = names or list(runs.algorithms)
    return runs, names[0], names[1] if len(names) > 1 else None
