"""Where real data lies, and the rule that CI skips nothing."""

import gc
import os
import secrets
import signal
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

from tests.postgres_server import stop_server

pytest_plugins = ("tests.figures",)
SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"

# Several processes test on two cores: threads of BLAS in each would wait for one another, and spin.
# Before anybody imports numpy; tests of threads ask for as many as they need.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

# Hundreds of processes would each compile all our code anew, where Python is told to keep none.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# What collecting the tests makes is kept: looking for garbage in it took a third of the time.
gc.disable()

# A store waits for the disk at every fit, which is most of what many tests do. In memory they need
# not, where there is plenty.
MEMORY = Path("/dev/shm")
if "TMPDIR" not in os.environ and os.access(MEMORY, os.W_OK):
    room = os.statvfs(MEMORY)
    if room.f_bavail * room.f_frsize > 2 * 2**30 and not room.f_flag & os.ST_NOEXEC:
        os.environ["TMPDIR"] = str(MEMORY)
        tempfile.tempdir = None  # what it was is forgotten

# Before anybody imports Ray. A token of our own: it would keep one in the home folder.
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
os.environ["RAY_AUTH_MODE"] = "token"
os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))

# A shell has what it starts in the background ignore Ctrl-C, and children inherit it: tests that
# press Ctrl-C would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Examples of a property that does not say how many it needs; `make slow` tries as many as people
# are used to. How long one takes is the machine's affair.
settings.register_profile("brief", max_examples=40, deadline=None)
settings.register_profile("thorough", max_examples=100, deadline=None)
settings.load_profile("brief")


def pytest_collection_finish():
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def _servers():
    """Tests start the servers that they need; they end with the tests."""
    yield
    stop_server()


@pytest.fixture
def shared_data() -> Path:
    """Folder with results that nobody on this project produced."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"the reference data is not at {SHARED_DATA}")
    return SHARED_DATA


def find_forbidden_skips(reporter):
    """Where everything is installed, a skipped test is a failed one, unless it may be skipped."""
    if not os.environ.get("OUTPERFORM_FORBID_SKIPS"):
        return []
    skipped = reporter.stats.get("skipped", [])
    return [report for report in skipped if "may_skip" not in report.keywords]


def pytest_terminal_summary(terminalreporter):
    if skipped := find_forbidden_skips(terminalreporter):
        terminalreporter.section("skipped tests are forbidden here")
        for report in skipped:
            terminalreporter.write_line(f"{report.nodeid}: {report.longrepr}")


def pytest_sessionfinish(session, exitstatus):
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter and find_forbidden_skips(reporter):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
