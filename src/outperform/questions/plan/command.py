"""The command `outperform plan`."""

from typing import Any, get_args

import click

from outperform.cli.options import (
    alpha_option,
    drop_option,
    find_given,
    gamma_option,
    only_option,
    output_options,
    reading_options,
    resplit_options,
)
from outperform.cli.output import (
    format_duration,
    print_end,
    print_headline,
    print_json,
    print_lines,
    print_table,
    save_plot,
)
from outperform.cli.sources import open_runs
from outperform.questions.compare.answer import compare_runs
from outperform.questions.compare.result import Comparison
from outperform.questions.plan.answer import Plan, plan, tabulate_gammas
from outperform.questions.plan.table import tabulate_plan
from outperform.stats.power import PlannedInterval

_WITHOUT_PILOT = {
    *("alpha", "as_json", "beta", "figure", "gamma", "interval", "n_pairs", "seconds_per_fit"),
    *("train_size", "test_size"),
}


@click.command()
@click.argument("words", nargs=-1, metavar="[RUNS A B]")
@gamma_option
@alpha_option
@click.option("--beta", default=0.05, show_default=True, help="Accepted chance of a miss.")
@click.option("--pairs", "n_pairs", type=int, help="Judge this number of pairs.")
@click.option("--seconds-per-fit", type=float, help="Adds the cost of the runs.")
@click.option(
    "--interval",
    type=click.Choice(get_args(PlannedInterval)),
    default="exact",
    show_default=True,
    help="Interval that the verdict will be drawn from.",
)
@resplit_options
@only_option
@drop_option
@reading_options
@output_options
def command(
    words: tuple[str, ...],
    reading: dict[str, Any],
    as_json: bool,
    figure: str | None,
    only: str | None,
    drop_incomplete: bool,
    **options: Any,
) -> None:
    """Plan how many paired runs a verdict needs.

    \b
        outperform plan --gamma 0.75 --seconds-per-fit 600
        outperform plan --pairs 10
        outperform plan pilot.csv resnet vgg
        outperform plan pilot.csv resnet vgg --train-size 800 --test-size 200

    With RUNS A B, a pilot, it plans for the P(A>B) seen there instead of gamma. With the sizes of
    the sets that every run divides one dataset into, it says what such runs can show about other
    data like it, and what no number of them ever can.
    """
    if not words and (given := find_given(_WITHOUT_PILOT)):
        raise click.UsageError(f"{', '.join(given)} needs a pilot: RUNS A B.")
    sizes = {name: options[name] for name in ("train_size", "test_size")}
    taking = {"task": only, "drop_incomplete": drop_incomplete, **sizes}
    pilot = _read_pilot(words, reading, taking) if words else None
    result = plan(pilot=pilot, **options)
    if as_json:
        rows = tabulate_gammas(result.alpha, result.beta, interval=result.interval)
        print_json(result.to_dict() | {"table": [row.to_dict() for row in rows]})
    else:
        _print(result)
    if figure:
        save_plot(result, figure)


def _read_pilot(
    words: tuple[str, ...], reading: dict[str, Any], taking: dict[str, Any]
) -> Comparison:
    if len(words) != 3:
        raise click.UsageError("A pilot is a runs file and two algorithms: RUNS A B.")
    runs = open_runs(words[0], reading)
    result = compare_runs(runs, words[1], words[2], paired=True, **taking)
    if not isinstance(result, Comparison):
        raise click.UsageError(
            f"{words[0]} has {len(runs.tasks)} tasks ({', '.join(runs.tasks)}): plan for one with "
            "--on TASK."
        )
    return result


def _print(result: Plan) -> None:
    print_headline(result)
    click.echo(
        f"\nWith {result.n_pairs} pairs, if {result.chance} is really {result.probability:.2g}:"
    )
    detectable = result.smallest_detectable
    lines = [
        ("chance of the verdict (power)", f"{result.power:.1%}"),
        ("false alarms between equals", f"{result.false_alarms:.1%}"),
        ("smallest P(A>B) found reliably", "none" if detectable is None else f"{detectable:.3f}"),
    ]
    if result.seconds is not None:
        lines.append((f"time for {2 * result.n_pairs} fits", format_duration(result.seconds)))
    print_lines(lines)
    _print_resplits(result)
    click.echo(f"\nPairs needed for power {1 - result.beta:g} at α = {result.alpha:g}")
    print_table(*tabulate_plan(result))
    print_end(result.caveats, _suggest(result))


def _print_resplits(result: Plan) -> None:
    resplits = result.resplits
    if resplits is None:
        return
    lines = [("smallest difference that any number shows", f"{resplits.floor:.3g}")]
    if resplits.difference is not None:
        n, power = resplits.n_required, f"{1 - result.beta:g}"
        lines += [
            ("difference of the pilot", f"{abs(resplits.difference):.3g}"),
            (f"re-splits that show it with power {power}", "none" if n is None else f"{n:,}"),
        ]
    click.echo(f"\nFor other data like these, from re-splits of one dataset ({resplits.unit}):")
    print_lines(lines)


def _suggest(result: Plan) -> str:
    enough = result.power >= 1 - result.beta
    n = result.n_pairs if enough else result.n_required
    instead = "" if enough else f", not {result.n_pairs},"
    # The plan holds for the verdict that it was made for.
    defaults = {"gamma": 0.75, "alpha": 0.05, "interval": "exact"}
    chosen = {name: getattr(result, name) for name in defaults}
    options = [
        f" --{name} {value}"
        for name, value in chosen.items()
        if value not in (defaults[name], 0.5)  # a γ of 0.5 is the plan's own
    ]
    return (
        f"run {n} seeds{instead} of both algorithms, paired, decide nothing before, and call "
        f"`outperform compare{''.join(options)}`.{_suggest_data(result)}"
    )


def _suggest_data(result: Plan) -> str:
    """What shows a difference for data like these where re-splits do not."""
    if result.resplits is None or result.resplits.n_required is not None:
        return ""
    return " To conclude for other data like these, collect more of them, or use several datasets."
