"""What the seeds of pipelines were found to do."""

from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from outperform.engines.engine import summarize_error
from outperform.plain_values import Plain
from outperform.questions.result import Mood, Result, Table
from outperform.runs.scope import SEEDS, Scope
from outperform.stats.checks import FloatArray
from outperform.wording import count, enumerate_names, join_words

Finding = Literal["reproducible", "unused", "noisy"]
THOROUGH = 5  # seeds: fewer may give equal scores by chance


@dataclass(frozen=True, slots=True)
class SourceCheck(Plain):
    """What the seeds of one source do to the scores of one pipeline on one task."""

    JSON = "pipeline task source finding noise noise_sd spread moved scores"

    pipeline: str
    task: str
    source: str
    scores: FloatArray = field(repr=False, compare=False)  # shape (n_seeds, n_repeats)
    # Other numbers of the fits, such as a loss, that repeat with a seed and change with another.
    moved: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The source, of which pipeline, on which task."""
        return f"{self.source} of {self.pipeline} on {self.task}"

    @property
    def noise(self) -> float:
        """Largest difference between runs of the same seed."""
        return float(np.ptp(self.scores, axis=1).max())

    @property
    def noise_sd(self) -> float:
        """Standard deviation of runs of the same seed, pooled over seeds."""
        # From the first run of each seed, so that equal scores give exactly 0.
        return float(np.sqrt((self.scores - self.scores[:, :1]).var(axis=1, ddof=1).mean()))

    @property
    def spread(self) -> float:
        """Largest difference between the mean scores of seeds."""
        return float(np.ptp(self.scores.mean(axis=1)))

    @property
    def finding(self) -> Finding:
        """`noisy`: the same seed gives different scores; `unused`: none changes a number."""
        if self.noise > 0:
            return "noisy"
        return "reproducible" if self.spread > 0 or self.moved else "unused"

    @property
    def doubt(self) -> str:
        """What an unused or noisy seed means; "" where nothing is in doubt."""
        n_seeds = self.scores.shape[0]
        same = (
            f"{self.name}: {'both' if n_seeds == 2 else f'all {n_seeds}'} seeds give the score "
            f"{self.scores[0, 0]:.4g}"
        )
        if self.finding == "unused":
            return f"{same}, so its seed is unused, or has no effect that this metric shows"
        if self.finding == "reproducible" and not self.spread:
            return f"{same}, and differ only in {enumerate_names(self.moved)}"
        if self.finding == "noisy" and self.spread <= self.noise:
            return (
                f"{self.name}: seeds differ by no more than runs of one seed do, so it cannot be "
                "told whether the seed is used"
            )
        return ""

    def __str__(self) -> str:
        words = {
            "reproducible": "the same seed repeats the score, another changes it",
            "unused": "its seed changes no score",
            "noisy": f"the same seed gives scores that differ by up to {self.noise:.3g}",
        }
        return f"{self.name}: {words[self.finding]}."


@dataclass(frozen=True, slots=True)
class UnseededDraws(Plain):
    """A global generator that a pipeline draws from without seeding it."""

    pipeline: str
    task: str
    generator: str  # as it is imported: "random", "numpy.random", "torch"

    def __str__(self) -> str:
        return (
            f"{self.pipeline} on {self.task}: the global generator of {self.generator} ended in "
            "another state although every seed was the same, so something draws from it unseeded"
        )


@dataclass(frozen=True, slots=True)
class FailedFits(Plain):
    """A pipeline of which fits failed on a task, so that its seeds there cannot be checked."""

    pipeline: str
    task: str
    n_failed: int
    n_fits: int
    error: str  # of the first

    def __str__(self) -> str:
        return (
            f"{self.n_failed} of {self.n_fits} fits of {self.pipeline} on {self.task} failed, so "
            f"nothing is known of its seeds there: {summarize_error(self.error)}"
        )


@dataclass(frozen=True, slots=True)
class Reproducibility(Result):
    """What every source of every pipeline was found to do, where its fits did not fail."""

    JSON = "passed reproducible scope checks unseeded failed caveats"
    scope: ClassVar[Scope] = Scope(
        (SEEDS, "repeats of each seed"), "these pipelines on this machine"
    )

    checks: tuple[SourceCheck, ...]
    unseeded: tuple[UnseededDraws, ...] = ()
    failed: tuple[FailedFits, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether every seed does what it should: none is noisy, unused or unknown."""
        return not (self.doubted or self.failed)

    @property
    def doubted(self) -> tuple[SourceCheck, ...]:
        """Sources whose seed is noisy or unused."""
        return tuple(check for check in self.checks if check.finding != "reproducible")

    @property
    def reproducible(self) -> bool:
        """Whether every fit done again gave the same score."""
        return all(check.finding != "noisy" for check in self.checks)

    @property
    def unused(self) -> tuple[SourceCheck, ...]:
        """Sources whose seed changes no score, nor any other number of the fits."""
        return tuple(check for check in self.checks if check.finding == "unused")

    @property
    def caveats(self) -> tuple[str, ...]:
        """What could not be checked, what unused and noisy seeds mean, what draws without one."""
        doubts = [check.doubt for check in self.checks if check.doubt]
        if len(self.unused) > 1:  # the table has them
            doubts = [check.doubt for check in self.doubted if check.finding == "noisy"]
            doubts.append(
                "seeds that change no score are unused, or have no effect that this metric shows "
                f"with {len(self.unused[0].scores)} of them"
            )
        return (*map(str, self.failed), *filter(None, doubts), *map(str, self.unseeded))

    @property
    def mood(self) -> Mood:
        """Good news if every seed does what it should."""
        return "good" if self.passed else "open"

    @property
    def tables(self) -> list[Table | str]:
        """A row per source of a pipeline on a task."""
        header = ["pipeline", "task", "source", "finding"]
        header += ["between seeds", "within a seed", "sd within"]
        rows = [
            [check.pipeline, check.task, check.source, check.finding]
            + [f"{value:.3g}" for value in (check.spread, check.noise, check.noise_sd)]
            for check in self.checks
        ]
        return [Table(header, rows)]

    @property
    def advice(self) -> str:
        """What to do about fits that fail, a noisy seed, or one that seems unused."""
        if self.failed:
            names = enumerate_names(dict.fromkeys(each.pipeline for each in self.failed))
            return f"mend what fails in {names}, and check again."
        if not self.reproducible:
            return (
                "find what draws without its seed, pass the seed on and check again; what then "
                "still differs is numerical noise, part of every score."
            )
        if self.unused:
            names = enumerate_names(f"{each.source} of {each.pipeline}" for each in self.unused)
            return (
                "pass the seed on to what it should seed, or name the pipeline's `sources` without "
                f"it: {names}. Where a function or command does use it, let its final fit return "
                "the loss beside the score, and check again: a coarse score hides small effects."
            )
        return ""

    def __str__(self) -> str:
        names = enumerate_names([f"{each.pipeline} on {each.task}" for each in self.failed])
        unknown = f"Not checked, as fits failed: {names}. Of the others: " if self.failed else ""
        sentence = self._tell_found()
        return f"{unknown}{sentence[0].lower()}{sentence[1:]}" if unknown else sentence

    def _tell_found(self) -> str:
        n_seeds = sorted({len(check.scores) for check in self.checks})
        seeds = f"{n_seeds[0]} to {n_seeds[-1]}" if len(n_seeds) > 1 else n_seeds[0]
        how = f"({seeds} seeds of every source, {self.checks[0].scores.shape[1]} runs each)"
        noisy = list(dict.fromkeys(c.pipeline for c in self.checks if c.finding == "noisy"))
        if noisy:
            worst = max(self.checks, key=lambda check: check.noise)
            drawn = dict.fromkeys(d.generator for d in self.unseeded if d.pipeline in noisy)
            verb = "is" if len(drawn) == 1 else "are"
            others = count(len(self.unused), "other seed changes", "other seeds change")
            idle = f"; {others} no score" if self.unused else ""
            cause = f": {join_words([*drawn])} {verb} drawn from without a seed" if drawn else ""
            return (
                f"Not reproducible: {enumerate_names(noisy)}. The same seeds give scores that "
                f"differ by up to {worst.noise:.3g}{cause}{idle} {how}."
            )
        if self.unused:
            verb = "changes" if len(self.unused) == 1 else "change"
            return (
                f"{len(self.unused)} of {len(self.checks)} seeds {verb} no score: "
                f"{enumerate_names([check.name for check in self.unused], limit=3)} {how}."
            )
        return (
            "Every seed does what it should: the same one repeats the score, another changes it "
            f"{how}."
        )
