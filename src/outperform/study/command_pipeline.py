"""Pipelines in any language: a command that writes or prints its scores as JSON.

There is no shell: the template is a list of arguments, and what is filled in stays inside its
argument, whatever characters it holds. None of the command's processes is left behind.
"""

import json
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from string import Formatter
from tempfile import TemporaryDirectory
from typing import Any, NoReturn

from outperform.errors import InvalidInput, OutperformError
from outperform.processes import Watcher, kill_group, name_signal
from outperform.study.fingerprints import fingerprint, hash_text
from outperform.study.pipelines import FitContext, Pipeline
from outperform.study.sources import LEARNING_SOURCES, list_sources
from outperform.study.spaces import Params, Space, Value
from outperform.study.splits import Split
from outperform.study.study_file_entries import entry
from outperform.wording import cut_middle, find_near, suggest_names

_SETTINGS = ("task", "fold", "refit", "split", "out")
_SEED = "seed."
_N_LINES = 10  # of stderr that an error shows
_N_BYTES = 20_000  # read from the end of an output
_LONGEST_ENDING = 4_000  # characters of a command, and of its last lines, that an error shows
_LARGEST = 1_000_000  # bytes of a file of scores, or of a program


@dataclass(frozen=True, slots=True)
class CommandPipeline(Pipeline):
    """A command such as `python train.py --lr {lr} --seed {seed.init} --out {out}`.

    The template is a list of arguments, or a text that is split into them as a shell would.
    Placeholders: `{name}` of any hyperparameter, `{seed.init}` (and of every other source),
    `{task}`, its name, `{fold}`, `{refit}` (`true` for the final fit, on training and validation
    data together), `{split}`, a JSON file with the positions of the examples in each set,
    `{"train": [5, 0, ...], "valid": [...], "test": [...]}`, counted from 0, and `{out}`, a file to
    write JSON to. Formats as in Python, `{lr:.4f}`; a brace is doubled. The program writes
    `{"valid": 0.91, "test": 0.9}` to `{out}`, or prints it as its last line.

    Sources whose seed is in the template are honoured, and no others; `{split}` is as good as the
    seed of `split`. It runs in the folder given, a study file's own, or in the current one.
    """

    name: str
    template: str | Sequence[str]
    space: Space = field(default_factory=dict)
    sources: tuple[str, ...] = ()
    folder: str | None = None
    resources: Mapping[str, Any] = field(default_factory=dict, kw_only=True)
    fingerprint: str = field(init=False)
    asks: tuple[str, ...] = field(init=False, repr=False)  # of task, fold, refit, split, out

    def __post_init__(self) -> None:
        with entry("command"):
            template = _split_template(self.name, self.template)
        declared = list_sources(self.sources)
        used = self._find_placeholders(template, declared)
        seeded = [n.removeprefix(_SEED) for n in used if n == "split" or n.startswith(_SEED)]
        sources = tuple(dict.fromkeys(seeded))
        self._check_passed_on(used, declared, sources)
        asks = tuple(name for name in _SETTINGS if name in used)
        digest = fingerprint(template, sources)
        self._settle(template=template, asks=asks, sources=sources, fingerprint=digest)

    @property
    def gets_split(self) -> bool:
        """Whether it gets the split of a task with data, and not only its seed."""
        return "split" in self.asks

    def hash_files(self) -> dict[str, str]:
        """Hashes of the files in its own folder that the command names: its program, as a rule."""
        home, hashes = Path(self.folder or "."), {}
        for argument in self.template:
            with suppress(OSError, ValueError):  # what no file can be called
                file = home / argument
                if not Path(argument).is_absolute() and file.stat().st_size <= _LARGEST:
                    hashes[argument] = hash_text(file.read_bytes())
        return hashes

    def _train(
        self, params: Params, split: Split | None, seeds: Mapping[str, int], context: FitContext
    ) -> object:
        """Run the command; read the scores it writes or prints."""
        with TemporaryDirectory(prefix="outperform-") as folder:
            out = f"{folder}/scores.json"
            values: Params = {name: getattr(context, name) for name in ("task", "fold", "refit")}
            values |= {"out": out, **params, **{_SEED + name: seed for name, seed in seeds.items()}}
            if split is not None and self.gets_split:
                values["split"] = f"{folder}/split.json"  # which every language reads
                sets = {name: getattr(split, name).tolist() for name in ("train", "valid", "test")}
                Path(folder, "split.json").write_text(json.dumps(sets))
            return run_command(self.fill(values), folder=folder, out=out, home=self.folder)

    def fill(self, values: Mapping[str, Value]) -> list[str]:
        """Arguments with every placeholder filled in."""
        return [
            "".join(
                literal if name is None else literal + self._write(name, spec, values)
                for literal, name, spec in _parse(self.name, argument)
            )
            for argument in self.template
        ]

    def _write(self, name: str, spec: str, values: Mapping[str, Value]) -> str:
        if name not in values:
            raise InvalidInput(
                f"the command of pipeline {self.name!r} needs {{{name}}}, which this fit has not",
                "Add it to the study's sources or hyperparameters",
            )
        value = values[name]
        if isinstance(value, bool) and not spec:
            return "true" if value else "false"
        try:
            return format(value, spec) if spec else str(value)
        except ValueError as error:
            raise InvalidInput(
                f"cannot write {value!r} as {spec!r}: {error}", "Change the format"
            ) from None

    def _find_placeholders(self, template: Sequence[str], declared: Sequence[str]) -> list[str]:
        """Names of all placeholders; one that means nothing is refused."""
        seeds = [_SEED + name for name in dict.fromkeys([*LEARNING_SOURCES, *declared])]
        reserved = (*seeds, *_SETTINGS)
        for name in self.space:
            if name in reserved:
                raise InvalidInput(
                    f"pipeline {self.name!r} has a hyperparameter called {name!r}, which "
                    "stands for something else in a command",
                    "Choose another name",
                    where=("space", name),
                )
        known = [*self.space, *reserved]
        used: list[str] = []
        for place, argument in enumerate(template):
            with entry("command", place):
                names = [name for _, name, _ in _parse(self.name, argument) if name is not None]
                for name in names:
                    if name not in known:
                        raise InvalidInput(
                            f"the command of pipeline {self.name!r} has the unknown placeholder "
                            f"{{{name}}}",
                            _suggest(name, known),
                        )
            used += names
        return used

    def _check_passed_on(
        self, used: Sequence[str], declared: Sequence[str], seeded: Sequence[str]
    ) -> None:
        """Refuse hyperparameters and seeds that the program would never hear of."""
        for name in self.space:
            if name not in used:
                raise InvalidInput(
                    f"pipeline {self.name!r} searches {name!r}, but its command never passes it on",
                    f"Put {{{name}}} into the command, or take it out of the space",
                    where=("space", name),
                )
        for place, name in enumerate(declared):
            if name not in seeded:
                raise InvalidInput(
                    f"pipeline {self.name!r} declares the source {name!r}, but its command "
                    "never passes on that seed",
                    f"Put {{{_SEED}{name}}} into the command, or take {name!r} out of sources",
                    where=("sources", place),
                )


