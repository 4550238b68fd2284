"""Figures of mean ranks, a row per algorithm: with confidence sets, or joined by bars (cliques)."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, islice, pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from outperform.questions.rank.result import RankedAlgorithm, Ranking
from outperform.render.style import (
    COLOUR_A,
    COLOUR_B,
    COLOUR_BAND,
    COLOUR_NEITHER,
    COLOUR_NOTE,
    GOES_ON,
    escape,
    find_size,
    lay_out_rows,
)
from outperform.wording import shorten, shorten_apart, wrap_lines

Places = tuple[int, ...]  # of algorithms, ascending

_MOST_ROWS = 60  # algorithms, of a figure that is no poster
_MANY_ROWS = 15  # from which on they are written smaller
_ROW_HEIGHTS = 0.15, 0.12  # inches, of few and of many rows
_LONGEST_NAME = 18
_MOST_BARS = 60
_MOST_COLUMNS = 12  # of bars
_MOST_CLIQUES = 500  # of which bars are chosen
_BAR_SHARE = 0.04  # of the width, that a bar takes
_LETTERS = 18  # on an inch, below the axes
# Shape and colour of who is better than the baseline, worse, and not told apart from it.
WINNERS: dict[str | None, tuple[str, str]] = {
    "a": ("^", COLOUR_A),
    "b": ("v", COLOUR_B),
    None: ("o", COLOUR_NEITHER),
}


def choose_algorithms(ranking: Ranking) -> tuple[RankedAlgorithm, ...]:
    """Algorithms that have a row: the best where they are very many, and the baseline."""
    shown = ranking.algorithms[:_MOST_ROWS]
    below = ranking.algorithms[_MOST_ROWS:]
    return (*shown, *(each for each in below if each.name == ranking.baseline))


def row_height(n_rows: int) -> float:
    """Inches that a row takes."""
    return _ROW_HEIGHTS[n_rows > _MANY_ROWS]


def rows_height(ranking: Ranking) -> float:
    """Inches that a view with a row per algorithm takes."""
    n_rows = len(choose_algorithms(ranking))
    return 0.95 + row_height(n_rows) * max(n_rows, 3)


def label_names(names: Sequence[str], length: int = _LONGEST_NAME) -> list[str]:
    """Names as matplotlib writes them, short and different.

    Those that are shortened to the same words are written by what sets them apart, or numbered.
    """
    short = {name: shorten(name, length) for name in names}
    for text, n in Counter(short.values()).items():
        if n > 1:
            alike = [name for name in short if short[name] == text]
            apart = shorten_apart(alike, length)
            if len(set(apart)) < n:
                apart = shorten_apart([f"{i} {name}" for i, name in enumerate(alike, 1)], length)
            short.update(zip(alike, apart, strict=True))
    return [escape(short[name]) for name in names]


def label_rows(ax: Axes, names: Sequence[str], *, lines: bool = True) -> None:
    """Name the rows, the first on top, with lines that lead the eye unless there are cells."""
    lay_out_rows(ax, [float(row) for row in range(len(names))], list(names))
    if len(names) > _MANY_ROWS:
        ax.tick_params(axis="y", labelsize=6)
    ax.set_ylim(len(names) - 0.5, -0.5)
    if lines:
        ax.hlines(range(len(names)), *ax.get_xlim(), color=COLOUR_BAND, linewidth=0.8, zorder=0)


def explain(ranking: Ranking, ax: Axes, *lines: str) -> None:
    """Write below the axes what is seen on them, and how many algorithms are not."""
    n_shown, n = len(choose_algorithms(ranking)), len(ranking.algorithms)
    few = (f"{n_shown} of {n} algorithms are shown",) if n_shown < n else ()
    width = int(_LETTERS * find_size(ax)[0])
    wrapped = (GOES_ON.join(wrap_lines(line, width)) for line in (*lines, *few))
    ax.set_xlabel("\n".join(wrapped), fontsize=7)


def name_tasks(ranking: Ranking) -> str:
    """Say which tasks it is about."""
    if ranking.tasks_are == "sampled":
        return ranking.question
    n = len(ranking.tasks)
    return "this task" if n == 1 else f"these {n} tasks"


def draw_ranks(ranking: Ranking, ax: Axes) -> None:
    """Draw mean ranks as dots, and the ranks between which the true one lies as lines."""
    shown = choose_algorithms(ranking)
    _lay_out_ranks(ranking, ax)
    for row, algorithm in enumerate(shown):
        if algorithm.rank_low is not None and algorithm.rank_high is not None:
            ends = [algorithm.rank_low, algorithm.rank_high]
            look: dict[str, Any] = {"color": COLOUR_A, "alpha": 0.45, "linewidth": 3.5}
            ax.plot(ends, [row, row], solid_capstyle="butt", gid=f"ranks-{row}", **look)
            ax.plot(ends, [row, row], "|", color=COLOUR_A, ms=5, mew=1.2, gid=f"ends-{row}")
        ax.plot([algorithm.mean_rank], [row], "o", color="black", ms=3.5, gid=f"mean-{row}")
    known = any(algorithm.rank_low is not None for algorithm in shown)
    lines = [f"lines: true ranks, all at once with {1 - ranking.alpha:.0%}"] if known else []
    explain(ranking, ax, f"rank on {name_tasks(ranking)}; dots: its mean", *lines)


def draw_diagram(ranking: Ranking, ax: Axes) -> None:
    """Draw a critical-difference diagram: mean ranks, and bars that join who is not told apart.

    A bar joins the rows where it has a dot. Its members are a maximal set in which no pair
    differs, whatever lies between them in rank. With a baseline only pairs with it are known, so
    that marks say how each compares with it.
    """
    if ranking.baseline is not None:
        _draw_against_baseline(ranking, ranking.baseline, ax)
        return
    shown = choose_algorithms(ranking)
    places = {each.name: row for row, each in enumerate(shown)}
    alike = np.ones((len(shown), len(shown)), dtype=bool)
    for pair in ranking.differing:
        if pair.a in places and pair.b in places:
            a, b = places[pair.a], places[pair.b]
            alike[a, b] = alike[b, a] = False
    joined = (clique for clique in find_cliques(alike) if len(clique) > 1)
    cliques = list(islice(joined, _MOST_CLIQUES + 1))
    bars = _choose_bars(cliques)
    columns = _pack(bars)
    share = _BAR_SHARE * (max(columns, default=-1) + 2)
    _lay_out_ranks(ranking, ax, share=share)
    means = [algorithm.mean_rank for algorithm in shown]
    ax.plot(means, range(len(means)), "o", color="black", ms=3.5, gid="means")
    left, right = ax.get_xlim()
    for number, (bar, column) in enumerate(zip(bars, columns, strict=True)):
        x = right - (right - left) * (share - _BAR_SHARE * (column + 1))
        for above, below in pairwise(bar):  # thick between neighbours, thin past others
            width, style = (2.2, "-") if below == above + 1 else (0.7, ":")
            ax.plot([x, x], [above, below], style, color=COLOUR_NOTE, linewidth=width)
        ax.plot([x] * len(bar), bar, "o", color=COLOUR_NOTE, ms=3.2, gid=f"bar-{number}")
    axis = f"mean rank on {name_tasks(ranking)}; 1 is best"
    explain(ranking, ax, axis, _explain_bars(bars, len(cliques), alike))


def _choose_bars(cliques: Sequence[Places]) -> list[Places]:
    """All cliques, or those with most of the pairs where not all fit, the topmost first."""
    if max(_pack(sorted(cliques)), default=0) < _MOST_COLUMNS:
        return sorted(cliques)
    ordered = order_by_cover(cliques, _MOST_BARS)
    while max(_pack(sorted(ordered))) >= _MOST_COLUMNS:
        ordered.pop()
    return sorted(ordered)


def _pack(bars: Sequence[Places]) -> list[int]:
    """Column of each bar: the first in which a row is free between it and what is above."""
    ends: list[int] = []  # last row taken in each column
    columns = []
    for bar in bars:
        free = (column for column, end in enumerate(ends) if end + 1 < bar[0])
        column = next(free, len(ends))
        ends[column : column + 1] = [bar[-1]]
        columns.append(column)
    return columns


def _explain_bars(bars: Sequence[Places], n_cliques: int, alike: NDArray[np.bool_]) -> str:
    if not bars:
        return "every pair is told apart"
    what = "bars join (at dots) who is not told apart"
    if len(bars) == n_cliques:
        return what
    n_joined = len({pair for bar in bars for pair in combinations(bar, 2)})
    n_pairs = int(np.triu(alike, 1).sum())
    n_sets = n_cliques if n_cliques <= _MOST_CLIQUES else f"more than {_MOST_CLIQUES}"
    part = "all" if n_joined == n_pairs else f"{n_joined} of {n_pairs}"
    return f"{what}: {len(bars)} of {n_sets} sets, with {part} such pairs"


def _lay_out_ranks(ranking: Ranking, ax: Axes, *, share: float = 0.0) -> None:
    """Draw an axis of ranks, with names of rows, and room for bars at its right."""
    k = len(ranking.algorithms)
    margin = 0.03 * (k - 1)
    ax.set_xlim(1 - margin, 1 - margin + (k - 1 + 2 * margin) / (1 - share))
    label_rows(ax, label_names([each.name for each in choose_algorithms(ranking)]))
    ax.spines["bottom"].set_bounds(1, k)
    ticks = [round(tick) for tick in MaxNLocator(6, integer=True).tick_values(1, k)]
    inner = [tick for tick in ticks if 1 < tick < k and min(tick - 1, k - tick) >= 0.06 * k]
    ax.set_xticks([1, *inner, k])


def _draw_against_baseline(ranking: Ranking, baseline: str, ax: Axes) -> None:
    _lay_out_ranks(ranking, ax)
    of_name = {pair.a: pair for pair in ranking.pairs}
    for row, algorithm in enumerate(choose_algorithms(ranking)):
        gid, place = f"mean-{row}", ([algorithm.mean_rank], [row])
        if algorithm.name == baseline:
            ax.axvline(algorithm.mean_rank, color="black", lw=0.8, ls="--", zorder=1)
            ax.plot(*place, "D", color="black", ms=4, gid=gid)
            continue
        pair = of_name[algorithm.name]
        marker, colour = WINNERS[pair.winner]
        face = colour if pair.verdict == "significant and meaningful" else "white"
        ax.plot(*place, marker, color=colour, mfc=face, ms=4.5, gid=gid)
    marks = "▲ better than ◆, ▼ worse, ○ not told apart"
    explain(ranking, ax, f"mean rank on {name_tasks(ranking)}; 1 is best", marks)


def find_cliques(alike: NDArray[np.bool_]) -> Iterator[Places]:
    """Find the sets in which all are alike and that nobody can join, each once.

    There may be exponentially many: take as many as are needed. The diagonal does not matter. By
    Bron and Kerbosch (1973), Algorithm 457, with the pivot of Tomita et al. (2006).

    Examples
    --------
    >>> first_and_last_differ = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]], dtype=bool)
    >>> sorted(find_cliques(first_and_last_differ))
    [(0, 1), (1, 2)]
    """
    # Sets are the bits of an integer.
    neighbours = [
        sum(1 << other for other in np.flatnonzero(row).tolist() if other != place)
        for place, row in enumerate(alike)
    ]
    pending = [(0, (1 << len(neighbours)) - 1, 0)]
    while pending:
        chosen, may_join, left_out = pending.pop()
        if not may_join:
            if not left_out:
                yield _list_places(chosen)
            continue
        either = _list_places(may_join | left_out)
        pivot = max(either, key=lambda place: (may_join & neighbours[place]).bit_count())
        for place in _list_places(may_join & ~neighbours[pivot]):
            around, bit = neighbours[place], 1 << place
            pending.append((chosen | bit, may_join & around, left_out & around))
            may_join, left_out = may_join & ~bit, left_out | bit


def order_by_cover(cliques: Iterable[Places], n: int) -> list[Places]:
    """Choose so many cliques at most that hold many pairs, or all pairs, those with most first.

    Examples
    --------
    >>> order_by_cover([(0, 1), (0, 2, 3), (1, 2, 3)], 2)
    [(0, 2, 3), (1, 2, 3)]
    """
    added = {clique: set(combinations(clique, 2)) for clique in cliques}
    chosen: list[Places] = []
    while added and len(chosen) < n:
        best = max(added, key=lambda clique: len(added[clique]))
        covered = added.pop(best)
        if not covered:
            break
        chosen.append(best)
        for pairs in added.values():
            pairs -= covered
    return chosen


def _list_places(bits: int) -> Places:
    return tuple(place for place in range(bits.bit_length()) if bits >> place & 1)
