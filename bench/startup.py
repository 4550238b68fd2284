"""Whole processes: what a person at a terminal waits for."""

import sys
import tempfile
from fractions import Fraction
from pathlib import Path

from comparison import N_PAIRS, draw_scores
from timing import Contest, Measured, run_command, time_both

COMMAND = str(Path(sys.executable).with_name("outperform"))


def write_small_runs(path: Path) -> None:
    a, b = draw_scores(N_PAIRS, tied=False)
    rows = [
        f"{name},digits,{seed},{score}"
        for name, scores in (("new", a), ("old", b))
        for seed, score in enumerate(scores.tolist())
    ]
    path.write_text("\n".join(["algorithm,task,seed,accuracy", *rows, ""]))


def compare_command() -> Measured:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "runs.csv")
        write_small_runs(path)
        return time_both(
            lambda: run_command([COMMAND, "compare", str(path), "new", "old"]),
            lambda: run_command([sys.executable, "-c", "import numpy, scipy.special"]),
            n_samples=15,
        )


CONTESTS = [
    Contest(
        f"outperform compare, {2 * N_PAIRS} rows, whole process",
        'python -c "import numpy, scipy.special"',
        Fraction(2),
        compare_command,
    )
]
