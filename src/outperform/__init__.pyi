from outperform import stats as stats
from outperform.errors import OutperformError as OutperformError
from outperform.plots import plot as plot
from outperform.questions.audit.answer import audit as audit
from outperform.questions.audit.result import Audit as Audit
from outperform.questions.audit.result import SelfAudit as SelfAudit
from outperform.questions.best_of.answer import best_of_runs as best_of_runs
from outperform.questions.best_of.result import BestOf as BestOf
from outperform.questions.best_of.result import BestOfComparison as BestOfComparison
from outperform.questions.best_of.result import BestOfEach as BestOfEach
from outperform.questions.check.answer import check as check
from outperform.questions.check.result import Reproducibility as Reproducibility
from outperform.questions.compare.answer import compare as compare
from outperform.questions.compare.answer import compare_runs as compare_runs
from outperform.questions.compare.decision import Decision as Decision
from outperform.questions.compare.gate import Gate as Gate
from outperform.questions.compare.gate import decide_gate as decide_gate
from outperform.questions.compare.published import PublishedComparison as PublishedComparison
from outperform.questions.compare.published import compare_published as compare_published
from outperform.questions.compare.result import Comparison as Comparison
from outperform.questions.compare.sequential_run import run_until_decided as run_until_decided
from outperform.questions.compare.task_results import TaskComparisons as TaskComparisons
from outperform.questions.decompose.answer import decompose as decompose
from outperform.questions.decompose.result import Decomposition as Decomposition
from outperform.questions.decompose.result_of_several import Decompositions as Decompositions
from outperform.questions.plan.answer import Plan as Plan
from outperform.questions.plan.answer import plan as plan
from outperform.questions.simulate.answer import simulate_error_rates as simulate_error_rates
from outperform.questions.simulate.measured_variation import measure_variation as measure_variation
from outperform.questions.simulate.resampling import resample_error_rates as resample_error_rates
from outperform.questions.simulate.result import ErrorRates as ErrorRates
from outperform.questions.simulate.scenarios import describe_variation as describe_variation
from outperform.questions.simulate.seeds_curve import SeedsCurve as SeedsCurve
from outperform.questions.simulate.tracing_seeds import trace_seeds as trace_seeds
from outperform.questions.sota.expected_best import ExpectedBest as ExpectedBest
from outperform.questions.sota.expected_best import expect_best as expect_best
from outperform.questions.sota.leaderboards import LeaderboardAssessment as LeaderboardAssessment
from outperform.questions.sota.leaderboards import assess_leaderboard as assess_leaderboard
from outperform.questions.sota.predicted_leaderboards import (
    PredictionAssessment as PredictionAssessment,
)
from outperform.questions.sota.predicted_leaderboards import (
    assess_predictions as assess_predictions,
)
from outperform.runner.coordinator import run as run
from outperform.runs import Runs as Runs
from outperform.runs import join_runs as join_runs
from outperform.stats import Summary as Summary
from outperform.stats import expected_best_of as expected_best_of
from outperform.store.reading import read_runs as read_runs
from outperform.study.datasets import Dataset as Dataset
from outperform.study.designs import Crossed as Crossed
from outperform.study.designs import FixHopt as FixHopt
from outperform.study.designs import Ideal as Ideal
from outperform.study.designs import Variance as Variance
from outperform.study.pipelines import Pipeline as Pipeline
from outperform.study.spaces import Choices as Choices
from outperform.study.spaces import Integers as Integers
from outperform.study.spaces import LogUniform as LogUniform
from outperform.study.spaces import Uniform as Uniform
from outperform.study.splits import CrossValidation as CrossValidation
from outperform.study.splits import FixedSplit as FixedSplit
from outperform.study.splits import HoldOut as HoldOut
from outperform.study.splits import OutOfBootstrap as OutOfBootstrap
from outperform.study.splits import Split as Split
from outperform.study.study import Study as Study
from outperform.study.study_file import read_study as read_study
from outperform.study.tasks import Task as Task

__version__: str
