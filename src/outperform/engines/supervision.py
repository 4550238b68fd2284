"""What runs in a process of a cluster: give a job to a child, watch it, and tell what came out.

The child may hang, crash and eat the memory; this process stays as it is, and never loads the
user's code.
"""

import os
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from multiprocessing.connection import wait as wait_for_any

from outperform.engines.children import Children, Kind
from outperform.engines.devices import VISIBLE, Devices, GivenDevices
from outperform.engines.engine import Outcome
from outperform.engines.jobs import Job, Loss
from outperform.engines.lease import Lease
from outperform.engines.worker import Worker

_LOOK_ROUND = 0.5  # seconds after which we ask whether the job is still wanted
_LONGEST_PAUSE = 30.0  # seconds for which a worker that cannot load the work takes no job

_children = Children()
_devices = Devices()
_unloaded: dict[tuple[str, int], tuple[int, float]] = {}  # failures, and when to try again


@dataclass(frozen=True, slots=True)
class Order:
    """A job on its way to a cluster, without its code.

    Attributes
    ----------
    lease
        Who wants it, and for how long.
    folder
        Where the coordinator runs; so does the job, where there is such a folder.
    places
        Where the coordinator has modules of its own, for workers that see the same files.
    """

    job: Job
    lease: Lease
    folder: str
    places: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """What became of an order; neither outcome nor loss where it was not wanted any more.

    Attributes
    ----------
    worker
        Where that was.
    outcome
        Its value still as bytes, which the coordinator unpacks.
    """

    worker: str
    outcome: Outcome | None = None
    loss: Loss | None = None


def name_process() -> str:
    """Name of this process among those of all hosts."""
    return f"{socket.gethostname()}:{os.getpid()}"


def supervise(
    code: bytes,
    order: Order,
    *,
    is_wanted: Callable[[], bool] | None = None,
    worker: str = "",
    n_threads: int = 1,
    devices: Devices | GivenDevices | None = None,
) -> Report:
    """Have a child of this process do a job, and kill it when nobody wants that any more.

    Parameters
    ----------
    code
        Of the work, pickled.
    is_wanted
        Whether the result is, as far as the cluster knows; asked twice a second. By default, the
        order's lease tells.
    worker
        What the cluster calls this worker; by default, its host and process.
    n_threads
        Threads that numerical libraries may use, unless the environment allows fewer.
    devices
        Where graphics processors come from; by default, those of this process are handed out.
    """
    worker, n_threads = worker or name_process(), _limit_threads(n_threads)
    lease, job = order.lease, replace(order.job, code=code)
    wanted = is_wanted or lease.is_valid

    def still_wanted() -> bool:
        return not _children.is_dismissed(lease.session) and wanted()

    if not _pause(lease, job, still_wanted):
        return Report(worker)
    devices = devices or _find_devices(job)
    visible = os.environ.get(VISIBLE, "")
    kind = Kind(lease.session, n_threads, job.needs, visible, order.folder, order.places)
    child = _children.take(kind, job, devices)
    report = Report(worker)
    try:
        child.give(job)
        report = _watch(child, worker, still_wanted)
    except BaseException:  # a cluster may cancel by an exception
        child.kill()
        raise
    finally:
        if report.outcome is None:
            _children.let_go(child, devices)
        else:
            _children.keep(child, kind, devices)
    _remember(lease, job, report.loss)
    return report


def _find_devices(job: Job) -> Devices | GivenDevices:
    """Those of this process; where none are found that a cluster has promised, what it sees."""
    return _devices if not job.needs.gpus or _devices.are_known else GivenDevices()


def dismiss(session: str) -> None:
    """Kill what this process does for a coordinator, now or within a moment."""
    _children.dismiss(session)


def _limit_threads(n_threads: int) -> int:
    """No more threads than the environment allows: that of a Dask worker allows one."""
    asked = os.environ.get("OMP_NUM_THREADS", "")
    return min(n_threads, int(asked)) if asked.isdecimal() and int(asked) > 0 else n_threads


def _watch(child: Worker, worker: str, is_wanted: Callable[[], bool]) -> Report:
    looked = time.monotonic()
    while True:
        until = _LOOK_ROUND
        if child.deadline is not None:
            until = min(until, max(0.0, child.deadline - time.monotonic()))
        if wait_for_any(child.ends, until):  # type: ignore[arg-type]
            outcome = child.receive()
            if outcome is not None:
                return Report(worker, replace(outcome, tag=None, worker=worker))
        if child.is_lost():
            return Report(worker, loss=_strip(child.lay_off()))
        if time.monotonic() - looked > _LOOK_ROUND:
            looked = time.monotonic()
            if not is_wanted():
                child.kill()
                return Report(worker)


def _strip(loss: Loss | None) -> Loss | None:
    """A loss without what its coordinator has."""
    if loss is None:
        return None
    return replace(loss, job=replace(loss.job, code=b"", item=b""))


def _pause(lease: Lease, job: Job, is_wanted: Callable[[], bool]) -> bool:
    """Wait where loading the work has failed before: others that can load it shall get the jobs.

    Returns whether the job is wanted.
    """
    _, resume = _unloaded.get((lease.session, job.number), (0, 0.0))
    while is_wanted():
        left = resume - time.monotonic()
        if left <= 0:
            return True
        time.sleep(min(left, _LOOK_ROUND))
    return False


def _remember(lease: Lease, job: Job, loss: Loss | None) -> None:
    work = (lease.session, job.number)
    if loss is not None and loss.kind == "unbegun":
        n_failures = _unloaded.get(work, (0, 0.0))[0] + 1
        pause = min(0.5 * 2.0**n_failures, _LONGEST_PAUSE)
        _unloaded[work] = (n_failures, time.monotonic() + pause)
    else:
        _unloaded.pop(work, None)
