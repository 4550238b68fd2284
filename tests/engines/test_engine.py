"""Which engine an address means, and errors in one line."""

import pytest

from outperform.engines import InlineEngine, LocalEngine, open_engine
from outperform.engines.engine import summarize_error
from outperform.engines.local import count_cores
from outperform.errors import InvalidInput


def test_an_address_says_where_and_on_how_many_workers():
    assert isinstance(open_engine("inline"), InlineEngine)
    for address, n_workers in (("local", count_cores()), ("local:3", 3), ("local:12", 12)):
        with open_engine(address) as engine:
            assert isinstance(engine, LocalEngine)
            assert engine.n_workers == n_workers


@pytest.mark.parametrize(
    ("address", "options", "message"),
    [
        ("inline", {"gpus": 1}, "the engine 'inline' has no option 'gpus'. Leave it out."),
        ("local:2", {"gpu": 1}, "the engine 'local' has no option 'gpu'. Did you mean 'gpus'? It "
         "has: n_threads, gpus."),
        ("local", {"n_threads": "2"}, "n_threads is '2'. Give one thread at least."),
    ],
)  # fmt: skip
def test_options_that_an_engine_does_not_take_are_refused(address, options, message):
    with pytest.raises(InvalidInput) as caught:
        open_engine(address, options)
    assert str(caught.value) == message


def test_options_reach_the_engine():
    with open_engine("local:2", {"n_threads": 3}) as engine:
        assert isinstance(engine, LocalEngine)
        assert engine.n_threads == 3


KNOWN = (
    "Pass local, local:4 (four workers), inline, dask://HOST:PORT, ray://HOST:PORT or "
    "module:executor."
)


@pytest.mark.parametrize(
    ("address", "problem"),
    [
        ("local:0", "'local:0' does not say how many workers"),
        ("local:", "'local:' does not say how many workers"),
        ("local:many", "'local:many' does not say how many workers"),
        ("slurm://head", "there is no engine 'slurm://head'"),
        ("", "there is no engine ''"),
    ],
)
def test_other_addresses_are_refused_with_those_that_are_known(address, problem):
    with pytest.raises(InvalidInput) as caught:
        open_engine(address)
    assert str(caught.value) == f"{problem}. {KNOWN}"


@pytest.mark.parametrize(
    ("error", "summary"),
    [
        ("Traceback (most recent call last):\n  File \"x.py\"\n    fit()\nValueError: a\n  b\nc",
         "ValueError: a"),
        ("Traceback (most recent call last):\n  File \"x.py\"\nKeyError: 1\n\nDuring handling of "
         "the above exception, another exception occurred:\n\nTraceback (most recent call last):\n"
         "  File \"y.py\"\n    ~~~^^^\nmodule.Wrong: 2", "module.Wrong: 2"),
        ("Traceback (most recent call last):\n  File \"x.py\"\nCommandFailed: it said:\n"
         "  Traceback (most recent call last):\n    File \"z.py\"\n  OSError: disk\nMend it.",
         "OSError: disk"),
        ("the worker was killed by SIGSEGV\nFatal Python error: Segmentation fault\n\nCurrent "
         "thread", "the worker was killed by SIGSEGV"),
        ("InvalidInput: no data. Give some.", "InvalidInput: no data. Give some"),
        ("killed after 1 s, the time limit of a fit", "killed after 1 s, the time limit of a fit"),
        ("Traceback (most recent call last):", "Traceback (most recent call last):"),
        ("", "unknown"),
        (None, "unknown"),
    ],
)  # fmt: skip
def test_an_error_is_summarized_in_one_line(error, summary):
    assert summarize_error(error) == summary
