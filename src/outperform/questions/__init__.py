"""What people ask of runs: one folder per question, found by its files and listed nowhere."""

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType


def list_questions(room: str) -> list[str]:
    """Names of the questions that have a room, such as `command`."""
    houses = map(Path, __path__)
    return sorted(path.parent.name for house in houses for path in house.glob(f"*/{room}.py"))


def find_room(kind: type, room: str) -> ModuleType | None:
    """Find the room of the question that a kind of result belongs to, if it has one."""
    if not kind.__module__.startswith(f"{__name__}."):
        return None
    name = f"{kind.__module__.rpartition('.')[0]}.{room}"
    return import_module(name) if find_spec(name) else None
