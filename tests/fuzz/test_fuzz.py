"""Whatever strangers give is answered or refused; `make fuzz` tries many more inputs."""

import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz import (
    command_lines,
    harness,
    published_tables,
    runs_files,
    spools,
    stores,
    study_files,
)
from tests.fuzz.harness import Escape, Target, attempt, fuzz

N_INPUTS = {
    runs_files: 150,
    published_tables: 150,
    study_files: 250,
    stores: 150,
    spools: 150,
    command_lines: 25,
}


@pytest.mark.parametrize("module", N_INPUTS, ids=lambda module: module.TARGET.name)
def test_nothing_escapes(module, tmp_path):
    pytest.importorskip("pyarrow")  # of which a kind of runs files is

    @settings(
        max_examples=N_INPUTS[module],
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=[*HealthCheck],
    )
    @given(module.TARGET.inputs)
    def try_one(case):
        attempt(module.TARGET, case, tmp_path)

    try_one()


def target(trial):
    """A target of one input, which is tried so."""
    return Target("toy", st.just(0), lambda case, folder: trial())


def escape_of(trial, folder):
    with pytest.raises(Escape) as caught:
        attempt(target(trial), 0, folder)
    return str(caught.value)


class TestHarness:
    def test_an_exception_escapes(self, tmp_path):
        assert escape_of(lambda: 1 / 0, tmp_path) == "ZeroDivisionError: division by zero at ?"

    def test_a_hang_escapes(self, tmp_path, monkeypatch):
        monkeypatch.setattr(harness, "SECONDS", 0.05)

        def hang():
            while time.process_time() >= 0:
                pass

        assert escape_of(hang, tmp_path) == "Hang: longer than 0.05 seconds at ?"

    def test_a_bug_of_a_command_escapes_with_its_place(self, tmp_path, monkeypatch):
        def fail(*_, **__):
            raise KeyError("lost")

        monkeypatch.setattr("outperform.cli.stores.open_store", fail)
        escape = escape_of(lambda: harness.is_answered(["verify", "study.db"]), tmp_path)
        assert escape.startswith(
            "Error: outperform failed unexpectedly (KeyError: 'lost'). at File"
        )

    def test_another_answer_of_a_damaged_store_escapes(self, tmp_path, monkeypatch):
        monkeypatch.setattr(stores, "answer_soundly", lambda *_: "the right one")
        case = stores.DamagedFile("compare", (), stores.make_store())
        with pytest.raises(Escape, match="compare silently gave another answer"):
            stores.attempt(case, tmp_path)

    def test_inputs_are_counted(self, tmp_path):
        toy = Target("toy", st.integers(0, 9), lambda case, folder: 1 / (case - 3) > 0)
        tally = fuzz(toy, 10, tmp_path, start=0)
        assert (tally.answered, tally.refused, tally.escaped) == (6, 3, 1)
        assert list(tally.examples.values()) == ["3"]
