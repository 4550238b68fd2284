"""Fits in this process, one after the other: for debugging, and for work that cannot travel."""

from collections import deque
from collections.abc import Callable
from typing import Any, Self

from outperform.engines.engine import (
    NO_NEEDS,
    Activity,
    Needs,
    Outcome,
    check_submission,
    describe_timeout,
    run,
)


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
