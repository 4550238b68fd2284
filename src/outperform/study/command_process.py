"""Run one command, read the JSON it leaves, and leave none of its processes behind."""

import json
import os
import shlex
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, NoReturn, cast

from outperform.errors import OutperformError

_N_LINES = 10  # of stderr that an error shows
_N_BYTES = 20_000  # read from the end of an output
# Reads the number of a process group, then waits for a second line. If that never comes because
# this process is gone, however it died, the group and its temporary folder go too. The only text
# that gets in here is that number and the folder that we made.
_WATCH = 'read group && { read end || { kill -s KILL -- "-$group"; rm -rf -- "$1"; }; }'


def run_command(
    arguments: Sequence[str], *, folder: str, out: str, home: str | None = None
) -> object:
    """Run a command without a shell; give what it wrote to `out` or printed last, from JSON.

    Parameters
    ----------
    folder
        A temporary folder, for what the command prints: as files, so that a chatty program neither
        fills the memory nor keeps us waiting for a pipe that its children hold open.
    home
        The folder that the command runs in; the current one if not given.
    """
    stdout, stderr = Path(folder, "stdout"), Path(folder, "stderr")
    with stdout.open("wb") as output, stderr.open("wb") as errors:
        status = _run(arguments, folder, home, output.fileno(), errors.fileno())
    if status != 0:
        ending = f"was ended by {_signal_name(-status)}" if status < 0 else f"ended with {status}"
        _refuse(arguments, ending, stderr, "Run it by hand to see what it says")
    return _read_scores(arguments, Path(out), stdout, stderr)


def _run(arguments: Sequence[str], folder: str, home: str | None, stdout: int, stderr: int) -> int:
    with _watch(folder) as protect:
        process = _start(arguments, home, stdout, stderr)
        try:
            protect(process.pid)
            return process.wait()
        except BaseException:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise


def _start(
    arguments: Sequence[str], home: str | None, stdout: int, stderr: int
) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            arguments,
            cwd=home,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,  # a group of its own, to be killed as a whole
        )
    except (OSError, ValueError) as error:
        raise OutperformError(
            f"cannot run `{shlex.join(arguments)}`: {getattr(error, 'strerror', None) or error}",
            "Check that the program is installed, and its path",
        ) from None


@contextmanager
def _watch(folder: str) -> Iterator[Callable[[int], None]]:
    """Give a function that has a process group killed if this process dies inside the block."""
    watch = subprocess.Popen(
        ["/bin/sh", "-c", _WATCH, "sh", folder],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        bufsize=0,
        start_new_session=True,  # out of reach of Ctrl-C
    )
    pipe = cast(IO[bytes], watch.stdin)

    def protect(group: int) -> None:
        pipe.write(f"{group}\n".encode())

    try:
        yield protect
    finally:
        with suppress(BrokenPipeError):
            pipe.write(b"end\n")
        pipe.close()
        watch.wait()


def _read_scores(arguments: Sequence[str], out: Path, stdout: Path, stderr: Path) -> object:
    if out.is_file():
        text, place = out.read_text(errors="replace"), f"wrote to {out.name}"
    else:
        lines = [line for line in _tail(stdout) if line.strip()]
        text, place = lines[-1] if lines else "", "printed last"
    if not text.strip():
        _refuse(arguments, "left no scores", stderr, "Let it write JSON to {out}, or print it last")
    try:
        return json.loads(text)
    except ValueError:
        shown = text.strip()[:200]
        remedy = 'Let it write or print JSON such as {"valid": 0.91, "test": 0.9}'
        _refuse(arguments, f"{place} {shown!r}, which is not JSON", stderr, remedy)


def _refuse(arguments: Sequence[str], ending: str, stderr: Path, remedy: str) -> NoReturn:
    lines = _tail(stderr)[-_N_LINES:]
    said = "; its last lines of stderr:\n" + "\n".join(lines) if lines else ""
    raise OutperformError(f"`{shlex.join(arguments)}` {ending}{said}", remedy)


def _tail(path: Path) -> list[str]:
    with path.open("rb") as file:
        file.seek(max(path.stat().st_size - _N_BYTES, 0))
        return file.read().decode(errors="replace").splitlines()


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
