"""What every engine promises, how one is opened, and the simplest: fits in this process."""

import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, Self

from outperform.errors import EngineError, InvalidInput, OutperformError
from outperform.wording import cut_middle, hide_logins, hide_values, suggest_names

_TRACEBACK = "Traceback (most recent call last):"
_LONGEST_ERROR = 20_000  # characters, of which the first and the last are kept
_LONGEST_SUMMARY = 500
_LAST_OUTPUT = 2_000  # characters of what a fit has printed that its error ends with
_PRINTED = "\n\nIt printed last:\n"
_KNOWN = (
    "Pass local, local:4 (four workers), inline, dask://HOST:PORT, ray://HOST:PORT or "
    "module:executor"
)
_CLUSTERS = ("dask", "ray")  # extras, each a file here with a function `open_cluster`


@dataclass(frozen=True, slots=True)
class Needs:
    """What an item needs where it runs; None where that was not said."""

    gpus: float | None = None  # of its own: half of one is shared by two; 0: it must see none
    memory: int | None = None  # bytes; an item that takes more is killed
    others: tuple[tuple[str, float], ...] = ()  # by the engine's own names: (("cpus", 4),)


NO_NEEDS = Needs()


class Activity(NamedTuple):
    """What is worked on at the moment."""

    worker: str  # a name that tells workers apart, with the host where there are several
    tag: Any
    since: float | None  # seconds since the epoch; None where the engine does not know


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one submitted item.

    `"done"`; `"error"`, the work raised an exception; `"timeout"`, it took too long and was killed;
    `"died"`, it took its worker down with it, several times where that may have been the doing of
    others.
    """

    tag: Any  # what the submitter called the item
    value: Any  # what the work returned; None unless it is done
    error: str | None  # unless it is done: what happened, with the traceback where there is one
    seconds: float  # that the work itself took, without queueing and sending
    kind: Literal["done", "error", "timeout", "died"]
    worker: str = ""  # where it was worked on, as in `Activity`
    # What the work has printed, also when it was loaded for this item, without the middle where
    # that is long; of engines that work elsewhere.
    output: str = ""


class Engine(Protocol):
    """Runs work somewhere; knows nothing of studies or statistics.

    Every submitted item gives an outcome, in any order. An item that two places have worked on may
    give two: compare, and keep the first. Where no worker can even load the work, there are no
    outcomes: `wait` raises EngineError.
    """

    @property
    def name(self) -> str:
        """What it is called where somebody watches, without credentials."""

    @property
    def n_workers(self) -> int:
        """How many items are worked on at a time."""

    @property
    def shortage(self) -> str | None:
        """Why fewer are, as some workers could not get ready; None where all could."""

    @property
    def waits_for(self) -> str | None:
        """What is missing at present, so that nothing is worked on; None where nothing is."""

    def __enter__(self) -> Self: ...

    def __exit__(self, kind: object, error: object, traceback: object) -> None: ...

    def activity(self) -> list[Activity] | None:
        """What is worked on at the moment; None where the engine cannot tell."""

    def submit(
        self,
        work: Callable[[Any], Any],
        item: Any,
        *,
        tag: Any,
        timeout: float | None = None,
        needs: Needs = NO_NEEDS,
    ) -> None:
        """Ask for `work(item)`; returns at once.

        Parameters
        ----------
        tag
            What the outcome will be called.
        timeout
            Seconds after which the item is given up, and what works on it is killed where it runs.
            Loading the work for the first time does not count: that may take ten times as long,
            and a minute at least.
        needs
            What it needs where it runs; InvalidInput where no worker will ever have that.
        """

    def wait(self, patience: float | None = None) -> list[Outcome]:
        """Outcomes not handed out yet: at least one, or none where nothing is left to wait for.

        Parameters
        ----------
        patience
            Seconds after which there may be none, though there is something to wait for.
        """

    def close(self) -> None:
        """Finish what was submitted, then let go; `wait` still hands out the outcomes."""

    def stop(self) -> None:
        """Give up at once what is not finished; `wait` still hands out what is."""


class InlineEngine:
    """Runs each item in this process when its outcome is waited for.

    A debugger works here. Nothing protects this process from work that hangs or crashes: work that
    took longer than it may counts as given up, but only when it has ended.

    Examples
    --------
    >>> engine = InlineEngine()
    >>> engine.submit(abs, -3, tag="three")
    >>> engine.wait()[0].value
    3
    """

    name = "inline"
    n_workers = 1
    shortage: None = None
    waits_for: None = None

    def __init__(self) -> None:
        self._pending: deque[tuple[Callable[[Any], Any], Any, Any, float | None]] = deque()
        self._finished: list[Outcome] = []
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        self.close() if error is None else self.stop()

    def activity(self) -> list[Activity] | None:
        """Not known: who asks is not working meanwhile."""
        return None

    def submit(
        self,
        work: Callable[[Any], Any],
        item: Any,
        *,
        tag: Any,
        timeout: float | None = None,
        needs: Needs = NO_NEEDS,
    ) -> None:
        """Ask for `work(item)`; it runs when waited for."""
        check_submission(timeout, is_open=not self._closed)
        self._pending.append((work, item, tag, timeout))

    def wait(self, patience: float | None = None) -> list[Outcome]:
        """Run the next item, however long that takes, unless outcomes are there already."""
        if not self._finished and self._pending:
            self._run_next()
        finished, self._finished = self._finished, []
        return finished

    def close(self) -> None:
        """Run what is left."""
        self._closed = True
        while self._pending:
            self._run_next()

    def stop(self) -> None:
        """Forget what is left."""
        self._closed = True
        self._pending.clear()

    def _run_next(self) -> None:
        work, item, tag, timeout = self._pending.popleft()
        outcome = Outcome(tag, *run(work, item))
        if timeout is not None and outcome.seconds > timeout:
            outcome = Outcome(tag, None, describe_timeout(timeout), outcome.seconds, "timeout")
        self._finished.append(outcome)


def open_engine(
    address: str = "local",
    options: Mapping[str, Any] | None = None,
    *,
    heartbeat: Path | None = None,
    patience: float = 0.0,
) -> Engine:
    """Engine of an address.

    `local` has a worker per core, `local:4` four. `inline` does one fit after the other in this
    process, where a debugger works. `dask://HOST:PORT` and `dask:///path/scheduler.json` are Dask's
    schedulers. `ray` starts a Ray here, `ray://auto` is the cluster that this machine is part of,
    `ray://HOST:PORT` another. `module:name` is an executor, or what makes one.

    Parameters
    ----------
    options
        Words for the engine itself, which it gets as they are.
    heartbeat
        A file that somebody here touches every now and then, where workers can see it: those of
        a cluster go on without this process until it is `patience` seconds old.

    Examples
    --------
    >>> with open_engine("local:2") as engine:
    ...     engine.n_workers
    2
    """
    options = dict(options or {})
    kind, _, rest = address.partition(":")
    is_local = address == "local" or (kind == "local" and rest.isdecimal() and int(rest) > 0)
    with _hide_options(options):
        if is_local or address == "inline":
            known = ["n_threads", "gpus"] if is_local else []
            for word in options:
                if word not in known:
                    remedy = suggest_names(word, known) if known else "Leave it out"
                    raise InvalidInput(f"the engine '{kind}' has no option {word!r}", remedy)
            from outperform.engines.local import LocalEngine, count_cores

            if is_local:
                return LocalEngine(int(rest or count_cores()), **options)
            return InlineEngine()
        if kind == "local":
            raise InvalidInput(f"'{address}' does not say how many workers", _KNOWN)
        if kind in _CLUSTERS or rest.replace(".", "_").isidentifier():
            home = kind if kind in _CLUSTERS else "futures"
            make: Callable[..., Engine] = import_module(f"outperform.engines.{home}").open_cluster
            return make(address, options, heartbeat=heartbeat, patience=patience)
        raise InvalidInput(f"there is no engine '{hide_logins(address)}'", _KNOWN)


@contextmanager
def _hide_options(options: Mapping[str, Any]) -> Iterator[None]:
    """Leave what options of an engine say out of errors: any of it may be a password."""
    try:
        yield
    except OutperformError as error:
        error.problem = hide_values(error.problem, options)
        raise


def use_engine(engine: str | Engine, **settings: Any) -> AbstractContextManager[Engine]:
    """Open an engine that is named by its address, until the block ends; an open one stays open.

    Settings are those of `open_engine`.
    """
    if not (isinstance(engine, str) or hasattr(engine, "submit")):
        raise InvalidInput(f"the engine is {engine!r}", _KNOWN)
    return open_engine(engine, **settings) if isinstance(engine, str) else nullcontext(engine)


def check_submission(
    timeout: float | None, *, is_open: bool, failure: BaseException | None = None
) -> None:
    """Refuse a time limit that is none, and what an engine gets that has failed or is closed."""
    if timeout is not None and not timeout > 0:
        raise InvalidInput(f"timeout is {timeout}", "Give a positive number of seconds or None")
    if failure is not None:
        raise failure
    if not is_open:
        raise EngineError("this engine is closed", "Make a new one to submit more")


def describe_timeout(timeout: float | None) -> str:
    """What becomes of an item that takes longer than it may."""
    return f"killed after {timeout:g} s, the time limit of a fit"


def describe_exception(error: BaseException) -> str:
    """The traceback as text, without the frame of the engine that caught it; cut if very long."""
    frames = error.__traceback__.tb_next if error.__traceback__ is not None else None
    text = "".join(traceback.format_exception(type(error), error, frames)).rstrip("\n")
    return cut_middle(text, _LONGEST_ERROR)


def describe_failure(error: str, output: str) -> str:
    """What is recorded of an item that failed: its error, and what it had printed last.

    Examples
    --------
    >>> print(describe_failure("ValueError: nan", "epoch 1"))
    ValueError: nan
    <BLANKLINE>
    It printed last:
    epoch 1
    """
    printed = output.strip()[-_LAST_OUTPUT:]
    return f"{error}{_PRINTED}{printed}" if printed else error


def summarize_error(error: str | None) -> str:
    """One line of what an error tells: the exception, or what became of the worker.

    Where a message quotes the traceback of another program, that program's exception is the one.
    What was printed may hold tracebacks too, and does not count. It is part of a sentence, and has
    no full stop.

    Examples
    --------
    >>> summarize_error(describe_exception(ValueError("no luck")))
    'ValueError: no luck'
    """
    lines = (error or "").partition(_PRINTED)[0].strip().splitlines() or ["unknown"]
    begun = [i for i, line in enumerate(lines) if line.strip() == _TRACEBACK]
    after = lines[begun[-1] + 1 :] if begun else lines
    # Frames are indented more than what was raised.
    margin = len(lines[begun[-1]]) - len(_TRACEBACK) if begun else 0
    raised = [line for line in after if line.strip() and not line[margin:].startswith(" ")]
    summary = (raised or lines)[0].strip()
    summary = summary if summary.endswith("..") else summary.removesuffix(".")
    return summary if len(summary) <= _LONGEST_SUMMARY else f"{summary[:_LONGEST_SUMMARY]}…"


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
