"""Study files: TOML text to a `Study`, refusing at once what makes no sense, with its line."""

import math
import shlex
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from stat import S_ISREG
from typing import Any, NamedTuple, TypeVar

from outperform.errors import InvalidInput, OutperformError
from outperform.study.command_pipeline import CommandPipeline
from outperform.study.datasets import Dataset, check_header
from outperform.study.designs import make_design
from outperform.study.estimator_pipeline import EstimatorPipeline
from outperform.study.import_paths import check_not_hidden, search_last
from outperform.study.pipelines import FunctionPipeline, Pipeline
from outperform.study.spaces import make_space
from outperform.study.splits import OutOfBootstrap, make_splitter
from outperform.study.study import Study
from outperform.study.study_file_entries import (
    Kind,
    check_kind,
    check_words,
    entry,
    find_line,
)
from outperform.study.tasks import TableData, Task, make_data
from outperform.wording import enumerate_names

_TOP: dict[str, Kind] = {
    "name": str,
    "seed": int,
    "tuning": dict,
    "limits": dict,
    **dict.fromkeys(("engine", "task", "pipeline", "design")),
}
_SETTINGS: dict[str, dict[str, Kind]] = {
    "tuning": {"tuner": str, "trials": int},
    "limits": {"timeout": float, "retries": int},
}
_TASK: dict[str, Kind] = {
    "name": str,
    "data": (str, dict),
    "metric": str,
    "goal": str,
    "split": (str, dict),
}
# Words of every pipeline, and those of each kind; the first one says what to train.
_PIPELINE: dict[str, Kind] = {"name": str, "space": dict}
_SHARED: dict[str, Kind] = {"sources": list, "resources": dict}
_KINDS: dict[str, dict[str, Kind]] = {
    "estimator": {"estimator": (str, list), "fixed": dict, **_SHARED},
    "function": {"function": str, **_SHARED},
    "command": {"command": (str, list), **_SHARED},
}
_ANY_PIPELINE: dict[str, Kind] = _PIPELINE | {
    word: kind for words in _KINDS.values() for word, kind in words.items()
}
_ENGINE: dict[str, Kind] = {"address": str, "spool": str, "patience": float, "options": dict}
_MENDING = {  # by what tomllib says
    "Invalid value": 'Mend that line: texts stand in quotes, as in name = "svm"',
    "Cannot declare": "Begin each task, pipeline and design with [[...]], as in [[pipeline]]",
    "line": "Mend that line",
}
_HOLD_RUNS = (".csv", ".db", ".jsonl", ".parquet", ".tsv")  # endings of files and stores
_LARGEST = 16 * 2**20  # bytes, so that no file fills the memory

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class EngineTable:
    """Where the fits of a study run, as its file says; nothing of it is ever recorded."""

    # Neither is shown: they may hold credentials.
    address: str | None = field(default=None, repr=False)  # None: the file does not say
    options: Mapping[str, Any] = field(default_factory=dict, repr=False)  # go to it untouched
    spool: Path | None = None  # folder that workers write their results to before returning them
    patience: float | None = None  # seconds that workers go on without their coordinator


class StudyFile(NamedTuple):
    """What a study file says: what to run, and where."""

    study: Study
    engine: EngineTable


def read_study(path: str | Path) -> Study:
    """Study of a study file; modules that lie beside it can be imported, as beside a script."""
    return read_study_file(path).study


def read_study_file(path: str | Path) -> StudyFile:
    """Study of a study file, as `read_study` gives it, and where its fits run."""
    file = Path(path)
    if file.suffix.lower() in _HOLD_RUNS:
        raise InvalidInput(
            f"{file} is no study file, but holds runs by its name",
            f"Pass the study file, such as {file.stem}.toml; `outperform compare` takes runs",
        )
    text = _read_text(file)
    search_last(file.parent)
    return parse_study_file(text, folder=file.parent)


