"""How figures look and name things: sized for a paper, safe for the colour-blind."""

import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from outperform.wording import (
    cut_to,
    describe_goal,
    make_visible,
    measure,
    shorten,
    shorten_apart,
    wrap_lines,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from outperform.questions.compare.published import PairResult

COLUMN_WIDTH = 3.4  # inches, one column of a two-column paper
PAGE_WIDTH = 7.0

# Okabe and Ito's palette, told apart by readers with any kind of colour vision.
COLOUR_A = "#0072B2"
COLOUR_B = "#D55E00"
COLOUR_NEITHER = "#808080"
COLOURS = (COLOUR_A, COLOUR_B, "#009E73", "#CC79A7", "#E69F00", "#56B4E9")  # of several
COLOUR_BAND = "#EFEFEF"
COLOUR_NOTE = "#404040"

GOES_ON = " \n"  # ends a line within a phrase, so that it may be broken elsewhere

_CHARACTERS = 15  # of a title, per inch
_SMALL_CHARACTERS = 21  # of what stands below all views, per inch
_TICK_WIDTH = 0.5  # inches, of a label and the room beside it
_BESIDE = 0.7  # inches, of labels of rows, whatever the width
_SMALL_LINE = 0.12  # inches
_POINTS = 72  # per inch
_LOW = 11  # heights of letters
_LINE = 40  # characters below an axis
# Spaces at which no title is broken: if that leaves words that are too long, the second ones.
_JOINTS = (
    r" (?=[=<>] )|(?<= [=<>]) |(?<=\d,) (?=[-\d])|(?<=\d) (?=\[)",
    r" (?=[=<] )|(?<= [=<]) |(?<=\d,) (?=[-\d])",
)

STYLE: dict[str, Any] = {
    "axes.axisbelow": True,
    "axes.labelsize": 8,
    "axes.linewidth": 0.6,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 8,
    "figure.dpi": 200,
    "font.size": 8,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "lines.linewidth": 1.2,
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    "svg.hashsalt": "outperform",
    "xtick.labelsize": 7,
    "xtick.major.width": 0.6,
    "ytick.labelsize": 7,
    "ytick.major.width": 0.6,
}
_FONT = "DejaVu Sans"  # comes with matplotlib, so figures are alike everywhere
# Asked, where they are installed, for characters that the first does not have.
_FONTS_OF_MANY_SCRIPTS = (
    "Noto Sans CJK JP",
    "Noto Sans CJK SC",
    "WenQuanYi Zen Hei",
    "Hiragino Sans",
    "PingFang SC",
    "Microsoft YaHei",
    "Malgun Gothic",
    "Arial Unicode MS",
)


def escape(text: str) -> str:
    """Keep matplotlib from reading dollar signs as mathematics, and files from breaking."""
    return make_visible(text).replace("$", r"\$")


def shorten_label(name: str, length: int) -> str:
    """Shorten and escape a name that stands alone."""
    return shorten(name, length).replace("$", r"\$")


def short_names(result: "PairResult", length: int, *, n_lines: int = 1) -> tuple[str, str]:
    """Names of both algorithms on one line or two, shortened but never to the same words."""
    first, second = shorten(result.a, length), shorten(result.b, length)
    if first == second and result.a != result.b:
        first, second = shorten(f"A: {result.a}", length), shorten(f"B: {result.b}", length)
    if n_lines == 2:
        first, second = wrap_name(first, length // 2), wrap_name(second, length // 2)
    return first.replace("$", r"\$"), second.replace("$", r"\$")


def shorten_in(sentence: str, names: Sequence[str]) -> str:
    """Shorten names within a sentence, so that they leave room for what it says."""
    for name, short in zip(names, shorten_apart(names, 22), strict=True):
        sentence = sentence.replace(name, short) if len(name) > len(short) else sentence
    return sentence


def wrap_name(name: str, width: int) -> str:
    r"""Break a name into two lines at most.

    Examples
    --------
    >>> wrap_name("gradient boosting", 12), wrap_name("best_test_acc", 12)
    ('gradient\nboosting', 'best_\ntest_acc')
    """
    lines = wrap_lines(name, width)
    joints = [i for i in range(1, len(name)) if name[i - 1] in "_./:"]
    fitting = [i for i in joints if max(measure(name[:i]), measure(name[i:])) <= width]
    if len(lines) == 2 and " " not in name and fitting:
        place = min(fitting, key=lambda i: abs(2 * i - len(name)))
        return f"{name[:place]}\n{name[place:]}"
    if len(lines) > 2:
        name = shorten(name, 2 * width)
        first = cut_to(name, width)
        lines = [first, name[len(first) :]]
    return "\n".join(lines)


def describe_metric(result: Any) -> str:
    """Name of a result's metric and which way is better."""
    return f"{shorten_label(result.metric, 20)} ({describe_goal(result.goal)})"


def join_phrases(*phrases: str) -> str:
    """Join with commas, on as few lines as a column is wide."""
    lines = [phrases[0]]
    for phrase in phrases[1:]:
        if measure(lines[-1]) + measure(phrase) <= _LINE:
            lines[-1] += f", {phrase}"
        else:
            lines.append(phrase)
    return "\n".join(lines)


@contextmanager
def house_style() -> Iterator[None]:
    """Use the house style, whatever the user's settings, and put these back afterwards."""
    from matplotlib import style
    from matplotlib.font_manager import fontManager

    installed = set(fontManager.get_font_names())
    fonts = [_FONT, *(font for font in _FONTS_OF_MANY_SCRIPTS if font in installed)]
    with style.context(["default", STYLE, {"font.family": fonts}]), warnings.catch_warnings():
        # A name in a script without a font is drawn as boxes; no warning makes it readable.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        yield


def make_figure(width: float, height: float, title: str = "") -> "Figure":
    """Make a figure that no window and no global list of figures knows of, below its title."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    if title:
        figure.suptitle(title, fontsize="medium")
    return figure


def make_figure_below(*lines: str, width: float, height: float) -> "Figure":
    """Make a figure with so many inches below its title, every line of which is made to fit."""
    title = "\n".join(wrap_title(line, width) for line in lines)
    return make_figure(width, height + title_height(title), title)


def wrap_title(sentence: str, width: float) -> str:
    """Break a title into lines as wide as so many inches, but not `0.7 [0.5, 0.9]` or `P(a > b)`.

    Where names are so long that these fill a line, at least neither `p = 0.02` nor `[0, 1]`.
    """
    n_letters = int(_CHARACTERS * width)
    for joints in _JOINTS:
        held = re.sub(joints, "\xa0", sentence)
        if max(map(measure, held.split(" "))) <= n_letters:
            break
    return "\n".join(wrap_evenly(held, n_letters)).replace("\xa0", " ")


def wrap_evenly(text: str, width: int) -> list[str]:
    """Break a text into as few lines as that takes, and these as equally long as can be.

    Examples
    --------
    >>> wrap_evenly("54 pairs show a P(A > B) of 0.75 with power 0.95", 45)
    ['54 pairs show a P(A > B)', 'of 0.75 with power 0.95']
    """
    lines = wrap_lines(text, width)
    longest = max(1, *map(measure, text.split(" ")))
    while width > longest and len(closer := wrap_lines(text, width - 1)) == len(lines):
        lines, width = closer, width - 1
    return lines


def title_height(title: str) -> float:
    """Inches that a title takes."""
    return 0.1 + 0.14 * (1 + title.count("\n"))


def widen(figure: "Figure", width: float) -> None:
    """Give a figure another width, its title lines of that length, and names above room."""
    scale = (width - _BESIDE) / (figure.get_figwidth() - _BESIDE)
    for child in (child for ax in figure.axes for child in ax.child_axes if scale < 1):
        size = float(child.xaxis.get_major_ticks(1)[0].label1.get_fontsize())
        child.xaxis.set_tick_params(labelsize=scale * size)
    title, height = figure.get_suptitle(), figure.get_figheight()
    wrapped = wrap_title(title.replace("\n", " "), width)
    if title:
        figure.suptitle(wrapped, fontsize="medium")
        height += title_height(wrapped) - title_height(title)
    figure.set_size_inches(width, height)


def remove_title(figure: "Figure") -> None:
    """Leave the verdict to the caption of a paper."""
    title = figure.get_suptitle()
    if title:
        figure.suptitle("")
        width, height = figure.get_size_inches()
        figure.set_size_inches(width, height - title_height(title))


def write_scope(figure: "Figure", result: Any) -> None:
    """Write what a result is about below all views, in a figure that grows by as much."""
    width, height = figure.get_size_inches()
    lines = wrap_evenly(escape(str(result.scope)), int(_SMALL_CHARACTERS * width))
    below = _SMALL_LINE * len(lines) + 0.06
    figure.set_size_inches(width, height + below)
    share = below / (height + below)
    engine = figure.get_layout_engine()
    assert engine is not None
    left, _, wide, _ = engine.get()["rect"]
    engine.set(rect=(left, share, wide, 1 - share))  # type: ignore[call-arg]
    for legend in figure.legends:  # at the lower edge of the figure, whatever the layout
        legend.borderaxespad += _POINTS * below / legend.prop.get_size_in_points()
    look: dict[str, Any] = {"fontsize": "x-small", "color": COLOUR_NEITHER, "gid": "scope"}
    y = 0.03 / (height + below)
    figure.text(0.5, y, "\n".join(lines), ha="center", va="bottom", **look)


def lay_out_rows(ax: "Axes", positions: Sequence[float], labels: Sequence[str]) -> None:
    """Label rows by name where the vertical axis measures nothing."""
    ax.spines[["left", "right", "top"]].set_visible(False)
    ax.set_yticks(positions, labels)
    ax.tick_params(axis="y", length=0)


def limit_ticks(ax: "Axes", n_ticks: int = 5, *, whole: bool = False) -> None:
    """Keep the labels of the horizontal axis apart in a narrow column; `whole` where it counts."""
    from matplotlib.ticker import MaxNLocator

    n_fitting = max(2, int(find_size(ax)[0] / _TICK_WIDTH))
    steps = [1, 2, 2.5, 5, 10]
    ax.xaxis.set_major_locator(MaxNLocator(min(n_ticks, n_fitting), steps=steps, integer=whole))


def write_note(
    ax: "Axes", text: str, place: tuple[float, float], offset: tuple[float, float], **look: Any
) -> None:
    """Write beside a place, small and grey, so many points from it; `look` is as of `annotate`."""
    usual = {"textcoords": "offset points", "fontsize": "small", "color": COLOUR_NOTE}
    ax.annotate(text, place, offset, **{**usual, **look})


def find_size(ax: "Axes") -> tuple[float, float]:
    """Inches of axes in both directions, as far as known before their labels are laid out."""
    figure = ax.get_figure()
    assert figure is not None
    place = ax.get_position()
    width, height = place.width * figure.bbox.width, place.height * figure.bbox.height
    return float(width / figure.dpi), float(height / figure.dpi)


def is_low(ax: "Axes") -> bool:
    """Whether two labels of several lines would overlap beside axes."""
    letters = float(ax.yaxis.get_major_ticks(1)[0].label1.get_fontsize())
    return _POINTS * find_size(ax)[1] < _LOW * letters
