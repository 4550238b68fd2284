"""Commands get their arguments untouched, say what went wrong, and leave no process behind."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from outperform.errors import InvalidInput, InvalidScores, OutperformError
from outperform.study.command_pipeline import CommandPipeline
from outperform.study.spaces import Choices, Integers, LogUniform, Uniform
from outperform.study.splits import Split

SEEDS = {"split": 1, "init": 2, "order": 3, "hpo": 4}


def python(code: str, *arguments: str) -> list[str]:
    """Command that runs Python code; its braces are doubled, as in any template."""
    return [sys.executable, "-c", code.replace("{", "{{").replace("}", "}}"), *arguments]


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_until(condition, seconds=20.0) -> bool:
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


def test_every_placeholder_is_filled_in():
    template = (
        "run --lr={lr} {n} {kind}-{on} {seed.split} {seed.init} {fold} {refit} {lr:.2e} {{x}} {out}"
    )
    space = {
        "lr": LogUniform(1e-4, 1),
        "n": Integers(1, 9),
        "kind": Choices(["a", "b"]),
        "on": Choices([True, False]),
    }
    values = {"lr": 0.001, "n": 3, "kind": "b", "on": True, "fold": 2, "refit": False, "out": "/o"}
    filled = CommandPipeline("net", template, space).fill(
        values | {"seed.split": 1, "seed.init": 2}
    )
    expected = "run --lr=0.001 3 b-true 1 2 2 false 1.00e-03 {x} /o"
    assert filled == expected.split()


def test_scores_from_the_file_and_from_the_last_line():
    written = "import sys; open(sys.argv[1], 'w').write('{\"valid\": 0.5, \"test\": 0.25}')"
    assert CommandPipeline("net", python(written, "{out}")).fit({}, None, SEEDS, None) == {
        "valid": 0.5,
        "test": 0.25,
    }
    printed = 'print(\'epoch 1\'); print(\'{"test": 0.75, "epochs": 9, "note": "x"}\'); print()'
    scores = CommandPipeline("net", python(printed)).fit({}, None, SEEDS, None)
    assert scores == {"test": 0.75, "epochs": 9.0}


NASTY = [
    "a b",
    "'",
    '"',
    "; touch hacked",
    "$(touch hacked)",
    "`id`",
    "*",
    "~",
    "{out}",
    "-x",
    "",
    "é\n\\",
]


def test_a_value_stays_one_argument_whatever_it_holds(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    echo = (
        "import json, sys; open(sys.argv[1], 'w').write('{\"test\": 1.0}')\n"
        "json.dump(sys.argv[3:], open(sys.argv[2], 'w'))"
    )
    for value in NASTY:
        template = python(echo, "{out}", str(tmp_path / "seen"), "{word}", "x={word}")
        pipeline = CommandPipeline("net", template, {"word": Choices([value])})
        pipeline.fit({"word": value}, None, SEEDS, None)
        seen = json.loads((tmp_path / "seen").read_text())
        assert seen == [value, f"x={value}"]
    assert not (tmp_path / "hacked").exists()


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])))
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_filling_in_never_adds_an_argument(value):
    pipeline = CommandPipeline("net", "run --word {word} x{word}", {"word": Choices(["a"])})
    assert pipeline.fill({"word": value}) == ["run", "--word", value, f"x{value}"]


@pytest.mark.parametrize("as_list", [True, False])
def test_a_text_is_split_like_a_shell_would(as_list):
    text = "run 'two words' --lr {lr}"
    template = ["run", "two words", "--lr", "{lr}"] if as_list else text
    pipeline = CommandPipeline("net", template, {"lr": Uniform(0, 1)})
    assert pipeline.fill({"lr": 0.5}) == ["run", "two words", "--lr", "0.5"]
    listed = CommandPipeline("net", ["run", "two words", "--lr", "{lr}"], {"lr": Uniform(0, 1)})
    assert pipeline.fingerprint == listed.fingerprint


@pytest.mark.parametrize(
    ("template", "message"),
    [
        (
            "run {lr} {learning}",
            "the command of pipeline 'net' has the unknown placeholder {learning}. It has: lr, "
            "seed.split, seed.init, seed.order, seed.augmentation, seed.dropout, task, fold and 3 "
            "more.",
        ),
        (
            "run {lr} {seed.ini}",
            "the command of pipeline 'net' has the unknown placeholder {seed.ini}. Did you mean "
            '{seed.init}? Otherwise declare it as a source of your own: sources = ["ini"].',
        ),
        (
            "run {lr} {seed.hpo}",
            "the command of pipeline 'net' has the unknown placeholder {seed.hpo}. ",
        ),
        (
            "run {lr} {}",
            "the command of pipeline 'net' has the unknown placeholder {}. It has: lr, ",
        ),
        (
            "run {lr} {lr.__class__}",
            "the command of pipeline 'net' has the unknown placeholder {lr.__class__}. ",
        ),
        (
            "run {lr!r}",
            "the argument '{lr!r}' of pipeline 'net' is more than a placeholder. Write {name} or "
            "{name:.4f}.",
        ),
        (
            "run {lr:{lr}}",
            "the argument '{lr:{lr}}' of pipeline 'net' is more than a placeholder. ",
        ),
        (
            "run {lr",
            "cannot read the argument '{lr' of pipeline 'net': expected '}' before end of string. "
            "Write a placeholder as {name}, and a brace as {{ or }}.",
        ),
        (
            "run",
            "pipeline 'net' searches 'lr', but its command never passes it on. Put {lr} into the "
            "command, or take it out of the space.",
        ),
        ("", "pipeline 'net' has an empty command. Name the program to run."),
        ("run 'x", "cannot split the command of pipeline 'net': No closing quotation. Close the"),
        (["run", 3], "the command of pipeline 'net' holds 3. Write it as text."),
    ],
)
def test_bad_templates_are_refused_at_construction(template, message):
    with pytest.raises(InvalidInput) as caught:
        CommandPipeline("net", template, {"lr": LogUniform(1e-4, 1)})
    assert str(caught.value).startswith(message)


def test_a_hyperparameter_may_not_be_called_like_a_placeholder():
    with pytest.raises(InvalidInput, match="hyperparameter called 'out', which stands for"):
        CommandPipeline("net", "run {out}", {"out": Uniform(0, 1)})


def test_it_honours_the_seeds_it_passes_on():
    assert CommandPipeline("net", "run {seed.init} {seed.split}").sources == ("init", "split")
    declared = CommandPipeline("net", "run {seed.init} {seed.mine}", sources=("mine",))
    assert declared.sources == ("init", "mine")
    assert CommandPipeline("net", "run").sources == ()


def test_a_source_declared_must_be_passed_on():
    with pytest.raises(InvalidInput) as caught:
        CommandPipeline("net", "run {seed.init}", sources=("init", "order"))
    assert str(caught.value) == (
        "pipeline 'net' declares the source 'order', but its command never passes on that seed. "
        "Put {seed.order} into the command, or take 'order' out of sources."
    )


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("bagging", "Declare it"),
        ("inti", "Did you mean {seed.init}? Otherwise declare it"),
    ],
)
def test_an_own_source_is_declared(name, remedy):
    with pytest.raises(InvalidInput) as caught:
        CommandPipeline("net", f"run {{seed.{name}}}")
    assert str(caught.value) == (
        f"the command of pipeline 'net' has the unknown placeholder {{seed.{name}}}. {remedy} as "
        f'a source of your own: sources = ["{name}"].'
    )


def test_it_is_told_what_it_asks_for():
    code = "import sys; assert sys.argv[1:] == ['sea horses', 'true', '3']; print('{\"test\": 1}')"
    pipeline = CommandPipeline("net", python(code, "{task}", "{refit}", "{fold}"))
    assert pipeline.asks == ("task", "fold", "refit")
    scores = pipeline.fit({}, None, SEEDS, None, task="sea horses", fold=3, refit=True)
    assert scores == {"test": 1.0}
    assert CommandPipeline("net", "run {seed.init}").asks == ()


def test_a_missing_seed_is_named():
    with pytest.raises(InvalidInput) as caught:
        CommandPipeline("net", "run {seed.dropout}").fit({}, None, SEEDS, None)
    assert str(caught.value) == (
        "the command of pipeline 'net' needs {seed.dropout}, which this fit has not. Add it to "
        "the study's sources or hyperparameters."
    )


def run_and_fail(code: str, error: type[OutperformError] = OutperformError) -> str:
    with pytest.raises(error) as caught:
        CommandPipeline("net", python(code)).fit({}, None, SEEDS, None)
    return str(caught.value)


def test_a_failing_command_shows_itself_its_status_and_its_last_words():
    message = run_and_fail(
        "import sys\nfor i in range(30): print('line', i, file=sys.stderr)\nsys.exit(3)"
    )
    assert message.startswith(f"`{sys.executable} -c 'import sys")
    assert "` ended with 3; its last lines of stderr:\nline 20\n" in message
    assert message.endswith("line 29. Run it by hand to see what it says.")
    assert "line 19" not in message


def test_other_failures_are_as_clear():
    killed = run_and_fail("import os; os.kill(os.getpid(), 9)")
    assert "` was ended by SIGKILL. Run it by hand" in killed
    silent = run_and_fail("pass")
    assert "` left no scores. Let it write JSON to {out}, or print it last." in silent
    wrong = run_and_fail("print('accuracy 0.9')")
    assert "` printed last 'accuracy 0.9', which is not JSON. Let it write or print" in wrong
    half = "import sys; open(sys.argv[1], 'w').write('{\"test\": 0.')"
    with pytest.raises(OutperformError, match=r"wrote to scores\.json '\{\"test\": 0\.', which is"):
        CommandPipeline("net", python(half, "{out}")).fit({}, None, SEEDS, None)


@pytest.mark.parametrize(
    ("printed", "message"),
    [
        ("[1]", "pipeline 'net' returned [1], not scores. "),
        ('{"acc": 1}', "pipeline 'net' returned no 'valid' or 'test', but 'acc'. "),
        ('{"test": NaN}', "pipeline 'net' returned nan as its 'test' score. "),
    ],
)
def test_json_that_holds_no_scores(printed, message):
    assert run_and_fail(f"print({printed!r})", InvalidScores).startswith(message)


def test_the_score_asked_for_must_be_there():
    nothing = np.empty(0, dtype=np.int64)
    search = Split(np.arange(3), np.arange(3, 5), nothing)
    pipeline = CommandPipeline("net", python("print('{\"test\": 1}')"))
    with pytest.raises(InvalidScores, match="returned no 'valid', but 'test'"):
        pipeline.fit({}, search, SEEDS, None)
    assert pipeline.fit({}, None, SEEDS, None, refit=True) == {"test": 1.0}


def test_a_program_that_is_not_there():
    with pytest.raises(OutperformError) as caught:
        CommandPipeline("net", "no-such-program 'a b'").fit({}, None, SEEDS, None)
    assert str(caught.value) == (
        "cannot run `no-such-program 'a b'`: No such file or directory. Check that the program is "
        "installed, and its path."
    )


def test_much_output_is_no_trouble():
    code = (
        "import sys\nfor i in range(20000): print('x' * 100); print('y' * 100, file=sys.stderr)\n"
        "print('{\"test\": 1}')"
    )
    assert CommandPipeline("net", python(code)).fit({}, None, SEEDS, None) == {"test": 1.0}


def test_much_output_makes_no_long_message():
    message = run_and_fail("import sys; sys.exit('begins ' * 1_000_000 + 'ends')")
    assert len(message) < 6_000
    assert "characters cut]\n" in message
    assert message.endswith("begins ends. Run it by hand to see what it says.")
    much = "import sys; open(sys.argv[1], 'w').write('[' * 2_000_000)"
    with pytest.raises(OutperformError) as caught:
        CommandPipeline("net", python(much, "{out}")).fit({}, None, SEEDS, None)
    assert str(caught.value).endswith(
        "` wrote 2,000,000 bytes to scores.json. Let it write its scores only, and anything else "
        "elsewhere."
    )


def test_a_child_that_lives_on_does_not_keep_us_waiting_and_is_killed():
    code = (
        "import subprocess\np = subprocess.Popen(['sleep', '30'])\n"
        'print(\'{"test": 1, "pid": %d}\' % p.pid)'
    )
    start = time.monotonic()
    scores = CommandPipeline("net", python(code)).fit({}, None, SEEDS, None)
    assert time.monotonic() - start < 20
    assert wait_until(lambda: not is_alive(int(scores["pid"])))


FAMILY = """
import os, subprocess, sys, time
child = subprocess.Popen(['sleep', '300'])
with open(sys.argv[1] + '.part', 'w') as file: file.write(f'{os.getpid()} {child.pid}')
os.rename(sys.argv[1] + '.part', sys.argv[1])
time.sleep(300)
"""
WORKER = """
import sys
from outperform.study.command_pipeline import CommandPipeline
CommandPipeline('net', [sys.executable, '-c', sys.argv[1], sys.argv[2]]).fit({}, None, {}, None)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks at processes in /proc")
def test_the_whole_family_dies_with_this_process(tmp_path, number):
    pids = tmp_path / "pids"
    template = python(FAMILY)[2]
    worker = subprocess.Popen(
        [sys.executable, "-c", WORKER, template, str(pids)],
        env=os.environ | {"TMPDIR": str(tmp_path)},
        stderr=subprocess.DEVNULL,
    )
    assert wait_until(pids.exists)
    program, child = map(int, pids.read_text().split())
    assert is_alive(program)
    assert is_alive(child)
    try:
        worker.send_signal(number)
        worker.wait(timeout=20)
        assert wait_until(lambda: not is_alive(program) and not is_alive(child))
        assert wait_until(lambda: not list(tmp_path.glob("outperform-*")))
    finally:
        for pid in (worker.pid, child, program):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        worker.wait()


