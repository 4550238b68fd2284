"""Results to draw."""

import pytest

from tests.render.results import Results


@pytest.fixture
def results(make_comparison, make_tasks):
    return Results(make_comparison, make_tasks)
