"""Names that are integers must pass for the tuple of their spellings."""

import pickle

import numpy as np

from outperform.runs.labels import Labels, Numerals

NAMES = Numerals(np.array([2, 10, 300]))
SPELLED = ("2", "10", "300")


def test_numerals_pass_for_a_tuple_of_names():
    assert SPELLED == NAMES
    assert NAMES == SPELLED
    assert Numerals(np.array([2, 10, 300])) == NAMES
    assert SPELLED[:2] != NAMES
    assert Numerals(np.array([2])) != NAMES
    assert hash(NAMES) == hash(SPELLED)
    assert repr(NAMES) == repr(SPELLED)


def test_numerals_can_be_looked_up():
    assert len(NAMES) == 3
    assert (NAMES[0], NAMES[-1], NAMES[1:]) == ("2", "300", ("10", "300"))
    assert list(NAMES) == list(SPELLED)
    assert "10" in NAMES
    assert 10 not in NAMES
    assert NAMES.index("300") == 2


def test_numerals_survive_pickling():
    assert pickle.loads(pickle.dumps(NAMES)) == SPELLED


def test_names_are_numbered_by_their_first_appearance():
    labels = Labels(("a", "b", "c"), np.array([2, 2, 0, 2, 1, 0])).by_appearance()
    assert labels.names == ("c", "a", "b")
    assert labels.codes.tolist() == [0, 0, 1, 0, 2, 1]


def test_names_that_no_row_mentions_are_dropped():
    labels = Labels(("a", "b", "c"), np.array([2, 0])).by_appearance()
    assert (labels.names, labels.codes.tolist()) == (("c", "a"), [0, 1])
    labels = Labels(("a", "b", "c"), np.array([0, 1])).by_appearance()
    assert (labels.names, labels.codes.tolist()) == (("a", "b"), [0, 1])


def test_no_rows_have_no_first_appearance():
    assert len(Labels((), np.array([], dtype=np.int64)).by_appearance().codes) == 0
