"""The global generators of random numbers: which of them a fit draws from, and unseeded."""

import hashlib
import random
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from outperform.runner import FitWork
from outperform.study.fits import Fit

States = Mapping[str, str]  # a hash of the state of each generator, by the generator's name


@dataclass(frozen=True, slots=True)
class WatchedScores:
    """Scores of a fit, and the states in which it found and left the global generators."""

    scores: dict[str, float]
    before: States
    after: States

    @property
    def moved(self) -> set[str]:
        """Generators that the fit has drawn from, or has seeded."""
        return {name for name, state in self.before.items() if self.after[name] != state}


@dataclass(frozen=True, slots=True)
class WatchedFits:
    """Work like the runner's, which also says what became of the global generators.

    They are put into a new state before every fit, so that what draws from them without a seed
    cannot repeat itself by chance: a fresh process always starts torch from the same state.
    """

    work: FitWork

    def __call__(self, fit: Fit) -> WatchedScores:
        """Scores of one fit, and the states around it."""
        with _scramble():
            before = _hash_states()
            scores = self.work(fit)
            return WatchedScores(scores, before, {**before, **_hash_states()})


@contextmanager
def _scramble() -> Iterator[None]:
    """Give every global generator a state of its own, and its old one back in the end."""
    old = {name: read() for name, (read, _, _) in _list_generators().items()}
    for _, _, seed in _list_generators().values():
        seed()
    try:
        yield
    finally:
        for name, (_, write, _) in _list_generators().items():
            if name in old:
                write(old[name])


def _hash_states() -> dict[str, str]:
    return {name: _hash(read()) for name, (read, _, _) in _list_generators().items()}


def _hash(state: Any) -> str:
    parts = state if isinstance(state, tuple) else (state,)
    text = "/".join(str(part.tolist() if hasattr(part, "tolist") else part) for part in parts)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def _list_generators() -> dict[str, tuple[Callable[[], Any], Callable[[Any], Any], Any]]:
    """How to read, write and seed anew each generator; torch only where it is imported."""
    legacy = np.random  # the generators that people's code draws from, whatever we think of them
    generators: dict[str, tuple[Callable[[], Any], Callable[[Any], Any], Any]] = {
        "random": (random.getstate, random.setstate, random.seed),
        "numpy.random": (legacy.get_state, legacy.set_state, legacy.seed),
    }
    torch = sys.modules.get("torch")
    if hasattr(torch, "get_rng_state"):  # it is not, while it is being imported
        generators["torch"] = (torch.get_rng_state, torch.set_rng_state, torch.seed)  # type: ignore[union-attr]
    return generators
