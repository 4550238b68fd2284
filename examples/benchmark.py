"""Train six learners on four datasets, over ten splits each: the table of a paper, with its runs.

Each split of a dataset draws a fresh training set with replacement and tests on the examples never
drawn. All learners get the same splits, so their runs are paired. Settings are scikit-learn's
defaults.

    python examples/benchmark.py benchmark.csv
    outperform rank benchmark.csv
"""

import argparse
import csv
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

DATASETS = {
    "digits": load_digits,
    "cancer": load_breast_cancer,
    "wine": load_wine,
    "iris": load_iris,
}


def make_learners(seed: int) -> dict[str, ClassifierMixin]:
    """Every learner, those that draw with their own seed."""
    return {
        "svm": make_pipeline(StandardScaler(), SVC()),
        "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
        "knn": make_pipeline(StandardScaler(), KNeighborsClassifier()),
        "forest": RandomForestClassifier(random_state=seed),
        "bayes": GaussianNB(),
        "tree": DecisionTreeClassifier(random_state=seed),
    }


def run_split(
    task: str, split: int, features: NDArray[np.float64], labels: NDArray[np.int64]
) -> Iterator[tuple[str, str, int, float]]:
    """Train every learner on the same out-of-bootstrap split."""
    drawn = np.random.default_rng(split).integers(len(labels), size=len(labels))
    left = np.setdiff1d(np.arange(len(labels)), drawn)
    for name, learner in make_learners(split).items():
        score = learner.fit(features[drawn], labels[drawn]).score(features[left], labels[left])
        yield name, task, split, round(score, 6)


def main() -> None:
    """Write one row per learner, dataset and split."""
    parser = argparse.ArgumentParser(description="Train six learners on four datasets.")
    parser.add_argument("out", type=Path, help="the runs file to write, CSV")
    parser.add_argument("--splits", type=int, default=10, help="of each dataset (default: 10)")
    arguments = parser.parse_args()
    with arguments.out.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["algorithm", "task", "split", "accuracy"])
        for task, load in DATASETS.items():
            features, labels = load(return_X_y=True)
            for split in range(arguments.splits):
                writer.writerows(run_split(task, split, features, labels))
            print(f"trained on {task}", file=sys.stderr)


if __name__ == "__main__":
    main()
