"""The table [engine] of a study file: where its fits run, and nothing of the study."""

from pathlib import Path

import pytest

from outperform.errors import InvalidInput
from outperform.runner import describe_study
from outperform.study.study_file import EngineTable, parse_study_file, read_study_file

FILE = (Path(__file__).parent / "digits.toml").read_text()
TABLE = """
[engine]
address = "dask://me:secret@head:8786"
spool = "results"
patience = 3600
[engine.options]
security = {tls_ca_file = "ca.pem"}
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text(FILE + TABLE)
    return path


def test_it_is_read_with_the_study(file):
    assert read_study_file(file).engine == EngineTable(
        "dask://me:secret@head:8786",
        {"security": {"tls_ca_file": "ca.pem"}},
        file.parent / "results",
        3600,
    )
    assert "secret" not in repr(read_study_file(file).engine)


def test_a_file_without_it_says_nothing(tmp_path):
    (tmp_path / "study.toml").write_text(FILE)
    assert read_study_file(tmp_path / "study.toml").engine == EngineTable(None, {}, None, None)


def test_it_is_no_part_of_the_study():
    with_table = parse_study_file(FILE + TABLE, folder=Path()).study
    assert "secret" not in repr(with_table)
    assert describe_study(with_table) == describe_study(parse_study_file(FILE, folder=Path()).study)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            '[engine]\nadress = "local"',
            "the engine has an unknown word 'adress' (line 35). Did you mean 'address'? It has: "
            "address, spool, patience, options.",
        ),
        ("[engine]\naddress = 4", 'address is 4 (line 35). Write a text: address = "...".'),
        ('[engine]\nspool = ""', "spool is '' (line 35). Write a text: spool = \"...\"."),
        (
            "[engine]\npatience = -1",
            "patience is -1 (line 35). Give seconds, 0 or more.",
        ),
        (
            "[engine]\npatience = nan",
            "patience is nan (line 35). Give seconds, 0 or more.",
        ),
        (
            "[engine]\noptions = 3",
            "options is no table (line 35). Write [engine.options], and what goes to the engine "
            "below.",
        ),
        (
            "[[engine]]",
            'engine is no table (line 34). Write [engine], and address = "local:4" below.',
        ),
    ],
)
def test_mistakes_are_named_with_their_line(tmp_path, table, message):
    text = f"{FILE.rstrip()}\n\n{table}\n"
    with pytest.raises(InvalidInput) as caught:
        parse_study_file(text, folder=tmp_path)
    assert str(caught.value) == message
