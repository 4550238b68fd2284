"""What makes scores vary, of every algorithm on every task of a study or a file."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from outperform.questions.decompose.crossed import CrossedDecomposition
from outperform.questions.decompose.result import Decomposition
from outperform.questions.decompose.search_curves import SearchCurves
from outperform.questions.result import Result, Table
from outperform.runs.scope import Scope, join_scopes


@dataclass(frozen=True, slots=True)
class Decompositions(Result):
    """All that a study or a file tells of what makes its scores vary.

    Attributes
    ----------
    sources
        Where sources were redrawn one at a time.
    crossed
        Where they were redrawn in every combination.
    searches
        How far searches got, where that was asked for.
    notes
        Doubts about the whole; each result has its own.
    """

    JSON = "sources crossed searches notes"

    sources: tuple[Decomposition, ...]
    crossed: tuple[CrossedDecomposition, ...]
    searches: SearchCurves | None = None
    notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Decomposition | CrossedDecomposition | SearchCurves]:
        yield from self.sources
        yield from self.crossed
        yield from () if self.searches is None else (self.searches,)

    @property
    def scope(self) -> Scope:
        """What was redrawn, and what this is about for that reason."""
        tasks = [each.task for each in self.sources] + [each.task for each in self.crossed]
        return join_scopes([each.scope for each in self], tasks)

    @property
    def tables(self) -> Sequence[Table | str]:
        """The sentence and the numbers of each result."""
        return [part for each in self for part in (str(each), *each.tables)]

    @property
    def caveats(self) -> tuple[str, ...]:
        """Doubts about the whole, then those about single results, each once."""
        return (*self.notes, *dict.fromkeys(doubt for each in self for doubt in each.caveats))

    def __str__(self) -> str:
        return " ".join(map(str, self))
