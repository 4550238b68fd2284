"""What a run that is going on does at the moment, shown once or again and again."""

import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import click

from outperform.questions.result import Table
from outperform.render.terminal import print_table, say
from outperform.wording import format_duration

_EVERY = 2.0  # seconds
_N_SHOWN = 20  # workers


def watch_run(show: Callable[[], dict[str, Any]]) -> None:
    """Show it anew every two seconds until no run is going on; Ctrl-C ends the watching only.

    On a terminal it is in one place; elsewhere one text follows the other, so that a log tells all.
    """
    in_place = sys.stdout.isatty()
    with suppress(KeyboardInterrupt):
        while True:
            if in_place:
                click.clear()
            if not show()["running"]:
                return
            time.sleep(_EVERY)
            if not in_place:
                say("", "")


def print_activity(activity: Mapping[str, Any]) -> None:
    """Print how fast fits are done, and what each worker does."""
    now = time.time()
    say(_describe_pace(activity, now))
    workers = activity["workers"]
    rows = [
        [
            worker["name"],
            _name_work(worker),
            _format_age(worker["since"], now),
            str(worker["n_done"]),
            _format_seconds(worker["seconds_per_fit"]),
        ]
        for worker in workers[:_N_SHOWN]
    ]
    if rows:
        print_table(Table(["worker", "does", "for", "fits done", "s/fit"], rows))
    n_more = len(workers) - len(rows) + activity["n_more"]
    if n_more:
        say(f"  ... and {n_more} more, that began later")


def describe_end(activity: Mapping[str, Any]) -> str:
    """Say of a run that is no more, and did not say so, when it was last heard of."""
    spoke = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(activity["spoke"]))
    ago = format_duration(max(0.0, time.time() - activity["spoke"]))
    n_busy = len(activity["workers"]) + activity["n_more"]
    return (
        f"The last run was interrupted or killed: it last spoke at {spoke}, {ago} ago, when "
        f"{n_busy} worker(s) of {activity['engine']} were busy."
    )


def _describe_pace(activity: Mapping[str, Any], now: float) -> str:
    n_busy = len(activity["workers"]) + activity["n_more"]
    rate, left = activity["fits_per_minute"], activity["seconds_left"]
    pace = "no fit has ended yet" if rate is None else f"{rate:.3g} fits a minute"
    end = "" if left is None else f", {format_duration(left)} to go"
    return (
        f"{activity['engine']}: {n_busy} of {activity['n_workers']} worker(s) busy, {pace}, "
        f"{activity['n_left']} left{end}; as of {_format_age(activity['spoke'], now)} ago"
    )


def _name_work(worker: Mapping[str, Any]) -> str:
    if worker["pipeline"] is None:
        return str(worker["doing"])
    return f"{worker['pipeline']} on {worker['task']}, {worker['doing']}"


def _format_age(since: float | None, now: float) -> str:
    return "" if since is None else format_duration(max(0.0, now - since))


def _format_seconds(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds:.3g}"
