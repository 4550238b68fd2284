"""The file of a store that is taken away while a run writes it: noticed, and nothing is lost."""

import os
import shutil
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, contextmanager

import pytest

from outperform.errors import StoreError, StoreInUse
from outperform.store import RunLabel, open_store

LABEL = RunLabel("ideal", "all", 0, "svm", "digits", "k0")


@contextmanager
def stopped(match=None):
    """A run that finds its store gone."""
    with pytest.raises(StoreError, match=match) as caught:
        yield caught


def remove(path):
    path.unlink()


def remove_all(path):
    for file in path.parent.glob("study.db*"):
        file.unlink()


def rename(path):
    path.rename(path.with_name("moved.db"))


def replace_by_another_store(path):
    other = path.with_name("other.db")
    with open_store(other) as store:
        store.set_meta("notes", "of the other")
    other.replace(path)


@pytest.mark.parametrize("take_away", [remove, remove_all, rename, replace_by_another_store])
def test_all_that_was_recorded_is_rescued_beside_it(path, done, take_away):
    what = "replaced by another file" if "replace" in take_away.__name__ else "removed or renamed"
    rescued = path.with_name("study.rescued.db")
    message = (
        f"'{path}' was {what} while a run wrote it. All 11 fits recorded so far are in "
        f"'{rescued}': move it to '{path}', and the same command resumes."
    )
    with stopped() as caught, open_store(path) as store:
        store.add([], [LABEL])
        store.set_meta("notes", "mine")
        for i in range(10):
            store.add([done(f"k{i}")])
        take_away(path)
        store.add([done("at the very moment")])
    assert str(caught.value) == message
    with open_store(rescued) as store:
        assert list(store.scores()) == [*(f"k{i}" for i in range(10)), "at the very moment"]
        assert store.run_labels() == [LABEL]
        assert store.get_meta("notes") == "mine"
        assert store.verify().is_sound


def make_other(path):
    other = path.with_name("other.db")
    with open_store(other) as store:
        store.set_meta("notes", "of the other")
    return other


def overwrite(path):
    shutil.copyfile(make_other(path), path)


def empty(path):
    os.truncate(path, 0)


def cut(path):
    os.truncate(path, path.stat().st_size // 2)


def overwrite_at_the_same_size(path):
    before = path.stat()
    with path.open("r+b") as file:
        file.write(b"\xa5" * before.st_size)
    later = before.st_mtime_ns + 10**9  # than the last transfer, however coarse the clock
    os.utime(path, ns=(later, later))


def write_in_batches(store, done, n):
    for start in range(0, n, 50):
        store.add([done(f"k{i}") for i in range(start, start + 50)])


OVERWRITE = [overwrite, empty, cut, overwrite_at_the_same_size]


@pytest.mark.parametrize("change", OVERWRITE)
@pytest.mark.parametrize("at_the_end", [False, True])
def test_a_file_overwritten_in_its_place_is_noticed_and_rescued(path, done, change, at_the_end):
    n = 100 if at_the_end else 101
    with stopped() as caught, open_store(path) as store:
        write_in_batches(store, done, 100)
        store._writer._transfer()
        change(path)
        left = path.read_bytes()
        if not at_the_end:
            store.add([done("late")])
    rescued = path.with_name("study.rescued.db")
    assert str(caught.value) == (
        f"'{path}' was overwritten or cut while a run wrote it. All {n} fits recorded so far are "
        f"in '{rescued}': move it to '{path}', and the same command resumes."
    )
    assert path.read_bytes() == left  # what somebody has put there is not ours to change
    assert not path.with_name("study.db-wal").exists()
    with open_store(rescued) as store:
        assert len(store.scores()) == n
        assert store.verify().is_sound


@pytest.mark.parametrize("change", OVERWRITE)
def test_what_cannot_be_read_any_more_is_not_said_to_be_rescued(path, done, change):
    with open_store(path) as store:
        write_in_batches(store, done, 500)
    with stopped() as caught, open_store(path) as store:
        store.lock()  # and nothing of the fits is in memory
        change(path)
        left = path.read_bytes()
        for key in ("late", "later"):
            with stopped("was overwritten or cut while a run wrote it, and "):
                store.add([done(key)])
        store.add([done("at last")])
    said = str(caught.value)
    assert "All" not in said
    assert "not all that was recorded can be read any more" in said or "nothing could be" in said
    assert path.read_bytes() == left


def test_a_new_time_alone_stops_nothing(path, done):
    with open_store(path) as store:
        store.add([done("a")])
        os.utime(path, (1, 1))
        store.add([done("b")])
        os.utime(path, (2, 2))
    assert not list(path.parent.glob("*rescued*"))
    with open_store(path) as store:
        assert set(store.scores()) == {"a", "b"}


def test_a_transfer_by_another_program_stops_nothing(path, done):
    code = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1])\n"
    code += "assert c.execute('PRAGMA wal_checkpoint').fetchone()[2] > 0; c.close()"
    with open_store(path) as store:
        write_in_batches(store, done, 100)
        before = path.stat().st_size
        subprocess.run([sys.executable, "-c", code, str(path)], check=True)
        assert path.stat().st_size > before
        store.add([done("later")])
    with open_store(path) as store:
        assert len(store.scores()) == 101
        assert store.verify().is_sound


