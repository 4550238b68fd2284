"""Which fits each design needs, and that seeds move only where they should."""

from dataclasses import replace

import pytest

from outperform.errors import InvalidInput
from outperform.study.command_pipeline import CommandPipeline
from outperform.study.designs import Crossed, FixHopt, Ideal, Variance, make_design
from outperform.study.estimator_pipeline import EstimatorPipeline
from outperform.study.fits import Draw
from outperform.study.pipelines import FunctionPipeline, Pipeline
from outperform.study.sources import ALL, NOISE
from outperform.study.spaces import Uniform
from outperform.study.splits import CrossValidation, FixedSplit
from outperform.study.study import Study
from outperform.study.tasks import Task


def fit(params, split, seeds):
    return {"valid": 0.0, "test": 0.0}


SOURCES = ("split", "init", "order")
PIPELINE = FunctionPipeline("net", fit, {"lr": Uniform(0, 1)}, SOURCES)
OTHER = FunctionPipeline("other", fit, {"depth": Uniform(0, 1)}, ("split", "init"))
TASK = Task("toy", metric="accuracy")
DIGITS = Task("digits", metric="accuracy")


def plan(design, pipeline=PIPELINE, task=TASK, root=0):
    return list(design.plan_runs(Draw(pipeline, task, root, "random", 10)))


def varied(runs):
    """Sources whose seed is not the same in all runs."""
    seeds = [dict(run.seeds) for run in runs]
    names = {name for seed in seeds for name in seed}
    return {name for name in names if len({seed.get(name) for seed in seeds}) > 1}


def test_ideal_searches_anew_for_every_replicate():
    runs = plan(Ideal(5))
    assert len({run.search for run in runs}) == 5
    assert {"split", "init", "order", "hpo"} <= varied(runs)
    assert all(run.search.seeds == run.seeds for run in runs)


def test_fix_hopt_searches_once_and_varies_what_it_is_told():
    runs = plan(FixHopt(5, ("init",)))
    assert len({run.search for run in runs}) == 1
    assert varied(runs) == {"init"}
    assert {run.source for run in runs} == {"init"}


def test_fix_hopt_varies_all_learning_sources_by_default():
    runs = plan(FixHopt(5))
    assert "hpo" not in varied(runs)
    assert set(SOURCES) <= varied(runs)


def test_the_first_ideal_replicate_and_fix_hopt_share_their_search():
    assert plan(Ideal(3))[0].search == plan(FixHopt(3))[0].search


def test_repetitions_fix_what_they_do_not_vary():
    runs = plan(FixHopt(3, ("init",), 2))
    first, second = runs[:3], runs[3:]
    assert first == plan(FixHopt(3, ("init",)))
    assert varied(first) == varied(second) == {"init"}
    assert {"split", "init", "order", "hpo"} <= varied([first[1], second[1]])
    assert {run.source for run in second} == {"init, repetition 2"}
    assert [run.replicate for run in runs] == [0, 1, 2, 0, 1, 2]


def test_repetitions_draw_apart_and_stay_when_there_are_more():
    runs = plan(FixHopt(4, n_repetitions=5))
    redrawn = [run for run in runs if run.source == ALL or run.replicate > 0]
    assert len({dict(run.seeds)["init"] for run in redrawn}) == len(redrawn) == 16
    assert all(run in runs for run in plan(FixHopt(2, n_repetitions=3)))


def test_repetitions_begin_with_the_ideal_runs():
    firsts = [run for run in plan(FixHopt(4, ("init",), 3)) if run.replicate == 0]
    assert [(run.seeds, run.search) for run in firsts] == [
        (run.seeds, run.search) for run in plan(Ideal(3))
    ]


def test_variance_redraws_one_source_at_a_time():
    runs = plan(Variance(4, n_searches=3))
    groups = {source: [r for r in runs if r.source == source] for source in (*SOURCES, ALL)}
    for source in SOURCES:
        assert varied(groups[source]) == {source}
        assert all(run.search is None for run in groups[source])
    assert varied(groups[ALL]) == set(SOURCES)
    searches = [run for run in runs if run.source == "hpo"]
    assert len(searches) == 3
    assert varied(searches) == {"hpo"}


