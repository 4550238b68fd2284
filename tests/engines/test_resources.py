"""Graphics processors handed out to real processes; these only look at what they may see."""

import os
import time
from pathlib import Path

import pytest

from outperform.engines import LocalEngine, Needs
from outperform.engines.resources import Devices
from outperform.errors import EngineError, InvalidInput

HALF, ONE, TWO, NONE = Needs(gpus=0.5), Needs(gpus=1), Needs(gpus=2), Needs(gpus=0)


@pytest.fixture(autouse=True)
def _unset(monkeypatch):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)


@pytest.fixture
def nvidia_smi(tmp_path, monkeypatch):
    """Put a program of that name in the way, which lists two devices, one of them in parts."""
    program = tmp_path / "bin" / "nvidia-smi"
    program.parent.mkdir()
    program.write_text(
        '#!/bin/sh\n[ "$1" = -L ] && echo called >> "$(dirname "$0")/calls" && '
        "printf 'GPU 0: A (UUID: GPU-1)\\n  MIG 1g Device 0: (UUID: MIG-2)\\nGPU 1: A\\n'\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    return program.parent / "calls"


def look(folder):
    """What this process may see, and whether others that see the same were here meanwhile."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    marks = [Path(folder, f"device {name}") for name in (visible or "").split(",") if name]
    for mark in marks:
        mark.touch(exist_ok=False)  # FileExistsError: it is shared
    time.sleep(0.05)
    for mark in marks:
        mark.unlink()
    return visible, os.getpid()


def see(item):
    return os.environ.get("CUDA_VISIBLE_DEVICES")


def hold(path):
    """Go on when there is such a file."""
    while not path.exists():
        time.sleep(0.01)


def meet(folder):
    """Wait until two are here, and say what this one sees."""
    Path(folder, str(os.getpid())).touch()
    while len(list(Path(folder).iterdir())) < 2:
        time.sleep(0.01)
    return see(None)


def test_two_fits_never_share_a_device(collect, tmp_path):
    with LocalEngine(4, gpus=2) as engine:
        for i in range(24):
            engine.submit(look, tmp_path, tag=i, needs=(ONE, TWO, NONE)[i % 3])
        outcomes = collect(engine, 24)
    assert {outcome.error for outcome in outcomes.values()} == {None}
    seen = [{outcomes[i].value[0] for i in range(start, 24, 3)} for start in range(3)]
    assert seen[0] <= {"0", "1"}
    assert seen[1] <= {"0,1", "1,0"}
    assert seen[2] == {""}


def test_workers_with_the_right_devices_are_used_again(collect, tmp_path):
    values = set()
    with LocalEngine(2, gpus=[3]) as engine:
        for i in range(10):
            engine.submit(look, tmp_path, tag=i, needs=ONE if i % 2 else NONE)
            values.add(collect(engine, 1)[i].value)
    assert sorted(visible for visible, _ in values) == ["", "3"]


def test_a_single_worker_is_started_anew_for_other_devices(collect, tmp_path):
    with LocalEngine(1, gpus=1) as engine:
        engine.submit(hold, tmp_path / "go on", tag="holds", needs=NONE)
        for i in range(6):
            engine.submit(look, tmp_path, tag=i, needs=ONE if i % 2 else NONE)
        (tmp_path / "go on").touch()
        outcomes = collect(engine, 7)
    del outcomes["holds"]
    assert [outcomes[i].value[0] for i in range(6)] == ["", "0"] * 3
    assert len({outcome.value for outcome in outcomes.values()}) == 2  # not one for every fit


@pytest.mark.parametrize(("gpus", "needs"), [(1, HALF), ([0, 0], ONE)])
def test_fits_share_a_device_when_told_to(collect, tmp_path, gpus, needs):
    with LocalEngine(2, gpus=gpus) as engine:
        for i in range(2):
            engine.submit(meet, tmp_path, tag=i, timeout=30, needs=needs)
        assert {outcome.value for outcome in collect(engine, 2).values()} == {"0"}


def test_fits_that_wait_for_a_device_hold_up_no_others(collect, tmp_path):
    with LocalEngine(2, gpus=1) as engine:
        engine.submit(hold, tmp_path / "go on", tag="holds", needs=ONE)
        for i in range(5):
            engine.submit(see, None, tag=f"waits {i}", needs=ONE)
        engine.submit(see, None, tag="needs none", needs=NONE)
        assert [outcome.tag for outcome in engine.wait()] == ["needs none"]
        (tmp_path / "go on").touch()
        assert len(collect(engine, 6)) == 6


def test_a_worker_that_dies_gives_its_device_back(collect):
    with LocalEngine(1, gpus=1) as engine:
        engine.submit(os._exit, 1, tag="dies", needs=ONE)
        engine.submit(see, None, tag="next", needs=ONE)
        outcomes = collect(engine, 2)
    assert (outcomes["dies"].kind, outcomes["next"].value) == ("died", "0")


class LoadsWithoutDevices:
    """Work that no process can load which sees a device."""

    def __setstate__(self, state):
        if os.environ["CUDA_VISIBLE_DEVICES"]:
            raise ImportError("driver too old")

    def __getstate__(self):
        return {"some": "state"}

    def __call__(self, file):
        file.touch()
        time.sleep(300)


def test_work_that_loads_on_other_devices_only_is_an_error_of_the_engine(tmp_path):
    work, begun = LoadsWithoutDevices(), tmp_path / "begun"
    engine = LocalEngine(2, gpus=1)
    engine.submit(work, begun, tag="no device", needs=NONE)
    while not begun.exists():
        time.sleep(0.01)
    engine.submit(work, begun, tag="device", needs=ONE)
    with pytest.raises(EngineError, match="ImportError: driver too old"):
        engine.wait()
    engine.stop()


def test_who_says_nothing_sees_what_we_see(collect, monkeypatch, nvidia_smi):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "4,7")
    with LocalEngine(1) as engine:
        engine.submit(see, None, tag="says nothing")
        engine.submit(see, None, tag="needs one", needs=ONE)
        outcomes = collect(engine, 2)
    assert {tag: each.value for tag, each in outcomes.items()} == {
        "says nothing": "4,7",
        "needs one": "4",
    }
    assert not nvidia_smi.exists()


@pytest.mark.parametrize(
    ("gpus", "visible", "devices"),
    [
        (None, "4,7", ("4", "7")),
        (None, "GPU-8a, MIG-5 ,-1,3", ("GPU-8a", "MIG-5")),
        (None, None, ("0", "1")),  # as nvidia-smi lists them
        (1, "4,7", ("4",)),
        (3, "4,7", ("0", "1", "2")),
        ([2, "GPU-8a"], "4,7", ("2", "GPU-8a")),
    ],
)
def test_devices_are_found(monkeypatch, nvidia_smi, gpus, visible, devices):
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    share = Devices(gpus).take(len(devices))
    assert share is not None
    assert share.devices == devices
    assert nvidia_smi.exists() == (gpus is None and visible is None)


def test_shares_of_a_device_add_up_and_leave_others_whole():
    devices = Devices(2)
    shares = [devices.take(0.1) for _ in range(10)]
    assert {share.devices for share in shares if share} == {("0",)}
    assert devices.take(1).devices == ("1",)
    assert devices.take(0.1) is None
    for share in shares:
        devices.give_back(share)
    assert devices.take(1).devices == ("0",)


REMEDY = (
    "Run it where there are as many, name those that were not found in the engine's option gpus, "
    "or ask for fewer in the pipeline's resources."
)


@pytest.mark.parametrize(
    ("visible", "needs", "problem"),
    [
        ("", HALF, "a fit needs 0.5 GPU, and there are none here"),
        ("NoDevFiles", ONE, "a fit needs 1 GPU, and there are none here"),
        ("0", TWO, "a fit needs 2 GPUs, and there is 1 here"),
        ("0,1", Needs(gpus=3), "a fit needs 3 GPUs, and there are 2 here"),
    ],
)
def test_more_than_there_are_is_refused_at_once(monkeypatch, visible, needs, problem):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    with LocalEngine(1) as engine:
        with pytest.raises(InvalidInput) as caught:
            engine.submit(see, None, tag=0, needs=needs)
        assert str(caught.value) == f"{problem}. {REMEDY}"
        assert engine.wait() == []


@pytest.mark.parametrize("gpus", [-1, "2", 1.5, True, [0, -1], [None], [True]])
def test_devices_that_make_no_sense_are_refused(gpus):
    with pytest.raises(InvalidInput) as caught:
        LocalEngine(1, gpus=gpus)
    assert str(caught.value) == (
        f"gpus is {gpus!r}. Give how many there are, or list them, [0, 2]; one named twice, "
        "[0, 0], is shared by two fits."
    )
