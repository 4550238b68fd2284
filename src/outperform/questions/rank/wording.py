"""A ranking in one sentence."""

from typing import TYPE_CHECKING

from outperform.wording import join_words

if TYPE_CHECKING:
    from outperform.questions.rank.result import Ranking

_MOST_NAMES = 3


def describe_ranking(ranking: "Ranking") -> str:
    """Who may be the best, and what is told apart."""
    if ranking.tasks_are == "sampled":
        first = _describe_first_ranks(ranking)
    else:
        first = _describe_best(ranking)
    return f"{first}; {_describe_pairs(ranking)}."


def _describe_best(ranking: "Ranking") -> str:
    """Who may be the best on how many of these tasks."""
    n, k = len(ranking.tasks), len(ranking.algorithms)
    if all(algorithm.n_tasks_maybe_best == n for algorithm in ranking.algorithms):
        where = "" if n == 1 else f" on {_count_tasks(n, n)}"
        return f"{'Both' if k == 2 else f'Any of the {k} algorithms'} may be the best{where}"
    most = max(algorithm.n_tasks_maybe_best for algorithm in ranking.algorithms)
    names = [a.name for a in ranking.algorithms if a.n_tasks_maybe_best == most]
    where = "" if n == 1 else f" on {_count_tasks(most, n)}"
    if n == 1 and len(names) == 1:
        is_best = "is" if _beats_all(ranking, names[0]) else "alone may be"
        return f"{names[0]} {is_best} the best of {k}{_on_task(ranking)}"
    return f"{_name_some(names)} may be the best{where or _on_task(ranking)}"


def _beats_all(ranking: "Ranking", name: str) -> bool:
    """Whether its pairs say so too, which ask more than marks."""
    own = [(pair, "a" if pair.a == name else "b") for pair in ranking.pairs]
    return all(pair.winner == side for pair, side in own if name in (pair.a, pair.b))


def _on_task(ranking: "Ranking") -> str:
    name = ranking.tasks[0].name
    return f" on {name}" if name else ""


def _describe_first_ranks(ranking: "Ranking") -> str:
    """Who may rank first on tasks like these."""
    first = [a.name for a in ranking.algorithms if a.rank_low in (1, None)]
    if len(first) == 1:
        return f"{first[0]} ranks first of {len(ranking.algorithms)} on tasks like these"
    if len(first) == len(ranking.algorithms):
        return f"Any of the {len(first)} algorithms may rank first on tasks like these"
    return f"{_name_some(first)} may rank first on tasks like these"


def _describe_pairs(ranking: "Ranking") -> str:
    if ranking.baseline is None:
        return _count_differing(len(ranking.differing), len(ranking.pairs))
    if ranking.tasks_are == "fixed" and len(ranking.tasks) > 1:
        return _describe_against_baseline(ranking)
    better = [pair.a for pair in ranking.pairs if pair.winner == "a"]
    if not better:
        return _describe_unbeaten(ranking)
    return f"{_name_some(better)} {_beat(better)} {ranking.baseline}"


def _describe_unbeaten(ranking: "Ranking") -> str:
    n_beaten = sum(pair.winner == "b" for pair in ranking.pairs)
    beaten = f", which beats {n_beaten} of {len(ranking.pairs)} others" if n_beaten else ""
    return f"nobody is shown to beat {ranking.baseline}{beaten}"


def _count_differing(n: int, total: int) -> str:
    if total == 1:
        return "they differ" if n else "no difference is shown"
    return f"{n or 'none'} of {total} pairs {'differs' if n == 1 else 'differ'}"


def _describe_against_baseline(ranking: "Ranking") -> str:
    """On at least how many tasks the baseline is beaten, by those who beat it most often."""
    counts = {pair.a: pair.n_tasks_better_adjusted["a"] for pair in ranking.pairs}
    most = max(counts.values())
    if not most:
        better = [pair.a for pair in ranking.pairs if pair.winner == "a"]
        if better:
            beat = f"{_name_some(better)} {_beat(better)} {ranking.baseline}"
            return f"{beat} over all tasks, though on no single one for sure"
        return _describe_unbeaten(ranking)
    names = [name for name, n in counts.items() if n == most]
    least = "both tasks" if most == 2 == len(ranking.tasks) else f"at least {most}"
    return f"{_name_some(names)} {_beat(names)} {ranking.baseline} on {least}"


def _beat(names: list[str]) -> str:
    return "beat" if len(names) > 1 else "beats"


def _count_tasks(n: int, total: int) -> str:
    if n == total:
        return "both tasks" if n == 2 else f"all {n} tasks"
    return f"{n} of {total} tasks"


def _name_some(names: list[str]) -> str:
    if len(names) <= _MOST_NAMES + 1:
        return join_words(names)
    return f"{', '.join(names[:_MOST_NAMES])} and {len(names) - _MOST_NAMES} others"