def test_noise_repeats_the_same_seeds_as_different_fits():
    noise = [run for run in plan(Variance(4)) if run.source == NOISE]
    assert varied(noise) == {"noise"}
    assert len({run.seeds for run in noise}) == 4


def test_crossed_is_balanced():
    runs = plan(Crossed(3, ("init", "order")))
    assert len({run.seeds for run in runs}) == 9
    inits = [dict(run.seeds)["init"] for run in runs]
    assert {inits.count(seed) for seed in inits} == {3}


def test_more_levels_leave_every_cell_its_number():
    few, many = plan(Crossed(2, ("init", "order"))), plan(Crossed(3, ("init", "order")))
    assert [run.seeds for run in many[:4]] == [run.seeds for run in few]


def test_pipelines_are_paired():
    first, second = plan(Ideal(4)), plan(Ideal(4), OTHER)
    assert [run.seeds for run in first] == [run.seeds for run in second]


def test_a_source_of_ones_own_moves_no_other_seed():
    more = replace(PIPELINE, sources=(*SOURCES, "my_sampler"))
    for first, second in zip(plan(Ideal(4)), plan(Ideal(4), more), strict=True):
        seeds = dict(second.seeds)
        assert seeds.pop("my_sampler") is not None
        assert seeds == dict(first.seeds)


def test_another_root_moves_every_seed():
    first, second = dict(plan(Ideal(1))[0].seeds), dict(plan(Ideal(1), root=1)[0].seeds)
    assert all(first[name] != second[name] for name in first)


def test_folds_of_one_cross_validation_share_their_permutation():
    task = Task("toy", metric="accuracy", splitter=CrossValidation(3))
    runs = plan(Ideal(6), task=task)
    assert [run.make_fit({}).fold for run in runs] == [0, 1, 2, 0, 1, 2]
    splits = [dict(run.seeds)["split"] for run in runs]
    assert len(set(splits[:3])) == len(set(splits[3:])) == 1
    assert splits[0] != splits[3]


def test_fits_are_counted_once():
    study = Study((PIPELINE, OTHER), (TASK,), (Ideal(5), FixHopt(20)), trials=10)
    # Ideal: 5 searches of 10 and 5 fits each. FixHopt adds 20 fits to its first search, the first
    # of which ideal has done.
    assert study.count_fits() == 2 * (5 * 11 + 19)
    assert study.price_alternatives() == {
        "ideal": [("net", "toy", 55), ("other", "toy", 55)],
        "fix-hopt": [("net", "toy", 30), ("other", "toy", 30)],
    }


def test_runs_of_a_pair_come_side_by_side():
    study = Study((PIPELINE, OTHER), (TASK,), (Ideal(2),))
    order = [(run.pipeline, run.replicate) for run in study.plan_runs()]
    assert order == [("net", 0), ("other", 0), ("net", 1), ("other", 1)]


def test_pipelines_may_have_unequal_numbers_of_runs():
    study = Study((PIPELINE, OTHER), (TASK,), (Variance(2),))
    # Of each source, of all together, and of none: 2 * (3 + 2), and one source less of the other.
    assert [run.pipeline for run in study.plan_runs()] == ["net", "other"] * 8 + ["net"] * 2


