"""What every engine promises, written once and run on each."""

import ctypes
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from outperform.engines import Engine, Needs, Outcome, open_engine
from outperform.engines.engine import summarize_error
from outperform.errors import EngineError, InvalidInput
from outperform.processes import kill_group

ROOT = Path(__file__).parents[2]
# Addresses, or fixtures that give one; a new one is put under the contract here.
ENGINES = [
    "inline",
    "local:2",
    "concurrent.futures:ProcessPoolExecutor",
    "dask_address",
    "ray_address",
]
OPTIONS = {"concurrent.futures:ProcessPoolExecutor": {"max_workers": 2}}
ELSEWHERE = [address for address in ENGINES if address != "inline"]  # not in this process


def find_address(request):
    name = request.param
    return name, request.getfixturevalue(name) if name.endswith("_address") else name


def open_for(request):
    name, address = find_address(request)
    return open_engine(address, OPTIONS.get(name))


@pytest.fixture(params=ENGINES)
def engine(request):
    with open_for(request) as opened:
        yield opened


@pytest.fixture(params=ELSEWHERE)
def remote(request):
    with open_for(request) as opened:
        yield opened


@pytest.fixture(params=ELSEWHERE)
def address(request):
    return find_address(request)


def square(number):
    return number * number


def divide(number):
    return 1 / number


def leave(status):
    raise SystemExit(status)


class Oddity(Exception):
    """Neither shown nor pickled without trouble."""

    def __init__(self, first, second):
        super().__init__(first)

    def __str__(self):
        raise RuntimeError("no text")


def raise_oddity(item):
    raise Oddity(1, threading.Lock())


def raise_much(item):
    raise ValueError("begins " + "x" * 20_000_000 + " ends")


class Loading:
    """Work that does something when it is loaded, with a file that workers share."""

    def __init__(self, load, file):
        self.load, self.file = load, file

    def __reduce__(self):
        return self.load, (self.file,)

    def __call__(self, item):
        raise AssertionError("it is loaded as something else")


def is_first(file):
    """Whether nobody has been here before."""
    try:
        Path(file).touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def fail_to_load_once(file):
    if is_first(file):
        raise ImportError("no luck")
    return square


def exit_once_when_loaded(file):
    if is_first(file):
        os._exit(3)
    return square


def fail_to_load(file):
    with Path(file).open("a") as log:
        log.write("tried\n")
    raise ImportError("no luck anywhere")


def load_in_some_places(file):
    """Load it where it is tried first; elsewhere, if that place may have many children."""
    place = str(os.getppid())
    if place == Path(f"{file}.home").read_text():  # workers are children of the run itself
        return nap if is_first(file) else refuse_to_load(file)
    if is_first(file):
        Path(file).write_text(place)
    return refuse_to_load(file) if Path(file).read_text() == place else nap


def refuse_to_load(file):
    with Path(f"{file}.log").open("a") as log:
        log.write("tried\n")
    raise ImportError("not here")


def nap(number):
    time.sleep(0.05)
    return number


def wait_for_file(file):
    while not Path(file).exists():
        time.sleep(0.01)
    return "went on"


def return_twice(number):
    if os.fork() == 0:
        return -1
    time.sleep(0.1)
    return number * number


def wait_to_be_killed_once(file):
    if is_first(file):
        Path(f"{file}.pid").write_text(str(os.getpid()))
        Path(f"{file}.pid").rename(f"{file}.is.pid")
        time.sleep(300)
    return "done at last"


def kill_the_worker(file):
    with Path(file).open("a") as log:
        log.write("tried\n")
    os.kill(os.getpid(), signal.SIGKILL)


def hang(file):
    """Start a command, say who we are, and never come back."""
    command = subprocess.Popen(["sleep", "300"])
    Path(f"{file}.new").write_text(f"{os.getpid()} {command.pid}")
    Path(f"{file}.new").rename(file)
    while True:
        time.sleep(0.01)


def await_pids(file):
    """Processes of a fit that hangs."""
    while not file.exists():
        time.sleep(0.01)
    return [int(pid) for pid in file.read_text().split()]


COORDINATOR = """
import sys
from outperform.engines import open_engine
from {module} import OPTIONS, hang

if __name__ == "__main__":
    _, name, address, file = sys.argv
    engine = open_engine(address, OPTIONS.get(name))
    engine.submit(hang, file, tag=0)
    engine.wait()
"""


