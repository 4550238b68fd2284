"""Whatever is wrong with the file, the message says so and nothing is lost."""

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from outperform.errors import (
    DamagedStore,
    DiskFull,
    NewerStore,
    NotAStore,
    StoreError,
    StoreInUse,
)
from outperform.store import Store, open_store

USES = [lambda store: store.counts(), lambda store: store.lock()]


@contextmanager
def refusal(kind, message):
    with pytest.raises(kind) as caught:
        yield
    assert type(caught.value) is kind
    assert str(caught.value) == message


@pytest.mark.parametrize("use", USES, ids=["read", "write"])
class TestWrongFile:
    def test_a_store_of_a_newer_version(self, path, done, use):
        with open_store(path) as store:
            store.add([done()])
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA user_version = 4")
        before = path.read_bytes()
        message = (
            f"'{path}' has format 4, and this outperform knows 3 at most. "
            "Upgrade with `pip install --upgrade outperform`."
        )
        with refusal(NewerStore, message), open_store(path) as store:
            use(store)
        assert path.read_bytes() == before

    def test_a_store_of_an_older_format(self, path, done, use):
        with open_store(path) as store:
            store.add([done()])
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA user_version = 2")
        before = path.read_bytes()
        message = (
            f"'{path}' has format 2, and this outperform reads 3. "
            "Use the outperform that made it, or run the study into another store."
        )
        with refusal(StoreError, message), open_store(path) as store:
            use(store)
        assert path.read_bytes() == before

    def test_a_file_that_is_no_database(self, path, use):
        path.write_text("algorithm,score\nsvm,0.9\n" * 100)
        message = (
            f"'{path}' is not a store of measurements. Name a store that `outperform run` has made."
        )
        with refusal(NotAStore, message), open_store(path) as store:
            use(store)
        assert path.read_text().startswith("algorithm,score")
        assert [each.name for each in path.parent.iterdir()] == ["study.db"]

    def test_a_database_of_another_program(self, path, use):
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("CREATE TABLE measurements (key TEXT)")
        before = path.read_bytes()
        message = (
            f"'{path}' is an SQLite database of another program. "
            "Name a store that `outperform run` has made."
        )
        with refusal(NotAStore, message), open_store(path) as store:
            use(store)
        assert path.read_bytes() == before

    def test_a_folder(self, tmp_path, use):
        message = f"'{tmp_path}' is a folder. Name a file, such as study.db in that folder."
        with refusal(NotAStore, message), open_store(tmp_path) as store:
            use(store)

    def test_a_device(self, use):
        message = (
            f"'{os.devnull}' is no regular file, but a pipe or a device. "
            "Name a store that `outperform run` has made."
        )
        with refusal(NotAStore, message), open_store(os.devnull) as store:
            use(store)

    def test_a_folder_that_is_not_there(self, tmp_path, use):
        message = f"there is no folder '{tmp_path}/no'. Make it, or name another."
        with refusal(StoreError, message), open_store(tmp_path / "no" / "study.db") as store:
            use(store)


def test_a_store_that_is_not_there_is_not_made_by_reading(path):
    message = f"there is no store '{path}'. Make it with `outperform run`."
    with refusal(StoreError, message), open_store(path) as store:
        store.counts()
    assert not path.exists()


def test_a_file_that_a_killed_run_left_empty(path, done):
    path.touch()
    message = (
        f"'{path}' holds nothing yet: the run that made it stopped as it began. "
        "Run the study again."
    )
    with refusal(StoreError, message), open_store(path) as store:
        store.counts()
    with open_store(path) as store:
        store.add([done()])
        assert set(store.scores()) == {"k0"}


def test_a_damaged_store(path, done):
    with open_store(path) as store:
        store.add([done(f"k{i}") for i in range(200)])
    content = bytearray(path.read_bytes())
    content[8192:] = b"\xa5" * len(content[8192:])
    path.write_bytes(content)
    with open_store(path) as store, pytest.raises(DamagedStore) as caught:
        store.counts()
    assert str(caught.value) == (
        f"'{path}' is damaged: database disk image is malformed. "
        f"`outperform verify {path}` tells what else is, and what to do."
    )


AS_NOBODY = """
import os, sys
import filelock  # before nobody may read it
import outperform.store.sqlite
from outperform.errors import StoreError
from outperform.store import open_store
if os.geteuid() == 0:
    os.setegid(65534)
    os.seteuid(65534)
with open_store(sys.argv[1]) as store:
    print(sorted(store.scores()))
    try:
        store.lock()
    except StoreError as error:
        print(error)
"""


