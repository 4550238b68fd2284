from outperform import stats as stats
from outperform.engines.engine import open_engine as open_engine
from outperform.engines.futures import FuturesEngine as FuturesEngine
from outperform.errors import OutperformError as OutperformError
from outperform.questions.audit.answer import audit as audit
from outperform.questions.audit.result import Audit as Audit
from outperform.questions.audit.result import SelfAudit as SelfAudit
from outperform.questions.audit.task_results import TaskAudits as TaskAudits
from outperform.questions.audit.task_results import TaskSelfAudits as TaskSelfAudits
from outperform.questions.best_of.answer import best_of_runs as best_of_runs
from outperform.questions.best_of.result import BestOf as BestOf
from outperform.questions.best_of.result import BestOfComparison as BestOfComparison
from outperform.questions.best_of.result import BestOfEach as BestOfEach
from outperform.questions.best_of.search_trials import collect_trials as collect_trials
from outperform.questions.check.answer import check as check
from outperform.questions.check.result import Reproducibility as Reproducibility
from outperform.questions.compare.answer import compare as compare
from outperform.questions.compare.answer import compare_runs as compare_runs
from outperform.questions.compare.decision import Decision as Decision
from outperform.questions.compare.gate import Gate as Gate
from outperform.questions.compare.gate import decide_gate as decide_gate
from outperform.questions.compare.published import PublishedComparison as PublishedComparison
from outperform.questions.compare.published import compare_published as compare_published
from outperform.questions.compare.published_tasks import PublishedTasks as PublishedTasks
from outperform.questions.compare.published_tasks import PublishedTasksTried as PublishedTasksTried
from outperform.questions.compare.published_tasks import (
    compare_published_table as compare_published_table,
)
from outperform.questions.compare.result import Comparison as Comparison
from outperform.questions.compare.sequential import (
    SequentialComparison as SequentialComparison,
)
from outperform.questions.compare.sequential import (
    compare_sequentially as compare_sequentially,
)
from outperform.questions.compare.task_results import TaskComparisons as TaskComparisons
from outperform.questions.compare.until_decided import run_until_decided as run_until_decided
from outperform.questions.decompose.answer import decompose as decompose
from outperform.questions.decompose.answer import decompose_crossed as decompose_crossed
from outperform.questions.decompose.result import CrossedDecomposition as CrossedDecomposition
from outperform.questions.decompose.result import Decomposition as Decomposition
from outperform.questions.decompose.result import Decompositions as Decompositions
from outperform.questions.decompose.search_curves import SearchCurves as SearchCurves
from outperform.questions.decompose.search_curves import trace_searches as trace_searches
from outperform.questions.plan.answer import plan as plan
from outperform.questions.plan.budget_answer import plan_budget as plan_budget
from outperform.questions.plan.budget_result import BudgetPlan as BudgetPlan
from outperform.questions.plan.result import Plan as Plan
from outperform.questions.quality.answer import measure_quality as measure_quality
from outperform.questions.quality.result import Quality as Quality
from outperform.questions.rank.answer import rank_runs as rank_runs
from outperform.questions.rank.result import RankedAlgorithm as RankedAlgorithm
from outperform.questions.rank.result import RankedPair as RankedPair
from outperform.questions.rank.result import RankedTask as RankedTask
from outperform.questions.rank.result import Ranking as Ranking
from outperform.questions.reporting import answer_all as answer_all
from outperform.questions.simulate.answer import resample_error_rates as resample_error_rates
from outperform.questions.simulate.answer import simulate_error_rates as simulate_error_rates
from outperform.questions.simulate.result import ErrorRates as ErrorRates
from outperform.questions.simulate.result import SeedsCurve as SeedsCurve
from outperform.questions.simulate.scenarios import describe_variation as describe_variation
from outperform.questions.simulate.scenarios import measure_variation as measure_variation
from outperform.questions.simulate.scenarios import read_scenarios as read_scenarios
from outperform.questions.simulate.seeds import trace_run_seeds as trace_run_seeds
from outperform.questions.simulate.seeds import trace_seeds as trace_seeds
from outperform.questions.sota.answer import assess_leaderboard as assess_leaderboard
from outperform.questions.sota.answer import assess_predictions as assess_predictions
from outperform.questions.sota.answer import best_of_equals as best_of_equals
from outperform.questions.sota.result import BestOfEquals as BestOfEquals
from outperform.questions.sota.result import LeaderboardAssessment as LeaderboardAssessment
from outperform.questions.sota.result import PredictionAssessment as PredictionAssessment
from outperform.render.figures import plot as plot
from outperform.render.figures import save_figure as save_figure
from outperform.render.html import write_report as write_report
from outperform.render.paper import render_paper as render_paper
from outperform.runner.coordinator import run as run
from outperform.runner.cost import RunCost as RunCost
from outperform.runner.cost import estimate_cost as estimate_cost
from outperform.runs import Runs as Runs
from outperform.runs import join_runs as join_runs
from outperform.stats import Summary as Summary
from outperform.stats import expected_best_of as expected_best_of
from outperform.store.copying import copy_store as copy_store
from outperform.store.status import read_status as read_status
from outperform.store.store import open_store as open_store
from outperform.store.store import read_runs as read_runs
from outperform.study.datasets import Dataset as Dataset
from outperform.study.designs import Crossed as Crossed
from outperform.study.designs import FixHopt as FixHopt
from outperform.study.designs import Ideal as Ideal
from outperform.study.designs import ResampledHopt as ResampledHopt
from outperform.study.designs import SimulatedHopt as SimulatedHopt
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
