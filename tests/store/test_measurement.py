"""A measurement that contradicts itself cannot be made."""

import math

import pytest

from outperform.errors import InvalidInput, InvalidScores
from outperform.store import Added
from outperform.store.measurement import compare_scores


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf])
def test_scores_are_finite(done, score):
    with pytest.raises(InvalidScores) as caught:
        done(scores={"valid": 0.5, "test": score})
    assert str(caught.value) == (
        f"the test score of fit k0 is {score}. "
        "Record the fit as failed: NaN and infinite scores are failures."
    )


def test_a_fit_that_is_done_has_scores(done):
    with pytest.raises(InvalidScores) as caught:
        done(scores={})
    assert str(caught.value) == (
        "fit k0 is done and has 0 scores. "
        "Give scores to a fit that is done, and none to one that failed."
    )


def test_a_fit_that_failed_has_no_scores(failed):
    with pytest.raises(InvalidScores, match="fit k0 is failed and has 1 scores"):
        failed(scores={"test": 0.5})


def test_a_fit_has_an_error_only_if_it_failed(done, failed):
    with pytest.raises(InvalidInput, match="fit k0 is done and its error is 'oh'"):
        done(error="oh")
    with pytest.raises(InvalidInput, match="fit k0 is failed and its error is None"):
        failed(error=None)


def test_scores_of_one_fit_are_compared_by_their_largest_difference():
    first = {"valid": 0.5, "test": 0.25}
    assert compare_scores(first, {"test": 0.25, "valid": 0.5}) == Added("same")
    assert compare_scores(first, {"valid": 0.625, "test": 0.75}) == Added("differs", 0.5)
    assert compare_scores(first, {"valid": 0.5}) == Added("differs", math.inf)


@pytest.mark.parametrize(
    ("added", "sentence"),
    [
        (Added("new"), "recorded"),
        (Added("same"), "recorded before with equal scores"),
        (Added("kept"), "a fit that had succeeded failed when done again: its scores are kept"),
        (
            Added("differs", 1e-9),
            "a fit with the same seeds gave scores that differ by 1e-09: the first ones are kept",
        ),
    ],
)
def test_what_became_of_a_measurement_is_a_sentence(added, sentence):
    assert str(added) == sentence
