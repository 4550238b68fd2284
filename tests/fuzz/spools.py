"""Spools: files damaged or put there by anybody. Nothing is believed that no worker has written."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import strategies as st

from outperform.runner.spool import FitReport, Spool, name_file, write_report
from tests.fuzz.harness import Escape, Target
from tests.fuzz.nasty import damage

KEY = "0123456789abcdef" * 2
REPORTS = (
    FitReport(KEY, {"valid": 0.625, "test": -1e-300}, None, 12.5, 1.7e9, {"numpy": "2.1", "é": ""}),
    FitReport(KEY, {}, "Traceback ...\nValueError: no luck", 0.0, 1.7e9, {}),
)
WORDS = (
    *("null", "[]", "{}", "1e999", "-0.0", "NaN", "-Infinity", "true", '""', "9" * 5000),
    *('{"test":1}', '{"test":null}', '[["test",1.0]]', "[" * 5000, '"\\ud800"', "0.625"),
)


@cache
def write(report: int) -> bytes:
    with TemporaryDirectory() as folder:
        write_report(folder, REPORTS[report])
        return name_file(folder, KEY).read_bytes()


@st.composite
def damaged_reports(draw: st.DrawFn) -> bytes:
    content = write(draw(st.integers(0, len(REPORTS) - 1)))
    if draw(st.booleans()):
        word = draw(st.sampled_from(["0.625", "12.5", "1700000000.0", '"2.1"', "{}", '"valid"']))
        content = content.replace(word.encode(), draw(st.sampled_from(WORDS)).encode())
    return draw(damage(content))


def attempt(case: bytes, folder: Path) -> bool:
    path = name_file(folder, KEY)
    path.write_bytes(case)
    report = Spool(folder).take(KEY, failed=True)
    if report is not None and report not in REPORTS:
        raise Escape(f"{report} was believed")
    if (report is None) == path.exists():
        raise Escape("what was not believed is still there, or what was is not")
    return report is not None


TARGET = Target("spools", damaged_reports(), attempt)
