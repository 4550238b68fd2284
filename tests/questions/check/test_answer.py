"""Seeds that do what they should, seeds that do nothing, and fits that do not repeat."""

import random
import sys
from types import ModuleType

import numpy as np
import pytest

from outperform.engines import InlineEngine, LocalEngine
from outperform.errors import InvalidInput, OutperformError, TooFewRuns, UnknownName
from outperform.questions.check.answer import check as check_study
from outperform.questions.check.result import SourceCheck
from outperform.study.designs import Ideal
from outperform.study.pipelines import FunctionPipeline
from outperform.study.sources import derive_seed
from outperform.study.spaces import Uniform
from outperform.study.study import Study
from outperform.study.tasks import Task


def heed(params, split, seeds):
    return {"test": seeds["split"] / 2**32 + seeds["init"] / 2**33}


def ignore_init(params, split, seeds):
    return {"test": seeds["split"] / 2**32}


def make_study(*functions, sources=("split", "init")):
    pipelines = [FunctionPipeline(f.__name__, f, sources=sources) for f in functions]
    return Study(tuple(pipelines), (Task("toy", metric="accuracy"),), (Ideal(2),))


def check(*functions, **options):
    return check_study(make_study(*functions), InlineEngine(), **options)


def findings(result):
    return {(each.pipeline, each.source): each.finding for each in result.checks}


def test_a_seed_that_is_heeded_repeats_and_changes():
    result = check(heed)
    assert findings(result) == {("heed", "split"): "reproducible", ("heed", "init"): "reproducible"}
    assert result.reproducible
    assert result.caveats == ()
    assert result.passed
    assert [each.scores.shape for each in result.checks] == [(2, 2), (2, 2)]
    assert str(result) == (
        "Every seed does what it should: the same one repeats the score, another changes it (2 "
        "seeds of every source, 2 runs each)."
    )


def test_a_seed_that_changes_nothing_is_unused():
    result = check(heed, ignore_init, n_seeds=3, n_repeats=2)
    assert findings(result)["ignore_init", "init"] == "unused"
    assert findings(result)["heed", "init"] == "reproducible"
    assert result.reproducible
    assert [each.source for each in result.unused] == ["init"]
    assert not result.passed
    assert str(result) == (
        "1 of 4 seeds changes no score: init of ignore_init on toy (3 to 5 seeds of every source, "
        "2 runs each)."
    )
    score = result.unused[0].scores[0, 0]
    assert result.caveats == (
        f"init of ignore_init on toy: all 5 seeds give the score {score:.4g}, so its seed is "
        "unused, or has no effect that this metric shows",
    )


def test_several_seeds_that_change_no_score_have_one_caveat():
    def ignore_all(params, split, seeds):
        return {"test": 0.5}

    result = check(ignore_init, ignore_all)
    assert str(result).startswith(
        "3 of 4 seeds change no score: init of ignore_init on toy, split of ignore_all on toy, "
        "init of ignore_all on toy ("
    )
    assert result.caveats == (
        "seeds that change no score are unused, or have no effect that this metric shows with 5 of "
        "them",
    )


def test_seeds_that_agree_by_chance_get_more_before_they_are_called_unused():
    """Accuracy on few test examples is coarse: here all seeds but the fourth give the same."""
    fourth = derive_seed(0, "init", 3)
    fits = []

    def learn(params, split, seeds):
        fits.append(seeds)
        return {"test": 0.5 + (seeds["init"] == fourth) / 330 + seeds["split"] / 2**32}

    result = check(learn)
    assert findings(result) == {
        ("learn", "split"): "reproducible",
        ("learn", "init"): "reproducible",
    }
    assert [each.scores.shape for each in result.checks] == [(2, 2), (5, 2)]
    assert len(fits) == 2 + 2 + 2 + 3 * 2  # what all share, a split, an init, three more of these
    assert str(result).endswith("(2 to 5 seeds of every source, 2 runs each).")


