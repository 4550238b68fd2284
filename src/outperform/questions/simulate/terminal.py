"""What `outperform simulate` prints."""

import click

from outperform.cli.output import print_end, print_headline, print_table
from outperform.questions.simulate.result import DetectionCurve, ErrorRates
from outperform.questions.simulate.seeds_curve import SeedsCurve
from outperform.questions.simulate.table import tabulate_rates, tabulate_seeds

_MOST_TABLES = 8  # of scenarios; where there are more, means stand for them
_N_SETTING = 3  # columns that are the same in a whole table


def print_simulated(result: ErrorRates | SeedsCurve) -> None:
    """Print the sentence, the tables, what to doubt and what to do next."""
    print_headline(result)
    if isinstance(result, ErrorRates):
        _print_rates(result)
        advice = (
            "choose the rule and the number of pairs whose errors you can live with, before "
            "running: `outperform plan` says how many pairs the verdict needs."
        )
    else:
        click.echo()
        print_table(*tabulate_seeds(result))
        advice = (
            "run at least that many seeds, fixed beforehand; with fewer, or at small α, use "
            "`outperform compare --test brunner-munzel-permutation`."
        )
    print_end(result.caveats, advice)


def _print_rates(result: ErrorRates) -> None:
    first = result.settings[0][0]
    is_long = len(result.settings) > _MOST_TABLES and result.means
    left = [c for c in result.curves if not is_long or c.scenario == first]
    settings: dict[str, list[DetectionCurve]] = {}
    for curve in (*left, *result.means):
        name = f"{curve.scenario}: {curve.n_pairs} pairs, γ = {curve.gamma:g}"
        settings.setdefault(name, []).append(curve)
    for name, curves in settings.items():
        click.echo(f"\n{name}")
        header, rows = tabulate_rates(curves)
        print_table(header[_N_SETTING:], [row[_N_SETTING:] for row in rows])
    if is_long:
        click.echo("\nEvery scenario of these means: --json.")
    if not all(curve.exact for curve in result.curves):
        click.echo(f"\n± is the Monte-Carlo standard error of {result.n_draws:,} draws.")
