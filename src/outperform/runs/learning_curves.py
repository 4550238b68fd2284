"""Rows that are points of learning curves, or answers to test examples, instead of runs.

Of a learning curve one row is chosen, but never by its test score.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from outperform.errors import InvalidInput, UnreadableRuns
from outperform.runs.columns import At, Roles
from outperform.runs.labels import (
    BoolArray,
    FloatArray,
    IntArray,
    Labels,
    differ_within,
    join_labels,
    largest_within,
    repeat_label,
    split_groups,
)
from outperform.runs.source_table import Rows, SourceTable, parse_number
from outperform.wording import enumerate_names, enumerate_rows

_OWN = "if every row is a run of its own, call the column run"


def check_at(at: At) -> At:
    """Turn what was asked for to "last", "best-validation" or a number."""
    if at in ("last", "best-validation"):
        return at
    number = None if isinstance(at, bool) else parse_number(str(at))
    if number is None or not np.isfinite(number):
        raise InvalidInput(
            f"at is {at!r}", 'Pass "last", "best-validation" or the number of a step'
        )
    return number


@dataclass(frozen=True, slots=True)
class CurveReader:
    """Tells runs from points of learning curves, and from answers to test examples."""

    table: SourceTable
    rows: Rows  # whose replicates come from no column of steps or examples
    roles: Roles
    validation: FloatArray | None  # of each row, higher is better
    validation_name: str

    def keep_points(self, at: At | None) -> tuple[Rows, tuple[str, ...]]:
        """Keep the row `at` a step of every curve, with a note on it, and refuse examples."""
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
            return self.rows, ()
        if at is None:
            raise self._explain_curve(run, *next(iter(varying.items())))
        chosen, note = self._choose_points(run, varying, at)
        return chosen, (note,)

    def _refuse_examples(self, run: IntArray) -> None:
        for name in self.roles.examples:
            labels = self.rows.label(self.table, name)
            if differ_within(run, labels).any():
                raise UnreadableRuns(
                    f"{self._describe_rows(run, name, labels)}: they are answers to test examples, "
                    "not runs",
                    "Give the mean over the examples of every run, with its seed (comparing given "
                    f"models example by example is coming); {_OWN}",
                )

    def _find_steps(self, run: IntArray) -> tuple[IntArray, dict[str, Labels]]:
        """Find the steps of rows, or their times, and which run each row is of."""
        others = [
            self.rows.label(self.table, name) for name in (*self.roles.spare, *self.roles.settings)
        ]
        if not (steps := {name: self.rows.label(self.table, name) for name in self.roles.steps}):
            # A time tells rows of a run apart only if nothing else does.
            if any(differ_within(run, labels).any() for labels in others):
                return run, {}
            return run, {name: self.rows.label(self.table, name) for name in self.roles.times}
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
