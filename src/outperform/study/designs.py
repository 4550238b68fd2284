"""Which fits a study needs: the designs that estimate a performance and its variance.

A design plans *runs*, the final fits whose test scores are analysed. A run trains with the
hyperparameters that its search has found, or that a search redrawn from its trials would have
found, or with the defaults if it has no search.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from itertools import product
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

from outperform.errors import InvalidInput
from outperform.stats.checks import check_count
from outperform.study.fits import Choice, Draw, PlannedRun
from outperform.study.sources import ALL, NOISE, TUNING_SOURCE
from outperform.study.study_file_entries import Kind, check_words, entry, find_kind

_REPETITION = ", repetition "  # between what is redrawn and the number of a later repetition
MOST_RUNS = 1_000_000  # of a study: more than anybody fits, and as many as can be planned


@runtime_checkable
class Design(Protocol):
    """Plans the runs that estimate one pipeline's performance on one task."""

    @property
    def kind(self) -> str:
        """Name in study files."""

    def plan_runs(self, draw: Draw) -> Iterator[PlannedRun]:
        """Runs in the order in which they are wanted."""


@dataclass(frozen=True, slots=True)
class Ideal:
    """A full search per replicate: unbiased, and dear (000, algorithm 1)."""

    n_replicates: int
    kind: Literal["ideal"] = "ideal"
    redraws: ClassVar[str] = ALL  # as the labels of its runs say it

    def __post_init__(self) -> None:
        _check_counts(1, replicates=self.n_replicates)

    def plan_runs(self, draw: Draw) -> Iterator[PlannedRun]:
        """Plan k searches with a final fit each."""
        sources = (*draw.learning, TUNING_SOURCE)
        for i in range(self.n_replicates):
            everything = dict.fromkeys(sources, i)
            yield draw.run((self.kind, self.redraws, i), everything, draw.search(everything))


class _OneSearch:
    """One search, then final fits in which learning is redrawn; all of it once per repetition."""

    __slots__ = ()
    kind: str
    n_replicates: int
    n_repetitions: int
    vary: tuple[str, ...] = ()
    choice: ClassVar[Choice]

    def __post_init__(self) -> None:
        _check_counts(1, replicates=self.n_replicates, repetitions=self.n_repetitions)

    @property
    def redraws(self) -> str:
        """What its runs redraw, as their labels say it."""
        return "+".join(self.vary) or ALL

    def plan_runs(self, draw: Draw) -> Iterator[PlannedRun]:
        """Plan one search and k final fits, as often as there are repetitions."""
        for repetition in range(self.n_repetitions):
            # The searches, and the first fits after them, are those of the ideal design.
            fixed = dict.fromkeys((*draw.learning, TUNING_SOURCE), repetition)
            search = draw.search(fixed)
            label = name_repetition(self.redraws, repetition)
            for i in range(self.n_replicates):
                number = repetition * MOST_RUNS + i  # of no other repetition
                # Only the first fits of later repetitions have seeds of the first one too, for the
                # sake of the searches shared with the ideal design: Var(μ̃) is too small by a share
                # 2 / (R·k) at most.
                redrawn = dict.fromkeys(self.vary or draw.learning, number if i else repetition)
                if self.choice != "best":
                    # Below 0, where no real search is, whose trials it would otherwise repeat.
                    redrawn[TUNING_SOURCE] = -1 - number
                # What is fixed at 0 need not be said.
                replicates = fixed | redrawn if repetition else redrawn
                yield draw.run((self.kind, label, i), replicates, search, self.choice)


@dataclass(frozen=True, slots=True)
class FixHopt(_OneSearch):
    """One search, then final fits in which some learning sources are redrawn (algorithm 2).

    Parameters
    ----------
    vary
        Sources redrawn; none named means all of learning.
    n_repetitions
        How often all this is done, each time with other seeds of what it fixes: the means of
        repetitions tell the design's bias, and what holds for pipelines tuned anew. Pairs are those
        of the first one.
    """

    n_replicates: int
    vary: tuple[str, ...] = ()
    n_repetitions: int = 1
    kind: Literal["fix-hopt"] = "fix-hopt"
    choice: ClassVar[Choice] = "best"

    def __post_init__(self) -> None:
        _OneSearch.__post_init__(self)
        if TUNING_SOURCE in self.vary:
            raise InvalidInput(
                "fix-hopt cannot vary 'hpo': it searches once, that is its point",
                "Use ideal or simulated-hopt, or leave hpo out of vary",
                where=("vary", self.vary.index(TUNING_SOURCE)),
            )