def test_the_fingerprint_is_the_template():
    one = CommandPipeline("net", "run {seed.init} --depth 3")
    assert (
        CommandPipeline("other", ["run", "{seed.init}", "--depth", "3"]).fingerprint
        == one.fingerprint
    )
    assert CommandPipeline("net", "run {seed.init} --depth 4").fingerprint != one.fingerprint
    assert one.fingerprint == "97c5790224dc5d5468b0fb1c5b6d2dc4"


def test_the_split_is_a_file_that_any_language_reads():
    code = (
        "import json, sys; sets = json.load(open(sys.argv[1])); n = len(sets['valid'])\n"
        "print(json.dumps({'test': sets['test'][0], 'first': sets['train'][0], 'n': n}))"
    )
    pipeline = CommandPipeline("net", python(code, "{split}"))
    assert pipeline.sources == ("split",)
    assert pipeline.gets_split
    split = Split(np.array([7, 3, 3]), np.array([1, 2]), np.array([0]))
    scores = pipeline.fit({}, split, SEEDS, None)
    assert scores == {"test": 0.0, "first": 7.0, "n": 2.0}
    # The final fit trains on validation data too.
    assert pipeline.fit({}, split.refit(), SEEDS, None, refit=True)["n"] == 0


def test_only_a_command_that_asks_gets_the_split():
    pipeline = CommandPipeline(
        "net", "run {seed.split} {split_size}", {"split_size": Uniform(0, 1)}
    )
    assert not pipeline.gets_split
    assert pipeline.sources == ("split",)
    assert CommandPipeline("net", "run {split}", sources=("split",)).sources == ("split",)
