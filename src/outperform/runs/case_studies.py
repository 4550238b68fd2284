"""Constants of case studies: how much scores of a task vary, and their means by design."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from outperform.errors import InvalidInput, UnknownName, UnreadableRuns
from outperform.wording import enumerate_names, suggest_names

# What the authors' file calls the designs that redraw init, split, or all learning sources.
_DESIGNS = {"init": "weights_init", "data": "bootstrap", "all": "biased"}
BIASED_DESIGNS = tuple(_DESIGNS)
_LAYOUT = 'Write {"task": {"sigma": 0.01, "sigma_epsilon": {"50": {"biased": 0.004}}}}'


@dataclass(frozen=True, slots=True)
class CaseStudy:
    """How much scores of one task vary, and designs that fix some of it err."""

    name: str
    sd: float  # of a score over all that may vary: σ of the ideal design
    # By biased design and number of runs k: standard deviation of the mean of k runs over what the
    # design fixes; NaN where it was not measured.
    bias_sd: Mapping[str, Mapping[int, float]] = field(repr=False)

    def find_bias(self, design: str, n_runs: int) -> tuple[float, int]:
        """Measured standard deviation of the bias at the k nearest to n_runs, and that k."""
        measured = {k: sd for k, sd in self.bias_sd[design].items() if math.isfinite(sd)}
        if not measured:
            raise InvalidInput(
                f"the case study {self.name!r} has no bias of the design {design!r}: "
                "every value is NaN",
                "Choose another design or case study",
            )
        k = min(measured, key=lambda k: (abs(k - n_runs), k))
        return measured[k], k


def read_case_studies(path: str | Path, names: Sequence[str] = ()) -> tuple[CaseStudy, ...]:
    """Read constants from JSON: {task: {"sigma": σ, "sigma_epsilon": {k: {design: sd}}}}.

    The layout of the file that Bouthillier et al. (2021) published; NaN stands for what was not
    measured. All are read if none are named.
    """
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or f"it is not JSON ({error})"
        raise UnreadableRuns(
            f"cannot read {path}: {reason}", "Name a JSON file with the constants of case studies"
        ) from None
    if not isinstance(content, dict) or not content:
        raise UnreadableRuns(f"{path} holds no case studies", _LAYOUT)
    for name in names:
        if name not in content:
            raise UnknownName(f"no case study {name!r} in {path}", suggest_names(name, [*content]))
    return tuple(_parse(name, content[name], str(path)) for name in names or content)


def _parse(name: str, constants: Any, path: str) -> CaseStudy:
    try:
        sd = float(constants["sigma"])
        by_size = constants["sigma_epsilon"]
        bias = {
            design: {int(k): float(sds.get(key, math.nan)) for k, sds in by_size.items()}
            for design, key in _DESIGNS.items()
        }
    except (AttributeError, KeyError, TypeError, ValueError):
        raise UnreadableRuns(
            f"the case study {name!r} of {path} has no sigma and sigma_epsilon", _LAYOUT
        ) from None
    if not (math.isfinite(sd) and sd > 0):
        raise InvalidInput(
            f"sigma of the case study {name!r} of {path} is {sd}",
            "Measure it, or leave this case study out",
        )
    if wrong := [
        f"{design} at k = {k}" for design, sds in bias.items() for k, sd in sds.items() if sd < 0
    ]:
        raise InvalidInput(
            f"sigma_epsilon of the case study {name!r} of {path} is negative: "
            f"{enumerate_names(wrong)}",
            "Standard deviations are not negative: mend the file",
        )
    return CaseStudy(name, sd, bias)
