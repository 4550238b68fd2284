"""Names of pipelines, tasks and studies: what no store or table can hold is refused at once."""

import pytest

from outperform import Ideal, Pipeline, Study, Task
from outperform.errors import InvalidInput
from outperform.study.command_pipeline import CommandPipeline
from outperform.study.study_file import read_study

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
