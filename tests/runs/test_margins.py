import numpy as np
import pytest

from outperform import compare_runs, read_runs
from outperform.errors import InvalidScores
from outperform.runs.suspicions import Sides, find_margin_suspicions

FRACTIONS = [0.93, 0.94, 0.92, 0.95, 0.93, 0.91], [0.92, 0.93, 0.92, 0.93, 0.90, 0.92]
PERCENT = [93.2, 92.9, 93.5, 93.1, 93.4, 93.0], [92.5, 92.7, 92.4, 92.8, 92.6, 92.4]


def ask_about(scores, margin, metric="accuracy"):
    a, b = (np.array(each) for each in scores)
    sides = Sides(("new", "old"), (a, b), metric, "runs.csv", "seed")
    return [*find_margin_suspicions(sides, {"margin": margin})]


def table(scores, **options):
    rows = [
        {"model": name, "seed": seed, "accuracy": score}
        for name, own in zip(("new", "old"), scores, strict=True)
        for seed, score in enumerate(own)
    ]
    return read_runs(rows, **options)


@pytest.mark.parametrize(
    ("scores", "option", "value", "message"),
    [
        (
            FRACTIONS,
            "margin",
            0.5,
            "margin is 0.5, and the scores lie between 0.9 and 0.95 in the list of records: "
            "these are fractions, in which a point is 0.01. Pass 0.005 if 0.5 points are meant; "
            "if it is right as it is, pass --accept margin (from Python: read_runs(..., "
            'accept="margin")).',
        ),
        (
            FRACTIONS,
            "equivalence",
            1,
            "equivalence is 1, and the scores lie between 0.9 and 0.95 in the list of records: "
            "these are fractions, in which a point is 0.01. Pass 0.01 if 1 point is meant; "
            "if it is right as it is, pass --accept margin (from Python: read_runs(..., "
            'accept="margin")).',
        ),
        (
            PERCENT,
            "margin",
            0.005,
            "margin is 0.005, and the scores lie between 92.4 and 93.5 in the list of records: "
            "these are per cent, in which a point is 1. Pass 0.5 if 0.5 points are meant; if it is "
            'right as it is, pass --accept margin (from Python: read_runs(..., accept="margin")).',
        ),
    ],
)
def test_a_margin_in_another_unit_is_refused_until_it_is_accepted(scores, option, value, message):
    with pytest.raises(InvalidScores) as caught:
        compare_runs(table(scores), "new", "old", **{option: value})
    assert str(caught.value) == message
    accepted = compare_runs(table(scores, accept="margin"), "new", "old", **{option: value})
    assert any("which was accepted as right" in caveat for caveat in accepted.caveats)


@pytest.mark.parametrize(
    ("scores", "margin", "metric"),
    [
        (FRACTIONS, 0.02, "accuracy"),
        (PERCENT, 0.5, "accuracy"),
        (PERCENT, 0.01, "accuracy"),
        # Runs that differ by more than the margin may well fail it.
        (([0.2, 0.9, 0.5], [0.4, 0.3, 0.8]), 0.1, "success rate"),
        # Only of a share is it known what a point is.
        (FRACTIONS, 0.5, "loss"),
        (PERCENT, 0.005, "reward"),
        # There may be more errors than words.
        (([0.81, 0.95, 1.06], [0.88, 0.92, 1.02]), 0.005, "wer"),
    ],
)
def test_margins_in_the_unit_of_the_scores_raise_no_question(scores, margin, metric):
    assert ask_about(scores, margin, metric) == []
