"""Study files: TOML text to a `Study`, refusing at once what makes no sense, with its line."""

import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from outperform.errors import InvalidInput, OutperformError
from outperform.runs.naming import enumerate_names, suggest_names
from outperform.study.command_pipeline import CommandPipeline
from outperform.study.estimators import make_estimator
from outperform.study.neural import NeuralPipeline
from outperform.study.pipelines import EstimatorPipeline, FunctionPipeline, Pipeline
from outperform.study.spaces import make_space
from outperform.study.splits import make_splitter
from outperform.study.study import Study
from outperform.study.tasks import Task, make_task

_TOP = ("name", "seed", "tuning", "limits", "task", "pipeline", "estimator")
_TUNING = {"tuner": "tuner", "trials": "n_trials"}
_LIMITS = {"timeout": "timeout", "retries": "retries"}
_TASK = ("name", "data", "metric", "goal", "split")
_KINDS = ("estimator", "function", "command", "neural")
_PIPELINE = ("name", *_KINDS, "fixed", "space", "sources", "epochs", "batch_size")

T = TypeVar("T")


def parse_study(text: str, *, folder: Path) -> Study:
    """Study from the text of a study file.

    Parameters
    ----------
    folder
        Where the file lies: data and commands are looked for from there.

    Examples
    --------
    >>> text = '''
    ... [[task]]
    ... data = "digits"
    ... metric = "accuracy"
    ... [[pipeline]]
    ... estimator = "sklearn.naive_bayes.GaussianNB"
    ... [[estimator]]
    ... kind = "ideal"
    ... replicates = 10
    ... '''
    >>> parse_study(text, folder=Path("."))
    ... # doctest: +ELLIPSIS
    Study(pipelines=(EstimatorPipeline(name='GaussianNB', ...
    """
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"the study file is not TOML: {error}", "Mend that line") from None
    _check_words(document, _TOP, text, "the study")
    tasks = tuple(
        _build(text, "task", i, table, lambda table: _make_task(table, folder))
        for i, table in enumerate(_tables(document, "task", text))
    )
    metric = _common_metric(tasks)
    return Study(
        pipelines=tuple(
            _build(text, "pipeline", i, table, lambda table: _make_pipeline(table, metric, folder))
            for i, table in enumerate(_tables(document, "pipeline", text))
        ),
        tasks=tasks,
        estimators=tuple(
            _build(text, "estimator", i, table, make_estimator)
            for i, table in enumerate(_tables(document, "estimator", text))
        ),
        **{key: document[key] for key in ("name", "seed") if key in document},
        **_rename(document.get("tuning", {}), _TUNING, text, "tuning"),
        **_rename(document.get("limits", {}), _LIMITS, text, "limits"),
    )


def _make_task(table: Mapping[str, Any], folder: Path) -> Task:
    if "metric" not in table:
        raise InvalidInput("the task has no metric", 'Add metric = "accuracy", or another')
    data = table.get("data")
    if isinstance(data, Mapping) and "path" in data:
        data = {**data, "path": folder / data["path"]}
    elif isinstance(data, str) and Path(data).suffix in (".csv", ".npz"):
        data = folder / data
    name = table.get("name") or (data if isinstance(data, str) else "task")
    splitter = make_splitter(table["split"]) if "split" in table else None
    return make_task(
        name, metric=table["metric"], goal=table.get("goal"), data=data, splitter=splitter
    )


