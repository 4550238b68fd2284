"""The tree is the architecture: each layer imports only those above it."""

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from outperform.cli import COMMANDS_OF_OUR_OWN, list_commands

PACKAGE = Path(__file__).parents[1] / "src" / "outperform"
LAYERS = [
    *("errors", "wording", "plain_values", "processes", "lazy"),
    *("stats", "runs", "study", "store", "engines"),
    *("runner", "questions", "render", "figure", "cli", "command"),
    *("__main__", "__init__"),
]
# Rooms of a question that lie above the others: they draw, or are called from the command line.
UPPER_ROOMS = {"figure": "figure", "command": "command"}
SLOW_IMPORTS = (
    "scipy.stats",
    "pandas",
    "matplotlib",
    "sklearn",
    "polars",
    "pyarrow",
    "rich",
    "filelock",
    "emcee",
)


@cache
def parse(path: Path) -> list[ast.AST]:
    """Every node of a file that several tests look through."""
    return [*ast.walk(ast.parse(path.read_text()))]


def imported_names(path: Path) -> list[str]:
    froms = [n for n in parse(path) if isinstance(n, ast.ImportFrom)]
    names = [f"{node.module}.{alias.name}" for node in froms for alias in node.names]
    return [name for name in names if name.startswith("outperform.")]


def find_layer(name: str) -> str:
    """Layer of a module or of a name in it; rooms of a question have their own."""
    _, layer, *rest = name.split(".")
    if layer == "questions" and len(rest) > 1:
        room = "figure" if rest[1].endswith("_figure") else rest[1]
        return UPPER_ROOMS.get(room, layer)
    if layer == "cli" and rest and rest[0] in COMMANDS_OF_OUR_OWN:
        return "command"
    return layer


def imported_layers(path: Path) -> set[str]:
    return {find_layer(name) for name in imported_names(path)}


def find_own_layer(path: Path) -> str:
    return find_layer(".".join(("outperform", *path.relative_to(PACKAGE).with_suffix("").parts)))


@pytest.mark.parametrize(
    "path", sorted(PACKAGE.rglob("*.py")), ids=lambda p: str(p.relative_to(PACKAGE))
)
def test_imports_point_down(path):
    assert imported_layers(path) <= set(LAYERS[: LAYERS.index(find_own_layer(path)) + 1])


@pytest.mark.parametrize(
    "path",
    sorted((PACKAGE / "questions").glob("*/*.py")),
    ids=lambda p: f"{p.parent.name}/{p.name}",
)
def test_a_question_uses_no_figure_or_command_of_another(path):
    for name in imported_names(path):
        if find_layer(name) in ("figure", "command") and name.split(".")[1] == "questions":
            assert name.split(".")[2] == path.parent.name


# Each room with those of its question that it may not enter: those are above it.
CLOSED = {
    "table": ("answer", "doubts", "figure", "command"),
    "advice": ("answer", "doubts", "figure", "command"),
    "result": ("answer", "doubts", "paper_table", "figure", "command"),
    "paper_table": ("answer", "doubts", "figure", "command"),
    "doubts": ("answer", "figure", "command"),
    "answer": ("figure", "command"),
    "figure": ("command",),
}


@pytest.mark.parametrize("room", CLOSED)
def test_rooms_are_entered_from_above_only(room):
    for path in (PACKAGE / "questions").glob(f"*/{room}.py"):
        own = [name for name in imported_names(path) if f".questions.{path.parent.name}." in name]
        assert not {name.split(".")[3] for name in own} & {*CLOSED[room]}, path


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda p: p.name)
def test_imports_are_absolute_froms(path):
    for node in parse(path):
        if isinstance(node, ast.Import):
            assert not any(alias.name.startswith("outperform") for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0


def test_imported_layers_sees_an_upward_import(tmp_path):
    path = tmp_path / "bad.py"
    path.write_text("from outperform.cli import main\nfrom outperform import plots\n")
    assert imported_layers(path) == {"cli", "plots"}


@pytest.mark.parametrize("path", sorted((PACKAGE / "stats").glob("*.py")), ids=lambda p: p.name)
def test_stats_know_nothing_of_machine_learning(path):
    words = path.read_text().lower()
    assert not [word for word in ("algorithm", "classifier", "pipeline") if word in words]


def test_the_command_line_starts_without_slow_imports():
    commands = [[*name.split(), "--help"] for name in ("", *list_commands())]
    code = f"""
import sys
from outperform.cli import main
for words in {commands!r}:
    main(words, standalone_mode=False)
    print("slow:", words, [name for name in {SLOW_IMPORTS!r} if name in sys.modules])
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    said = [line for line in result.stdout.splitlines() if line.startswith("slow: ")]
    assert said == [f"slow: {words} []" for words in commands], result.stderr


def test_runs_and_their_workers_wait_for_no_scipy():
    code = "import sys, outperform.cli.run, outperform.runner; print('scipy' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout == "False\n", result.stderr


def test_functions_and_modules_do_not_share_names():
    import outperform

    modules = {path.stem for path in PACKAGE.rglob("*.py")} - {"run"}  # which exports `command`
    assert not modules & set(outperform.__all__)


def test_files_and_variables_have_names_that_others_can_guess():
    stems = {path.stem for path in PACKAGE.rglob("*.py")}
    assert not stems & {"leads", "sobering", "telling", "entries", "contents", "memory", "cells"}
    assert not stems & {"composing", "drawings", "utils", "helpers"}
    for path in PACKAGE.rglob("*.py"):
        names = {node.id for node in parse(path) if isinstance(node, ast.Name)}
        assert not names & {"found", "told", "taken"}, path


def list_prints(path: Path) -> list[int]:
    """Lines that print without `say`, under which names are no more than text."""
    calls = [n for n in parse(path) if isinstance(n, ast.Attribute | ast.Name)]
    printing = {"echo", "secho", "echo_via_pager", "print"}
    return [
        n.lineno for n in calls if (n.attr if isinstance(n, ast.Attribute) else n.id) in printing
    ]


@pytest.mark.parametrize(
    "path", sorted(PACKAGE.rglob("*.py")), ids=lambda p: str(p.relative_to(PACKAGE))
)
def test_only_the_terminal_prints(path):
    if path != PACKAGE / "render" / "terminal.py":
        assert list_prints(path) == []


def test_list_prints_sees_a_print(tmp_path):
    path = tmp_path / "bad.py"
    path.write_text("click.echo(name)\nclick.secho(name)\nprint(name)\nTimer(2, click.echo)\n")
    assert list_prints(path) == [1, 2, 3, 4]
