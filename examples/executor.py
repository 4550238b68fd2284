"""A study on an executor that is not the standard library's.

pip install executorlib
python examples/executor.py

executorlib has executors for one node, for Slurm and for Flux; only the name below changes.
"""

from executorlib import SingleNodeExecutor
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

import outperform as op


def make_study() -> op.Study:
    """Wine told apart by its chemistry, in fits of milliseconds."""
    return op.Study(
        tasks=[op.Task("wine", metric="accuracy")],
        pipelines=[op.Pipeline("svm", SVC()), op.Pipeline("knn", KNeighborsClassifier())],
        designs=[op.FixHopt(30)],
        trials=1,
    )


def main() -> None:
    """Do the fits that `wine.db` does not have yet, and compare."""
    with (
        SingleNodeExecutor(max_workers=2, block_allocation=True) as executor,
        op.FuturesEngine(executor, n_workers=2) as engine,
    ):
        runs = op.run(make_study(), "wine.db", engine=engine)
    print(op.compare_runs(runs, "svm", "knn"))


if __name__ == "__main__":
    main()