def _read_text(file: Path) -> str:
    try:
        about = file.stat()
        if S_ISREG(about.st_mode) and about.st_size <= _LARGEST:
            return file.read_text(encoding="utf-8")
        is_large = S_ISREG(about.st_mode)
        reason = f"it is larger than {_LARGEST >> 20} MiB" if is_large else "it is no regular file"
    except OSError as error:
        reason = error.strerror or str(error)
    except UnicodeDecodeError:
        reason = "it is not UTF-8 text"
    raise InvalidInput(
        f"cannot read {file}: {reason}", "Write a study file first: `outperform init`"
    )


def parse_study_file(text: str, *, folder: Path) -> StudyFile:
    """What the text of a study file says; data and commands are looked for from its folder."""
    document = _parse_toml(text)
    try:
        return _make_all(document, folder)
    except OutperformError as error:
        line = find_line(text, error.where)
        if line is None:
            raise
        raise type(error)(f"{error.problem} (line {line})", error.remedy) from error


def _parse_toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise InvalidInput(
            "the study file has lists or tables in one another, too deep to be read",
            "Write it as `outperform init` does, which needs two levels",
        ) from None
    except tomllib.TOMLDecodeError as error:
        remedy = next((each for said, each in _MENDING.items() if said in str(error)), "Mend it")
        raise InvalidInput(f"the study file is not TOML: {error}", remedy) from None
    except ValueError:  # Python refuses to read it
        raise InvalidInput(
            "the study file has a number of thousands of digits", "Write one that is meant"
        ) from None


def _make_all(document: Mapping[str, Any], folder: Path) -> StudyFile:
    if "estimator" in document:  # as it was called before
        header = "[[estimator]]" if isinstance(document["estimator"], list) else "[estimator]"
        raise InvalidInput(
            f"the study has an {header}, which is called [[design]] now",
            "Write [[design]] instead; `estimator` in a pipeline is scikit-learn's",
            where=("estimator",),
        )
    check_words(document, _TOP, of="the study")
    settings = {key: document[key] for key in ("name", "seed") if key in document}
    for word, kinds in _SETTINGS.items():
        with entry(word):
            check_words(document.get(word, {}), kinds, of=word)
        settings |= document.get(word, {})
    engine = _make_engine(document, folder)
    tasks = _build_all(document, "task", partial(_make_task, folder=folder))
    pipelines = _build_all(document, "pipeline", partial(_make_pipeline, folder=folder))
    designs = _build_all(document, "design", make_design)
    return StudyFile(Study(pipelines, tasks, designs, **settings), engine)