def _make_pipeline(table: Mapping[str, Any], metric: str, folder: Path) -> Pipeline:
    kinds = [kind for kind in _KINDS if kind in table]
    if len(kinds) != 1:
        raise InvalidInput(
            f"the pipeline has {enumerate_names(kinds) or 'nothing'} to train",
            f"Give it one of {enumerate_names(_KINDS)}",
        )
    what = table[kinds[0]]
    if what is False:
        raise InvalidInput(
            f"the pipeline has {kinds[0]} = false, and nothing to train", "Remove it"
        )
    name = table.get("name") or _default_name(kinds[0], what)
    options: dict[str, Any] = {"name": name}
    if "space" in table:
        options["space"] = make_space(table["space"])
    if "sources" in table:
        options["sources"] = _as_names("sources", table["sources"])
    match kinds[0]:
        case "estimator":
            fixed = table.get("fixed", {})
            return EstimatorPipeline(estimator=what, metric=metric, fixed=fixed, **options)
        case "function":
            return FunctionPipeline(function=what, **options)
        case "command":
            return CommandPipeline(template=what, home=str(folder.absolute()), **options)
        case _:
            extra = {"epochs": "n_epochs", "batch_size": "batch_size"}
            options |= {name: table[word] for word, name in extra.items() if word in table}
            return NeuralPipeline(**options)


def _as_names(word: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise InvalidInput(f"{word} is {value!r}", f'Write a list of names: {word} = ["init"]')
    return tuple(value)


def _default_name(kind: str, what: Any) -> str:
    if kind == "neural":
        return "neural"
    last = what[-1] if kind == "estimator" and isinstance(what, list) else what
    return str(last).rpartition(".")[2].rpartition(":")[2].split()[0]


def _common_metric(tasks: tuple[Task, ...]) -> str:
    metrics = sorted({task.metric for task in tasks})
    if len(metrics) > 1:
        raise InvalidInput(
            f"the tasks have different metrics ({enumerate_names(metrics)})",
            "Make a study per metric: scores of different metrics cannot be compared",
        )
    return metrics[0] if metrics else "accuracy"


def _tables(document: Mapping[str, Any], word: str, text: str) -> list[dict[str, Any]]:
    tables = document.get(word, [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise InvalidInput(
            f"{word} is no list of tables{_at_line(text, word)}", f"Begin each with [[{word}]]"
        )
    return tables


def _build(
    text: str, word: str, index: int, table: dict[str, Any], make: Callable[[dict[str, Any]], T]
) -> T:
    """Make one thing of a table; what is wrong with it is said with its line."""
    words = {"task": _TASK, "pipeline": _PIPELINE}.get(word)
    start = _header_lines(text, word)[index] if _header_lines(text, word) else 1
    if words is not None:
        _check_words(table, words, text, f"{word} {index + 1}", start)
    try:
        return make(table)
    except OutperformError as error:
        raise InvalidInput(f"{error.problem} (line {start}: [[{word}]])", error.remedy) from None
    except (AttributeError, TypeError, ValueError) as error:
        raise InvalidInput(
            f"a value has the wrong kind: {error} (line {start}: [[{word}]])",
            "Compare it with the study file that `outperform init` writes",
        ) from error


def _rename(
    table: Mapping[str, Any], words: Mapping[str, str], text: str, where: str
) -> dict[str, Any]:
    if not isinstance(table, Mapping):
        raise InvalidInput(
            f"{where} is {table!r}, not a table{_at_line(text, where)}", f"Begin it with [{where}]"
        )
    _check_words(table, tuple(words), text, where)
    return {words[word]: value for word, value in table.items()}


def _check_words(
    table: Mapping[str, Any], known: tuple[str, ...], text: str, where: str, start: int = 1
) -> None:
    for word in table:
        if word not in known:
            raise InvalidInput(
                f"{where} has an unknown word {word!r}{_at_line(text, word, start)}",
                suggest_names(word, known),
            )


def _at_line(text: str, word: str, start: int = 1) -> str:
    """Where a word stands, from a line on."""
    pattern = re.compile(rf"^\s*(\[+\s*)?([\w.]+\.)?[\"']?{re.escape(word)}[\"']?\s*(=|\]|\.)")
    for number, line in enumerate(text.splitlines(), start=1):
        if number >= start and pattern.match(line):
            return f" (line {number})"
    return ""


def _header_lines(text: str, word: str) -> list[int]:
    lines = enumerate(text.splitlines(), start=1)
    return [number for number, line in lines if re.match(rf"\s*\[\[\s*{word}\s*\]\]", line)]
