"""What every design of a study is worth against the ideal one, on real fits.

    python examples/designs.py --store designs

The same command goes on where it was stopped.
"""

import argparse
import time
from pathlib import Path

from small_learners import make_pipelines, make_tasks

import outperform as op

SHORT = (10, 5)  # trials of short searches


def make_long_study(sizes: argparse.Namespace) -> op.Study:
    """Every learner and its twin, by every design, with long searches."""
    k, r = sizes.replicates, sizes.repetitions
    return op.Study(
        name="designs",
        tasks=make_tasks(),
        pipelines=make_pipelines(twins=True),
        designs=[
            op.Ideal(sizes.ideal),
            op.FixHopt(k, vary=("init",), n_repetitions=r),
            op.FixHopt(k, n_repetitions=r),
            op.SimulatedHopt(k, r),
            op.ResampledHopt(k, r),
        ],
        trials=sizes.trials,
    )


def make_short_study(sizes: argparse.Namespace, trials: int) -> op.Study:
    """Every learner with short searches."""
    return op.Study(
        name=f"designs, {trials} trials",
        tasks=make_tasks(),
        pipelines=make_pipelines(twins=False),
        designs=[
            op.Ideal(sizes.ideal),
            op.FixHopt(min(20, sizes.replicates), n_repetitions=sizes.repetitions),
        ],
        trials=trials,
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--store", type=Path, default=Path("designs"))
    parser.add_argument("--trials", type=int, default=50)
    parser.add_argument("--ideal", type=int, default=100)
    parser.add_argument("--replicates", type=int, default=50)
    parser.add_argument("--repetitions", type=int, default=20)
    sizes = parser.parse_args()
    sizes.store.mkdir(exist_ok=True)
    for trials in (sizes.trials, *SHORT):
        study = make_long_study(sizes) if trials == sizes.trials else make_short_study(sizes, trials)
        began = time.monotonic()
        op.run(study, sizes.store / f"{trials}-trials.db", engine="local:2")
        print(study.name, study.count_fits(), "fits", time.monotonic() - began, "s", flush=True)


if __name__ == "__main__":
    main()
