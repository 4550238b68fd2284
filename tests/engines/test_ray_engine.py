"""What is Ray's own; the rest is in the contract of every engine."""

import os
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest

from outperform.engines import Needs, open_engine
from outperform.engines.futures import FuturesEngine
from outperform.errors import EngineError, InvalidInput

pytest.importorskip("ray", reason='pip install "outperform[ray]"')


@pytest.mark.parametrize("address", ["ray://", "ray://head", "ray:8265", "ray://head:10001/more"])
def test_an_address_that_names_no_place_is_refused(address):
    with pytest.raises(InvalidInput) as caught:
        open_engine(address)
    assert str(caught.value) == (
        f"'{address}' does not say where Ray is. Write ray://HOST:PORT, ray://auto for the cluster "
        "that this machine is part of, or ray to start one here."
    )


def test_a_password_in_an_address_is_refused_and_not_shown():
    with pytest.raises(InvalidInput, match="'ray://head:10001' does not say where Ray is"):
        open_engine("ray://me:secret@head:10001")


REFUSED = """
    from outperform.engines import open_engine
    from outperform.errors import InvalidInput

    for options in ({"_system_config": "hunter2"}, {"no_such_word": 1}):
        try:
            open_engine("ray", options)
        except InvalidInput as error:
            print(error)
"""


def test_options_that_make_no_sense_are_refused():
    command = [sys.executable, "-c", textwrap.dedent(REFUSED)]  # where no Ray has been started
    shown = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert shown.stdout.splitlines() == [
        f"Ray does not take these options: {why}. Mend them in [engine.options]."
        for why in (
            "The _system_config must be a dict",
            "Unknown keyword argument(s): no_such_word",
        )
    ]


def test_a_place_where_nobody_listens_is_refused_soon(monkeypatch):
    monkeypatch.setattr("outperform.engines.ray._LONGEST_CONNECTING", 0.6)
    with pytest.raises(EngineError) as caught:
        open_engine("ray://127.0.0.1:1")
    assert str(caught.value) == (
        "there is no Ray at 'ray://127.0.0.1:1': [Errno 111] Connection refused. Start one with "
        "`ray start --head`, or mend the address."
    )


def test_what_no_node_has_is_refused(ray_address):
    with open_engine(ray_address) as engine, pytest.raises(InvalidInput) as caught:
        engine.submit(abs, -1, tag=0, needs=Needs(gpus=3, others=(("tpu", 1),)))
    assert str(caught.value) == (
        "a fit needs CPU: 1, GPU: 3, tpu: 1, and no node of 'ray://auto' has that. Add a node that "
        "has, with `ray start --num-gpus` or `--resources`, or ask for less in the pipeline's "
        "resources."
    )


def note_device(seconds):
    began = time.time()
    time.sleep(seconds)
    return os.environ["CUDA_VISIBLE_DEVICES"], began, time.time()


def test_two_fits_never_share_a_gpu(ray_address, collect):
    with open_engine(ray_address) as engine:
        # Of different lengths, so that a worker gets one device now and another then.
        for number in range(12):
            seconds = 0.05 * (1 + number % 3)
            engine.submit(note_device, seconds, tag=number, needs=Needs(gpus=1))
        seen = sorted(outcome.value for outcome in collect(engine, 12).values())
    assert {device for device, _, _ in seen} == {"0", "1"}
    for (device, _, end), (other, begin, _) in pairwise(seen):
        assert device != other or end <= begin


def note_times(seconds):
    began = time.time()
    time.sleep(seconds)
    return began, time.time()


def test_fits_of_two_processors_take_turns_on_two(ray_address, collect):
    with open_engine(ray_address) as engine:
        for number in range(3):
            needs = Needs(memory=10**9, others=(("cpus", 2),))
            engine.submit(note_times, 0.1, tag=number, needs=needs)
        times = sorted(outcome.value for outcome in collect(engine, 3).values())
    assert all(end <= begin for (_, end), (begin, _) in pairwise(times))


def test_a_child_sees_the_devices_of_its_task(monkeypatch):
    with ThreadPoolExecutor(1) as executor, FuturesEngine(executor) as engine:
        for device in ("0", "1", "0"):
            monkeypatch.setenv("CUDA_VISIBLE_DEVICES", device)
            engine.submit(os.getenv, "CUDA_VISIBLE_DEVICES", tag=0)
            assert engine.wait()[0].value == device


def test_a_worker_of_ray_that_dies_costs_no_fit(ray_address, collect, tmp_path):
    def kill_the_worker_of_ray_once(file):
        if not file.exists():
            file.touch()
            os.kill(os.getppid(), 9)
            time.sleep(60)
        return "done"

    with open_engine(ray_address) as engine:
        engine.submit(kill_the_worker_of_ray_once, tmp_path / "begun", tag=0)
        assert collect(engine, 1)[0].value == "done"


GONE = """
    import os, time
    import ray
    import outperform.engines.ray
    from outperform.engines import open_engine
    from outperform.errors import EngineError

    outperform.engines.ray._LONGEST_ABSENCE = 2
    options = {"num_cpus": 1, "object_store_memory": 100 * 2**20}
    with open_engine("ray", options) as engine:
        engine.submit(abs, -3, tag=0)
        print(engine.n_workers, engine.wait()[0].value)
        engine.submit(time.sleep, 300, tag=0)
        time.sleep(0.5)
        processes = ray._private.worker._global_node.all_processes.values()
        for process in [info.process for kind in processes for info in kind]:
            process.kill()
        try:
            engine.wait()
        except EngineError as error:
            print(error)
        engine.stop()
    print(ray.is_initialized())
"""


@pytest.mark.slow
def test_a_ray_started_here_that_is_gone_is_an_error_of_the_engine():
    command = [sys.executable, "-c", textwrap.dedent(GONE)]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert shown.stdout.splitlines() == [
        "1 3",
        "the Ray at 'ray' is gone. Start it again; the same command resumes.",
        "False",
    ]
    assert shown.returncode == 0