@pytest.mark.parametrize(
    ("design", "n_runs"),
    [(FixHopt(1001, n_repetitions=1000), "1,001,000"), (Variance(250_000, 1), "1,250,001")],
)
def test_more_runs_than_can_be_planned_are_refused(design, n_runs):
    with pytest.raises(InvalidInput) as caught:
        Study((PIPELINE,), (TASK,), (design,))
    assert str(caught.value) == (
        f"the {design.kind} design has {n_runs} runs of 1 pipeline on 1 task. Ask for fewer: "
        "1,000,000 at most."
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "idael", "replicates": 3}, "there is no design 'idael'. Did you mean 'ideal'"),
        ({"kind": "ideal"}, "does not say how many replicates. Add replicates = 29."),
        ({"kind": "ideal", "replicate": 3}, "has an unknown word 'replicate'. Did you mean"),
        ({"kind": "ideal", "replicates": 0}, "replicates is 0. Pass a whole number not less than"),
        ({"kind": "fix-hopt", "replicates": 3, "vary": ["hpo"]}, "cannot vary 'hpo'"),
        ({"kind": "fix-hopt", "replicates": 3, "vary": []}, 'vary is []. List names, vary = ["in'),
        ({"kind": "variance", "replicates": 3, "sources": ["hpo"]}, "set searches = 20."),
        (
            {"kind": "variance", "replicates": 3, "searches": True},
            "searches is true. Write a whole",
        ),
        ({"knd": "ideal"}, "the design has an unknown word 'knd'. Did you mean 'kind'?"),
        ({"replicates": 3}, "the design has no kind. Give it one of ideal, fix-hopt, simulated-h"),
        ({"kind": 5}, "kind is 5. Write a text: kind ="),
    ],
)
def test_impossible_designs_are_refused(options, message):
    with pytest.raises(InvalidInput) as caught:
        make_design(options)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("design", "message"),
    [
        (
            FixHopt(3, ("split", "dropout")),
            "pipeline 'net' does not honour dropout: redrawing it would change nothing. It has: "
            "split, init, order.",
        ),
        (
            Variance(3, sources=("order",)),
            "pipeline 'other' does not honour order: redrawing it would change nothing. It has: "
            "split, init.",
        ),
        (
            Crossed(3, ("split", "inti")),
            "pipeline 'net' does not honour inti: redrawing it would change nothing. Did you mean "
            "'init'? It has: split, init, order.",
        ),
        (FixHopt(3, ("init", "init")), "source 'init' is listed 2 times. List it once."),
    ],
)
def test_sources_that_a_pipeline_ignores_are_refused_at_once(design, message):
    with pytest.raises(InvalidInput) as caught:
        Study((PIPELINE, OTHER), (TASK,), (design,))
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pipelines": ()}, "the study has no pipelines. Add at least one; in a"),
        ({"pipelines": (replace(PIPELINE, sources=("a b",)),)}, "a source of variation is called"),
        (
            {"pipelines": (replace(PIPELINE, sources=("inti",)),)},
            "pipeline 'net' has a source 'inti', all but 'init'. Write 'init', or give a source of "
            "your own a name less like it.",
        ),
        ({"pipelines": (replace(PIPELINE, sources=("Split",)),)}, "all but 'split'"),
        ({"pipelines": (replace(PIPELINE, sources=("dropouts",)),)}, "all but 'dropout'"),
        ({"pipelines": (PIPELINE, PIPELINE)}, "more than one pipeline is called net"),
        ({"trials": 0}, "trials is 0"),
        ({"timeout": -1}, "timeout is -1"),
        (
            {"designs": (Ideal(2), FixHopt(2), Ideal(2))},
            "the same ideal design is there twice",
        ),
        (
            {"designs": (Variance(2, 5),), "pipelines": (replace(PIPELINE, space={}),)},
            "searches is 5, but no pipeline has hyperparameters to search. Give one a space, or",
        ),
        ({"timeout": True}, "timeout is True. Pass a positive number of seconds, up to a year, or"),
        ({"tuner": "radnom"}, "random"),
    ],
)
def test_impossible_studies_are_refused(options, message):
    parts = {"pipelines": (PIPELINE,), "tasks": (TASK,), "designs": (Ideal(2),)}
    with pytest.raises(InvalidInput) as caught:
        Study(**parts | options)
    assert message in str(caught.value)


@pytest.mark.parametrize("name", ["reorder", "sampling", "order_of_files", "hpo", "initial_pose"])
def test_a_source_of_ones_own_may_remind_of_another(name):
    study = Study((replace(PIPELINE, sources=("init", name)),), (TASK,), (Ideal(2),))
    assert all(name in dict(run.seeds) for run in study.plan_runs())


