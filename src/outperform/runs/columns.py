"""Which column of a table is what, by its name."""

import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from typing import Literal, NamedTuple, TypeAlias

from outperform.errors import UnknownColumn
from outperform.runs.metrics import Goal, looks_like_score
from outperform.runs.source_table import SourceTable
from outperform.runs.suspicions import Doubt
from outperform.wording import enumerate_names, split_words, suggest_names

ALGORITHM = ("algorithm", "model", "method", "pipeline", "framework")
MEAN = ("mean", "average", "score")  # of published tables
SD = ("sd", "std", "stdev", "standard deviation")
TASK = ("task", "dataset", "benchmark")
REPLICATE = ("replicate", "seed", "run", "fold", "split")
SCORE = ("score", "value", "result", "test")
VALIDATION = ("validation", "valid", "val", "valid_acc")
STATUS = (
    *("status", "state", "run_status", "run_state"),
    *("trial_status", "trial_state", "job_status", "job_state"),
)
# Whose rows are true or false: what did not finish, and what did.
FAILED = split_words(
    "aborted canceled cancelled crashed diverged failed killed oom pruned timed_out unfinished"
)
FINISHED = split_words("completed finished succeeded")
EXIT_CODE = split_words("exit_code exitcode exit_status return_code returncode")
_STATUSES = FAILED | FINISHED | EXIT_CODE | {*STATUS}
METRIC = ("metric", "metric_name", "measure")  # whose rows name what they measure
DIRECTION = ("goal", "direction")  # whose rows say which way that is better
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
_PART_OF_DATA = split_words(
    "data_split eval_on eval_set eval_split evaluated_on partition phase set split stage subset"
)
_SETTINGS = split_words(
    """
    activation alpha batch batch_size batchsize beta c clip criterion decay depth dim dropout
    dropout_rate embedding_size eps epsilon eta gamma hidden hidden_dim hidden_size hidden_units
    kernel l1 l2 label_smoothing lambda layers learning_rate loss_function lr max_depth
    max_features min_samples_leaf momentum n_estimators n_heads n_layers n_neighbors num_heads
    num_layers num_leaves optimiser optimizer patience reg reg_lambda regularization scheduler
    subsample temperature warmup warmup_steps wd weight_decay width
    """
)
_DRAWN = frozenset({"fold", "seed", "split"})
# Last words of what a tracker exports beside hyperparameters.
_NO_SETTING = split_words(
    """
    algorithm benchmark commit cuda dataset date device dir directory file folder framework gpu
    host hostname id index job log method model name node path pipeline port rank replicate run
    state status task time timestamp trial uuid version
    """
)
# What trackers put before the names they export.
_TRACKER = re.compile(r"(attributes|config|hparams|info|metrics|params|summary|user_attrs)[./_]")
_SETTING_OF = re.compile(r"(config|hparams|hyperparameters|params)[./_]")
# On which data a score is, before or behind its metric: `val_acc`, `best_val_acc`, `acc_train`.
_OF_SEVERAL = "(?:(?:average|avg|best|final|last|max|mean|min|peak)[_ ./-])?"
_VALIDATION_OF = re.compile(
    r"(val|valid|validation|dev)[_ ./-]|"
    rf"{_OF_SEVERAL}(val|valid|validation|dev)[_ ./-](?!.*test)|"
    r"(?!.*test).*(?<!at)(?<!best)(?<!by)(?<!standard)(?<!std)[_ ./-]\(?(val|valid|validation|dev)"
    r"\)?$"
)
_TRAINING_OF = re.compile(
    rf"{_OF_SEVERAL}(train|training)[_ ./-]|"
    r".*(?<!after)(?<!before)(?<!\bn)(?<!\bnum)[_ ./-]\(?train\)?$"
)
_BEST = re.compile(r"(?<![a-z])(best|peak)(?![a-z])")
_DATA = re.compile(
    rf"^{_OF_SEVERAL}(dev|eval|test|val|valid|validation)[_ ./-]|"
    r"[_ ./-]\(?(dev|eval|test|val|valid|validation)\)?$"
)
_EXAMPLES = "data|examples|images|instances|items|points|rows|samples|set|size"
_TEST_DATA = re.compile(
    f"n_?(eval|test)(_({_EXAMPLES}))?|(num|number_of)_(eval|test)_({_EXAMPLES})|"
    f"(eval|test)_?(dataset|n|split|version|{_EXAMPLES})|(data|dataset)_version|fold|split"
)
_TRAINING = re.compile(
    f"n_?(train|training)(_({_EXAMPLES}))?|(num|number_of)_(train|training)_({_EXAMPLES})|"
    f"(train|training|data)_(frac|fraction|ratio)|(train|training)_?(n|{_EXAMPLES})|"
    f"(n|num|max|train|training)_?(iter|trials|updates)|"
    f"(max|n|num|total)_?({'|'.join(_STEPS)})s?|((compute|time|training)_)?budget|time_limit|trials"
)
_COUNTED = (
    "all|answered|asked|attempted|attempts|cases|episodes|games|possible|problems|prompts|"
    f"questions|tests|total|totals|trials|{_EXAMPLES}"
)
_TOTAL = re.compile(
    f"n|count|denominator|out_of|support|(n|num|number_of|count|total)_?({_COUNTED}|eval|test)|({_COUNTED})(_(n|num|count))?|"
    f"total_(n|num|count)|(n|num|number_of)_?(eval|test)_({_EXAMPLES})|"
    f"(eval|test)_?(n|{_EXAMPLES})"
)
_MOST_REACHED = re.compile(
    "(out_of|possible|total)(_(points|scores?))?|(max|maximum|most|n|num|possible)_(points|scores?)|"
    "(max|maximum)_(possible|total)"
)

