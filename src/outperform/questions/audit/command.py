"""The command `outperform audit`."""

import shlex
from typing import Any, get_args

import click
import numpy as np

from outperform.cli.options import (
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
from outperform.cli.output import present, print_end, print_headline, print_table
from outperform.cli.progress import say_if_slow
from outperform.cli.sources import open_runs
from outperform.plots.labels import shorten_apart
from outperform.questions.audit.answer import MILESTONES, audit, suggest_after
from outperform.questions.audit.result import Audit, SelfAudit
from outperform.questions.audit.table import (
    PICKED,
    format_picked,
    tabulate_hidden,
    tabulate_picked,
)
from outperform.questions.compare.advice import suggest_sizes
from outperform.runs import Runs
from outperform.stats import PickedRuns, SubsetShares
from outperform.stats.outperforming import PairedMethod
from outperform.wording import enumerate_names

_COLOURS = {"robust": "green", "fragile": "red", "undecided": "yellow"}


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
    as_json: bool,
    figure: str | None,
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
    A can be made to look.
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
    show = _print if isinstance(result, Audit) else _print_alone
    present(result, show, as_json=as_json, figure=figure)


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
        example = shlex.join([path, *joined, *runs.algorithms[:2]])
        raise click.UsageError(
            f"Name one or two algorithms of {runs.source}, which has "
            f"{enumerate_names(runs.algorithms)}. For example: outperform audit {example}"
        )
    names = names or list(runs.algorithms)
    return runs, names[0], names[1] if len(names) > 1 else None


def _print(result: Audit) -> None:
    hint = suggest_sizes(result.comparison)
    print_headline(result, hint=hint, fg=_COLOURS[result.verdict])
    click.echo(f"\n{result.comparison}")
    click.echo()
    print_table(*tabulate_hidden(result))
    _print_sets(result)
    _print_picked(result)
    print_end(result.caveats, suggest_after(result))


def _print_sets(result: Audit) -> None:
    """Shares of random seed sets that find either side better, by every rule."""
    a, b = _short_names(result)
    largest = int(result.sets[0].sizes[-1])
    sizes = [*(n for n in MILESTONES if n < largest), largest]
    error = max(float(shares.error.max()) for shares in result.sets)
    click.echo(
        f"\nRandom seed sets of n {result.unit}: share that finds {a} / {b} better "
        f"(α = {result.comparison.alpha:.2g}; ± {error:.1%} where drawn)"
    )
    print_table(
        ["n", *(shares.rule for shares in result.sets)],
        [[str(n), *(_format_shares(each, n) for each in result.sets)] for n in sizes],
    )


def _format_shares(shares: SubsetShares, n: int) -> str:
    place = shares.sizes.tolist().index(n)
    return f"{shares.share_a[place]:.1%} / {shares.share_b[place]:.1%}"


def _print_picked(result: Audit) -> None:
    a, b = _short_names(result)
    rows = [
        (f"best and worst of {a}", result.within[0]),
        (f"best and worst of {b}", result.within[1]),
        (f"best of {a}, worst of {b}", result.between[0]),
        (f"best of {b}, worst of {a}", result.between[1]),
    ]
    if result.same_seeds:
        names = [f"same seeds, picked for {name}" for name in (a, b)]
        rows += zip(names, result.same_seeds, strict=True)
    click.echo(f"\nWhat {_near_five(result.between[0])} runs of each, picked by score, would show")
    print_table(
        ["", *PICKED, "significant up to"],
        [[label, *_summarise(picked, result.comparison.alpha)] for label, picked in rows],
    )
    _explain_picked(result.between[0])


def _short_names(result: Audit) -> list[str]:
    return shorten_apart([result.comparison.a, result.comparison.b], 14)


def _near_five(picked: PickedRuns) -> int:
    return int(picked.sizes[np.abs(picked.sizes - 5).argmin()])


def _summarise(picked: PickedRuns, alpha: float) -> list[str]:
    place = picked.sizes.tolist().index(_near_five(picked))
    largest = picked.largest_significant(alpha)
    return [*format_picked(picked, place), f"{largest} runs" if largest else "never"]


def _explain_picked(picked: PickedRuns) -> None:
    click.echo(
        f"  gap: between the {picked.confidence_level:.1%} intervals of the two means, negative "
        "where they overlap\n"
        "  B–M: Brunner–Munzel by its t approximation, too liberal with fewer than about 10 runs"
    )


def _print_alone(result: SelfAudit) -> None:
    print_headline(result)
    better = "higher" if result.goal == "maximize" else "lower"
    click.echo(f"\n{result.metric}, {better} is better")
    print_table(*tabulate_picked(result))
    _explain_picked(result.picked)
    print_end(result.caveats, suggest_after(result))
