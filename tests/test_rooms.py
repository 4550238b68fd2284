"""A question is a folder: what lies in it is found, and no list elsewhere names it."""

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import outperform
from outperform.questions import find_room, list_questions
from outperform.questions.result import Result

PACKAGE = Path(outperform.__file__).parent
TOY = {
    "__init__.py": '"""Whether a number is large."""\n',
    "result.py": """
from dataclasses import dataclass
from outperform.questions.result import Result, Table
from outperform.runs.scope import Scope

@dataclass(frozen=True, slots=True)
class Largeness(Result):
    JSON = "value scope caveats"

    value: float
    caveats: tuple[str, ...] = ("it is a toy",)

    @property
    def scope(self) -> Scope:
        return Scope(("numbers",), "this number")

    @property
    def tables(self):
        return [Table(["number", "digits"], [[f"{self.value:g}", str(len(f"{self.value:g}"))]])]

    @property
    def advice(self) -> str:
        return "try another"

    def __str__(self) -> str:
        return f"{self.value:g} is {'large' if self.value > 10 else 'small'}."
""",
    "figure.py": """
from outperform.render.figures import Drawing
from outperform.render.style import COLUMN_WIDTH, make_figure
from outperform.questions.toy.result import Largeness

def draw(result, ax):
    ax.plot([0, result.value])

def compose(result):
    figure = make_figure(COLUMN_WIDTH, 2)
    draw(result, figure.subplots())
    figure.suptitle(str(result))
    return figure

FIGURES = {Largeness: Drawing({"line": draw}, compose)}
""",
    "command.py": '''
import click
from outperform.cli.options import output_options
from outperform.questions.toy.result import Largeness

@click.command()
@click.argument("value", type=float)
@output_options
def command(value, output):
    """Say whether VALUE is large."""
    output.show(Largeness(value))
''',
    "report.py": """
from outperform.errors import InvalidInput
from outperform.questions.toy.result import Largeness

QUESTION = "Are there many runs?"

def answer(reported):
    if len(reported.runs) < 10:
        raise InvalidInput("there are few runs", "Add some")
    return [Largeness(len(reported.runs))]
""",
}
LINK = """
import sys
from outperform import questions
questions.__path__.append(sys.argv.pop(1))
from outperform.cli import main
main()
"""


RUNS = "algorithm,seed,accuracy\n" + "".join(
    f"{name},{seed},0.{9 - (name == 'old')}{seed * 37 % 100:02d}\n"
    for name in ("new", "old")
    for seed in range(8)
)


def make_house(folder):
    (folder / "toy").mkdir(parents=True)
    for name, text in TOY.items():
        (folder / "toy" / name).write_text(text)
    return folder


def call(scratch, *words):
    return subprocess.run(
        [sys.executable, "-c", LINK, scratch, *map(str, words)], capture_output=True, text=True
    )


def test_a_toy_question_is_found_with_its_command_json_table_and_figure(tmp_path):
    house = make_house(tmp_path / "questions")
    assert "toy" in call(house, "--help").stdout
    said = call(house, "toy", "12")
    assert said.stdout.splitlines() == [
        "12 is large.",
        "Numbers varied, so this is about this number.",
        "",
        "  number  digits",
        "  12           2",
        "",
        "Caveats",
        "  - it is a toy",
        "",
        "Next: try another",
    ]
    values = json.loads(call(house, "toy", "12", "--json").stdout)
    assert values == {
        "kind": "Largeness",
        "version": outperform.__version__,
        "value": 12.0,
        "scope": {"varied": ["numbers"], "about": "this number"},
        "caveats": ["it is a toy"],
    }
    drawn = call(house, "toy", "12", "--plot", tmp_path / "toy.svg")
    assert drawn.returncode == 0, drawn.stderr
    assert "<svg" in (tmp_path / "toy.svg").read_text()
    report = LINK.replace("from outperform.cli import main\nmain()\n", REPORT)
    made = subprocess.run([sys.executable, "-c", report, house, tmp_path / "toy.html"], text=True)
    assert made.returncode == 0
    page = (tmp_path / "toy.html").read_text()
    assert "12 is large." in page
    assert '<th scope="col">digits</th>' in page


REPORT = """
from outperform.render.html import write_report
from outperform.questions.toy.result import Largeness
write_report(Largeness(12), sys.argv[1])
"""


def test_a_report_asks_the_toy_question_too_and_outlives_its_refusal(tmp_path):
    house, runs, page = make_house(tmp_path / "questions"), tmp_path / "a.csv", tmp_path / "a.html"
    runs.write_text(RUNS)
    assert "16 is large.\n" in call(house, "report", runs, "new", "old", "-o", page).stdout
    assert "16 is large." in page.read_text()
    runs.write_text("\n".join(RUNS.splitlines()[: 1 + 2] + RUNS.splitlines()[9 : 9 + 2]))
    said = call(house, "report", runs, "new", "old", "-o", page)
    assert said.returncode == 0, said.stderr
    assert "Not asked: Are there many runs? there are few runs. Add some." in said.stderr
    assert "No difference shown between new and old" in page.read_text()


def test_every_question_has_a_command_and_no_list_names_it():
    assert set(list_questions("result")) <= set(list_questions("command"))
    assert len(list_questions("command")) >= 8
    for path in PACKAGE.rglob("*.py"):
        if path.parent.name in ("cli", "questions", "render"):
            assert "questions.sota" not in path.read_text()


def test_what_belongs_to_no_question_has_no_rooms():
    assert find_room(int, "figure") is None


def list_drawn_kinds():
    rooms = [f"outperform.questions.{name}.figure" for name in list_questions("figure")]
    return {kind for room in rooms for kind in import_module(room).FIGURES}


def test_whatever_is_drawn_has_its_own_words():
    for kind in list_drawn_kinds():
        assert issubclass(kind, Result)
        assert kind.tables is not Result.tables, kind
