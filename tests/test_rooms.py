"""A question is a folder: what lies in it is found, and no list elsewhere names it."""

import subprocess
import sys
from pathlib import Path

import outperform
from outperform.questions.rooms import find_room, gather, list_questions

PACKAGE = Path(outperform.__file__).parent
TOY = {
    "__init__.py": '"""Whether a number is large."""\n',
    "result.py": """
from dataclasses import dataclass
from outperform.runs.scope import Scope

@dataclass(frozen=True, slots=True)
class Largeness:
    value: float
    caveats: tuple[str, ...] = ("it is a toy",)

    @property
    def scope(self) -> Scope:
        return Scope(("numbers",), "this number")

    def __str__(self) -> str:
        return f"{self.value:g} is {'large' if self.value > 10 else 'small'}."

    def to_dict(self) -> dict:
        return {"value": self.value, "scope": self.scope.to_dict()}
""",
    "table.py": """
from outperform.questions.tabulated import Tabulated
from outperform.questions.toy.result import Largeness

TABLES = {Largeness: lambda result: Tabulated(["value"], [[f"{result.value:g}"]])}
""",
    "figure.py": """
from outperform.render.drawing import Drawing
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
from outperform.cli.output import present, print_headline
from outperform.questions.toy.result import Largeness

@click.command()
@click.argument("value", type=float)
@output_options
def command(value, as_json, figure):
    """Say whether VALUE is large."""
    present(Largeness(value), print_headline, as_json=as_json, figure=figure)
''',
}
LINK = """
import sys
from outperform import questions
questions.__path__.append(sys.argv.pop(1))
from outperform.cli import main
main()
"""


def call(scratch, *words):
    return subprocess.run(
        [sys.executable, "-c", LINK, scratch, *map(str, words)], capture_output=True, text=True
    )


def test_a_toy_question_is_found_with_its_command_json_table_and_figure(tmp_path):
    house = tmp_path / "questions"
    (house / "toy").mkdir(parents=True)
    for name, text in TOY.items():
        (house / "toy" / name).write_text(text)
    assert "toy" in call(house, "--help").stdout
    said = call(house, "toy", "12")
    assert said.stdout.splitlines() == [
        "12 is large.",
        "Numbers varied, so this is about this number.",
    ]
    assert '"value": 12.0' in call(house, "toy", "12", "--json").stdout
    drawn = call(house, "toy", "12", "--plot", tmp_path / "toy.svg")
    assert drawn.returncode == 0, drawn.stderr
    assert "<svg" in (tmp_path / "toy.svg").read_text()
    report = LINK.replace("from outperform.cli import main\nmain()\n", REPORT)
    made = subprocess.run([sys.executable, "-c", report, house, tmp_path / "toy.html"], text=True)
    assert made.returncode == 0
    assert "12 is large." in (tmp_path / "toy.html").read_text()


REPORT = """
from outperform.render.html import write_report
from outperform.questions.toy.result import Largeness
write_report(Largeness(12), sys.argv[1])
"""


def test_every_question_has_a_command_and_no_list_names_it():
    assert set(list_questions("result")) <= set(list_questions("command"))
    assert len(list_questions("command")) >= 8
    for path in PACKAGE.rglob("*.py"):
        if path.parent.name == "cli" or path.name in ("drawings.py", "tabulated.py", "rooms.py"):
            assert "questions.sota" not in path.read_text()


def test_what_belongs_to_no_question_has_no_rooms():
    assert find_room(int, "figure") is None
    assert set(gather("figure", "FIGURES")) == set(gather("table", "TABLES"))
