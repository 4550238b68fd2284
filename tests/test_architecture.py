"""The tree is the architecture: each layer imports only those above it."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from outperform.cli import _COMMANDS

PACKAGE = Path(__file__).parents[1] / "src" / "outperform"
LAYERS = [
    *("errors", "lazy", "stats", "runs", "study", "store", "engines", "runner", "analysis"),
    *("plots", "report", "web", "cli", "__main__", "__init__"),
]
SLOW_IMPORTS = ("scipy.stats", "pandas", "matplotlib", "sklearn", "polars", "pyarrow")


def imported_layers(path: Path) -> set[str]:
    froms = [n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.ImportFrom)]
    names = [f"{node.module}.{alias.name}" for node in froms for alias in node.names]
    return {name.split(".")[1] for name in names if name.startswith("outperform.")}


@pytest.mark.parametrize(
    "path", sorted(PACKAGE.rglob("*.py")), ids=lambda p: str(p.relative_to(PACKAGE))
)
def test_imports_point_down(path):
    own = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    assert imported_layers(path) <= set(LAYERS[: LAYERS.index(own) + 1])


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda p: p.name)
def test_imports_are_absolute_froms(path):
    for node in ast.walk(ast.parse(path.read_text())):
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


@pytest.mark.parametrize("command", [f"{name} --help".strip() for name in ("", *_COMMANDS)])
def test_the_command_line_starts_without_slow_imports(command):
    code = (
        "import sys\nfrom outperform.cli import main\n"
        f"main({command.split()!r}, standalone_mode=False)\n"
        f"print([name for name in {SLOW_IMPORTS!r} if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout.splitlines()[-1] == "[]", result.stderr


def test_functions_and_modules_do_not_share_names():
    import outperform

    named_alike = {"audit", "compare", "decompose", "plan", "run"}
    modules = {path.stem for path in PACKAGE.rglob("*.py")} - named_alike
    commands = {path.stem for path in (PACKAGE / "cli").glob("*.py")}
    assert not modules & set(outperform.__all__)
    assert named_alike <= commands  # one file per command; they export `command`
