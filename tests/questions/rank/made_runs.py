"""Runs of algorithms of which each is worse than the one before."""

import numpy as np

NAMES = ("vit", "resnet", "vgg", "mlp")


def make_runs(
    *, tasks=("t1", "t2", "t3"), names=NAMES, n=12, gap=1.0, noise=1.0, seed=0, metric="reward"
):
    """Rows of runs in which each algorithm is by `gap` worse than the one before."""
    rng = np.random.default_rng(seed)
    return [
        {"algorithm": name, "task": task, "seed": i, metric: -gap * place + noise * rng.normal()}
        for task in tasks
        for place, name in enumerate(names)
        for i in range(n)
    ]


def find(ranking, a, b):
    pair = ranking.find_pair(a, b)
    assert pair is not None
    return pair
