"""Train a support vector machine and nearest neighbours on handwritten digits over 30 splits.

Each seed draws a fresh training set with replacement and tests on the images never drawn. Both
learners get the same split, so their runs are paired. Settings are scikit-learn's defaults, and
neither learner draws anything: the split is the only source of variation.

    python examples/digits.py digits.csv
    outperform compare digits.csv svm knn --train-size 1136 --test-size 661
"""

import argparse
import csv
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

LEARNERS = {"svm": SVC, "knn": KNeighborsClassifier}


def run_seed(
    seed: int, images: NDArray[np.float64], digits: NDArray[np.int64]
) -> Iterator[tuple[str, str, int, float]]:
    """Train every learner on the same out-of-bootstrap split."""
    drawn = np.random.default_rng(seed).integers(len(digits), size=len(digits))
    never_drawn = np.setdiff1d(np.arange(len(digits)), drawn)
    for name, make_learner in LEARNERS.items():
        learner = make_learner().fit(images[drawn], digits[drawn])
        yield name, "digits", seed, learner.score(images[never_drawn], digits[never_drawn])


def main() -> None:
    """Write one row per learner and seed."""
    parser = argparse.ArgumentParser(description="Train two learners over paired seeds.")
    parser.add_argument("out", type=Path, help="the runs file to write, CSV")
    parser.add_argument("--seeds", type=int, default=30, help="how many (default: 30)")
    arguments = parser.parse_args()
    images, digits = load_digits(return_X_y=True)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    with arguments.out.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["algorithm", "task", "split", "accuracy"])
        for seed in range(arguments.seeds):
            writer.writerows(run_seed(seed, images, digits))
            print(f"\rtrained seed {seed + 1} of {arguments.seeds}", end="", file=sys.stderr)
    print(f"\nwrote {arguments.out}", file=sys.stderr)


if __name__ == "__main__":
    main()
