"""Objects by their import path, and optional packages, with errors that say what to do."""

from importlib import import_module
from types import ModuleType
from typing import Any

from outperform.errors import InvalidInput, MissingExtra
from outperform.wording import suggest_names


def import_object(path: str) -> Any:
    """Import what `package.module:name` or `package.module.name` points at.

    Examples
    --------
    >>> import_object("math:sqrt")(9.0)
    3.0
    """
    module_name, _, name = path.rpartition(":" if ":" in path else ".")
    if not (module_name and name and all(part.isidentifier() for part in name.split("."))):
        raise InvalidInput(f"{path!r} is no import path", "Write it as package.module:name")
    value: Any = _import_module(module_name)
    for attribute in name.split("."):
        if not hasattr(value, attribute):
            public = sorted(known for known in dir(value) if not known.startswith("_"))
            raise InvalidInput(f"there is no {name!r} in {module_name}", _suggest(name, public))
        value = getattr(value, attribute)
    return value


def import_sklearn(module: str) -> ModuleType:
    """Import a module of scikit-learn, which is needed only where it is used."""
    try:
        import_module("sklearn")
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != "sklearn":
            raise
        raise MissingExtra(
            "estimators, scorers and bundled datasets need scikit-learn, which is not installed",
            "Install it with `pip install scikit-learn`",
        ) from None


def _import_module(name: str) -> ModuleType:
    if name == "sklearn" or name.startswith("sklearn."):
        import_sklearn("sklearn")
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        missing = error.name or ""
        if name != missing and not name.startswith(f"{missing}."):
            raise InvalidInput(
                f"cannot import {name!r}: it needs {missing!r}, which is not installed",
                f"Install {missing!r}, or mend the import",
            ) from None
        wanted = "" if name == missing else f" to import {name!r} from"
        raise InvalidInput(
            f"there is no module {missing!r}{wanted}",
            "Check the spelling, and that it lies beside the study file or on Python's path "
            "(PYTHONPATH)",
        ) from None
    except Exception as error:
        raise InvalidInput(
            f"cannot import {name!r} ({type(error).__name__}: {error})",
            "Mend the module; `python -c 'import NAME'` shows where it breaks",
        ) from error


def _suggest(name: str, known: list[str]) -> str:
    return suggest_names(name, known) if known else "Check the spelling"
