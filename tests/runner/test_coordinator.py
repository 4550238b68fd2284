"""Running a study: the same table however it is run, and nothing lost on the way."""

import time
from collections import Counter
from dataclasses import replace
from importlib import import_module
from typing import Any

import pytest

from outperform.engines import InlineEngine, LocalEngine, Outcome, open_engine
from outperform.errors import InvalidInput, TooFewRuns
from outperform.questions.compare.answer import compare_runs
from outperform.questions.compare.until_decided import run_until_decided
from outperform.runner import Progress, exchange, run, run_fits
from outperform.store import open_store
from outperform.study.designs import Crossed, FixHopt, Ideal, Variance
from outperform.study.estimator_pipeline import EstimatorPipeline
from outperform.study.pipelines import FunctionPipeline
from outperform.study.spaces import Choices, Integers, LogUniform, Uniform
from outperform.study.splits import HoldOut
from outperform.study.study import Study
from outperform.study.tasks import Task
from tests.interruptions import Interrupting
from tests.runner.toys import TASK, add_less, add_up, fail, table, toy, two

# What is run


def test_every_run_is_a_search_and_a_final_fit(store):
    progress = run_fits(toy(), store, InlineEngine())
    assert (progress.n_fits, progress.n_done, progress.n_failed, progress.n_left) == (15, 15, 0, 0)
    measured = {m.key: m for m in store.measurements()}
    for label in store.run_labels():
        final = measured[label.key]
        trials = [m for m in measured.values() if not m.refit and m.seeds == final.seeds]
        assert final.refit
        assert len(trials) == 4
        assert final.params == max(trials, key=lambda m: m.scores["valid"]).params


def test_a_metric_to_minimise_is_searched_downwards(store):
    study = replace(toy(), tasks=(Task("toy", metric="loss", goal="minimize"),))
    run_fits(study, store, InlineEngine())
    measured = {m.key: m for m in store.measurements()}
    for label in store.run_labels():
        final = measured[label.key]
        trials = [m for m in measured.values() if not m.refit and m.seeds == final.seeds]
        assert final.params == min(trials, key=lambda m: m.scores["valid"]).params


def test_fits_that_designs_share_are_done_once(store):
    study = toy(designs=(Ideal(2), FixHopt(3), Variance(2), Crossed(2)))
    progress = run_fits(study, store, InlineEngine())
    assert progress.n_done == len(list(store.measurements()))
    assert len(store.run_labels()) == 2 + 3 + 3 * 2 + 2
    assert run_fits(study, store, InlineEngine()).n_done == 0


def test_a_search_that_tries_a_point_twice_fits_it_once(store):
    pipeline = FunctionPipeline("a", add_up, {"c": Choices([0.25, 0.75])}, ("init",))
    study = replace(toy(), pipelines=(pipeline,), trials=8)
    progress = run_fits(study, store, InlineEngine())
    assert progress.n_left == 0
    assert progress.n_fits == progress.n_done == len(list(store.measurements())) < 3 * 8
    assert store.get_meta("study")["n_fits"] == progress.n_done
    again = run_fits(study, store, InlineEngine())
    assert (again.n_done, again.n_left, again.n_fits) == (0, 0, progress.n_fits)
    assert again.n_known == progress.n_fits


def test_a_resumed_study_is_not_short_of_points_tried_twice(store):
    pipeline = FunctionPipeline("a", add_up, {"c": Choices([0.25, 0.75])}, ("init",))
    study = replace(toy(), pipelines=(pipeline,), trials=8)
    run_fits(replace(study, designs=(Ideal(2),)), store, InlineEngine())
    progress = run_fits(study, store, InlineEngine())
    n_recorded = len(list(store.measurements()))
    assert 0 < progress.n_known < n_recorded
    assert progress.n_known + progress.n_done == progress.n_fits == n_recorded
    assert store.get_meta("study")["n_fits"] == n_recorded


def test_impossible_splits_are_refused_before_the_first_fit(store):
    task = Task("iris", metric="accuracy", data="iris", splitter=HoldOut(test=1000))
    pipeline = EstimatorPipeline("bayes", "sklearn.naive_bayes.GaussianNB")
    with pytest.raises(InvalidInput, match="1000"):
        run_fits(Study((pipeline,), (task,), (Ideal(3),)), store, InlineEngine())
    assert store.counts() == {}


def load_slowly():
    time.sleep(1.5)
    return [[0.0], [1.0]] * 20, [0, 1] * 20


