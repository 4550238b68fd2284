"""What a row is: a run, finished or not, a point of a learning curve, a test example, a summary.

Of a learning curve one row is chosen, but never by its test score.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from outperform.errors import InvalidInput, InvalidScores, UnreadableRuns
from outperform.runs.columns import (
    EXIT_CODE,
    FINISHED,
    STATUS,
    At,
    Roles,
    Wanted,
    normalise,
    status_of,
)
from outperform.runs.labels import (
    BoolArray,
    FloatArray,
    IntArray,
    Labels,
    Numerals,
    differ_within,
    join_labels,
    largest_within,
    repeat_label,
    split_groups,
)
from outperform.runs.metrics import TaskMetric, is_never_negative, known_goal, sum_up_metrics
from outperform.runs.scope import varied_by
from outperform.runs.source_table import OtherColumns, SourceTable, parse_number
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
_TRAINING = split_words("train training")
_VALIDATION = split_words("dev val valid validation")
_PARTS = _TRAINING | _VALIDATION | split_words("eval holdout test testing")
# Labels of rows that spreadsheets end with.
SUMMARY = re.compile(
    "mean|average|avg|std|sd|stdev|standard deviation|median|min|minimum|max|maximum|total|sum",
    re.I,
)
_SUMMARY_OF_TASKS = re.compile(
    "(macro |micro |task |overall )?(mean|average|avg)|overall|std|sd|stdev|standard deviation",
    re.I,
)
_OWN = "if every row is a run of its own, call the column run"


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of a table as they were read, one entry per row in every array."""

    algorithm: Labels
    task: Labels
    replicate: Labels | None
    numbers: list[FloatArray]  # score and validation, or all algorithms of a wide table
    row: IntArray  # where each stands in its source
    # Why a row is not the end of a run, such as its status; empty where it is. None if all are.
    incomplete: Labels | None = None

    def keep(self, rows: BoolArray | IntArray) -> "Rows":
        """Take these rows and no others."""
        return Rows(
            self.algorithm.keep(rows),
            self.task.keep(rows),
            self.replicate and self.replicate.keep(rows),
            [column[rows] for column in self.numbers],
            self.row[rows],
            self.incomplete and self.incomplete.keep(rows),
        )


def check_at(at: At | None) -> At | None:
    """Turn what was asked for to "last", "best-validation" or a number."""
    if at is None or at in ("last", "best-validation"):
        return at
    number = None if isinstance(at, bool) else parse_number(str(at))
    if number is None or not np.isfinite(number):
        raise InvalidInput(
            f"at is {at!r}", 'Pass "last", "best-validation" or the number of a step'
        )
    return number


