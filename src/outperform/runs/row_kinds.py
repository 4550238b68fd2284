"""What a row is: a run, finished or not, or a summary; see `learning_curves` for points of one."""

import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from outperform.errors import InvalidScores, UnreadableRuns
from outperform.runs.columns import (
    EXIT_CODE,
    FINISHED,
    STATUS,
    At,
    Roles,
    Wanted,
    normalise,
    read_name,
)
from outperform.runs.labels import (
    FloatArray,
    IntArray,
    Labels,
    Numerals,
    join_labels,
    repeat_label,
)
from outperform.runs.learning_curves import CurveReader
from outperform.runs.metrics import (
    TaskMetric,
    is_never_negative,
    known_goal,
    looks_like_score,
    sum_up_metrics,
)
from outperform.runs.mismatches import note_task_spellings
from outperform.runs.scope import varied_by
from outperform.runs.source_table import OtherColumns, Rows, SourceTable
from outperform.runs.table import Runs, name_runs
from outperform.wording import enumerate_names, enumerate_rows, split_words

_FINISHED = split_words("complete completed done finished ok succeeded success successful")
# Of Optuna, MLflow and Weights & Biases, and of those who write their own.
_UNFINISHED = split_words(
    """
    aborted active canceled cancelled crash crashed created diverged error errored fail failed
    failure incomplete interrupted killed nan not_finished oom paused pending preempted preempting
    pruned queued resumed running scheduled skipped started stopped submitted terminated timed_out
    timeout unfinished waiting
    """
)
_TRUE = frozenset({"true", "t", "yes", "y", "1", "1.0", "x"})
_FLAGS = _TRUE | {"false", "f", "no", "n", "0", "0.0", ""}
_EXIT_CODE = re.compile(r"-?\d+(\.0|:\d+)?")  # Slurm adds a signal
_FAILURE = re.compile("[1-9]")
_DIGIT = re.compile(r"\d")
_TRAINING = split_words("train training")
_VALIDATION = split_words("dev val valid validation")
_PARTS = _TRAINING | _VALIDATION | split_words("eval holdout test testing")


def _summary(words: str) -> re.Pattern[str]:
    """Matches a label that says these words, whatever marks stand between and around them."""
    spaced = words.replace(" ", r"[\W_]+")
    return re.compile(rf"[\W_]*(?:{spaced})[\W_]*", re.IGNORECASE)


# Labels of rows that spreadsheets end with, and tables of papers.
_SPREAD = "std|sd|stdev|standard deviation"
LOOKS_BETTER = "what was tuned or stopped by them looks better than it is"
_OF_RUNS = f"mean|average|avg|{_SPREAD}|median|min|minimum|max|maximum|total|sum"
_SUMMARY = _summary(_OF_RUNS)
# What is made of numbered runs too: an ensemble of all seeds, predictions out of all folds.
_OF_NUMBERED = _summary(
    f"{_OF_RUNS}|all|all folds|all seeds|best|combined|cv|ensemble|ensembled|oof|out of fold|"
    "overall|pooled|soup|vote|worst"
)
# One of several columns may say so: "0,mean" of seed,fold.
_SUMMARY_OF_NUMBERED = re.compile(rf"(?:^|,){_OF_NUMBERED.pattern}(?:,|$)", re.IGNORECASE)
_SUMMARY_OF_TASKS = _summary(
    "(macro |micro |task |overall |geometric )?(mean|average|avg)( acc| accuracy| rank| score)?|"
    f"geomean|overall( rank| score)?|rank|wins|{_SPREAD}"
)


def keep_runs(
    table: SourceTable,
    rows: Rows,
    roles: Roles,
    at: At | None,
    validation: tuple[FloatArray | None, str] = (None, ""),
) -> tuple[Rows, tuple[str, ...]]:
    """Keep the rows that are runs, of a learning curve the one `at` a step, with a note on it.

    All others are refused, and so are learning curves where nothing says at which step.
    """
    notes: list[str] = []
    for name in roles.parts_of_data:
        # A glance at the first cells mostly spares the rest.
        if _PARTS.issuperset(map(normalise, map(str, table.head(name)))):
            notes.extend(_question_part_of_data(table, rows, name))
    if at is not None or roles.steps or roles.times or roles.examples:
        rows, about_curves = CurveReader(table, rows, roles, *validation).keep_points(at)
        notes.extend(about_curves)
    return rows, tuple(notes)


def _question_part_of_data(table: SourceTable, rows: Rows, name: str) -> Iterator[str]:
    """Refuse scores on several parts of the data, and note those on validation data alone."""
    values = rows.label(table, name).distinct()
    words = {*map(normalise, values)}
    if words <= _PARTS and (len(words) > 1 or words <= _TRAINING):
        raise UnreadableRuns(
            f"column {name!r} of {table.source} says on which data a score was "
            f"measured ({enumerate_names(values)}): only test scores tell which is better",
            "Keep the rows of test data; if the column says something else, call it run",
        )
    if words and words <= _VALIDATION:
        yield (
            f"column {name!r} says that scores are of validation data ({values[0]}): {LOOKS_BETTER}"
        )


