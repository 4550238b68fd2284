"""The command `outperform status`: what is done and failed, and what a run does at the moment."""

import shlex
import sys
import textwrap
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from itertools import combinations
from shutil import get_terminal_size
from typing import Any

import click

from outperform.cli.options import debug_option, print_json
from outperform.cli.progress import describe_undone
from outperform.engines.engine import summarize_error
from outperform.questions.result import Table
from outperform.render.terminal import print_table, say
from outperform.store import RunLabel, Store, open_store
from outperform.store.sequential_record import Attempt, describe_attempt, is_decided
from outperform.store.status import read_status
from outperform.store.stored_doubts import find_blocked_runs
from outperform.study.designs import PAIRED
from outperform.wording import (
    count,
    format_duration,
    format_fit_time,
    format_rate,
    measure,
    shorten,
)

_USUAL = {"gamma": 0.75, "alpha": 0.05, "beta": 0.05}  # of rules
_N_KINDS = 10  # of errors shown
_LONGEST = 300  # characters of an error shown
_EVERY = 2.0  # seconds from one look of --watch to the next
_N_SHOWN = 20  # workers, fewer where the terminal is low
_FEWEST_SHOWN = 5
_LINES_ABOVE = 12  # of a terminal: what is done, and how fast, of a few pipelines
_OTHER_COLUMNS = 33  # "for", "done", "per fit" and the gaps between
_ENDLESS = 10_000  # columns where nobody sees them, so that nothing is cut off
_SHORTEST = 6  # columns of a name