def print_in_every_way(number):
    print("printed", number)  # noqa: T201
    print("to stderr", number, file=sys.stderr)  # noqa: T201
    os.write(1, b"written\n")
    subprocess.run(["echo", "by a command"], check=True)
    ctypes.CDLL(None).printf(b"in C, and no end of line")
    if number < 0:
        raise ValueError("negative")
    return number


def print_and_end(how):
    print("printed", how)  # noqa: T201
    if how == "exit":
        os._exit(3)
    time.sleep(300)


def print_much(n_bytes):
    os.write(1, b"begins ")
    for _ in range(n_bytes // 1_000_000):
        os.write(2, b"x" * 1_000_000)
    os.write(1, b" ends")


def print_no_text(item):
    os.write(1, b"caf\xc3\xa9 \xff\xfe \x00 caf\xc3")


def take_memory(n_megabytes):
    taken = b"x" * (n_megabytes * 1_000_000)
    time.sleep(0.8 if n_megabytes < 200 else 300)
    return len(taken)


class TestContract:
    def test_every_item_gives_an_outcome(self, engine: Engine, collect):
        for number in range(50):
            engine.submit(square, number, tag=f"n{number}")
        outcomes = collect(engine, 50)
        assert {tag: outcome.value for tag, outcome in outcomes.items()} == {
            f"n{number}": number * number for number in range(50)
        }
        assert {outcome.kind for outcome in outcomes.values()} == {"done"}
        assert {outcome.error for outcome in outcomes.values()} == {None}

    def test_wait_returns_as_soon_as_one_is_finished(self, engine: Engine):
        for i in range(6):
            engine.submit(time.sleep, 0.3, tag=i)
        first = engine.wait()
        assert 1 <= len(first) <= 4

    def test_wait_has_nothing_to_wait_for(self, engine: Engine):
        assert engine.wait() == []
        engine.submit(square, 2, tag="a")
        assert len(engine.wait()) == 1
        assert engine.wait() == []

    def test_submitting_goes_on_while_outcomes_come_in(self, engine: Engine):
        values, n_submitted = [], 0
        while len(values) < 30:
            while n_submitted < 30 and n_submitted - len(values) < 4:
                engine.submit(square, n_submitted, tag=n_submitted)
                n_submitted += 1
            values += [outcome.value for outcome in engine.wait()]
        assert sorted(values) == [number * number for number in range(30)]

    def test_an_exception_comes_back_as_text(self, engine: Engine, collect):
        engine.submit(divide, 0, tag="zero")
        engine.submit(divide, 2, tag="two")
        outcomes = collect(engine, 2)
        zero = outcomes["zero"]
        assert (zero.kind, zero.value) == ("error", None)
        lines = zero.error.splitlines()
        assert lines[0] == "Traceback (most recent call last):"
        assert "in divide" in lines[1]  # the user's function first, none of ours
        assert "return 1 / number" in lines[2]
        assert lines[-1] == "ZeroDivisionError: division by zero"
        assert outcomes["two"].value == 0.5

    def test_code_that_exits_has_failed(self, engine: Engine, collect):
        engine.submit(leave, 0, tag="exit")
        engine.submit(square, 3, tag="next")
        outcomes = collect(engine, 2)
        assert (outcomes["exit"].kind, outcomes["next"].value) == ("error", 9)
        assert outcomes["exit"].error.endswith("SystemExit: 0")

    def test_an_exception_that_cannot_be_shown_or_sent_does_no_harm(self, engine: Engine, collect):
        engine.submit(raise_oddity, None, tag="odd")
        outcome = collect(engine, 1)["odd"]
        assert outcome.kind == "error"
        assert outcome.error.endswith("Oddity: <exception str() failed>")

    def test_a_long_message_is_cut_in_the_middle(self, engine: Engine, collect):
        engine.submit(raise_much, None, tag=0)
        error = collect(engine, 1)[0].error
        assert len(error) < 25_000
        assert error.startswith("Traceback (most recent call last):\n")
        assert "\nValueError: begins xxx" in error
        assert re.search(r"x\n\[19,9\d\d,\d\d\d characters cut\]\nx", error)
        assert error.endswith("xxx ends")
        assert summarize_error(error).startswith("ValueError: begins xxx")
        assert len(summarize_error(error)) < 1000

    def test_the_same_tag_and_item_may_come_twice(self, engine: Engine):
        for _ in range(3):
            engine.submit(square, 3, tag="again")
        outcomes: list[Outcome] = []
        while len(outcomes) < 3:
            outcomes += engine.wait()
        assert [(each.tag, each.value) for each in outcomes] == [("again", 9)] * 3

    def test_closures_lambdas_methods_and_partial_results_travel(self, engine: Engine, collect):
        class Local:
            def __init__(self, number):
                self.number = number

            def times(self, factor):
                return Local(self.number * factor)

        offset = 10
        engine.submit(lambda number: number + offset, 1, tag="lambda")
        engine.submit(Local(3).times, 5, tag="method")
        engine.submit(lambda local: local.number, Local(7), tag="item")
        outcomes = collect(engine, 3)
        assert outcomes["lambda"].value == 11
        assert outcomes["method"].value.number == 15
        assert outcomes["item"].value == 7

    def test_seconds_are_those_of_the_work(self, engine: Engine, collect):
        engine.submit(time.sleep, 0.2, tag="nap")
        assert 0.19 < collect(engine, 1)["nap"].seconds < 5

    def test_a_time_limit_is_the_item_s_own(self, engine: Engine, collect):
        engine.submit(time.sleep, 1.0, tag="slow", timeout=0.25)
        engine.submit(time.sleep, 0.3, tag="free")
        engine.submit(square, 3, tag="quick", timeout=60)
        outcomes = collect(engine, 3)
        slow = outcomes["slow"]
        assert (slow.kind, slow.value) == ("timeout", None)
        assert slow.error == "killed after 0.25 s, the time limit of a fit"
        assert slow.seconds >= 0.25
        assert (outcomes["free"].kind, outcomes["quick"].value) == ("done", 9)

    @pytest.mark.parametrize("timeout", [0, -1])
    def test_an_impossible_time_limit_is_refused(self, engine: Engine, timeout):
        with pytest.raises(InvalidInput) as caught:
            engine.submit(square, 1, tag=1, timeout=timeout)
        assert str(caught.value) == (
            f"timeout is {timeout}. Give a positive number of seconds or None."
        )
        assert engine.wait() == []

    def test_close_finishes_what_was_submitted(self, engine: Engine, collect):
        for i in range(6):
            engine.submit(time.sleep, 0.05, tag=i)
        engine.close()
        assert set(collect(engine, 6)) == set(range(6))
        assert engine.wait() == []

    def test_stop_gives_up_the_rest_and_keeps_what_is_finished(self, engine: Engine):
        for i in range(20):
            engine.submit(time.sleep, 0.05 if i == 0 else 30, tag=i)
        finished = engine.wait()
        began = time.monotonic()
        engine.stop()
        assert [outcome.tag for outcome in finished + engine.wait()] == [0]
        assert engine.wait() == []
        assert time.monotonic() - began < 10

    def test_a_closed_engine_takes_nothing_more(self, engine: Engine):
        engine.submit(square, 1, tag=1)
        engine.close()
        engine.close()
        with pytest.raises(EngineError) as caught:
            engine.submit(square, 2, tag=2)
        assert str(caught.value) == "this engine is closed. Make a new one to submit more."
        engine.stop()
        assert [outcome.tag for outcome in engine.wait()] == [1]

    def test_an_exception_in_a_with_block_stops(self, engine: Engine):
        def interrupt():
            with engine:
                engine.submit(time.sleep, 30, tag="long")
                raise KeyboardInterrupt

        began = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            interrupt()
        assert time.monotonic() - began < 10


def await_workers_on(tag: str, engine: Engine) -> list[str]:
    """Who works on an item, as soon as the engine says so."""
    deadline = time.time() + 60
    while not (working := [each for each in engine.activity() or () if each.tag == tag]):
        assert time.time() < deadline
        time.sleep(0.05)
    assert all(each.since is None or each.since <= time.time() + 1 for each in working)
    return [each.worker for each in working]


class TestContractElsewhere:
    """What engines promise that run fits in processes of their own."""

    def test_waiting_may_end_before_the_work_and_who_works_on_what_is_told(
        self, remote: Engine, tmp_path
    ):
        remote.submit(wait_for_file, str(tmp_path / "go on"), tag="waiting", timeout=60)
        assert remote.wait(0.05) == []
        workers = await_workers_on("waiting", remote)
        (tmp_path / "go on").touch()
        (outcome,) = remote.wait()
        assert (outcome.kind, outcome.value) == ("done", "went on")
        assert outcome.worker
        assert workers in ([outcome.worker], ["worker 1"])  # executors only count their own

    @pytest.mark.parametrize("load", [fail_to_load_once, exit_once_when_loaded])
    def test_a_worker_that_cannot_load_the_work_costs_no_fit(
        self, remote: Engine, collect, tmp_path, load
    ):
        work = Loading(load, tmp_path / "been here")
        for number in range(30):
            remote.submit(work, number, tag=number)
        outcomes = collect(remote, 30)
        assert {tag: each.value for tag, each in outcomes.items()} == {n: n * n for n in range(30)}

    def test_work_that_loads_nowhere_is_an_error_of_the_engine(self, remote: Engine, tmp_path):
        remote.submit(square, 3, tag="before")
        assert [outcome.value for outcome in remote.wait()] == [9]
        work = Loading(fail_to_load, tmp_path / "log")
        for number in range(30):
            remote.submit(work, number, tag=number)
        with pytest.raises(EngineError) as caught:
            remote.wait()
        assert re.fullmatch(
            r"no worker could load the code of the fits, in 3 tries: ImportError: no luck anywhere"
            r"( \(on \S+:\d+\))?\. Mend what it imports or loads, and run it again\.",
            str(caught.value),
        )
        assert 'fail_to_load\n    raise ImportError("no luck' in str(caught.value.__cause__)
        assert (tmp_path / "log").read_text().count("tried") <= 3 * remote.n_workers
        remote.stop()
        assert remote.wait() == []

    def test_a_worker_that_never_loads_the_work_does_not_get_it_all(
        self, remote: Engine, collect, tmp_path
    ):
        names: set[str] = set()
        while len(names) < 2:  # however slow one is to start
            for number in range(4):
                remote.submit(nap, number, tag=number)
            names |= {outcome.worker for outcome in collect(remote, 4).values()}
        # A cluster may end a worker that is idle, and start another.
        (tmp_path / "been here.home").write_text(str(os.getpid()))
        work = Loading(load_in_some_places, tmp_path / "been here")
        values, n_submitted = [], 0
        while remote.shortage is None or n_submitted < 40:
            while n_submitted - len(values) < 4:
                remote.submit(work, n_submitted, tag=n_submitted)
                n_submitted += 1
            values += [outcome.value for outcome in remote.wait()]
        values += [outcome.value for outcome in collect(remote, n_submitted - len(values)).values()]
        assert sorted(values) == list(range(n_submitted))
        assert remote.shortage.endswith(": ImportError: not here")
        assert (tmp_path / "been here.log").read_text().count("tried") <= 6

    def test_a_fit_that_forks_and_returns_twice_counts_once(self, remote: Engine, collect):
        for number in range(6):
            remote.submit(return_twice if number % 2 else square, number, tag=number)
        outcomes = collect(remote, 6)
        assert {tag: each.value for tag, each in outcomes.items()} == {n: n * n for n in range(6)}
        assert remote.wait() == []

    def test_a_fit_whose_worker_is_killed_from_outside_is_done_again(
        self, remote: Engine, collect, tmp_path
    ):
        file = tmp_path / "been here"
        remote.submit(wait_to_be_killed_once, file, tag=0)
        while not Path(f"{file}.is.pid").exists():
            time.sleep(0.01)
        os.kill(int(Path(f"{file}.is.pid").read_text()), signal.SIGKILL)
        outcome = collect(remote, 1)[0]
        assert (outcome.kind, outcome.value) == ("done", "done at last")

    def test_a_fit_that_hangs_is_killed_with_all_it_started(
        self, remote: Engine, collect, tmp_path, gone
    ):
        remote.submit(hang, tmp_path / "pids", tag="hangs", timeout=1.5)
        for i in range(5):
            remote.submit(time.sleep, 0.01, tag=i)
        outcomes = collect(remote, 6)
        assert {outcomes[i].kind for i in range(5)} == {"done"}
        hung = outcomes["hangs"]
        assert (hung.kind, hung.value) == ("timeout", None)
        assert hung.error == "killed after 1.5 s, the time limit of a fit"
        assert 1.5 <= hung.seconds < 10
        assert all(gone(pid) for pid in await_pids(tmp_path / "pids"))
        remote.submit(square, 3, tag="next")
        assert collect(remote, 1)["next"].value == 9

    def test_stop_kills_what_runs_with_all_it_started(self, remote: Engine, tmp_path, gone):
        remote.submit(hang, tmp_path / "pids", tag=0)
        pids = await_pids(tmp_path / "pids")
        remote.stop()
        assert all(gone(pid) for pid in pids)
        assert remote.wait() == []

    def test_no_fit_outlives_its_coordinator(self, address, tmp_path, gone):
        (tmp_path / "study.py").write_text(COORDINATOR.format(module=__name__))
        words = [sys.executable, tmp_path / "study.py", *address, tmp_path / "pids"]
        path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
        environment = {**os.environ, "PYTHONPATH": path}
        with subprocess.Popen(words, env=environment, start_new_session=True) as coordinator:
            pids = await_pids(tmp_path / "pids")
            coordinator.kill()
        try:
            assert all(gone(pid) for pid in pids)
        finally:
            kill_group(coordinator.pid)  # processes of a pool wait for ever

    def test_a_fit_that_always_kills_its_worker_ends(self, remote: Engine, collect, tmp_path):
        remote.submit(kill_the_worker, tmp_path / "log", tag=0)
        outcome = collect(remote, 1)[0]
        assert (outcome.kind, outcome.value) == ("died", None)
        assert outcome.error == (
            "the worker was killed by SIGKILL, perhaps for want of memory, in each of 3 tries"
        )
        assert (tmp_path / "log").read_text() == "tried\n" * 3

    def test_what_a_fit_prints_in_any_way_is_kept_for_it_alone(self, remote: Engine, collect):
        for number in range(-3, 3):
            remote.submit(print_in_every_way, number, tag=number)
        for number, outcome in collect(remote, 6).items():
            assert outcome.kind == ("error" if number < 0 else "done")
            assert outcome.output == (
                f"printed {number}\nto stderr {number}\nwritten\nby a command\n"
                "in C, and no end of line"
            )
        remote.submit(square, 3, tag="silent")
        assert collect(remote, 1)["silent"].output == ""

    def test_what_it_had_printed_is_kept_of_a_fit_that_is_killed(self, remote: Engine, collect):
        remote.submit(print_and_end, "exit", tag="exit")
        remote.submit(print_and_end, "hang", tag="hang", timeout=0.3)
        outcomes = collect(remote, 2)
        assert {tag: (each.kind, each.output) for tag, each in outcomes.items()} == {
            "exit": ("died", "printed exit\n"),
            "hang": ("timeout", "printed hang\n"),
        }

    def test_long_output_is_cut_in_the_middle(self, remote: Engine, collect):
        remote.submit(print_much, 30_000_000, tag=0)
        output = collect(remote, 1)[0].output
        assert output == (f"begins {'x' * 9_993}\n[29,980,012 characters cut]\n{'x' * 9_995} ends")

    def test_output_that_is_no_text_does_no_harm(self, remote: Engine, collect):
        remote.submit(print_no_text, None, tag=0)
        remote.submit(print_in_every_way, 1, tag=1)
        outcomes = collect(remote, 2)
        assert outcomes[0].output == "café \ufffd\ufffd \ufffd caf\ufffd"
        assert outcomes[1].output.startswith("printed 1\n")

    @pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="memory is known by /proc")
    def test_a_fit_that_takes_more_memory_than_it_may_is_killed(self, remote: Engine, collect):
        needs = Needs(memory=200_000_000)
        remote.submit(take_memory, 300, tag="large", needs=needs)
        remote.submit(take_memory, 100, tag="small", needs=needs)
        outcomes = collect(remote, 2)
        large = outcomes["large"]
        assert (large.kind, large.value) == ("died", None)
        assert re.fullmatch(
            r"killed at [23][0-9]{2}(\.[0-9])? MB: the memory limit of a fit is 200 MB", large.error
        )
        assert outcomes["small"].value == 100_000_000
