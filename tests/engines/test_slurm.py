"""The files of docs/slurm.md, on a Slurm of one node that is started here."""

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

import outperform as op
from outperform.study.study_file import read_study

PAGE = Path(__file__).parents[2] / "docs" / "slurm.md"
FILES = {"study.toml": "toml", "cluster.py": "py", "study.sbatch": "sh"}
MUNGE_FILES = {"key": "munge.key", "pid": "munged.pid", "log": "munged.log", "seed": "munged.seed"}
DAEMONS = ("munged", "slurmctld", "slurmd")
# A node that is larger than it says: partitions, memory and graphics processors of the page.
CONFIG = """
ClusterName=here
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
SwitchType=switch/none
MpiDefault=none
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
SchedulerType=sched/builtin
KillWait=2
GresTypes=gpu
NodeName={host} NodeAddr=127.0.0.1 CPUs=64 RealMemory=256000 Gres=gpu:4
PartitionName=cpu Nodes={host} Default=YES MaxTime=INFINITE State=UP
PartitionName=gpu Nodes={host} MaxTime=INFINITE State=UP
"""


@pytest.fixture
def folder(tmp_path):
    """A folder with the files of the page."""
    for name, language in FILES.items():
        [content] = re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text(), re.M | re.S)
        (tmp_path / name).write_text(content)
    return tmp_path


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("", 0))
        return listener.getsockname()[1]


def configure(folder: Path) -> None:
    host = socket.gethostname().partition(".")[0]
    user = subprocess.run(["id", "-un"], capture_output=True, text=True).stdout.strip()
    ports = (free_port(), free_port())
    config = CONFIG.format(host=host, user=user, ports=ports, folder=folder)
    (folder / "slurm.conf").write_text(config)
    (folder / "gres.conf").write_text(f"NodeName={host} Name=gpu File={folder}/gpu[0-3]\n")
    for number in range(4):
        (folder / f"gpu{number}").touch()
    (folder / "munge.key").write_bytes(os.urandom(1024))
    (folder / "munge.key").chmod(0o400)
    (folder / "state").mkdir()
    (folder / "spool").mkdir()


def start(folder: Path) -> None:
    """Start the daemons, or skip with the reason why this machine cannot."""
    munge = [f"--{what}-file={folder}/{name}" for what, name in MUNGE_FILES.items()]
    commands = (
        ["munged", f"--socket={folder}/munge.socket", *munge],
        ["slurmctld", "-f", f"{folder}/slurm.conf"],
        ["slurmd", "-f", f"{folder}/slurm.conf"],
    )
    for command in commands:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=30)
        if ended.returncode != 0:
            pytest.skip(f"{command[0]} does not start here: {ended.stderr.strip()}")


def stop(folder: Path) -> None:
    for name in reversed(DAEMONS):
        with suppress(FileNotFoundError, ProcessLookupError, ValueError):
            os.kill(int((folder / f"{name}.pid").read_text()), 15)


def wait_until_idle() -> None:
    for _ in range(100):
        found = subprocess.run(["sinfo", "-h", "-o", "%T"], capture_output=True, text=True)
        if found.stdout.split()[:1] == ["idle"]:
            return
        time.sleep(0.1)
    pytest.skip(f"Slurm's node is not ready: {found.stdout or found.stderr}")


@pytest.fixture
def slurm(monkeypatch):
    """A running Slurm, which commands find by themselves."""
    missing = [name for name in DAEMONS if not shutil.which(name, path=f"{os.defpath}:/usr/sbin")]
    if missing:
        pytest.skip(f"no {missing[0]} here: apt-get install slurm-wlm munge")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}:/usr/sbin")
    folder = Path(tempfile.mkdtemp(prefix="slurm-"))
    folder.chmod(0o711)  # munged insists that everybody may reach its socket
    try:
        configure(folder)
        monkeypatch.setenv("SLURM_CONF", str(folder / "slurm.conf"))
        start(folder)
        wait_until_idle()
        yield
    finally:
        stop(folder)
        shutil.rmtree(folder, ignore_errors=True)


def list_jobs() -> list[str]:
    found = subprocess.run(["squeue", "-h", "-o", "%j"], capture_output=True, text=True, check=True)
    return found.stdout.split()


@pytest.fixture(autouse=True)
def _jobqueue() -> None:
    """Skip where it is not installed; imported here, it would take Ctrl-C from all tests."""
    if find_spec("dask_jobqueue") is None:
        pytest.skip("pip install dask-jobqueue")


def test_the_script_asks_slurm_for_what_the_page_says(folder):
    program = "import cluster; print(cluster.make_cluster().job_script())"
    shown = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=True
    )
    header, command = shown.stdout.strip().rsplit("\n", 1)
    assert header.splitlines() == [
        "#!/usr/bin/env bash",
        "",
        "#SBATCH -J dask-worker",
        "#SBATCH -e slurm-logs/dask-worker-%J.err",
        "#SBATCH -o slurm-logs/dask-worker-%J.out",
        "#SBATCH -p gpu",
        "#SBATCH -A lab",
        "#SBATCH -n 1",
        "#SBATCH --cpus-per-task=4",
        "#SBATCH --mem=15G",
        "#SBATCH -t 24:00:00",
        "#SBATCH --gres=gpu:1",
        "export OMP_NUM_THREADS=4",
    ]
    assert command.startswith(f"{sys.executable} -m distributed.cli.dask_worker tcp://")
    assert "--nthreads 1 " in command
    assert command.endswith(" --resources GPU=1 --lifetime 23h --lifetime-stagger 30m")


@pytest.mark.slow
@pytest.mark.may_skip
def test_the_study_of_the_page_runs_on_slurm(folder, slurm):
    options = ["--store", "measured.db"]  # handed on to `outperform run`
    subprocess.run(["sbatch", "study.sbatch", "study.toml", "2", *options], cwd=folder, check=True)
    names = set()
    while jobs := list_jobs():
        names |= set(jobs)
        time.sleep(0.2)
    [log] = folder.glob("slurm-*.out")
    assert "20 fits done now, 0 were recorded before, 0 failed" in log.read_text()
    assert names == {"outperform", "dask-worker"}  # none is left
    there = op.read_runs(str(folder / "measured.db"))
    here = op.run(read_study(folder / "study.toml"), folder / "here.db", "inline")
    assert there == replace(here, source=there.source)