def _build_all(
    document: Mapping[str, Any], word: str, make: Callable[[dict[str, Any]], T]
) -> tuple[T, ...]:
    """One thing of each of the tables that begin with [[word]]."""
    tables = document.get(word, [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise InvalidInput(
            f"{word} is no list of tables", f"Begin each with [[{word}]]", where=(word,)
        )
    made = []
    for place, table in enumerate(tables):
        with entry(word, place):
            try:
                made.append(make(table))
            except OutperformError:
                raise
            except (AttributeError, TypeError, ValueError) as error:
                raise InvalidInput(
                    f"a value has the wrong kind: {error}",
                    "Compare it with the study file that `outperform init` writes",
                ) from error
    return tuple(made)


def _make_task(table: Mapping[str, Any], folder: Path) -> Task:
    check_words(table, _TASK, of="the task")
    if "metric" not in table:
        raise InvalidInput("the task has no metric", 'Add metric = "accuracy", or another')
    data, name = None, "task"
    if "data" in table:
        with entry("data"):
            data, name = _make_data(table["data"], folder)
    with entry("split"):
        splitter = make_splitter(table["split"]) if "split" in table else OutOfBootstrap()
    about = {word: table[word] for word in ("metric", "goal") if word in table}
    return Task(table.get("name") or name, **about, data=data, splitter=splitter)


def _make_data(data: Any, folder: Path) -> tuple[Callable[[], Dataset], str]:
    """What loads the data, files being looked for from the study's folder, and a name for it."""
    path = data.get("path", "") if isinstance(data, dict) else data
    is_file = Path(str(path)).suffix.casefold() in (".csv", ".npz")
    if isinstance(data, dict) and "path" in data:
        check_kind("path", path, str)
        data = {**data, "path": folder / path}
    elif is_file:
        data = folder / data
    elif ":" in data:
        check_not_hidden(data, folder)
    made = make_data(data)
    if isinstance(made, TableData):
        check_header(made.path, label=made.label, group=made.group)
    return made, Path(path).stem if is_file else path


def _make_engine(document: Mapping[str, Any], folder: Path) -> EngineTable:
    """Table [engine] of a study file, empty where it has none; its spool lies in the folder."""
    table = document.get("engine", {})
    if not isinstance(table, dict):
        remedy = 'Write [engine], and address = "local:4" below'
        raise InvalidInput("engine is no table", remedy, where=("engine",))
    if not isinstance(table.get("options", {}), dict):  # it may hold a password: do not show it
        remedy = "Write [engine.options], and what goes to the engine below"
        raise InvalidInput("options is no table", remedy, where=("engine", "options"))
    with entry("engine"):
        check_words(table, _ENGINE, of="the engine")
    patience = table.get("patience")
    if patience is not None and not 0 <= patience < math.inf:
        remedy = "Give seconds, 0 or more"
        raise InvalidInput(f"patience is {patience}", remedy, where=("engine", "patience"))
    spool = folder / table["spool"] if "spool" in table else None
    return EngineTable(table.get("address"), table.get("options", {}), spool, patience)


def _make_pipeline(table: Mapping[str, Any], folder: Path) -> Pipeline:
    kind = _find_trained(table)
    what = table[kind]
    for place, path in enumerate(what if isinstance(what, list) else [what]):
        if kind != "command":
            with entry(kind, place):
                check_not_hidden(path, folder)
    options: dict[str, Any] = {"name": table.get("name") or _name_pipeline(kind, what)}
    if "space" in table:
        with entry("space"):
            options["space"] = make_space(table["space"])
    if "sources" in table:
        options["sources"] = tuple(table["sources"])
    options["resources"] = table.get("resources", {})
    if kind == "estimator":
        return EstimatorPipeline(estimator=what, fixed=table.get("fixed", {}), **options)
    if kind == "function":
        return FunctionPipeline(function=what, **options)
    return CommandPipeline(template=what, folder=str(folder.absolute()), **options)


def _find_trained(table: Mapping[str, Any]) -> str:
    """What a pipeline trains, refusing words of other kinds of pipelines."""
    kinds = [kind for kind in _KINDS if kind in table]
    if len(kinds) != 1:
        check_words(table, _ANY_PIPELINE, of="the pipeline")
        raise InvalidInput(
            f"the pipeline has {enumerate_names(kinds) or 'nothing'} to train",
            f"Give it one of {enumerate_names(_KINDS)}",
        )
    for word in table:
        owners = [kind for kind, words in _KINDS.items() if word in words]
        if owners and kinds[0] not in owners:
            raise InvalidInput(
                f"{word} is for pipelines with {enumerate_names(owners)}, and this one has "
                f"{kinds[0]}",
                "Remove it",
                where=(word,),
            )
    check_words(table, _PIPELINE | _KINDS[kinds[0]], of="the pipeline")
    return kinds[0]


def _name_pipeline(kind: str, what: Any) -> str:
    """Name of a pipeline that is given none: that of the class, function or script."""
    if kind == "command":
        words = shlex.split(what) if isinstance(what, str) else what
        scripts = [word for word in words[1:] if Path(word).suffix and "{" not in word]
        return Path((scripts or words)[0]).stem
    last = what[-1] if isinstance(what, list) else what
    return str(last).rpartition(".")[2].rpartition(":")[2]
