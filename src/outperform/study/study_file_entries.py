"""Entries of a study file: words, kinds and names they may have, and the line of a refusal."""

import re
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from outperform.errors import InvalidInput, OutperformError
from outperform.wording import suggest_names

KeyPath = tuple[str | int, ...]  # keys, and places in arrays: ("pipeline", 0, "space", "lr")
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
# By Unicode's category. What cannot be seen or turns text around is part of names in some scripts.
_UNWANTED = {
    "Cc": "a control character",
    "Cs": "half of a character",
    "Zl": "a line break",
    "Zp": "a line break",
}
_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_KEY = re.compile(r"""[ \t]*([A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')[ \t]*""")
# The longest kinds of text come first; a text in three quotes may end in up to five of them.
_SCALAR = re.compile(
    r'"{3}(?:[^\\]|\\.)*?"{3,5}'
    r"|'{3}.*?'{3,5}"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'[^'\n]*'"
    r"|[^,\]}#\n]+",
    re.DOTALL,
)


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
    """Refuse words that `kinds` does not have, and values of the wrong kind."""
    for word, value in table.items():
        if word not in kinds:
            problem, remedy = f"{of} has an unknown word {word!r}", suggest_names(word, list(kinds))
            raise InvalidInput(problem, remedy, where=(word,))
        check_kind(word, value, kinds[word])


def check_kind(word: str, value: Any, kind: Kind) -> None:
    """Refuse a value of the wrong kind, and one that is empty; lists are lists of texts."""
    if kind is None:
        return
    wanted = kind if isinstance(kind, tuple) else (kind,)
    wanted = (*wanted, int) if float in wanted else wanted
    # By the very type: in Python true is a whole number, in a study file it is not.
    if type(value) not in wanted or value in ("", []):
        remedy = _REMEDIES[kind].format(word=word)
        raise InvalidInput(f"{word} is {_show(value)}", remedy, where=(word,))
    for place, name in enumerate(value if isinstance(value, list) else ()):
        if not isinstance(name, str) or not name:
            remedy = "Write it as a text, in quotes"
            raise InvalidInput(f"{word} holds {_show(name)}", remedy, where=(word, place))


def find_kind(
    what: str, options: Mapping[str, Any], known: Mapping[str, Any], words: Mapping[str, Kind]
) -> str:
    """Kind of a design or split, refusing at once a word that was meant to say it."""
    if "kind" not in options:
        check_words(options, {"kind": str, **words}, of=f"the {what}")
        raise InvalidInput(f"the {what} has no kind", f"Give it one of {', '.join(known)}")
    kind: str = options["kind"]
    check_kind("kind", kind, str)
    if kind not in known:
        remedy = suggest_names(kind, list(known))
        raise InvalidInput(f"there is no {what} {kind!r}", remedy, where=("kind",))
    return kind


def check_name(word: str, name: object) -> None:
    """Refuse a name that no store, file or line of a table can hold as it is."""
    for letter in name if isinstance(name, str) else "":
        kind = _UNWANTED.get(unicodedata.category(letter))
        if kind is not None:
            raise InvalidInput(
                f"a {word} is called {name!r}, with {kind} ({letter!r})",
                "Give it a name without, in one line",
                where=("name",),
            )


def check_names(word: str, names: Sequence[object]) -> None:
    """Refuse empty names, and names that several parts of a study share."""
    for place, name in enumerate(names):
        where = (word, place, "name")
        if not (isinstance(name, str) and name.strip()):
            problem, remedy = f"a {word} is called {name!r}", "Give it a name, as text"
            raise InvalidInput(problem, remedy, where=where)
        if name in names[:place]:
            problem, remedy = (
                f"more than one {word} is called {name}",
                "Give each a name of its own",
            )
            raise InvalidInput(problem, remedy, where=where)


def _show(value: Any) -> str:
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else repr(value)


def find_lines(text: str) -> dict[KeyPath, int]:
    r"""Line of every table, key and element of an array, counted from 1.

    tomllib gives values without their places, so the text is walked once more. It has been parsed
    before, and is therefore known to be right: nothing is checked here.
    """
    walk = _Walk(text)
    walk.read_document()
    return walk.lines


def find_line(text: str, path: KeyPath) -> int | None:
    """Line of a key or, where it is missing, of the nearest table around it; None: the text."""
    try:
        lines = find_lines(text)
    except RecursionError:  # it is deep in something that no study has
        return None
    while path and path not in lines:
        path = path[:-1]
    return lines.get(path)


class _Walk:
    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.lines: dict[KeyPath, int] = {}
        self.sizes: dict[KeyPath, int] = {}  # of arrays of tables, as far as they were met

    def read_document(self) -> None:
        table: KeyPath = ()
        self._match(_BLANK)
        while self.position < len(self.text):
            if self._next() == "[":
                table = self._read_header()
            else:
                self._read_pair(table)
            self._match(_BLANK)

    def _read_header(self) -> KeyPath:
        line = self._line()
        in_array = self.text.startswith("[[", self.position)
        self.position += 1 + in_array
        *parents, last = self._read_key()
        self.position += 1 + in_array
        path: KeyPath = ()
        for key in parents:
            path = self._enter((*path, key))
            self.lines.setdefault(path, line)
        path = (*path, last)
        if in_array:
            self.sizes[path] = self.sizes.get(path, 0) + 1
            self.lines.setdefault(path, line)
        path = self._enter(path)
        self.lines.setdefault(path, line)
        return path

    def _enter(self, path: KeyPath) -> KeyPath:
        """The table itself or, of an array of tables, the last one so far."""
        return (*path, self.sizes[path] - 1) if path in self.sizes else path

    def _read_pair(self, table: KeyPath) -> None:
        line = self._line()
        path = table
        for key in self._read_key():
            path = (*path, key)
            self.lines.setdefault(path, line)
        self.position += 1  # the equals sign
        self._match(_BLANK)
        self._read_value(path)

    def _read_value(self, path: KeyPath) -> None:
        opening = self._next()
        if opening not in ("{", "["):
            self._match(_SCALAR)
            return
        self.position += 1
        self._match(_BLANK)
        place = 0
        while self._next() not in ("}", "]"):
            if opening == "{":
                self._read_pair(path)
            else:
                self.lines[*path, place] = self._line()
                self._read_value((*path, place))
            place += 1
            self._match(_BLANK)
            if self._next() == ",":
                self.position += 1
                self._match(_BLANK)
        self.position += 1

    def _read_key(self) -> list[str]:
        keys = [_unquote(self._match(_KEY))]
        while self._next() == ".":
            self.position += 1
            keys.append(_unquote(self._match(_KEY)))
        return keys

    def _match(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self.text, self.position)
        assert match is not None, f"not TOML at line {self._line()}"
        self.position = match.end()
        return match[0]

    def _next(self) -> str:
        return self.text[self.position : self.position + 1]

    def _line(self) -> int:
        return self.text.count("\n", 0, self.position) + 1


def _unquote(key: str) -> str:
    key = key.strip(" \t")
    return str(tomllib.loads(f"key = {key}")["key"]) if key[0] in "\"'" else key