# Names that may say anything else, such as where data come from: values tell.
GENERAL = split_words("cause component experiment factor source variation")
_REDRAWN = re.compile(
    f"{'|'.join(sorted(GENERAL))}|redrawn|var(y|ies|ied|ying)|randomi[sz]ed|what_var(ies|ied)|"
    "(redrawn|var(ied|ying)|randomi[sz]ed)_(factor|seed|source)|"
    "(factor|seed|source)_(redrawn|var(ied|ying)|randomi[sz]ed)|"
    "source_of_varia(nce|tion)|varia(nce|tion)_source"
)
_SEED = re.compile(r"(\w+[_-])?(random|rng)?seed([_-](everything|id|idx|index|no|num|number))?")

At: TypeAlias = Literal["last", "best-validation"] | int | float | str
Kind: TypeAlias = Literal["step", "time", "example", "setting", "status", "other"]
Hint: TypeAlias = Literal["label", "most", "redrawn", "seed", "test data", "total", "training"]
_HINTS: dict[Hint, re.Pattern[str]] = {
    "most": _MOST_REACHED,
    "redrawn": _REDRAWN,
    "seed": _SEED,
    "test data": _TEST_DATA,
    "total": _TOTAL,
    "training": _TRAINING,
}


class ColumnName(NamedTuple):
    """What the name of a column says, however it is spelt.

    `hints` are what it may say of runs beside their scores:

    - label: anything, of which nothing is known;
    - most: how many points a run could reach;
    - redrawn: which source of variation was redrawn for a run;
    - seed: a seed, of whatever;
    - test data: which examples a run was tested on, or how many;
    - total: how many answers were asked for;
    - training: how much training a run had.
    """

    plain: str  # without what people do not mean by it: case and surrounding space
    bare: str  # without what a tracker puts before it, too, as in `params.seed`
    leaf: str  # without folders, as in `trainer/global_step`, and leading underscores
    bare_leaf: str
    kind: Kind  # what the column holds beside scores and names
    status: str  # what it says of how runs ended, if anything: `is_failed` says which have failed
    data: Literal["validation", "training"] | None  # what a score is of, where not of test data
    is_best: bool  # of several scores of one run
    hints: frozenset[Hint]