@dataclass(frozen=True, slots=True)
class SimulatedHopt(_OneSearch):
    """One search, a model of it, and final fits of what simulated searches choose (003, 4.1).

    The fits have the learning seeds of `FixHopt` with everything redrawn, so that both are paired.

    Parameters
    ----------
    n_repetitions
        As in `FixHopt`.
    best_share
        The model is fitted to this share of the trials, the best.
    """

    n_replicates: int
    n_repetitions: int = 1
    best_share: float = 0.85
    kind: Literal["simulated-hopt"] = "simulated-hopt"
    choice: ClassVar[Choice] = "simulated"

    def __post_init__(self) -> None:
        _OneSearch.__post_init__(self)
        if not 0 < self.best_share <= 1:
            raise InvalidInput(
                f"best_share is {self.best_share}",
                "Write the share of the trials that the surrogate is fitted to, above 0 and at "
                "most 1",
                where=("best_share",),
            )


@dataclass(frozen=True, slots=True)
class ResampledHopt(_OneSearch):
    """One random search, and final fits of what searches redrawn from its trials choose.

    The trials of a random search are exchangeable: as many, drawn from them with replacement, are
    another search, and no model of it is needed. Otherwise as `SimulatedHopt`.
    """

    n_replicates: int
    n_repetitions: int = 1
    kind: Literal["resampled-hopt"] = "resampled-hopt"
    choice: ClassVar[Choice] = "resampled"


# Designs whose runs are paired replicates, and their kinds, the best first.
PairedDesign = Ideal | FixHopt | SimulatedHopt | ResampledHopt
ONE_SEARCH = ("fix-hopt", "simulated-hopt", "resampled-hopt")
PAIRED = ("ideal", *ONE_SEARCH)


def _check_counts(at_least: int, **counts: int) -> None:
    for word, count in counts.items():
        with entry(word):
            check_count(word, count, at_least=at_least, at_most=MOST_RUNS)


def name_repetition(redraws: str, repetition: int) -> str:
    """What the labels of a repetition's runs say is redrawn; the first is like an only one."""
    return f"{redraws}{_REPETITION}{repetition + 1}" if repetition else redraws


def is_later_repetition(source: str) -> bool:
    """Whether a label's source is that of a repetition after the first."""
    return _REPETITION in source


@dataclass(frozen=True, slots=True)
class Variance:
    """One source redrawn at a time, at default hyperparameters (000, section 2.2).

    Parameters
    ----------
    n_replicates
        Fits per source, per all sources together, and with all seeds fixed (noise).
    n_searches
        Independent searches with learning fixed, for the source `hpo`; 0 leaves it out.
    sources
        Sources redrawn; none named means those that the pipeline honours, and the split.
    """

    n_replicates: int
    n_searches: int = 0
    sources: tuple[str, ...] = ()
    kind: Literal["variance"] = "variance"

    def __post_init__(self) -> None:
        _check_counts(2, replicates=self.n_replicates)
        _check_counts(0, searches=self.n_searches)
        if TUNING_SOURCE in self.sources:
            raise InvalidInput(
                "'hpo' is redrawn by whole searches, not by fits at default hyperparameters",
                "Leave it out of sources, and set searches = 20",
                where=("sources", self.sources.index(TUNING_SOURCE)),
            )

    def plan_runs(self, draw: Draw) -> Iterator[PlannedRun]:
        """Plan the fits of every source, then those of the searches."""
        apart = {source: (source,) for source in self.sources or draw.honoured}
        for label, varied in {**apart, ALL: draw.honoured, NOISE: (NOISE,)}.items():
            for i in range(self.n_replicates):
                yield draw.run((self.kind, label, i), dict.fromkeys(varied, i), None)
        for i in range(self.n_searches):
            search = draw.search({TUNING_SOURCE: i})
            yield draw.run((self.kind, TUNING_SOURCE, i), {TUNING_SOURCE: i}, search)


