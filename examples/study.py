"""A whole study from Python: a function of one's own against scikit-learn, tuned, in half a minute.

python examples/study.py
"""

import numpy as np
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC

import outperform as op


def fit(
    params: dict[str, float], split: op.Split, seeds: dict[str, int], data: op.Dataset
) -> dict[str, float]:
    """Train once; every draw has the seed of its source."""
    model = MLPClassifier((32,), learning_rate_init=params["lr"], random_state=seeds["init"])
    order = np.random.default_rng(seeds["order"])
    for _epoch in range(10):
        for rows in np.array_split(order.permutation(split.train), 10):
            model.partial_fit(data.features[rows] / 16, data.labels[rows], classes=range(10))
    sets = {"valid": split.valid, "test": split.test}  # a final fit has nothing left to validate on
    return {
        name: model.score(data.features[rows] / 16, data.labels[rows])
        for name, rows in sets.items()
        if len(rows)
    }


def make_study() -> op.Study:
    """Digits read by the network above, and by a support vector machine."""
    return op.Study(
        tasks=[op.Task("digits", metric="accuracy")],
        pipelines=[
            op.Pipeline(
                "mine",
                fit,
                space={"lr": op.LogUniform(1e-4, 1e-1, default=1e-2)},
                sources=["init", "order"],
            ),
            op.Pipeline("svm", SVC(), space={"C": op.LogUniform(1e-2, 1e2)}, sources=["split"]),
        ],
        designs=[op.Ideal(6)],
        trials=2,
    )


def main() -> None:
    """Check the seeds, do the fits that `digits.db` does not have yet, and compare."""
    study = make_study()
    print(op.check(study))
    runs = op.run(study, "digits.db", engine="local:2")
    print(op.compare_runs(runs, "mine", "svm"))


if __name__ == "__main__":
    main()