def _split_template(pipeline: str, template: str | Sequence[str]) -> tuple[str, ...]:
    try:
        arguments = shlex.split(template) if isinstance(template, str) else list(template)
    except ValueError as error:
        raise InvalidInput(
            f"cannot split the command of pipeline {pipeline!r}: {error}", "Close the quotes"
        ) from None
    wrong = [argument for argument in arguments if not isinstance(argument, str)]
    if wrong:
        raise InvalidInput(
            f"the command of pipeline {pipeline!r} holds {wrong[0]!r}", "Write it as text"
        )
    if not arguments:
        raise InvalidInput(f"pipeline {pipeline!r} has an empty command", "Name the program to run")
    return tuple(arguments)


def _parse(pipeline: str, argument: str) -> list[tuple[str, str | None, str]]:
    """Pieces of an argument: text, the placeholder after it (if any), and how to write that."""
    try:
        pieces = list(Formatter().parse(argument))
    except ValueError as error:
        raise InvalidInput(
            f"cannot read the argument {argument!r} of pipeline {pipeline!r}: {error}",
            "Write a placeholder as {name}, and a brace as {{ or }}",
        ) from None
    if any(conversion for *_, conversion in pieces) or any("{" in (s or "") for *_, s, _ in pieces):
        raise InvalidInput(
            f"the argument {argument!r} of pipeline {pipeline!r} is more than a placeholder",
            "Write {name} or {name:.4f}",
        )
    return [(literal, name, spec or "") for literal, name, spec, _ in pieces]


