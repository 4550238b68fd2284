"""What pipelines and tasks may be called."""

import unicodedata
from collections.abc import Sequence

from outperform.errors import InvalidInput
from outperform.study.study_file_entries import entry

# By Unicode's category. What cannot be seen or turns text around is part of names in some scripts.
_UNWANTED = {
    "Cc": "a control character",
    "Cs": "half of a character",
    "Zl": "a line break",
    "Zp": "a line break",
}


def check_name(word: str, name: object) -> None:
    """Refuse a name that no store, file or line of a table can hold as it is.

    Parameters
    ----------
    word
        What is called so, such as "pipeline".

    Examples
    --------
    >>> check_name("pipeline", "svm (réglé)")
    """
    for letter in name if isinstance(name, str) else "":
        kind = _UNWANTED.get(unicodedata.category(letter))
        if kind is not None:
            with entry("name"):
                raise InvalidInput(
                    f"a {word} is called {name!r}, with {kind} ({letter!r})",
                    "Give it a name without, in one line",
                )


def check_names(word: str, names: Sequence[object]) -> None:
    """Refuse empty names, and names that several parts of a study share."""
    for place, name in enumerate(names):
        with entry(word, place, "name"):
            if not (isinstance(name, str) and name.strip()):
                raise InvalidInput(f"a {word} is called {name!r}", "Give it a name, as text")
            if name in names[:place]:
                raise InvalidInput(
                    f"more than one {word} is called {name}", "Give each a name of its own"
                )
