"""The command `outperform status`."""

import shlex
import textwrap
from collections import Counter
from typing import Any

import click

from outperform.cli.options import debug_option
from outperform.cli.output import print_json
from outperform.cli.watching import describe_end, print_activity, watch_run
from outperform.engines.engine import summarize_error
from outperform.questions.result import Table
from outperform.render.terminal import print_table, say
from outperform.store import Measurement, Store, open_store
from outperform.store.meta import ACTIVITY
from outperform.store.sequential_record import (
    Attempt,
    describe_attempt,
    is_decided,
    read_attempts,
)
from outperform.store.stored_doubts import SURROGATES
from outperform.store.stored_runs import find_needed_failures, has_failures

_N_KINDS = 10  # of errors shown
_LONGEST = 300  # characters of an error shown


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
        needed = find_needed_failures(store)
        recorded = list(store.measurements("failed")) if has_failures(store) else []
        failures = [failure for failure in recorded if failure.key in needed]
        status = _describe(store, failures) | {"n_failed_before": len(recorded) - len(failures)}
        tests = read_attempts(store)
    if as_json:
        words = ("key", "pipeline", "task", "error")
        errors = [{word: getattr(failure, word) for word in words} for failure in failures]
        print_json({**status, "failures": errors, "sequential": tests}, kind="Status")
    else:
        _print(status, failures, tests)
    return status


def _print(status: dict[str, Any], failures: list[Measurement], tests: list[Attempt]) -> None:
    _print_counts(status)
    _print_running(status, tests)
    _print_failures(failures)
    for where, n_runs in status["blocked"].items():
        say(
            "",
            f"{n_runs} run(s) of {where} cannot be done: every trial of their search failed",
            fg="red",
        )
    for where, n_runs in status["unsimulated"].items():
        say(
            "",
            f"{n_runs} run(s) of {where} cannot be done, as their search cannot be simulated"
            f": {status['refusals'].get(where, 'it was tried, and failed')}",
            fg="red",
        )
    _print_failures_of_before(status)
    for test in tests:
        say("", f"Looked at after every pair, {describe_attempt(test)}.")
    if failures and not status["running"]:
        say("", "Next: mend the cause, then `outperform run STUDY.toml --retry-failed`.")


def _describe(store: Store, failures: list[Measurement]) -> dict[str, Any]:
    """What is there; of what failed, that which the study still needs."""
    study = store.get_meta("study") or {}
    counts = store.counts()
    n_failed = Counter((failure.pipeline, failure.task) for failure in failures)
    pairs = sorted({(pipeline, task) for pipeline, task, _ in counts})
    return {
        "study": study.get("name", store.address),
        "n_fits": study.get("n_fits"),
        "running": store.find_writer(),
        "activity": store.get_meta(ACTIVITY),
        "counts": [
            {
                "pipeline": pipeline,
                "task": task,
                "done": counts.get((pipeline, task, "done"), 0),
                "failed": n_failed[pipeline, task],
            }
            for pipeline, task in pairs
        ],
        "blocked": store.get_meta("blocked") or {},
        "unsimulated": store.get_meta("unsimulated") or {},
        "refusals": {
            f"{record['pipeline']} on {record['task']}": record["refused"][0]
            for record in (store.get_meta(SURROGATES) or {}).values()
            if "refused" in record
        },
    }


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


def _print_running(status: dict[str, Any], tests: list[Attempt]) -> None:
    n_settled = sum(count["done"] + count["failed"] for count in status["counts"])
    n_blocked = sum(sum(status[word].values()) for word in ("blocked", "unsimulated"))
    n_left = (status["n_fits"] or 0) - n_settled - n_blocked
    if status["running"]:
        say("", f"A run is going on: {status['running']}", fg="green")
        if status["activity"]:
            print_activity(status["activity"])
        return
    if status["activity"]:
        say("", describe_end(status["activity"]), fg="yellow")
    if n_left > 0:
        # Equal fits are done once, and some may be from before the study was changed.
        say("", f"No run is going on; about {n_left} fits are left.")
        if tests and is_decided(tests[-1]):
            say("None of them is needed for what was decided, below.")
        else:
            say(f"Next: `outperform run STUDY.toml{_say_options(tests)}` goes on.")


def _say_options(tests: list[Attempt]) -> str:
    """Options by which a sequential test goes on: without them, all replicates are run."""
    if not tests:
        return ""
    rule = tests[-1]["rule"]
    usual = {"gamma": 0.75, "alpha": 0.05, "beta": 0.05}
    others = [f" --{name} {rule[name]:g}" for name, value in usual.items() if rule[name] != value]
    return f" --until-decided {shlex.join([rule['a'], rule['b']])}{''.join(others)}"


def _print_failures(failures: list[Measurement]) -> None:
    """Each kind of error once per pipeline, with how often it happened and an example."""
    kinds: dict[tuple[str, str], list[tuple[Measurement, str]]] = {}
    for failure in failures:
        kind, _, message = summarize_error(failure.error).partition(": ")
        kinds.setdefault((failure.pipeline, kind), []).append((failure, message))
    often_first = sorted(kinds.items(), key=lambda item: -len(item[1]))
    for (pipeline, kind), group in often_first[:_N_KINDS]:
        example, message = group[0]
        params = ", ".join(f"{name}={value}" for name, value in example.params.items())
        say("", f"{len(group)} × {pipeline}: {kind}", fg="red")
        said = f": {textwrap.shorten(message, _LONGEST)}" if message else ""
        say(f"  for example on {example.task} with {params or 'defaults'}{said}")
    if len(often_first) > _N_KINDS:
        say("", f"... and {len(often_first) - _N_KINDS} other errors: see --json")


def _print_failures_of_before(status: dict[str, Any]) -> None:
    if status["n_failed_before"]:
        say(
            "",
            f"{status['n_failed_before']} other failed fit(s) are kept: the study, as it was "
            "last run, did not ask for them",
        )
