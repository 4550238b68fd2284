"""Fits by way of any executor: of the standard library, of MPI, of a job queue."""

from collections.abc import Callable, Collection, Mapping
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from functools import partial
from pathlib import Path
from typing import Any

from outperform.engines.engine import Needs
from outperform.engines.local import count_cores
from outperform.engines.remote import Disconnected, RemoteEngine, Tell
from outperform.engines.supervision import Order, Report, dismiss, supervise
from outperform.engines.worker import N_TRIES
from outperform.errors import EngineError, InvalidInput
from outperform.study.import_paths import import_object

SubmitOptions = Callable[[Needs], Mapping[str, Any]]

_EXPECTED = "Name a concurrent.futures.Executor, or a callable that makes one"


class FuturesEngine(RemoteEngine):
    """Runs items on a `concurrent.futures.Executor`, which stays open.

    Parameters
    ----------
    n_workers
        How many items it works on at a time; by default what the executor itself says, or the
        number of cores here.
    submit_options
        Turns `Needs` into what `executor.submit` shall be given besides, such as
        `{"resource_dict": ...}`; without it, graphics processors and the like are refused.

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> with ThreadPoolExecutor(1) as executor, FuturesEngine(executor) as engine:
    ...     engine.submit(abs, -3, tag="three")
    ...     engine.wait()[0].value
    3
    """

    def __init__(
        self,
        executor: Executor,
        *,
        n_workers: int | None = None,
        submit_options: SubmitOptions | None = None,
        heartbeat: Path | None = None,
        patience: float = 0.0,
    ) -> None:
        cluster = _Executor(lambda: executor, n_workers, submit_options, is_ours=False)
        super().__init__(cluster, heartbeat=heartbeat, patience=patience)


def open_cluster(
    address: str, options: Mapping[str, Any], *, heartbeat: Path | None, patience: float
) -> RemoteEngine:
    """Engine of an executor that is named by its import path, or of what a callable there makes."""
    attribute = import_object(address)
    if isinstance(attribute, Executor):
        if options:
            raise InvalidInput(
                f"'{address}' is an executor already, and takes no options",
                "Name a callable that makes one of them, or leave the options out",
            )
        return FuturesEngine(attribute, heartbeat=heartbeat, patience=patience)
    if not callable(attribute):
        raise InvalidInput(f"'{address}' is {attribute!r:.100}", _EXPECTED)
    cluster = _Executor(partial(_make, address, attribute, options), is_ours=True)
    return RemoteEngine(cluster, heartbeat=heartbeat, patience=patience)


class _Executor:
    """An executor as a cluster, which is made anew where it breaks and was made by us."""

    lists_all = False

    def __init__(
        self,
        make: Callable[[], Executor],
        n_workers: int | None = None,
        submit_options: SubmitOptions | None = None,
        *,
        is_ours: bool,
    ) -> None:
        self._make, self._is_ours = make, is_ours
        self._n_workers, self._submit_options = n_workers, submit_options
        self._executor = make()
        self._futures: dict[Future[Report], None] = {}  # not done, in order
        self._n_broken = 0  # since the last report
        self._why_broken: BaseException | None = None

    @property
    def name(self) -> str:
        return type(self._executor).__name__

    @property
    def n_workers(self) -> int:
        for name in ("_max_workers", "max_workers", "num_workers"):
            known = getattr(self._executor, name, None)
            if self._n_workers is None and isinstance(known, int) and known > 0:
                return known
        return self._n_workers or count_cores()

    @property
    def is_deserted(self) -> bool:
        return False  # an executor does not tell

    def share(self, code: bytes) -> bytes:
        return code  # an executor has no means to keep it: it goes with every job

    def call(self, code: bytes, order: Order, tell: Tell, avoid: Collection[str] = ()) -> Any:
        needs = order.job.needs
        options = self._submit_options(needs) if self._submit_options else {}
        n_threads = max(1, count_cores() // self.n_workers)
        try:
            future = self._executor.submit(supervise, code, order, n_threads=n_threads, **options)
        except BrokenExecutor as error:
            self._why_broken = error
            raise Disconnected from error
        except Exception as error:  # it is the user's own, and may raise anything
            raise EngineError(
                f"the executor takes no more work: {error}".rstrip("."),
                "Make a new one to submit more",
            ) from error
        self._futures[future] = None
        future.add_done_callback(partial(self._tell, tell))
        return future

    def check_needs(self, needs: Needs) -> None:
        asked = {"gpus": needs.gpus, **dict(needs.others)}
        names = [name for name, amount in asked.items() if amount]
        if names and self._submit_options is None:
            raise InvalidInput(
                f"{self.name} does not know what '{names[0]}' is, which a fit needs",
                "Pass submit_options to FuturesEngine, which says it in the executor's own words",
            )

    def cancel(self, handles: list[Future[Report]]) -> None:
        for future in handles:
            if future is not None:
                future.cancel()

    def reconnect(self) -> None:
        self._n_broken += 1
        if not self._is_ours or self._n_broken > N_TRIES:
            raise EngineError(
                f"{self.name} is broken: {self._why_broken}".rstrip("."),
                "Make a new one, and run it again: what was finished is not done again",
            ) from self._why_broken
        self._executor.shutdown(wait=False)
        self._executor = self._make()

    def working(self) -> list[tuple[str, Any]]:
        # It does not tell who does what, and calls some running that wait in a queue of its own.
        running = [future for future in [*self._futures] if future.running()]
        return [(f"worker {i}", each) for i, each in enumerate(running[: self.n_workers], 1)]

    def close(self, session: str) -> None:
        dismiss(session)  # what runs in threads of this process
        if self._is_ours:
            self._executor.shutdown(wait=False, cancel_futures=True)

    def _tell(self, tell: Tell, future: Future[Report]) -> None:
        self._futures.pop(future, None)
        try:
            report: Report | EngineError = future.result()
        except (BrokenExecutor, CancelledError) as error:
            self._why_broken = error
            tell(Disconnected())
        except BaseException as error:
            tell(error)
        else:
            self._n_broken = 0
            if not isinstance(report, Report):
                report = EngineError(
                    f"{self.name} gave {report!r:.100} for a fit",
                    "Name an executor whose futures give what the function that it is given "
                    "returns",
                )
            tell(report)


def _make(address: str, make: Callable[..., Any], options: Mapping[str, Any]) -> Executor:
    try:
        executor = make(**options)
    except TypeError as error:
        raise InvalidInput(
            f"'{address}' does not take these options: {error}", "Mend them in [engine.options]"
        ) from error
    except Exception as error:
        raise EngineError(
            f"'{address}' made no executor: {type(error).__name__}: {error}".rstrip("."),
            "Mend that, or name another engine",
        ) from error
    if not isinstance(executor, Executor):
        raise InvalidInput(f"'{address}' makes {executor!r:.100}", _EXPECTED)
    return executor