@pytest.mark.parametrize(
    ("design", "word"),
    [(FixHopt(2, ("split",)), "vary"), (Variance(2, 0, ("split",)), "sources")],
)
def test_a_fixed_split_cannot_be_redrawn(design, word):
    task = Task("toy", metric="accuracy", splitter=FixedSplit([0], [1], [2]))
    with pytest.raises(InvalidInput) as caught:
        Study((PIPELINE,), (task,), (design,))
    assert str(caught.value) == (
        f"the split is fixed: redrawing it would change nothing. Leave it out of {word}."
    )
    assert Study((PIPELINE,), (TASK,), (design,))


def fit_anywhere(params, split, seeds, *, task, fold=0):
    return {"valid": 0.0, "test": 0.0}


TASKS = (TASK, Task("vine", metric="accuracy"))
COMMAND = CommandPipeline("c", "train {seed.split}")


@pytest.mark.parametrize(
    ("pipeline", "remedy"),
    [
        (PIPELINE, "Give its function a parameter task, or make a study per task."),
        (COMMAND, "Put {task} into its command, or make a study per task."),
    ],
)
def test_tasks_that_a_pipeline_would_never_hear_of_are_refused(pipeline, remedy):
    with pytest.raises(InvalidInput) as caught:
        Study((pipeline,), TASKS, (Ideal(2),))
    assert str(caught.value) == (
        f"pipeline '{pipeline.name}' cannot tell which of 2 tasks it is on. {remedy}"
    )


@pytest.mark.parametrize(
    "pipeline",
    [FunctionPipeline("f", fit_anywhere), CommandPipeline("c", "train {seed.split} {task}")],
)
def test_pipelines_that_ask_for_the_task_may_have_several(pipeline):
    assert len(list(Study((pipeline,), TASKS, (Ideal(2),)).plan_runs())) == 4


@pytest.mark.parametrize(
    ("pipeline", "remedy"),
    [
        (PIPELINE, "Give its function a parameter fold, or split in another way."),
        (COMMAND, "Put {fold} into its command, or split in another way."),
    ],
)
def test_folds_that_a_pipeline_would_never_hear_of_are_refused(pipeline, remedy):
    task = Task("toy", metric="accuracy", splitter=CrossValidation(3))
    with pytest.raises(InvalidInput) as caught:
        Study((pipeline,), (task,), (Ideal(2),))
    assert str(caught.value) == (
        f"pipeline '{pipeline.name}' is not told the fold of the cross-validation. {remedy}"
    )


def test_folds_are_heard_of_by_name_by_placeholder_or_in_the_split_itself():
    task = Task("toy", metric="accuracy", splitter=CrossValidation(3))
    assert Study((FunctionPipeline("f", fit_anywhere),), (task,), (Ideal(2),))
    assert Study((CommandPipeline("c", "train {seed.split} {fold}"),), (task,), (Ideal(2),))
    assert Study((PIPELINE,), (replace(task, data=lambda: None),), (Ideal(2),))


DEAF = CommandPipeline("deaf", "train {seed.init}")


@pytest.mark.parametrize("design", [Ideal(2), FixHopt(2)])
@pytest.mark.parametrize(
    ("pipelines", "task", "who"),
    [
        ((DEAF,), DIGITS, "task 'digits'"),
        ((DEAF, PIPELINE), DIGITS, "net"),
        ((DEAF, PIPELINE), TASK, "net"),
        ((DEAF, COMMAND), TASK, "c"),
    ],
)
def test_a_command_must_hear_of_a_split_that_is_redrawn(pipelines, task, who, design):
    with pytest.raises(InvalidInput) as caught:
        Study(pipelines, (task,), (design,))
    remedy = "Put {seed.split} into it, and let the program split by that seed"
    if task.data is not None:
        remedy = (
            "Put {split} into its command: a JSON file with the positions of train, valid and test"
        )
    assert str(caught.value) == (
        f"the command of pipeline 'deaf' never hears of the split, while that of {who} is redrawn "
        f"in every replicate of {design.kind}. {remedy}; or fix the split for all."
    )


