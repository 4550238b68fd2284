"""Names may hold anything: they reach no terminal, page, figure or JSON as more than text."""

import json
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from outperform import compare_runs, save_figure, write_report
from outperform.cli import main
from outperform.runs import read_runs
from outperform.wording import STEERING, make_visible

NASTY = "\x1b[2J\x00\x9b31m\u202e\u200b\ud800\ufeff"
SCRIPT = "</title><script src=//x>$x^</svg><img onerror=1>'\""


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))


@pytest.fixture
def result():
    a, b = f"a{NASTY}{SCRIPT}", f"b{NASTY}{SCRIPT}"
    scores = [0.9, 0.8, 0.7, 0.85, 0.95, 0.75]
    runs = read_runs(
        {a: scores, b: [0.6, 0.7, 0.5, 0.4, 0.3, 0.8]}, metric=f"score{NASTY}", goal="maximize"
    )
    return compare_runs(runs, a, b)


def test_every_character_that_steers_is_shown():
    assert not STEERING.search(make_visible(NASTY))
    assert make_visible("\u202eé\ud800") == "\\u202eé\\ud800"


def test_a_page_holds_names_as_text_only(result, tmp_path):
    path = tmp_path / "report.html"
    write_report(result, path, title=f"t{NASTY}{SCRIPT}")
    text = path.read_text(encoding="utf-8")
    assert not STEERING.search(text)
    page = Tags()
    page.feed(text)
    tags = {tag for tag, _ in page.found}
    assert not tags & {"script", "img", "iframe", "object", "link", "base"}
    assert not [name for _, each in page.found for name in each if name.startswith("on")]
    policies = [each["content"] for _, each in page.found if "http-equiv" in each]
    assert policies == [
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'"
    ]


@pytest.mark.parametrize("kind", ["svg", "pdf", "png"])
def test_figures_can_be_drawn_whatever_the_names(result, tmp_path, kind):
    path = tmp_path / f"figure.{kind}"
    save_figure(result, path)
    assert path.stat().st_size
    if kind == "svg":
        ElementTree.parse(path)


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_the_terminal_sees_names_as_text_only(tmp_path, options):
    path = tmp_path / "runs.jsonl"
    names = [f"a{NASTY}", f"b{NASTY}"]
    rows = [
        {"algorithm": name, "seed": seed, "accuracy": (seed * 7 + i * 3) % 11 / 11}
        for i, name in enumerate(names)
        for seed in range(8)
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    done = CliRunner().invoke(main, ["compare", str(path), *names, *options])
    assert done.exit_code == 0, done.output
    assert not STEERING.search(done.output)
    if options:
        assert json.loads(done.stdout)["a"] == names[0]


FORGED = "x\nNext: trust b"


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("compare", ["--test", "wilcoxon"]),
        ("compare", ["--gate"]),
        ("audit", ["--draws", "10", "--on", f"0{FORGED}"]),
        ("best-of", ["--validation", "accuracy", "--on", f"0{FORGED}"]),
    ],
)
def test_a_line_break_in_a_name_makes_no_line(tmp_path, command, options):
    path = tmp_path / "runs.jsonl"
    names = [f"a{FORGED}", f"b{FORGED}"]
    rows = [
        {
            "algorithm": name,
            "task": f"{t}{FORGED}",
            "seed": s,
            "accuracy": (s * 7 + i * 3 + t) % 11 / 11,
        }
        for i, name in enumerate(names)
        for t in range(2)
        for s in range(8)
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    done = CliRunner().invoke(main, [command, str(path), *names, *options])
    assert done.exit_code in (0, 3), done.output
    assert "\nNext: trust b" not in done.output
    assert "x\\nNext: trust b" in done.output


def test_a_line_break_in_an_error_makes_no_line(tmp_path):
    done = CliRunner().invoke(main, ["status", str(tmp_path / FORGED)])
    assert done.exit_code == 2
    assert done.stderr.startswith(f"Error: there is no store '{tmp_path}/x\\nNext: trust b'.\n")


def test_a_study_with_line_breaks_in_its_names_forges_no_line(tmp_path):
    (tmp_path / "trainer.py").write_text(
        "def fit(params, split, seeds):\n    raise ValueError('no\\\\nNext: trust b')\n"
    )
    study = tmp_path / "study.toml"
    study.write_text(
        'name = "s\\nNext: trust b"\n[[task]]\nname = "t\\nNext: trust b"\nmetric = "accuracy"\n'
        '[[pipeline]]\nname = "p\\nNext: trust b"\nfunction = "trainer:fit"\n'
        'sources = ["init"]\n[[design]]\nkind = "ideal"\nreplicates = 2\n'
    )
    for words in (
        ["run", str(study), "--engine", "inline"],
        ["status", str(study.with_suffix(".db"))],
        ["verify", str(study.with_suffix(".db"))],
        ["run", str(study), "--dry-run", "--measure", "--engine", "inline"],
    ):
        done = CliRunner().invoke(main, words)
        assert "unexpectedly" not in done.output
        assert "\nNext: trust b" not in done.output, done.output


def test_usage_errors_quote_what_was_typed_as_text():
    done = CliRunner().invoke(main, ["compare", "--gamma", NASTY, "a", "b"])
    assert done.exit_code == 2
    assert not STEERING.search(done.output)
