"""How a measurement becomes a row of text and numbers, and comes back the same."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from outperform.errors import InvalidInput
from outperform.store.measurement import Measurement

COLUMNS = {
    "key": "TEXT NOT NULL",
    "pipeline": "TEXT NOT NULL",
    "task": "TEXT NOT NULL",
    "params": "TEXT NOT NULL",
    "seeds": "TEXT NOT NULL",
    "fold": "INTEGER NOT NULL",
    "refit": "INTEGER NOT NULL",
    "status": "TEXT NOT NULL CHECK (status IN ('done', 'failed'))",
    "scores": "TEXT NOT NULL",
    "seconds": "REAL NOT NULL",
    "error": "TEXT",
    "started": "REAL NOT NULL",
    "versions": "TEXT NOT NULL",
}
_PARAMS, _SEEDS, _SCORES, _VERSIONS = (
    list(COLUMNS).index(name) for name in ("params", "seeds", "scores", "versions")
)


def encode_row(new: Measurement) -> tuple[Any, ...]:
    """Values of the columns, in their order."""
    return (
        new.key,
        new.pipeline,
        new.task,
        encode_json(new.params),
        encode_json(new.seeds),
        int(new.fold),
        int(new.refit),
        new.status,
        encode_json({name: float(score) for name, score in new.scores.items()}),
        float(new.seconds),
        None if new.error is None else _storable(new.error),
        float(new.started),
        encode_json(new.versions),
    )


def decode_rows(rows: Sequence[tuple[Any, ...]]) -> Iterator[Measurement]:
    """Measurements from values of the columns, in their order."""
    objects = [decode_json([row[i] for row in rows]) for i in (_PARAMS, _SEEDS, _SCORES, _VERSIONS)]
    for row, params, seeds, scores, versions in zip(rows, *objects, strict=True):
        key, pipeline, task, _, _, fold, refit, status, _, seconds, error, started, _ = row
        yield Measurement(
            key, pipeline, task, params, seeds, fold, bool(refit), status, scores, seconds, error,
            started, versions,
        )  # fmt: skip


def encode_json(value: Any) -> str:
    """Text of something JSON can hold; numbers of numpy become those of Python."""
    try:
        return json.dumps(value, allow_nan=False, separators=(",", ":"), default=_plain_number)
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"cannot store {value!r}: {error}",
            "Use finite numbers, text, true and false, and lists and tables of them",
        ) from None


def decode_json(texts: Sequence[str]) -> list[Any]:
    """Objects from their texts, in one pass, which is several times faster than one by one."""
    decoded: list[Any] = json.loads(f"[{','.join(texts)}]")
    return decoded


def _plain_number(value: Any) -> Any:
    if hasattr(value, "item"):
        return value.item()
    raise TypeError(f"{type(value).__name__} is not JSON")


def _storable(text: str) -> str:
    # Lone surrogates, from undecodable bytes in a file name, are no text to SQLite.
    return text.encode(errors="backslashreplace").decode()
