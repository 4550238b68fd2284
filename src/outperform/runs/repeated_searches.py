"""Scores after several searches of each algorithm, where a study has repeated its design."""

from collections.abc import Mapping
from dataclasses import dataclass

from outperform.runs.labels import FloatArray


@dataclass(frozen=True, slots=True)
class Searches:
    """Scores of independent searches: whatever two searches have in common is left out.

    Attributes
    ----------
    n_searches
        Of each algorithm on each task, as the study plans them.
    scores
        By algorithm and task, then by the number of the search: that of replicate i of two
        algorithms are a pair. Searches with failed or missing runs are not there.
    """

    n_searches: int
    scores: Mapping[tuple[str, str], Mapping[int, FloatArray]]

    def pair(self, a: str, b: str, task: str) -> tuple[list[FloatArray], list[FloatArray]]:
        """Scores of the searches that both have, one array for each."""
        first, second = (self.scores.get((name, task), {}) for name in (a, b))
        both = sorted(first.keys() & second.keys())
        return [first[i] for i in both], [second[i] for i in both]
