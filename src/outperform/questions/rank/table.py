"""A ranking as tables that fit a screen."""

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from outperform.questions.result import Table
from outperform.wording import describe_goal, measure, shorten, shorten_apart

if TYPE_CHECKING:
    from outperform.questions.rank.result import RankedPair, RankedTask, Ranking

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
    names = shorten_apart(ranking.names, _LONGEST_NAME)
    return [
        *_tabulate_means(ranking, names),
        _tabulate_ranks(ranking, names),
        *_tabulate_tests(ranking),
        *_tabulate_aggregates(ranking, names),
        *_tabulate_pairs(ranking, names),
    ]


def _tabulate_means(ranking: "Ranking", names: Sequence[str]) -> Iterator[Table]:
    """Algorithms by tasks, side by side if need be with fewer digits, else one below another."""
    tasks, room = ranking.tasks, _SCREEN - 2 - max(map(measure, names))
    goals = {task.goal for task in tasks}
    arrows = [_ARROWS[task.goal] if len(goals) > 1 else "" for task in tasks]
    for digits, gap in ((2, 2), (1, 1), (2, 2)):  # all of them again, where fewer do not help
        longest = _LONGEST_NAME if digits == 2 else _SHORT_NAME
        heads = shorten_apart([task.name or "mean ± sd" for task in tasks], longest)
        columns = [
            [head + arrow, *format_means(task, ranking.names, digits=digits)]
            for head, arrow, task in zip(heads, arrows, tasks, strict=True)
        ]
        blocks = _divide(columns, room, gap)
        if len(blocks) == 1:
            break
    several = any(task.n_runs > 1 for task in tasks)
    what = "mean ± standard deviation" if several else "one run each"
    way = describe_goal(*goals) if len(goals) == 1 else "higher (↑) or lower (↓) is better"
    title = f"{ranking.metric or 'metrics differ between tasks'}, {way}; {what}"
    there, data = " there" if len(tasks) > 1 else "", f" {ranking.data}" if ranking.data else ""
    marks = f"  {MAYBE_BEST} may be the best{there}: the truly best{data} is among them with "
    note = f"{marks}{1 - ranking.alpha:.0%} confidence" if several else ""
    for block in blocks:
        header, *rows = zip(["", *names], *block, strict=True)
        above, below = title if block is blocks[0] else "", note if block is blocks[-1] else ""
        yield Table(header, rows, title=above, note=below, gap=gap)


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


def _tabulate_ranks(ranking: "Ranking", names: Sequence[str]) -> Table:
    n, several = len(ranking.tasks), any(task.n_runs > 1 for task in ranking.tasks)
    counted = several and n > 1
    header = ["", "mean rank" if n > 1 else "rank", f"true rank, {1 - ranking.alpha:.0%}"]
    header += ["may be the best on"] if counted else []
    rows = []
    for name, each in zip(names, ranking.algorithms, strict=True):
        low, high = each.rank_low, each.rank_high
        ranks = f"{low}" if low == high else f"{low} to {high}"
        mean = f"{each.mean_rank:.2f}" if n > 1 else f"{each.mean_rank:g}"
        row = [name, mean, "–" if low is None else ranks]
        rows.append([*row, f"{each.n_tasks_maybe_best} of {n}"] if counted else row)
    data = f", {ranking.data}" if ranking.beyond_data else ""
    title = f"Ranks{_describe_tasks(ranking)}{data}; the best is 1"
    return Table(header, rows, title=title, note=_explain_ranks(ranking) if several else "")


def _describe_tasks(ranking: "Ranking") -> str:
    return f" on {ranking.question}" if len(ranking.tasks) > 1 else ""


def _explain_ranks(ranking: "Ranking") -> str:
    """Say what ranks are of, where mean scores and replicates may rank otherwise."""
    if ranking.tasks_are == "sampled":
        return ""
    by = "the pairs told apart" if ranking.beyond_data else "ranks within replicates"
    mean = "mean rank" if len(ranking.tasks) > 1 else "rank"
    return f"  {mean}: of mean scores; true rank: by {by}, for all algorithms at once"


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


def _tabulate_aggregates(ranking: "Ranking", names: Sequence[str]) -> Iterator[Table]:
    """Normalised scores over all tasks."""
    if ranking.aggregates is None:
        return
    by = {"baseline": "baseline and target of each task", "range": "the range seen", "rank": "rank"}
    by_name = {each.pop("name"): each for each in ranking.aggregates.algorithms}
    bounds = "{estimate:.2f} [{low:.2f}, {high:.2f}]"
    rows = [
        [short, *(bounds.format(**summary) for summary in by_name[name].values())]
        for short, name in zip(names, ranking.names, strict=True)
    ]
    header = ["", "mean", "median", "IQM", "gap to 1"]
    yield Table(header, rows, title=f"Scores over all tasks, by {by[ranking.aggregates.normalize]}")


