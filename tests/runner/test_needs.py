"""What fits need reaches the engine, and what failed fits have printed reaches the store."""

import os

import pytest
from click.testing import CliRunner

from outperform.cli import main
from outperform.engines import NO_NEEDS, InlineEngine, LocalEngine, Needs
from outperform.errors import InvalidInput
from outperform.questions.check.answer import check
from outperform.runner import run_fits
from outperform.runner.cost import measure_seconds
from outperform.store import open_store
from outperform.study.designs import Ideal, SimulatedHopt
from outperform.study.pipelines import Pipeline
from outperform.study.spaces import Uniform
from outperform.study.study import Study
from outperform.study.tasks import Task

RESOURCES = {"gpus": 1, "memory": "2GB", "licence": 1}
IDEAL = (Ideal(2),)
NEEDS = {"gpu": Needs(1, 2 * 10**9, (("licence", 1),)), "cpu": Needs(0)}


def fit(params, split, seeds):
    return {"valid": seeds["init"] / 2**32, "test": seeds["init"] / 2**32}


def count_visible(params, split, seeds):
    n_visible = len(os.environ["CUDA_VISIBLE_DEVICES"].split(",")[0])
    return {"valid": n_visible, "test": n_visible}


def print_and_fail(params, split, seeds):
    print("epoch 1: loss is nan")  # noqa: T201
    os.write(2, b"Traceback (most recent call last):\n  somewhere\nKeyError: logged, not raised\n")
    raise ValueError("no luck")


def print_much_and_fail(params, split, seeds):
    print("x" * 10_000)  # noqa: T201
    raise ValueError("no luck")


def make_study(function=fit, *, resources=RESOURCES, designs=IDEAL, space=None):
    pipelines = [
        Pipeline("gpu", function, space or {}, ["init"], resources=resources),
        Pipeline("cpu", function, space or {}, ["init"]),
    ]
    return Study(pipelines, [Task("toy", metric="accuracy")], designs, trials=8)


class Listening(InlineEngine):
    """Keeps what was said of needs, by what was asked for."""

    n_workers = 3

    def __init__(self):
        super().__init__()
        self.heard = []

    def submit(self, work, item, *, tag, timeout=None, needs=NO_NEEDS):
        fit = item[1] if isinstance(item, tuple) else item  # a key comes first
        self.heard.append((getattr(fit, "pipeline", type(fit).__name__), needs))
        super().submit(work, item, tag=tag, timeout=timeout, needs=needs)


def test_every_fit_is_submitted_with_the_needs_of_its_pipeline(tmp_path):
    study, engine = make_study(), Listening()
    with open_store(tmp_path / "study.db") as store:
        run_fits(study, store, engine)
    waking, fits = engine.heard[:3], engine.heard[3:]
    assert waking == [("NoneType", NEEDS[name]) for name in ("gpu", "cpu", "gpu")]
    assert sorted(fits, key=str) == sorted([*NEEDS.items()] * 2, key=str)


def test_a_check_and_a_first_timing_say_them_too():
    for ask in (measure_seconds, check):
        engine = Listening()
        ask(make_study(), engine)
        assert {(name, needs) for name, needs in engine.heard} == {*NEEDS.items()}


def test_simulated_searches_need_nothing(tmp_path):
    space = {"c": Uniform(0, 1)}
    for resources, needs in ((RESOURCES, Needs(gpus=0)), ({"memory": "2GB"}, NO_NEEDS)):
        study = make_study(resources=resources, designs=(SimulatedHopt(2),), space=space)
        engine = Listening()
        with open_store(tmp_path / f"{needs.gpus}.db") as store:
            run_fits(study, store, engine)
        assert {said for name, said in engine.heard if name == "Simulation"} == {needs}


def test_a_study_has_its_fits_see_their_own_devices(tmp_path):
    with open_store(tmp_path / "study.db") as store, LocalEngine(2, gpus=1) as engine:
        run_fits(make_study(count_visible), store, engine)
        scores = {m.pipeline: m.scores["test"] for m in store.measurements("done")}
    assert scores == {"gpu": 1, "cpu": 0}


def test_a_study_that_needs_more_than_there_is_begins_nothing(tmp_path):
    with open_store(tmp_path / "study.db") as store, LocalEngine(1, gpus=0) as engine:
        with pytest.raises(InvalidInput, match="a fit needs 1 GPU, and there are none here"):
            run_fits(make_study(), store, engine)
        assert store.scores() == {}


@pytest.mark.parametrize("function", [print_and_fail, print_much_and_fail])
def test_a_failed_fit_is_recorded_with_what_it_printed_last(tmp_path, function):
    address = str(tmp_path / "study.db")
    study = make_study(function, resources={}, designs=(Ideal(1),))
    with open_store(address) as store, LocalEngine(1) as engine:
        run_fits(study, store, engine)
        errors = [measured.error for measured in store.measurements("failed")]
    for error in errors:
        raised, _, printed = error.partition("\n\nIt printed last:\n")
        assert raised.endswith("ValueError: no luck")
        if function is print_much_and_fail:
            assert printed == "x" * 2_000
        else:
            assert printed.startswith("epoch 1: loss is nan\nTraceback (most recent call last):")
            assert printed.endswith("KeyError: logged, not raised")
    status = CliRunner().invoke(main, ["status", address]).output
    assert "1 × gpu: ValueError" in status
    assert "KeyError" not in status
