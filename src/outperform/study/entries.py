"""Tables of a study file: which words they may have, of which kind, and where a refusal belongs."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from outperform.errors import InvalidInput, OutperformError
from outperform.wording import suggest_names

Kind = type | tuple[type, ...] | None  # None: anything, as it is checked elsewhere

# What to write instead of a value of another kind.
_REMEDIES: dict[type | tuple[type, ...], str] = {
    str: 'Write a text: {word} = "..."',
    bool: "Write true or false",
    int: "Write a whole number",
    float: "Write a number",
    dict: "Write a table: {word} = {{...}}",
    list: 'List names, {word} = ["init"], or leave it out',
    (str, dict): 'Write a text, {word} = "...", or a table, {word} = {{...}}',
    (str, list): 'Write a text, {word} = "...", or a list of them, {word} = ["...", "..."]',
}


@contextmanager
def entry(*path: str | int) -> Iterator[None]:
    """Say of everything refused inside to which entry of a study file it belongs.

    Examples
    --------
    >>> try:
    ...     with entry("pipeline", 0), entry("space", "lr"):
    ...         raise InvalidInput("low is 2 and high is 1", "Make low smaller")
    ... except InvalidInput as error:
    ...     error.where
    ('pipeline', 0, 'space', 'lr')
    """
    try:
        yield
    except OutperformError as error:
        error.where = (*path, *error.where)
        raise


def check_words(table: Mapping[str, Any], kinds: Mapping[str, Kind], *, of: str) -> None:
    """Refuse words that a table does not have, and values of the wrong kind.

    Parameters
    ----------
    kinds
        The words that it may have, and what each may be.
    of
        What the table is, for messages: "the task".
    """
    for word in table:
        with entry(word):
            if word not in kinds:
                problem = f"{of} has an unknown word {word!r}"
                raise InvalidInput(problem, suggest_names(word, list(kinds)))
            check_kind(word, table[word], kinds[word])


def check_kind(word: str, value: Any, kind: Kind) -> None:
    """Refuse a value of the wrong kind, and one that is empty; lists are lists of texts."""
    if kind is None:
        return
    wanted = kind if isinstance(kind, tuple) else (kind,)
    wanted = (*wanted, int) if float in wanted else wanted
    # By the very type: in Python true is a whole number, in a study file it is not.
    if type(value) not in wanted or value in ("", []):
        raise InvalidInput(f"{word} is {_show(value)}", _REMEDIES[kind].format(word=word))
    for place, name in enumerate(value if isinstance(value, list) else ()):
        if not isinstance(name, str) or not name:
            with entry(place):
                raise InvalidInput(f"{word} holds {_show(name)}", "Write it as a text, in quotes")


def _show(value: Any) -> str:
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else repr(value)
