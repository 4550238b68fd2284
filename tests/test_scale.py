"""The simulation behind docs/scale.md: does its clock run for workers and coordinator alike?"""

import time

import pytest

from bench import scale


@pytest.fixture
def case(monkeypatch):
    monkeypatch.setattr(scale, "N_TRIALS", 3)
    return scale.Case("an hour", 3600.0, n_workers=10, n_fits=160)


def test_an_hour_s_fits_keep_all_workers_busy_until_the_end(case):
    simulated = scale.simulate(case)
    assert simulated.n_fits == 160
    # Ten workers, sixteen fits each, of half an hour to one and a half.
    assert 12 * 3600 < simulated.seconds < 20 * 3600
    assert 0.8 < simulated.utilisation < 1
    assert simulated.coordinating < 0.01


def test_fits_of_no_time_leave_all_of_it_to_the_coordinator(case):
    simulated = scale.simulate(scale.Case("nothing", 0.0, n_workers=10, n_fits=160))
    assert simulated.utilisation == 0
    assert simulated.coordinating == pytest.approx(1)


def test_workers_go_on_while_the_coordinator_is_busy_and_stand_idle_without_work():
    workers = scale.SimulatedWorkers(1, 0.01)
    for tag in "ab":
        workers.submit(abs, -1, tag=tag)
    time.sleep(0.1)
    assert [outcome.tag for outcome in workers.wait()] == ["a", "b"]
    assert workers.now > 0.1
    assert 0.01 <= workers.working <= 0.03
    assert workers.wait() == []


def test_the_table_takes_the_place_of_the_one_before(case, tmp_path, monkeypatch):
    page = tmp_path / "scale.md"
    page.write_text(f"before\n{scale.BEGIN}old\n{scale.END}after\n")
    monkeypatch.setattr(scale, "PAGE", page)
    simulated = scale.Simulated(2e5, 0.98, 0.0002, 100_000, 2000.0, 107.0)
    scale.write_table([scale.describe(case, simulated)])
    row = "| an hour | `random` | 2.31 days | 98.0% | 0.02% | 0.5 | 107 MB |\n"
    assert page.read_text() == f"before\n{scale.BEGIN}{scale.HEAD}{row}{scale.END}after\n"
