"""What workers report of a fit: what came out, how long it took, and on what it ran."""

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from outperform.engines import Outcome
from outperform.errors import EngineError


class FitReport(NamedTuple):
    """What the worker itself says of a fit that has ended.

    Attributes
    ----------
    error
        The traceback where the fit raised an exception; then it has no scores.
    seconds, started
        How long the fit took, and when it began (seconds since 1970) by the worker's clock.
    versions
        Of what it ran on.
    lack
        Why the fit could not even begin, as the worker lacks its data.
    unspooled
        Why the report could not be written to the spool.
    """

    scores: Mapping[str, float]
    error: str | None
    seconds: float
    started: float
    versions: Mapping[str, str]
    lack: str | None = None
    unspooled: str | None = None

    def to_outcome(self, key: str) -> Outcome:
        """The outcome that an engine would have handed out."""
        kind = "done" if self.error is None else "error"
        return Outcome(key, self, self.error, self.seconds, kind)  # type: ignore[arg-type]


def unpack(outcome: Outcome) -> Outcome:
    """An outcome that says what the report in it says, and has a report where it had none.

    Fits that were killed have not said on what they ran.
    """
    report = outcome.value
    if not isinstance(report, FitReport):
        started = time.time() - outcome.seconds
        none = FitReport(report or {}, outcome.error, outcome.seconds, started, {})
        return replace(outcome, value=none)
    own = report.to_outcome(outcome.tag)
    return replace(own, worker=outcome.worker, output=outcome.output)


def check_readiness(outcome: Outcome) -> None:
    """Refuse to go on where a worker lacks the data of a fit: all others would fail like it."""
    if outcome.value.lack is not None:
        raise EngineError(
            outcome.value.lack,
            "Bring the data to where the fits run, and run it again: what is recorded is kept",
        )
