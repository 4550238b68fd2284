import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

from outperform.errors import InvalidInput, InvalidScores

# A busy machine must not fail a test that is right.
settings.register_profile("stats", deadline=None)
settings.load_profile("stats")

REFERENCE = Path(__file__).parent / "reference"


@pytest.fixture(scope="session")
def reference():
    """Read what the R script of the same name wrote; R itself is not needed."""
    return lambda name: json.loads((REFERENCE / f"{name}.json").read_text())


def _with(value, *positions):
    return [value if i in positions else i / 20 for i in range(20)]


BAD_SCORES = {
    "NaN": (_with(math.nan, 3, 17), InvalidScores, r"\b3\b.*\b17\b"),
    "infinite": (_with(-math.inf, 13), InvalidScores, r"\b13\b"),
    "huge": (_with(-1e200, 13), InvalidScores, r"reaches -1e\+200, too large"),
    "masked": (np.ma.masked_equal(_with(9.0, 3, 17), 9.0), InvalidScores, "2 masked"),
    "text": (_with("high", 11), InvalidScores, "not a number"),
    "2-D": ([[i / 20 for i in range(20)]], InvalidScores, r"\(1, 20\)"),
    "scalar": (0.5, InvalidScores, r"\b0\.5\b"),
    "empty": ([], InvalidInput, r"\b0\b"),
}


@pytest.fixture(params=BAD_SCORES)
def bad_scores(request):
    """Scores to refuse, the error to raise and what its message must name."""
    return BAD_SCORES[request.param]


@pytest.fixture
def refuses(bad_scores):
    """Call a function with bad scores on either side and check that it refuses them clearly."""

    def check(function):
        scores, error, names = bad_scores
        good = [i / 20 for i in range(20)]
        for arguments in [(scores, good), (good, scores)]:
            with pytest.raises(error, match=names) as caught:
                function(*arguments)
            assert str(caught.value) == f"{caught.value.problem}. {caught.value.remedy}."

    return check
