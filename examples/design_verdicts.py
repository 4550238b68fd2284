"""How often comparisons err when each design feeds them: of twins, and of learners that differ."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

import outperform as op
from outperform.questions.result import Table
from outperform.render.style import COLOURS, lay_out_rows
from outperform.stats import (
    clopper_pearson_interval,
    combine_designs,
    paired_t_test,
    probability_of_outperforming,
)
from outperform.stats.checks import FloatArray
from outperform.store.repeated_runs import RepeatedRuns
from small_learners import TWIN

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Contest = tuple[str, str, str]  # one pipeline, another, the task
Scores = tuple[FloatArray, FloatArray]  # of both, pair by pair
# P(A>B) of learners that are to be told apart, and of those that nobody could mistake.
GAMMA, CLEAR = 0.75, 0.95
_FIXED = "fix-hopt", "all"
_REDRAWN = ("simulated-hopt", "all"), ("resampled-hopt", "all")
N_IDEAL = 10  # long searches whose budget is given to shorter ones too
_SEVERAL = 5  # searches, where several have several fits each


_Find = Callable[[Contest], Iterable[Scores]]  # the scores of each comparison
_Tests = Mapping[str, Callable[[FloatArray, FloatArray], int]]


def _win_by_sign(a: FloatArray, b: FloatArray) -> int:
    """Who wins by `compare`, which takes the exact sign test."""
    return {"a": 1, "b": -1, None: 0}[op.compare(a, b).winner]


def _win_by_t(a: FloatArray, b: FloatArray) -> int:
    """Who wins by the paired t-test."""
    test = paired_t_test(a, b)
    return int(np.sign(test.statistic)) if test.pvalue < 0.05 else 0


def _win_by_both(fixed: FloatArray, redrawn: FloatArray) -> int:
    """Who wins by the mean difference of fix-hopt, with a standard deviation of two designs."""
    interval = combine_designs(fixed, redrawn).interval
    return int(interval.low > 0) - int(interval.high < 0)


_TESTS: _Tests = {"sign": _win_by_sign, "t": _win_by_t}


class Verdicts(NamedTuple):
    """Who won: 1 the first, who is better where they differ, -1 the second, 0 neither."""

    fed_by: str
    n_fits: int  # of each algorithm
    test: str
    of_twins: Sequence[int]
    of_close: Sequence[int]  # P(A>B) from GAMMA on
    of_clear: Sequence[int]  # from CLEAR on

    @property
    def false_positives(self) -> int:
        """Winners among equals."""
        return sum(each != 0 for each in self.of_twins)

    def list_cells(self) -> list[str]:
        """Row of a table."""
        groups = self.of_twins, self.of_close, self.of_clear, (*self.of_close, *self.of_clear)
        errors = [
            self.false_positives,
            *(sum(each == 0 for each in group) for group in groups[1:3]),
            sum(each < 0 for each in groups[3]),
        ]
        shares = [
            f"{n / len(group):.0%} ({n} of {len(group)})" if group else ""
            for n, group in zip(errors, groups, strict=True)
        ]
        return [self.fed_by, f"{self.n_fits:,}", self.test, *shares]


def tabulate_verdicts(verdicts: Iterable[Verdicts]) -> Table:
    """Table of false positives and negatives, by design and by test."""
    return Table(
        ["fed by", "fits", "test", "false positives", "missed: close", "clear", "wrong winner"],
        [each.list_cells() for each in verdicts],
        title="How often comparisons err at 5%, fed by each design:",
        note=(
            "fits: of each algorithm. false positives: twins, which are equal, have a winner. "
            f"missed: no winner of learners with an ideal P(A>B)\nfrom {GAMMA} (close) or from "
            f"{CLEAR} on (clear). wrong winner: of these the worse one. as simulated: only "
            "repetitions whose models were not refused."
        ),
    )


def draw_false_positives(verdicts: Sequence[Verdicts], ax: "Axes") -> None:
    """Draw how often twins have a winner, with intervals, beside the 5% that are promised."""
    for y, each in enumerate(verdicts):
        n = len(each.of_twins)
        if n:
            interval = clopper_pearson_interval(each.false_positives, n)
            colour = COLOURS[each.test == "t"]
            ax.plot([interval.low, interval.high], [y, y], color=colour, linewidth=1)
            ax.plot([each.false_positives / n], [y], "o", color=colour, markersize=4)
    labels = [f"{each.fed_by}: {each.test}" for each in verdicts]
    lay_out_rows(ax, [float(y) for y in range(len(labels))], labels)
    ax.axvline(0.05, color="black", linewidth=0.8, linestyle=":")
    ax.set(xlim=(0, 1), ylim=(len(labels) - 0.5, -0.5), xlabel="twins that have a winner")


def tabulate_learners(runs: Mapping[int, RepeatedRuns]) -> Table:
    """Table of who is better, by all ideal replicates of searches of so many trials."""
    chances = [order_contests(each) for each in runs.values()]
    rows = [
        [f"{a} > {b}", task, *(f"{find_chance(each, (a, b, task)):.2f}" for each in chances)]
        for a, b, task in chances[0]
        if TWIN not in a + b
    ]
    header = ["learners", "task", *(f"{trials} trials" for trials in runs)]
    return Table(header, rows, title="P(A>B) by the ideal design:")


def find_chance(chances: Mapping[Contest, float], contest: Contest) -> float:
    """P(A>B) of a contest, in whichever order it is known."""
    a, b, task = contest
    return chances[contest] if contest in chances else 1 - chances[b, a, task]


def judge(
    long: RepeatedRuns, short: Mapping[int, RepeatedRuns], n_pairs: int
) -> Iterator[Verdicts]:
    """Compare twins, and learners that differ, by the runs of each design."""
    n_trials = long.study["plan"]["trials"]
    budget = n_trials + n_pairs
    twins = [(a, a + TWIN, task) for task, a in product(long.study["tasks"], _learners(long))]
    chances = order_contests(long)
    close = [each for each, chance in chances.items() if GAMMA <= chance < CLEAR]
    clear = [each for each, chance in chances.items() if chance >= CLEAR]

    def decide(name: str, n_fits: int, find: _Find, tests: _Tests = _TESTS) -> Iterator[Verdicts]:
        for test, who_wins in tests.items():
            winners = [
                [who_wins(*scores) for contest in contests for scores in find(contest)]
                for contests in (twins, close, clear)
            ]
            yield Verdicts(name, n_fits, test, *winners)

    yield from decide("ideal", n_pairs * (n_trials + 1), _cut_ideal(long, n_pairs))
    for kind, redrawn in (("fix-hopt", "init"), _FIXED, *_REDRAWN):
        name = f"{kind} ({redrawn})" if kind == "fix-hopt" else kind
        yield from decide(name, budget, _list_repetitions(long, (kind, redrawn)))
    for kind, redrawn in (_FIXED, _REDRAWN[1]):
        same = _list_repetitions(long, (kind, redrawn), among=_REDRAWN[0])
        yield from decide(f"{kind}, as simulated", budget, same)
    for kind, redrawn in _REDRAWN:
        differences = _list_differences(long, (kind, redrawn))
        both = budget + n_pairs
        yield from decide(f"fix-hopt & {kind}", both, differences, {"t": _win_by_both})
    for fits, (trials, runs) in product(
        (budget, N_IDEAL * (n_trials + 1)), ({n_trials: long} | {**short}).items()
    ):
        n, n_ideal = fits // (trials + 1), len(runs.find_ideal(*runs.choose_pairs()[0]))
        if 1 < n <= n_ideal // 2:
            yield from decide(f"{n} searches of {trials}", n * (trials + 1), _cut_ideal(runs, n))
        k = min(fits // _SEVERAL - trials, runs.count_repeats("fix-hopt")["all"].n_replicates)
        n_fits = _SEVERAL * (trials + k)
        if k > 1 and n_fits > 0.9 * fits:
            name = f"{_SEVERAL} searches of {trials}, {k} fits each"
            yield from decide(name, n_fits, _list_means(runs, k), {"t": _win_by_t})


def _learners(runs: RepeatedRuns) -> list[str]:
    return [name for name in runs.study["pipelines"] if not name.endswith(TWIN)]


def order_contests(runs: RepeatedRuns) -> dict[Contest, float]:
    """P(A>B) of every two learners and their twins on every task, the better one first."""
    chances = {}
    for task, (a, b) in product(runs.study["tasks"], combinations(_learners(runs), 2)):
        same = [*product((a, a + TWIN), (b, b + TWIN))]
        chance = np.mean(
            [probability_of_outperforming(*_pair_ideal(runs, (*each, task))) for each in same]
        )
        for first, second in same:
            contest = (first, second, task) if chance > 0.5 else (second, first, task)
            chances[contest] = float(max(chance, 1 - chance))
    return chances


def _pair_ideal(runs: RepeatedRuns, contest: Contest) -> Scores:
    a, b = (runs.find_ideal(name, contest[2]) for name in contest[:2])
    both = [i for i in a if i in b]
    return np.array([a[i] for i in both]), np.array([b[i] for i in both])


def _cut_ideal(runs: RepeatedRuns, size: int) -> _Find:
    """Ideal replicates, so many for each comparison."""

    def find(contest: Contest) -> Iterator[Scores]:
        a, b = _pair_ideal(runs, contest)
        for start in range(0, len(a) - size + 1, size):
            yield a[start : start + size], b[start : start + size]

    return find


def _list_repetitions(
    runs: RepeatedRuns, design: tuple[str, str], among: tuple[str, str] | None = None
) -> _Find:
    """Repetitions of a design that both have, if asked only where they have another's too."""

    def find(contest: Contest) -> Iterator[Scores]:
        allowed = _pair_repetitions(runs, among or design, contest)
        for number, scores in _pair_repetitions(runs, design, contest).items():
            if number in allowed:
                yield scores

    return find


