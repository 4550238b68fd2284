"""Packages whose names are imported when first used, all listed once: in their `__init__.pyi`."""

import ast
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def export_stub(
    package: str, init: str
) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """Make `__all__`, `__getattr__` and `__dir__` of a package from the imports of its stub.

    Parameters
    ----------
    package, init
        `__name__` and `__file__` of the package.
    """
    stub = ast.parse(Path(init).with_name("__init__.pyi").read_text())
    # What comes from the package itself is a module that it imports at once.
    froms = [n for n in stub.body if isinstance(n, ast.ImportFrom) and n.module != package]
    homes = {alias.name: str(node.module) for node in froms for alias in node.names}

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(homes[name]), name)
        vars(import_module(package))[name] = value  # where it is not looked for again
        return value

    def list_names() -> list[str]:
        return sorted({*vars(import_module(package)), *homes})

    return sorted(homes), find, list_names
