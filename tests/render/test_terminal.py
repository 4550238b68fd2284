"""What a terminal shows, however narrow it is."""

import sys

import click
import pytest

from outperform.questions.result import Table
from outperform.render.terminal import print_table

TABLE = Table(
    ["pipeline", "source", "finding", "between seeds", "P(A>B)"],
    [["mine", "augmentation", "reproducible", "0.00208", "0.75 [0.12, 0.99]"]],
)
WORDS = {word for row in (TABLE.header, *TABLE.rows) for cell in row for word in cell.split()}


@pytest.mark.parametrize("columns", [63, 66, 70, 79, 80, 200])
def test_a_table_that_is_too_wide_is_folded_between_words(columns, monkeypatch, capsys):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", str(columns))
    print_table(TABLE)
    lines = click.unstyle(capsys.readouterr().out).splitlines()
    assert max(map(len, lines)) <= columns
    assert {word for line in lines for word in line.split()} >= WORDS


def test_a_table_without_room_for_its_words_loses_no_letter(monkeypatch, capsys):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "40")
    print_table(TABLE)
    shown = click.unstyle(capsys.readouterr().out)
    assert max(map(len, shown.splitlines())) <= 40
    assert sorted("".join(shown.split())) == sorted(
        "".join("".join(r) for r in (TABLE.header, *TABLE.rows)).replace(" ", "")
    )
