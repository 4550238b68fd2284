"""Which column of a table plays which part."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from outperform.errors import UnknownColumn
from outperform.runs.metrics import looks_like_score
from outperform.wording import enumerate_names, split_words, suggest_names

ALGORITHM = ("algorithm", "model", "method", "pipeline", "framework")
TASK = ("task", "dataset", "benchmark")
REPLICATE = ("replicate", "seed", "run", "fold", "split")
SCORE = ("score", "value", "result", "test")
VALIDATION = ("validation", "valid", "val", "valid_acc")
STATUS = (
    *("status", "state", "run_status", "run_state"),
    *("trial_status", "trial_state", "job_status", "job_state"),
)
METRIC = ("metric", "metric_name", "measure")  # whose rows name what they measure
# From the coarsest to the finest: a step may be counted anew in every epoch.
_STEPS = ("checkpoint", "ckpt", "epoch", "episode", "iteration", "iter", "it", "step", "timestep")
_STEP = re.compile(
    "(?:(?:env|environment|eval|global|gradient|optimizer|total|train|training)_?)?"
    f"({'|'.join(_STEPS)})s?(?:_(?:id|idx|index|no|num|number|total))?"
)
_TIME = ("time", "timestamp", "wall_time", "walltime", "elapsed", "datetime", "date")
_EXAMPLE = re.compile(
    "(example|question|instance|prompt|sample|sentence|item|query|document|image)"
    "(_(id|idx|index|no|num|number))?|qid"
)
_PART_OF_DATA = split_words("data_split partition phase split stage subset")
# What trackers put before the names they export.
_TRACKER = re.compile(r"(attributes|config|hparams|info|metrics|params|summary|user_attrs)[./_]")
_SETTING_OF = re.compile(r"(config|hparams|hyperparameters|params)[./_]")
_VALIDATION_OF = re.compile(r"(val|valid|validation|dev)[_ ./-]")
_TRAINING_OF = re.compile(r"(train|training)[_ ./-]")
_TEST_OF = re.compile(r"(eval|test)[_ ./-]")


@dataclass(frozen=True, slots=True)
class Wanted:
    """The columns a person named; None where left to be recognised."""

    algorithm: str | Sequence[str] | None = None
    task: str | Sequence[str] | None = None
    replicate: str | Sequence[str] | None = None
    metric: str | None = None
    validation: str | None = None


@dataclass(frozen=True, slots=True)
class Parts:
    """The columns that tell runs apart."""

    algorithm: tuple[str, ...]
    task: tuple[str, ...]
    replicate: tuple[str, ...]
    spare: tuple[str, ...]  # columns that might tell replicates apart, but are not used


def recognise(names: Sequence[str], known: Sequence[str]) -> list[str]:
    """Pick the columns with one of the known names, in the order of the known names.

    Where there is none, one that a tracker exported will do: `params.seed`, `config.model`.
    """
    words = {name: normalise(name) for name in names}
    exported = {name: without_tracker(name) for name in names}
    return _match(words, known) or _match(exported, known)


def _match(words: Mapping[str, str], known: Sequence[str]) -> list[str]:
    return [name for expected in known for name, word in words.items() if word == expected]


def normalise(name: str) -> str:
    """Leave out what people do not mean by a column's name: case and surrounding space."""
    return name.strip().casefold()


def without_tracker(name: str) -> str:
    """Leave out what a tracker puts before a column's name, as in `params.seed`."""
    plain = normalise(name)
    begin = _TRACKER.match(plain)
    return plain[begin.end() :] if begin else plain


def find_status(names: Sequence[str]) -> str | None:
    """Find the column that says whether a run finished: `State`, `attributes.status`."""
    leaves = {n: _leaf(without_tracker(n)) for n in names if not names_setting_of_tracker(n)}
    return next(iter(_match(leaves, STATUS)), None)


def names_step(name: str) -> bool:
    """Whether a column counts the steps of a training: `epoch`, `trainer/global_step`."""
    return _STEP.fullmatch(_leaf(name)) is not None and not names_setting_of_tracker(name)


def names_time(name: str) -> bool:
    """Whether a column says when something was measured."""
    return _leaf(name) in _TIME and not names_setting_of_tracker(name)


def names_example(name: str) -> bool:
    """Whether a column says which test example was answered."""
    return _EXAMPLE.fullmatch(_leaf(name)) is not None and not names_setting_of_tracker(name)


def names_part_of_data(name: str) -> bool:
    """Whether a column may say on which part of the data a score was measured."""
    return _leaf(name) in _PART_OF_DATA


def names_setting_of_tracker(name: str) -> bool:
    """Whether a tracker exported the column as a hyperparameter: `params.lr`, `config/lr`."""
    return _SETTING_OF.match(normalise(name)) is not None


