"""What a run says of itself."""

from dataclasses import dataclass, field


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
    unsimulated, refusals
        By pipeline and task: runs that cannot be done, as their search cannot be simulated; why.
    noise
        What was said about fits that gave different scores when done again.
    shortage
        Why fewer workers than were asked for did the fits; None where all did.
    spool
        What is to be said of the spool, if there is one.

    Examples
    --------
    >>> print(Progress(80, n_known=10, n_done=5, n_failed=1))
    15 done, 1 failed, 64 left
    """

    n_fits: int
    n_known: int = 0
    n_done: int = 0
    n_failed: int = 0
    blocked: dict[str, int] = field(default_factory=dict)
    unsimulated: dict[str, int] = field(default_factory=dict)
    refusals: dict[str, str] = field(default_factory=dict)
    noise: list[str] = field(default_factory=list)
    shortage: str | None = None
    spool: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.n_known + self.n_done} done, {self.n_failed} failed, {self.n_left} left"

    @property
    def n_blocked(self) -> int:
        """Runs that cannot be done."""
        return sum(self.blocked.values()) + sum(self.unsimulated.values())

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
