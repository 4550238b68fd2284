"""Arrays in, numbers and frozen dataclasses out; higher is always better.

numpy and scipy.special only. Nothing here knows of machine learning, files or figures.
"""

from outperform.stats.binormal import (
    BestAreaDistribution,
    area_deviation,
    area_gap_of_best,
    best_area_distribution,
    chance_of_area_lead,
    luck_of_best_area,
)
from outperform.stats.dependence import (
    best_of_agreeing,
    best_of_correlated,
    chance_of_best,
    feasible_range,
)
from outperform.stats.effect_sizes import (
    Estimate,
    MeanDifference,
    cohens_d,
    mean_difference,
    paired_d,
)
from outperform.stats.extremes import (
    BestOfDistribution,
    best_of_distribution,
    chance_needed,
    chance_to_reach,
    luck_of_best,
)
from outperform.stats.intervals import (
    Interval,
    anytime_interval,
    clopper_pearson_interval,
    percentile_interval,
    wilson_interval,
)
from outperform.stats.leads import chance_of_lead, gap_of_best
from outperform.stats.mean_tests import (
    EquivalenceTest,
    equivalence_test,
    nadeau_bengio_test,
    paired_t_test,
    sign_flip_test,
    welch_t_test,
)
from outperform.stats.outperforming import outperforming_interval, probability_of_outperforming
from outperform.stats.power import (
    noether_sample_size,
    required_pairs,
    smallest_conclusive,
    smallest_detectable_probability,
    verdict_power,
    verdict_size,
)
from outperform.stats.rank_tests import brunner_munzel, wilcoxon_test
from outperform.stats.resampled_scores import (
    prepare_accuracy,
    prepare_auc,
    prepare_balanced_accuracy,
    prepare_f1,
)
from outperform.stats.sobering import (
    common_area,
    common_area_interval,
    common_chance,
    common_chance_interval,
)
from outperform.stats.summaries import Summary, probability_from_summary, welch_from_summary
from outperform.stats.testing import HypothesisTest
from outperform.stats.variances import (
    VarianceComponent,
    VarianceComponents,
    binomial_deviation,
    deviation,
    deviation_ratio,
    normality_pvalue,
    variance_components,
)
from outperform.stats.winners import WinnerBootstrap, bootstrap_winner

__all__ = [
    "BestAreaDistribution",
    "BestOfDistribution",
    "EquivalenceTest",
    "Estimate",
    "HypothesisTest",
    "Interval",
    "MeanDifference",
    "Summary",
    "VarianceComponent",
    "VarianceComponents",
    "WinnerBootstrap",
    "anytime_interval",
    "area_deviation",
    "area_gap_of_best",
    "best_area_distribution",
    "best_of_agreeing",
    "best_of_correlated",
    "best_of_distribution",
    "binomial_deviation",
    "bootstrap_winner",
    "brunner_munzel",
    "chance_needed",
    "chance_of_area_lead",
    "chance_of_best",
    "chance_of_lead",
    "chance_to_reach",
    "clopper_pearson_interval",
    "cohens_d",
    "common_area",
    "common_area_interval",
    "common_chance",
    "common_chance_interval",
    "deviation",
    "deviation_ratio",
    "equivalence_test",
    "feasible_range",
    "gap_of_best",
    "luck_of_best",
    "luck_of_best_area",
    "mean_difference",
    "nadeau_bengio_test",
    "noether_sample_size",
    "normality_pvalue",
    "outperforming_interval",
    "paired_d",
    "paired_t_test",
    "percentile_interval",
    "prepare_accuracy",
    "prepare_auc",
    "prepare_balanced_accuracy",
    "prepare_f1",
    "probability_from_summary",
    "probability_of_outperforming",
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
