"""What is computed in one go, what it depends on, and where results are kept.

A result is stored as soon as it is there, under a hash of the block's parameters and of the code
that it rests on, so that a run that was stopped goes on, and a change computes anew only what may
have changed.
"""

import ast
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import scipy

from calibration.cells import Cell

STORE = Path(__file__).parent / "cache" / "cells.jsonl"
MODULES = (
    "paired_intervals",
    "two_samples",
    "hypothesis_tests",
    *(["trained_learners"] if find_spec("calibration.resplits") else []),
    "decision_rules",
    "deviations",
    "best_of",
    "published_scores",
)


@dataclass(frozen=True, slots=True)
class Block:
    """A call of the `measure` of one module."""

    module: str
    parameters: tuple[tuple[str, Any], ...]

    @property
    def name(self) -> str:
        """For people, and for the seed."""
        return f"{self.module}: " + ", ".join(f"{k} = {v}" for k, v in self.parameters)

    @property
    def key(self) -> str:
        """Hash of all that the result depends on."""
        versions = f"numpy {np.__version__}, scipy {scipy.__version__}"
        return _hash(f"{self.name}, {versions}, {_code_of(f'calibration.{self.module}')}")

    def measure(self, **options: Any) -> list[Cell]:
        """Compute the cells, from a seed that depends on the parameters alone."""
        rng = np.random.default_rng(int(_hash(self.name), 16))
        measure = import_module(f"calibration.{self.module}").measure
        cells: list[Cell] = measure(rng, **dict(self.parameters), **options)
        return cells


def list_blocks() -> list[Block]:
    """Every block, in the order of the page."""
    return [
        Block(module, tuple(parameters.items()))
        for module in MODULES
        for parameters in import_module(f"calibration.{module}").list_blocks()
    ]


def read_stored(path: Path = STORE) -> dict[str, list[Cell]]:
    """Cells by the key of their block; a line that was cut off is left out."""
    stored = {}
    for line in path.read_text().splitlines() if path.exists() else []:
        try:
            entry = json.loads(line)
        except ValueError:  # stopped while writing
            continue
        stored[entry["key"]] = [Cell(**cell) for cell in entry["cells"]]
    return stored


def append_stored(key: str, cells: list[Cell], path: Path = STORE) -> None:
    """Keep the cells of one block."""
    path.parent.mkdir(exist_ok=True)
    entry = {"key": key, "cells": [cell.to_dict() for cell in cells]}
    with path.open("a") as file:
        # A line that was cut off before must not swallow this one.
        file.write("\n" + json.dumps(entry))


def _hash(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


@lru_cache(maxsize=64)
def _code_of(module: str) -> str:
    """Hash of the code of a module and of all of ours that it imports, at whatever remove."""
    pending, codes = [module], {}
    while pending:
        name = pending.pop()
        if name not in codes:
            tree = _read_code(name)
            codes[name] = ast.dump(tree)
            pending.extend(_list_imported(tree))
    return _hash(json.dumps(sorted(codes.items())))


def _read_code(module: str) -> ast.Module:
    """Syntax tree without docstrings, which change no number."""
    spec = find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    tree = ast.parse(Path(spec.origin).read_text())
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and (
            ast.get_docstring(node, clean=False) is not None
        ):
            node.body = node.body[1:]
    return tree


def _list_imported(tree: ast.Module) -> Iterator[str]:
    """Modules of ours, which are imported by absolute `from` imports: the rule of the house."""
    for node in ast.walk(tree):
        module = (isinstance(node, ast.ImportFrom) and node.module) or ""
        if module.split(".")[0] in ("calibration", "outperform"):
            yield module
