"""Sources of variation: each named, each under a seed of its own.

A seed depends on the root seed, the source's name and the replicate only. So replicate i has the
same seeds for every pipeline, and adding a source, a pipeline or a replicate moves no other seed.
"""

import hashlib
from collections.abc import Sequence
from functools import lru_cache

from outperform.errors import InvalidInput

SPLIT = "split"  # of the data, which every task with data has
LEARNING_SOURCES = (SPLIT, "init", "order", "augmentation", "dropout")
TUNING_SOURCE = "hpo"
NOISE = "noise"  # what is left when every seed is fixed: a run's, but no source's, name
ALL = "all"  # every learning source redrawn


# All pipelines and tasks share the seeds of a replicate.
@lru_cache(maxsize=2**16, typed=True)
def derive_seed(*parts: int | str) -> int:
    """Hash the parts to 32 bits, the most that scikit-learn accepts.

    Examples
    --------
    >>> derive_seed(0, "split", 7)
    2251857475
    """
    key = "/".join(map(str, parts)).encode()
    return int.from_bytes(hashlib.blake2b(key, digest_size=4).digest())


def list_sources(names: Sequence[str]) -> tuple[str, ...]:
    """Names of sources; a text in place of a list is refused, not taken letter by letter."""
    if isinstance(names, str):
        raise InvalidInput(f"sources are the text {names!r}", f"Pass a list: [{names!r}]")
    return tuple(names)


def check_sources(names: Sequence[str]) -> None:
    """Refuse names of sources that are none, or that are listed twice."""
    listed = list_sources(names)
    for name in listed:
        if listed.count(name) > 1:
            raise InvalidInput(
                f"source {name!r} is listed {listed.count(name)} times", "List it once"
            )
    for name in listed:
        if not (isinstance(name, str) and name.isidentifier()):
            raise InvalidInput(
                f"a source of variation is called {name!r}",
                "Use letters, digits and underscores, as {seed.name} in a command needs them",
            )
        if name == NOISE:
            raise InvalidInput(
                f"a source of variation is called {NOISE!r}, which means what is left when "
                "every seed is fixed",
                "Choose another name",
            )
