"""Seeds that do what they should, seeds that do nothing, and fits that do not repeat."""

import random

import numpy as np
import pytest

from outperform.engines import InlineEngine, LocalEngine
from outperform.errors import InvalidInput, OutperformError, TooFewRuns
from outperform.questions.check.answer import SourceCheck, check_reproducibility
from outperform.study.designs import Ideal
from outperform.study.pipelines import FunctionPipeline
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
    return check_reproducibility(make_study(*functions), InlineEngine(), **options)


def findings(result):
    return {(each.pipeline, each.source): each.finding for each in result.checks}


def test_a_seed_that_is_heeded_repeats_and_changes():
    result = check(heed)
    assert findings(result) == {("heed", "split"): "reproducible", ("heed", "init"): "reproducible"}
    assert result.reproducible
    assert result.caveats == ()
    assert [each.scores.shape for each in result.checks] == [(5, 5), (5, 5)]
    assert str(result) == (
        "Every pipeline is reproducible: the same seeds give the same scores (5 seeds of every "
        "source, 5 runs each)."
    )


def test_a_seed_that_changes_nothing_is_unused():
    result = check(heed, ignore_init, n_seeds=3, n_repeats=2)
    assert findings(result)["ignore_init", "init"] == "unused"
    assert findings(result)["heed", "init"] == "reproducible"
    assert result.reproducible
    assert [each.source for each in result.unused] == ["init"]
    score = result.unused[0].scores[0, 0]
    assert result.caveats == (
        f"init of ignore_init on toy: all 3 seeds give the score {score:.4g}, so its seed is "
        "unused, or has no effect that this metric shows",
    )


def test_what_does_not_repeat_is_measured_as_noise():
    rng = random.Random(0)

    def wobble(params, split, seeds):
        return {"test": seeds["split"] / 2**32 + rng.choice([0, 1e-6])}

    result = check(wobble)
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
    check_reproducibility(study, InlineEngine(), n_seeds=3, n_repeats=2)
    splits, inits = seen[:6], seen[6:]
    assert [len(set(column)) for column in zip(*splits, strict=True)] == [3, 1, 1]
    assert [len(set(column)) for column in zip(*inits, strict=True)] == [1, 3, 1]
    assert splits[0] == splits[1] == inits[0] == inits[1]
    assert seen[0][2] == 0.25


def test_workers_give_the_same():
    study = make_study(heed, ignore_init)
    with LocalEngine(2) as engine:
        parallel = check_reproducibility(study, engine)
    assert parallel.to_dict() == check_reproducibility(study, InlineEngine()).to_dict()


def test_progress_is_reported():
    calls = []
    check(heed, n_seeds=2, n_repeats=2, report=lambda done, n: calls.append((done, n)))
    assert calls[-1] == (8, 8)


def test_what_fails_cannot_be_checked():
    def fail(params, split, seeds):
        raise ValueError("no luck")

    with pytest.raises(OutperformError, match="a fit of fail on toy failed:\n") as caught:
        check(fail)
    assert "ValueError: no luck" in caught.value.problem


@pytest.mark.parametrize("words", [{"n_seeds": 1}, {"n_repeats": 1}])
def test_one_of_anything_shows_nothing(words):
    with pytest.raises(InvalidInput):
        check(heed, **words)


def test_without_sources_there_is_nothing_to_check():
    with pytest.raises(TooFewRuns, match="no pipeline honours any source"):
        check_reproducibility(make_study(heed, sources=()), InlineEngine())
