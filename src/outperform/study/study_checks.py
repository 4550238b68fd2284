"""Refusing studies that make no sense, before anything is trained.

Every refusal names the entry of a study file that it belongs to, so that its line can be said.
"""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from outperform.errors import InvalidInput
from outperform.stats.checks import check_count
from outperform.study.command_pipeline import CommandPipeline
from outperform.study.designs import (
    MOST_RUNS,
    Design,
    FixHopt,
    PairedDesign,
    ResampledHopt,
    SimulatedHopt,
    Variance,
    count_runs,
)
from outperform.study.estimator_pipeline import EstimatorPipeline, check_metric
from outperform.study.pipelines import FunctionPipeline, Pipeline
from outperform.study.simulated_searches import count_needed_trials
from outperform.study.sources import ALL, LEARNING_SOURCES, check_sources
from outperform.study.spaces import Dimension
from outperform.study.splits import CrossValidation, FixedSplit
from outperform.study.study_file_entries import check_name, check_names, entry
from outperform.study.tasks import BUNDLED, Task
from outperform.study.tuners import TUNERS, make_tuner
from outperform.wording import count, enumerate_names, find_near, suggest_names

if TYPE_CHECKING:
    from outperform.study.study import Study

_LONGEST = 366 * 24 * 3600  # seconds that a fit may be given


def list_parts(words: str, parts: Any, kind: type) -> tuple[Any, ...]:
    """Pipelines, tasks or designs of a study; refused if there are none, or others among them."""
    if isinstance(parts, kind):
        raise InvalidInput(f"{words} is one {kind.__name__.lower()}", f"Pass a list: {words}=[...]")
    if not isinstance(parts, Iterable):
        raise InvalidInput(f"{words} is {parts!r}", f"Pass a list: {words}=[...]")
    word, listed = words.removesuffix("s"), tuple(parts)
    if not listed:
        raise InvalidInput(
            f"the study has no {words}",
            f"Add at least one; in a study file, it begins with [[{word}]]",
        )
    for part in listed:
        if isinstance(part, type) or not isinstance(part, kind):
            example = {"pipelines": 'Pipeline("name", ...)', "tasks": 'Task("name", metric=...)'}
            raise InvalidInput(
                f"{words} hold {part!r}, which is no {word}",
                f"Pass one such as {example.get(words, 'Ideal(51)')}",
            )
    return listed


def score_by_task(pipelines: Sequence[Pipeline], tasks: Sequence[Task]) -> tuple[Pipeline, ...]:
    """Pipelines of which those that scikit-learn scores know the one metric of all tasks."""
    if any(isinstance(pipeline, EstimatorPipeline) for pipeline in pipelines):
        with entry("task", 0, "metric"):
            check_metric(tasks[0].metric)
    for place, task in enumerate(tasks):
        for word in ("metric", "goal"):
            first, other = getattr(tasks[0], word), getattr(task, word)
            if first != other:
                raise InvalidInput(
                    f"the tasks have different {word}s ({first}, {other})",
                    "Make a study per metric: scores of different metrics cannot be compared",
                    where=("task", place, word),
                )
    return tuple(
        pipeline.score_by(tasks[0].metric)
        if isinstance(pipeline, EstimatorPipeline) and pipeline.metric is None
        else pipeline
        for pipeline in pipelines
    )


def check_study(study: "Study") -> None:
    """Refuse settings out of range, and parts that do not fit together."""
    check_name("study", study.name)
    check_names("pipeline", [pipeline.name for pipeline in study.pipelines])
    check_names("task", [task.name for task in study.tasks])
    _check_settings(study)
    for place, pipeline in enumerate(study.pipelines):
        if isinstance(pipeline, EstimatorPipeline):  # the others see to it themselves
            with entry("task", 0):
                _check_metric(pipeline, study.tasks[0])
            _check_data(pipeline, study.tasks)
        with entry("pipeline", place):
            _check_space_and_sources(pipeline)
            if isinstance(pipeline, FunctionPipeline | CommandPipeline):
                _check_asked(pipeline, study.tasks)
            if isinstance(pipeline, CommandPipeline):
                _check_split(pipeline, study)
    for place, design in enumerate(study.designs):
        with entry("design", place):
            if design in study.designs[:place]:
                raise InvalidInput(
                    f"the same {design.kind} design is there twice", "Keep one of them"
                )
            word = "vary" if isinstance(design, FixHopt) else "sources"
            if getattr(design, word, ()) != ():
                _check_redrawn(design, word, study)
            if isinstance(design, Variance | SimulatedHopt | ResampledHopt):
                _check_searches(design, study)
            _check_n_runs(design, study)


