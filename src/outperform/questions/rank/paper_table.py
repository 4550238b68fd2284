"""A ranking as the table of a paper, with the caption that describes its tests, and as records."""

import math
from collections.abc import Iterator
from importlib.metadata import version
from itertools import product

import numpy as np

from outperform.questions.rank.result import Ranking
from outperform.questions.rank.table import MAYBE_BEST, format_means
from outperform.questions.result import PaperTable, Table
from outperform.wording import describe_goal

_ARROWS = {"maximize": "↑", "minimize": "↓"}
_TASK_TESTS = {
    "wins": "sign test of wins",
    "paired-t": "paired t-test",
    "wilcoxon": "Wilcoxon signed-rank test",
    "sign-flip": "sign-flip test",
    "welch-t": "Welch t-test",
    "brunner-munzel": "Brunner–Munzel test",
    "brunner-munzel-permutation": "Brunner–Munzel test by permutation",
    "nadeau-bengio": "t-test of Nadeau and Bengio for overlapping splits",
}
_CORRECTIONS = {
    "holm": "Holm's correction for {}",
    "bonferroni": "Bonferroni's correction for {}",
    "benjamini-hochberg": "the correction of Benjamini and Hochberg for {}",
    "none": "not corrected for {}",
}
_RECORD = (
    *("algorithm", "task", "metric", "goal", "mean", "sd", "n", "maybe_best"),
    *("mean_rank", "rank_low", "rank_high"),
)


def make_paper_table(ranking: Ranking) -> PaperTable:
    """Lay a ranking out: a row for each algorithm, a column for each task and one for ranks."""
    columns = [format_means(task, ranking.names) for task in ranking.tasks]
    bold = {
        (i, j)
        for j, column in enumerate(columns, start=1)
        for i, cell in enumerate(column)
        if cell.endswith(MAYBE_BEST)
    }
    ranks = [
        f"{each.mean_rank:.2f}"
        + ("" if each.rank_low is None else f" [{each.rank_low}, {each.rank_high}]")
        for each in ranking.algorithms
    ]
    cells = ([_write_out(cell) for cell in column] for column in columns)
    header = [""]
    for task in ranking.tasks:
        arrow = _ARROWS[task.goal]
        head = f"{task.metric} {arrow}"
        if task.name:
            head = f"{task.name} {arrow}" if ranking.metric else f"{task.name} ({head})"
        header.append(head)
    header.append("mean rank" if len(ranking.tasks) > 1 else "rank")
    rows = [list(row) for row in zip(ranking.names, *cells, ranks, strict=True)]
    marked = {ranking.tasks[j - 1].name for _, j in bold}
    return PaperTable(header, rows, bold, " ".join(_describe(ranking, len(marked))), "ranking")


def list_records(ranking: Ranking) -> Table:
    """List every algorithm on every task, with all digits: what is not known is empty."""
    n_runs = _count_runs(ranking)
    rows = []
    for each, (task, counts) in product(
        ranking.algorithms, zip(ranking.tasks, n_runs, strict=True)
    ):
        name = each.name
        numbers = (task.means[name], task.sds[name], each.mean_rank, each.rank_low, each.rank_high)
        mean, sd, *ranks = ("" if x is None or math.isnan(x) else repr(x) for x in numbers)
        what = [name, task.name, task.metric, task.goal]
        rows.append([*what, mean, sd, str(counts[name]), str(name in task.maybe_best), *ranks])
    return Table(_RECORD, rows)


def _count_runs(ranking: Ranking) -> list[dict[str, int]]:
    """Runs of each algorithm, on each task."""
    if not ranking.scores:
        return [dict.fromkeys(task.means, task.n_runs) for task in ranking.tasks]
    return [
        dict(zip(task.means, (~np.isnan(grid)).sum(axis=1).tolist(), strict=True))
        for task, grid in zip(ranking.tasks, ranking.scores, strict=True)
    ]


def _write_out(cell: str) -> str:
    """Write the cell of a screen as a paper has room for: 0.90±.01 with its zero and blanks."""
    text = cell.removesuffix(MAYBE_BEST).strip().replace("±.", "±0.")
    return text.replace("±", " ± ").replace("-", "−")


def _describe(ranking: Ranking, n_marked: int) -> Iterator[str]:
    """What the table shows and by which tests, as the section on methods should have it."""
    yield from _describe_cells(ranking, n_marked)
    yield str(ranking)
    yield from _describe_pairs(ranking)
    yield from _describe_tests(ranking)
    if ranking.families and ranking.tasks_are == "sampled":
        yield f"Tasks are of {ranking.n_units} families, each of which counts as one."
    yield f"{ranking.scope}."
    yield f"Computed with outperform {version('outperform')}."