def order_steps(names: Sequence[str]) -> list[str]:
    """Sort columns of steps, the coarsest first."""
    return sorted(names, key=lambda name: _STEPS.index(_STEP.sub(r"\1", _leaf(name))))


def _leaf(name: str) -> str:
    """Leave out the folders a tracker puts before a name, and its leading underscore."""
    return re.split(r"[/.]", normalise(name))[-1].lstrip("_").replace(" ", "_")


def find_column(name: str, names: Sequence[str], source: str) -> str:
    """Find the column a person named, in any case."""
    if name in names:
        return name
    for candidate in names:
        if normalise(candidate) == normalise(name):
            return candidate
    listed = [candidate for candidate in names if candidate]
    raise UnknownColumn(f"no column {name!r} in {source}", suggest_names(name, listed))


def find_columns(given: str | Sequence[str], names: Sequence[str], source: str) -> tuple[str, ...]:
    """Find one or several columns: `seed`, `seed,fold` or a sequence of names."""
    if not isinstance(given, str):
        return tuple(find_column(name, names, source) for name in given)
    if normalise(given) in map(normalise, names):
        return (find_column(given, names, source),)
    return tuple(find_column(name.strip(), names, source) for name in given.split(","))


def assign_parts(names: Sequence[str], wanted: Wanted, source: str) -> Parts:
    """Say which columns hold algorithm, task and replicate."""
    replicates = recognise(names, REPLICATE)
    if wanted.replicate is None:
        replicate = tuple(replicates[:1])
    else:
        replicate = find_columns(wanted.replicate, names, source)
    return Parts(
        algorithm=_one_of(names, ALGORITHM, wanted.algorithm, option="--algorithm", source=source),
        task=_one_of(names, TASK, wanted.task, option="--task", source=source),
        replicate=replicate,
        spare=tuple(name for name in replicates if name not in replicate),
    )


def _one_of(
    names: Sequence[str],
    known: Sequence[str],
    given: str | Sequence[str] | None,
    *,
    option: str,
    source: str,
) -> tuple[str, ...]:
    if given is not None:
        return find_columns(given, names, source)
    found = recognise(names, known)
    if len(found) > 1:
        # Taking one of them could pool what must be kept apart.
        raise UnknownColumn(
            f"columns {enumerate_names(found)} of {source} may all be the {known[0]}",
            f"Name the one that is with {option} {found[0]}, "
            f"or join them with {option} {','.join(found)}",
        )
    return tuple(found)


def find_score(
    names: Sequence[str],
    wanted: Wanted,
    source: str,
    *,
    texts: Sequence[str],
    may_be_wide: bool = False,
) -> str | None:
    """Find the column of scores, None if no column looks like one.

    Parameters
    ----------
    names
        The columns that may hold it.
    texts
        Those of them that begin with text, hence are scores only if no other is.
    may_be_wide
        Whether each column may be an algorithm.
    """
    if wanted.metric is not None:
        return find_column(wanted.metric, names, source)
    numeric = [name for name in names if name not in texts]
    for searched in (numeric, names):
        candidates = recognise(searched, SCORE) or [n for n in searched if looks_like_score(n)]
        if len(candidates) > 1:
            hint = ", or add --wide if each column is an algorithm" if may_be_wide else ""
            raise UnknownColumn(
                f"columns {enumerate_names(candidates)} of {source} may all be the score",
                f"Name the one that is with --metric {candidates[0]!r}{hint}",
            )
        if candidates:
            return candidates[0]
    return None


def find_validation(names: Sequence[str], score: str, *, texts: Sequence[str]) -> str | None:
    """Find the column of validation scores, None if there is none, or no telling which it is.

    Of several, the one that has the metric of the score: `val_acc` beside `test_acc`.
    """
    numeric = [name for name in names if name not in texts]
    known = recognise(numeric, VALIDATION)[:1]
    begun = [name for name in numeric if names_validation(name) and looks_like_score(name)]
    metric = _TEST_OF.sub("", without_tracker(score), count=1)
    alike = [n for n in begun if _VALIDATION_OF.sub("", without_tracker(n), count=1) == metric]
    found = known or alike or begun
    return found[0] if len(found) == 1 else None


def names_validation(name: str) -> bool:
    """Whether a column is of validation data by its name."""
    plain = without_tracker(name)
    return plain in VALIDATION or _VALIDATION_OF.match(plain) is not None


def names_other_data(name: str) -> bool:
    """Whether a column is of validation or training data, and so the score only if named."""
    return names_validation(name) or _TRAINING_OF.match(without_tracker(name)) is not None