def _check_settings(study: "Study") -> None:
    with entry("seed"):
        check_count("seed", study.seed, at_least=0)
    with entry("tuning", "trials"):
        check_count("trials", study.trials, at_least=1, at_most=MOST_RUNS)
    with entry("tuning", "tuner"):
        make_tuner(study.tuner)
    with entry("limits", "retries"):
        check_count("retries", study.retries, at_least=0)
    is_number = isinstance(study.timeout, int | float) and not isinstance(study.timeout, bool)
    if study.timeout is not None and not (is_number and 0 < study.timeout <= _LONGEST):
        raise InvalidInput(
            f"timeout is {study.timeout}",
            "Pass a positive number of seconds, up to a year, or leave it out: then there is "
            "no limit",
            where=("limits", "timeout"),
        )


def _check_metric(pipeline: EstimatorPipeline, task: Task) -> None:
    """Refuse a pipeline that scores by another metric than that of the tasks, or the other way."""
    if pipeline.metric != task.metric:
        raise InvalidInput(
            f"the metric of task {task.name!r} is {task.metric}, but pipeline "
            f"{pipeline.name!r} reports {pipeline.metric}",
            "Give both the same metric",
            where=("metric",),
        )
    if task.goal == "minimize":
        raise InvalidInput(
            f"the goal of task {task.name!r} is to minimize {task.metric}, but the scorers of "
            "scikit-learn are all better when higher",
            'Set goal = "maximize"; losses have scorers such as neg_log_loss',
            where=("goal",),
        )


def _check_data(pipeline: EstimatorPipeline, tasks: Sequence[Task]) -> None:
    """Refuse tasks without data, perhaps as the name of a bundled dataset is misspelt."""
    for place, task in enumerate(tasks):
        if task.data is None:
            near = find_near(task.name, BUNDLED)
            guess = f'Did you mean data = "{near[0]}"? ' if near else ""
            raise InvalidInput(
                f"pipeline {pipeline.name!r} needs data, and task {task.name!r} has none",
                f"{guess}Give the task its data: {enumerate_names(BUNDLED)}, a CSV or NPZ file, or "
                "a function that loads it",
                where=("task", place, "name"),
            )


def _check_space_and_sources(pipeline: Pipeline) -> None:
    """Refuse numbers and pairs as a space, and own sources one slip away from a usual one."""
    for name, dimension in pipeline.space.items():
        if not isinstance(dimension, Dimension):
            raise InvalidInput(
                f"pipeline {pipeline.name!r} searches {name!r} in {dimension!r}",
                "Pass Uniform(low, high), LogUniform(low, high), Integers(low, high) or "
                "Choices([...])",
            )
    with entry("sources"):
        check_sources(pipeline.sources)
        for place, name in enumerate(pipeline.sources):
            if name in LEARNING_SOURCES:
                continue
            near = [usual for usual in LEARNING_SOURCES if _drop_one(usual) & _drop_one(name)]
            if near:
                raise InvalidInput(
                    f"pipeline {pipeline.name!r} has a source {name!r}, all but {near[0]!r}",
                    f"Write {near[0]!r}, or give a source of your own a name less like it",
                    where=(place,),
                )


def _drop_one(word: str) -> set[str]:
    """A word without any one letter; words share one if a letter was added, lost or swapped."""
    word = word.casefold()
    return {word, *(word[:i] + word[i + 1 :] for i in range(len(word)))}


def _check_asked(pipeline: FunctionPipeline | CommandPipeline, tasks: Sequence[Task]) -> None:
    """Refuse tasks and folds that a pipeline would never hear of, and data that is not there."""
    by_command = isinstance(pipeline, CommandPipeline)
    remedy = "Put {{{0}}} into its command" if by_command else "Give its function a parameter {0}"
    with entry("command" if by_command else "function"):
        if len(tasks) > 1 and "task" not in pipeline.asks:
            raise InvalidInput(
                f"pipeline {pipeline.name!r} cannot tell which of {len(tasks)} tasks it is on",
                f"{remedy.format('task')}, or make a study per task",
            )
        for task in tasks:
            splits_itself = task.data is None or not pipeline.gets_split
            folds = isinstance(task.splitter, CrossValidation) and splits_itself
            if folds and "fold" not in pipeline.asks:
                raise InvalidInput(
                    f"pipeline {pipeline.name!r} is not told the fold of the cross-validation",
                    f"{remedy.format('fold')}, or split in another way",
                )
            word = "split" if by_command else "data"
            if task.data is None and word in pipeline.asks:
                raise InvalidInput(
                    f"pipeline {pipeline.name!r} asks for the {word} of task {task.name!r}, which "
                    "has no data",
                    "Give the task its data, or let the pipeline see to its own",
                )


