"""What commands share: options, and how a result is shown."""

import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any, get_args

import click
from click.core import ParameterSource

from outperform.questions.result import Result
from outperform.render.paper import PaperFormat, find_formulas, render_paper
from outperform.render.terminal import print_result, say
from outperform.runs.suspicions import DOUBTS
from outperform.stats.checks import check_alpha
from outperform.wording import STEERING, enumerate_names

Command = Callable[..., Any]
Decorator = Callable[[Command], Command]


@dataclass(frozen=True, slots=True)
class Output:
    """How a person wants to see a result; view, width and title are of the figure."""

    as_json: bool = False
    paper: PaperFormat | None = None  # print its table in this form, for a paper, in place of all
    figure: str | None = None  # file to draw it into
    view: str | None = None
    width: float | None = None
    title: bool = True

    def __post_init__(self) -> None:
        if not self.figure:
            settings = {"--view": self.view, "--width": self.width, "--no-title": not self.title}
            if idle := [name for name, value in settings.items() if value]:
                verb = "says" if len(idle) == 1 else "say"
                raise click.UsageError(f"{', '.join(idle)} {verb} how to draw: add --plot FILE.")
        if self.paper and self.as_json:
            raise click.UsageError(
                f"--format {self.paper} and --json both say what to print: leave one out."
            )

    def show(self, result: Result, **more: Any) -> None:
        """Print a result, for a person or as JSON with what more there is, and draw it."""
        if self.as_json:
            print_json(result.to_dict() | more)
        elif self.paper:
            _print_paper(result, self.paper)
        else:
            print_result(result)
        self.draw(result)

    def draw(self, result: Any, file: str | None = None) -> None:
        """Draw a result into the file asked for, or into another, and say so on standard error."""
        path = self.figure if file is None else file
        if path:
            from outperform.render.figures import save_figure  # matplotlib is slow to import

            save_figure(result, path, view=self.view, width=self.width, title=self.title)
            say(f"Figure written to {path}", err=True)


def _print_paper(result: Result, form: PaperFormat) -> None:
    """Print the table alone, so that it can be piped; the rest goes to standard error."""
    say(*render_paper(result, form).split("\n"))
    print_result(result, beside=True)
    if form == "csv" and (names := find_formulas(result)):
        say(
            f"A spreadsheet takes what begins with = + - @ for a formula: import as text "
            f"{enumerate_names(names, limit=3)}",
            err=True,
        )


def print_json(values: dict[str, Any], *, kind: str | None = None) -> None:
    """Print strict JSON, with what would steer a terminal in JSON's own escapes.

    With a kind, it begins with that and the version, as that of results.
    """
    if kind is not None:
        from importlib.metadata import version  # slow to import, and needed here only

        values = {"kind": kind, "version": version("outperform"), **values}
    text = json.dumps(values, indent=2, ensure_ascii=False, allow_nan=False)
    shown = STEERING.sub(lambda letter: json.dumps(letter[0])[1:-1], text)
    say(*shown.split("\n"))


def _join(
    command: Command, *, name: str, make: Callable[..., Any], options: Sequence[Decorator]
) -> Command:
    """Add options to a command, which reach it as one argument, made of their values."""

    @wraps(command)
    def with_one(**arguments: Any) -> Any:
        arguments[name] = make(**{each: arguments.pop(each) for each in names})
        return command(**arguments)

    decorated: Command = with_one
    for option in reversed(options):
        decorated = option(decorated)
    added = decorated.__click_params__[-len(options) :]  # type: ignore[attr-defined]
    names = {parameter.name for parameter in added if parameter.expose_value}
    return decorated


at_option = click.option(
    "--at",
    metavar="last|best-validation|N",
    help="Which row of a learning curve counts: the last, the best on validation, step N.",
)
accept_option = click.option(
    "--accept",
    multiple=True,
    type=click.Choice(DOUBTS),
    help="Say that this is right although it looks wrong; may be repeated.",
)
# What `open_runs` can be told.
reading_options = partial(
    _join,
    name="reading",
    make=dict,
    options=(
        click.option(
            "--metric",
            metavar="COLUMN",
            help="Column with the scores; with --wide, what they are, such as accuracy.",
        ),
        click.option(
            "--maximize", "goal", flag_value="maximize", default=None, help="Higher is better."
        ),
        click.option("--minimize", "goal", flag_value="minimize", help="Lower is better."),
        click.option("--algorithm", metavar="COLUMN", help="Column with the algorithms' names."),
        click.option("--task", metavar="COLUMN", help="Column with the tasks."),
        click.option(
            "--replicate", metavar="COLUMN[,COLUMN]", help="Columns that identify paired runs."
        ),
        click.option("--wide", is_flag=True, help="Each column is an algorithm."),
        click.option(
            "--rows",
            type=click.Choice(["replicates", "tasks"]),
            default="replicates",
            show_default=True,
            help="What each row of a wide file is.",
        ),
        at_option,
        click.option(
            "--runs-of",
            "design",
            metavar="DESIGN",
            help="With a store: the design whose runs are taken, such as fix-hopt.",
        ),
        accept_option,
        click.option(
            "--with",
            "others",
            metavar="FILE",
            multiple=True,
            help="Join another runs file, such as that of another algorithm; may be repeated.",
        ),
    ),
)


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
        "--no-title",
        "title",
        flag_value=False,
        default=True,
        help="With --plot: do not write the verdict above the figure.",
    ),
)
_FORMAT = click.option(
    "--format",
    "paper",
    type=click.Choice(get_args(PaperFormat)),
    help="Print the table alone, for a paper; sentence and caveats go to standard error.",
)
# How a result is shown.
output_options = partial(_join, name="output", make=Output, options=(debug_option, *_OUTPUT))
# Likewise, of one that has a table for papers too.
paper_output_options = partial(output_options, options=(debug_option, _FORMAT, *_OUTPUT))


gamma_option = click.option(
    "--gamma", default=0.75, show_default=True, help="Smallest P(A>B) that matters."
)


def _check_alpha(_context: click.Context, _option: click.Parameter, alpha: float) -> float:
    check_alpha(alpha)
    return alpha


alpha_option = click.option(
    "--alpha",
    default=0.05,
    show_default=True,
    callback=_check_alpha,
    help="Accepted chance of a false alarm.",
)
beta_option = click.option(
    "--beta",
    default=0.05,
    show_default=True,
    help="Accepted chance of a miss.",
)
only_option = click.option("--on", "only", metavar="TASK", help="Look at this task only.")
paired_option = click.option(
    "--paired/--unpaired", default=None, help="Compare runs of the same replicate, or all with all."
)
drop_option = click.option(
    "--drop-incomplete", is_flag=True, help="Leave out failed runs and missing pairs."
)


_train_size_option = click.option(
    "--train-size",
    type=click.IntRange(1),
    help="How many different examples each run trains on, if every run divides one dataset anew.",
)
_test_size_option = click.option(
    "--test-size", type=click.IntRange(1), help="How many examples each run is then tested on."
)


def resplit_options(command: Command) -> Command:
    """Add sizes that tell what re-splits show about other data like these."""
    return _train_size_option(_test_size_option(command))


seed_option = click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Seed of what is drawn at random.",
)


def find_given(used: Collection[str]) -> list[str]:
    """Options on the command line that are not among those used, which nobody should ignore."""
    context = click.get_current_context()
    used = {*used, *Output.__slots__}
    return [
        parameter.opts[0]
        for parameter in context.command.params
        if parameter.name not in used
        and context.get_parameter_source(parameter.name or "") == ParameterSource.COMMANDLINE
        and parameter.expose_value
    ]
