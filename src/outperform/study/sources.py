"""Sources of variation: each named, each under a seed of its own.

A seed depends on the root seed, the source's name and the replicate only. So replicate i has the
same seeds for every pipeline, and adding a source, a pipeline or a replicate moves no other seed.
"""

import hashlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Literal

from outperform.errors import InvalidInput
from outperform.runs.naming import suggest_names
from outperform.stats.checks import check_count

LEARNING_SOURCES = ("split", "init", "order", "augmentation", "dropout")
TUNING_SOURCE = "hpo"
_RESERVED = "noise"  # what is left when every seed is fixed has no seed


@dataclass(frozen=True, slots=True)
class Source:
    """One cause of variation, seeded on its own.

    Examples
    --------
    >>> Source("init", "learning").seed(0, root=1)
    2683790538
    """

    name: str
    stage: Literal["learning", "hpo"]  # xi_O or xi_H

    def __post_init__(self) -> None:
        if not (isinstance(self.name, str) and self.name.isidentifier()):
            raise InvalidInput(
                f"a source of variation is called {self.name!r}",
                "Use letters, digits and underscores, as {seed.name} in a command needs them",
            )
        if self.name == _RESERVED:
            raise InvalidInput(
                f"a source of variation is called {_RESERVED!r}, which means what is left when "
                "every seed is fixed",
                "Choose another name",
            )

    def seed(self, replicate: int, *, root: int) -> int:
        """Derive a seed from its arguments alone, so that adding a source moves no other."""
        return derive_seed(root, self.name, replicate)


def derive_seed(*parts: int | str) -> int:
    """Hash the parts to 32 bits, the most that scikit-learn accepts.

    Examples
    --------
    >>> derive_seed(0, "split", 7) == Source("split", "learning").seed(7, root=0)
    True
    """
    key = "/".join(map(str, parts)).encode()
    return int.from_bytes(hashlib.blake2b(key, digest_size=4).digest())


def make_sources(names: Iterable[str]) -> tuple[Source, ...]:
    """Sources by name; `hpo` is the source of tuning, every other one of learning.

    Examples
    --------
    >>> [source.stage for source in make_sources(["split", "my_sampler", "hpo"])]
    ['learning', 'learning', 'hpo']
    """
    if isinstance(names, str):
        raise InvalidInput(f"sources are the text {names!r}", f"Pass a list: [{names!r}]")
    listed = list(names)
    for name in listed:
        if listed.count(name) > 1:
            raise InvalidInput(
                f"source {name!r} is listed {listed.count(name)} times", "List it once"
            )
    return tuple(Source(name, "hpo" if name == TUNING_SOURCE else "learning") for name in listed)


def draw_seeds(
    sources: Iterable[Source], replicate: int, *, root: int, vary: Collection[str] | None = None
) -> dict[str, int]:
    """Seed of every source at this replicate.

    Parameters
    ----------
    vary
        Names of the sources redrawn; the others stay at replicate 0. None: all are redrawn.

    Examples
    --------
    >>> sources = make_sources(["split", "init"])
    >>> first = draw_seeds(sources, 0, root=0)
    >>> third = draw_seeds(sources, 2, root=0, vary={"init"})
    >>> third["split"] == first["split"], third["init"] == first["init"]
    (True, False)
    """
    check_count("replicate", replicate, at_least=0)
    listed = tuple(sources)
    varied = {source.name for source in listed} if vary is None else _check_vary(vary, listed)
    return {
        source.name: source.seed(replicate if source.name in varied else 0, root=root)
        for source in listed
    }


def _check_vary(vary: Collection[str], sources: tuple[Source, ...]) -> set[str]:
    if isinstance(vary, str):
        raise InvalidInput(f"vary is the text {vary!r}", f"Pass a list: [{vary!r}]")
    names = [source.name for source in sources]
    for name in vary:
        if name not in names:
            raise InvalidInput(
                f"cannot vary {name!r}: the study has no such source", suggest_names(name, names)
            )
    return set(vary)
