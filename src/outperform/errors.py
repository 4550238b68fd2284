"""Everything outperform refuses, in one tree.

OutperformError
├── InvalidInput          an argument that makes no sense
│   ├── InvalidScores     scores that are missing, infinite, of the wrong shape or kind
│   └── TooFewRuns        too little to conclude anything
├── UnreadableRuns        a runs file that cannot be understood
│   ├── UnknownColumn     a column that the file does not have
│   └── UnknownDirection  a metric of which nobody said whether higher is better
├── UnknownName           an algorithm or task that is not there
├── UnpairedScores        scores that cannot be paired
├── DuplicateRuns         one run recorded more than once
├── MissingExtra          an optional dependency that is not installed
├── StoreError            a store that cannot be read or written
│   ├── NotAStore         a file, or a folder, that is something else
│   ├── NewerStore        a store that a newer outperform has written
│   ├── DamagedStore      a store whose content is not what was written
│   ├── StoreInUse        a store that another run is writing
│   └── DiskFull          no room for the next measurement
└── EngineError           workers that cannot work at all
"""


class OutperformError(Exception):
    """What went wrong, with values, and what to do about it.

    Parameters
    ----------
    problem
        What is wrong, naming the offending values.
    remedy
        What to do next.
    where
        Keys that lead to what is wrong in a study file; empty where there is none.
    """

    def __init__(self, problem: str, remedy: str, *, where: tuple[str | int, ...] = ()) -> None:
        super().__init__(problem, remedy)
        self.problem = problem
        self.remedy = remedy
        self.where = where

    def __str__(self) -> str:
        return f"{self.problem}. {self.remedy}."


class InvalidInput(OutperformError, ValueError):
    """An argument that makes no sense."""


class InvalidScores(InvalidInput):
    """Scores that are missing, infinite, of the wrong shape or kind."""


class TooFewRuns(InvalidInput):
    """Too little to conclude anything."""


class UnreadableRuns(OutperformError):
    """A runs file that cannot be understood."""


class UnknownColumn(UnreadableRuns):
    """A column that the file does not have."""


class UnknownDirection(UnreadableRuns):
    """A metric of which nobody said whether higher is better."""


class UnknownName(OutperformError, LookupError):
    """An algorithm or task that is not there."""


class UnpairedScores(OutperformError, ValueError):
    """Scores that cannot be paired."""


class DuplicateRuns(OutperformError, ValueError):
    """One run recorded more than once."""


class MissingExtra(OutperformError, ImportError):
    """An optional dependency that is not installed."""


class StoreError(OutperformError):
    """A store that cannot be read or written."""


class NotAStore(StoreError):
    """A file, or a folder, that is something else."""


class NewerStore(StoreError):
    """A store that a newer outperform has written."""


class DamagedStore(StoreError):
    """A store whose content is not what was written."""


class StoreInUse(StoreError):
    """A store that another run is writing."""


class DiskFull(StoreError):
    """No room for the next measurement."""


class EngineError(OutperformError):
    """Workers that cannot work at all."""
