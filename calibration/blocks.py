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
from typing import Any, TypeGuard

import numpy as np
import scipy

from calibration.cells import Cell

STORE = Path(__file__).parent / "cache" / "cells.jsonl"
MODULES = (
    "paired_intervals",
    "sequential_tests",
    "two_samples",
    "hypothesis_tests",
    "trained_learners",
    "decision_rules",
    "deviations",
    "one_search",
    "several_searches",
    "budget_plans",
    "best_of",
    "published_scores",
    "many_algorithms",
    "many_tasks",
    "aggregates",
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


_Name = tuple[str, str]  # of a module, and of something that it defines


@lru_cache(maxsize=64)
def _code_of(module: str) -> str:
    """Hash of a module's `measure` and of all code of ours that it uses, at whatever remove."""
    pending, codes = [(module, "measure")], {}
    while pending:
        place = pending.pop()
        if place not in codes:
            defined, imported = _read_names(place[0])
            nodes = defined.get(place[1], [])
            codes[place] = [ast.dump(node) for node in nodes]
            used = {name.id for node in nodes for name in ast.walk(node) if _is_name(name)}
            pending.extend((place[0], name) for name in used & defined.keys())
            pending.extend(imported[name] for name in used & imported.keys())
    return _hash(json.dumps(sorted(codes.items())))


def _is_name(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name)


@lru_cache(maxsize=128)
def _read_names(module: str) -> tuple[dict[str, list[ast.stmt]], dict[str, _Name]]:
    """What a module defines, by name, and where what it imports of ours is defined."""
    tree = _read_code(module)
    defined: dict[str, list[ast.stmt]] = {}
    for node in tree.body:
        for name in _defined_names(node):
            defined.setdefault(name, []).append(node)
    # Absolute `from` imports of modules: the rule of the house.
    imported = {
        alias.asname or alias.name: (node.module, alias.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module is not None
        for alias in node.names
        if node.module.split(".")[0] in ("calibration", "outperform")
    }
    return defined, imported


def _defined_names(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        yield node.name
    elif isinstance(node, (ast.Assign, ast.AnnAssign)):
        for target in ast.walk(node):
            if isinstance(target, ast.Name) and isinstance(target.ctx, ast.Store):
                yield target.id


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
