"""All that is done to runs: to the coordinator, its workers, and the code of the fits."""

import signal
import time
from collections.abc import Callable
from pathlib import Path

from chaos.processes import WATCHER, WORKER, kill
from chaos.training import MISCHIEFS
from chaos.trials import Harm, Round, pause

_LONGEST_WAIT = 120.0  # seconds for something to happen that need not
_IMPORTS = {"import fails": 1.0, "import exits": 1.0, "import hangs": 0.03}  # by weight


def _signal(number: signal.Signals) -> Callable[[Round], int]:
    def strike(current: Round) -> int:
        current.running.send(number)
        return 1

    return strike


def _interrupt(times: int) -> Callable[[Round], int]:
    """Press Ctrl-C, once or impatiently."""

    def strike(current: Round) -> int:
        while current.running.is_running() and not current.running.has_begun():
            time.sleep(0.001)
        for _ in range(times):
            if current.running.is_running():
                current.running.send(signal.SIGINT)
                pause(current, current.rng.uniform(0, 0.2))
        return 1

    return strike


def _find(current: Round, word: str) -> list[int]:
    """Workers or watchers, as soon as there are some; none where the run has ended."""
    while not (processes := current.running.find(word)) and current.running.is_running():
        time.sleep(0.002)
    return processes


def _kill_workers(current: Round) -> int:
    """Kill one worker after the other, some of them before they are ready."""
    n_killed = 0
    for _ in range(current.rng.randrange(1, 31)):
        if workers := _find(current, WORKER):
            n_killed += kill(current.rng.choice(workers), signal.SIGKILL)
        pause(current, current.rng.choice([0.05, 0.5, 2.0]) * current.rng.random())
    return n_killed


def _kill_all_workers(current: Round) -> int:
    return sum(kill(worker, signal.SIGKILL) for worker in _find(current, WORKER))


def _stop_worker(current: Round) -> int:
    """Stop a worker; half of them go on after a while, the others run into their time limit."""
    workers = _find(current, WORKER)
    if not workers:
        return 0
    worker = current.rng.choice(workers)
    n_stopped = int(kill(worker, signal.SIGSTOP))
    if current.rng.random() < 0.5:
        pause(current, current.rng.uniform(0.05, 1))
        kill(worker, signal.SIGCONT)
    return n_stopped


def _kill_watcher(current: Round) -> int:
    watchers = _find(current, WATCHER)
    return int(bool(watchers) and kill(current.rng.choice(watchers), signal.SIGKILL))


def _kill_loading_worker(current: Round) -> int:
    """Kill the workers while one of them imports the code of the fits, which takes seconds."""
    return _kill_all_workers(current) if _wait_for_mischief(current) else 0


def _begin_another(current: Round) -> int:
    """Start the same command once more: it is told of the first, or finds nothing left to do."""
    status = current.ask(current.folder, "run", "study.toml", "--workers", "2")
    if status not in (0, 2, 4):
        current.findings.problems.append(f"a second run ended in {status}")
    return 1


def _wait_for_mischief(current: Round) -> int:
    """Wait until a worker has taken up what was prepared; whether one has."""
    until = time.monotonic() + _LONGEST_WAIT
    asked = current.folder / "mischief"
    while asked.exists() and current.running.is_running() and time.monotonic() < until:
        time.sleep(0.005)
    return int(not asked.exists())


def _ask(mischief: str) -> Callable[[Round], None]:
    def prepare(current: Round) -> None:
        # In one step: half a word would be another mischief.
        written = Path(current.folder, "mischief.new")
        written.write_text(mischief)
        written.rename(current.folder / "mischief")

    return prepare


PROCESS_HARMS = [
    Harm("run killed", (-9,), _signal(signal.SIGKILL), weight=6),
    Harm("run terminated", (-15,), _signal(signal.SIGTERM), weight=3),
    Harm("run interrupted", (130,), _interrupt(times=1), weight=3),
    Harm("run interrupted twice", (130,), _interrupt(times=2), weight=3),
    # Where three in a row are killed before they are ready, the run stops and says so.
    Harm("worker killed", (2,), _kill_workers, weight=5),
    Harm("all workers killed", (), _kill_all_workers, weight=2),
    Harm("worker stopped", (), _stop_worker),
    Harm("watcher killed", (), _kill_watcher),
    Harm("second run begun", (2,), _begin_another),
    Harm("worker killed as it loads", (), _kill_loading_worker, _ask("import is slow")),
]
CODE_HARMS = [
    *(Harm(each, (), _wait_for_mischief, _ask(each), weight=0.5) for each in MISCHIEFS),
    *(
        Harm(each, (), _wait_for_mischief, _ask(each), weight=weight / 2)
        for each, weight in _IMPORTS.items()
    ),
]
