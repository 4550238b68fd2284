"""The examples run as their page says, and say what they should."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("sklearn")

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "study.py"


def test_a_whole_study_needs_one_import_and_runs(tmp_path):
    result = subprocess.run(
        [sys.executable, EXAMPLE], cwd=tmp_path, capture_output=True, text=True, env=os.environ
    )
    assert result.returncode == 0, result.stderr
    checked, compared = result.stdout.splitlines()
    assert checked == (
        "Every seed does what it should: the same one repeats the score, another changes it (2 "
        "seeds of every source, 2 runs each)."
    )
    assert "P(svm > mine) = 1" in compared
    assert "(6 pairs" in compared