def test_loading_data_is_not_part_of_a_fit(store):
    task = Task("slow", metric="accuracy", data=load_slowly)
    pipeline = EstimatorPipeline("bayes", "sklearn.naive_bayes.GaussianNB")
    study = Study((pipeline,), (task,), (Ideal(4),), timeout=1)
    with LocalEngine(1) as engine:
        progress = run_fits(study, store, engine)
    assert (progress.n_done, progress.n_failed) == (4, 0)


def test_trials_are_scored_on_validation_and_test_data(store):
    task = Task("iris", metric="accuracy", data="iris")
    pipeline = EstimatorPipeline(
        "tree", "sklearn.tree.DecisionTreeClassifier", {"max_depth": Integers(1, 8)}
    )
    run_fits(Study((pipeline,), (task,), (Ideal(2),), trials=3), store, InlineEngine())
    names = {m.refit: set(m.scores) for m in store.measurements()}
    assert names == {False: {"valid", "test"}, True: {"test"}}


@pytest.mark.parametrize("tuner", ["random", "gp-ei"])
@pytest.mark.parametrize(("word", "seen"), [("test", False), ("valid", True)])
def test_no_tuner_ever_sees_a_test_score(tuner, word, seen, store, other):
    def fit(params, split, seeds):
        score = (params["c"] - 0.3) ** 2
        return {"valid": score, "test": score}

    def fit_upside_down(params, split, seeds):
        return {**fit(params, split, seeds), word: -1e6 * (params["c"] - 0.3) ** 2}

    tried = []
    for function, kept in ((fit, store), (fit_upside_down, other)):
        run_fits(toy(function, tuner=tuner, trials=8), kept, InlineEngine())
        tried.append([(m.seeds, m.params, m.refit) for m in kept.measurements()])
        assert len(tried[-1]) == 3 * 9
    assert (tried[0] != tried[1]) == seen


def test_data_in_memory_can_be_learned_from(store):
    features, labels = [[0.0], [1.0]] * 30, [0, 1] * 30
    task = Task("given", metric="accuracy", data=(features, labels))
    pipeline = EstimatorPipeline("bayes", "sklearn.naive_bayes.GaussianNB")
    progress = run_fits(Study((pipeline,), (task,), (Ideal(2),)), store, InlineEngine())
    assert (progress.n_done, progress.n_failed) == (2, 0)


def test_a_search_without_validation_scores_says_so(store):
    run_fits(toy(lambda params, split, seeds: {"test": 1.0}), store, InlineEngine())
    (error,) = {m.error.splitlines()[-1] for m in store.measurements("failed")}
    assert error.endswith(
        "pipeline 'a' gives test, and no 'valid'. "
        'Return a score on "valid" for searches and one on "test" for final fits.'
    )


# By addresses


def test_progress_that_has_not_changed_is_not_told_again(tmp_path, monkeypatch):
    """A run looks up again and again while a fit goes on: `report=print` filled the screen."""
    monkeypatch.setattr(exchange, "_LOOK_EVERY", 0.01)
    told: list[str] = []
    study, path = two(add_up, add_less), tmp_path / "study.db"
    run(study, path, "local:1", report=lambda progress: told.append(str(progress)))
    assert len(told) == len({*told}) > 1
    assert told[0].startswith("0 done")


def test_a_study_is_run_by_addresses_and_gives_its_runs(tmp_path):
    address = tmp_path / "study.db"
    counts: list[int] = []
    study = two(add_up, add_less)
    runs = run(
        study, address, engine="local:2", report=lambda progress: counts.append(progress.n_left)
    )
    assert str(runs) == f"8 runs of 2 algorithms on 1 task (maximize accuracy, from {address})"
    assert (counts[0] > counts[-1], counts[-1]) == (True, 0)
    assert run(study, str(address), engine="inline").notes == runs.notes
    with open_store(address) as store, InlineEngine() as engine:
        again = run(study, store, engine)
        assert again.score.tolist() == runs.score.tolist()
        assert store.find_writer() is not None  # an open store stays as it was
    for a, b in (("a", "b"), ("b", "a")):
        assert compare_runs(runs, a, b).n_pairs == 4


def test_the_study_s_time_limit_holds_on_any_engine(tmp_path):
    def dawdle(params, split, seeds):
        time.sleep(0.2 if params["c"] > 0.5 else 0)
        return add_up(params, split, seeds)

    for engine in ("inline", "local:1"):
        began = time.time()
        with open_store(tmp_path / f"{engine}.db") as store, open_engine(engine) as workers:
            run_fits(toy(dawdle, timeout=0.1, trials=3), store, workers)
            failures = [*store.measurements("failed")]
            errors = {failure.error for failure in failures}
            assert errors == {"killed after 0.1 s, the time limit of a fit"}
            # They have not said themselves when they began.
            assert all(began < failure.started < time.time() for failure in failures)


