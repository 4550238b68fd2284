"""Where a Dask scheduler is, and the certificates that it asks for."""

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from outperform.errors import InvalidInput
from outperform.wording import hide_logins

_PREFIX = "dask://"
_FILES = ("tls_ca_file", "tls_client_cert", "tls_client_key")
_MEND = "Give security a tls_ca_file, a tls_client_cert and a tls_client_key, in [engine.options]"


def read_address(address: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Words for `distributed.Client`, of an address and options as a study file writes them.

    Raises
    ------
    OSError
        Where a scheduler file is not there, for as long as the option `timeout` says.
    """
    from dask.utils import parse_timedelta

    place = address.removeprefix(_PREFIX)
    given = options.get("security")
    if address.startswith(_PREFIX) and place.startswith("/"):
        security = _read_security(given)
        found = _read_scheduler_file(Path(place), parse_timedelta(options["timeout"]))
    else:
        _check_place(address)
        security = _read_security(given)
        is_encrypted = given is not None or security.require_encryption
        found = f"{'tls' if is_encrypted else 'tcp'}://{place}"
    if found.startswith("tls:") and not _load_certificates(security):
        # Dask would end in a TypeError, and wait for the client that it was.
        raise InvalidInput(f"'{address}' is encrypted, and there are no certificates for it", _MEND)
    return {**options, "security": security, "address": found}


def _check_place(address: str) -> None:
    place = address.removeprefix(_PREFIX)
    host, _, port = place.rpartition(":")
    is_place = address.startswith(_PREFIX) and host and port.isdecimal()
    if not is_place or "/" in place or "@" in place:
        raise InvalidInput(
            f"'{hide_logins(address)}' does not say where the scheduler is",
            "Write dask://HOST:PORT, or dask:///path/scheduler.json for a scheduler file",
        )


def _read_scheduler_file(path: Path, patience: float) -> str:
    """Address of the scheduler; Dask itself would wait for the file for ever."""
    deadline = time.monotonic() + patience
    while True:
        try:
            return str(json.loads(path.read_bytes())["address"])
        except (OSError, ValueError, LookupError, TypeError) as error:
            if time.monotonic() > deadline:
                raise OSError(f"no scheduler has written this file ({error})") from error
        time.sleep(0.05)


def _read_security(given: Any) -> Any:
    """Certificates of a table, or of Dask's own object; else those of Dask's configuration."""
    from distributed.security import Security

    if isinstance(given, Security):
        return given
    if not isinstance(given, Mapping | None):
        raise InvalidInput("security in [engine.options] is no table", _MEND)
    try:
        return Security(**(given or {}))
    except (TypeError, ValueError) as error:
        raise _refuse(error) from error


def _load_certificates(security: Any) -> Any:
    """What encrypts; None where there is not all that it takes."""
    for word in _FILES:
        name = getattr(security, word)
        # Of several lines, it is the certificate itself.
        if isinstance(name, str) and "\n" not in name and not Path(name).is_file():
            raise InvalidInput(
                f"the {word} of security in [engine.options] is not there",
                f"Name it from / or from {Path.cwd()}",
            )
    try:
        return security.get_connection_args("client")["ssl_context"]
    except (OSError, TypeError, ValueError) as error:
        raise _refuse(error) from error


def _refuse(error: Exception) -> InvalidInput:
    return InvalidInput(f"security in [engine.options] is of no use: {error}", _MEND)