@cache
def read_name(name: str) -> ColumnName:
    """Read the name of a column, as far as it tells what the column holds.

    Examples
    --------
    >>> [read_name(name).kind for name in ("trainer/global_step", "params.C", "config.seed", "f1")]
    ['step', 'setting', 'other', 'other']
    >>> [sorted(read_name(name).hints) for name in ("N", "params.fold", "epochs", "test_size")]
    [['label', 'total'], ['test data'], ['training'], ['test data', 'total']]
    >>> [sorted(read_name(name).hints) for name in ("n_train", "varied seed", "n_errors", "lr")]
    [['label', 'training'], ['label', 'redrawn', 'seed'], ['label'], []]
    >>> [read_name(name).data for name in ("best_val_acc", "acc_train", "best_val_test_acc")]
    ['validation', 'training', None]
    >>> [read_name(name).is_best for name in ("best_test_acc", "test/acc_best", "bestiary_f1")]
    [True, True, False]
    """
    plain = normalise(name)
    bare = plain[begin.end() :] if (begin := _TRACKER.match(plain)) else plain
    leaf, bare_leaf = map(_leave_out_folders, (plain, bare))
    status = bare_leaf if bare_leaf in STATUS else re.sub("(has|is|run)_", "", bare_leaf, count=1)
    data: Literal["validation", "training"] | None = (
        "training" if _TRAINING_OF.match(bare) else None
    )
    if bare in VALIDATION or _VALIDATION_OF.match(bare):
        data = "validation"
    kind = _find_kind(plain, leaf, status)
    hints = {hint for hint, pattern in _HINTS.items() if pattern.fullmatch(bare_leaf)}
    if kind == "step":
        hints.add("training")
    if kind == "other" and "test data" not in hints:
        hints.add("label")
    is_best = _BEST.search(bare) is not None
    return ColumnName(plain, bare, leaf, bare_leaf, kind, status, data, is_best, frozenset(hints))


def normalise(name: str) -> str:
    """Leave out what people do not mean by a name: case and surrounding space."""
    return name.strip().casefold()


def _leave_out_folders(plain: str) -> str:
    return plain.replace(".", "/").rpartition("/")[2].lstrip("_").replace(" ", "_")


