"""Run one command, read the JSON it leaves, and leave none of its processes behind."""

import json
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from outperform.errors import OutperformError
from outperform.processes import Watcher, kill_group, name_signal
from outperform.wording import cut_middle

_N_LINES = 10  # of stderr that an error shows
_N_BYTES = 20_000  # read from the end of an output
_LONGEST_ENDING = 4_000  # characters of a command, and of its last lines, that an error shows
_LARGEST = 1_000_000  # bytes of a file of scores


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
        ending = f"was ended by {name_signal(-status)}" if status < 0 else f"ended with {status}"
        _refuse(arguments, ending, stderr, "Run it by hand to see what it says")
    return _read_scores(arguments, Path(out), stdout, stderr)


def _run(arguments: Sequence[str], folder: str, home: str | None, stdout: int, stderr: int) -> int:
    watcher = Watcher(folder)
    try:
        process = _start(arguments, home, stdout, stderr)
        try:
            watcher.protect(process.pid)
            return process.wait()
        finally:
            kill_group(process.pid)  # and what it has left running, if it has ended by itself
            process.wait()
    finally:
        watcher.dismiss()


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


def _read_scores(arguments: Sequence[str], out: Path, stdout: Path, stderr: Path) -> object:
    if out.is_file():
        if (size := out.stat().st_size) > _LARGEST:
            remedy = "Let it write its scores only, and anything else elsewhere"
            _refuse(arguments, f"wrote {size:,} bytes to {out.name}", stderr, remedy)
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
    lines = cut_middle("\n".join(_tail(stderr)[-_N_LINES:]), _LONGEST_ENDING)
    said = f"; its last lines of stderr:\n{lines}" if lines else ""
    command = cut_middle(shlex.join(arguments), _LONGEST_ENDING)
    raise OutperformError(f"`{command}` {ending}{said}", remedy)


def _tail(path: Path) -> list[str]:
    with path.open("rb") as file:
        file.seek(max(path.stat().st_size - _N_BYTES, 0))
        return file.read().decode(errors="replace").splitlines()
