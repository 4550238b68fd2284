"""README and docs cannot rot: every code block runs, every name is described."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import outperform
from outperform import stats
from outperform.cli import main

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path, language: str) -> list[str]:
    return [body for kind, body in BLOCK.findall(page.read_text()) if kind == language]


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A folder with the examples, where blocks may read and write."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_blocks_run(page, project):
    namespace: dict[str, object] = {}
    for block in blocks(page, "python"):
        exec(compile(block, page.name, "exec"), namespace)
    assert page.exists()


def commands_with_output(page: Path) -> list[tuple[str, str]]:
    """Each command after a prompt, with the output shown below it."""
    found = []
    for block in blocks(page, "console"):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            found.append((command, output))
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_console_blocks_print_what_they_show(page, project):
    for command, output in commands_with_output(page):
        words = shlex.split(command)
        if words[0] != "outperform":
            assert words[0] in ("make", "git", "cd", "pip"), f"{page.name} shows {command!r}"
            continue
        result = subprocess.run(
            [sys.executable, "-m", "outperform", *words[1:]], capture_output=True, text=True
        )
        assert result.returncode == 0, result.stderr
        assert result.stdout.rstrip() == output.rstrip()


def test_every_command_is_on_the_generated_page():
    page = (ROOT / "docs" / "cli.md").read_text()
    for name in main.list_commands(None):  # type: ignore[arg-type]
        assert f"## outperform {name}\n" in page


@pytest.mark.parametrize(
    "page", [page for folder in (".", "docs", "examples") for page in (ROOT / folder).glob("*.md")]
)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("name", [n for n in outperform.__all__ if n != "__version__"])
def test_every_public_name_is_described(name):
    assert f"`{name}" in (ROOT / "docs" / "python.md").read_text()


@pytest.mark.parametrize("name", stats.__all__)
def test_every_statistic_is_described(name):
    assert f"`{name}" in (ROOT / "docs" / "statistics.md").read_text()


def test_changelog_and_version_agree():
    changelog = (ROOT / "CHANGELOG.md").read_text()
    newest = re.search(r"^## \[([^\]]+)\]", changelog, re.MULTILINE)
    assert newest is not None
    assert newest[1] == outperform.__version__


def test_generated_pages_are_up_to_date():
    result = subprocess.run(
        [sys.executable, ROOT / "docs" / "generate.py", "--check"], capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr


def test_percentages_are_written_alike():
    """95%, as English papers write it, in pages and in what is printed or drawn."""
    sources = (ROOT / "src").rglob("*.py")
    for page in (*PAGES, ROOT / "CHANGELOG.md", *sources):
        spaced = re.findall(r"[\d}] %(?= [a-z]|\W*$).*", page.read_text(), re.MULTILINE)
        assert not spaced, f"{page.name}: {spaced}"
