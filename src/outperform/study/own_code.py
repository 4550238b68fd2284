"""The person's own code, called in this process: whatever it ends in becomes a refusal."""

from collections.abc import Iterator
from contextlib import contextmanager

from outperform.errors import InvalidInput, OutperformError


@contextmanager
def refuse_failures(what: str, remedy: str) -> Iterator[None]:
    """Refuse what the code inside raises, `sys.exit` too; only Ctrl-C gets through.

    Parameters
    ----------
    what
        What is called, for messages: "the function load".

    Examples
    --------
    >>> with refuse_failures("the function load", "Mend it"):
    ...     raise SystemExit(1)
    Traceback (most recent call last):
        ...
    outperform.errors.InvalidInput: the function load fails (it calls sys.exit). Mend it.
    """
    try:
        yield
    except (OutperformError, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise InvalidInput(f"{what} fails ({describe(error)})", remedy) from error


def describe(error: BaseException) -> str:
    """Kind and words of an exception, in one line.

    Examples
    --------
    >>> describe(ValueError("no luck")), describe(SystemExit())
    ('ValueError: no luck', 'it calls sys.exit')
    """
    if isinstance(error, SystemExit):
        return "it calls sys.exit"
    return f"{type(error).__name__}: {error}"
