"""What long commands say: how long they will take, and how far they have come."""

import sys
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import click

from outperform.engines import LocalEngine
from outperform.engines.engine import summarize_error
from outperform.runner import time_fits
from outperform.study.study import Study
from outperform.wording import format_duration

Pair = tuple[str, str]  # pipeline, task

_PATIENCE = 20.0  # seconds given to the fits that are timed before a study starts
_QUICK = 10.0  # seconds that a fit may take to be timed once more
_EVERY = {True: 0.2, False: 30.0}  # seconds between lines of progress, on a terminal or not


class LiveLine:
    """A line on standard error: live on a terminal, a new one now and then elsewhere."""

    def __init__(self) -> None:
        self.live = sys.stderr.isatty()
        self.began = self.shown = time.monotonic()

    def is_due(self) -> bool:
        """Whether it is time to say something again."""
        return time.monotonic() - self.shown >= _EVERY[self.live]

    def show(self, n_done: int, n_left: int, words: str) -> None:
        """Say how far it has come, and how long the rest will take at the rate so far.

        Parameters
        ----------
        n_done, n_left
            Fits done since the line was made, and fits still to do.
        words
            What to say of both.
        """
        self.shown = time.monotonic()
        rate = n_done / max(self.shown - self.began, 1e-9)
        left = format_duration(n_left / rate) if rate else "?"
        line = f"{words}, {rate:.1f} fits/s, {left} to go"
        click.echo(f"\r{line}\x1b[K" if self.live else line, nl=not self.live, err=True)

    def clear(self) -> None:
        """Make room for what is said at the end."""
        if self.live:
            click.echo("\r\x1b[K", nl=False, err=True)


@dataclass(frozen=True, slots=True)
class FitSeconds:
    """Mean seconds of a fit, for every pipeline on every task that they are known of."""

    by_pair: Mapping[Pair, float]
    late: bool = False  # a fit was given up: it takes longer

    @property
    def about(self) -> str:
        """How sure the times are."""
        return "more than" if self.late else "about"

    def add_up(self, n_fits: Mapping[Pair, int], workers: int) -> float:
        """Seconds that so many fits of each pair take on so many workers."""
        return sum(n * self.by_pair[pair] for pair, n in n_fits.items()) / workers

    def __str__(self) -> str:
        if not self.by_pair:
            return "how long a fit takes is not known yet"
        (quick, least), *_, (slow, most) = sorted(
            [*self.by_pair.items()] * 2, key=lambda item: item[1]
        )
        if most < 2 * least:
            mean = sum(self.by_pair.values()) / len(self.by_pair)
            return f"one fit takes {self.about} {mean:.2g} s"
        return (
            f"one fit takes {self.about} {least:.2g} s ({' on '.join(quick)}) to {most:.2g} s "
            f"({' on '.join(slow)})"
        )


def measure_seconds(
    study: Study, workers: int, known: Mapping[Pair, float] | None = None
) -> FitSeconds:
    """Seconds of a fit of every pair, timed where they are not known; failures are told."""
    known = known or {}
    pairs = [(p.name, t.name) for t in study.tasks for p in study.pipelines]
    timed, late = _time_pairs(study, workers, [pair for pair in pairs if pair not in known])
    return FitSeconds({pair: known[pair] if pair in known else timed[pair] for pair in pairs}, late)


def _time_pairs(
    study: Study, workers: int, pairs: Collection[Pair]
) -> tuple[dict[Pair, float], bool]:
    if not pairs:
        return {}, False
    patience = min(_PATIENCE, study.timeout or _PATIENCE)
    if sys.stderr.isatty():
        click.echo("Timing a fit of every pipeline on every task ...", nl=False, err=True)
    with LocalEngine(workers, timeout=patience) as engine:
        outcomes = time_fits(study, engine, pairs)
        if all(outcome.seconds < _QUICK for outcome in outcomes.values()):
            outcomes = time_fits(study, engine, pairs)  # those before paid for imports
    LiveLine().clear()
    for (pipeline, task), outcome in sorted(outcomes.items()):
        if outcome.kind in ("error", "died"):
            click.secho(
                f"Note: a first fit of {pipeline} on {task}, with default hyperparameters, "
                f"failed: {summarize_error(outcome.error)}",
                fg="yellow",
                err=True,
            )
    late = any(outcome.kind == "timeout" for outcome in outcomes.values())
    return {pair: outcome.seconds for pair, outcome in outcomes.items()}, late