def _suggest(name: str, known: Sequence[str]) -> str:
    if not name.startswith(_SEED):
        return suggest_names(name, known)
    own = name.removeprefix(_SEED)
    near = find_near(own, [other.removeprefix(_SEED) for other in known if _SEED in other])
    guess = f"Did you mean {{{_SEED}{near[0]}}}? Otherwise declare" if near else "Declare"
    return f'{guess} it as a source of your own: sources = ["{own}"]'


def run_command(
    arguments: Sequence[str], *, folder: str, out: str, home: str | None = None
) -> object:
    """Run a command without a shell; give what it wrote to `out` or printed last, from JSON.

    What it prints goes to files in a temporary folder, so that a chatty program neither fills the
    memory nor keeps us waiting for a pipe that its children hold open.
    """
    stdout, stderr = Path(folder, "stdout"), Path(folder, "stderr")
    with stdout.open("wb") as output, stderr.open("wb") as errors:
        status = _run(arguments, folder, home, output.fileno(), errors.fileno())
    if status != 0:
        ending = f"was ended by {name_signal(-status)}" if status < 0 else f"ended with {status}"
        _refuse(arguments, ending, stderr, "Run it by hand to see what it says")
    return _read_scores(arguments, Path(out), stdout, stderr)


def _run(arguments: Sequence[str], folder: str, home: str | None, stdout: int, stderr: int) -> int:
    watcher = Watcher(folder)
    try:
        try:
            process = subprocess.Popen(
                arguments,
                cwd=home,
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,  # a group of its own, to be killed as a whole
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise OutperformError(
                f"cannot run `{shlex.join(arguments)}`: {reason}",
                "Check that the program is installed, and its path",
            ) from None
        try:
            watcher.protect(process.pid)
            return process.wait()
        finally:
            kill_group(process.pid)  # and what it has left running, if it has ended by itself
            process.wait()
    finally:
        watcher.dismiss()


def _read_scores(arguments: Sequence[str], out: Path, stdout: Path, stderr: Path) -> object:
    if out.is_file():
        if (size := out.stat().st_size) > _LARGEST:
            remedy = "Let it write its scores only, and anything else elsewhere"
            _refuse(arguments, f"wrote {size:,} bytes to {out.name}", stderr, remedy)
        text, place = out.read_text(errors="replace"), f"wrote to {out.name}"
    else:
        lines = [line for line in _tail(stdout) if line.strip()]
        text, place = lines[-1] if lines else "", "printed last"
    if not text.strip():
        _refuse(arguments, "left no scores", stderr, "Let it write JSON to {out}, or print it last")
    try:
        return json.loads(text)
    except ValueError:
        shown = text.strip()[:200]
        remedy = 'Let it write or print JSON such as {"valid": 0.91, "test": 0.9}'
        _refuse(arguments, f"{place} {shown!r}, which is not JSON", stderr, remedy)


def _refuse(arguments: Sequence[str], ending: str, stderr: Path, remedy: str) -> NoReturn:
    lines = cut_middle("\n".join(_tail(stderr)[-_N_LINES:]), _LONGEST_ENDING)
    said = f"; its last lines of stderr:\n{lines}" if lines else ""
    command = cut_middle(shlex.join(arguments), _LONGEST_ENDING)
    raise OutperformError(f"`{command}` {ending}{said}", remedy)


def _tail(path: Path) -> list[str]:
    with path.open("rb") as file:
        file.seek(max(path.stat().st_size - _N_BYTES, 0))
        return file.read().decode(errors="replace").splitlines()
