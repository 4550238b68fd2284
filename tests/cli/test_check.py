"""The command `outperform check`, as a person meets it."""

import json
import re

import pytest
from click.testing import CliRunner

from outperform.cli import main, progress

STUDY = r"""
[[task]]
data = "iris"
metric = "accuracy"
[[pipeline]]
name = "tree"
estimator = "sklearn.tree.DecisionTreeClassifier"
[[pipeline]]
name = "coin"
command = [
    "python3", "-c", 'import random; print("{{\"test\":", random.random(), "}}")',
    "{seed.init}", "{seed.split}",
]
[[design]]
kind = "ideal"
replicates = 2
"""


def call(*words: object):
    return CliRunner().invoke(main, [str(word) for word in words])


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    return path


def test_a_pipeline_that_does_not_repeat_is_a_finding(study):
    result = call("check", study, "--seeds", 3, "--repeats", 2)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0].startswith("Not reproducible: coin. The same seeds give scores that differ by ")
    assert lines[0].endswith("(3 seeds of every source, 2 runs each).")
    table = {tuple(line.split()[:3]): line.split()[3] for line in lines[4:8]}
    assert table["tree", "iris", "split"] == "reproducible"
    assert table["tree", "iris", "order"] == "unused"
    assert table["coin", "iris", "init"] == "noisy"
    assert lines[-1].startswith("Next: find what draws without its seed, pass the seed on")


def test_it_says_how_many_fits_and_how_long_before_and_how_far_it_has_come(study, monkeypatch):
    monkeypatch.setattr(progress, "_EVERY", 0.0)
    result = call("check", study, "--seeds", 3, "--repeats", 2, "--workers", 2, "--json")
    assert json.loads(result.stdout)
    first, *others = result.stderr.splitlines()
    assert re.fullmatch(
        r"30 fits, 3 seeds of every source 2 times each: about [\d.]+ (s|min) on 2 worker\(s\)",
        first,
    )
    assert others
    for line in others:
        how_far = r"checking: \d+ of 30 fits done, [\d.]+ fits/s, [\d.]+ (s|min) to go"
        assert re.fullmatch(how_far, line)
    assert others[-1].startswith("checking: 30 of 30 fits done")


def test_json_has_every_score(study):
    found = json.loads(call("check", study, "--seeds", 2, "--repeats", 3, "--json").stdout)
    assert found["reproducible"] is False
    assert [len(check["scores"]) for check in found["checks"]] == [2] * 5
    assert [len(check["scores"][0]) for check in found["checks"]] == [3] * 5


def test_nothing_is_written(study):
    call("check", study, "--seeds", 2, "--repeats", 2)
    assert [path.name for path in study.parent.iterdir()] == ["study.toml"]


def test_one_seed_is_refused(study):
    result = call("check", study, "--seeds", 1)
    assert result.exit_code == 2
    assert "seeds" in result.stderr