def _find_kind(plain: str, leaf: str, status: str) -> Kind:
    if _SETTING_OF.match(plain):  # a tracker exported it as a hyperparameter
        words = re.split(r"[\W_]+", plain)
        return "other" if words[-1] in _NO_SETTING or _DRAWN & set(words) else "setting"
    if _STEP.fullmatch(leaf):
        return "step"
    if leaf in _TIME:
        return "time"
    if _EXAMPLE.fullmatch(leaf):
        return "example"
    if status in _STATUSES:
        return "status"
    return "setting" if plain.replace(" ", "_") in _SETTINGS else "other"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a person said of a table: columns, None where left to be recognised, and their sense."""

    algorithm: str | Sequence[str] | None = None
    task: str | Sequence[str] | None = None
    replicate: str | Sequence[str] | None = None
    metric: str | None = None
    validation: str | None = None
    goal: Goal | None = None
    at: At | None = None  # which row of a learning curve is its run
    accepted: tuple[Doubt, ...] = ()


@dataclass(frozen=True, slots=True)
class Roles:
    """What the columns of a table are for, but for its scores."""

    algorithm: tuple[str, ...]
    task: tuple[str, ...]
    replicate: tuple[str, ...]
    spare: tuple[str, ...]  # columns that might tell replicates apart, but are not used
    status: tuple[str, ...]  # say whether a run finished
    steps: tuple[str, ...]  # count the steps of a training, the coarsest first
    times: tuple[str, ...]
    examples: tuple[str, ...]  # say which test example was answered
    parts_of_data: tuple[str, ...]  # may say on which part of the data a score was measured
    settings: tuple[str, ...]
    metrics: tuple[str, ...]  # may name the metric of each row
    directions: tuple[str, ...]  # may say which way that is better
    free: tuple[str, ...]  # columns that may hold scores


def assign_roles(names: Sequence[str], wanted: Wanted, source: str) -> Roles:
    """Say what each column is for, in one walk over the header."""
    replicates = recognise(names, REPLICATE)
    replicate = tuple(replicates[:1])
    spare = replicates[1:]
    if not replicates:  # `init_seed` and `data_seed` tell runs apart together
        replicates = [n for n in names if {"redrawn", "seed"} & read_name(n).hints == {"seed"}]
        replicate, spare = tuple(replicates), replicates
    if wanted.replicate is not None:
        replicate = find_columns(wanted.replicate, names, source)
        spare = [name for name in replicates if name not in replicate]
    algorithm = _find_one(names, ALGORITHM, wanted.algorithm, source)
    task = _find_one(names, TASK, wanted.task, source)
    by_kind: dict[Kind, list[str]] = defaultdict(list)
    metric = normalise(wanted.metric or "")
    parts_of_data, free = [], []
    for name in names:
        if not name or name in algorithm or name in task:
            continue
        said = read_name(name)
        is_named = said.plain == metric
        kind = "other" if is_named else said.kind
        is_unused = name not in replicate and name not in replicates
        if is_unused or kind in ("step", "example"):
            by_kind[kind].append(name)
        if is_unused and kind not in ("step", "example"):
            free.append(name)
        if not is_named and said.leaf in _PART_OF_DATA:
            parts_of_data.append(name)
    status: list[str] = []
    if by_kind["status"]:
        status = _choose_statuses(by_kind["status"])
        free = [name for name in free if name not in status]
    steps = sorted(by_kind["step"], key=lambda n: _STEPS.index(_STEP.sub(r"\1", read_name(n).leaf)))
    never = {*steps, *by_kind["example"]}
    return Roles(
        algorithm=algorithm,
        task=task,
        replicate=tuple(name for name in replicate if name not in never),
        spare=tuple(spare),
        status=tuple(status),
        steps=tuple(steps),
        times=tuple(by_kind["time"]),
        examples=tuple(by_kind["example"]),
        parts_of_data=tuple(parts_of_data),
        settings=tuple(by_kind["setting"]),
        metrics=tuple(recognise((*free, *task), METRIC)),
        directions=tuple(recognise(free, DIRECTION)),
        free=tuple(free),
    )


def _choose_statuses(names: Sequence[str]) -> list[str]:
    """Choose one column of statuses, and those of flags and exit codes."""
    said = {read_name(name).status: name for name in reversed(names)}
    status = [said.pop(word) for word in STATUS if word in said][:1]
    return status + [name for word, name in said.items() if word not in STATUS]


def recognise(names: Sequence[str], known: Sequence[str]) -> list[str]:
    """Pick the columns with one of the known names, in the order of the known names.

    Where there is none, one that a tracker exported will do: `params.seed`, `config.model`.
    """
    for spell in (attrgetter("plain"), attrgetter("bare")):
        spelled: dict[str, list[str]] = {}
        for name in names:
            spelled.setdefault(spell(read_name(name)), []).append(name)
        if not spelled.keys().isdisjoint(known):
            return [name for word in known for name in spelled.get(word, ())]
    return []


def find_column(name: str, names: Sequence[str], source: str) -> str:
    """Find the column a person named, in any case."""
    if name in names:
        return name
    for candidate in names:
        if read_name(candidate).plain == normalise(name):
            return candidate
    listed = [candidate for candidate in names if candidate]
    raise UnknownColumn(f"no column {name!r} in {source}", suggest_names(name, listed))


def find_columns(named: str | Sequence[str], names: Sequence[str], source: str) -> tuple[str, ...]:
    """Find one or several columns: `seed`, `seed,fold` or a sequence of names."""
    if not isinstance(named, str):
        return tuple(find_column(name, names, source) for name in named)
    if normalise(named) in map(normalise, names):
        return (find_column(named, names, source),)
    return tuple(find_column(name.strip(), names, source) for name in named.split(","))


def _find_one(
    names: Sequence[str], known: Sequence[str], named: str | Sequence[str] | None, source: str
) -> tuple[str, ...]:
    if named is not None:
        return find_columns(named, names, source)
    candidates = recognise(names, known) or recognise(names, [f"{word}_name" for word in known])
    if len(candidates) > 1:
        # Taking one of them could pool what must be kept apart.
        raise UnknownColumn(
            f"columns {enumerate_names(candidates)} of {source} may all be the {known[0]}",
            f"Name the one that is with --{known[0]} {candidates[0]}, "
            f"or join them with --{known[0]} {','.join(candidates)}",
        )
    return tuple(candidates)


def find_score(
    table: SourceTable,
    names: Sequence[str],
    metric: str | None = None,
    *,
    may_be_wide: bool = False,
) -> str | None:
    """Find the column of scores among these names; None if no column looks like one."""
    if metric is not None:
        return find_column(metric, table.names, table.source)
    likely = [n for n in names if read_name(n).bare in SCORE or looks_like_score(n)]
    # A column that begins with text holds scores only if no other can.
    numeric = [name for name in likely if not table.holds_text(name)]
    candidates = recognise(numeric or likely, SCORE) or numeric or likely
    if any(f"{name.removesuffix('__MAX')}__MIN" in table.names for name in candidates):
        raise UnknownColumn(
            f"{table.source} seems to be a chart of Weights & Biases, with a column per run and a "
            "row per step",
            "Export the table of runs instead; or write a row per run, with the columns model, "
            "seed and the score",
        )
    if len(candidates) > 1:
        hint = ", or add --wide if each column is an algorithm" if may_be_wide else ""
        raise UnknownColumn(
            f"columns {enumerate_names(candidates)} of {table.source} may all be the score",
            f"Name the one that is with --metric {candidates[0]!r}{hint}",
        )
    return candidates[0] if candidates else None


def require_score(table: SourceTable, names: Sequence[str], metric: str | None) -> str:
    """Find the column of scores, or say that no column looks like one."""
    score = find_score(table, names, metric)
    if score is None:
        raise explain_no_score(table)
    return score


def explain_no_score(table: SourceTable, numeric: Sequence[str] = ()) -> UnknownColumn:
    """Say that no column looks like a score; `numeric` are those that hold numbers all the same."""
    named, remedy = [*filter(None, table.names)], "Name it with --metric"
    if recognise(named, MEAN) and recognise(named, SD):
        remedy = (
            "If it holds means with their deviations, not runs, compare two of them with "
            "`outperform compare --summary TABLE A B`; else name the score with --metric"
        )
    elif 2 * len(named) < len(table.names):  # a title, and commas as a spreadsheet adds them
        remedy = "Remove what stands before the row of column names"
    elif len(numeric) > 1:
        remedy += (
            f"; if each of {enumerate_names(numeric)} is a task, give one row per run and task "
            "instead, with a column for the task and one for the score (pandas: melt)"
        )
    return UnknownColumn(
        f"no column of {table.source} looks like a score (it has: {enumerate_names(named)})",
        remedy,
    )


def find_validation(table: SourceTable, names: Collection[str], score: str) -> str | None:
    """Find the validation scores among such columns, None if there is no telling which it is.

    Of several, the one that has the metric of the score: `val_acc` beside `test_acc`.
    """
    numeric = [name for name in names if not table.holds_text(name)]
    known = recognise(numeric, VALIDATION)[:1]
    begun = [name for name in numeric if looks_like_score(name)]
    metric = _DATA.sub("", read_name(score).bare, count=1)
    alike = [name for name in begun if _DATA.sub("", read_name(name).bare, count=1) == metric]
    candidates = known or alike or begun
    return candidates[0] if len(candidates) == 1 else None