def read_rows(table: SourceTable, roles: Roles, numbers: Sequence[str], only: str) -> Rows:
    """Read the columns that tell runs apart, and these columns of numbers."""
    values, labels = table.take(numbers, [*roles.algorithm, *roles.task, *roles.replicate])
    parts = [
        join_labels(map(labels.__getitem__, names)) if names else None
        for names in (roles.algorithm, roles.task, roles.replicate)
    ]
    return Rows(
        parts[0] or repeat_label(only, len(table.rows)),
        parts[1] or repeat_label("", len(table.rows)),
        parts[2],
        values,
        table.rows,
        _find_incomplete(table, roles.status) if roles.status else None,
    )


def assemble(
    table: SourceTable,
    rows: Rows,
    roles: Roles,
    wanted: Wanted,
    by_task: Mapping[str, TaskMetric],
    *,
    notes: tuple[str, ...],
    validation_metric: str = "",
) -> Runs:
    """Make runs of rows that are runs, or sums of runs."""
    rows, about_summaries = _leave_out_summaries(rows, table.source)
    if rows.replicate is not None and not isinstance(rows.replicate.names, Numerals):
        refuse_metrics(rows.replicate.names, table.source)
    algorithm, task = rows.algorithm.by_appearance(), rows.task.by_appearance()
    score, incomplete = rows.numbers[0], rows.incomplete
    if incomplete is not None:
        score = np.where(incomplete.codes == incomplete.names.index(""), score, np.nan)
    if (score < 0).any():
        _refuse_negatives(rows.row, task, score, by_task)
    return Runs(
        **name_runs(algorithm, task, rows.replicate),
        score=score,
        validation=rows.numbers[1] if validation_metric else None,
        row=rows.row,
        **sum_up_metrics({name: by_task[name] for name in task.names}),
        source=table.source,
        replicate_columns=roles.replicate,
        spare_columns=roles.spare,
        notes=(*notes, *about_summaries, *_note_tasks(by_task, task.names)),
        validation_metric=validation_metric,
        algorithm_columns=roles.algorithm,
        task_columns=roles.task,
        incomplete=incomplete,
        others=OtherColumns(((table, rows.row),)),
        accepted=wanted.accepted,
        varied=varied_by(roles.replicate),
    )


def _find_incomplete(table: SourceTable, columns: Sequence[str]) -> Labels | None:
    """Say why each row is of a run that did not finish, empty where it did; None if all did."""
    codes, numbers = np.zeros(len(table.rows), dtype=np.int64), {"": 0}
    for column in columns:
        if read_name(column).status in STATUS:
            status = table.label_runs(column)
            reasons = _read_status(table, column, status)
        else:
            status = table.label(column)
            reasons = _read_flag(column, status.names)
        own = np.array([numbers.setdefault(reason, len(numbers)) for reason in reasons])
        codes = np.where(codes == 0, own[status.codes], codes)
    return Labels(tuple(numbers), codes) if len(numbers) > 1 else None


def _read_status(table: SourceTable, column: str, status: Labels) -> list[str]:
    """Give the status of each name that is not of a finished run."""
    # As all trackers would write it: `TrialState.COMPLETE` is `complete`.
    plain = [name.rpartition(".")[2].strip().casefold() for name in status.names]
    words = [name.replace(" ", "_").replace("-", "_") for name in plain]
    known = _FINISHED | _UNFINISHED
    if unknown := [code for code, word in enumerate(words) if word not in known]:
        listed = enumerate_names(repr(status.names[code]) for code in unknown)
        where = enumerate_rows(table.rows[np.isin(status.codes, unknown)])
        raise UnreadableRuns(
            f"column {column!r} of {table.source} holds {listed} ({where}), "
            "which does not say whether a run finished",
            "Write finished or failed; if the column says something else, give it another name",
        )
    pairs = zip(status.names, words, strict=True)
    return ["" if word in _FINISHED else name for name, word in pairs]


def _read_flag(column: str, names: Sequence[str]) -> list[str]:
    """Say why a run is incomplete by a flag or an exit code; empty where the column is neither."""
    says, words = read_name(column).status, [*map(normalise, names)]
    if says in EXIT_CODE and all(map(_EXIT_CODE.fullmatch, filter(None, words))):
        return [f"{column} {word}" if _FAILURE.search(word) else "" for word in words]
    if says in EXIT_CODE or not _FLAGS.issuperset(words) or not any(words):
        return [""] * len(words)
    if says in FINISHED:
        return ["" if word in _TRUE else f"not {column}" for word in words]
    return [column if word in _TRUE else "" for word in words]