def test_a_study_without_pairs_gives_no_runs_and_says_where_to_look(tmp_path):
    address = tmp_path / "study.db"
    runs = run(toy(designs=(Variance(2),)), address, engine="inline")
    assert len(runs) == 0
    assert runs.notes == (
        f"the designs of the study have no pairs to compare: decompose('{address}') tells what "
        "makes its scores vary",
    )


def test_a_study_of_failures_is_refused_with_one_of_them(tmp_path):
    with pytest.raises(TooFewRuns) as caught:
        run(toy(fail), tmp_path / "study.db", engine="inline")
    assert str(caught.value) == (
        "every fit of the study failed, such as one of a: ValueError: no luck. Mend that, and run "
        "it again with retry_failed=True."
    )


def test_a_study_is_described_checked_and_fingerprinted_once(tmp_path, monkeypatch):
    calls: Counter[str] = Counter()

    def count(name: str, place: str) -> None:
        function = getattr(import_module(place), name)

        def counted(*args: Any, **options: Any) -> Any:
            calls[name] += 1
            return function(*args, **options)

        monkeypatch.setattr(f"{place}.{name}", counted)

    study = two(add_up, add_less, 9)  # fewer could decide nothing
    count("describe_study", "outperform.runner.stored_study")
    count("gather_fingerprints", "outperform.runner.stored_study")
    count("check_study", "outperform.study.study")
    run(study, tmp_path / "study.db", engine="inline")
    assert calls == {"describe_study": 1, "gather_fingerprints": 1}
    run_until_decided(study, tmp_path / "decided.db", "a", "b", engine="inline")
    assert calls == {"describe_study": 2, "gather_fingerprints": 2}


# The same table however it is run


def test_the_table_does_not_depend_on_the_number_of_workers(tmp_path):
    def fit(params, split, seeds):  # travels to workers as it is, being no part of a module
        score = (params["c"] - 0.3) ** 2 + seeds["init"] / 2**32
        return {"valid": score, "test": score + seeds["order"] / 2**32}

    space = {"c": Uniform(0, 1), "d": LogUniform(1e-3, 1.0)}
    pipelines = tuple(
        FunctionPipeline(n, fit, s) for n, s in (("a", space), ("b", {"c": space["c"]}))
    )
    designs = (Ideal(3), FixHopt(4, ("init",)), Variance(3))
    tables = []
    for number, engine in enumerate((InlineEngine(), *map(LocalEngine, (1, 2, 3)))):
        with engine:
            for tuner in ("random", "gp-ei"):
                study = Study(pipelines, (TASK,), designs, tuner=tuner, trials=6)
                with open_store(tmp_path / f"{number}{tuner}.db") as store:
                    assert run_fits(study, store, engine).n_failed == 0
                    tables.append(table(store))
    assert len(tables[0][1]) > 70
    assert tables[0] != tables[1]
    assert tables == tables[:2] * 4


@pytest.mark.parametrize("tuner", ["random", "gp-ei"])
def test_interrupted_anywhere_and_resumed_the_table_is_the_same(tuner, store, other):
    study = toy(designs=(Ideal(3), FixHopt(3)), tuner=tuner)
    run_fits(study, other, InlineEngine())
    n_interruptions = 0
    for n in (1, 2, 5, 3, 2, 4, 2, 100):
        try:
            run_fits(study, store, Interrupting(n))
        except KeyboardInterrupt:
            n_interruptions += 1
            recorded = set(store.scores())
            finals = {m.key for m in store.measurements() if m.refit}
            assert finals <= {label.key for label in store.run_labels()}
            assert len(recorded) == len(list(store.measurements()))
    assert n_interruptions >= 6
    assert table(store) == table(other)


def test_finished_searches_are_not_suggested_again(store, monkeypatch):
    study = toy(tuner="gp-ei", designs=(Ideal(3), FixHopt(4)))
    run_fits(study, store, InlineEngine())
    more = replace(study, designs=(Ideal(3), FixHopt(6)))
    monkeypatch.setattr("outperform.study.adaptive_tuners.suggest_gp_ei", fail)
    assert run_fits(more, store, InlineEngine()).n_done == 2


