"""What every question answers with, so that one function each renders any answer.

A result is a frozen dataclass that derives from `Result`: its `str()` is one sentence that a
person can paste, `scope` says what varied and what it is about, `tables` are the numbers behind
it, `caveats` the reasons for doubt, `advice` what to do next, and `.to_dict()` what `--json`
prints. Its figures are in the `figure` room of its question.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from outperform.plain_values import Plain
from outperform.runs import Goal, known_goal
from outperform.runs.columns import read_name
from outperform.runs.scope import Scope
from outperform.wording import enumerate_names

# Of the first algorithm named: it is good news, bad news, or nothing is decided.
Mood = Literal["good", "bad", "open"]
_MOODS: dict[str | None, Mood] = {"a": "good", "b": "bad", None: "open"}  # by the winner


class Table(NamedTuple):
    """Numbers as text."""

    header: Sequence[str]  # names of the columns; empty where every row is a name with its value
    rows: Sequence[Sequence[str]]
    title: str = ""  # above
    note: str = ""  # below
    gap: int = 2  # columns of the screen between those of the table


class PaperTable(NamedTuple):
    """A table as it belongs into a paper, as text: who renders it escapes it."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]  # each begins with a name
    bold: Collection[tuple[int, int]]  # row and column of each cell that is marked
    caption: str  # what the marks mean, by which tests
    label: str  # by which the text of a paper refers to it


def join_caveats(caveats: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Doubts about parts of a result, by name: those that all share, then those about some.

    Examples
    --------
    >>> join_caveats({"x": ["few runs", "ties"], "y": ["few runs"], "z": ["few runs", "ties"]})
    ('few runs', 'x, z: ties')
    """
    names: dict[str, list[str]] = {}
    for name, doubts in caveats.items():
        for doubt in dict.fromkeys(doubts):
            names.setdefault(doubt, []).append(name)
    shared = [doubt for doubt, of in names.items() if len(of) == len(caveats)]
    some = [f"{enumerate_names(of)}: {doubt}" for doubt, of in names.items() if doubt not in shared]
    return (*shared, *some)


def doubt_metric(metric: str, goal: Goal) -> Iterator[str]:
    """Whether a metric goes the other way than its name says, or was chosen by what it tells."""
    if metric != "score" and known_goal(metric) not in (None, goal):
        yield f"{metric!r} usually is to {known_goal(metric)}, but was told to {goal}"
    name = read_name(metric)
    if name.data:
        yield (
            f"{metric!r} is not of test data by its name: what was trained, tuned or stopped by it "
            "looks better than it is, most of all what was tried most"
        )
    elif name.is_best:
        yield (
            f"{metric!r} is the best of several by its name, such as of all epochs: if test data "
            "chose it, it is better than what will be met, most of all for what was tested most"
        )


class Result(Plain):
    """What all results share: what they say is their own.

    Where the advice is always the same, `ADVICE` is it.
    """

    __slots__ = ()
    ADVICE: ClassVar[str] = ""

    if TYPE_CHECKING:  # a field of some, a property of others, the same for all of a third kind

        @property
        def scope(self) -> Scope:
            """What varied, and what the answer is about for that reason."""

        @property
        def caveats(self) -> Sequence[str]:
            """Reasons for doubt."""

    @property
    def tables(self) -> Sequence[Table | str]:
        """Numbers behind the sentence, and what no table has room for, in order."""
        return ()

    @property
    def advice(self) -> str:
        """What to do next; "" where nothing is left to do."""
        return self.ADVICE

    @property
    def mood(self) -> Mood | None:
        """How the sentence is coloured: by the `winner`, where the result has such a thing."""
        return _MOODS.get(getattr(self, "winner", "nobody"))

    @property
    def scope_hint(self) -> str:
        """How to learn more of what it is about, at the command line; "" where all is known."""
        return ""

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON: what it is, by which version, and all that it says."""
        from importlib.metadata import version  # slow to import, and needed for JSON only

        return {"kind": type(self).__name__, "version": version("outperform"), **super().to_dict()}

    def _repr_html_(self) -> str:
        """Show the sentence, its tables, its figure and what to do next in a notebook."""
        # By name: what renders results lies above them, and is imported when one is shown.
        html: str = import_module("outperform.render.html").render_fragment(self)
        return html
