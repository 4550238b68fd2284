"""What else differs between the runs of algorithms, by what the other columns of their table say.

What would make a verdict wrong is asked about, as in `suspicions`:

- redrawn: a column says which source of variation was redrawn for each run; see `redrawn`;
- counts: scores count right or wrong answers, and another column of how many, which differs;
- examples: runs of one replicate were not tested on the same examples;
- pooled: scores depend on a column of labels that nothing is known of, as chance does in less than
  one of 1,000 cases (by the F-test, in one cell of all), and runs that are compared differ in it.
  Whoever ran more often where scores are high would win, although it may lose everywhere; and of
  one algorithm, the luck of a run would be that of its label.

What a verdict holds with is noted: test examples, data, training and, for times, machines that each
algorithm has for itself, and hyperparameters that differ between the runs of one.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import filterfalse
from shlex import quote
from typing import TYPE_CHECKING

import numpy as np

from outperform.runs.columns import Hint, normalise, read_name
from outperform.runs.labels import IntArray, Labels, differ_within, label_rows, split_groups
from outperform.runs.metrics import counts_answers, may_be_points, measures_speed
from outperform.runs.mismatches import write_alike
from outperform.runs.nesting import compare_groups
from outperform.runs.redrawn import find_redrawn, suspect_redrawn
from outperform.runs.source_table import parse_number
from outperform.runs.suspicions import Suspicion
from outperform.wording import enumerate_names, join_words

if TYPE_CHECKING:
    from outperform.runs.table import Runs

_MOST_SETTINGS = 3  # that are shown
_CHANCE_POOLED = 0.001
_N_GLANCE = 500  # rows that show whether a column holds labels
# Columns in which numbers are labels: which dataset, or which draw.
_NUMBERS = re.compile(
    r"\bid\b|_id\b|^(rep|repeat|repetition|rng|trial)\b|random_(seed|state)|subject"
)
# What runs are about, and where they ran.
_DATA = re.compile(
    "corp(us|ora)|data|domain|game|lang(uage)?|scenario|scene|subject|suite|"
    "(data|dataset|env|environment|task)(_?(id|name))?"
)
_MACHINE = re.compile(
    "(accelerator|cluster|cpu|device|gpu|hardware|host|hostname|instance|machine|node|partition)"
    "(_?(count|id|model|name|type))?"
)
_FLAGS = frozenset({"false", "no", "true", "yes", ""})  # mostly an outcome of the run


def find_confounders(
    runs: "Runs", rows: IntArray, place: str, *, paired: bool
) -> Iterator[Suspicion]:
    """Every question that other columns raise about the runs in these rows."""
    paired = paired and runs.replicates is not None
    columns = _sort_columns(runs)
    redrawn = find_redrawn(runs, rows) if columns["redrawn"] else None
    if redrawn:
        yield suspect_redrawn(*redrawn, place)
    if asked := columns["total" if counts_answers(runs.metric) else "most"]:
        yield from _question_counts(runs, rows, place, asked, paired=paired)
    # What makes up the name of a replicate cannot differ within it.
    is_used = runs.replicate_columns.__contains__
    if paired and (tested_on := [*filterfalse(is_used, columns["test data"])]):
        yield from _question_examples(runs, rows, place, tested_on)
    # Where something was redrawn, scores depend on it, which was asked about.
    if redrawn is None and (unknown := [*filterfalse(is_used, columns["label"])]):
        yield from _question_labels(runs, rows, place, unknown, paired=paired)


def find_pooled(
    runs: "Runs", rows: IntArray, place: str, *, used: Sequence[str]
) -> Iterator[Suspicion]:
    """Ask about runs in these rows that are pooled over labels, but for columns that are used."""
    unknown = [name for name in _sort_columns(runs)["label"] if name not in used]
    yield from _question_labels(runs, rows, place, unknown, paired=False)


def _sort_columns(runs: "Runs") -> dict[Hint, list[str]]:
    """List the columns that are nothing else by what their names hint at."""
    known_for = {*runs.algorithm_columns, *runs.task_columns, runs.metric, runs.validation_metric}
    columns: dict[Hint, list[str]] = defaultdict(list)
    for name in runs.others.names:
        for hint in read_name(name).hints:
            if name not in known_for or hint == "redrawn":  # which `find_redrawn` looks through
                columns[hint].append(name)
    return columns


def _question_counts(
    runs: "Runs", rows: IntArray, place: str, names: Sequence[str], *, paired: bool
) -> Iterator[Suspicion]:
    """Ask about answers that are counted out of more in some runs than in others."""
    counts = counts_answers(runs.metric) or may_be_points(runs.metric)
    if not counts or (np.nan_to_num(runs.score[rows]) % 1).any():
        return
    for name, labels, known in _read_columns(runs, rows, names):
        totals = np.array([parse_number(each) for each in labels.names], float)[labels.codes]
        if np.isnan(totals).any() or (runs.score[known] > totals).any():
            continue  # it says something else
        if not counts_answers(runs.metric) and 2 * len(labels.distinct()) > len(known):
            continue  # as the best episode of each run, which differs by itself
        group = _group_pairs(runs, known) if paired else runs.task[known]
        if not differ_within(group, labels).any():
            continue
        of = f" of the same {runs.replicate_name}" if paired else ""
        share = "error_rate" if runs.goal == "minimize" else "accuracy"
        yield Suspicion(
            "counts",
            f"{runs.metric} counts answers out of {name}, which differs between runs{of} in "
            f"{place} ({_list_values(labels)})",
            "a run that was asked more has more of them, however good it is",
            f"Give every run its share, {runs.metric} / {name}, in a column {share}, which "
            "--metric names; if the counts can be compared as they are",
        )


def _question_examples(
    runs: "Runs", rows: IntArray, place: str, names: Sequence[str]
) -> Iterator[Suspicion]:
    """Ask about pairs that were not tested on the same examples."""
    for name, labels, known in _read_columns(runs, rows, names):
        if _differ_in_pairs(runs, labels, known):
            yield Suspicion(
                "examples",
                f"{name} differs between runs of the same {runs.replicate_name} in {place} "
                f"({_list_values(labels)})",
                "they were not tested on the same examples, so they are no pairs",
                "Test all on the same, or pass --unpaired; if they are pairs all the same",
            )


def _question_labels(
    runs: "Runs", rows: IntArray, place: str, names: Sequence[str], *, paired: bool
) -> Iterator[Suspicion]:
    """Ask about runs that are pooled over labels that scores depend on."""
    reading = "whoever has more runs where scores are high looks better than it is"
    look, unless = "compare on", "runs may be pooled"
    if not np.ptp(runs.algorithm[rows]):
        reading, look = "runs that differ in it are no replicates of one another", "look at"
        unless = "it is a setting that was searched, or runs may be pooled"
    labelling = filter(partial(_may_label, runs, rows[:_N_GLANCE]), names)
    for name, labels, known in _read_columns(runs, rows, labelling):
        if paired and not _differ_in_pairs(runs, labels, known):
            continue
        if means := _find_dependence(runs, labels, known):
            yield Suspicion(
                "pooled",
                f"scores in {place} depend on {name} ({means}), of which nothing is known",
                reading,
                f"Pass --task {quote(name)} to {look} each, or make it part of the name with "
                f"--algorithm {quote(','.join((*runs.algorithm_columns, name)))}; if {unless}",
            )


def _differ_in_pairs(runs: "Runs", labels: Labels, rows: IntArray) -> bool:
    return bool(differ_within(_group_pairs(runs, rows), labels).any())


def _group_pairs(runs: "Runs", rows: IntArray) -> IntArray:
    """Number the replicates of every task."""
    return split_groups(runs.replicate[rows], Labels(runs.tasks, runs.task[rows]))


def _may_label(runs: "Runs", rows: IntArray, name: str) -> bool:
    """Whether a column labels runs, by a glance at some rows: labels recur."""
    tables = [table for table, _ in runs.others.sources if name in table.names]
    numbers = not any(table.holds_text(name) for table in tables)
    if numbers and not _NUMBERS.search(read_name(name).plain):
        return False
    values = runs.others.label(name, rows).distinct()
    return 2 * len(values) <= len(rows) and not _FLAGS.issuperset(map(normalise, values))


def _find_dependence(runs: "Runs", labels: Labels, rows: IntArray) -> str:
    """Give means by label of the algorithm whose scores depend most on it; empty if none does."""
    cell = runs.algorithm[rows] * len(runs.tasks) + runs.task[rows]
    if not differ_within(cell, labels).any():
        return ""
    # One run that went badly is no label on which runs do.
    _, group, counts = np.unique(
        split_groups(cell, labels), return_inverse=True, return_counts=True
    )
    chosen = np.isfinite(runs.score[rows]) & (counts[group] > 1)
    labels, rows, cell = labels.keep(chosen), rows[chosen], cell[chosen]
    order = np.argsort(cell, kind="stable")
    cells = np.split(order, np.flatnonzero(np.diff(cell[order])) + 1)
    chances = [compare_groups(labels.codes[each], runs.score[rows[each]]) for each in cells]
    least = int(np.argmin(chances))
    if chances[least] >= _CHANCE_POOLED / len(cells):
        return ""
    codes, scores = labels.codes[cells[least]], runs.score[rows[cells[least]]]
    means = [f"{scores[codes == c].mean():.3g} on {labels.names[c]}" for c in np.unique(codes)]
    algorithm = runs.algorithms[runs.algorithm[rows[cells[least][0]]]]
    return f"of {algorithm}, {enumerate_names(means, limit=3)} on average"


def note_confounders(runs: "Runs", rows: IntArray, *, paired: bool) -> Iterator[str]:
    """Say what each of the algorithms in these rows has for itself: test examples, and training."""
    columns = _sort_columns(runs)
    if columns["test data"] and not (paired and runs.replicates is not None):
        for name, labels, known in _read_columns(runs, rows, columns["test data"]):
            if _is_own(runs, labels, known):
                yield (
                    f"{name} differs by algorithm ({_list_values(labels)}): they were not tested "
                    "on the same examples, and what differs may be the examples"
                )
    yield from _note_own_labels(runs, rows, columns["label"])
    if columns["label"] and runs.replicates is None:
        labelling = filter(partial(_may_label, runs, rows[:_N_GLANCE]), columns["label"])
        for name, labels, known in _read_columns(runs, rows, labelling):
            if _occur_once(runs, labels, known):
                n_values = len(labels.distinct())
                yield (
                    f"{name} has the same {n_values} values for each algorithm: if it "
                    f"names tasks or tells pairs, --task {quote(name)} or --replicate "
                    f"{quote(name)} shows more"
                )
    if columns["training"]:
        yield from _note_training(runs, rows, columns["training"])


def _note_own_labels(runs: "Runs", rows: IntArray, names: Sequence[str]) -> Iterator[str]:
    """Say that each algorithm has data for itself; or machines, where it matters."""
    data, machines = (
        [name for name in names if pattern.fullmatch(read_name(name).bare_leaf)]
        for pattern in (_DATA, _MACHINE)
    )
    if machines and not any(measures_speed(runs.metric_on(task)) for task in runs.tasks):
        machines = []
    for what, columns in (("the data", data), ("the machine", machines)):
        for name, labels, known in _read_columns(runs, rows, columns):
            if _is_own(runs, labels, known):
                yield (
                    f"{name} differs by algorithm ({_list_values(labels)}): what differs may be "
                    f"{what}, not the algorithm"
                )


def _note_training(runs: "Runs", rows: IntArray, names: Sequence[str]) -> Iterator[str]:
    trained = [
        _describe_training(runs, name, labels, known)
        for name, labels, known in _read_columns(runs, rows, names)
        if _is_own(runs, labels, known) and all(each[0].isdigit() for each in labels.distinct())
    ]
    if trained:
        yield f"{', '.join(trained)}: they are compared as they were trained, not trained alike"


def _read_columns(
    runs: "Runs", rows: IntArray, names: Iterable[str]
) -> Iterator[tuple[str, Labels, IntArray]]:
    """Columns with the labels of all rows that have one, equal numbers alike."""
    for name in names:
        labels = runs.others.label(name, rows)
        alike = write_alike(labels.names) or label_rows(labels.names)
        known = np.array([label != "" for label in labels.names])[labels.codes]
        yield name, Labels(alike.names, alike.codes[labels.codes[known]]), rows[known]


def _is_own(runs: "Runs", labels: Labels, rows: IntArray) -> bool:
    """Whether all runs of an algorithm on a task share their label, which others there have not."""
    task = runs.task[rows]
    cell = split_groups(task, Labels(runs.algorithms, runs.algorithm[rows]))
    return bool(differ_within(task, labels).any() and not differ_within(cell, labels).any())


def _occur_once(runs: "Runs", labels: Labels, rows: IntArray) -> bool:
    """Whether every label occurs once with each algorithm on each task."""
    cell = runs.algorithm[rows] * len(runs.tasks) + runs.task[rows]
    n_cells, n_labels = len(np.unique(cell)), len(np.unique(labels.codes))
    n_pairs = len(np.unique(split_groups(cell, labels)))
    return n_labels > 1 and n_pairs == len(rows) == n_cells * n_labels


def _describe_training(runs: "Runs", name: str, labels: Labels, rows: IntArray) -> str:
    """Say which algorithms have which label, on the first task on which they differ."""
    task = runs.task[rows]
    first = task == task[differ_within(task, labels)][0]
    algorithms, index = np.unique(runs.algorithm[rows[first]], return_index=True)
    values = labels.codes[first][index]
    parts = [
        f"{_write_amount(labels.names[value])} for "
        + enumerate_names([runs.algorithms[each] for each in algorithms[values == value]], limit=3)
        for value in dict.fromkeys(values.tolist())
    ]
    on = f" on {runs.tasks[task[first][0]]}" if np.ptp(task) else ""
    return f"{name} is {join_words(parts)}{on}"


def _write_amount(label: str) -> str:
    return f"{int(label):,}" if label.isdecimal() else label


def _list_values(labels: Labels) -> str:
    return enumerate_names(labels.distinct(), limit=3)


def note_settings(runs: "Runs", algorithm: str, rows: IntArray) -> Iterator[str]:
    """Say that the runs of an algorithm differ in hyperparameters."""
    differing = []
    for name in runs.others.names:
        if read_name(name).kind != "setting":
            continue
        labels = runs.others.label(name, rows)
        values = labels.distinct()
        # Texts that name each run are no settings of it.
        names_runs = len(values) == len(rows) and None in map(parse_number, values)
        if len(values) > 1 and not names_runs:
            differing.append(f"{name} ({len(values)} values)")
    if differing:
        shown = ", ".join(differing[:_MOST_SETTINGS])
        more = len(differing) - _MOST_SETTINGS
        yield (
            f"runs of {algorithm} differ in {shown}{f' and {more} more' if more > 0 else ''}: "
            "they are trials of a search, not replicates of one setting, unless each was tuned "
            "anew"
        )
