"""What makes scores vary, of every algorithm on every task of a study or a file."""

from collections.abc import Iterator
from dataclasses import dataclass

from outperform.plain_values import Plain
from outperform.questions.decompose.crossed import CrossedDecomposition
from outperform.questions.decompose.result import Decomposition
from outperform.questions.decompose.search_curves import SearchCurves
from outperform.runs.scope import Scope, join_scopes


@dataclass(frozen=True, slots=True)
class Decompositions(Plain):
    """All that a study or a file tells of what makes its scores vary.

    Attributes
    ----------
    sources
        Where sources were redrawn one at a time.
    crossed
        Where they were redrawn in every combination.
    searches
        How far searches got, where that was asked for.
    caveats
        Doubts about the whole; each result has its own.
    """

    sources: tuple[Decomposition, ...]
    crossed: tuple[CrossedDecomposition, ...]
    searches: SearchCurves | None = None
    caveats: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Decomposition | CrossedDecomposition | SearchCurves]:
        yield from self.sources
        yield from self.crossed
        yield from () if self.searches is None else (self.searches,)

    @property
    def scope(self) -> Scope:
        """What was redrawn, and what this is about for that reason."""
        tasks = [each.task for each in self.sources] + [each.task for each in self.crossed]
        return join_scopes([each.scope for each in self], tasks)

    def __str__(self) -> str:
        return " ".join(map(str, self))