def _describe_cells(ranking: Ranking, n_marked: int) -> Iterator[str]:
    """What cells hold, what is bold, and what ranks are."""
    goals = dict.fromkeys(task.goal for task in ranking.tasks)
    arrows = ", ".join(f"{_ARROWS[goal]} {describe_goal(goal)}" for goal in goals)
    what = f"{ranking.metric or 'each metric'} ({arrows})"
    counts = {n for counts in _count_runs(ranking) for n in counts.values()}
    gaps = " A dash: no runs there, as if for no reason of performance." if 0 in counts else ""
    counts -= {0}
    several, sure = len(ranking.tasks) > 1, f"{1 - ranking.alpha:.0%}"
    on = " on each task" if several else ""
    runs = f"{min(counts)} to {max(counts)}" if len(counts) > 1 else str(*counts)
    mean = f"Mean ± standard deviation of {what} over {runs} runs of each algorithm{on}."
    yield (f"One run of each algorithm{on}: {what}." if counts == {1} else mean) + gaps
    if n_marked:
        k = len(ranking.names)
        level = f"{ranking.level:g}" if k == 2 else f"{ranking.level:g}/{k - 1}"
        nobody = "" if n_marked == len(ranking.tasks) else "; one run rules nobody out"
        yield (
            f"Bold: all that may be the best{' on a task' if several else ''}; they hold the truly "
            f"best with {sure} (whoever another beats in a one-sided "
            f"{_TASK_TESTS[ranking.task_test]} at level {level} is ruled out{nobody})."
        )
    else:
        yield "Nothing is bold: one run rules nobody out as the best."
    over = "Mean ranks over tasks" if several else "Ranks"
    by = " by its ranks within replicates" if ranking.tasks_are == "fixed" else ""
    by = " by the pairs that differ" if ranking.beyond_data else by
    bounds = f"; in brackets the ranks that each may truly have{by}, with {sure} for all at once"
    unknown = any(algorithm.rank_low is None for algorithm in ranking.algorithms)
    yield f"{over} are those of mean scores, 1 is the best{'' if unknown else bounds}."


def _describe_pairs(ranking: Ranking) -> Iterator[str]:
    n = len(ranking.pairs)
    if all(pair.pvalue is None for pair in ranking.pairs):
        kind = "families of tasks" if ranking.families else "tasks"
        yield f"No pair was tested: {ranking.n_units} {kind} are too few for {ranking.question}."
        return
    pairs = f"{n} comparisons with {ranking.baseline}" if ranking.baseline else f"{n} pairs"
    correction = f", {_CORRECTIONS[ranking.correction].format(pairs)}" if n > 1 else ""
    own = f"level {ranking.alpha:g}" if ranking.beyond_data else "the same level"
    yield (
        f"A pair differs where p ≤ {ranking.level:g} (two-sided; {ranking.test}{correction}) and "
        f"the interval of P(A>B) at {own} does not hold 0.5."
    )
    if ranking.baseline and ranking.tasks_are == "fixed" and len(ranking.tasks) > 1:
        yield (
            "Numbers of tasks are lower bounds by partial conjunction (Bonferroni) of one-sided "
            f"p-values ({_TASK_TESTS[ranking.task_test]}) at level {ranking.level:g}/{2 * n}."
        )


def _describe_tests(ranking: Ranking) -> Iterator[str]:
    if ranking.friedman is not None:
        test = ranking.friedman.corrected
        yield (
            f"Friedman test: χ² = {test.chi2:.2f}, {_describe_p(test.chi2_pvalue)}; Iman and "
            f"Davenport: F = {test.f:.2f}, {_describe_p(test.f_pvalue)}, both corrected for ties."
        )
    if ranking.nemenyi is not None:
        difference = ranking.nemenyi.critical_difference
        yield f"By Nemenyi's test mean ranks differ from {difference:.2f} on."
    if ranking.skillings_mack is not None:
        mack = ranking.skillings_mack
        p = _describe_p(mack.permutation_pvalue)
        yield f"Skillings–Mack test: {mack.statistic:.2f}, {p} by permutation."


def _describe_p(pvalue: float) -> str:
    return "p < 0.001" if pvalue < 0.001 else f"p = {pvalue:.2g}"
