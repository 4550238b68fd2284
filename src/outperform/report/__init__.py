"""Results as one plain HTML file that needs nothing else: to read, to send, to print."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from outperform.errors import InvalidInput

__all__ = ["write_report"]


def write_report(
    results: Any,
    path: str | Path,
    *,
    title: str = "Report",
    about: Sequence[str] = (),
) -> None:
    """Write results with their tables, caveats and figures; the same results give the same bytes.

    Parameters
    ----------
    results
        Whatever can be drawn (see `outperform.plot`), one or several, in the order in which they
        are to be read.
    path
        The HTML file; it refers to no other file and asks nothing of the network.
    about
        Paragraphs on how the results came about.
    """
    from outperform.report.page import render_report  # it imports all kinds of results

    path = Path(path)
    listed = list(results) if isinstance(results, Sequence) else [results]
    if not listed:
        raise InvalidInput("there are no results to report", "Pass at least one")
    page = render_report(listed, title=title, about=about)
    try:
        path.write_text(page, encoding="utf-8")
    except OSError as error:
        raise InvalidInput(
            f"cannot write '{path}': {error.strerror}", "Choose a path where files may be written"
        ) from None
