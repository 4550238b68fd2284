"""Scores that raise a question get no ranking before it is answered, as they get no verdict."""

import numpy as np
import pytest

from outperform import rank_runs
from outperform.errors import InvalidScores
from outperform.store.store import read_runs

NAMES, TASKS = ("vit", "resnet", "vgg"), ("cifar", "mnist")


def make_records(n=6, **changes):
    """Runs of three algorithms on two tasks; `changes` turns a score into another by its name."""
    rng = np.random.default_rng(3)
    records = []
    for task in TASKS:
        for seed in range(n):
            for name in NAMES:
                score = round(float(rng.normal(0.7, 0.03)), 4)
                score = changes[name](seed, score) if task == "mnist" and name in changes else score
                records.append({"algorithm": name, "task": task, "seed": seed, "accuracy": score})
    return records


@pytest.mark.parametrize(
    ("doubt", "changes", "said"),
    [
        ("scale", {"resnet": lambda seed, score: 100 * score}, "look like fractions and per cent"),
        ("outlier", {"vgg": lambda seed, score: 1e13 if seed == 2 else score}, "1 of 6 scores"),
        ("constant", {"vgg": lambda seed, score: 0.75}, "all 6 runs of 'vgg' have the same score"),
    ],
)
def test_scores_that_raise_a_question_are_refused_until_it_is_answered(doubt, changes, said):
    records = make_records(**changes)
    with pytest.raises(InvalidScores, match=said) as refusal:
        rank_runs(records)
    assert "task 'mnist'" in str(refusal.value)
    assert f"--accept {doubt}" in str(refusal.value)
    ranking = rank_runs(read_runs(records, accept=doubt))
    notes = [caveat for caveat in ranking.caveats if "accepted as right" in caveat]
    assert bool(notes) == (doubt != "constant")


def test_sorted_scores_are_asked_about_where_runs_are_paired():
    records = make_records(
        n=12, vit=lambda seed, score: 0.6 + 0.001 * seed**2, vgg=lambda seed, score: score
    )
    rank_runs(records)  # one of them may be
    for record in records:
        if record["task"] == "mnist" and record["algorithm"] == "resnet":
            record["accuracy"] = 0.61 + 0.002 * record["seed"] ** 1.5
    with pytest.raises(InvalidScores, match="'vit' and 'resnet' are sorted in the order of seed"):
        rank_runs(records)


def test_tasks_in_per_cent_beside_tasks_in_fractions_are_no_question():
    records = make_records(**dict.fromkeys(NAMES, lambda seed, score: 100 * score))
    assert rank_runs(records).caveats == rank_runs(make_records()).caveats


def test_folds_of_few_seeds_are_no_pairs_of_their_own():
    rng = np.random.default_rng(0)
    records = [
        {"algorithm": name, "seed": seed, "fold": fold, "accuracy": luck + rng.normal(0, 0.001)}
        for name in NAMES
        for seed, luck in enumerate(rng.normal(0.7, 0.05, size=4))
        for fold in range(10)
    ]
    with pytest.raises(InvalidScores, match="4 independent pairs, not 40"):
        rank_runs(read_runs(records, replicate="seed,fold"))
    caveats = rank_runs(read_runs(records, replicate="seed,fold", accept="nested")).caveats
    assert any("the same seed resemble one another" in caveat for caveat in caveats)
