"""Many algorithms over many tasks: against peers, against numpy, and as a whole process."""

import sys
import tempfile
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from outperform.questions.rank.grids import Grids
from outperform.questions.rank.pairs import Terms, compare_all, count_tasks, find_task_pvalues
from outperform.runs import Goal
from outperform.stats import friedman, nemenyi
from peers import run_peer
from startup import COMMAND
from timing import Contest, Measured, peak_megabytes, run_command, time_both, time_job

FloatArray = NDArray[np.float64]

N_EACH = 100  # algorithms, tasks and replicates
MEGABYTES = 1000.0  # that a million scores may take
PEERS = {
    "autorank_ranks": ("autorank(), Friedman and Nemenyi", Fraction(1, 20)),
    "scikit_posthocs_ranks": ("posthoc_nemenyi_friedman()", Fraction(1)),
}


def draw_table(n_tasks: int = 100, k: int = 10) -> FloatArray:
    """Scores of tasks by algorithms, of which each is slightly better than the one before."""
    rng = np.random.default_rng(10)
    return rng.normal(0.8, 0.1, (n_tasks, 1)) + rng.normal(np.arange(k) / 500, 0.02, (n_tasks, k))


def rank_table(peer: str, python: Path | None) -> Measured:
    table = draw_table()
    seconds, version = run_peer(peer, python, {"table": table.tolist()})
    ours = time_job(lambda: (friedman(table), nemenyi(table)))
    return Measured(ours, seconds, note=f"version {version}")


def draw_grids() -> Grids:
    """A million scores."""
    n, rng = N_EACH, np.random.default_rng(100)
    scores = rng.normal(size=(n, n, n)) + np.arange(n)[:, None] / 200
    names = tuple(map(str, range(n)))
    goals: list[Goal] = ["maximize"] * n
    return Grids(
        names, names, tuple(goals), ("score",) * n, tuple(scores), (names,) * n, np.arange(n)
    )


def judge_all(grids: Grids) -> object:
    """All verdicts on pairs, with Holm's correction."""
    terms = Terms("fixed", None, "wins", "holm", 0.75, 0.05, None, 0, {})
    counts = count_tasks(grids)
    return compare_all(grids, counts, find_task_pvalues(grids, counts, terms), terms)


def count_wins(grids: Grids) -> list[object]:
    """What one would write with numpy, a task at a time."""
    return [(grid[:, None] > grid[None]).sum(axis=-1) for grid in grids.scores]


def million_scores() -> Measured:
    grids = draw_grids()
    return time_both(lambda: judge_all(grids), lambda: count_wins(grids), n_samples=3)


def million_scores_memory() -> Measured:
    code = "import ranking; ranking.judge_all(ranking.draw_grids())"
    folder = str(Path(__file__).parent)
    start = f"import sys; sys.path.insert(0, {folder!r}); {code}"
    peak = peak_megabytes([sys.executable, "-c", start])
    return Measured(peak, MEGABYTES, "MB", note=f"theirs is the limit of {MEGABYTES:g} MB")


def rank_command() -> Measured:
    rng = np.random.default_rng(8)
    rows = [
        f"method {a},task {t},{seed},{rng.normal(0.8 + a / 100, 0.02):.4f}"
        for a in range(8)
        for t in range(6)
        for seed in range(5)
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "runs.csv")
        path.write_text("\n".join(["algorithm,task,seed,accuracy", *rows, ""]))
        return time_both(
            lambda: run_command([COMMAND, "rank", str(path)]),
            lambda: run_command([sys.executable, "-c", "import numpy, scipy.special"]),
            n_samples=15,
        )


def contests(python: Path | None) -> list[Contest]:
    """All rows; those of peers need their Python."""
    million = "all verdicts with Holm, 100 x 100 x 100 scores"
    return [
        *(
            Contest(
                "Friedman and Nemenyi, 10 x 100", words, at_most, partial(rank_table, peer, python)
            )
            for peer, (words, at_most) in PEERS.items()
        ),
        Contest(million, "numpy, counting wins of all pairs", Fraction(5), million_scores),
        Contest(million, "peak memory", Fraction(1), million_scores_memory),
        Contest(
            "outperform rank, 8 x 6 x 5, whole process",
            'python -c "import numpy, scipy.special"',
            Fraction(11, 5),
            rank_command,
        ),
    ]
