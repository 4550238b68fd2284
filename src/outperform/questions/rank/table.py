"""A ranking as tables that fit a screen."""

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from outperform.questions.result import Table
from outperform.wording import describe_goal, measure, shorten, shorten_apart

if TYPE_CHECKING:
    from outperform.questions.rank.result import RankedAlgorithm, RankedPair, RankedTask, Ranking

MAYBE_BEST = "*"
MEANINGFUL, SMALL = "+", "~"  # verdicts on a pair
_SCREEN = 80  # columns
_LONGEST_NAME, _SHORT_NAME = 16, 10
_LARGEST_MATRIX = 12  # algorithms
_MOST_PAIRS = 20  # rows
_ARROWS = {"maximize": " ↑", "minimize": " ↓"}
_BETTER_ON = "  better on 2:0: A on at least 2 tasks, B on at least 0, each pair by itself"


def tabulate_ranking(ranking: "Ranking") -> list[Table | str]:
    """Means of every task with marks, ranks, and pairs."""
    return [
        *_tabulate_means(ranking),
        _tabulate_ranks(ranking),
        *_tabulate_tests(ranking),
        *_tabulate_aggregates(ranking),
        *_tabulate_pairs(ranking),
    ]


def _tabulate_means(ranking: "Ranking") -> Iterator[Table]:
    """Algorithms by tasks, side by side if need be with fewer digits, else one below another."""
    names = shorten_apart(ranking.names, _LONGEST_NAME)
    for digits, gap in ((2, 2), (1, 1), (2, 2)):  # all of them again, where fewer do not help
        columns = _lay_out_means(ranking, digits)
        blocks = _divide(columns, _SCREEN - 2 - max(map(measure, names)), gap)
        if len(blocks) == 1:
            break
    for block in blocks:
        header, *rows = zip(["", *names], *block, strict=True)
        title = _entitle(ranking) if block is blocks[0] else ""
        note = _explain_marks(ranking) if block is blocks[-1] else ""
        yield Table(header, rows, title=title, note=note, gap=gap)


def _lay_out_means(ranking: "Ranking", digits: int) -> list[list[str]]:
    """Of every task, its name and the cells below."""
    longest = _LONGEST_NAME if digits == 2 else _SHORT_NAME
    headers = shorten_apart([task.name or "mean ± sd" for task in ranking.tasks], longest)
    arrow = _ARROWS if len({task.goal for task in ranking.tasks}) > 1 else {}
    return [
        [header + arrow.get(task.goal, ""), *format_means(task, ranking.names, digits=digits)]
        for header, task in zip(headers, ranking.tasks, strict=True)
    ]


def _divide(columns: list[list[str]], room: int, gap: int) -> list[list[list[str]]]:
    """Put as many columns side by side as there is room for, at least one."""
    blocks: list[list[list[str]]] = []
    left = -1
    for column in columns:
        width = gap + max(map(measure, column))
        if left < width:
            blocks.append([])
            left = room
        blocks[-1].append(column)
        left -= width
    return blocks


def _explain_marks(ranking: "Ranking") -> str:
    if all(task.n_runs < 2 for task in ranking.tasks):
        return ""
    return (
        f"  {MAYBE_BEST} may be the best there: the marked ones hold the truly best with "
        f"{1 - ranking.alpha:.0%}"
    )


def _entitle(ranking: "Ranking") -> str:
    several = any(task.n_runs > 1 for task in ranking.tasks)
    what = "mean ± standard deviation" if several else "one run each"
    goals = {task.goal for task in ranking.tasks}
    way = describe_goal(*goals) if len(goals) == 1 else "higher (↑) or lower (↓) is better"
    return f"{ranking.metric or 'metrics differ between tasks'}, {way}; {what}"


