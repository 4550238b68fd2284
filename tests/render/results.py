"""Results of every kind that is drawn, each made when it is asked for."""

import numpy as np

from outperform.questions.audit.answer import audit
from outperform.questions.compare.answer import compare
from outperform.questions.compare.published import compare_published
from outperform.questions.compare.published_tasks import compare_published_table
from outperform.questions.compare.sequential import compare_sequentially
from outperform.questions.decompose.answer import decompose_crossed
from outperform.questions.decompose.result import Decompositions
from outperform.questions.decompose.search_curves import Course, SearchCurve, SearchCurves
from outperform.questions.plan.answer import plan
from outperform.runs import read_runs
from outperform.stats import Summary

LONG = {
    "a": "gradient boosting with early stopping, learning rate 0.1, $depth$ 7",
    "b": "gradient boosting with early stopping, learning rate 0.3, $depth$ 7",
    "metric": "balanced accuracy over all classes and folds",
}


def make_components(*shape, **names):
    table = np.random.default_rng(0).normal(0.9, 0.01, shape)
    sources = ["split", "init", "augmentation", "dropout"][: len(shape)]
    return decompose_crossed(table, sources, **{"algorithm": "svm", "task": "digits"} | names)


def make_curves(tasks, *, tested=True):
    scores = np.maximum.accumulate(np.random.default_rng(0).uniform(size=(20, 30)), axis=1)
    curves = tuple(
        SearchCurve(
            name,
            task,
            "all",
            Course(scores),
            Course(scores - 0.05) if tested else None,
            scores[:, -1],
        )
        for task in tasks
        for name in ("svm", "tree")
    )
    return SearchCurves("accuracy", "maximize", "random", curves)


def make_audit(*names, n=40, sd=0.01, **options):
    rng = np.random.default_rng(0)
    scores = {name: rng.normal(0.9 - 0.01 * i, sd, n).tolist() for i, name in enumerate(names)}
    return audit(read_runs(scores, accept="constant"), *names, n_resamples=50, **options)


def make_sequential(a="svm", b="forest", n=40, gaps=0):
    first, second = np.random.default_rng(0).normal(0.9, 0.01, (2, n))
    second[: 3 * gaps : 3] = np.nan
    runs = read_runs({a: (first + 0.01).tolist(), b: second.tolist()})
    return compare_sequentially(runs, a, b, drop_incomplete=True)


def make_published(a="svm", b="forest", **options):
    cells = {f"dataset {i}": [f"{90 + i} ± 1", f"{92 - i / 2} ± 1"] for i in range(7)}
    table = {"method": [a, b], **cells}
    return compare_published_table(table, a, b, metric="accuracy", **options)


def make_task_audit(n_tasks, *, names=("svm", "forest"), task="task", alone=False):
    rng = np.random.default_rng(0)
    rows = [
        {"algorithm": name, "task": f"{task} {i}", "seed": seed, "accuracy": score}
        for i in range(n_tasks)
        for name, mean in zip(names, (0.9 + 0.02 * (i / n_tasks - 0.4), 0.9), strict=True)
        for seed, score in enumerate(rng.normal(mean, 0.01, 12))
    ]
    return audit(rows, *names[: 1 if alone else 2], n_resamples=5)


