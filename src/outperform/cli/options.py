"""Options that several commands share, and the runs that they choose."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import fields
from functools import wraps
from typing import Any, get_args

import click
from click.core import ParameterSource

from outperform.cli.output import Output
from outperform.render.paper import PaperFormat
from outperform.runs import Runs, join_runs
from outperform.runs.suspicions import DOUBTS
from outperform.stats.checks import check_open_unit
from outperform.store.store import read_runs

Command = Callable[..., Any]

_READING = (
    click.option("--metric", metavar="COLUMN", help="Column with the scores."),
    click.option(
        "--maximize", "goal", flag_value="maximize", default=None, help="Higher is better."
    ),
    click.option("--minimize", "goal", flag_value="minimize", help="Lower is better."),
    click.option("--algorithm", metavar="COLUMN", help="Column with the algorithms' names."),
    click.option("--task", metavar="COLUMN", help="Column with the tasks."),
    click.option(
        "--replicate", metavar="COLUMN[,COLUMN]", help="Column(s) that identify paired runs."
    ),
    click.option("--wide", is_flag=True, help="Each column is an algorithm."),
    click.option(
        "--rows",
        type=click.Choice(["replicates", "tasks"]),
        default="replicates",
        show_default=True,
        help="What each row of a wide file is.",
    ),
    click.option(
        "--at",
        metavar="last|best-validation|N",
        help="Row of a learning curve that counts: the last, the best on validation, step N.",
    ),
    click.option(
        "--runs-of",
        "design",
        metavar="DESIGN",
        help="Design of a store whose runs count, such as fix-hopt.",
    ),
    click.option(
        "--accept",
        multiple=True,
        type=click.Choice(DOUBTS),
        help="What is right although it looks wrong; may be repeated.",
    ),
    click.option(
        "--with",
        "others",
        metavar="FILE",
        multiple=True,
        help="Join another runs file, such as that of another algorithm; may be repeated.",
    ),
)


def reading_options(command: Command) -> Command:
    """Add what `open_runs` can be told; the command receives it as one dict, `reading`."""
    return _join("reading", dict, _READING, command)


def open_runs(path: str, reading: dict[str, Any], names: Sequence[str] = ()) -> Runs:
    """Runs of a file or of a store, joined with those of the other files.

    Parameters
    ----------
    names
        Algorithms that are looked at: other columns of a wide file may hold anything.
    """
    options = dict(reading)
    others = options.pop("others", ())
    if names and options["wide"] and not options["algorithm"] and not others:
        options["algorithm"] = tuple(names)
    return join_runs(*(read_runs(each, **options) for each in (path, *others)))


debug_option = click.option(
    "--debug",
    is_flag=True,
    expose_value=False,
    callback=lambda ctx, _, value: ctx.meta.update(debug=value),
    help="Show the traceback of an error.",
)


def check_figure(_context: click.Context, _option: click.Parameter, path: str | None) -> str | None:
    """Refuse the path of a figure before anything is computed for it."""
    if path:
        from outperform.render.figures import check_path  # needed for figures only

        check_path(path)
    return path


_OUTPUT = (
    click.option("--json", "as_json", is_flag=True, help="Print the result as JSON."),
    click.option(
        "--plot",
        "figure",
        metavar="FILE",
        callback=check_figure,
        help="Draw it too: FILE ends in .svg, .pdf or .png.",
    ),
    click.option("--view", metavar="NAME", help="With --plot: draw this part of the figure only."),
    click.option("--width", type=float, metavar="INCHES", help="With --plot: width of the figure."),
    click.option(
        "--no-title", "title", flag_value=False, default=True, help="With --plot: no verdict above."
    ),
)


def output_options(command: Command) -> Command:
    """Add how the result is shown; the command receives it as one object, `output`."""
    return debug_option(_join("output", Output, _OUTPUT, command))


_FORMAT = click.option(
    "--format",
    "paper",
    type=click.Choice(get_args(PaperFormat)),
    help="Print the table alone, for a paper; what else there is to say goes to standard error.",
)


def paper_output_options(command: Command) -> Command:
    """Add how a result is shown that has a table for papers too, as `output` likewise."""
    return debug_option(_join("output", Output, (_FORMAT, *_OUTPUT), command))


def _join(name: str, make: Callable[..., Any], options: Sequence[Any], command: Command) -> Command:
    """Add options that the command receives as one argument, made of their values."""

    @wraps(command)
    def with_options(**arguments: Any) -> Any:
        values = {each: arguments.pop(each) for each in names}
        return command(**{name: make(**values)}, **arguments)

    names: set[str] = set()
    joined: Command = with_options
    for option in reversed(options):
        joined = option(joined)
        names.add(joined.__click_params__[-1].name)  # type: ignore[attr-defined]
    return joined


gamma_option = click.option(
    "--gamma", default=0.75, show_default=True, help="Smallest P(A>B) that matters."
)


def _check_alpha(_context: click.Context, _option: click.Parameter, alpha: float) -> float:
    check_open_unit("alpha", alpha)
    return alpha


alpha_option = click.option(
    "--alpha",
    default=0.05,
    show_default=True,
    callback=_check_alpha,
    help="Accepted chance of a false alarm.",
)
beta_option = click.option(
    "--beta", default=0.05, show_default=True, help="Accepted chance of a miss."
)
only_option = click.option("--on", "only", metavar="TASK", help="Look at this task only.")
paired_option = click.option(
    "--paired/--unpaired", default=None, help="Pair runs by replicate, or take all with all."
)
drop_option = click.option(
    "--drop-incomplete", is_flag=True, help="Leave out failed runs and missing pairs."
)
_RESPLIT = (
    click.option(
        "--train-size",
        type=click.IntRange(1),
        help="Different examples that each run trains on, if every run divides one dataset anew.",
    ),
    click.option(
        "--test-size", type=click.IntRange(1), help="Examples that it is tested on, likewise."
    ),
)


def resplit_options(command: Command) -> Command:
    """Add the sizes that tell what re-splits show about other data like these."""
    for option in reversed(_RESPLIT):
        command = option(command)
    return command


seed_option = click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Seed of what is drawn at random.",
)


_OF_OUTPUT = {field.name for field in fields(Output)}


def find_given(used: Collection[str]) -> list[str]:
    """Options on the command line that are not among those used, which nobody should ignore."""
    context = click.get_current_context()
    return [
        parameter.opts[0]
        for parameter in context.command.params
        if parameter.name not in _OF_OUTPUT.union(used)
        and context.get_parameter_source(parameter.name or "") == ParameterSource.COMMANDLINE
        and parameter.expose_value
    ]