@pytest.mark.parametrize(("file", "folder"), [(0o444, 0o777), (0o444, 0o555), (0o644, 0o555)])
def test_a_store_that_may_be_read_but_not_written(done, file, folder):
    # Permissions do not bind root, so root becomes nobody, who cannot enter pytest's folders.
    place = Path(tempfile.mkdtemp())
    try:
        path = place / "study.db"
        with open_store(path) as store:
            store.add([done()])
        path.chmod(file)
        place.chmod(folder)
        command = [sys.executable, "-c", AS_NOBODY, str(path)]
        keys, error = subprocess.check_output(command, text=True).splitlines()
    finally:
        place.chmod(0o700)
        shutil.rmtree(place)
    assert keys == "['k0']"
    reason = "attempt to write a readonly database" if folder == 0o777 else "Permission denied"
    assert error == (
        f"'{path}' cannot be written: {reason}. "
        "Check the permissions of the file and of its folder, or copy it elsewhere."
    )


def test_another_program_that_writes_is_waited_for_and_then_reported(path, done):
    with open_store(path) as store, closing(sqlite3.connect(path)) as other:
        store.add([done("a")])
        store._read("PRAGMA busy_timeout = 10")
        other.execute("BEGIN IMMEDIATE")
        message = f"another program is writing '{path}'. Close it and try again."
        with refusal(StoreInUse, message):
            store.add([done("b")])
        other.rollback()
        store.add([done("b")])
        assert set(store.scores()) == {"a", "b"}


class _FullPages:
    """A database that may not grow: fills on every system."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "study.db"

    def fill(self, store: Store) -> None:
        store._read("PRAGMA max_page_count = 30")

    def free(self, store: Store) -> None:
        store._read("PRAGMA max_page_count = 100000")


class _FullDisk:
    """A file system of half a megabyte, with nothing left once a ballast has taken the rest."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "study.db"
        self._ballast = folder / "ballast"

    def fill(self, store: Store) -> None:
        with self._ballast.open("wb", buffering=0) as file:
            for size in (4096, 1):
                try:
                    while file.write(b"x" * size) == size:
                        pass
                except OSError:
                    pass

    def free(self, store: Store) -> None:
        self._ballast.unlink()


def _mount(folder: str | Path) -> bool:
    command = ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(folder)]
    return os.geteuid() == 0 and subprocess.run(command, capture_output=True).returncode == 0


def _unmount(folder: str | Path) -> None:
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def _may_mount() -> bool:
    with tempfile.TemporaryDirectory() as folder:
        mounted = _mount(folder)
        if mounted:
            _unmount(folder)
        return mounted


MAY_MOUNT = _may_mount()


@pytest.fixture
def small_disk(tmp_path):
    assert _mount(tmp_path)
    yield _FullDisk(tmp_path)
    _unmount(tmp_path)


@pytest.fixture(params=["few pages", *(["small disk"] if MAY_MOUNT else [])])
def scarce(request, tmp_path):
    if request.param == "few pages":
        return _FullPages(tmp_path)
    return request.getfixturevalue("small_disk")


def test_a_full_disk_loses_nothing(scarce, done):
    message = (
        f"no space is left for '{scarce.path}'. "
        "Free some and run again: all that was recorded is safe."
    )
    recorded = []
    with open_store(scarce.path) as store:
        store.lock()
        scarce.fill(store)
        with refusal(DiskFull, message):
            for i in range(5000):
                store.add([done(f"k{i}", params={"padding": "x" * 1000})])
                recorded.append(f"k{i}")
        with refusal(DiskFull, message):
            store.add([done("one more", params={"padding": "x" * 1000})])
        assert [each.key for each in store.measurements()] == recorded
        with open_store(scarce.path) as reader:
            assert [each.key for each in reader.measurements()] == recorded
        scarce.free(store)
        store.add([done("one more", params={"padding": "x" * 1000})])
    with open_store(scarce.path) as store:
        assert [each.key for each in store.measurements()] == [*recorded, "one more"]


@pytest.mark.skipif(not MAY_MOUNT, reason="only root may mount a small disk")
def test_a_store_on_a_full_disk_can_be_read_and_says_at_once_that_it_cannot_be_written(
    small_disk, done
):
    with open_store(small_disk.path) as store:
        store.add([done()])
    small_disk.fill(store)
    with open_store(small_disk.path) as store:
        assert set(store.scores()) == {"k0"}
        with pytest.raises(DiskFull, match="no space is left for"):
            store.lock()


@pytest.mark.skipif(not MAY_MOUNT, reason="only root may mount a small disk")
def test_a_full_disk_has_no_room_for_a_new_store(small_disk):
    with open_store(small_disk.path) as store:
        small_disk.fill(store)
        with pytest.raises(DiskFull, match="no space is left for"):
            store.lock()
        small_disk.free(store)
        store.lock()
        assert store.counts() == {}
