"""Entries of a study file: keys are found where they stand, and impossible names refused."""

import re
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outperform import Ideal, Pipeline, Study, Task
from outperform.errors import InvalidInput
from outperform.study.command_pipeline import CommandPipeline
from outperform.study.study_file import read_study
from outperform.study.study_file_entries import KeyPath, find_line, find_lines

# The number that a key ends in is the line that it stands on first.
TEXT = r"""
plain_2 = 1  # = [not] a {key}
"quoted._3" = "no ] } # \" end"
'literal_4' = 'C:\'
a.b_5."c._5" = 1979-05-27T07:32:00Z
text_6 = QQQ
not_7 = 1
\QQQ [[not]] QQQQQ
after_9 = QQQQQQ
raw_10 = '''
'not' = \
'''
list_13 = [ # ] not yet
    [1, 2], {x_14 = 'one', y.z_14 = [
        {deep_15 = true}]},
]
inline_17 = {a_17 = 1, "b_17" = {c_17 = "}"}}
  [ table_18 . "sub_18" ]
  key_19 = inf
[[array_20]]
key_21 = 1
[array_20.child_22]
key_23 = 2
[[array_20.many_24]]
key_25 = 3
[[array_20.many_24]]
key_27 = 4
[[array_20]]
other_29 = 0x1F
[array_20.child_30]
[table_18.later_31]
[header_32.first_32]
""".replace("Q", '"')


def walk(value: Any, path: KeyPath = ()) -> Iterator[KeyPath]:
    """Every key and place that a document has."""
    if path:
        yield path
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from walk(inner, (*path, key))


def test_every_key_stands_where_it_says():
    lines = find_lines(TEXT)
    paths = list(walk(tomllib.loads(TEXT)))
    assert set(paths) <= set(lines)
    named = {path: re.search(r"_(\d+)$", str(path[-1])) for path in paths}
    numbers = {path: int(found[1]) for path, found in named.items() if found}
    assert len(numbers) == 31
    assert {path: lines[path] for path in numbers} == numbers


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("array_20", 0), 20),
        (("array_20", 1), 28),
        (("array_20", 0, "many_24", 1), 26),
        (("list_13", 1), 14),
        (("array_20", 1, "missing", "more"), 28),  # the table that lacks it
        (("missing",), None),
        ((), None),
    ],
)
def test_what_is_missing_belongs_to_the_table_around_it(path, line):
    assert find_line(TEXT, path) == line


def test_windows_has_the_same_lines():
    assert find_lines(TEXT.replace("\n", "\r\n")) == find_lines(TEXT)


keys = st.text("ab-_1", min_size=1, max_size=3)
scalars = st.sampled_from(
    ["1", "true", '"]"', "'#'", '"""\n = \n"""', "'''\n[x]\n'''", "-1e3", "1979-05-27"]
)


def write_list(parts: list[str]) -> str:
    return "[\n" + ", # ]\n".join(parts) + "\n]"


def write_table(pairs: dict[str, str]) -> str:
    return "{" + ", ".join(f"{key} = {value}" for key, value in pairs.items()) + "}"


values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3).map(write_list)
        | st.dictionaries(keys, scalars, max_size=2).map(write_table)
    ),
    max_leaves=5,
)
tables = st.tuples(
    st.sampled_from(["[[{}]]", "[[{}]] # ["]), keys, st.dictionaries(keys, values, max_size=3)
)


@given(st.lists(tables, max_size=5))
def test_every_key_of_any_document_has_the_line_it_begins(parts):
    text = ""
    begun: dict[KeyPath, int] = {}
    sizes: dict[str, int] = {}
    for header, name, pairs in parts:
        begun[name, sizes.get(name, 0)] = text.count("\n") + 1
        text += header.format(name) + "\n"
        for key, value in pairs.items():
            begun[name, sizes.get(name, 0), key] = text.count("\n") + 1
            text += f"{key} = {value}\n"
        sizes[name] = sizes.get(name, 0) + 1
    document = tomllib.loads(text)
    lines = find_lines(text)
    assert set(walk(document)) == set(lines)
    assert {path: lines[path] for path in begun} == begun


MAKERS = {
    "pipeline": lambda name: Pipeline(name, "train {seed.init}"),
    "task": lambda name: Task(name, metric="accuracy"),
    "study": lambda name: Study(
        [Pipeline("a", "train {seed.init}")], [Task("t", metric="loss")], [Ideal(2)], name=name
    ),
}


@pytest.mark.parametrize("word", MAKERS)
@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("a\ud800", "half of a character ('\\ud800')"),
        ("a\nb", "a control character ('\\n')"),
        ("a\x1b[2J", "a control character ('\\x1b')"),
        ("a\x85", "a control character ('\\x85')"),
        ("a\u2028b", "a line break ('\\u2028')"),
    ],
)
def test_names_that_no_line_can_hold_are_refused(word, name, what):
    with pytest.raises(InvalidInput) as caught:
        MAKERS[word](name)
    assert str(caught.value) == (
        f"a {word} is called {name!r}, with {what}. Give it a name without, in one line."
    )


def test_every_kind_of_pipeline_refuses_them():
    with pytest.raises(InvalidInput, match="with a control character"):
        CommandPipeline(name="a\t", template="train {seed.init}")


@pytest.mark.parametrize("name", ["réglé", "残差网络", "می‌خواهم", "👩‍🔬", "k=5, \u202aL2\u202c"])
def test_names_of_any_script_are_fine(name):
    assert MAKERS["pipeline"](name).name == MAKERS["task"](name).name == name


def test_a_study_file_is_told_the_line(tmp_path):
    file = tmp_path / "study.toml"
    file.write_text(
        '[[task]]\nname = "toy"\nmetric = "accuracy"\n[[pipeline]]\n'
        'name = "a\\nb"\ncommand = "train {seed.init}"\n'
        '[[design]]\nkind = "ideal"\nreplicates = 2\n'
    )
    with pytest.raises(InvalidInput, match=r"control character .* \(line 5\)\. "):
        read_study(str(file))
