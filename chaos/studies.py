"""The studies that are harmed, and what a quiet run of them gives."""

import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

_PIPELINES = """
[[task]]
name = "toy"
metric = "accuracy"
[[pipeline]]
name = "a"
function = "training:fit_a"
space = {c = {uniform = [0, 1]}}
sources = ["init", "order"]
[[pipeline]]
name = "b"
function = "training:fit_b"
space = {c = {uniform = [0, 1]}}
sources = ["init", "order"]
"""
# Failures would lead a search elsewhere, so fits of searches are tried again at once.
SEARCHES = f"""
[limits]
timeout = 4
retries = 3
[tuning]
tuner = "gp-ei"
trials = 4
{_PIPELINES}
[[design]]
kind = "ideal"
replicates = 24
"""
# Here they are recorded, and tried again by --retry-failed.
CROSSED = f"""
[limits]
timeout = 4
{_PIPELINES}
[[design]]
kind = "crossed"
sources = ["init", "order"]
levels = 14
"""
STUDIES = {"searches": SEARCHES, "crossed": CROSSED}
COLUMNS = "key, pipeline, task, params, seeds, fold, refit, status, scores"


@dataclass(frozen=True, slots=True)
class Table:
    """What a store holds, but for what differs between any two runs: timings.

    Attributes
    ----------
    fits
        Rows of measurements by key, scores as the text that is stored.
    runs
        Which fits are runs of what.
    n_rows
        Of fits, as they lie in the file.
    """

    fits: dict[str, tuple[Any, ...]]
    runs: set[tuple[Any, ...]]
    n_rows: int


def write_study(folder: Path, name: str) -> None:
    """Write a study file and its training beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "study.toml").write_text(STUDIES[name])
    shutil.copy(Path(__file__).with_name("training.py"), folder / "training.py")


def read_table(store: Path) -> Table:
    """All that must not differ between runs, read with nothing of outperform."""
    with closing(_connect(store)) as connection:
        rows = connection.execute(f"SELECT {COLUMNS} FROM measurements").fetchall()
        runs = connection.execute(
            "SELECT design, source, replicate, pipeline, task, key FROM run_labels"
        ).fetchall()
    return Table({row[0]: row for row in rows}, set(runs), len(rows))


def read_recorded(store: Path) -> dict[str, tuple[float, str]]:
    """When each fit that succeeded was done, and what it was called in `begun`, by key."""
    if not store.exists():
        return {}
    query = "SELECT key, started, pipeline, params, seeds, refit FROM measurements"
    try:
        with closing(_connect(store)) as connection:
            rows = connection.execute(f"{query} WHERE status = 'done'").fetchall()
    except sqlite3.OperationalError:  # it is about to be made, or out of reach
        return {}
    return {key: (started, _name(*what)) for key, started, *what in rows}


def read_begun(folder: Path, after: int = 0) -> Iterator[str]:
    """Names of the fits that were begun, from a position in the file on."""
    begun = folder / "begun"
    if begun.exists():
        with begun.open() as file:
            file.seek(after)
            yield from (line.rstrip("\n") for line in file)


def _name(pipeline: str, params: str, seeds: str, refit: int) -> str:
    kept = {source: seed for source, seed in json.loads(seeds).items() if source in _SOURCES}
    return json.dumps([pipeline, json.loads(params), kept, bool(refit)], sort_keys=True)


_SOURCES = ("init", "order")


def _connect(store: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{quote(str(store))}?mode=ro", uri=True, timeout=10)
