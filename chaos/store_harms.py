"""All that is done to stores: taken away, copied, damaged, and on a disk that is full."""

import os
import shutil
import signal
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from chaos.studies import read_table
from chaos.trials import Harm, Round

_N_FREE = 60_000  # bytes that a full disk has left for SQLite's own files and some fits
_PLENTY = "64m"


def _take_away(how: Callable[[Round], None]) -> Callable[[Round], int]:
    """Do something to the file while the run stands still and has it open."""

    def strike(current: Round) -> int:
        if not current.has_recorded():
            return 0
        current.running.send(signal.SIGSTOP)
        if not _has_open(current.running.pid, current.store):
            current.running.send(signal.SIGCONT)
            return 0
        current.remember()
        how(current)
        current.running.send(signal.SIGCONT)
        return 1

    return strike


def _rename(current: Round) -> None:
    current.store.rename(current.folder / "elsewhere.db")


def _remove_all(current: Round) -> None:
    """Remove the file, SQLite's logs and the lock; a link keeps what was in it for a look."""
    _rename(current)
    for file in current.folder.glob("study.db*"):
        file.unlink()


def _replace(current: Round) -> None:
    other = current.folder / "other"
    other.write_bytes(current.rng.choice([b"", b"no store\n" * 1000]))
    _rename(current)
    other.rename(current.store)


def _remove_lock(current: Round) -> None:
    Path(f"{current.store}.lock").unlink()


def _move_back(current: Round) -> None:
    """Do what the message advises: move what was rescued to where the store was."""
    rescued, taken = current.folder / "study.rescued.db", current.folder / "elsewhere.db"
    if rescued.exists():
        current.store.unlink(missing_ok=True)
        rescued.rename(current.store)
    elif taken.exists():
        current.findings.problems.append("nothing was rescued")
        taken.rename(current.store)
    taken.unlink(missing_ok=True)


def _back_up(current: Round) -> int:
    """Copy the store while it is written, kill the run, and go on with the copy."""
    if not current.has_recorded():
        return 0
    status = current.ask(current.folder, "backup", "study.db", "copy.db")
    if status != 0:
        current.findings.problems.append(f"backup ended in {status}")
        return 1
    current.running.send(signal.SIGKILL)
    return 1


def _use_copy(current: Round) -> None:
    copy = current.folder / "copy.db"
    if copy.exists():
        for file in current.folder.glob("study.db*"):
            file.unlink()
        copy.rename(current.store)
        current.position = current.size_of_begun()  # what came after the copy is done again


def _copy_plainly(current: Round) -> int:
    """Copy the file alone while it is written: the copy is sound or known to be damaged."""
    if not current.has_recorded():
        return 0
    copy = _make_room(current)
    shutil.copy(current.store, copy)
    _judge(current, copy)
    return 1


def _flip(current: Round, file: Path) -> None:
    """Change a few bytes."""
    content = bytearray(file.read_bytes())
    for _ in range(current.rng.randrange(1, 5)):
        content[current.rng.randrange(len(content))] ^= current.rng.randrange(1, 256)
    file.write_bytes(content)


def _cut(current: Round, file: Path) -> None:
    """Leave the beginning only."""
    os.truncate(file, current.rng.randrange(file.stat().st_size))


def _damage(how: Callable[[Round, Path], None]) -> Callable[[Round], int]:
    """Kill the run, damage a copy of its store, and look what is made of that."""

    def strike(current: Round) -> int:
        current.running.send(signal.SIGKILL)
        current.running.wait()
        if not current.has_recorded():
            return 0
        damaged = _make_room(current)
        for suffix in ("", "-wal"):
            with suppress(FileNotFoundError):
                shutil.copy(f"{current.store}{suffix}", f"{damaged}{suffix}")
        files = [file for file in damaged.parent.glob("study.db*") if file.stat().st_size]
        how(current, current.rng.choice(sorted(files)))
        _judge(current, damaged)
        return 1

    return strike


def _judge(current: Round, store: Path) -> None:
    """Verify a store that may be damaged, and go on with it: nothing wrong may come of it."""
    verified = current.ask(store.parent, "verify", "study.db")
    resumed = current.ask(store.parent, "run", "study.toml", "--workers", "2")
    if verified not in (0, 2) or resumed not in (0, 2):
        current.findings.problems.append(f"verify ended in {verified}, run in {resumed}")
    if verified == 0 and resumed == 2:
        current.findings.problems.append("a sound store was not taken up")
    if resumed == 0 and current.ask(store.parent, "verify", "study.db") == 0:
        table = read_table(store)
        wrong = [key for key, row in table.fits.items() if current.quiet.fits.get(key) != row]
        current.findings.changed += len(wrong) + len(table.runs ^ current.quiet.runs)
    shutil.rmtree(store.parent)


def _make_room(current: Round) -> Path:
    """Where a copy of the store is judged: beside a study of its own."""
    folder = current.folder / "judged"
    folder.mkdir()
    for name in ("study.toml", "training.py"):
        shutil.copy(current.folder / name, folder / name)
    return folder / "study.db"


def _mount(current: Round) -> None:
    """Move the store to a disk of its own with little room."""
    disk = current.folder / "disk"
    disk.mkdir()
    room = sum(file.stat().st_size for file in current.folder.glob("study.db*")) + _N_FREE
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={room}", "chaos", disk], check=True)
    for file in current.folder.glob("study.db*"):
        shutil.move(file, disk / file.name)
    current.store = disk / "study.db"


def _unmount(current: Round) -> None:
    """Make room, and move the store back."""
    disk = current.folder / "disk"
    current.findings.n_strikes = int(current.running.wait() == 2)  # often before the moment comes
    subprocess.run(["mount", "-o", f"remount,size={_PLENTY}", disk], check=True)
    for file in disk.iterdir():
        shutil.move(file, current.folder / file.name)
    subprocess.run(["umount", disk], check=True)
    disk.rmdir()
    current.store = current.folder / "study.db"


def _wait_until_full(current: Round) -> int:
    return int(current.running.wait() == 2)


def can_mount() -> bool:
    """Whether a small disk can be had here."""
    return os.geteuid() == 0 and shutil.which("mount") is not None


def _has_open(pid: int, file: Path) -> bool:
    with suppress(OSError):  # it has ended
        return any(_leads_to(link, file) for link in Path(f"/proc/{pid}/fd").iterdir())
    return False


def _leads_to(link: Path, file: Path) -> bool:
    with suppress(OSError):  # closed meanwhile
        return link.readlink() == file
    return False


STORE_HARMS = [
    Harm("store renamed", (2,), _take_away(_rename), mend=_move_back, weight=2),
    Harm("store, logs and lock removed", (2,), _take_away(_remove_all), mend=_move_back, weight=2),
    Harm("store replaced", (2,), _take_away(_replace), mend=_move_back, weight=2),
    Harm("lock removed", (), _take_away(_remove_lock)),
    Harm("store backed up, run killed", (-9,), _back_up, mend=_use_copy),
    Harm("store copied plainly", (), _copy_plainly),
    Harm("bytes flipped", (-9,), _damage(_flip), weight=2),
    Harm("file cut", (-9,), _damage(_cut)),
]
FULL_DISK = Harm("disk full", (2,), _wait_until_full, _mount, _unmount)