def format_means(task: "RankedTask", names: Sequence[str], *, digits: int = 2) -> list[str]:
    """Mean ± standard deviation of each algorithm, all with the same places, and marks.

    The middle one of the standard deviations has so many digits; where none is known, means have
    as many places as they need, up to four.
    """
    spreads = sorted(sd for sd in task.sds.values() if sd > 0)
    means = [mean for mean in task.means.values() if math.isfinite(mean)]
    if spreads:
        middle = spreads[len(spreads) // 2]
        places = min(6, max(0, digits - 1 - math.floor(math.log10(middle))))
    else:
        exact = (n for n in range(4) if all(math.isclose(round(m, n), m) for m in means))
        places = next(exact, 4)
    marked = task.maybe_best if task.n_runs > 1 else ()  # one run rules nobody out
    return [
        _format_mean(task.means[name], task.sds[name], places, brief=digits == 1)
        + (MAYBE_BEST if name in marked else " ")
        for name in names
    ]


def _format_mean(mean: float, sd: float, places: int, *, brief: bool) -> str:
    if math.isnan(mean):
        return "–"
    if abs(mean) >= 1e6 or 0 < abs(mean) < 10**-places:
        return f"{mean:.3g}" if math.isnan(sd) else f"{mean:.3g}±{sd:.2g}"
    text = f"{mean:.{places}f}"
    text = _drop_zero(text) if brief else text
    return text if math.isnan(sd) else f"{text}±{_drop_zero(f'{sd:.{places}f}')}"


def _drop_zero(number: str) -> str:
    """Write 0.012 as .012, since a table has no room."""
    return number[1:] if number.startswith("0.") else number


def _tabulate_ranks(ranking: "Ranking") -> Table:
    n = len(ranking.tasks)
    header = ["", "mean rank", f"rank, {1 - ranking.alpha:.0%}"]
    rows = [
        [name, f"{algorithm.mean_rank:.2f}", _describe_ranks(algorithm)]
        for name, algorithm in zip(
            shorten_apart(ranking.names, _LONGEST_NAME), ranking.algorithms, strict=True
        )
    ]
    if any(task.n_runs > 1 for task in ranking.tasks):
        header.append("may be the best on")
        for row, algorithm in zip(rows, ranking.algorithms, strict=True):
            row.append(f"{algorithm.n_tasks_maybe_best} of {n}")
    return Table(header, rows, title=f"Ranks on {ranking.question}; the best is 1")


def _describe_ranks(algorithm: "RankedAlgorithm") -> str:
    low, high = algorithm.rank_low, algorithm.rank_high
    return "–" if low is None else f"{low}" if low == high else f"{low} to {high}"


def _tabulate_tests(ranking: "Ranking") -> Iterator[Table]:
    """Tests of all algorithms at once."""
    if ranking.friedman is not None and ranking.nemenyi is not None:
        right, plain = ranking.friedman.corrected, ranking.friedman.uncorrected
        rows = [
            ("Friedman", f"χ² = {right.chi2:.3f}, {_format_pvalue(right.chi2_pvalue)}"),
            ("Iman–Davenport", f"F = {right.f:.3f}, {_format_pvalue(right.f_pvalue)}"),
            ("without the correction for ties", f"χ² = {plain.chi2:.3f}, F = {plain.f:.3f}"),
            ("Nemenyi", f"mean ranks differ from {ranking.nemenyi.critical_difference:.3f} on"),
        ]
        yield Table((), rows, title="Are all alike?")
    if ranking.skillings_mack is not None:
        test = ranking.skillings_mack
        value = f"{test.statistic:.3f}, p = {test.permutation_pvalue:.2g} by permutation"
        yield Table((), [("Skillings–Mack", value)], title="Are all alike?")


def _format_pvalue(pvalue: float) -> str:
    return f"p = {pvalue:.2g}" if pvalue >= 1e-16 else "p < 1e-16"


def _tabulate_aggregates(ranking: "Ranking") -> Iterator[Table]:
    """Normalised scores over all tasks."""
    if ranking.aggregates is None:
        return
    by = {"baseline": "baseline and target of each task", "range": "the range seen", "rank": "rank"}
    shorts = dict(zip(ranking.names, shorten_apart(ranking.names, _LONGEST_NAME), strict=True))
    by_name = {each["name"]: each for each in ranking.aggregates.algorithms}
    keys = ("mean", "median", "interquartile_mean", "optimality_gap")
    bounds = "{estimate:.2f} [{low:.2f}, {high:.2f}]"
    rows = [
        [shorts[name], *(bounds.format(**by_name[name][key]) for key in keys)]
        for name in ranking.names
    ]
    header = ["", "mean", "median", "IQM", "gap to 1"]
    yield Table(header, rows, title=f"Scores over all tasks, by {by[ranking.aggregates.normalize]}")


def _tabulate_pairs(ranking: "Ranking") -> Iterator[Table | str]:
    title = f"P(A>B) on {ranking.question}; p by {ranking.test}, {_describe_correction(ranking)}"
    if len(ranking.pairs) <= _MOST_PAIRS or ranking.baseline:
        shown = ranking.pairs[:_MOST_PAIRS]
        header = ["A", "B", "P(A>B)", "W-T-L", "p", "verdict"]
        left = len(ranking.pairs) - len(shown)
        note = f"  and {left} more pairs: see --json" if left else ""
        rows = [_describe_pair(pair) for pair in shown]
        if ranking.tasks_are == "fixed" and len(ranking.tasks) > 1:
            header.insert(-1, "better on")
            for row, pair in zip(rows, shown, strict=True):
                row.insert(-1, f"{pair.n_tasks_better['a']}:{pair.n_tasks_better['b']}")
            note = f"{_BETTER_ON}\n{note}" if note else _BETTER_ON
        yield Table(header, rows, title=title, note=note)
    elif len(ranking.names) <= _LARGEST_MATRIX:
        yield _tabulate_matrix(ranking, title)
    else:
        yield (
            f"{title}: {len(ranking.differing)} of {len(ranking.pairs)} pairs differ. --json lists "
            "them, --plot FILE --view pairs draws them."
        )


def _describe_correction(ranking: "Ranking") -> str:
    if ranking.correction == "none":
        return "not corrected"
    name = ranking.correction.replace("benjamini-hochberg", "Benjamini–Hochberg").capitalize()
    n = len(ranking.pairs)
    return f"{name} for {n} pairs" if n > 1 else "one pair"


def _describe_pair(pair: "RankedPair") -> list[str]:
    a, b = shorten_apart([pair.a, pair.b], _LONGEST_NAME)
    p = "–" if pair.pvalue_adjusted is None else f"{pair.pvalue_adjusted:.2g}"
    return [
        a,
        b,
        f"{pair.probability:.2f} [{pair.adjusted_low:.2f}, {pair.adjusted_high:.2f}]",
        f"{pair.wins}-{pair.ties}-{pair.losses}",
        p,
        _describe_winner(pair),
    ]


def _describe_winner(pair: "RankedPair") -> str:
    if pair.winner_name is None:
        return "scores differ, wins may not" if pair.only_scores_differ else pair.verdict
    size = pair.verdict.removeprefix("significant").lstrip(" ,").removeprefix("and ")
    return f"{shorten(pair.winner_name, _LONGEST_NAME)}, {size}"


def _tabulate_matrix(ranking: "Ranking", title: str) -> Table:
    names = shorten_apart(ranking.names, _LONGEST_NAME)
    rows = []
    for place, (short, a) in enumerate(zip(names, ranking.names, strict=True), start=1):
        cells = [_describe_entry(ranking, a, b) for b in ranking.names]
        rows.append([f"{place} {short}", *cells])
    header = ["", *(str(place) for place in range(1, len(names) + 1))]
    note = (
        f"  chance that the row beats the column; {MEANINGFUL} told apart, {SMALL} told apart but "
        f"below γ = {ranking.gamma:g}"
    )
    return Table(header, rows, title=title, note=note)


def _describe_entry(ranking: "Ranking", a: str, b: str) -> str:
    pair = ranking.find_pair(a, b)
    if pair is None:
        return "· "
    probability = pair.probability if pair.a == a else 1 - pair.probability
    marks = {"not significant": " ", "significant, not meaningful": SMALL}
    return f"{probability:.2f}{marks.get(pair.verdict, MEANINGFUL)}"
