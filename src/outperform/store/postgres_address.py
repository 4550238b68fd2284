"""The address of a PostgreSQL store: what the server's library gets of it, and what people see."""

import re
from dataclasses import dataclass, field
from urllib.parse import unquote

from outperform.errors import InvalidInput

DEFAULT_SCHEMA = "outperform"
_SCHEMA = re.compile(r"(?!pg_)[a-z_][a-z0-9_]{0,62}")
_SECRETS = {
    *("password", "sslpassword", "oauth_client_secret"),
    *("scram_client_key", "scram_server_key"),
}
# Narrower than PostgreSQL's own: an @, / or ? in a password that is not written as %40, %2F or %3F
# would make another part of the address of what follows, and messages would show it.
_FORM = re.compile(
    r"postgres(?:ql)?://"
    r"(?:(?P<user>[^:@/?]*)(?::(?P<password>[^@/?]*))?@)?"
    r"(?P<hosts>(?:\[[^]@/?]*\]|[^]:@/?,\[]*)(?::\d*)?(?:,(?:\[[^]@/?]*\]|[^]:@/?,\[]*)(?::\d*)?)*)"
    r"(?P<path>/[^@?]*)?"
    r"(?:\?(?P<query>[^@?]*))?"
)
_PARAMETER = re.compile(r"(?P<name>[a-z_]+)=(?P<value>.*)", re.DOTALL)
_UNCLEAR = InvalidInput(
    "this is no address of PostgreSQL (it is not shown, as it may hold a password)",
    "Write postgresql://USER@HOST/DATABASE, and @, :, / and ? in a name or a password as %40, %3A, "
    "%2F and %3F; a password is best kept in ~/.pgpass",
)


@dataclass(frozen=True, slots=True)
class PostgresAddress:
    """Where a store is, in a database that may hold several."""

    shown: str  # as everybody may see it, and as libpq takes it where it finds the password
    conninfo: str = field(repr=False)  # what libpq gets: all but the schema, as it was written
    schema: str  # where in the database the tables are
    parameters: frozenset[str]  # names of what the address sets, such as sslmode
    _secrets: tuple[str, ...] = field(repr=False)

    @property
    def for_psql(self) -> str:
        """The address as everybody may see it, without what only outperform knows."""
        return re.sub(r"([?&])schema=[^&]*&?", r"\1", self.shown).rstrip("?&")

    def holds_secret(self, text: str) -> bool:
        """Whether a text would give a password away."""
        return any(secret in text for secret in self._secrets)


def read_address(address: str) -> PostgresAddress:
    """Take an address apart: `postgresql://USER@HOST/DATABASE?schema=NAME&sslmode=require`.

    Examples
    --------
    >>> read_address("postgresql://me:secret@db/lab?sslpassword=pet&schema=mine").shown
    'postgresql://me@db/lab?schema=mine'
    """
    form = _FORM.fullmatch(address)
    if form is None:
        raise _UNCLEAR
    texts = form["query"].split("&") if form["query"] else []
    parameters = [_PARAMETER.fullmatch(text) for text in texts]
    if None in parameters:
        raise _UNCLEAR
    given = [(each["name"], each["value"]) for each in parameters if each is not None]
    user = "" if form["user"] is None else f"{form['user']}@"
    password = "" if form["password"] is None else f":{form['password']}"
    place = f"{form['hosts']}{form['path'] or ''}"
    shown = _join(f"{user}{place}", [each for each in given if each[0] not in _SECRETS])
    login = f"{user[:-1]}{password}@" if user or password else ""
    schema = dict(given).get("schema", DEFAULT_SCHEMA)
    if not _SCHEMA.fullmatch(schema):
        raise InvalidInput(
            f"the schema of '{shown}' is {schema!r}",
            "Name it with up to 63 lower-case letters, digits and underscores, as in schema=mnist",
        )
    written = [form["password"] or "", *(value for name, value in given if name in _SECRETS)]
    return PostgresAddress(
        shown,
        _join(f"{login}{place}", [each for each in given if each[0] != "schema"]),
        schema,
        frozenset(name for name, _ in given),
        tuple({text for each in written if each for text in (each, unquote(each))}),
    )


def _join(place: str, parameters: list[tuple[str, str]]) -> str:
    query = "&".join(f"{name}={value}" for name, value in parameters)
    return f"postgresql://{place}{'?' if query else ''}{query}"