def sums_up_runs(label: str) -> bool:
    """Whether a row, or a column, sums up others by its label: `Avg.`."""
    return _SUMMARY.fullmatch(label) is not None


def sums_up_tasks(label: str) -> bool:
    """Whether a row, or a column, sums up those of tasks by its label.

    Examples
    --------
    >>> [sums_up_tasks(label) for label in ("Avg. rank", "#Wins", "mean_score", "sum", "rank2")]
    [True, True, True, False, False]
    """
    return _SUMMARY_OF_TASKS.fullmatch(label) is not None


def _find_sums_of_tasks(labels: Sequence[str]) -> list[str]:
    return [*filter(sums_up_tasks, labels)]


def _find_sums_of_runs(labels: Sequence[str]) -> list[str]:
    """Labels that sum up others: by a word, or by one that does so where all others are numbered.

    >>> _find_sums_of_runs(["0", "1", "Mean", "ensemble"]), _find_sums_of_runs(["best", "last"])
    (['Mean', 'ensemble'], [])
    """
    likely = [*filter(_SUMMARY_OF_NUMBERED.search, labels)]
    if not likely:
        return []
    others = set(labels) - set(likely)
    if len(others) > 1 and all(map(_DIGIT.search, others)):
        return likely
    return [label for label in likely if any(map(sums_up_runs, label.split(",")))]


def _leave_out_summaries(rows: Rows, source: str) -> tuple[Rows, tuple[str, ...]]:
    """Leave out rows that sum up others, as spreadsheets end with, and note it."""
    names: list[str] = []
    is_summary = np.zeros(len(rows.row), dtype=bool)
    for labels, find in ((rows.replicate, _find_sums_of_runs), (rows.task, _find_sums_of_tasks)):
        if labels is None or isinstance(labels.names, Numerals):
            continue
        summaries = find(labels.names)
        if labels is rows.task and len(labels.names) - len(summaries) < 2:
            continue  # nothing to sum up
        names += summaries
        is_summary |= np.isin(labels.codes, [*map(labels.names.index, summaries)])
    if not names:
        return rows, ()
    if is_summary.all():
        raise UnreadableRuns(
            f"every row of {source} sums up runs, and none is a run",
            "Give one row per run, or compare published means with --summary (from Python: "
            "compare_published)",
        )
    numbers, listed = np.unique(rows.row[is_summary]), enumerate_names(names)
    where = enumerate_rows(numbers)
    note = f"{where} sum up other rows ({listed}) and were left out: they are no runs"
    if len(numbers) == 1:
        note = f"{where} sums up other rows ({listed}) and was left out: it is no run"
    return rows.keep(~is_summary), (note,)


def refuse_metrics(replicates: Sequence[str], source: str) -> None:
    """Refuse labels of replicates that all are names of metrics: they are scores of one run."""
    if len(replicates) > 1 and all(map(looks_like_score, replicates)):
        raise UnreadableRuns(
            f"what should tell the runs of {source} apart are metrics "
            f"({enumerate_names(replicates, limit=3)}), which say the same of one run in many ways",
            "Give one row per run with its seed, and compare by one metric",
        )


def _note_tasks(by_task: Mapping[str, TaskMetric], tasks: Sequence[str]) -> Iterator[str]:
    """Say which tasks may be the same, or are called after a metric of another direction."""
    yield from note_task_spellings(tasks)
    contrary = [
        task
        for task in tasks
        if looks_like_score(task) and known_goal(task) not in (None, by_task[task].goal)
    ]
    if contrary:
        better = "higher" if by_task[contrary[0]].goal == "maximize" else "lower"
        yield (
            f"{better} is taken as better on {enumerate_names(contrary)}, which the name denies: "
            "if these are metrics, name them in a column metric, one row for each, with --task "
            "metric"
        )


def _refuse_negatives(
    row: IntArray, task: Labels, score: FloatArray, by_task: Mapping[str, TaskMetric]
) -> None:
    """Refuse shares and errors below 0: they stand for failed runs, or their sign was turned."""
    negative = np.flatnonzero(score < 0)
    negative = negative[np.isfinite(score[negative])]
    for code in np.unique(task.codes[negative]).tolist():
        metric, goal = by_task[task.names[code]]
        if goal == known_goal(metric) and is_never_negative(metric):
            rows = negative[task.codes[negative] == code]
            better, way = ("lower", "maximize") if goal == "minimize" else ("higher", "minimize")
            raise InvalidScores(
                f"{metric} is negative in {enumerate_rows(row[rows])} ({score[rows[0]]:g}), which "
                f"it cannot be, and {better} is better",
                "If it stands for a run that failed, leave it empty; if its sign was turned, as "
                f"scikit-learn does, call it 'neg_{metric}' or pass --{way}; if it is another "
                "metric, give it another name",
            )