@dataclass(frozen=True, slots=True)
class Crossed:
    """Every combination of `n_levels` seeds of each source, at default hyperparameters.

    The balanced design from which variance components, interactions included, are estimated.
    """

    n_levels: int
    sources: tuple[str, ...] = ()
    kind: Literal["crossed"] = "crossed"

    def __post_init__(self) -> None:
        _check_counts(2, levels=self.n_levels)

    def plan_runs(self, draw: Draw) -> Iterator[PlannedRun]:
        """Plan n_levels ** n_sources final fits."""
        sources = self.sources or draw.honoured
        # Cells of fewer levels come first, so that more levels leave every cell its number.
        cells = sorted(product(range(self.n_levels), repeat=len(sources)), key=max)
        for i, levels in enumerate(cells):
            replicates = dict(zip(sources, levels, strict=True))
            yield draw.run((self.kind, "+".join(sources), i), replicates, None)


def count_runs(design: Design, draw: Draw) -> int:
    """How many runs one of our designs plans, without planning them."""
    if isinstance(design, PairedDesign):
        return design.n_replicates * getattr(design, "n_repetitions", 1)
    if isinstance(design, Variance):
        labels = {*(design.sources or draw.honoured), ALL, NOISE}
        return design.n_replicates * len(labels) + design.n_searches
    if isinstance(design, Crossed):
        return int(design.n_levels ** len(design.sources or draw.honoured))
    return 0  # the person's own: nobody knows


def count_fits(designs: Iterable[Design], draw: Draw) -> int:
    """How many fits designs need together, each done once."""
    runs, searches = set(), set()
    for design in designs:
        for run in design.plan_runs(draw):
            runs.add(run.identity)
            searches.add(run.search)
    return len(runs) + sum(search.n_trials for search in searches if search is not None)


_DESIGNS: dict[str, type[Any]] = {  # by their names in study files
    "ideal": Ideal,
    "fix-hopt": FixHopt,
    "simulated-hopt": SimulatedHopt,
    "resampled-hopt": ResampledHopt,
    "variance": Variance,
    "crossed": Crossed,
}
_WORDS: dict[str, Kind] = {
    "replicates": int,
    "repetitions": int,
    "best_share": float,
    "levels": int,
    "searches": int,
    "vary": list,
    "sources": list,
}
# Field of a design that a word gives: a word is short for the number of what it names.
_FIELDS = {word: f"n_{word}" if kind is int else word for word, kind in _WORDS.items()}
# Of each kind; the first cannot be left out.
_OWN_WORDS = {
    kind: [field.name.removeprefix("n_") for field in fields(design) if field.name != "kind"]
    for kind, design in _DESIGNS.items()
}


def make_design(options: Mapping[str, Any]) -> Design:
    """Design from a table of a study file."""
    kind = find_kind("design", options, _DESIGNS, _WORDS)
    words = _OWN_WORDS[kind]
    settings = {word: value for word, value in options.items() if word != "kind"}
    check_words(settings, {word: _WORDS[word] for word in words}, of=kind)
    if words[0] not in settings:
        raise InvalidInput(f"{kind} does not say how many {words[0]}", f"Add {words[0]} = 29")
    values = {_FIELDS[word]: value for word, value in settings.items()}
    listed = {name: tuple(v) if isinstance(v, list) else v for name, v in values.items()}
    design: Design = _DESIGNS[kind](**listed)
    return design


def describe_design(design: Design) -> dict[str, Any]:
    """As a study file says it; empty where the design is the person's own."""
    kind = _DESIGNS.get(design.kind)
    if kind is None or not isinstance(design, kind):
        return {}
    values = {word: getattr(design, _FIELDS[word]) for word in _OWN_WORDS[design.kind]}
    listed = {word: list(v) if isinstance(v, tuple) else v for word, v in values.items()}
    return {"kind": design.kind, **{word: v for word, v in listed.items() if v != []}}
