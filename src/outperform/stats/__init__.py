"""Arrays in, numbers and frozen dataclasses out; higher is always better.

numpy and scipy.special only. Nothing here knows of machine learning, files or figures.
"""

from outperform.stats.best_of_chances import (
    BestOfSpreads,
    Crossing,
    Spread,
    best_of_probability,
    best_of_spreads,
    find_crossing,
)
from outperform.stats.best_of_n import best_of_weights, expected_best_of, gaussian_best_of
from outperform.stats.best_of_resamples import BestOfEstimates, estimate_best_of
from outperform.stats.crossed_variances import (
    VarianceComponent,
    VarianceComponents,
    variance_components,
)
from outperform.stats.decision_rules import (
    Criteria,
    CriticalValue,
    Decisions,
    decide,
    permutation_critical_value,
)
from outperform.stats.detection import NormalScores, detection_rate, difference_of_probability
from outperform.stats.effect_sizes import (
    Estimate,
    MeanDifference,
    cohens_d,
    mean_difference,
    paired_d,
    rank_correlation,
)
from outperform.stats.growing_samples import GrowingTest, grow_brunner_munzel
from outperform.stats.hiding import (
    hide_runs_to_show,
    hide_runs_to_undo,
    hide_to_show,
    hide_to_show_by_t,
    hide_to_undo,
    hide_to_undo_by_t,
)
from outperform.stats.intervals import (
    Interval,
    anytime_interval,
    clopper_pearson_interval,
    percentile_interval,
    wilson_interval,
)
from outperform.stats.mean_tests import (
    EquivalenceTest,
    equivalence_test,
    nadeau_bengio_test,
    paired_t_test,
    sign_flip_test,
    welch_t_test,
)
from outperform.stats.outperforming import outperforming_interval, probability_of_outperforming
from outperform.stats.picking import PickedRuns, pick_best_against_worst, pick_best_pairs
from outperform.stats.power import (
    noether_sample_size,
    required_pairs,
    smallest_conclusive,
    smallest_detectable_probability,
    verdict_power,
    verdict_size,
)
from outperform.stats.rank_tests import brunner_munzel, wilcoxon_test
from outperform.stats.sequential import anytime_power
from outperform.stats.subsets import SubsetShares, count_rejections, count_verdicts
from outperform.stats.summaries import Summary, probability_from_summary, welch_from_summary
from outperform.stats.testing import HypothesisTest
from outperform.stats.variances import (
    binomial_deviation,
    deviation,
    deviation_ratio,
    normality_pvalue,
)
from outperform.stats.verdict_rules import VerdictRule

__all__ = [
    "BestOfEstimates",
    "BestOfSpreads",
    "Criteria",
    "CriticalValue",
    "Crossing",
    "Decisions",
    "EquivalenceTest",
    "Estimate",
    "GrowingTest",
    "HypothesisTest",
    "Interval",
    "MeanDifference",
    "NormalScores",
    "PickedRuns",
    "Spread",
    "SubsetShares",
    "Summary",
    "VarianceComponent",
    "VarianceComponents",
    "VerdictRule",
    "anytime_interval",
    "anytime_power",
    "best_of_probability",
    "best_of_spreads",
    "best_of_weights",
    "binomial_deviation",
    "brunner_munzel",
    "clopper_pearson_interval",
    "cohens_d",
    "count_rejections",
    "count_verdicts",
    "decide",
    "detection_rate",
    "deviation",
    "deviation_ratio",
    "difference_of_probability",
    "equivalence_test",
    "estimate_best_of",
    "expected_best_of",
    "find_crossing",
    "gaussian_best_of",
    "grow_brunner_munzel",
    "hide_runs_to_show",
    "hide_runs_to_undo",
    "hide_to_show",
    "hide_to_show_by_t",
    "hide_to_undo",
    "hide_to_undo_by_t",
    "mean_difference",
    "nadeau_bengio_test",
    "noether_sample_size",
    "normality_pvalue",
    "outperforming_interval",
    "paired_d",
    "paired_t_test",
    "percentile_interval",
    "permutation_critical_value",
    "pick_best_against_worst",
    "pick_best_pairs",
    "probability_from_summary",
    "probability_of_outperforming",
    "rank_correlation",
    "required_pairs",
    "sign_flip_test",
    "smallest_conclusive",
    "smallest_detectable_probability",
    "variance_components",
    "verdict_power",
    "verdict_size",
    "welch_from_summary",
    "welch_t_test",
    "wilcoxon_test",
    "wilson_interval",
]
