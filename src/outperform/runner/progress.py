"""What a run needs of a store, and what it says of itself."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from outperform.store import Added, Measurement, RunLabel
from outperform.store.measurement import Role, Status

Scores = dict[str, float]


class Store(Protocol):
    """Keeps measurements durably; the coordinator of a run is its only writer."""

    def lock(self) -> None:
        """Become the only writer."""

    def add_all(
        self, measurements: Sequence[Measurement], labels: Sequence[RunLabel] = ()
    ) -> list[Added]:
        """Record measurements, and which fits are runs; both are safe when this returns."""

    def get(self, keys: Sequence[str]) -> dict[str, Measurement]:
        """Measurements by key."""

    def scores(self) -> dict[str, Scores]:
        """Scores of every fit that is done, by key."""

    def failed_keys(self) -> set[str]:
        """Keys of the fits that failed."""

    def counts(self) -> dict[tuple[str, str, Status], int]:
        """Number of measurements by pipeline, task and status."""

    def run_keys(self) -> dict[Role, str]:
        """Keys of the fits that are runs, by their role."""

    def keep_labels(self, of: Collection[tuple[str, str]]) -> None:
        """Forget which fits are runs, but for these pairs of pipeline and task."""

    def get_meta(self, name: str) -> Any:
        """What was kept under a name, or None."""

    def set_meta(self, name: str, value: Any) -> None:
        """Keep something under a name."""


@dataclass(slots=True)
class Progress:
    """How far a run has come.

    Attributes
    ----------
    n_fits
        Fits that the study needs, at most: equal fits are done once.
    n_known
        Of these, recorded before this run, failures included.
    n_done, n_failed
        Finished in this run.
    blocked
        By pipeline and task: runs that cannot be done, as every trial of their search has failed.
    noise
        What was said about fits that gave different scores when done again.
    """

    n_fits: int
    n_known: int = 0
    n_done: int = 0
    n_failed: int = 0
    blocked: dict[str, int] = field(default_factory=dict)
    noise: list[str] = field(default_factory=list)

    @property
    def n_blocked(self) -> int:
        """Runs that cannot be done."""
        return sum(self.blocked.values())

    @property
    def n_left(self) -> int:
        """Fits still to do, at most."""
        settled = self.n_known + self.n_done + self.n_failed + self.n_blocked
        return max(0, self.n_fits - settled)

    def settle(self, n_recorded: int) -> None:
        """Correct the numbers at the end: until now, equal trials of a search counted each."""
        self.n_fits = min(self.n_fits - self.n_left, n_recorded + self.n_blocked)
        others = self.n_done + self.n_failed + self.n_blocked
        self.n_known = min(self.n_known, self.n_fits - others)
