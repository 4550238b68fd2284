"""What every engine promises, so that a study need not know where its fits run."""

import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from outperform.errors import EngineError

_TRACEBACK = "Traceback (most recent call last):"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one submitted item.

    Attributes
    ----------
    tag
        What the submitter called the item.
    value
        What the work returned; None unless `kind` is `"done"`.
    error
        None where `kind` is `"done"`, else what happened, with the traceback where there is one.
    seconds
        How long the work itself took, without queueing and sending.
    kind
        `"done"`; `"error"`, the work raised an exception; `"timeout"`, it took too long and was
        killed; `"died"`, it took its worker down with it.
    """

    tag: Any
    value: Any
    error: str | None
    seconds: float
    kind: Literal["done", "error", "timeout", "died"]


class Engine(Protocol):
    """Runs work somewhere; knows nothing of studies or statistics.

    Every submitted item gives an outcome, in any order. An item that two places have worked on may
    give two: compare, and keep the first.
    """

    n_workers: int

    def submit(self, work: Callable[[Any], Any], item: Any, *, tag: Any) -> None:
        """Ask for `work(item)`; returns at once."""

    def wait(self) -> list[Outcome]:
        """Outcomes not handed out yet: at least one, or none where nothing is left to wait for."""

    def close(self) -> None:
        """Finish what was submitted, then let go; `wait` still hands out the outcomes."""

    def stop(self) -> None:
        """Give up at once what is not finished; `wait` still hands out what is."""


def describe_exception(error: BaseException) -> str:
    """The traceback as text, without the frame of the engine that caught it."""
    frames = error.__traceback__.tb_next if error.__traceback__ is not None else None
    return "".join(traceback.format_exception(type(error), error, frames)).rstrip("\n")


def summarize_error(error: str | None) -> str:
    """One line of what `Outcome.error` tells: the exception, or what became of the worker.

    Where a message quotes the traceback of another program, that program's exception is the one.

    Examples
    --------
    >>> summarize_error(describe_exception(ValueError("no luck")))
    'ValueError: no luck'
    """
    lines = (error or "").strip().splitlines() or ["unknown"]
    begun = [i for i, line in enumerate(lines) if line.strip() == _TRACEBACK]
    after = lines[begun[-1] + 1 :] if begun else lines
    # Frames are indented more than what was raised.
    margin = len(lines[begun[-1]]) - len(_TRACEBACK) if begun else 0
    raised = [line for line in after if line.strip() and not line[margin:].startswith(" ")]
    return (raised or lines)[0].strip()


def run(
    work: Callable[[Any], Any], item: Any
) -> tuple[Any, str | None, float, Literal["done", "error"]]:
    """Value, error, seconds and kind of `work(item)`; only Ctrl-C gets through."""
    began = time.perf_counter()
    try:
        value = work(item)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit too: code that exits has failed
        return None, describe_exception(error), time.perf_counter() - began, "error"
    return value, None, time.perf_counter() - began, "done"


def closed_engine() -> EngineError:
    """The error of submitting too late."""
    return EngineError("this engine is closed", "Make a new one to submit more")
