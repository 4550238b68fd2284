from outperform.stats.aggregate_bootstrap import AggregateScores as AggregateScores
from outperform.stats.aggregate_bootstrap import BootstrapEstimate as BootstrapEstimate
from outperform.stats.aggregate_bootstrap import PerformanceProfiles as PerformanceProfiles
from outperform.stats.aggregate_bootstrap import aggregate_scores as aggregate_scores
from outperform.stats.aggregate_bootstrap import performance_profiles as performance_profiles
from outperform.stats.best_of_dependent import best_of_agreeing as best_of_agreeing
from outperform.stats.best_of_dependent import best_of_correlated as best_of_correlated
from outperform.stats.best_of_dependent import chance_of_best as chance_of_best
from outperform.stats.best_of_dependent import chance_of_lead as chance_of_lead
from outperform.stats.best_of_dependent import common_chance as common_chance
from outperform.stats.best_of_dependent import common_chance_interval as common_chance_interval
from outperform.stats.best_of_dependent import feasible_range as feasible_range
from outperform.stats.best_of_dependent import gap_of_best as gap_of_best
from outperform.stats.best_of_dependent import miss_of_alike as miss_of_alike
from outperform.stats.best_of_many import BestOfDistribution as BestOfDistribution
from outperform.stats.best_of_many import best_of_distribution as best_of_distribution
from outperform.stats.best_of_many import chance_needed as chance_needed
from outperform.stats.best_of_many import chance_to_reach as chance_to_reach
from outperform.stats.best_of_many import luck_of_best as luck_of_best
from outperform.stats.best_of_n import best_of_weights as best_of_weights
from outperform.stats.best_of_n import expected_best_of as expected_best_of
from outperform.stats.best_of_n import gaussian_best_of as gaussian_best_of
from outperform.stats.best_of_resamples import BestOfEstimates as BestOfEstimates
from outperform.stats.best_of_resamples import BestOfSpreads as BestOfSpreads
from outperform.stats.best_of_resamples import Crossing as Crossing
from outperform.stats.best_of_resamples import Spread as Spread
from outperform.stats.best_of_resamples import best_of_probability as best_of_probability
from outperform.stats.best_of_resamples import best_of_spreads as best_of_spreads
from outperform.stats.best_of_resamples import estimate_best_of as estimate_best_of
from outperform.stats.best_of_resamples import find_crossing as find_crossing
from outperform.stats.binormal import BestAreaDistribution as BestAreaDistribution
from outperform.stats.binormal import area_deviation as area_deviation
from outperform.stats.binormal import area_gap_of_best as area_gap_of_best
from outperform.stats.binormal import best_area_distribution as best_area_distribution
from outperform.stats.binormal import chance_of_area_lead as chance_of_area_lead
from outperform.stats.binormal import common_area as common_area
from outperform.stats.binormal import common_area_interval as common_area_interval
from outperform.stats.binormal import luck_of_best_area as luck_of_best_area
from outperform.stats.budget_split import BudgetSplit as BudgetSplit
from outperform.stats.budget_split import Efforts as Efforts
from outperform.stats.budget_split import Variation as Variation
from outperform.stats.budget_split import best_split as best_split
from outperform.stats.budget_split import cheapest_repetitions as cheapest_repetitions
from outperform.stats.budget_split import effective_scores as effective_scores
from outperform.stats.budget_split import scores_of_one_repetition as scores_of_one_repetition
from outperform.stats.budget_split import (
    smallest_shown_probability as smallest_shown_probability,
)
from outperform.stats.decision_rules import Criteria as Criteria
from outperform.stats.decision_rules import CriticalValue as CriticalValue
from outperform.stats.decision_rules import Decisions as Decisions
from outperform.stats.decision_rules import NormalScores as NormalScores
from outperform.stats.decision_rules import decide as decide
from outperform.stats.decision_rules import detection_rate as detection_rate
from outperform.stats.decision_rules import difference_of_probability as difference_of_probability
from outperform.stats.decision_rules import permutation_critical_value as permutation_critical_value
from outperform.stats.dependent_replicates import CombinedDifference as CombinedDifference
from outperform.stats.dependent_replicates import ResampledDifference as ResampledDifference
from outperform.stats.dependent_replicates import combine_designs as combine_designs
from outperform.stats.dependent_replicates import (
    coverage_after_one_search as coverage_after_one_search,
)
from outperform.stats.dependent_replicates import nadeau_bengio_test as nadeau_bengio_test
from outperform.stats.dependent_replicates import required_resplits as required_resplits
from outperform.stats.dependent_replicates import resampled_difference as resampled_difference
from outperform.stats.dependent_replicates import resampled_power as resampled_power
from outperform.stats.dependent_replicates import resplit_floor as resplit_floor
from outperform.stats.design_quality import DesignQuality as DesignQuality
from outperform.stats.design_quality import DeviationEstimates as DeviationEstimates
from outperform.stats.design_quality import EstimateCurve as EstimateCurve
from outperform.stats.design_quality import Reach as Reach
from outperform.stats.design_quality import assess_design as assess_design
from outperform.stats.design_quality import assess_deviations as assess_deviations
from outperform.stats.effect_sizes import Estimate as Estimate
from outperform.stats.effect_sizes import MeanDifference as MeanDifference
from outperform.stats.effect_sizes import cohens_d as cohens_d
from outperform.stats.effect_sizes import mean_difference as mean_difference
from outperform.stats.effect_sizes import paired_d as paired_d
from outperform.stats.effect_sizes import rank_correlation as rank_correlation
from outperform.stats.intervals import Interval as Interval
from outperform.stats.intervals import anytime_interval as anytime_interval
from outperform.stats.intervals import clopper_pearson_interval as clopper_pearson_interval
from outperform.stats.intervals import exact_interval as exact_interval
from outperform.stats.intervals import percentile_interval as percentile_interval
from outperform.stats.intervals import smallest_conclusive as smallest_conclusive
from outperform.stats.intervals import wilson_interval as wilson_interval
from outperform.stats.mean_tests import EquivalenceTest as EquivalenceTest
from outperform.stats.mean_tests import HypothesisTest as HypothesisTest
from outperform.stats.mean_tests import Summary as Summary
from outperform.stats.mean_tests import equivalence_test as equivalence_test
from outperform.stats.mean_tests import paired_t_test as paired_t_test
from outperform.stats.mean_tests import probability_from_summary as probability_from_summary
from outperform.stats.mean_tests import sign_flip_test as sign_flip_test
from outperform.stats.mean_tests import welch_from_summary as welch_from_summary
from outperform.stats.mean_tests import welch_t_test as welch_t_test
from outperform.stats.multiple_tests import PartialConjunction as PartialConjunction
from outperform.stats.multiple_tests import benjamini_hochberg as benjamini_hochberg
from outperform.stats.multiple_tests import bonferroni as bonferroni
from outperform.stats.multiple_tests import count_all_pairs as count_all_pairs
from outperform.stats.multiple_tests import holm as holm
from outperform.stats.multiple_tests import maybe_best as maybe_best
from outperform.stats.multiple_tests import partial_conjunction as partial_conjunction
from outperform.stats.multiple_tests import t_test_all_pairs as t_test_all_pairs
from outperform.stats.outperforming import outperforming_interval as outperforming_interval
from outperform.stats.outperforming import outperforming_pvalue as outperforming_pvalue
from outperform.stats.outperforming import (
    probability_of_outperforming as probability_of_outperforming,
)
from outperform.stats.rank_sets import RankSets as RankSets
from outperform.stats.rank_sets import rank_confidence_sets as rank_confidence_sets
from outperform.stats.rank_tests import GrowingTest as GrowingTest
from outperform.stats.rank_tests import brunner_munzel as brunner_munzel
from outperform.stats.rank_tests import grow_brunner_munzel as grow_brunner_munzel
from outperform.stats.rank_tests import wilcoxon_pvalues as wilcoxon_pvalues
from outperform.stats.rank_tests import wilcoxon_test as wilcoxon_test
from outperform.stats.runs_to_hide import hide_runs_to_show as hide_runs_to_show
from outperform.stats.runs_to_hide import hide_runs_to_undo as hide_runs_to_undo
from outperform.stats.runs_to_hide import hide_to_show as hide_to_show
from outperform.stats.runs_to_hide import hide_to_show_by_t as hide_to_show_by_t
from outperform.stats.runs_to_hide import hide_to_undo as hide_to_undo
from outperform.stats.runs_to_hide import hide_to_undo_by_t as hide_to_undo_by_t
from outperform.stats.sequential import anytime_power as anytime_power
from outperform.stats.sequential import may_still_win as may_still_win
from outperform.stats.sequential import second_look_level as second_look_level
from outperform.stats.sequential_test import OperatingPoint as OperatingPoint
from outperform.stats.sequential_test import SequentialPath as SequentialPath
from outperform.stats.sequential_test import SequentialTest as SequentialTest
from outperform.stats.sequential_test import (
    plan_sequential_test as plan_sequential_test,
)
from outperform.stats.sequential_test import trace_path as trace_path
from outperform.stats.several_searches import SearchesDifference as SearchesDifference
from outperform.stats.several_searches import difference_over_searches as difference_over_searches
from outperform.stats.several_searches import (
    equivalence_over_searches as equivalence_over_searches,
)
from outperform.stats.several_searches import required_searches as required_searches
from outperform.stats.subsets import PickedRuns as PickedRuns
from outperform.stats.subsets import SubsetShares as SubsetShares
from outperform.stats.subsets import count_rejections as count_rejections
from outperform.stats.subsets import count_verdicts as count_verdicts
from outperform.stats.subsets import pick_best_against_worst as pick_best_against_worst
from outperform.stats.subsets import pick_best_pairs as pick_best_pairs
from outperform.stats.task_aggregates import interquartile_mean as interquartile_mean
from outperform.stats.task_aggregates import optimality_gap as optimality_gap
from outperform.stats.task_probabilities import AverageProbability as AverageProbability
from outperform.stats.task_probabilities import average_probability as average_probability
from outperform.stats.task_ranks import FriedmanStatistics as FriedmanStatistics
from outperform.stats.task_ranks import FriedmanTest as FriedmanTest
from outperform.stats.task_ranks import NemenyiTest as NemenyiTest
from outperform.stats.task_ranks import SkillingsMackTest as SkillingsMackTest
from outperform.stats.task_ranks import average_ranks as average_ranks
from outperform.stats.task_ranks import friedman as friedman
from outperform.stats.task_ranks import nemenyi as nemenyi
from outperform.stats.task_ranks import skillings_mack as skillings_mack
from outperform.stats.variance_sources import RepeatedMeans as RepeatedMeans
from outperform.stats.variance_sources import VarianceComponent as VarianceComponent
from outperform.stats.variance_sources import VarianceComponents as VarianceComponents
from outperform.stats.variance_sources import repeated_means as repeated_means
from outperform.stats.variance_sources import variance_components as variance_components
from outperform.stats.variances import binomial_deviation as binomial_deviation
from outperform.stats.variances import deviation as deviation
from outperform.stats.variances import deviation_ratio as deviation_ratio
from outperform.stats.variances import normality_pvalue as normality_pvalue
from outperform.stats.verdicts import VerdictRule as VerdictRule
from outperform.stats.verdicts import noether_sample_size as noether_sample_size
from outperform.stats.verdicts import required_pairs as required_pairs
from outperform.stats.verdicts import (
    smallest_detectable_probability as smallest_detectable_probability,
)
from outperform.stats.verdicts import verdict_power as verdict_power
from outperform.stats.verdicts import verdict_size as verdict_size
from outperform.stats.winner_bootstrap import WinnerBootstrap as WinnerBootstrap
from outperform.stats.winner_bootstrap import bootstrap_winner as bootstrap_winner
from outperform.stats.winner_bootstrap import prepare_accuracy as prepare_accuracy
from outperform.stats.winner_bootstrap import prepare_auc as prepare_auc
from outperform.stats.winner_bootstrap import prepare_balanced_accuracy as prepare_balanced_accuracy
from outperform.stats.winner_bootstrap import prepare_f1 as prepare_f1
