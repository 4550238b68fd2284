"""Studies as people write them: several tasks, functions and commands, run to the end."""

import sys

from click.testing import CliRunner

from outperform.cli import main
from outperform.store import open_store

# Scores that tell what the fit was told.
TRAINING = """
def fit(params, split, seeds, task, *, refit, fold):
    return {"test" if refit else "valid": len(task) + fold / 10, "n": len(split.test)}
"""
SCRIPT = """
import json, sys
task, refit, fold, split = sys.argv[1:]
score = len(task) + int(fold) / 10
n = len(json.load(open(split))["test"])
print(json.dumps({"test" if refit == "true" else "valid": score, "n": n}))
"""
STUDY = """
[tuning]
trials = 2

[[task]]
data = "iris"
metric = "accuracy"
split = "cross-validation"

[[task]]
name = "grapes"
data = "wine"
metric = "accuracy"
split = "hold-out"

[[pipeline]]
function = "told_training:fit"
space = {rate = {uniform = [0.0, 1.0]}}

[[pipeline]]
command = ["PYTHON", "script.py", "{task}", "{refit}", "{fold}", "{split}"]

[[design]]
kind = "ideal"
replicates = 2
"""


def test_functions_and_commands_are_told_task_fold_refit_and_split(tmp_path):
    (tmp_path / "told_training.py").write_text(TRAINING)
    (tmp_path / "script.py").write_text(SCRIPT)
    path = tmp_path / "study.toml"
    path.write_text(STUDY.replace("PYTHON", sys.executable))
    result = CliRunner().invoke(main, ["run", str(path), "--workers", "1"])
    assert "16 fits done now, 0 were recorded before, 0 failed" in result.output
    with open_store(tmp_path / "study.db") as store:
        fits = list(store.measurements())
    assert {fit.pipeline for fit in fits} == {"fit", "script"}
    for fit in fits:
        answer = len(fit.task) + fit.fold / 10
        assert fit.scores["test" if fit.refit else "valid"] == answer
    # Both are tested on the same split.
    sizes = {
        name: {f.scores["n"] for f in fits if f.pipeline == name} for name in ("fit", "script")
    }
    assert sizes["fit"] == sizes["script"] == {30, 36}
    assert {fit.fold for fit in fits if fit.task == "iris"} == {0, 1}
