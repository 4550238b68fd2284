"""How many seeds are enough: how often an algorithm is found to differ from itself."""

from dataclasses import dataclass
from typing import Literal, get_args

from outperform.plain_values import Plain
from outperform.runs.scope import Scope

SeedsTest = Literal["welch-t", "brunner-munzel", "brunner-munzel-permutation"]
SEEDS_TESTS: tuple[SeedsTest, ...] = get_args(SeedsTest)
INFLATION = 1.5  # of its level, up to which a test keeps it: the liberal criterion of Bradley, 1978


@dataclass(frozen=True, slots=True)
class SeedsLine(Plain):
    """Share of comparisons of an algorithm with itself that find a difference, by sample size."""

    JSON = "test alpha sizes shares level_error holds_from"

    test: SeedsTest
    alpha: float
    sizes: tuple[int, ...]
    shares: tuple[float, ...]
    level_error: float  # Monte-Carlo standard error of a share where the test keeps its level

    @property
    def holds_from(self) -> int | None:
        """First sample size from which on the share is at most 1.5 alpha, of those looked at."""
        held = None
        for n, share in zip(reversed(self.sizes), reversed(self.shares), strict=True):
            if share > INFLATION * self.alpha:
                break
            held = n
        return held


@dataclass(frozen=True, slots=True)
class SeedsCurve(Plain):
    """From how many seeds on a test does not find differences where there are none."""

    JSON = "algorithm task metric scope n_runs n_draws lines caveats"

    algorithm: str
    n_runs: int
    n_draws: int
    lines: tuple[SeedsLine, ...]
    metric: str = "score"
    task: str = ""
    caveats: tuple[str, ...] = ()

    @property
    def scope(self) -> Scope:
        """What varied, and what this is about for that reason."""
        return Scope(("random samples of these runs",), "runs of this algorithm on this dataset")

    @property
    def alphas(self) -> tuple[float, ...]:
        """Levels, each once."""
        return tuple(dict.fromkeys(line.alpha for line in self.lines))

    def __str__(self) -> str:
        test = "brunner-munzel"
        shown = [line for line in self.lines if line.test == test] or list(self.lines)
        parts = [f"{_describe_start(line)} at α = {line.alpha:g}" for line in shown]
        on = f" on {self.task}" if self.task else ""
        return (
            f"Among {self.n_runs} runs of {self.algorithm}{on}, the test {shown[0].test} keeps its "
            f"level {', '.join(parts)}."
        )


def _describe_start(line: SeedsLine) -> str:
    start = line.holds_from
    if start is None:
        return f"at no size up to {line.sizes[-1]}"
    return f"from {start} runs on"
