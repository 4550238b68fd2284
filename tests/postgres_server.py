"""A PostgreSQL server that tests start themselves, on a socket in a folder of their own."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import pytest

PASSWORD = "hunter2-top-secret"  # of the user called guarded
_NUMBERS = count()
# As a person who has nothing but the password would be asked for it.
_ACCESS = "local all guarded scram-sha-256\nlocal all all trust\n"


class NoServer(Exception):
    """Why none can be started, with the command to type."""


class Server:
    """A cluster with a database `tests` and users: `tester`, `guarded` by a password, and `reader`.

    Parameters
    ----------
    folder
        That any user may enter; the cluster and its socket are made in it.
    durable
        Whether it waits for the disk, which tests need not.
    port
        Of 127.0.0.1, where it listens besides to those who are encrypted, by `make_certificates`
        of this folder, and have a certificate.
    """

    def __init__(self, folder: Path, *, durable: bool = False, port: int | None = None) -> None:
        self.folder, self._data = folder, folder / "data"
        self._bin, user = _find_programs(), _choose_user()
        self._process: subprocess.Popen[Any] | None = None
        self._durability = "on" if durable else "off"
        self._encryption: dict[str, Any] = {}
        self._identity: dict[str, Any] = {"cwd": "/"}
        if user is not None:
            shutil.chown(folder, user)
            self._identity |= {"user": user, "group": user, "extra_groups": []}
        self._call("initdb", "--no-sync", "--auth=trust", "--username=tester", "--encoding=UTF8",
                   "--locale=C", "-D", str(self._data))  # fmt: skip
        (self._data / "pg_hba.conf").write_text(_ACCESS)
        if port is not None:
            self._encrypt(port)
        self.start()
        self._call("createdb", "-h", str(folder), "-U", "tester", "tests")
        self.query(f"CREATE USER guarded PASSWORD '{PASSWORD}'; "
                   "GRANT CREATE ON DATABASE tests TO guarded; CREATE USER reader")  # fmt: skip

    def make_address(self, user: str = "tester", password: str = "") -> str:
        """Address of a store that is not there yet."""
        login = f"{user}:{password}" if password else user
        schema = f"s{os.getpid()}_{next(_NUMBERS)}"
        return f"postgresql://{login}@/tests?host={self.folder}&schema={schema}"

    def query(self, statement: str) -> str:
        """What psql answers."""
        return self._call("psql", "-qAtX", "-h", str(self.folder), "-U", "tester", "-d", "tests",
                          "-c", statement)  # fmt: skip

    def start(self) -> None:
        """Start it, and wait until it answers."""
        settings = {
            "listen_addresses": "",
            **self._encryption,
            "unix_socket_directories": self.folder,
            "fsync": self._durability,
            "max_connections": 50,
            "shared_buffers": "32MB",
        }
        options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        command = [str(self._bin / "postgres"), "-D", str(self._data), *options]
        for _ in range(1200):
            if self._process is None or self._process.poll() is not None:
                # Again, if what was killed has not quite ended yet.
                with (self.folder / "log").open("ab") as log:
                    self._process = subprocess.Popen(
                        command, stdout=log, stderr=log, start_new_session=True, **self._identity
                    )
            question = ["-q", "-h", str(self.folder), "-d", "postgres"]
            environment = self._identity.get("env")
            asked = subprocess.run([str(self._bin / "pg_isready"), *question], env=environment)
            if asked.returncode == 0:
                return
            time.sleep(0.05)
        raise NoServer(f"PostgreSQL does not start: see {self.folder / 'log'}")

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """End it: SIGINT ends connections, SIGKILL is a crash."""
        if self._process is not None:
            if how == signal.SIGKILL:
                os.killpg(self._process.pid, signal.SIGSTOP)  # so that none writes a last word
                children = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children")
                for child in children.read_text().split() if children.exists() else ():
                    os.kill(int(child), signal.SIGKILL)
            self._process.send_signal(how)
            self._process.wait()
            self._process = None

    def _encrypt(self, port: int) -> None:
        self._identity["env"] = {**os.environ, "PGPORT": str(port)}
        names = {"ssl_ca_file": "ca.pem", "ssl_cert_file": "me.pem", "ssl_key_file": "me.key"}
        for name in names.values():
            shutil.copy(self.folder / name, self._data)
            (self._data / name).chmod(0o600)  # or it is refused
            shutil.chown(self._data / name, self._identity.get("user", os.geteuid()))
        self._encryption = {"listen_addresses": "127.0.0.1", "ssl": "on", **names}
        access = "hostssl all all 127.0.0.1/32 scram-sha-256 clientcert=verify-ca"
        (self._data / "pg_hba.conf").write_text(f"{_ACCESS}{access}\n")

    def _call(self, program: str, *words: str) -> str:
        finished: subprocess.CompletedProcess[str] = subprocess.run(
            [str(self._bin / program), *words], capture_output=True, text=True, **self._identity
        )
        if finished.returncode:
            raise NoServer(f"{program} failed: {finished.stderr.strip()}")
        return str(finished.stdout).strip()


@cache
def find_server() -> Server:
    """The server of this process, started when it is first asked for; without one, tests skip."""
    pytest.importorskip("psycopg", reason="pip install 'outperform[postgres]'")
    folder = Path(tempfile.mkdtemp(prefix="outperform-pg-"))
    try:
        return Server(folder)
    except NoServer as reason:
        shutil.rmtree(folder)
        pytest.skip(str(reason))


def make_address(user: str = "tester", password: str = "") -> str:
    """Address of a store in PostgreSQL that is not there yet."""
    return find_server().make_address(user, password)


def stop_server() -> None:
    """End the server of this process, if there is one, and remove all it has left."""
    if find_server.cache_info().currsize:
        server = find_server()
        server.stop()
        shutil.rmtree(server.folder)
        find_server.cache_clear()


def _find_programs() -> Path:
    found = shutil.which("initdb")
    folders = [Path(found).resolve().parent] if found else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not folders:
        raise NoServer("PostgreSQL is not installed; on Debian: apt-get install postgresql")
    return folders[-1]


def _choose_user() -> str | None:
    """Somebody else where we are root, whom PostgreSQL does not serve."""
    if os.geteuid() != 0:
        return None
    names = {each.pw_name for each in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"
