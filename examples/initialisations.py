"""Are some initialisations of a network really better than others? In under three minutes.

Of 200 trainings that differ in their initial weights alone, the best and the worst look far apart.
Are they, once each is tuned, and everything else is redrawn for pairs of them? δ is a fifth of the
gap that was seen, the smallest difference worth finding. After section 4.3 and table 1 of
*Simulated hyperparameter optimization for statistical tests in machine learning benchmarks*.

    python examples/initialisations.py

Interrupted, it resumes where its measurements are kept: `--folder results`.
"""

import argparse
import tempfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import outperform as op
from outperform.cli.templates import network
from outperform.study.sources import derive_seed
from outperform.study.spaces import Space, default_params

SPACE: Space = {
    "learning_rate": op.LogUniform(1e-4, 1e-1, default=1e-2),
    "n_hidden": op.Integers(8, 128, default=64, log=True),
    "weight_decay": op.LogUniform(1e-7, 1e-2, default=1e-5),
    "augmentation": op.Uniform(0.0, 1.0, default=0.2),
    "dropout": op.Uniform(0.0, 0.6, default=0.1),
}
TASK = op.Task("digits", metric="accuracy")
DEFAULTS = default_params(SPACE)
OTHERS = tuple(name for name in network.SOURCES if name != "init")
ROOT = 0  # of all seeds


def fit(
    params: Mapping[str, float],
    split: op.Split,
    seeds: Mapping[str, int],
    data: op.Dataset,
    init: int | None = None,
) -> dict[str, float]:
    """Train the demo's network; `init` holds the seed of its initial weights fixed."""
    held = seeds if init is None else {**seeds, "init": init}
    return network.fit({**DEFAULTS, **params}, split, held, data)


def score_pool(folder: Path, n_inits: int, engine: str) -> list[float]:
    """Accuracy of each initialisation; hyperparameters and all else are the same."""
    pipeline = op.Pipeline("network", fit, sources=network.SOURCES)
    designs = [op.FixHopt(n_inits, vary=("init",))]
    study = op.Study(tasks=[TASK], pipelines=[pipeline], designs=designs, seed=ROOT)
    runs = op.run(study, folder / "pool.db", engine=engine)
    by_replicate = dict(zip(runs.replicate, runs.score, strict=True))
    return [float(by_replicate[i]) for i in range(n_inits)]


def compare_extremes(
    folder: Path, scores: list[float], n_trials: int, n_pairs: int, engine: str
) -> op.Comparison:
    """Best against worst, each tuned; pairs share the seeds of all that is redrawn."""
    chosen = {"best": scores.index(max(scores)), "worst": scores.index(min(scores))}
    pipelines = [
        op.Pipeline(
            name, partial(fit, init=derive_seed(ROOT, "init", i)), space=SPACE, sources=OTHERS
        )
        for name, i in chosen.items()
    ]
    study = op.Study(
        tasks=[TASK],
        pipelines=pipelines,
        designs=[op.FixHopt(n_pairs), op.SimulatedHopt(n_pairs)],
        trials=n_trials,
        seed=ROOT,
    )
    # Another pair of initialisations, of a larger pool, is another study.
    store = folder / f"init-{chosen['best']}-{chosen['worst']}.db"
    runs = op.run(study, store, engine=engine)
    comparison = op.compare_runs(runs, "best", "worst")
    assert isinstance(comparison, op.Comparison)  # of one task, not of several
    return comparison


def describe(scores: list[float], comparison: op.Comparison) -> str:
    """The row of the table, in per cent, and what it shows."""
    low, high = min(scores), max(scores)
    delta = (high - low) / 5
    # As in that table: the standard deviation averaged of both designs, where both are there.
    interval = (comparison.combined or comparison.difference).interval
    cells = [f"{100 * x:.2f}" for x in (low, high, high - low, delta)]
    between = f"({100 * interval.low:.2f}, {100 * interval.high:.2f})"
    rows = [
        ("task", "min", "max", "max-min", "δ", "95% interval of best - worst"),
        (TASK.name, *cells, between),
    ]
    lines = [f"{r[0]:<8}" + "".join(f"{cell:>9}" for cell in r[1:5]) + f"   {r[5]}" for r in rows]
    return "\n".join([*lines, "", judge(interval.low, interval.high, delta)])


def judge(low: float, high: float, delta: float) -> str:
    """What the interval of best - worst says of 0 and of δ."""
    size = "of δ or more is ruled out" if high < delta else "of δ is not ruled out"
    if low > 0:
        return f"Conclusive: the best initialisation is better; a difference {size}."
    if high < 0:
        return "Conclusive: the best initialisation is worse, once both are tuned."
    return f"Inconclusive: no difference is shown; one {size}."


def main() -> None:
    """Do the fits that the folder does not have yet, and print the table."""
    parser = argparse.ArgumentParser(description="Are some initialisations really better?")
    parser.add_argument("--folder", type=Path, help="of the measurements (default: temporary)")
    parser.add_argument("--inits", type=int, default=200, help="in the pool (default: 200)")
    parser.add_argument("--trials", type=int, default=50, help="per search (default: 50)")
    parser.add_argument("--pairs", type=int, default=75, help="of final fits (default: 75)")
    parser.add_argument("--engine", default="local:2", help="where fits run (default: local:2)")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        scores = score_pool(folder, given.inits, given.engine)
        comparison = compare_extremes(folder, scores, given.trials, given.pairs, given.engine)
    print(f"Best and worst of {given.inits} initialisations, accuracy in per cent:\n")
    print(describe(scores, comparison))
    print(comparison)


if __name__ == "__main__":
    main()