def test_what_fails_with_a_further_seed_is_told():
    third = derive_seed(0, "init", 2)

    def learn(params, split, seeds):
        if seeds["init"] == third:
            raise ValueError("no luck")
        return {"test": 0.5}

    result = check(learn, heed)
    assert [(each.pipeline, each.n_failed) for each in result.failed] == [("learn", 2)]
    assert {each.pipeline for each in result.checks} == {"heed"}


def test_what_does_not_repeat_is_measured_as_noise():
    rng = random.Random(0)

    def wobble(params, split, seeds):
        return {"test": seeds["split"] / 2**32 + rng.choice([0, 1e-6])}

    result = check(wobble, n_seeds=5, n_repeats=5)
    split, init = result.checks
    assert (split.finding, init.finding) == ("noisy", "noisy")
    assert split.noise == pytest.approx(1e-6)
    assert 0 < split.noise_sd < 1e-6
    assert not result.reproducible
    assert str(result) == (
        "Not reproducible: wobble. The same seeds give scores that differ by up to 1e-06 (5 seeds "
        "of every source, 5 runs each)."
    )
    # Splits differ by far more than the noise, initialisations do not.
    assert result.caveats == (
        "init of wobble on toy: seeds differ by no more than runs of one seed do, so it cannot be "
        "told whether the seed is used",
    )


def test_equal_scores_have_no_noise_at_all():
    scores = np.full((5, 5), 0.902)
    assert scores.var(axis=1, ddof=1).max() > 0  # by rounding
    assert SourceCheck("p", "t", "s", scores).noise_sd == 0.0


def test_only_one_source_moves_at_a_time():
    seen = []

    def watch(params, split, seeds):
        seen.append((seeds["split"], seeds["init"], params["c"]))
        return {"test": 0.5}

    pipeline = FunctionPipeline(
        "watch", watch, {"c": Uniform(0, 1, default=0.25)}, ("split", "init")
    )
    study = Study((pipeline,), (Task("toy", metric="accuracy"),), (Ideal(2),))
    check_study(study, InlineEngine(), n_seeds=5, n_repeats=2)
    # The first seeds of all sources are those of both: they are fitted once, not once per source.
    first, splits, inits = seen[:2], seen[2:10], seen[10:]
    assert [len(set(column)) for column in zip(*first, *splits, strict=True)] == [5, 1, 1]
    assert [len(set(column)) for column in zip(*first, *inits, strict=True)] == [1, 5, 1]
    assert first[0] == first[1]
    assert len(inits) == 8
    assert seen[0][2] == 0.25


def test_workers_give_the_same():
    study = make_study(heed, ignore_init)
    with LocalEngine(2) as engine:
        parallel = check_study(study, engine)
    assert parallel.to_dict() == check_study(study, InlineEngine()).to_dict()
    assert parallel.to_dict() == check_study(study).to_dict()  # on all cores


def test_progress_is_reported():
    calls = []
    check(heed, n_seeds=2, n_repeats=2, report=lambda done, n: calls.append((done, n)))
    assert calls[-1] == (6, 6)


def test_what_fails_cannot_be_checked():
    def fail(params, split, seeds):
        raise ValueError("no luck")

    with pytest.raises(OutperformError) as caught:
        check(fail)
    assert str(caught.value) == (
        "a fit of fail on toy failed: ValueError: no luck. Mend that first, since what fails "
        "cannot be checked; --debug shows where it failed."
    )
    assert 'raise ValueError("no luck")' in str(caught.value.__cause__)


@pytest.mark.parametrize("words", [{"n_seeds": 1}, {"n_repeats": 1}])
def test_one_of_anything_shows_nothing(words):
    with pytest.raises(InvalidInput):
        check(heed, **words)


def test_without_sources_there_is_nothing_to_check():
    with pytest.raises(TooFewRuns, match="no pipeline honours any source"):
        check_study(make_study(heed, sources=()), InlineEngine())