@dataclass(frozen=True, slots=True)
class RowReader:
    """Tells runs from rows that are none."""

    table: SourceTable
    rows: Rows  # whose replicates come from no column of steps or examples
    roles: Roles
    validation: FloatArray | None = None  # of each row, higher is better
    validation_name: str = ""

    def keep_runs(self, at: At | None) -> tuple[Rows, tuple[str, ...]]:
        """Keep the rows that are runs, of a learning curve the one `at` a step, with a note on it.

        All others are refused, and so are learning curves where nothing says at which step.
        """
        roles = self.roles
        notes = tuple(self._question_parts_of_data())
        if at is None and not (roles.steps or roles.times or roles.examples):
            return self.rows, notes
        run = split_groups(self.rows.algorithm.codes, self.rows.task)
        if self.rows.replicate is not None:
            run = split_groups(run, self.rows.replicate)
        self._refuse_examples(run)
        run, steps = self._find_steps(run)
        if at is not None and not steps:
            raise InvalidInput(
                f"no column of {self.table.source} says at which step a row was measured",
                "Leave out --at, or call the column epoch, step or iteration",
            )
        varying = {name: step for name, step in steps.items() if differ_within(run, step).any()}
        if not varying:
            return self.rows, notes
        if at is None:
            raise self._explain_curve(run, *next(iter(varying.items())))
        chosen, note = self._choose_points(run, varying, at)
        return chosen, (*notes, note)

    def _label(self, name: str) -> Labels:
        labels = self.table.label(name)
        if len(self.table.rows) == len(self.rows.row):
            return labels
        return labels.keep(np.searchsorted(self.table.rows, self.rows.row))

    def _question_parts_of_data(self) -> Iterator[str]:
        """Refuse scores on several parts of the data, and note those on validation data alone."""
        for name in self.roles.parts_of_data:
            # A glance at the first cells mostly spares the rest.
            if not _PARTS.issuperset(map(normalise, map(str, self.table.head(name)))):
                continue
            labels = self._label(name)
            values = [labels.names[code] for code in np.unique(labels.codes).tolist()]
            words = {*map(normalise, values)}
            if words <= _PARTS and (len(words) > 1 or words <= _TRAINING):
                raise UnreadableRuns(
                    f"column {name!r} of {self.table.source} says on which data a score was "
                    f"measured ({enumerate_names(values)}): only test scores tell which is better",
                    "Keep the rows of test data; if the column says something else, call it run",
                )
            if words and words <= _VALIDATION:
                yield (
                    f"column {name!r} says that scores are of validation data ({values[0]}): what "
                    "was tuned or stopped by them looks better than it is"
                )

    def _refuse_examples(self, run: IntArray) -> None:
        for name in self.roles.examples:
            labels = self._label(name)
            if differ_within(run, labels).any():
                raise UnreadableRuns(
                    f"{self._describe_rows(run, name, labels)}: they are answers to test examples, "
                    "not runs",
                    "Give the mean over the examples of every run, with its seed (comparing given "
                    f"models example by example is coming); {_OWN}",
                )

    def _find_steps(self, run: IntArray) -> tuple[IntArray, dict[str, Labels]]:
        """Find the steps of rows, or their times, and which run each row is of."""
        others = [self._label(name) for name in (*self.roles.spare, *self.roles.settings)]
        if not (steps := {name: self._label(name) for name in self.roles.steps}):
            # A time tells rows of a run apart only if nothing else does.
            if any(differ_within(run, labels).any() for labels in others):
                return run, {}
            return run, {name: self._label(name) for name in self.roles.times}
        step = join_labels(steps.values())
        for labels in others:  # settings and folds that differ at the same step tell curves apart
            if differ_within(split_groups(run, step), labels).any():
                run = split_groups(run, labels)
        return run, steps

    def _choose_points(
        self, run: IntArray, steps: Mapping[str, Labels], at: At
    ) -> tuple[Rows, str]:
        """Choose one row of every run, and say which; the last, incomplete, where it lacks it."""
        row, source, column = self.rows.row, self.table.source, next(iter(steps))
        values = [_parse_steps(labels, row, name, source) for name, labels in steps.items()]
        stage = np.zeros(len(row))  # what came first, where several columns count
        for value in values:  # the coarsest first
            distinct, place = np.unique(value, return_inverse=True)
            stage = stage * len(distinct) + place
        is_last = stage == largest_within(run, stage)
        if at == "last":
            low, high = values[0][is_last].min(), values[0][is_last].max()
            if low == high:
                ending = f"({high:g}) was taken"
            else:
                ending = f"was taken, although runs end at different ones ({low:g} to {high:g})"
            return self.rows.keep(is_last), f"of every run the row of its last {column} {ending}"
        if at == "best-validation":
            is_chosen, preferred = self._find_best(run), -stage
            reason, what = f"no {self.validation_name}", f"with the best {self.validation_name}"
        else:  # where finer steps are counted too, the last of them
            is_chosen, preferred = values[0] == at, stage
            reason, what = f"no {column} {at:g}", f"at {column} {at:g}"
        is_chosen &= preferred == largest_within(run, np.where(is_chosen, preferred, -np.inf))
        lacks = largest_within(run, is_chosen.astype(np.float64)) == 0
        note = f"of every run the row {what} was taken, of its learning curve no other"
        return self._mark(lacks, reason).keep(is_chosen | (is_last & lacks)), note

    def _find_best(self, run: IntArray) -> BoolArray:
        """Rows with the best validation score of their run."""
        if self.validation is None:
            raise InvalidInput(
                "no column is recognised as validation scores, by which the best row of a run is "
                "chosen",
                "Name their column with --validation where the command has it, call it validation, "
                "or pass --at last",
            )
        values = np.where(np.isnan(self.validation), -np.inf, self.validation)
        is_best: BoolArray = (values == largest_within(run, values)) & np.isfinite(values)
        return is_best

    def _mark(self, is_missing: BoolArray, reason: str) -> Rows:
        """Say of rows why they are incomplete, but where that is known already."""
        if not is_missing.any():
            return self.rows
        known = self.rows.incomplete or repeat_label("", len(self.rows.row))
        silent = known.codes == known.names.index("")
        codes = np.where(is_missing & silent, len(known.names), known.codes)
        return replace(self.rows, incomplete=Labels((*known.names, reason), codes))

    def _explain_curve(self, run: IntArray, name: str, labels: Labels) -> UnreadableRuns:
        ways = ["--at last", f"--at N for {name} N"]
        if self.validation is not None:
            ways.insert(1, "--at best-validation")
        which = f'which row to take: {", ".join(ways[:-1])} or {ways[-1]} (from Python: at="last")'
        say = f"Say {which}"
        if self.rows.replicate is None:
            say = f"Name the column that tells runs apart with --replicate, and say {which}"
        return UnreadableRuns(
            f"{self._describe_rows(run, name, labels)}: they are points of a learning curve, not "
            "runs",
            f"{say}; {_OWN}",
        )

    def _describe_rows(self, run: IntArray, name: str, labels: Labels) -> str:
        """Name the first run that has several rows, and what they differ in."""
        rows = self.rows
        first = int(np.flatnonzero(differ_within(run, labels))[0])
        algorithm, task, replicate = (
            part.names[part.codes[first]] if part else ""
            for part in (rows.algorithm, rows.task, rows.replicate)
        )
        of_run = run == run[first]
        values = [labels.names[code] for code in dict.fromkeys(labels.codes[of_run].tolist())]
        whose = f"{algorithm!r} has" if algorithm else "there are"
        which = f" with {','.join(self.roles.replicate)} {replicate!r}" if replicate else ""
        place = f"task {task!r} of {self.table.source}" if task else self.table.source
        return (
            f"{whose} {np.count_nonzero(of_run)} rows{which} in {place} that differ in {name} "
            f"({enumerate_names(values, limit=3)})"
        )


