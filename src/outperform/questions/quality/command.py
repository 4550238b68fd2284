"""The command `outperform quality`."""

from dataclasses import replace
from typing import Any

import click

from outperform.cli.options import Output, alpha_option, only_option, output_options, seed_option
from outperform.questions.quality.answer import measure_quality


@click.command()
@click.argument("store", metavar="STORE")
@click.option("--pipeline", "pipelines", multiple=True, help="Look at this pipeline only.")
@only_option
@click.option(
    "--ideal",
    "n_ideal",
    type=click.IntRange(1),
    default=10,
    show_default=True,
    help="Replicates of the ideal design whose precision is asked for.",
)
@click.option("--details", is_flag=True, help="Print all numbers of every pipeline and task.")
@seed_option
@alpha_option
@output_options
def command(
    store: str, only: str | None, details: bool, alpha: float, output: Output, **options: Any
) -> None:
    """Measure what each design of a study is worth.

    \b
        outperform quality study.db
        outperform quality study.db --details --plot designs.pdf
        outperform quality study.db --ideal 50 --on digits --json

    STORE is that of a study with an ideal design and designs that search once, repeated:
    fix-hopt, simulated-hopt or resampled-hopt with repetitions = 20. For each it tells the bias,
    the correlation ρ of fits that share a search, the error of their mean, the ideal replicates
    with the same error, and the fits that the precision of so many ideal replicates takes; and how
    far its standard deviation is from the ideal one.
    """
    result = measure_quality(store, task=only, confidence_level=1 - alpha, **options)
    output.show(replace(result, detailed=details))