def test_pipelines_and_sources_may_be_named():
    result = check(heed, ignore_init, pipelines=["heed"], sources=["init"])
    assert findings(result) == {("heed", "init"): "reproducible"}
    assert result.passed


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"pipelines": ["hed"]}, "the study has no pipeline 'hed'. Did you mean 'heed'? "),
        ({"sources": ["inti"]}, "the pipelines honour no source 'inti'. Did you mean 'init'? "),
    ],
)
def test_names_that_are_not_there_are_refused(words, message):
    with pytest.raises(UnknownName) as caught:
        check(heed, **words)
    assert str(caught.value).startswith(message)


def test_the_split_is_checked_wherever_the_task_has_data():
    net = FunctionPipeline("net", draw_from_numpy, sources=("init",))
    study = Study((net,), (Task("iris", metric="accuracy"),), (Ideal(2),))
    result = check_study(study, InlineEngine())
    assert [each.source for each in result.checks] == ["split", "init"]


def draw_from_numpy(params, split, seeds):
    return {"test": float(np.random.random())}  # noqa: NPY002


def draw_from_random(params, split, seeds):
    return {"test": random.random()}


def seed_numpy_and_draw(params, split, seeds):
    np.random.seed(seeds["init"] ^ seeds["split"])  # noqa: NPY002
    return {"test": float(np.random.random())}  # noqa: NPY002


def draw_in_vain(params, split, seeds):
    random.random()
    return heed(params, split, seeds)


@pytest.mark.parametrize("engine", [InlineEngine, lambda: LocalEngine(2)])
def test_it_says_which_generator_is_drawn_from_without_a_seed(engine):
    functions = (draw_from_numpy, draw_from_random, seed_numpy_and_draw, draw_in_vain)
    with engine() as opened:
        result = check_study(make_study(*functions), opened)
    assert [(each.pipeline, each.generator) for each in result.unseeded] == [
        ("draw_from_numpy", "numpy.random"),
        ("draw_from_random", "random"),
        ("draw_in_vain", "random"),
    ]
    assert str(result).startswith("Not reproducible: draw_from_numpy, draw_from_random. The same")
    assert ": numpy.random and random are drawn from without a seed (2 seeds" in str(result)
    assert findings(result)["seed_numpy_and_draw", "init"] == "reproducible"
    assert findings(result)["draw_in_vain", "init"] == "reproducible"
    assert result.caveats[-1] == (
        "draw_in_vain on toy: the global generator of random ended in another state although "
        "every seed was the same, so something draws from it unseeded"
    )


def test_torch_is_watched_where_it_is_imported(monkeypatch):
    """A module that behaves like torch, which always starts from the same state."""
    torch = ModuleType("torch")
    stream = random.Random(0)
    torch.get_rng_state, torch.set_rng_state = stream.getstate, stream.setstate
    torch.seed = stream.seed
    monkeypatch.setitem(sys.modules, "torch", torch)

    def fit(params, split, seeds):
        return {"test": stream.random()}

    result = check(fit)
    assert [each.generator for each in result.unseeded] == ["torch"]


def test_global_generators_are_left_as_they_were():
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002
    expected = random.random(), np.random.random()  # noqa: NPY002
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002
    check(draw_from_numpy, draw_from_random)
    assert (random.random(), np.random.random()) == expected  # noqa: NPY002


def test_a_seed_that_changes_another_number_of_the_fit_is_used():
    def fit(params, split, seeds):
        return {"test": 0.5, "loss": seeds["init"] / 2**32, "seconds": random.random()}

    result = check(fit)
    assert findings(result) == {("fit", "split"): "unused", ("fit", "init"): "reproducible"}
    assert str(result).startswith("1 of 2 seeds changes no score: split of fit on toy (")
    assert "init of fit on toy: both seeds give the score 0.5, and differ only in loss" in (
        result.caveats
    )


def test_unused_seeds_are_counted_beside_noisy_ones():
    result = check(draw_from_random, ignore_init)
    assert "; 1 other seed changes no score (" in str(result)
