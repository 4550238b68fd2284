"""How scores on a test set vary by chance: accuracies as binomials, AUC by the binormal model."""

import math
from dataclasses import dataclass

import numpy as np

from outperform.errors import InvalidScores
from outperform.stats import (
    Interval,
    area_deviation,
    area_gap_of_best,
    binomial_deviation,
    chance_of_area_lead,
    chance_of_lead,
    common_area,
    common_area_interval,
    common_chance,
    common_chance_interval,
    gap_of_best,
    luck_of_best,
    luck_of_best_area,
)
from outperform.stats.binormal import scale_deviations
from outperform.stats.checks import FloatArray


@dataclass(frozen=True, slots=True)
class AccuracyModel:
    """Each example is right or wrong: failures are binomial."""

    n: int
    correlation: float

    def estimate(self, m: int, top: float) -> float:
        """True accuracy of m equals whose best is expected to show the top one."""
        return common_chance(m, self.n, self._failures(top), correlation=self.correlation)

    def limit(self, m: int, top: float, confidence_level: float) -> Interval:
        """True accuracies of m equals with which the top one is no surprise."""
        return common_chance_interval(
            m,
            self.n,
            self._failures(top),
            correlation=self.correlation,
            confidence_level=confidence_level,
        )

    def gap(self, m: int, score: float, confidence_level: float) -> float:
        """How far the truly best may lag behind the top."""
        gap = gap_of_best(
            m, self.n, score, confidence_level=confidence_level, correlation=self.correlation
        )
        return gap / self.n

    def lead_chance(self, m: int, score: float, lead: float) -> float:
        """Chance that the best of m equals leads the second by so much."""
        failures = round(lead * self.n)
        return chance_of_lead(m, self.n, score, failures, correlation=self.correlation)

    def luck(self, scores: FloatArray) -> float:
        """By how much the best shows more than it is worth, if all are worth their scores."""
        # What entries share moves all of them and picks no winner: it acts like more examples.
        return luck_of_best(round(self.n / (1 - self.correlation**2)), scores)

    def noise(self, score: float) -> float:
        """Standard deviation of one accuracy."""
        return binomial_deviation(score, self.n)

    def _failures(self, score: float) -> int:
        return round(self.n * (1 - score))


@dataclass(frozen=True, slots=True)
class AreaModel:
    """Area under the ROC curve, by the binormal model with equal variances."""

    n_positives: int
    n_negatives: int
    correlation: float

    def estimate(self, m: int, top: float) -> float:
        """True area of m equals whose best is expected to show the top one."""
        if not 0.5 < top < 1:
            raise InvalidScores(
                f"the best AUC is {top:g}, for which the binormal model says nothing",
                "Pass the predictions, to resample the examples instead",
            )
        sizes = self.n_positives, self.n_negatives
        return common_area(m, top, *sizes, correlation=self.correlation)

    def limit(self, m: int, top: float, confidence_level: float) -> Interval:
        """True areas of m equals with which the top one is no surprise."""
        return common_area_interval(
            m,
            top,
            self.n_positives,
            self.n_negatives,
            correlation=self.correlation,
            confidence_level=confidence_level,
        )

    def gap(self, m: int, score: float, confidence_level: float) -> float:
        """How far the truly best may lag behind the top."""
        deviations = area_gap_of_best(m, confidence_level=confidence_level)
        return deviations * self.noise(score) * self._own

    def lead_chance(self, m: int, score: float, lead: float) -> float:
        """Chance that the best of m equals leads the second by so much."""
        return chance_of_area_lead(m, lead / (self.noise(score) * self._own))

    def luck(self, scores: FloatArray) -> float:
        """By how much the best shows more than it is worth, if all are worth their scores."""
        # An area of 0 or 1 has no place on the normal scale, and none far below the top can win.
        able = np.clip(scores[scores > 0.5], None, 1 - 1e-9)
        deviations = scale_deviations(able, self.n_positives, self.n_negatives) * self._own
        return luck_of_best_area(able, deviations)

    def noise(self, score: float) -> float:
        """Standard deviation of one area."""
        return area_deviation(score, self.n_positives, self.n_negatives)

    @property
    def _own(self) -> float:
        """Share of the deviation that entries do not have in common."""
        return math.sqrt(1 - self.correlation**2)


# What chance does to the scores of m entries, by one way of scoring or the other.
ScoreModel = AccuracyModel | AreaModel
