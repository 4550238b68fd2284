"""What a store's ideal and repeated runs tell of how scores vary."""

import math

import numpy as np
import pytest

from outperform.engines import InlineEngine
from outperform.errors import InvalidInput, UnknownName
from outperform.questions.simulate.answer import simulate_error_rates
from outperform.questions.simulate.scenarios import measure_variation
from outperform.runner import run_fits
from outperform.stats import repeated_means
from outperform.store import open_store
from outperform.store.repeated_runs import LEFT_OUT
from outperform.study.designs import FixHopt, Ideal, Variance
from outperform.study.pipelines import FunctionPipeline
from outperform.study.spaces import Uniform
from outperform.study.study import Study
from outperform.study.tasks import Task


def fit(params, split, seeds):
    """Standard deviations 2 by split and 1 by init, and nothing by the hyperparameters."""
    by_split, by_init = (np.random.default_rng(seeds[name]).normal() for name in ("split", "init"))
    return {"valid": 0.5, "test": 10 + 2 * by_split + by_init}


def fail_once(params, split, seeds):
    scores = fit(params, split, seeds)
    if scores["test"] < 6:
        raise ValueError("too bad")
    return scores


def make_study(*designs, function=fit):
    pipeline = FunctionPipeline("net", function, {"lr": Uniform(0, 1)}, ("split", "init"))
    task = Task("toy", metric="accuracy")
    return Study((pipeline,), (task,), designs, trials=2)


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path / "study.db") as opened:
        yield opened


def measure(study, store, **options):
    with InlineEngine() as engine:
        run_fits(study, store, engine)
    return measure_variation(store, **options)


def read_scores(store, design, source):
    scores = store.scores()
    labels = [x for x in store.run_labels() if (x.design, x.source) == (design, source)]
    return [scores[x.key]["test"] for x in sorted(labels, key=lambda x: x.replicate)]


def test_scenario_is_what_the_recorded_runs_say(store):
    ideal, biased = measure(make_study(Ideal(6), FixHopt(4, ("init",), 5)), store)
    rows = [read_scores(store, "fix-hopt", "init")]
    rows += [read_scores(store, "fix-hopt", f"init, repetition {i}") for i in range(2, 6)]
    sigma, found = np.std(read_scores(store, "ideal", "all"), ddof=1), repeated_means(rows)
    assert biased.name == "net on toy, init"
    assert biased.scores.spread == pytest.approx(math.sqrt(found.within_variance) / sigma)
    assert biased.scores.bias == pytest.approx(math.sqrt(found.shared_variance) / sigma)
    assert ideal.name == "ideal"
    assert ideal.notes[0].startswith(f"net on toy: σ = {sigma:.3g} [")
    assert ideal.notes[0].endswith("] over 6 ideal runs")
    assert "where ρ may be larger than estimated" in ideal.notes[1]
    off = np.mean(rows) - np.mean(read_scores(store, "ideal", "all"))
    squared = found.mean_variance + off**2
    assert f"ρ = {found.correlation}; its mean is off the ideal one by {off:.2g} ± " in str(
        biased.notes
    )
    assert biased.notes[0].endswith(f"with a mean squared error of {squared:.2g}")
    assert biased.notes[1] == "net on toy, init: 5 repetitions are few: the bias is rough"


def test_finds_what_was_put_in(store):
    # With the split fixed, 4 of 5 parts of the variance are shared.
    study = make_study(Ideal(200), FixHopt(10, ("init",), 200), FixHopt(10, (), 200))
    _, by_init, by_all = measure(study, store)
    assert by_init.scores.bias == pytest.approx(math.sqrt(4 / 5), rel=0.15)
    assert by_init.scores.spread == pytest.approx(math.sqrt(1 / 5), rel=0.15)
    # Nothing that matters is fixed where all of learning is redrawn.
    assert by_all.scores.bias < 0.15
    assert by_all.scores.spread == pytest.approx(1, rel=0.15)


def test_a_fixed_split_makes_comparisons_err(store):
    scenarios = measure(make_study(Ideal(30), FixHopt(5, ("init",), 12)), store)
    rates = simulate_error_rates(scenarios, rules=["verdict"], rng=np.random.default_rng(0))
    ideal, biased = rates.curves
    assert ideal.false_positives < 0.05 < 0.3 < biased.false_positives
    assert set(scenarios[1].notes) <= set(rates.caveats)


def test_without_ideal_runs_the_repetitions_tell_sigma(store):
    _, biased = measure(make_study(FixHopt(4, ("init",), 12)), store)
    assert math.hypot(biased.scores.spread, biased.scores.bias) == pytest.approx(1)
    assert biased.notes[0].endswith("; without ideal runs, σ is taken from these")


def test_ideal_runs_alone_tell_sigma_and_what_is_missing(store):
    (ideal,) = measure(make_study(Ideal(6), FixHopt(6)), store)
    assert len(ideal.notes) == 2
    assert ideal.notes[1] == (
        'no bias was measured: Give the study a [[design]] with kind = "fix-hopt", '
        "replicates = 20 and repetitions = 20 to see that of fix-hopt"
    )


def test_only_the_study_as_it_is_now_counts(store):
    measure(make_study(Ideal(9), FixHopt(3, ("init",), 6)), store)
    ideal, biased = measure(make_study(Ideal(4), FixHopt(3, ("init",), 2)), store)
    assert ideal.notes[0].endswith("over 4 ideal runs")
    assert biased.notes[0].startswith("net on toy, init: 2 repetitions of 3 runs")


def test_incomplete_repetitions_are_left_out(store):
    study = make_study(FixHopt(5, ("init",), 12), function=fail_once)
    _, biased = measure(study, store)
    assert biased.notes[1].startswith("net on toy, init: ")
    assert biased.notes[1].endswith(LEFT_OUT)


@pytest.mark.parametrize(
    ("designs", "message"),
    [
        (
            (FixHopt(5),),
            "{path} has neither two ideal runs that differ nor two whole repetitions of fix-hopt. "
            'Give the study a [[design]] with kind = "fix-hopt", replicates = 20 and '
            "repetitions = 20 and run it.",
        ),
        (
            (FixHopt(1, (), 5),),
            "the runs of each repetition of fix-hopt (net on toy, all) do not vary. Give the "
            "design two or more replicates, and let it redraw a source that matters.",
        ),
    ],
)
def test_refusals(store, designs, message):
    with pytest.raises(InvalidInput) as caught:
        measure(make_study(*designs, Variance(2)), store)
    assert str(caught.value) == message.format(path=store.address)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pipelines": ["nett"]}, "has no pipeline 'nett'. Did you mean 'net'?"),
        ({"task": "toi"}, "has no task 'toi'. Did you mean 'toy'?"),
    ],
)
def test_unknown_names(store, options, message):
    with pytest.raises(UnknownName) as caught:
        measure(make_study(Ideal(2)), store, **options)
    assert str(caught.value).startswith(f"the study of {store.address} {message}")


def test_a_store_without_runs_is_refused(store):
    store.set_meta("other", {})
    with pytest.raises(InvalidInput, match="holds no finished runs yet"):
        measure_variation(store)
