"""README and docs cannot rot: every code block runs, every name is described."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

import outperform
from outperform import stats
from outperform.cli import main

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"^```csv (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# A block of Python, and what it prints where a block of text follows at once.
PROGRAM = re.compile(
    r"^```python\n(?P<code>.*?)^```$(?:\n\n```text\n(?P<output>.*?)^```$)?",
    re.MULTILINE | re.DOTALL,
)
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
SVG = "{http://www.w3.org/2000/svg}"
PICTURE = re.compile(r"!\[[^\]]+\]\(([^)]+)\)")


def blocks(page: Path, language: str) -> list[str]:
    return [body for kind, body in BLOCK.findall(page.read_text()) if kind == language]


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A folder with the examples, where blocks may read and write."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_blocks_run_and_print_what_they_show(page, project, capsys):
    namespace: dict[str, object] = {}
    for program in PROGRAM.finditer(page.read_text()):
        exec(compile(program["code"], page.name, "exec"), namespace)
        printed = capsys.readouterr().out
        assert program["output"] in (None, printed)
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
    for name, content in FILE.findall(page.read_text()):
        (project / name).write_text(content)
    for command, output in commands_with_output(page):
        words = shlex.split(command)
        if words[0] != "outperform":
            assert words[0] in ("make", "git", "cd", "pip"), f"{page.name} shows {command!r}"
            continue
        result = CliRunner().invoke(main, words[1:], prog_name="outperform")
        assert result.exit_code == 0, result.stderr
        assert result.stdout.rstrip() == output.rstrip()


def describe_picture(path: Path) -> tuple[object, ...]:
    """Size, words and marks of an SVG, which hang on no version of matplotlib or font."""
    root = ElementTree.parse(path).getroot()
    words = ["".join(text.itertext()).strip() for text in root.iter(f"{SVG}text")]
    return root.get("viewBox"), words, sum(1 for _ in root.iter(f"{SVG}use"))


def test_the_picture_is_what_its_command_draws(project):
    page = (ROOT / "README.md").read_text()
    [picture] = PICTURE.findall(page)
    (project / picture).parent.mkdir(parents=True)
    [options] = re.findall(rf"`… (--plot {re.escape(picture)}[^`]*)`", page)
    first_command, _ = commands_with_output(ROOT / "README.md")[0]
    words = shlex.split(f"{first_command} {options}")
    result = CliRunner().invoke(main, words[1:])
    assert result.exit_code == 0, result.output
    assert describe_picture(project / picture) == describe_picture(ROOT / picture)


def test_every_page_is_linked_from_another():
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]
    linked = {
        (page.parent / target).resolve()
        for page in pages
        for target in LINK.findall(page.read_text())
    }
    unlinked = [page.name for page in PAGES[1:] if page.resolve() not in linked]
    assert not unlinked
    unused = [each for each in (ROOT / "docs" / "images").iterdir() if each.resolve() not in linked]
    assert not unused


def test_readme_lists_every_page():
    readme = (ROOT / "README.md").read_text()
    assert [page.name for page in PAGES[1:] if f"](docs/{page.name})" not in readme] == []


def list_sources():
    folders = ("src", "examples", "tests", "bench", "calibration")
    return {path for name in folders for path in (ROOT / name).rglob("*.py")} - {Path(__file__)}


def list_citations(text):
    """First author and year of each citation: A (2001), A and B (2001), A et al., 2001."""
    flat = " ".join(text.split())
    several = r"([A-ZØ]\w+)(?:(?:, [A-Z]\w+)* and [A-Z]\w+| et al\.),? \(?((?:19|20)\d\d)\b"
    return {*re.findall(several, flat), *re.findall(r"([A-ZØ]\w+) \(((?:19|20)\d\d)\)", flat)}


def test_citations_are_seen():
    text = "Holm (1979), Hanley and McNeil\n(1982), Ø and Å, 2001, Bouthillier et al. (2021)"
    assert list_citations(text) >= {("Holm", "1979"), ("Hanley", "1982"), ("Bouthillier", "2021")}


def test_whatever_is_cited_is_among_the_references():
    entries = (ROOT / "docs" / "references.md").read_text().splitlines()
    for page in {*PAGES, ROOT / "CHANGELOG.md", *list_sources()}:
        for author, year in list_citations(page.read_text()):
            listed = [each for each in entries if author in each and year in each]
            assert listed, (page.name, author, year)


def test_papers_are_named():
    """Which paper is "the paper"? Each is named."""
    for page in {*PAGES, ROOT / "CHANGELOG.md", *list_sources()}:
        lines = [line for line in page.read_text().splitlines() if "paper" in line.casefold()]
        nameless = [each for each in lines if re.search(r"\b(the|its) papers?\b", each, re.I)]
        unclear = [line for line in nameless if "for the paper" not in line]
        assert not unclear, f"{page.name}: {unclear}"


def test_every_command_is_on_the_generated_page():
    page = (ROOT / "docs" / "cli.md").read_text()
    for name in main.list_commands(None):  # type: ignore[arg-type]
        assert f"## outperform {name}\n" in page


@pytest.mark.parametrize(
    "page", [page for folder in (".", "docs", "examples") for page in (ROOT / folder).glob("*.md")]
)
def test_links_lead_somewhere(page):
    for target in LINK.findall(page.read_text()):
        assert (page.parent / target).exists(), target


def list_anchors(page: Path) -> set[str]:
    """Anchors of the headings of a page, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_within_pages_lead_to_a_heading(page):
    for target, anchor in re.findall(r"\]\(([^)#:]*)#([^)]+)\)", page.read_text()):
        goal = page.parent / target if target else page
        assert anchor in list_anchors(goal), f"{target}#{anchor}"


def test_first_questions_are_all_listed_at_the_top():
    page = ROOT / "docs" / "faq.md"
    listed = re.findall(r"\(#([^)]+)\)", page.read_text().split("\n## ")[0])
    assert set(listed) == list_anchors(page) - {"answers-to-first-questions"}


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
