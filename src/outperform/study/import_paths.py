"""The person's own code and optional packages: imported, called, and refused where they fail."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from outperform.errors import InvalidInput, MissingExtra, OutperformError
from outperform.wording import suggest_names

_folders: list[str] = []  # of studies, the latest first: the end of Python's path


def search_last(folder: Path) -> None:
    """Let modules of a study's folder be imported, here and by workers, where no other is meant.

    Its folder comes last: a random.py there hides neither Python's own nor an installed module.
    """
    place = str(folder.absolute())
    others = [each for each in _folders if each != place]
    if place in _folders or place not in sys.path:
        sys.path[:] = [each for each in sys.path if each not in (place, *others)]
        _folders[:] = [place, *others]
        sys.path += _folders


def check_not_hidden(path: str, folder: Path) -> None:
    """Refuse an import path that means another module than the one beside the study."""
    name = path.partition(":")[0].partition(".")[0]
    beside = [folder / f"{name}.py", folder / name / "__init__.py"]
    own: list[Path] = []
    with suppress(OSError):  # a name too long for a file is that of none
        own = [file.resolve() for file in beside if file.is_file()]
    other = _find_file(name) if own else None
    if other is None or (Path(other).resolve() in own):
        return
    owner = f"another module ({other})"
    if name in sys.stdlib_module_names:
        owner = "a module of Python's standard library"
    elif {"site-packages", "dist-packages"} & set(Path(other).parts):
        owner = "an installed module"
    raise InvalidInput(
        f"{own[0].relative_to(folder.resolve())} beside the study has the name of {owner}, which "
        "Python takes first",
        "Rename it, in the study too",
    )


def _find_file(name: str) -> str | None:
    """Where Python takes a module from, without importing it; None if there is none."""
    if name in sys.modules:
        return getattr(sys.modules[name], "__file__", None) or "built-in"
    spec = find_spec(name)
    return None if spec is None else spec.origin or "a folder without __init__.py"


def import_object(path: str) -> Any:
    """Import what `package.module:name` or `package.module.name` points at."""
    module_name, _, name = path.rpartition(":" if ":" in path else ".")
    if not (module_name and name and all(part.isidentifier() for part in name.split("."))):
        raise InvalidInput(f"{path!r} is no import path", "Write it as package.module:name")
    value: Any = _import_module(module_name)
    for attribute in name.split("."):
        with refuse_failures(f"{attribute!r} of {module_name}", "Mend the module"):
            is_there = hasattr(value, attribute)
        if not is_there:
            public = sorted(known for known in dir(value) if not known.startswith("_"))
            remedy = suggest_names(name, public) if public else "Check the spelling"
            raise InvalidInput(f"there is no {name!r} in {module_name}", remedy)
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
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit too
        raise InvalidInput(
            f"cannot import {name!r} ({describe(error)})",
            "Mend the module; `python -c 'import NAME'` shows where it breaks",
        ) from error


@contextmanager
def refuse_failures(what: str, remedy: str) -> Iterator[None]:
    """Refuse what the code inside raises, `sys.exit` too; only Ctrl-C gets through."""
    try:
        yield
    except (OutperformError, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise InvalidInput(f"{what} fails ({describe(error)})", remedy) from error


def describe(error: BaseException) -> str:
    """Kind and words of an exception, in one line."""
    if isinstance(error, SystemExit):
        return "it calls sys.exit"
    return f"{type(error).__name__}: {error}"