def test_a_sound_store_with_as_many_fits_is_another_all_the_same(path, done):
    other = path.with_name("other.db")
    for file in (path, other):
        with open_store(file) as store:
            store.set_meta("notes", file.name)
            write_in_batches(store, done, 100)
    with stopped("was overwritten or cut"), open_store(path) as store:
        store.lock()
        shutil.copyfile(other, path)
        os.utime(path, (1, 1))


def test_a_run_that_another_has_overtaken_takes_nothing_for_overwritten(path, done):
    with open_store(path) as first, open_store(path) as second:
        first.add([done("a")])
        path.with_name("study.db.lock").unlink()
        write_in_batches(second, done, 100)
        second._writer._transfer()
        with pytest.raises(StoreInUse):
            first.add([done("b")])
        second.close()
        first.add([done("c")])
    with open_store(path) as store:
        assert len(store.scores()) == 103
        assert store.verify().is_sound


def test_readers_and_copies_during_a_run_are_no_reason_to_stop(path, done):
    code = (
        "import sys; from outperform.store import open_store\n"
        "for i in range(8):\n"
        "    with open_store(sys.argv[1]) as store:\n"
        "        store.scores(); assert store.verify().is_sound\n"
        "        store.backup(f'{sys.argv[1]}.{i}')\n"
    )
    with open_store(path) as store:
        store.add([done("first")])
        before = store._writer._state
        with subprocess.Popen([sys.executable, "-c", code, str(path)]) as reader:
            n = 0
            while reader.poll() is None:
                store.add([done(f"k{n}")])
                time.sleep(0.001)  # as a disk would: else it outgrows whoever verifies it
                n += 1
                if n % 10 == 0:
                    found = path.stat()  # nobody but the writer changes the file
                    assert store._writer._state[1:] == (found.st_size, found.st_mtime_ns)
                    store._writer._transfer()
        assert reader.returncode == 0
        assert store._writer._state != before
    assert not list(path.parent.glob("*rescued*"))
    with open_store(path) as store:
        assert len(store.scores()) == n + 1
        assert store.verify().is_sound


def test_what_comes_after_that_is_rescued_too_and_stops_again(path, done):
    with stopped(), open_store(path) as store:
        store.add([done("a")])
        path.unlink()
        for key in ("b", "c"):  # as a coordinator saves what its workers still hand over
            with stopped("was removed or renamed while a run wrote it"):
                store.add([done(key)])
        store.add([done("d")])
    assert [each.name for each in path.parent.iterdir()] == ["study.rescued.db"]
    with open_store(path.with_name("study.rescued.db")) as store:
        assert list(store.scores()) == ["a", "b", "c", "d"]


def test_a_file_taken_away_after_the_last_commit_is_noticed_at_the_end(path, done):
    with stopped("All 1 fits recorded so far"), open_store(path) as store:
        store.add([done()])
        path.unlink()


def test_the_end_of_a_reader_notices_nothing(path, done):
    with open_store(path) as store:
        store.add([done()])
    with open_store(path) as store:
        store.scores()
        path.unlink()
    assert not list(path.parent.glob("*rescued*"))


def test_nothing_is_overwritten(path, done):
    path.with_name("study.rescued.db").write_text("precious")
    path.with_name("study.rescued-2.db").symlink_to("elsewhere.db")
    with stopped(r"study\.rescued-3\.db"), open_store(path) as store:
        store.add([done()])
        path.unlink()
    assert path.with_name("study.rescued.db").read_text() == "precious"
    assert not path.with_name("elsewhere.db").exists()