def _list_differences(runs: RepeatedRuns, design: tuple[str, str]) -> _Find:
    """Differences of both in repetitions of fix-hopt, and of another design."""

    def find(contest: Contest) -> Iterator[Scores]:
        fixed, redrawn = (_pair_repetitions(runs, each, contest) for each in (_FIXED, design))
        for number in fixed:
            if number in redrawn:
                yield np.subtract(*fixed[number]), np.subtract(*redrawn[number])

    return find


def _list_means(runs: RepeatedRuns, n_fits: int) -> _Find:
    """Means of the first fits of several searches, so many for each comparison."""

    def find(contest: Contest) -> Iterator[Scores]:
        pairs = [*_pair_repetitions(runs, _FIXED, contest).values()]
        means = np.array([[scores[:n_fits].mean() for scores in pair] for pair in pairs])
        for start in range(0, len(means) - _SEVERAL + 1, _SEVERAL):
            a, b = means[start : start + _SEVERAL].T
            yield a, b

    return find


def _pair_repetitions(
    runs: RepeatedRuns, design: tuple[str, str], contest: Contest
) -> dict[int, Scores]:
    a, b = (runs.find_repetitions(*design, name, contest[2]) for name in contest[:2])
    return {
        n: (a.scores[a.numbers.index(n)], b.scores[b.numbers.index(n)])
        for n in a.numbers
        if n in b.numbers
    }