def test_results_that_came_before_an_interruption_are_saved(store, monkeypatch):
    add, calls = store.add, []

    def interrupted_once(*args: Any) -> Any:
        calls.append(args)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return add(*args)

    monkeypatch.setattr(store, "add", interrupted_once)
    with pytest.raises(KeyboardInterrupt):
        run_fits(toy(), store, InlineEngine())
    assert len(list(store.measurements())) == 1


def spoil(outcome: Outcome) -> Outcome:
    report = outcome.value
    if report is None:  # a worker has got ready
        return outcome
    return replace(outcome, value=report._replace(scores={**report.scores, "valid": 0.25}))


class Growing(InlineEngine):
    """Has one worker at first, and ten as soon as it is waited for."""

    n_most = 0

    def wait(self, patience=None) -> list[Outcome]:
        self.n_most = max(self.n_most, len(self._pending))
        self.n_workers = 10
        return super().wait()


def test_workers_that_come_later_are_given_work(store):
    engine = Growing()
    run_fits(toy(designs=(Ideal(30),)), store, engine)
    assert engine.n_most >= 80


class Doubling(InlineEngine):
    """Does every fit twice, the second time with some numerical noise."""

    def wait(self, patience: float | None = None) -> list[Outcome]:
        return [twin for first in super().wait(patience) for twin in (first, spoil(first))]


class DoublingLate(Doubling):
    """The second result comes with the next one."""

    late: Outcome | None = None

    def wait(self, patience: float | None = None) -> list[Outcome]:
        first, second = super().wait(patience)
        before, self.late = self.late, second
        return [first] if before is None else [before, first]


@pytest.mark.parametrize("engine", [Doubling, DoublingLate])
def test_the_first_of_two_results_wins_and_noise_is_reported(engine, store, other):
    run_fits(toy(), other, InlineEngine())
    progress = run_fits(toy(), store, engine())
    assert table(store) == table(other)
    assert progress.n_done == 15
    assert "a fit with the same seeds gave scores that differ by" in progress.noise[0]


class FailingFirst(InlineEngine):
    """Does every fit twice, and the first time it fails."""

    def wait(self, patience: float | None = None) -> list[Outcome]:
        return [
            twin
            for done in super().wait(patience)
            for twin in (replace(done, kind="error", value=None, error="no luck"), done)
        ]


@pytest.mark.parametrize(("retries", "n_failed"), [(1, 0), (0, 4)])
def test_a_second_result_may_come_whatever_became_of_the_first(retries, n_failed, store):
    study = toy(retries=retries, designs=(Ideal(1),))
    progress = run_fits(study, store, FailingFirst())
    assert (progress.n_failed, progress.noise) == (n_failed, [])


class LateFailure(DoublingLate):
    """The second result is a failure, of a fit that is recorded already."""

    def wait(self, patience: float | None = None) -> list[Outcome]:
        outcomes = super().wait(patience)
        late = [replace(each, kind="died", value=None, error="killed") for each in outcomes[:-1]]
        return [*late, outcomes[-1]]


def test_a_late_failure_is_no_noise(store, other):
    run_fits(toy(), other, InlineEngine())
    progress = run_fits(toy(), store, LateFailure())
    assert table(store) == table(other)
    assert progress.noise == []


def test_every_commit_holds_the_results_and_which_of_them_are_runs(store):
    seen: list[int] = []

    def look(progress: Progress) -> None:
        recorded = list(store.measurements())
        seen.append(progress.n_done)
        assert len(recorded) == progress.n_done
        assert {m.key for m in recorded if m.refit} <= {x.key for x in store.run_labels()}

    run_fits(toy(), store, InlineEngine(), report=look)
    assert sorted(set(seen)) == list(range(16))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"study": "study.toml"},
            "the study is 'study.toml'. Pass a Study: read_study reads one from a study file.",
        ),
        (
            {"store": None},
            "the store is None. Name a file, such as study.db, or a database, as in "
            "postgresql://HOST/DATABASE.",
        ),
        (
            {"engine": 2},
            "the engine is 2. Pass local, local:4 (four workers), inline, dask://HOST:PORT, "
            "ray://HOST:PORT or module:executor.",
        ),
        (
            {"engine": None},
            "the engine is None. Pass local, local:4 (four workers), inline, dask://HOST:PORT, "
            "ray://HOST:PORT or module:executor.",
        ),
    ],
)
def test_what_is_no_study_store_or_engine_is_refused(tmp_path, change, message):
    study = Study((FunctionPipeline("a", add_up),), (TASK,), (Ideal(2),))
    words = {"study": study, "store": tmp_path / "x.db", "engine": "inline"} | change
    with pytest.raises(InvalidInput) as caught:
        run(**words)
    assert str(caught.value) == message
