"""Versions of what a fit runs on, in the process that does it."""

import platform
import sys
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_ALWAYS = ("outperform", "numpy", "scipy", "scikit-learn")
# Looked at where a fit has loaded them: importing them takes seconds.
_IF_LOADED = ("torch", "tensorflow", "jax", "xgboost", "lightgbm", "catboost", "transformers")
_PROCESSOR_FILE = Path("/proc/cpuinfo")


def find_versions() -> dict[str, str]:
    """Versions that may change a score, and the processor, of this process.

    They are looked up once, and again where more of what matters has been loaded since.
    """
    return _find_versions(tuple(name for name in _IF_LOADED if name in sys.modules))


@cache
def _find_versions(loaded: tuple[str, ...]) -> dict[str, str]:
    versions = {"python": platform.python_version()}
    for package in _ALWAYS:
        with suppress(PackageNotFoundError):
            versions[package] = version(package)
    for name in loaded:
        number = getattr(sys.modules[name], "__version__", None)
        if number is not None:
            versions[name] = str(number)
    return versions | {"processor": _name_processor()}


@cache
def _name_processor() -> str:
    with suppress(OSError), _PROCESSOR_FILE.open(errors="replace") as lines:
        for line in lines:
            word, _, name = line.partition(":")
            if word.strip() == "model name":
                return name.strip()
    return platform.processor() or platform.machine()
