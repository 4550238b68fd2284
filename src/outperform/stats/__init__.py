"""Arrays in, numbers and frozen dataclasses out; higher is always better.

numpy and scipy.special only. Nothing here knows of machine learning, files or figures. Names are
imported when first used, so that no command waits for statistics that it does not need.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
    from outperform.stats.binormal import (
        BestAreaDistribution,
        area_deviation,
        area_gap_of_best,
        best_area_distribution,
        chance_of_area_lead,
        luck_of_best_area,
    )
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
    from outperform.stats.dependence import (
        best_of_agreeing,
        best_of_correlated,
        chance_of_best,
        feasible_range,
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
    from outperform.stats.extremes import (
        BestOfDistribution,
        best_of_distribution,
        chance_needed,
        chance_to_reach,
        luck_of_best,
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
    from outperform.stats.picking import PickedRuns, pick_best_against_worst, pick_best_pairs
    from outperform.stats.power import (
        noether_sample_size,
        required_pairs,
        smallest_conclusive,
        smallest_detectable_probability,
        verdict_power,
        verdict_size,
    )
    from outperform.stats.rank_tests import brunner_munzel
    from outperform.stats.repetitions import RepeatedMeans, repeated_means
    from outperform.stats.resampled_scores import (
        prepare_accuracy,
        prepare_auc,
        prepare_balanced_accuracy,
        prepare_f1,
    )
    from outperform.stats.sequential import anytime_power
    from outperform.stats.signed_ranks import wilcoxon_test
    from outperform.stats.sobering import (
        common_area,
        common_area_interval,
        common_chance,
        common_chance_interval,
    )
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
    from outperform.stats.winners import WinnerBootstrap, bootstrap_winner

__all__ = [
    "BestAreaDistribution",
    "BestOfDistribution",
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
    "RepeatedMeans",
    "Spread",
    "SubsetShares",
    "Summary",
    "VarianceComponent",
    "VarianceComponents",
    "VerdictRule",
    "WinnerBootstrap",
    "anytime_interval",
    "anytime_power",
    "area_deviation",
    "area_gap_of_best",
    "best_area_distribution",
    "best_of_agreeing",
    "best_of_correlated",
    "best_of_distribution",
    "best_of_probability",
    "best_of_spreads",
    "best_of_weights",
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
    "feasible_range",
    "find_crossing",
    "gap_of_best",
    "gaussian_best_of",
    "grow_brunner_munzel",
    "hide_runs_to_show",
    "hide_runs_to_undo",
    "hide_to_show",
    "hide_to_show_by_t",
    "hide_to_undo",
    "hide_to_undo_by_t",
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
    "permutation_critical_value",
    "pick_best_against_worst",
    "pick_best_pairs",
    "prepare_accuracy",
    "prepare_auc",
    "prepare_balanced_accuracy",
    "prepare_f1",
    "probability_from_summary",
    "probability_of_outperforming",
    "rank_correlation",
    "repeated_means",
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

_HOMES = {
    name: f"outperform.stats.{module}"
    for module, names in {
        "best_of_chances": [
            "BestOfSpreads",
            "Crossing",
            "Spread",
            "best_of_probability",
            "best_of_spreads",
            "find_crossing",
        ],
        "best_of_n": ["best_of_weights", "expected_best_of", "gaussian_best_of"],
        "best_of_resamples": ["BestOfEstimates", "estimate_best_of"],
        "binormal": [
            "BestAreaDistribution",
            "area_deviation",
            "area_gap_of_best",
            "best_area_distribution",
            "chance_of_area_lead",
            "luck_of_best_area",
        ],
        "crossed_variances": ["VarianceComponent", "VarianceComponents", "variance_components"],
        "decision_rules": [
            "Criteria",
            "CriticalValue",
            "Decisions",
            "decide",
            "permutation_critical_value",
        ],
        "dependence": [
            "best_of_agreeing",
            "best_of_correlated",
            "chance_of_best",
            "feasible_range",
        ],
        "detection": ["NormalScores", "detection_rate", "difference_of_probability"],
        "effect_sizes": [
            "Estimate",
            "MeanDifference",
            "cohens_d",
            "mean_difference",
            "paired_d",
            "rank_correlation",
        ],
        "extremes": [
            "BestOfDistribution",
            "best_of_distribution",
            "chance_needed",
            "chance_to_reach",
            "luck_of_best",
        ],
        "growing_samples": ["GrowingTest", "grow_brunner_munzel"],
        "hiding": [
            "hide_runs_to_show",
            "hide_runs_to_undo",
            "hide_to_show",
            "hide_to_show_by_t",
            "hide_to_undo",
            "hide_to_undo_by_t",
        ],
        "intervals": [
            "Interval",
            "anytime_interval",
            "clopper_pearson_interval",
            "percentile_interval",
            "wilson_interval",
        ],
        "leads": ["chance_of_lead", "gap_of_best"],
        "mean_tests": [
            "EquivalenceTest",
            "equivalence_test",
            "nadeau_bengio_test",
            "paired_t_test",
            "sign_flip_test",
            "welch_t_test",
        ],
        "outperforming": ["outperforming_interval", "probability_of_outperforming"],
        "picking": ["PickedRuns", "pick_best_against_worst", "pick_best_pairs"],
        "power": [
            "noether_sample_size",
            "required_pairs",
            "smallest_conclusive",
            "smallest_detectable_probability",
            "verdict_power",
            "verdict_size",
        ],
        "rank_tests": ["brunner_munzel"],
        "repetitions": ["RepeatedMeans", "repeated_means"],
        "resampled_scores": [
            "prepare_accuracy",
            "prepare_auc",
            "prepare_balanced_accuracy",
            "prepare_f1",
        ],
        "sequential": ["anytime_power"],
        "signed_ranks": ["wilcoxon_test"],
        "sobering": [
            "common_area",
            "common_area_interval",
            "common_chance",
            "common_chance_interval",
        ],
        "subsets": ["SubsetShares", "count_rejections", "count_verdicts"],
        "summaries": ["Summary", "probability_from_summary", "welch_from_summary"],
        "testing": ["HypothesisTest"],
        "variances": ["binomial_deviation", "deviation", "deviation_ratio", "normality_pvalue"],
        "verdict_rules": ["VerdictRule"],
        "winners": ["WinnerBootstrap", "bootstrap_winner"],
    }.items()
    for name in names
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'outperform.stats' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
