"""Print one table of ratios: ours to theirs, measured in turns, in one run.

To add a row, add a `Contest` to the file of its topic. Nothing here is asserted by a test: on a
busy machine ratios move. The exit status is 0 however they turn out.

    python bench/run.py --peers .venv-peers/bin/python --only reading
"""

import argparse
import os
import platform
from collections import Counter
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path

import aggregates
import auditing
import best_of_n
import clusters
import comparison
import peers
import ranking
import reading
import running
import simulation
import sota
import startup
import surrogates
from timing import Contest, Measured, NotMeasured

HEADER = ("what", "against", "ours", "theirs", "ratio", "target", "")
WIDTHS = (10, 10, 8, 7)  # of the columns after the first two


def list_contests(peers_python: Path | None, word: str) -> list[Contest]:
    """Collect every topic's rows, or those of a topic or with a text that holds the word."""
    topics = {
        "comparison": comparison.CONTESTS,
        "auditing": auditing.CONTESTS,
        "best of n": best_of_n.CONTESTS,
        "startup": startup.CONTESTS,
        "reading": reading.CONTESTS,
        "running": running.CONTESTS,
        "clusters": clusters.CONTESTS,
        "simulation": simulation.CONTESTS,
        "sota": sota.CONTESTS,
        "surrogates": surrogates.CONTESTS,
        "ranking": ranking.contests(peers_python),
        "aggregates": aggregates.contests(peers_python),
        "peers": peers.contests(peers_python),
    }
    return [
        contest
        for topic, contests in topics.items()
        for contest in contests
        if word.lower() in f"{topic} {contest.what} {contest.against}".lower()
    ]


def describe_machine() -> str:
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "pandas"))
    load = os.getloadavg()[0]
    return (
        f"{os.cpu_count()} cores ({platform.machine()}), load {load:.1f}, "
        f"Python {platform.python_version()}, {packages}"
    )


def format_amount(amount: float, unit: str) -> str:
    if unit == "MB":
        return f"{amount:.0f} MB"
    for factor, name in ((1, "s"), (1e3, "ms")):
        if amount * factor >= 1:
            return f"{amount * factor:.3g} {name}"
    return f"{amount * 1e6:.3g} µs"


def format_ratio(ratio: float) -> str:
    if ratio > 0.5:
        return f"{ratio:.2f}"
    return f"1/{1 / ratio:.1f}" if ratio > 0.01 else f"1/{1 / ratio:,.0f}"


def judge(measured: Measured, at_most: Fraction | None) -> str:
    if at_most is None:
        return "no target"
    return "met" if measured.ours <= at_most * measured.theirs else "MISSED"


def format_row(cells: tuple[str, ...], width_what: int, width_against: int) -> str:
    widths = (width_what, width_against)
    texts = [f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=False)]
    figures = [f"{cell:>{width}}" for cell, width in zip(cells[2:], WIDTHS, strict=False)]
    return "  ".join([*texts, *figures, *cells[6:]]).rstrip()


def run_contest(contest: Contest) -> tuple[tuple[str, ...], str]:
    """Cells of the row, and its outcome for the count at the end."""
    try:
        measured = contest.measure()
    except Exception as error:  # one broken row must not cost the others
        reason = str(error) if isinstance(error, NotMeasured) else repr(error)
        return (contest.what, contest.against, f"not measured: {reason}"), "not measured"
    outcome = judge(measured, contest.at_most)
    ours, theirs = (format_amount(x, measured.unit) for x in (measured.ours, measured.theirs))
    ratio = format_ratio(measured.ours / measured.theirs)
    target = "" if contest.at_most is None else f"<= {contest.at_most}"
    remark = f"{outcome} ({measured.note})" if measured.note else outcome
    return (contest.what, contest.against, ours, theirs, ratio, target, remark), outcome


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure speed and memory as ratios.")
    parser.add_argument("--peers", type=Path, help="the Python that the peers are installed in")
    parser.add_argument("--only", default="", metavar="WORD", help="rows or topics with this word")
    arguments = parser.parse_args()
    contests = list_contests(arguments.peers, arguments.only)
    if not contests:
        parser.error(f"no row or topic has the word {arguments.only!r}")
    widths = [max(len(c.what) for c in contests), max(len(c.against) for c in contests)]
    print(describe_machine(), end="\n\n")
    print(format_row(HEADER, *widths))
    outcomes: Counter[str] = Counter()
    for contest in contests:
        cells, outcome = run_contest(contest)
        outcomes[outcome] += 1
        print(format_row(cells, *widths), flush=True)
    others = [f"{outcomes[o]} {o}" for o in ("no target", "not measured") if outcomes[o]]
    print(
        "", ", ".join([f"{outcomes['met']} met", f"{outcomes['MISSED']} missed", *others]), sep="\n"
    )


if __name__ == "__main__":
    main()
