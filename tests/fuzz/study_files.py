"""Study files: valid ones with keys and values that nobody meant."""

import re
from pathlib import Path
from typing import NamedTuple

from hypothesis import strategies as st

from outperform.study.study_file import read_study
from tests.fuzz.harness import Target, is_answered
from tests.fuzz.nasty import NAMES, NUMBERS, damage

STUDIES = (
    """name = "small"
seed = 0
[tuning]
tuner = "random"
trials = 3
[limits]
timeout = 600
retries = 1
[engine]
address = "local:2"
patience = 60.5
options = {gpus = [0, 1], n_threads = 1}
[[task]]
name = "t"
data = "iris"
metric = "accuracy"
split = {kind = "hold-out", test = 0.3}
[[pipeline]]
name = "knn"
estimator = "sklearn.neighbors.KNeighborsClassifier"
sources = ["split"]
resources = {gpus = 0.5, memory = "1.5GiB", cpus = 2}
[pipeline.space]
n_neighbors = {integers = [1, 15], default = 5}
weights = {choices = ["uniform", "distance"], default = "uniform"}
[[pipeline]]
name = "mine"
command = ["python", "train.py", "{rate}", "{seed.init}", "{seed.order}", "{split}", "{out}"]
[pipeline.space]
rate = {log-uniform = [1e-3, 1e-1], default = 1e-2}
[[design]]
kind = "fix-hopt"
replicates = 4
[[design]]
kind = "variance"
replicates = 3
""",
    """name = "other"
seed = 12
[tuning]
tuner = "grid"
trials = 4
[[task]]
name = "x"
metric = "loss"
goal = "minimize"
[[task]]
name = "y"
metric = "loss"
goal = "minimize"
[[pipeline]]
name = "one"
function = "trainer:fit"
sources = ["init", "order"]
[pipeline.space]
rate = {uniform = [0.0, 1.0], default = 0.5}
width = {integers = [8, 128], default = 64, log = true}
[[pipeline]]
name = "two"
function = "trainer:fit"
sources = ["init", "order"]
[[design]]
kind = "ideal"
replicates = 5
[[design]]
kind = "crossed"
levels = 3
""",
)
TRAINER = "def fit(params, split, seeds):\n    return {'valid': 0.5, 'test': 0.5}\n"
WORDS = (
    *("name", "seed", "tuner", "trials", "data", "metric", "goal", "split", "label", "group"),
    *("estimator", "function", "command", "sources", "space", "kind", "replicates", "levels"),
    *("vary", "repetitions", "timeout", "retries", "default", "log", "test", "train", "folds"),
    *("task", "pipeline", "design", "tuning", "limits", "replicate", "Name", "se ed", ""),
)
VALUES = (
    *('"hold-out"', '"cross-validation"', '"out-of-bootstrap"', '"fixed"', '"digits"', '"no.csv"'),
    *(
        '"grid"',
        '"wide-random"',
        '"noisy-grid"',
        '"gp-ei"',
        '"tpe"',
        '"cma-es"',
        '"ideal"',
        '"variance"',
    ),
    *('"maximize"', '"minimize"', '"os"', '"os:path"', '"os:nothing"', '"nowhere:f"', '"a:b:c"'),
    *("true", "false", "[]", "{}", '[""]', "[[[[]]]]", "1979-05-27", "07:32:00", "'''\n'''"),
    *("[1, 15]", "[0.0, 1.0]", "[5, 1]", "[1, 'a']", "{kind = 1}", '{kind = "hold-out", test = 2}'),
    *('{kind = "cross-validation", folds = 3}', '{kind = "fixed", train = "0:9", test = [10]}'),
    *("{uniform = [1, 2]}", "{choices = []}", "{integers = [1, 2], log = 3}", '{choices = ["a"]}'),
    *("[" * 40 + "]" * 40, "[" * 3000 + "]" * 3000, "{a = " * 30 + "1" + "}" * 30),
    *("0x7fffffffffffffff", "-9223372036854775808", "1e999", "0o17", "0b1", "_", "1__0"),
)


class StudyFile(NamedTuple):
    content: bytes
    options: tuple[str, ...] | None  # of a dry run; None: it is read from Python


def _quote(text: str) -> str:
    inner = "".join(f"\\u{ord(c):04x}" if ord(c) < 32 else c for c in text)
    return '"' + inner.replace('"', '\\"') + '"'


values = (
    st.sampled_from(VALUES)
    | st.sampled_from(NUMBERS)
    | st.sampled_from(NAMES).map(_quote)
    | st.integers().map(str)
    | st.floats().map(repr)
)


@st.composite
def change_lines(draw: st.DrawFn, lines: list[str]) -> list[str]:
    """One change of a study file: of a key, a value, a part of a value, or the order of lines."""
    at = draw(st.integers(0, len(lines) - 1))
    line = lines[at]
    key, sign, value = line.partition(" = ")
    if not sign:
        change = draw(st.sampled_from(["drop", "double", "word", "swap"]))
    else:
        change = draw(st.sampled_from(["value", "part", "part", "key", "drop", "double", "swap"]))
    match change:
        case "value":
            new = [f"{key} = {draw(values)}"]
        case "part":
            parts = [*re.finditer(r'"[^"]*"|[\w.-]+', value)]
            part = draw(st.sampled_from(parts)) if parts else re.match("", value)
            new = [f"{key} = {value[: part.start()]}{draw(values)}{value[part.end() :]}"]
        case "key":
            new = [f"{draw(st.sampled_from(WORDS))} = {value}"]
        case "word":
            new = [re.sub(r"\w+", lambda _: draw(st.sampled_from(WORDS)), line, count=1)]
        case "drop":
            new = []
        case "double":
            new = [line, line]
        case _:
            new = [line, lines[draw(st.integers(0, len(lines) - 1))]]
    return [*lines[:at], *new, *lines[at + 1 :]] or [""]


@st.composite
def study_files(draw: st.DrawFn) -> StudyFile:
    lines = draw(st.sampled_from(STUDIES)).splitlines()
    for _ in range(draw(st.integers(0, 2))):
        lines = draw(change_lines(lines))
    content = "\n".join(lines).encode(errors="surrogatepass")
    content = draw(
        st.sampled_from([st.just(content)] * 3 + [damage(content, 2)]).flatmap(lambda each: each)
    )
    given = ([], ["--json"], ["--seconds-per-fit", "2"], ["--until-decided", "knn", "mine"])
    options = draw(st.none() | st.sampled_from(given).map(tuple))
    return StudyFile(content, options)


def attempt(case: StudyFile, folder: Path) -> bool:
    (folder / "trainer.py").write_text(TRAINER)
    path = folder / "study.toml"
    path.write_bytes(case.content)
    if case.options is None:
        read_study(path)
        return True
    return is_answered(["run", str(path), "--dry-run", "--engine", "inline", *case.options])


TARGET = Target("study files", study_files(), attempt)
