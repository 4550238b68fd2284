"""What `outperform simulate` prints."""

import click

from outperform.analysis.error_rates import DetectionCurve, ErrorRates
from outperform.analysis.seeds_curve import SeedsCurve
from outperform.cli.output import print_caveats, print_table

_MOST_TABLES = 8  # of scenarios; where there are more, means stand for them
_SHOWN_SIZES = (2, 3, 5, 10, 15, 20, 25, 30, 40, 50)


def print_simulated(result: ErrorRates | SeedsCurve) -> None:
    """Print the sentence, the tables, what to doubt and what to do next."""
    click.secho(str(result), bold=True)
    if isinstance(result, ErrorRates):
        _print_rates(result)
        advice = (
            "choose the rule and the number of pairs whose errors you can live with, before "
            "running: `outperform plan` says how many pairs the verdict needs."
        )
    else:
        _print_seeds(result)
        advice = (
            "run at least that many seeds, fixed beforehand; with fewer, or at small α, use "
            "`outperform compare --test brunner-munzel-permutation`."
        )
    print_caveats(result.caveats)
    click.echo(f"\nNext: {advice}")


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
        header = ["rule", "false positives", "false negatives", "how"]
        print_table(header, [_row(curve) for curve in curves])
    if is_long:
        click.echo("\nEvery scenario of these means: --json.")
    if not all(curve.exact for curve in result.curves):
        click.echo(f"\n± is the Monte-Carlo standard error of {result.n_draws:,} draws.")


def _row(curve: DetectionCurve) -> list[str]:
    cells = (
        (curve.false_positives, curve.false_positives_error),
        (curve.false_negatives, curve.false_negatives_error),
    )
    rates = [f"{rate:.1%}" + (f" ± {error:.1%}" if error else "") for rate, error in cells]
    return [curve.rule, *rates, "exact" if curve.exact else "simulated"]


def _print_seeds(result: SeedsCurve) -> None:
    click.echo()
    known = result.lines[0].sizes
    sizes = [n for n in known if n in _SHOWN_SIZES] or list(known[:10])
    print_table(
        ["share found different", "α", "kept from", *(f"n = {n}" for n in sizes)],
        [
            [
                line.test,
                f"{line.alpha:g}",
                "-" if line.holds_from is None else str(line.holds_from),
                *(f"{line.shares[line.sizes.index(n)]:.2%}" for n in sizes),
            ]
            for line in result.lines
        ],
    )
