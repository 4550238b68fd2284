"""The command `outperform status`."""

from typing import Any

import click

from outperform.cli.options import debug_option
from outperform.cli.output import print_json, print_table
from outperform.store import Measurement, SqliteStore

_N_KINDS = 10  # of errors shown


@click.command()
@click.argument("store_file", metavar="STORE")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@debug_option
def command(store_file: str, as_json: bool) -> None:
    """Show what is done and what has failed.

    \b
        outperform status study.db

    A run that is going on is not disturbed.
    """
    with SqliteStore(store_file) as store:
        status = _describe(store)
        failures = list(store.measurements("failed"))
    if as_json:
        errors = [{"key": m.key, "error": m.error} for m in failures]
        print_json({**status, "failures": errors})
        return
    _print_counts(status)
    _print_failures(failures)
    for where, n_runs in status["blocked"].items():
        click.secho(
            f"\n{n_runs} run(s) of {where} cannot be done: every trial of their search failed",
            fg="red",
        )
    if failures:
        click.echo("\nNext: mend the cause, then `outperform run STUDY.toml --retry-failed`.")


def _describe(store: SqliteStore) -> dict[str, Any]:
    study = store.get_meta("study") or {}
    counts = store.counts()
    pairs = sorted({(pipeline, task) for pipeline, task, _ in counts})
    return {
        "study": study.get("name", str(store.path)),
        "n_fits": study.get("n_fits"),
        "counts": [
            {
                "pipeline": pipeline,
                "task": task,
                "done": counts.get((pipeline, task, "done"), 0),
                "failed": counts.get((pipeline, task, "failed"), 0),
            }
            for pipeline, task in pairs
        ],
        "blocked": store.get_meta("blocked") or {},
    }


def _print_counts(status: dict[str, Any]) -> None:
    n_done, n_failed = (
        sum(count[word] for count in status["counts"]) for word in ("done", "failed")
    )
    n_fits = status["n_fits"]
    if n_fits is None:
        needed = ""
    elif n_done + n_failed > n_fits:
        needed = f"; the study needs {n_fits}, the others are from before it was changed"
    else:
        needed = f" of the {n_fits} that the study needs"
    click.secho(f"{status['study']}: {n_done} fits done, {n_failed} failed{needed}", bold=True)
    print_table(
        ["pipeline", "task", "done", "failed"],
        [
            [count["pipeline"], count["task"], str(count["done"]), str(count["failed"])]
            for count in status["counts"]
        ],
    )


def _print_failures(failures: list[Measurement]) -> None:
    """Each error once, with how often it happened and an example."""
    kinds: dict[str, list[Measurement]] = {}
    for failure in failures:
        last = (failure.error or "").strip().splitlines()[-1:] or ["unknown"]
        kinds.setdefault(last[0], []).append(failure)
    often_first = sorted(kinds.items(), key=lambda item: -len(item[1]))
    for message, group in often_first[:_N_KINDS]:
        example = group[0]
        params = ", ".join(f"{name}={value}" for name, value in example.params.items())
        click.secho(f"\n{len(group)} × {message}", fg="red")
        click.echo(
            f"  for example {example.pipeline} on {example.task} with {params or 'defaults'}"
        )
    if len(often_first) > _N_KINDS:
        click.echo(f"\n... and {len(often_first) - _N_KINDS} other errors: see --json")