RESULTS = {
    "paired": lambda compared, tasks: compared(),
    "unpaired": lambda compared, tasks: compared(paired=False),
    "minimize": lambda compared, tasks: compared(goal="minimize"),
    "b better": lambda compared, tasks: compared(shift=-0.01),
    "undecided": lambda compared, tasks: compared(shift=0),
    "with task": lambda compared, tasks: compared(names={"task": "digits"}),
    "re-splits": lambda compared, tasks: compared(train_size=800, test_size=200),
    "re-splits, long names": lambda compared, tasks: compared(
        shift=0.03, train_size=800, test_size=200, names=LONG | {"task": "a long name " * 5}
    ),
    "constant re-splits": lambda compared, tasks: compare(
        [0.9] * 10, [0.8] * 10, train_size=800, test_size=200
    ),
    "two runs": lambda compared, tasks: compared(n=2),
    "1000 runs": lambda compared, tasks: compared(n=1000, shift=0.002),
    "constant": lambda compared, tasks: compare([0.9] * 10, [0.8] * 10),
    "all tied": lambda compared, tasks: compare([0.9] * 10, [0.9] * 10),
    "coarse": lambda compared, tasks: compare(np.arange(40) % 5, np.arange(40) % 4),
    "long names": lambda compared, tasks: compared(
        names=LONG | {"task": "a long name " * 5}, shift=0
    ),
    "long names, many ties": lambda compared, tasks: compared(names=LONG, n=5000, decimals=2),
    "small gamma": lambda compared, tasks: compared(gamma=0.55),
    "large gamma": lambda compared, tasks: compared(gamma=0.95),
    "no gamma": lambda compared, tasks: compared(gamma=0.5),
    "1 task": lambda compared, tasks: tasks(1),
    "7 tasks": lambda compared, tasks: tasks(7),
    "40 tasks": lambda compared, tasks: tasks(40),
    "long tasks": lambda compared, tasks: tasks(3, LONG | {"task": "a long name " * 5}),
    "published": lambda compared, tasks: compare_published(
        Summary(76.3, 0.8, 10), Summary(75.1, 0.9, 10)
    ),
    "published table": lambda compared, tasks: make_published(n=5),
    "published table without n": lambda compared, tasks: make_published(),
    "published table, long names": lambda compared, tasks: make_published(LONG["a"], LONG["b"]),
    "sequential": lambda compared, tasks: make_sequential(),
    "sequential, undecided": lambda compared, tasks: make_sequential(n=5),
    "sequential, long names": lambda compared, tasks: make_sequential(LONG["a"], LONG["b"]),
    "sequential with gaps": lambda compared, tasks: make_sequential(gaps=2),
    "audit": lambda compared, tasks: make_audit("svm", "forest"),
    "audit of one": lambda compared, tasks: make_audit("svm"),
    "unpaired audit": lambda compared, tasks: make_audit("svm", "forest", paired=False),
    "audit of few": lambda compared, tasks: make_audit("svm", "forest", n=4),
    "audit of constants": lambda compared, tasks: make_audit("svm", "forest", sd=0),
    "audit of one constant": lambda compared, tasks: make_audit("svm", sd=0),
    "audit with long names": lambda compared, tasks: make_audit(LONG["a"], LONG["b"]),
    "audit of a long name": lambda compared, tasks: make_audit(LONG["a"]),
    "audit of 7 tasks": lambda compared, tasks: make_task_audit(7),
    "audit of 40 tasks": lambda compared, tasks: make_task_audit(40),
    "audit of tasks with long names": lambda compared, tasks: make_task_audit(
        3, names=(LONG["a"], LONG["b"]), task="a long name " * 5
    ),
    "audit of one on 3 tasks": lambda compared, tasks: make_task_audit(3, alone=True),
    "plan": lambda compared, tasks: plan(),
    "plan at 0.55": lambda compared, tasks: plan(gamma=0.55),
    "plan at 0.95": lambda compared, tasks: plan(gamma=0.95, n_pairs=1000),
    "components": lambda compared, tasks: make_components(4, 3),
    "components of many": lambda compared, tasks: make_components(3, 2, 2, 2),
    "components of two designs": lambda compared, tasks: Decompositions(
        (), (make_components(8, 8), make_components(2, 2, 2))
    ),
    "components, long names": lambda compared, tasks: make_components(
        3, 3, algorithm=LONG["a"], task="a long name " * 5, metric=LONG["metric"]
    ),
    "searches": lambda compared, tasks: make_curves(("digits",)),
    "searches without test": lambda compared, tasks: make_curves(("digits",), tested=False),
    "searches on tasks": lambda compared, tasks: make_curves(("digits", "a long name " * 5)),
}


class Results:
    """Results by name, made when asked for."""

    def __init__(self, make_comparison, make_tasks):
        self.makers = make_comparison, make_tasks

    def __getitem__(self, kind):
        return RESULTS[kind](*self.makers)
