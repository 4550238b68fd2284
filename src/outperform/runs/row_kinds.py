"""What a row is: a run, a point of a learning curve, or the answer to one test example."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from outperform.errors import InvalidInput, UnreadableRuns
from outperform.runs.arrays import IntArray
from outperform.runs.assembling import Rows
from outperform.runs.cells import Table
from outperform.runs.columns import (
    Parts,
    names_example,
    names_part_of_data,
    names_step,
    names_time,
    order_steps,
)
from outperform.runs.curves import At, Chooser, Curves, choose_points, parse_steps
from outperform.runs.grouping import differ_within, group_rows, split_groups
from outperform.runs.labels import Labels, join_labels
from outperform.runs.settings import names_setting
from outperform.wording import enumerate_names, split_words

_TRAINING = split_words("train training")
_HELD_OUT = split_words("dev eval holdout test testing val valid validation")
_OWN = "if every row is a run of its own, call the column run"


@dataclass(frozen=True, slots=True)
class Telltales:
    """Columns that tell what a row is, if rows that are alike otherwise differ in them."""

    steps: tuple[str, ...]
    times: tuple[str, ...]
    examples: tuple[str, ...]
    data: tuple[str, ...]  # columns that may say on which part of the data a score was measured
    others: tuple[str, ...]  # columns that may tell runs apart: settings, spare replicates

    def leave(self, names: Sequence[str]) -> tuple[str, ...]:
        """Leave out those that never tell replicates apart."""
        return tuple(name for name in names if name not in (*self.steps, *self.examples))


def find_telltales(names: Sequence[str], parts: Parts) -> Telltales:
    """Find the columns that tell what a row is."""
    free = [name for name in names if name not in (*parts.algorithm, *parts.task)]
    unused = [name for name in free if name not in (*parts.replicate, *parts.spare)]
    return Telltales(
        steps=tuple(order_steps([name for name in free if names_step(name)])),
        times=tuple(name for name in unused if names_time(name)),
        examples=tuple(name for name in free if names_example(name)),
        data=tuple(name for name in free if names_part_of_data(name)),
        others=(*parts.spare, *(name for name in unused if names_setting(name))),
    )


@dataclass(frozen=True, slots=True)
class RowReader:
    """Tells runs from rows that are none.

    Attributes
    ----------
    rows
        Their replicates come from no column of steps or examples.
    replicate
        The columns of replicates.
    """

    table: Table
    rows: Rows
    telltales: Telltales
    replicate: tuple[str, ...]
    chooser: Chooser

    def keep_runs(self, at: At | None) -> tuple[Rows, tuple[str, ...]]:
        """Keep the rows that are runs, with notes on it, or refuse those that are none.

        Parameters
        ----------
        at
            Which row of a learning curve is its run; None to refuse learning curves.
        """
        telltales = self.telltales
        self._refuse_parts_of_data()
        if at is None and not (telltales.steps or telltales.times or telltales.examples):
            return self.rows, ()
        keys = self.rows.keys
        run = group_rows(keys.algorithm, keys.task, keys.replicate)
        self._refuse_examples(run)
        steps = {name: self._label(name) for name in telltales.steps}
        if steps:
            run = self._tell_apart(run, join_labels(steps.values()))
        else:
            steps = self._find_times(run)
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
        kept, note = choose_points(self.rows, self._trace(run, varying), at, self.chooser)
        return kept, (note,)

    def _label(self, name: str) -> Labels:
        numbers, labels = self.table.label(name)
        if len(numbers) == len(self.rows.row):
            return labels
        return Labels(labels.names, labels.codes[np.searchsorted(numbers, self.rows.row)])

    def _refuse_parts_of_data(self) -> None:
        for name in self.telltales.data:
            labels = self._label(name)
            values = [labels.names[code] for code in np.unique(labels.codes).tolist()]
            words = {value.strip().casefold() for value in values}
            if words <= _TRAINING | _HELD_OUT and (len(words) > 1 or words <= _TRAINING):
                raise UnreadableRuns(
                    f"column {name!r} of {self.table.source} says on which data a score was "
                    f"measured ({enumerate_names(values)}): only test scores tell which is better",
                    "Keep the rows of test data; if the column says something else, call it run",
                )

    def _refuse_examples(self, run: IntArray) -> None:
        for name in self.telltales.examples:
            labels = self._label(name)
            if differ_within(run, labels).any():
                raise UnreadableRuns(
                    f"{self._describe_rows(run, name, labels)}: they are answers to test examples, "
                    "not runs",
                    "Give the mean over the examples of every run, with its seed (comparing given "
                    f"models example by example is coming); {_OWN}",
                )

    def _tell_apart(self, run: IntArray, step: Labels) -> IntArray:
        """Tell curves apart by settings and folds that differ at the same step of one run."""
        for name in self.telltales.others:
            labels = self._label(name)
            if differ_within(split_groups(run, step), labels).any():
                run = split_groups(run, labels)
        return run

    def _find_times(self, run: IntArray) -> dict[str, Labels]:
        """Find the times of rows, if rows of a run differ in nothing else."""
        others = (self._label(name) for name in self.telltales.others)
        if any(differ_within(run, labels).any() for labels in others):
            return {}
        return {name: self._label(name) for name in self.telltales.times}

    def _trace(self, run: IntArray, steps: Mapping[str, Labels]) -> Curves:
        row, source = self.rows.row, self.table.source
        values = [parse_steps(labels, row, name, source) for name, labels in steps.items()]
        stage = np.zeros(len(row))
        for value in values:  # the coarsest first
            distinct, place = np.unique(value, return_inverse=True)
            stage = stage * len(distinct) + place
        return Curves(run, next(iter(steps)), values[0], stage)

    def _explain_curve(self, run: IntArray, name: str, labels: Labels) -> UnreadableRuns:
        ways = ["--at last", f"--at N for {name} N"]
        if self.chooser.validation is not None:
            ways.insert(1, "--at best-validation")
        which = f'which row to take: {", ".join(ways[:-1])} or {ways[-1]} (from Python: at="last")'
        say = f"Say {which}"
        if self.rows.keys.replicate is None:
            say = f"Name the column that tells runs apart with --replicate, and say {which}"
        return UnreadableRuns(
            f"{self._describe_rows(run, name, labels)}: they are points of a learning curve, not "
            "runs",
            f"{say}; {_OWN}",
        )

    def _describe_rows(self, run: IntArray, name: str, labels: Labels) -> str:
        """Name the first run that has several rows, and what they differ in."""
        keys = self.rows.keys
        first = int(np.flatnonzero(differ_within(run, labels))[0])
        algorithm, task, replicate = (
            part.names[part.codes[first]] if part else ""
            for part in (keys.algorithm, keys.task, keys.replicate)
        )
        of_run = run == run[first]
        values = [labels.names[code] for code in dict.fromkeys(labels.codes[of_run].tolist())]
        whose = f"{algorithm!r} has" if algorithm else "there are"
        which = f" with {','.join(self.replicate)} {replicate!r}" if replicate else ""
        place = f"task {task!r} of {self.table.source}" if task else self.table.source
        return (
            f"{whose} {np.count_nonzero(of_run)} rows{which} in {place} that differ in {name} "
            f"({enumerate_names(values, limit=3)})"
        )
