"""What a run that is going on does at the moment, shown once or again and again."""

import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from shutil import get_terminal_size
from typing import Any

import click

from outperform.questions.result import Table
from outperform.render.terminal import print_table, say
from outperform.wording import format_duration, format_fit_time, format_rate, measure, shorten

_EVERY = 2.0  # seconds
_N_SHOWN = 20  # workers, fewer where the terminal is low
_FEWEST_SHOWN = 5
_LINES_ABOVE = 12  # of a terminal: what is done, and how fast, of a few pipelines
_OTHER_COLUMNS = 33  # "for", "done", "per fit" and the gaps between
_ENDLESS = 10_000  # columns where nobody sees them, so that nothing is cut off
_SHORTEST = 6  # columns of a name


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
    say(*_describe_pace(activity, now))
    workers = activity["workers"]
    width, n_shown = _find_room()
    # Of Dask's tcp://10.0.0.7:40123 and the like, what tells them apart.
    names = [shorten(each["name"].rpartition("//")[2], width // 4) for each in workers[:n_shown]]
    room = width - _OTHER_COLUMNS - max(map(measure, names), default=0)
    rows = [
        [
            name,
            _name_work(worker, room),
            _format_age(worker["since"], now),
            str(worker["n_done"]),
            _format_seconds(worker["seconds_per_fit"]),
        ]
        for name, worker in zip(names, workers, strict=False)
    ]
    if rows:
        print_table(Table(["worker", "does", "for", "done", "per fit"], rows))
    n_more = len(workers) - len(rows) + activity["n_more"]
    if n_more:
        say(f"  ... and {n_more} more, that began later")


def describe_end(activity: Mapping[str, Any]) -> str:
    """Say of a run that is no more, and did not say so, when it was last heard of."""
    spoke = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(activity["spoke"]))
    ago = format_duration(max(0.0, time.time() - activity["spoke"]))
    return (
        f"The last run was interrupted or killed: it last spoke at {spoke}, {ago} ago, with "
        f"{_count_workers(activity)} of {activity['engine']}."
    )


def _describe_pace(activity: Mapping[str, Any], now: float) -> tuple[str, str]:
    rate, left = activity["fits_per_minute"], activity["seconds_left"]
    pace = "no fit has ended yet" if rate is None else format_rate(rate / 60)
    end = "" if left is None else f", {format_duration(left)} to go"
    age = _format_age(activity["spoke"], now)
    return (
        f"{activity['engine']}: {_count_workers(activity)}, as of {age} ago",
        f"{pace}, {activity['n_left']} left{end}",
    )


def _count_workers(activity: Mapping[str, Any]) -> str:
    if activity["n_busy"] is None:  # some engines cannot tell
        return f"{activity['n_workers']} worker(s)"
    return f"{activity['n_busy']} of {activity['n_workers']} worker(s) busy"


def _name_work(worker: Mapping[str, Any], room: int) -> str:
    """What a worker does, in so many columns."""
    if worker["pipeline"] is None:
        return str(worker["doing"])
    half = max(_SHORTEST, (room - len(f"{worker['doing']}:  on ")) // 2)
    names = f"{shorten(worker['pipeline'], half)} on {shorten(worker['task'], half)}"
    return f"{worker['doing']}: {names}"


def _find_room() -> tuple[int, int]:
    """Columns for a line, and lines for workers: each has one, and all are seen at once."""
    if not sys.stdout.isatty():
        return _ENDLESS, _N_SHOWN
    size = get_terminal_size()
    return size.columns, min(_N_SHOWN, max(_FEWEST_SHOWN, size.lines - _LINES_ABOVE))


def _format_age(since: float | None, now: float) -> str:
    return "" if since is None else format_duration(max(0.0, now - since))


def _format_seconds(seconds: float | None) -> str:
    return "" if seconds is None else format_fit_time(seconds)