def test_a_folder_that_is_gone_is_no_reason_to_lose_anything(tmp_path, monkeypatch, done):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "folder"
    folder.mkdir()
    with stopped(), open_store(folder / "study.db") as store:
        store.add([done()])
        shutil.rmtree(folder)
        store.add([done("k1")])
    with open_store(tmp_path / "study.rescued.db") as store:
        assert set(store.scores()) == {"k0", "k1"}


def test_another_store_put_in_its_place_stays_as_it_is(path, done):
    with stopped(), open_store(path) as store:
        for i in range(50):
            store.add([done(f"k{i}")])
        replace_by_another_store(path)
        store.add([done("late")])
    with open_store(path) as store:
        assert store.scores() == {}
        assert store.get_meta("notes") == "of the other"
        assert store.verify().is_sound


def test_a_link_that_leads_elsewhere_now_is_noticed(path, done):
    link, other = path.with_name("link.db"), path.with_name("other.db")
    with open_store(other) as store:
        store.lock()
    link.symlink_to(path)
    with stopped("was replaced by another file"), open_store(link) as store:
        store.add([done()])
        link.unlink()
        link.symlink_to(other)
        store.add([done("k1")])
    assert path.with_name("link.rescued.db").exists()


def test_a_lock_that_was_removed_is_taken_again(path, done):
    lock = path.with_name("study.db.lock")
    with open_store(path) as store:
        store.add([done("a")])
        lock.unlink()
        store.add([done("b")])
        assert lock.exists()
        with pytest.raises(StoreInUse), open_store(path) as other:
            other.lock()
    assert not lock.exists()


def test_a_run_whose_lock_was_removed_gives_way_to_the_next(path, done):
    with open_store(path) as first, open_store(path) as second:
        first.add([done("a")])
        path.with_name("study.db.lock").unlink()
        second.add([done("b")])
        with pytest.raises(StoreInUse) as caught:
            first.add([done("c")])
        assert str(caught.value) == (
            f"the lock of '{path}' was removed, and another run has begun to write it. "
            "Let that run go on: all that this one has recorded is there."
        )
        with pytest.raises(StoreInUse):
            first.close()
        assert second.find_writer() is not None
        second.add([done("d")])
    with open_store(path) as store:
        assert list(store.scores()) == ["a", "b", "c", "d"]


def test_a_plain_copy_during_a_run_is_hardly_behind(path, done):
    with open_store(path) as store:
        store.lock()
        copy = shutil.copy(path, path.with_name("empty.db"))
        with open_store(copy) as early:
            assert early.scores() == {}  # it is a store from the beginning
        store.add([done("a")])
        store._writer._transferred -= 60  # as if a minute had passed
        store.add([done("b")])
        copy = shutil.copy(path, path.with_name("copy.db"))
        with open_store(copy) as later:
            assert set(later.scores()) == {"a", "b"}


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_nobody_else_may_read_any_of_its_files(path, done):
    before = os.umask(0)
    try:
        with stopped(), open_store(path) as store:
            store.add([done()])
            store.backup(path.with_name("copy.db"))
            files = {file.name for file in path.parent.iterdir()}
            assert files == {"study.db", *(f"study.db{e}" for e in ("-wal", "-shm", ".lock")),
                             "copy.db"}  # fmt: skip
            assert {file.stat().st_mode & 0o777 for file in path.parent.iterdir()} == {0o600}
            path.unlink()
    finally:
        os.umask(before)
    rescued = path.with_name("study.rescued.db")
    assert rescued.stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_permissions_that_were_given_are_kept(path, done):
    with open_store(path) as store:
        store.add([done()])
    path.chmod(0o640)
    with open_store(path) as store:
        store.add([done("k1")])
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_copy_of_a_damaged_store_is_refused_and_removed(path, done):
    with open_store(path) as store:
        store.add([done()])
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE measurements SET seconds = 7")
    copy = path.with_name("copy.db")
    with stopped() as caught, open_store(path) as store:
        store.backup(copy)
    assert str(caught.value) == (
        f"'{path}' is damaged: a copy of it is not sound. "
        f"`outperform verify {path}` tells what else is, and what to do."
    )
    assert not copy.exists()
