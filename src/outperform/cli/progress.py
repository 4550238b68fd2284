"""What commands say of work: how far it has come, if it takes longer than two seconds.

On a terminal it is a live line of rich; elsewhere a plain line now and then, so that a log stays
readable.
"""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Timer
from time import monotonic
from typing import TYPE_CHECKING

from outperform.render.terminal import say
from outperform.wording import count, format_duration, format_rate

if TYPE_CHECKING:
    from rich.progress import Progress

_PATIENCE = 2.0  # seconds of silence
_EVERY = 30.0  # seconds between lines where nobody looks


class ProgressBar:
    """Shows how far some work has come, called with what is done and what there is to do."""

    def __init__(self, doing: str) -> None:
        self.doing = doing
        self.live = sys.stderr.isatty()
        self.due = monotonic() + (_PATIENCE if self.live else _EVERY)
        self._bar: Progress | None = None

    def __enter__(self) -> "ProgressBar":
        return self

    def __call__(self, n_done: int, n_steps: int, words: str = "") -> None:
        """Say so now, unless something was said a moment ago.

        Parameters
        ----------
        words
            More on it, such as how many have failed.
        """
        if monotonic() < self.due:
            return
        if self.live:
            self._draw(n_done, n_steps, words)
        else:
            self.due = monotonic() + _EVERY
            share = f"{n_done / n_steps:.0%}" if n_steps else ""
            say(": ".join(filter(None, (self.doing, words or share))), err=True)

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def _draw(self, n_done: int, n_steps: int, words: str) -> None:
        if self._bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

            self._bar = Progress(
                TextColumn("{task.description}", markup=False),
                BarColumn(bar_width=20),
                TextColumn("{task.percentage:.0f}%", markup=False),
                TextColumn("{task.fields[words]}", markup=False),
                # Words say how long the rest takes in their own way.
                *(() if words else (TimeRemainingColumn(compact=True),)),
                console=Console(stderr=True),
                transient=True,
            )
            self._bar.add_task(self.doing, words=words)
            self._bar.start()
        self._bar.update(self._bar.task_ids[0], completed=n_done, total=n_steps, words=words)


def describe_pace(n_done: int, n_left: int, began: float) -> str:
    """How fast fits were done since a moment of `monotonic`, and how long the rest will take."""
    if not n_done:
        return "no fit has ended yet"
    rate = n_done / max(monotonic() - began, 1e-9)
    return f"{format_rate(rate)}, {format_duration(n_left / rate)} to go"


def describe_undone(
    blocked: Mapping[str, int], unsimulated: Mapping[str, int], refusals: Mapping[str, str]
) -> Iterator[str]:
    """Runs that cannot be done, by where they are, and why."""
    for where, n_runs in blocked.items():
        search = "its search" if n_runs == 1 else "their search"
        yield f"{count(n_runs, 'run')} of {where} cannot be done: every trial of {search} failed"
    for where, n_runs in unsimulated.items():
        search = "its search" if n_runs == 1 else "their search"
        what = f"{count(n_runs, 'run')} of {where} cannot be done, as {search} cannot be simulated"
        yield f"{what}: {refusals.get(where, 'it was tried, and failed')}"


@contextmanager
def say_if_slow(message: str) -> Iterator[None]:
    """Tell a person who waits for more than two seconds what for."""
    timer = Timer(_PATIENCE, say, (message,), {"err": True})
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