@pytest.mark.parametrize("design", [Ideal(2), FixHopt(2), FixHopt(2, ("split",))])
@pytest.mark.parametrize("other", [PIPELINE, CommandPipeline("net", "train {split}")])
def test_who_splits_by_itself_is_no_pair_for_who_gets_the_split(other, design):
    with pytest.raises(InvalidInput) as caught:
        Study((COMMAND, other), (DIGITS,), (design,))
    assert str(caught.value) == (
        "the command of pipeline 'c' splits by itself, while the split of task 'digits' is handed "
        "to net: their runs would be no pairs. Put {split} into its command: a JSON file with the "
        "positions of train, valid and test."
    )
    handed = CommandPipeline("c", "train {split}")
    assert Study((handed, other), (DIGITS,), (design,))
    assert Study((COMMAND,), (DIGITS,), (design,))  # alone, it is a pair of nobody
    assert Study((COMMAND, other), (DIGITS,), (Variance(2),))  # no pairs are wanted


def test_a_published_split_may_be_had_from_elsewhere():
    published = replace(DIGITS, splitter=FixedSplit([0], [1], [2]))
    assert Study((COMMAND, PIPELINE), (published,), (Ideal(2),))


def fit_data(params, split, seeds, data):
    return {"test": 0.0}


@pytest.mark.parametrize(
    ("pipeline", "word"),
    [(FunctionPipeline("f", fit_data), "data"), (CommandPipeline("f", "train {split}"), "split")],
)
def test_data_that_is_not_there_cannot_be_asked_for(pipeline, word):
    with pytest.raises(InvalidInput) as caught:
        Study((pipeline,), (TASK,), (Ideal(2),))
    assert str(caught.value) == (
        f"pipeline 'f' asks for the {word} of task 'toy', which has no data. Give the task its "
        "data, or let the pipeline see to its own."
    )
    assert Study((pipeline,), (DIGITS,), (Ideal(2),))


# The sources of the documentation's own example: the split is not among them.
UNSPLIT = Pipeline("net", fit, space={"lr": Uniform(0, 1)}, sources=["init", "order", "dropout"])


@pytest.mark.parametrize("design", [Ideal(3), FixHopt(3), Variance(3), Crossed(2)])
def test_the_split_is_redrawn_wherever_the_task_has_data(design):
    assert "split" in varied(plan(design, UNSPLIT, DIGITS))
    published = replace(DIGITS, splitter=FixedSplit([0], [1], [2]))
    if not isinstance(design, Ideal | FixHopt):  # these redraw all seeds, used or not
        assert "split" not in varied(plan(design, UNSPLIT, published))
        assert "split" not in varied(plan(design, UNSPLIT, TASK))


def test_variance_tells_the_split_apart_unless_told_otherwise():
    labels = {run.source for run in plan(Variance(2), UNSPLIT, DIGITS)}
    assert labels == {"split", "init", "order", "dropout", ALL, NOISE}
    together = [run for run in plan(Variance(2), UNSPLIT, DIGITS) if run.source == ALL]
    assert varied(together) == {"split", "init", "order", "dropout"}
    only = {run.source for run in plan(Variance(2, 0, ("init",)), UNSPLIT, DIGITS)}
    assert only == {"init", ALL, NOISE}
    assert varied(plan(FixHopt(3, ("init",)), UNSPLIT, DIGITS)) == {"init"}
    assert Study([UNSPLIT], [DIGITS], [FixHopt(3, ("split",))])


@pytest.mark.parametrize(
    ("pipelines", "splitter", "design"),
    [
        ((DEAF,), None, Ideal(2)),  # whatever it splits, it splits alone
        ((DEAF, PIPELINE), FixedSplit([0], [1], [2]), Ideal(2)),
        ((DEAF, PIPELINE), None, FixHopt(2, ("init",))),
    ],
)
def test_a_command_need_not_hear_of_a_split_that_stays(pipelines, splitter, design):
    task = Task("toy", metric="accuracy", splitter=splitter)
    assert Study(pipelines, (task,), (design,))