def read_rows(table: SourceTable, roles: Roles, numbers: Sequence[str], only: str) -> Rows:
    """Read the columns that tell runs apart, and these columns of numbers."""
    values, labels = table.take(numbers, [*roles.algorithm, *roles.task, *roles.replicate])
    parts = [
        join_labels([labels[name] for name in names]) if names else None
        for names in (roles.algorithm, roles.task, roles.replicate)
    ]
    return Rows(
        parts[0] or repeat_label(only, len(table.rows)),
        parts[1] or repeat_label("", len(table.rows)),
        parts[2],
        values,
        table.rows,
        _find_incomplete(table, roles.status),
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
    algorithm, task = rows.algorithm.by_appearance(), rows.task.by_appearance()
    score, incomplete = rows.numbers[0], rows.incomplete
    if incomplete is not None:
        score = np.where(incomplete.codes == incomplete.names.index(""), score, np.nan)
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
        notes=(*notes, *about_summaries),
        validation_metric=validation_metric,
        algorithm_columns=roles.algorithm,
        task_columns=roles.task,
        incomplete=incomplete,
        others=OtherColumns(((table, rows.row),)),
        accepted=wanted.accepted,
        varied=varied_by(roles.replicate),
    )


def _parse_steps(labels: Labels, rows: IntArray, column: str, source: str) -> FloatArray:
    """Give the step of each row; dates become seconds."""
    values = [parse_number(name) for name in labels.names]
    if None in values:
        values = [_parse_date(name) for name in labels.names]
    numbers = np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    steps: FloatArray = numbers[labels.codes]
    if np.isnan(steps).any():
        wrong = np.flatnonzero(np.isnan(steps))
        raise UnreadableRuns(
            f"column {column!r} of {source} holds {labels.names[labels.codes[wrong[0]]]!r} where a "
            f"step should be ({enumerate_rows(rows[wrong])})",
            "Give every row its step, or remove those rows",
        )
    return steps


def _parse_date(text: str) -> float | None:
    try:
        return float(np.datetime64(text, "ms").astype(np.int64)) / 1000
    except ValueError:
        return None


def _find_incomplete(table: SourceTable, columns: Sequence[str]) -> Labels | None:
    """Say why each row is of a run that did not finish, empty where it did; None if all did."""
    codes, numbers = np.zeros(len(table.rows), dtype=np.int64), {"": 0}
    for column in columns:
        if status_of(column) in STATUS:
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
    says, words = status_of(column), [*map(normalise, names)]
    if says in EXIT_CODE and all(map(_EXIT_CODE.fullmatch, filter(None, words))):
        return [f"{column} {word}" if _FAILURE.search(word) else "" for word in words]
    if says in EXIT_CODE or not _FLAGS.issuperset(words) or not any(words):
        return [""] * len(words)
    if says in FINISHED:
        return ["" if word in _TRUE else f"not {column}" for word in words]
    return [column if word in _TRUE else "" for word in words]


def _leave_out_summaries(rows: Rows, source: str) -> tuple[Rows, tuple[str, ...]]:
    """Leave out rows that sum up others, as spreadsheets end with, and note it."""
    names: list[str] = []
    is_summary = np.zeros(len(rows.row), dtype=bool)
    for labels, pattern in ((rows.replicate, SUMMARY), (rows.task, _SUMMARY_OF_TASKS)):
        if labels is None or isinstance(labels.names, Numerals):
            continue
        summaries = [*filter(pattern.fullmatch, labels.names)]
        if labels is rows.task and len(labels.names) - len(summaries) < 2:
            continue  # nothing to sum up
        names += summaries
        is_summary |= np.isin(labels.codes, [labels.names.index(name) for name in summaries])
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