@click.command()
@click.argument("address", metavar="STORE")
@click.option("--watch", is_flag=True, help="Show it anew every two seconds, until the run ends.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@debug_option
def command(address: str, watch: bool, as_json: bool) -> None:
    """Show what is done, failed and running.

    \b
        outperform status study.db
        outperform status study.db --watch

    A run that is going on is not disturbed.
    """
    if watch and as_json:
        raise click.UsageError("--watch is for people: give it or --json.")
    if watch:
        watch_run(lambda: _show(address))
    else:
        _show(address, as_json=as_json)


def _show(address: str, *, as_json: bool = False) -> dict[str, Any]:
    """Print what is there now; what was printed, for programs."""
    with open_store(address) as store:
        status, study = read_status(store), store.get_meta("study") or {}
        # What a study has that is over: no score is read, so that damage hides no status.
        designs = {each["design"] for each in study.get("designs", ())}
        names = study["pipelines"] if designs & {*PAIRED} else []
        advice = _suggest_question(shlex.quote(store.address), names, designs)
    if as_json:
        print_json(status, kind="Status")
    else:
        _print(status, advice)
    return status


def _suggest_question(address: str, paired: Sequence[str], designs: Collection[str]) -> str:
    """Name the command that shows what runs of these designs tell.

    Parameters
    ----------
    paired
        Pipelines that have runs of designs with pairs.
    """
    if len(paired) > 1:
        return f"outperform compare {address} {shlex.join(paired[:2])}"
    return f"outperform decompose {address}" if {*designs} - {*PAIRED} else ""


def suggest_command(
    store: Store, study: Mapping[str, Any], scores: Mapping[str, Mapping[str, float]], n_failed: int
) -> str:
    """Name the command that shows what the runs of a study tell, or what went wrong.

    Parameters
    ----------
    study
        As the store describes it.
    scores
        Of the recorded fits by key, none where one failed.
    n_failed
        Failed fits that the study needs.
    """
    labels, address = store.run_labels(), shlex.quote(store.address)
    done = [label for label in labels if scores.get(label.key)]
    paired = {label.pipeline for label in done if label.design in PAIRED}
    names = [name for name in study["pipelines"] if name in paired]
    silent = set(study["pipelines"]) - {run.pipeline for run in done}
    if 2 * n_failed > study["n_fits"] or (n_failed and silent):
        return f"outperform status {address}"
    if len(names) > 1:
        undone: list[tuple[Any, ...]] = [label for label in labels if not scores.get(label.key)]
        if n_failed:
            undone += find_blocked_runs(store.failed_trials(), study)
        lacking = {role[3] for role in undone if role[0] in PAIRED}
        if {*names[:2]} & lacking:
            return _suggest_comparing(address, names, done, lacking)
    question = _suggest_question(address, names, {label.design for label in done})
    return question or (f"outperform status {address}" if n_failed else "")


def _suggest_comparing(
    address: str, names: Sequence[str], done: Sequence[RunLabel], lacking: Collection[str]
) -> str:
    """Compare two with pairs enough to conclude anything, as one of the first two lacks runs.

    Parameters
    ----------
    lacking
        Pipelines of which runs failed, or can never be done.
    """
    from outperform.stats import smallest_conclusive  # imports scipy

    status, fewest = f"outperform status {address}", smallest_conclusive(_USUAL["alpha"])
    runs: dict[str, set[tuple[str, str, str, int]]] = {name: set() for name in names}
    for label in done:
        if label.pipeline in runs and label.design in PAIRED:
            place = (label.design, label.source, label.task, label.replicate)
            runs[label.pipeline].add(place)
    for pair in combinations(names, 2):
        n_pairs = Counter(place[:3] for place in runs[pair[0]] & runs[pair[1]])
        if max(n_pairs.values(), default=0) >= fewest:
            dropping = " --drop-incomplete" if {*pair} & {*lacking} else ""
            return f"{status}; then outperform compare {address} {shlex.join(pair)}{dropping}"
    return status


def _print(status: dict[str, Any], advice: str) -> None:
    failures, tests = status["failures"], status["sequential"]
    _print_counts(status)
    _print_running(status, tests)
    _print_failures(failures)
    for runs in describe_undone(status["blocked"], status["unsimulated"], status["refusals"]):
        say("", runs, fg="red")
    if n_before := status["n_failed_before"]:
        what = count(n_before, "other failed fit is", "other failed fits are")
        say("", f"{what} kept: the study, as it was last run, did not ask for them")
    for test in tests:
        say("", f"Looked at after every pair, {describe_attempt(test)}.")
    if failures and not status["running"]:
        say("", "Next: mend the cause, then `outperform run STUDY.toml --retry-failed`.")
    elif advice and not (tests or status["running"] or _count_left(status)):
        say("", f"Next: {advice}")


def _print_counts(status: dict[str, Any]) -> None:
    n_done, n_failed = (
        sum(count[word] for count in status["counts"]) for word in ("done", "failed")
    )
    n_fits = status["n_fits"]
    if not status["counts"]:
        say(f"{status['study']}: nothing is recorded yet", bold=True)
        return
    if n_fits is None:
        needed = ""
    elif n_done + n_failed > n_fits:
        needed = f"; the study needs {n_fits}, and fits from before it was changed are kept too"
    else:
        needed = f" of the {n_fits} that the study needs"
    say(f"{status['study']}: {n_done} fits done, {n_failed} failed{needed}", bold=True)
    rows = [
        [count["pipeline"], count["task"], str(count["done"]), str(count["failed"])]
        for count in status["counts"]
    ]
    print_table(Table(["pipeline", "task", "done", "failed"], rows))


def _count_left(status: dict[str, Any]) -> int:
    """Fits that can still be done, about: some may be from before the study was changed."""
    n_settled: int = sum(count["done"] + count["failed"] for count in status["counts"])
    n_blocked: int = sum(sum(status[word].values()) for word in ("blocked", "unsimulated"))
    n_fits: int = status["n_fits"] or 0
    return max(n_fits - n_settled - n_blocked, 0)


def _print_running(status: dict[str, Any], tests: list[Attempt]) -> None:
    if status["running"]:
        say("", f"A run is going on: {status['running']}", fg="green")
        if status["activity"]:
            print_activity(status["activity"])
        return
    if status["activity"]:
        say("", describe_end(status["activity"]), fg="yellow")
    if n_left := _count_left(status):  # equal fits are done once
        say("", f"No run is going on; about {n_left} fits are left.")
        options = ""
        if tests:  # without these, all replicates are run
            rule = tests[-1]["rule"]
            others = [f" --{name} {rule[name]:g}" for name in _USUAL if rule[name] != _USUAL[name]]
            options = f" --until-decided {shlex.join([rule['a'], rule['b']])}{''.join(others)}"
        if tests and is_decided(tests[-1]):
            say("None of them is needed for what was decided, below.")
        elif tests and tests[-1]["decisions"]:
            say("The test below has ended, and none of them would decide it.")
        else:
            say(f"Next: `outperform run STUDY.toml{options}` goes on.")


def _print_failures(failures: list[dict[str, Any]]) -> None:
    """Each kind of error once per pipeline, with how often it happened and an example."""
    kinds: dict[tuple[str, str], list[tuple[dict[str, Any], str]]] = {}
    for failure in failures:
        kind, _, message = summarize_error(failure["error"]).partition(": ")
        kinds.setdefault((failure["pipeline"], kind), []).append((failure, message))
    often_first = sorted(kinds.items(), key=lambda item: -len(item[1]))
    for (pipeline, kind), group in often_first[:_N_KINDS]:
        example, message = group[0]
        params = ", ".join(f"{name}={value}" for name, value in example["params"].items())
        say("", f"{len(group)} × {pipeline}: {kind}", fg="red")
        said = f": {textwrap.shorten(message, _LONGEST)}" if message else ""
        say(f"  for example on {example['task']} with {params or 'defaults'}{said}")
    if len(often_first) > _N_KINDS:
        say("", f"... and {len(often_first) - _N_KINDS} other errors: see --json")


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
    rate, left = activity["fits_per_minute"], activity["seconds_left"]
    pace = "no fit has ended yet" if rate is None else format_rate(rate / 60)
    end = "" if left is None else f", {format_duration(left)} to go"
    said = f"{_count_workers(activity)}, as of {_format_age(activity['spoke'], now)} ago"
    say(f"{activity['engine']}: {said}", f"{pace}, {activity['n_left']} left{end}")
    workers = activity["workers"]
    width, n_shown = _ENDLESS, _N_SHOWN
    if sys.stdout.isatty():  # each worker has a line, and all are seen at once
        size = get_terminal_size()
        width, n_shown = size.columns, min(_N_SHOWN, max(_FEWEST_SHOWN, size.lines - _LINES_ABOVE))
    # Of Dask's tcp://10.0.0.7:40123 and the like, what tells them apart.
    names = [shorten(each["name"].rpartition("//")[2], width // 4) for each in workers[:n_shown]]
    room = width - _OTHER_COLUMNS - max(map(measure, names), default=0)
    rows = [
        [
            name,
            _name_work(worker, room),
            _format_age(worker["since"], now),
            str(worker["n_done"]),
            "" if worker["seconds_per_fit"] is None else format_fit_time(worker["seconds_per_fit"]),
        ]
        for name, worker in zip(names, workers, strict=False)
    ]
    if rows:
        print_table(Table(["worker", "does", "for", "done", "per fit"], rows))
    if n_more := len(workers) - len(rows) + activity["n_more"]:
        say(f"  ... and {n_more} more, that began later")


def describe_end(activity: Mapping[str, Any]) -> str:
    """Say of a run that is no more, and did not say so, when it was last heard of."""
    spoke = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(activity["spoke"]))
    ago = format_duration(max(0.0, time.time() - activity["spoke"]))
    return (
        f"The last run was interrupted or killed: it last spoke at {spoke}, {ago} ago, with "
        f"{_count_workers(activity)} of {activity['engine']}."
    )


def _count_workers(activity: Mapping[str, Any]) -> str:
    if activity["n_busy"] is None:  # some engines cannot tell
        return count(activity["n_workers"], "worker")
    return f"{activity['n_busy']} of {count(activity['n_workers'], 'worker')} busy"


def _name_work(worker: Mapping[str, Any], room: int) -> str:
    """What a worker does, in so many columns."""
    if worker["pipeline"] is None:
        return str(worker["doing"])
    half = max(_SHORTEST, (room - len(f"{worker['doing']}:  on ")) // 2)
    names = f"{shorten(worker['pipeline'], half)} on {shorten(worker['task'], half)}"
    return f"{worker['doing']}: {names}"


def _format_age(since: float | None, now: float) -> str:
    return "" if since is None else format_duration(max(0.0, now - since))
