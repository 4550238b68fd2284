"""What fits print, and the memory they take, beyond what every engine promises."""

import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from outperform.engines import LocalEngine, Needs
from outperform.engines.channels import Output
from outperform.engines.resources import measure_memory

needs_proc = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="memory is known by /proc"
)


def print_and_wait(file):
    print("begun")  # noqa: T201
    while not file.exists():
        time.sleep(0.01)


def test_what_is_printed_may_come_in_pieces_of_any_bytes():
    reading, writing = os.pipe()
    output = Output(reading)
    for piece in (b"gr\xc3", b"\xbcn\0", b"\xff", b"x" * 19_990, "ä".encode()[:1]):
        os.write(writing, piece)
        output.read()
    # "grün" and two bytes that are no text make 6 characters, and half a letter is one at the end.
    assert output.take() == "grün\ufffd\ufffd" + "x" * 19_990 + "\ufffd"
    os.write(writing, b"begins" + b"x" * 20_000 + b"ends")
    assert output.take() == f"begins{'x' * 9_994}\n[10 characters cut]\n{'x' * 9_996}ends"
    assert output.take() == ""
    os.close(writing)
    output.close()


def test_what_a_fit_prints_is_passed_on_while_it_runs(tmp_path, collect, capfd):
    with LocalEngine(1) as engine:
        engine.submit(print_and_wait, tmp_path / "seen", tag=0)
        seen = ""
        while "begun\n" not in seen:
            seen += capfd.readouterr().err
            time.sleep(0.01)
        (tmp_path / "seen").touch()
        assert collect(engine, 1)[0].output == "begun\n"


def test_a_stderr_that_nobody_reads_holds_up_nothing(tmp_path):
    code = """
        import os
        from outperform.engines import LocalEngine

        with LocalEngine(1) as engine:
            engine.submit(lambda n: [os.write(1, b"x" * n) for _ in range(3)], 100_000, tag=0)
            print(len(engine.wait()[0].output))
    """
    reader, writer = os.pipe()
    script = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        stdout=subprocess.PIPE,
        stderr=writer,
        text=True,
    )
    os.close(writer)
    assert script.communicate(timeout=60)[0] == "20026\n"  # with what says how much was cut
    os.close(reader)


def test_a_fit_that_closes_its_output_costs_nobody_anything(collect):
    def close_output(item):
        os.close(1)
        os.close(2)
        time.sleep(0.2)

    with LocalEngine(1) as engine:
        engine.submit(close_output, None, tag=0)
        assert collect(engine, 1)[0].kind == "done"
        began = time.process_time()
        engine.submit(time.sleep, 1, tag=1)
        assert collect(engine, 1)[1].kind == "done"
        assert time.process_time() - began < 0.5  # the thread has not turned round and round


def test_what_a_fit_leaves_behind_to_print_counts_for_no_other(tmp_path, collect, capfd):
    def leave(item):
        subprocess.Popen(["sh", "-c", f"sleep 0.1; echo late; touch '{item}'"])

    with LocalEngine(1) as engine:
        engine.submit(leave, tmp_path / "printed", tag="leaves")
        assert collect(engine, 1)["leaves"].output == ""
        while not (tmp_path / "printed").exists():
            time.sleep(0.01)
        engine.submit(str, 1, tag="next")
        assert collect(engine, 1)["next"].output == ""
    assert capfd.readouterr().err == "late\n"


class LoadsMuch:
    def __setstate__(self, state):
        self.taken = b"x" * 300_000_000
        time.sleep(300)

    def __getstate__(self):
        return {"some": "state"}

    def __call__(self, item):
        raise AssertionError


@needs_proc
class TestMemory:
    def test_what_loading_takes_counts(self, collect):
        with LocalEngine(1) as engine:
            engine.submit(LoadsMuch(), None, tag=0, needs=Needs(memory=200_000_000))
            outcome = collect(engine, 1)[0]
        assert outcome.kind == "died"
        assert outcome.error.endswith(" MB: the memory limit of a fit is 200 MB")

    def test_what_a_command_takes_counts(self, collect):
        def run_command(item):
            code = "x = b'x' * 300_000_000; import time; time.sleep(300)"
            subprocess.run([sys.executable, "-c", code], check=True, start_new_session=True)

        with LocalEngine(1) as engine:
            engine.submit(run_command, None, tag=0, needs=Needs(memory=200_000_000))
            outcome = collect(engine, 1)[0]
        assert outcome.kind == "died"
        assert outcome.error.endswith(" MB: the memory limit of a fit is 200 MB")

    def test_what_processes_share_counts_once(self, collect):
        def fork(item):
            taken = b"x" * 120_000_000
            children = [os.fork() for _ in range(1)]
            if not children[0]:
                time.sleep(1.2)
                os._exit(0)
            os.waitpid(children[0], 0)
            return len(taken)

        with LocalEngine(1) as engine:
            engine.submit(fork, None, tag=0, needs=Needs(memory=220_000_000))
            assert collect(engine, 1)[0].value == 120_000_000

    def test_what_an_earlier_fit_has_left_costs_the_next_nothing(self, collect):
        def leave(item):
            sys.left_behind = b"x" * 200_000_000
            return os.getpid()

        with LocalEngine(1) as engine:
            engine.submit(leave, None, tag="first")
            first = collect(engine, 1)["first"].value
            engine.submit(lambda _: os.getpid(), 0, tag="free")
            engine.submit(lambda _: os.getpid(), 0, tag="next", needs=Needs(memory=250_000_000))
            outcomes = collect(engine, 2)
        assert outcomes["free"].value == first
        assert outcomes["next"].value != first

    def test_a_process_that_is_gone_takes_nothing(self):
        assert measure_memory(2**22 + 1, 1) == 0
        assert measure_memory(os.getpgid(0), 2**60) > 1_000_000