def _tabulate_pairs(ranking: "Ranking", names: Sequence[str]) -> Iterator[Table | str]:
    n, shown = len(ranking.pairs), _sort_pairs(ranking)[:_MOST_PAIRS]
    name = ranking.correction.replace("benjamini-hochberg", "Benjamini–Hochberg").capitalize()
    corrected = f"{name} for {n} pairs" if n > 1 else "one pair"
    corrected = "not corrected" if ranking.correction == "none" else corrected
    asked = f"; told apart {ranking.data} where p ≤ {ranking.level:.2g}"
    asked = asked if ranking.beyond_data else ""
    title = f"P(A>B){_describe_tasks(ranking)}; p by {ranking.test}, {corrected}{asked}"
    if n == len(shown) or ranking.baseline:
        header = ["A", "B", "P(A>B)", "W-T-L", "p", "verdict"]
        notes = [f"  and {n - len(shown)} more pairs: see --json"] if n > len(shown) else []
        rows = [_describe_pair(pair, turned=turned) for pair, turned in shown]
        if ranking.tasks_are == "fixed" and len(ranking.tasks) > 1:
            header.insert(-1, "better on")
            for row, (pair, turned) in zip(rows, shown, strict=True):
                n_better = [str(pair.n_tasks_better[side]) for side in ("ba" if turned else "ab")]
                row.insert(-1, ":".join(n_better))
            notes.insert(0, _BETTER_ON)
        yield Table(header, rows, title=title, note="\n".join(notes))
    elif len(names) <= _LARGEST_MATRIX:
        yield _tabulate_matrix(ranking, names, title)
    else:
        yield (
            f"{title}: {len(ranking.differing)} of {n} pairs differ. --json lists them, --plot "
            "FILE --view pairs draws them."
        )


def _sort_pairs(ranking: "Ranking") -> list[tuple["RankedPair", bool]]:
    """Pairs in the order of ranks, and whether to turn each so that it begins with the better one.

    Those with a baseline all end with it.
    """
    places = {name: place for place, name in enumerate(ranking.names)}
    turned = [
        (pair, ranking.baseline is None and places[pair.b] < places[pair.a])
        for pair in ranking.pairs
    ]
    return sorted(turned, key=lambda each: sorted((places[each[0].a], places[each[0].b])))


def _describe_pair(pair: "RankedPair", *, turned: bool) -> list[str]:
    a, b = shorten_apart([pair.a, pair.b], _LONGEST_NAME)
    chance, low, high = pair.probability, pair.adjusted_low, pair.adjusted_high
    wins, losses = pair.wins, pair.losses
    if turned:
        a, b, wins, losses = b, a, losses, wins
        chance, low, high = 1 - chance, 1 - high, 1 - low
    verdict: str = "scores differ, wins may not" if pair.only_scores_differ else pair.verdict
    if pair.winner_name is not None:
        size = pair.verdict.removeprefix("significant").lstrip(" ,").removeprefix("and ")
        verdict = f"{shorten(pair.winner_name, _LONGEST_NAME)}, {size}"
    return [
        a,
        b,
        f"{chance:.2f} [{low:.2f}, {high:.2f}]",
        f"{wins}-{pair.ties}-{losses}",
        "–" if pair.pvalue_adjusted is None else f"{pair.pvalue_adjusted:.2g}",
        verdict,
    ]


def _tabulate_matrix(ranking: "Ranking", names: Sequence[str], title: str) -> Table:
    marks = {"not significant": " ", "significant, not meaningful": SMALL}
    cells = {}
    for pair in ranking.pairs:
        mark = marks.get(pair.verdict, MEANINGFUL)
        cells[pair.a, pair.b] = f"{pair.probability:.2f}{mark}"
        cells[pair.b, pair.a] = f"{1 - pair.probability:.2f}{mark}"
    rows = [
        [f"{place} {short}", *(cells.get((a, b), "· ") for b in ranking.names)]
        for place, (short, a) in enumerate(zip(names, ranking.names, strict=True), start=1)
    ]
    header = ["", *(str(place) for place in range(1, len(names) + 1))]
    note = (
        f"  chance that the row beats the column; {MEANINGFUL} told apart, {SMALL} told apart but "
        f"below γ = {ranking.gamma:g}"
    )
    return Table(header, rows, title=title, note=note)