def _check_split(pipeline: CommandPipeline, study: "Study") -> None:
    """Refuse a command that keeps its split, or makes its own, where pairs share the split."""
    paired = [design for design in study.designs if isinstance(design, PairedDesign)]
    if not paired:
        return
    redrawn = [design.kind for design in paired if design.redraws == ALL]
    others = [other for other in study.pipelines if other is not pipeline]
    for task in study.tasks:
        handed = [other.name for other in others if task.redraws_split and other.gets_split]
        moved = handed or [other.name for other in others if "split" in other.sources]
        moves = task.redraws_split or (moved and not isinstance(task.splitter, FixedSplit))
        with entry("command"):
            if redrawn and moves and "split" not in pipeline.sources:
                whose = enumerate_names(moved) if moved else f"task {task.name!r}"
                raise InvalidInput(
                    f"the command of pipeline {pipeline.name!r} never hears of the split, while "
                    f"that of {whose} is redrawn in every replicate of {redrawn[0]}",
                    f"{_suggest_split(task)}; or fix the split for all",
                )
            if handed and not pipeline.gets_split:
                raise InvalidInput(
                    f"the command of pipeline {pipeline.name!r} splits by itself, while the split "
                    f"of task {task.name!r} is handed to {enumerate_names(handed)}: their runs "
                    "would be no pairs",
                    _suggest_split(task),
                )


def _suggest_split(task: Task) -> str:
    if task.data is None:
        return "Put {seed.split} into it, and let the program split by that seed"
    return "Put {split} into its command: a JSON file with the positions of train, valid and test"


def _check_redrawn(design: Design, word: str, study: "Study") -> None:
    """Refuse sources to be redrawn that a pipeline does not honour, or that are fixed."""
    named: tuple[str, ...] = getattr(design, word)
    with entry(word):
        check_sources(named)
    is_fixed = all(isinstance(task.splitter, FixedSplit) for task in study.tasks)
    for place, name in enumerate(named):
        with entry(word, place):
            if name == "split" and is_fixed:
                raise InvalidInput(
                    "the split is fixed: redrawing it would change nothing",
                    f"Leave it out of {word}",
                )
            for pipeline in study.pipelines:
                own = [draw.honoured for draw in study.draws if draw.pipeline is pipeline]
                known = dict.fromkeys(chain(*own))
                if name not in known:
                    raise InvalidInput(
                        f"pipeline {pipeline.name!r} does not honour {name}: redrawing it would "
                        "change nothing",
                        suggest_names(name, list(known)) if known else f"Leave it out of {word}",
                    )


def _check_n_runs(design: Design, study: "Study") -> None:
    """Refuse more runs than can be planned."""
    n_runs = sum(count_runs(design, draw) for draw in study.draws)
    if n_runs > MOST_RUNS:
        raise InvalidInput(
            f"the {design.kind} design has {n_runs:,} runs of "
            f"{count(len(study.pipelines), 'pipeline')} on {count(len(study.tasks), 'task')}",
            f"Ask for fewer: {MOST_RUNS:,} at most",
        )


def _check_searches(design: Variance | SimulatedHopt | ResampledHopt, study: "Study") -> None:
    """Refuse searches of nothing, and those that cannot be redrawn, before any is paid for."""
    searched = [pipeline for pipeline in study.pipelines if pipeline.space]
    if isinstance(design, Variance) and design.n_searches and not searched:
        raise InvalidInput(
            f"searches is {design.n_searches}, but no pipeline has hyperparameters to search",
            "Give one a space, or leave out searches",
            where=("searches",),
        )
    if not searched or isinstance(design, Variance):
        return
    if study.trials < 2:
        raise InvalidInput(
            f"{design.kind} redraws a search of {study.trials} trial, which chooses nothing",
            "Let trials be 20 or more, or use fix-hopt",
        )
    if isinstance(design, ResampledHopt) and not TUNERS[study.tuner].draws_alike:
        raise InvalidInput(
            f"resampled-hopt redraws trials of {study.tuner} search, which are not exchangeable",
            'Search with tuner = "random", or use simulated-hopt',
        )
    if study.tuner == "grid":
        raise InvalidInput(
            f"{design.kind} simulates grid search, which tries the same points whatever the seed, "
            "so that every simulated search chooses the same",
            'Search with tuner = "noisy-grid" or "random", or use fix-hopt',
        )
    if isinstance(design, SimulatedHopt):
        _check_surrogates(design, searched, study)


def _check_surrogates(design: SimulatedHopt, searched: Sequence[Pipeline], study: "Study") -> None:
    for pipeline in searched:
        needed = count_needed_trials(pipeline.space, design.best_share)
        if study.trials < needed:
            raise InvalidInput(
                f"simulated-hopt models searches of {study.trials} trials, too few for the "
                f"{len(pipeline.space)} hyperparameters of pipeline {pipeline.name!r}",
                f"Let trials be {needed} at the very least, better 50, or use fix-hopt",
            )
    shares = {each.best_share for each in study.designs if isinstance(each, SimulatedHopt)}
    if len(shares) > 1:
        raise InvalidInput(
            f"simulated-hopt is there with best_share {enumerate_names(map(str, shares))}",
            "Make a study per share: their runs have the same names",
        )
