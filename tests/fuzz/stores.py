"""Stores: damaged by chance or by hand. What they answer is what the sound store answers."""

import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from hypothesis import strategies as st

from outperform import Study, compare_runs, read_runs, run
from outperform.study.designs import Crossed, FixHopt, Ideal, Variance
from outperform.study.pipelines import FunctionPipeline
from outperform.study.spaces import Uniform
from outperform.study.tasks import Task
from tests.fuzz.harness import Escape, Target, call
from tests.fuzz.nasty import NAMES, damage

COLUMNS = {
    "measurements": (
        *("id", "key", "pipeline", "task", "params", "seeds", "fold", "refit", "status", "scores"),
        *("seconds", "error", "started", "versions", "score_checksum", "checksum"),
    ),
    "run_labels": ("design", "source", "replicate", "pipeline", "task", "key", "checksum"),
    "meta": ("name", "value", "checksum"),
}
VALUES = (
    *("NULL", "0", "1", "-1", "0.5", "9e999", "-9e999", "9223372036854775807", "''", "'a'", "'b'"),
    *("'done'", "'failed'", "'{}'", "'[]'", "'null'", "'{\"test\":1.0}'", "'{\"test\":NaN}'"),
    *("'{\"test\":1e999}'", "zeroblob(9)", "x'ff00'", "'ideal'", "'[[[['"),
    *("hex(randomblob(9))", "replace(value, '6', '7')", "replace(scores, '0', '1')", "key || 'x'"),
    *(
        "replace(value, 'maximize', 'minimize')",
        "replace(value, 'accuracy', 'loss')",
        "replicate+1",
    ),
)
STATEMENTS = (
    "CREATE TRIGGER t AFTER INSERT ON measurements BEGIN DELETE FROM measurements; END",
    "CREATE VIEW v AS SELECT 1",
    "CREATE TABLE more (x)",
    "CREATE INDEX i ON measurements (scores)",
    "ALTER TABLE measurements RENAME TO fits",
    "ALTER TABLE meta RENAME TO measurement",
    "ALTER TABLE measurements RENAME COLUMN scores TO points",
    "ALTER TABLE run_labels ADD COLUMN more TEXT",
    "DROP TABLE meta",
    "DROP TABLE run_labels",
    "DROP INDEX progress",
    "VACUUM",
    "REINDEX",
    "ANALYZE",
    "PRAGMA journal_mode = WAL",
    "PRAGMA journal_mode = DELETE",
    "PRAGMA user_version = 1",
    "PRAGMA user_version = 2",
    "PRAGMA user_version = 4",
    "PRAGMA user_version = -5",
    "PRAGMA application_id = 7",
    "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = 3",
    "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'TEXT', 'REAL')",
    "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'CREATE'",
    "UPDATE meta SET value = (SELECT scores FROM measurements), name = 'stopped'",
    "INSERT INTO measurements SELECT NULL, key || 'x', pipeline, task, params, seeds, fold, refit, "
    "status, scores, seconds, error, started, versions, score_checksum, checksum FROM measurements",
    "INSERT INTO run_labels SELECT design, source, replicate + 90, pipeline, task, key, checksum "
    "FROM run_labels",
)


class DamagedFile(NamedTuple):
    question: str
    statements: tuple[str, ...]
    content: bytes  # before the statements


def fit(params: dict[str, Any], split: Any, seeds: dict[str, int]) -> dict[str, float]:
    spread = seeds["init"] % 97 / 1000 + seeds["order"] % 89 / 2000
    return {"valid": params["rate"], "test": 0.6 + params["rate"] / 10 + spread}


def worse(params: dict[str, Any], split: Any, seeds: dict[str, int]) -> dict[str, float]:
    return {"valid": params["rate"], "test": fit(params, split, seeds)["test"] - 0.04}


@cache
def make_store() -> bytes:
    """A sound store: every design, two pipelines, about a hundred fits."""
    space = {"rate": Uniform(0.0, 1.0, default=0.5)}
    pipelines = tuple(
        FunctionPipeline(name, function, space, ("init", "order"))
        for name, function in (("a", fit), ("b", worse))
    )
    study = Study(
        pipelines,
        (Task("t", metric="accuracy"),),
        (Ideal(7), FixHopt(2, (), 3), Variance(3), Crossed(2)),
        trials=2,
        name="fuzzed",
    )
    with TemporaryDirectory() as folder:
        run(study, Path(folder) / "study.db", engine="inline")
        with closing(sqlite3.connect(Path(folder) / "study.db")) as connection:
            connection.execute("PRAGMA journal_mode = DELETE")
        return (Path(folder) / "study.db").read_bytes()


def _read(path: str) -> str:
    return str(compare_runs(read_runs(path), "a", "b").to_dict())


def _call(*words: str) -> Callable[[str], str | None]:
    def ask(path: str) -> str | None:
        done = call([words[0], path, *words[1:], "--json"])
        return None if done.exit_code == 2 else done.stdout

    return ask


QUESTIONS: dict[str, Callable[[str], str | None]] = {
    "status": _call("status"),
    "verify": _call("verify"),
    "compare": _call("compare", "a", "b"),
    "decompose": _call("decompose"),
    "quality": _call("quality"),
    "read_runs": _read,
}


# These count what is there, and tell of fewer fits where rows were taken out by hand.
COUNTS = ("status", "verify")


@cache
def answer_soundly(question: str, path: Path) -> str | None:
    path.write_bytes(make_store())
    return QUESTIONS[question](str(path))


@st.composite
def damaged_stores(draw: st.DrawFn) -> DamagedFile:
    content, statements = make_store(), []
    if draw(st.booleans()):
        content = draw(damage(content))
    for _ in range(draw(st.integers(0, 2))):
        table = draw(st.sampled_from([*COLUMNS]))
        columns = COLUMNS[table]
        column, other = draw(st.sampled_from(columns)), draw(st.sampled_from(columns))
        value = draw(st.sampled_from(VALUES) | st.sampled_from(NAMES).map(_quote) | st.just(other))
        some = f" WHERE {columns[0]} > (SELECT min({columns[0]}) FROM {table})"
        which = draw(st.sampled_from(["", some]))
        update = f"UPDATE OR REPLACE {table} SET {column} = {value}{which}"
        statements.append(draw(st.just(update) | st.sampled_from(STATEMENTS)))
    return DamagedFile(draw(st.sampled_from([*QUESTIONS])), tuple(statements), content)


def _quote(text: str) -> str:
    return "'" + text.replace("'", "''").replace("\x00", "").replace("\ud800", "") + "'"


def attempt(case: DamagedFile, folder: Path) -> bool:
    path = folder / "study.db"
    for old in folder.glob("study.db*"):
        old.unlink()
    sound = answer_soundly(case.question, path)
    path.write_bytes(case.content)
    _change(path, case.statements)
    answer = QUESTIONS[case.question](str(path))
    is_other = answer is not None and answer != sound and case.question not in COUNTS
    if is_other and case.content:
        raise Escape(f"{case.question} silently gave another answer")
    return answer is not None


def _change(path: Path, statements: tuple[str, ...]) -> None:
    # Statements that fail, as on a file that is damaged already, change nothing.
    with suppress(sqlite3.Error, Warning), closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            with suppress(sqlite3.Error):
                connection.executescript(statement)
                connection.commit()


TARGET = Target("stores", damaged_stores(), attempt)
