"""Damage in a store, as it is told, whatever keeps the rows."""

import shlex
from dataclasses import dataclass
from typing import Any, ClassVar

from outperform.errors import DamagedStore
from outperform.plain_values import Plain
from outperform.wording import count, enumerate_names

_LONGEST = 64  # characters of a key that are shown: a damaged one may be anything
_N_SHOWN = 10


def report_damage(address: str, what: str) -> DamagedStore:
    """Refuse to read on, and name the command that tells all."""
    return DamagedStore(
        f"'{address}' is damaged: {what}",
        f"`outperform verify {shlex.quote(address)}` tells what else is, and what to do",
    )


def name_fit(key: Any) -> str:
    """A fit, as messages call it."""
    return f"fit {str(key)[:_LONGEST]}"


@dataclass(frozen=True, slots=True)
class DamagedFit(Plain):
    """A measurement that is not what was written."""

    key: str
    pipeline: str
    task: str
    problem: str

    def __str__(self) -> str:
        return f"{name_fit(self.key)} ({self.pipeline} on {self.task}) {self.problem}"


@dataclass(frozen=True, slots=True)
class Verification(Plain):
    """What became of the look at everything in a store."""

    JSON: ClassVar[str] = "store is_sound n_measurements fits problems advice"

    store: str
    n_measurements: int  # that could be read, damaged ones too
    fits: tuple[DamagedFit, ...] = ()
    problems: tuple[str, ...] = ()  # beside damaged fits
    advice: str = ""

    @property
    def is_sound(self) -> bool:
        """Whether everything is as it was written, as far as that can be known."""
        return not (self.fits or self.problems)

    def __str__(self) -> str:
        if not self.is_sound:
            parts = [f"{len(self.fits)} of {self.n_measurements} fits"] if self.fits else []
            others = [f"{count(len(self.problems), 'other problem')}"] if self.problems else []
            return f"'{self.store}' is damaged: {enumerate_names([*parts, *others])}"
        return f"'{self.store}' is sound: {self.n_measurements} fits are as they were recorded"

    @property
    def details(self) -> list[str]:
        """What is damaged, one by one; the first few of each kind."""
        lines = [*map(str, self.fits[:_N_SHOWN]), *self.problems[:_N_SHOWN]]
        n_more = len(self.fits) + len(self.problems) - len(lines)
        return lines + ([f"... and {n_more} more: see --json"] if n_more else [])
