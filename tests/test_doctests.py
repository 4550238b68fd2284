"""Every example in a docstring gives what it shows."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "outperform"
MODULES = sorted(
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
    for path in PACKAGE.rglob("*.py")
    if path.stem not in ("__init__", "__main__") and ">>> " in path.read_text()
)
EXTRAS = {"outperform.store.postgres_database": "psycopg"}  # imported by these when they are


@pytest.mark.parametrize("name", MODULES)
def test_examples_give_what_they_show(name):
    if name in EXTRAS:
        pytest.importorskip(EXTRAS[name])
    result = doctest.testmod(import_module(name), optionflags=doctest.ELLIPSIS)
    assert result.attempted
    assert not result.failed
