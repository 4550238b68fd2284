"""How workers tell that nobody wants their work any more."""

import os
import socket
import subprocess
from types import SimpleNamespace

import pytest

from outperform.engines.supervision import Lease


def make_lease(**words):
    return Lease(**{"session": "s", "host": socket.gethostname(), "pid": os.getpid()} | words)


def test_it_ends_with_the_coordinator_where_that_can_be_seen():
    with subprocess.Popen(["true"]) as process:
        process.wait()
    assert make_lease().is_valid()
    assert not make_lease(pid=process.pid).is_valid()
    assert make_lease(pid=process.pid, host="elsewhere").is_valid()


def test_it_ends_when_the_flag_is_removed(tmp_path):
    flag = tmp_path / "flag"
    flag.touch()
    lease = make_lease(flag=str(flag), heartbeat=str(flag), patience=100)
    assert lease.is_valid()
    flag.unlink()
    assert not lease.is_valid()
    assert make_lease(flag=str(flag), host="elsewhere").is_valid()


@pytest.mark.parametrize("begin", [10**9, 3 * 10**9])  # clocks of two hosts differ
def test_it_lasts_as_long_as_patience_after_the_last_beat(tmp_path, begin, monkeypatch):
    now = [50.0]
    clock = SimpleNamespace(monotonic=lambda: now[0])
    monkeypatch.setattr("outperform.engines.supervision.time", clock)
    beat = tmp_path / "beat"
    beat.touch()
    os.utime(beat, (begin, begin))
    lease = make_lease(heartbeat=str(beat), patience=10, pid=2**22 + 1)
    for now[0] in (50, 59):
        assert lease.is_valid()
    os.utime(beat, (begin + 8, begin + 8))
    for now[0] in (61, 70):
        assert lease.is_valid()
    now[0] = 72
    assert not lease.is_valid()


def test_without_a_beat_it_is_over_unless_the_coordinator_is_seen(tmp_path):
    words = {"heartbeat": str(tmp_path / "none"), "patience": 100}
    assert make_lease(**words).is_valid()
    assert not make_lease(**words, pid=2**22 + 1).is_valid()
    assert not make_lease(**words, host="elsewhere").is_valid()


def test_a_coordinator_that_is_seen_needs_no_beat_in_time(tmp_path):
    (tmp_path / "beat").touch()
    lease = make_lease(heartbeat=str(tmp_path / "beat"), patience=-1)
    assert not lease.is_beating()
    assert lease.is_valid()
