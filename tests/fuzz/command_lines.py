"""Command lines: options of every command, with values that nobody meant.

Left out are what trains (`demo`, `check`, and `run` without `--dry-run`), `--debug`, and draws
beyond a few, which take as long as somebody asks for.
"""

import json
from contextlib import chdir
from functools import cache
from pathlib import Path
from typing import NamedTuple

import click
from hypothesis import strategies as st

from outperform.cli import main
from tests.fuzz import stores, study_files
from tests.fuzz.harness import Target, is_answered
from tests.fuzz.nasty import cells, texts
from tests.fuzz.runs_files import make_rows, write_rows

_RUNS = (
    ("runs.csv", "a", "b"),
    ("wide.csv", "a", "b"),
    ("runs.jsonl", "a"),
    ("study.db", "a", "b"),
)
ARGUMENTS: dict[str, tuple[tuple[str, ...], ...]] = {
    "audit": _RUNS,
    "backup": (("study.db", "copy.db"),),
    "best-of": _RUNS,
    "compare": (*_RUNS, ("--summary", "a=76.3,0.4,10", "b=75.1±0.5,10")),
    "decompose": (("study.db",), ("runs.csv",)),
    "init": (("new",), ()),
    "plan": (*_RUNS, (), ()),
    "quality": (("study.db",), ("runs.csv",)),
    "report": (("runs.csv", "a", "b", "-o", "report.html"),),
    "run": (("study.toml",),),
    "simulate": (*_RUNS, (), ("--case-studies", "cases.json"), ("--store", "study.db")),
    "sota": (("board.csv",), ("--classifiers", "50", "--accuracy", "0.9", "--test-size", "300")),
    "status": (("study.db",),),
    "verify": (("study.db",),),
}
FILES = (
    "runs.csv",
    "wide.csv",
    "runs.jsonl",
    "study.db",
    "study.toml",
    "cases.json",
    "no.csv",
    ".",
)
COLUMNS = ("algorithm", "task", "seed", "accuracy", "val_accuracy", "a", "b", "t0", "init", "ideal")
SUMMARIES = ("a=76.3,0.4,10", "b=75.1±0.5,10", "a=1e308,0,2", "b=0,1e308,1e308", "c=1,1,0", "a=1,2")
SLOW = {"--draws": ("20", "2", "0", "-1"), "--plot": ("f.svg", "f.png", "f.txt", "no/f.svg")}
NEEDED = {"run": ("--dry-run", "--engine", "inline")}
GATES = (1, 3)
CASES = {"a": {"sigma": 0.01, "sigma_epsilon": {"50": {"biased": 0.004}}}}

plain = st.sampled_from((*COLUMNS, *FILES, *SUMMARIES))
values = st.one_of(plain, plain, cells, texts)


class CommandLine(NamedTuple):
    words: tuple[str, ...]


@cache
def list_options(command: str) -> tuple[click.Option, ...]:
    """Options of a command, but for those that fuzzing leaves out."""
    found = main.get_command(click.Context(main), command)
    assert found is not None
    left_out = ("debug", "measure", "engine", "workers")
    return tuple(
        each
        for each in found.params
        if isinstance(each, click.Option) and each.name not in left_out
    )


def mostly(good: tuple[str, ...], others: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Three times of four what makes sense: what is all nonsense is refused early."""
    sense = st.sampled_from(good)
    return st.sampled_from((sense, sense, sense, others)).flatmap(lambda each: each)


@st.composite
def option_words(draw: st.DrawFn, option: click.Option) -> list[str]:
    name = draw(st.sampled_from([*option.opts, *option.secondary_opts]))
    if option.is_flag:
        return [name]
    if name in SLOW:
        return [name, draw(st.sampled_from(SLOW[name]))]
    value = mostly(COLUMNS, values)
    if isinstance(option.type, click.Choice):
        value = mostly(tuple(map(str, option.type.choices)), cells)
    elif isinstance(option.type, click.types.IntParamType | click.types.IntRange):
        value = mostly(("1", "3", "20", "50"), cells)
    elif isinstance(option.type, click.types.FloatParamType):
        value = mostly(("0.1", "0.05", "0.9", "2"), cells)
    return [name, *(draw(value) for _ in range(option.nargs))]


@st.composite
def command_lines(draw: st.DrawFn) -> CommandLine:
    command = draw(st.sampled_from([*ARGUMENTS]))
    usual = draw(st.sampled_from(ARGUMENTS[command]))
    words = [draw(mostly((word,), values)) for word in usual]
    words += draw(st.sampled_from(([], [], [], ["c"])))
    known = list_options(command)
    options = draw(st.lists(st.sampled_from(known), max_size=3)) if known else []
    given = [word for option in options for word in draw(option_words(option))]
    given = [*words, *given] if draw(st.booleans()) else [*given, *words]
    return CommandLine((command, *NEEDED.get(command, ()), *map(as_argument, given)))


def as_argument(text: str) -> str:
    """A word as systems can pass it on: without zeros, and with bytes that are no text."""
    word = text.replace("\x00", "").encode(errors="surrogatepass")
    return word.decode(errors="surrogateescape")


def attempt(case: CommandLine, folder: Path) -> bool:
    home = folder / "home"
    if not home.exists():
        home.mkdir()
    _fill(home)
    gated = any(word.startswith("--gate") for word in case.words)
    with chdir(home):
        return is_answered(case.words, statuses=GATES if gated else ())


def _fill(home: Path) -> None:
    """Write the files that are missing: a command may have written others."""
    contents = {
        "runs.csv": lambda: write_rows("csv", make_rows("csv"))[1],
        "wide.csv": lambda: write_rows("csv", make_rows("wide"))[1],
        "runs.jsonl": lambda: write_rows("json", make_rows("json"))[1],
        "study.db": stores.make_store,
        "study.toml": lambda: study_files.STUDIES[0].encode(),
        "board.csv": lambda: b"entry,accuracy\nx,0.91\ny,0.9\nz,0.88\n",
        "cases.json": lambda: json.dumps(CASES).encode(),
    }
    for name, make in contents.items():
        if not (home / name).exists():
            (home / name).write_bytes(make())


TARGET = Target("command lines", command_lines(), attempt)
