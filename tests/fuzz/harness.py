"""What every target of fuzzing shares: one input is tried, many are counted.

A target takes inputs that nobody meant, and may answer or refuse them. All else is an escape: any
other exception or warning, a status that is not documented, an output that is no JSON or steers the
terminal, and an input that takes too long.
"""

import json
import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from click.testing import CliRunner, Result
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.strategies import SearchStrategy

from outperform.cli import main
from outperform.errors import OutperformError
from outperform.wording import STEERING

SECONDS = 10  # of the processor, so that a busy machine is no hang
_BUG = "failed unexpectedly"
_GATES = {"--gate"}


class Escape(AssertionError):
    """Neither an answer nor a refusal."""


class Hang(BaseException):
    """An input took too long; no `except Exception` may take it for something else."""


@dataclass(frozen=True)
class Target:
    """Something that takes inputs of strangers.

    Attributes
    ----------
    attempt
        Tries an input in a folder of its own, and says whether it was answered.
    """

    name: str
    inputs: SearchStrategy[Any]
    attempt: Callable[[Any, Path], bool]


@dataclass
class Tally:
    """What became of the inputs of a target, and an example of every kind of escape."""

    answered: int = 0
    refused: int = 0
    escaped: int = 0
    examples: dict[str, str] = field(default_factory=dict)

    def count(self, target: Target, case: Any, folder: Path) -> None:
        try:
            if attempt(target, case, folder):
                self.answered += 1
            else:
                self.refused += 1
        except Escape as escape:
            self.escaped += 1
            if self.examples.setdefault(str(escape), repr(case)) == repr(case):
                sys.stderr.write(f"{target.name}: {str(escape)!a}\n")


def fuzz(target: Target, n_inputs: int, folder: Path, *, start: int) -> Tally:
    """Try many inputs of a target; the same `start` draws the same ones."""
    tally = Tally()

    @seed(start)
    @settings(
        max_examples=n_inputs,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=[*HealthCheck],
    )
    @given(target.inputs)
    def try_one(case: Any) -> None:
        tally.count(target, case, folder)

    try_one()
    return tally


def attempt(target: Target, case: Any, folder: Path) -> bool:
    """Whether an input was answered; it was refused otherwise.

    Raises
    ------
    Escape
        Where it was neither.
    """
    # Where the process itself dies, this tells what of.
    (folder / "last-input.txt").write_text(repr(case), errors="backslashreplace")
    try:
        with warnings.catch_warnings(), _time_limit():
            warnings.simplefilter("error")
            return target.attempt(case, folder)
    except OutperformError:
        return False
    except Escape:
        raise
    except (Exception, Hang) as error:
        raise Escape(f"{type(error).__name__}: {error} at {_find_line(error)}") from error


def call(words: Sequence[str], *, statuses: Sequence[int] = ()) -> Result:
    """Call the command line as a program would be; statuses are those beside 0 and 2."""
    done = CliRunner().invoke(main, [*words])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    if _BUG in done.stderr:
        raise Escape(f"{done.stderr.splitlines()[0]} at {_find_place(words)}")
    if done.exit_code not in {0, 2, *statuses}:
        raise Escape(f"{words[0]} ended in {done.exit_code}")
    if STEERING.search(done.output):
        raise Escape(f"{words[0]} printed what steers a terminal: {done.output!a}")
    if "--json" in words and done.exit_code != 2:
        json.loads(done.stdout, parse_constant=_refuse_constant)
    return done


def is_answered(words: Sequence[str], *, statuses: Sequence[int] = ()) -> bool:
    """Whether a command answered."""
    return call(words, statuses=statuses).exit_code != 2


def _find_place(words: Sequence[str]) -> str:
    """Where a command fails, as its traceback has it."""
    lines = CliRunner().invoke(main, [*words, "--debug"]).stderr.splitlines()
    places = [line.strip() for line in lines if line.strip().startswith("File ")]
    ours = [place for place in places if "outperform" in place and "site-packages" not in place]
    return (ours or places or ["?"])[-1]


def _find_line(error: BaseException) -> str:
    trace, place = error.__traceback__, "?"
    while trace is not None:
        code = trace.tb_frame.f_code
        if f"{os.sep}outperform{os.sep}" in code.co_filename:
            place = f"{Path(code.co_filename).name}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place


def _refuse_constant(name: str) -> None:
    raise Escape(f"{name} is no JSON")


@contextmanager
def _time_limit() -> Iterator[None]:
    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise Hang(f"longer than {SECONDS} seconds")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