def test_pipelines_must_score_by_the_metric_of_the_task():
    task = Task("digits", metric="f1_macro", data="digits")
    bayes = EstimatorPipeline("bayes", "sklearn.naive_bayes.GaussianNB", metric="accuracy")
    with pytest.raises(InvalidInput) as caught:
        Study((bayes,), (task,), (Ideal(2),))
    assert str(caught.value) == (
        "the metric of task 'digits' is f1_macro, but pipeline 'bayes' reports accuracy. "
        "Give both the same metric."
    )
    for metric in ("f1_macro", None):  # if it is told none, it takes that of the task
        (pipeline,) = Study((replace(bayes, metric=metric),), (task,), (Ideal(2),)).pipelines
        assert pipeline.metric == "f1_macro"


def test_scorers_are_never_minimized():
    task = Task("digits", metric="neg_log_loss", goal="minimize", data="digits")
    bayes = EstimatorPipeline("bayes", "sklearn.naive_bayes.GaussianNB", metric="neg_log_loss")
    with pytest.raises(InvalidInput) as caught:
        Study((bayes,), (task,), (Ideal(2),))
    assert str(caught.value) == (
        "the goal of task 'digits' is to minimize neg_log_loss, but the scorers of scikit-learn "
        'are all better when higher. Set goal = "maximize"; losses have scorers such as '
        "neg_log_loss."
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"tasks": TASK}, "tasks is one task. Pass a list: tasks=[...]."),
        ({"designs": Ideal(2)}, "designs is one design. Pass a list: designs=[...]."),
        (
            {"pipelines": [fit]},
            f"pipelines hold {fit!r}, which is no pipeline. Pass one such as "
            'Pipeline("name", ...).',
        ),
        (
            {"tasks": ["digits"]},
            "tasks hold 'digits', which is no task. Pass one such as Task(\"name\", metric=...).",
        ),
        ({"designs": 51}, "designs is 51. Pass a list: designs=[...]."),
        ({"pipelines": None}, "pipelines is None. Pass a list: pipelines=[...]."),
        (
            {"pipelines": [Pipeline("", fit)]},
            "a pipeline is called ''. Give it a name, as text.",
        ),
        (
            {"tasks": [Task(3, metric="accuracy")]},
            "a task is called 3. Give it a name, as text.",
        ),
        ({"designs": ["ideal"]}, "designs hold 'ideal', which is no design. Pass one such as "
         "Ideal(51)."),
        ({"designs": [Ideal]}, f"designs hold {Ideal!r}, which is no design. Pass one such as "
         "Ideal(51)."),
        (
            {"pipelines": [Pipeline("net", fit, space={"lr": (0.1, 1)})]},
            "pipeline 'net' searches 'lr' in (0.1, 1). Pass Uniform(low, high), LogUniform(low, "
            "high), Integers(low, high) or Choices([...]).",
        ),
        ({"tasks": []}, "the study has no tasks. Add at least one; in a study file, it begins "
         "with [[task]]."),
        (
            {"tasks": [TASK, Task("u", metric="f1")]},
            "the tasks have different metrics (accuracy, f1). Make a study per metric: scores of "
            "different metrics cannot be compared.",
        ),
        (
            {"tasks": [TASK, Task("u", metric="accuracy", goal="minimize")]},
            "the tasks have different goals (maximize, minimize). Make a study per metric: scores "
            "of different metrics cannot be compared.",
        ),
    ],
)  # fmt: skip
def test_parts_that_are_none_are_refused(words, message):
    with pytest.raises(InvalidInput) as caught:
        Study(**{"pipelines": [PIPELINE], "tasks": [TASK], "designs": [Ideal(2)]} | words)
    assert str(caught.value) == message
