"""What other people's scripts rely on."""

import inspect
import subprocess
import sys

import pytest

import outperform
from outperform import errors, stats


@pytest.mark.parametrize("name", outperform.__all__)
def test_every_public_name_is_there_and_documented(name):
    assert getattr(outperform, name).__doc__


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match="module 'outperform' has no attribute 'comapre'"):
        outperform.comapre  # noqa: B018


def test_a_store_is_verified_and_copied_with_one_import(tmp_path):
    def fit(params, split, seeds):
        return {"test": seeds["init"] / 2**32}

    pipeline = outperform.Pipeline("net", fit, sources=["init"])
    task = outperform.Task("toy", metric="accuracy")
    study = outperform.Study([pipeline], [task], [outperform.Ideal(3)])
    with outperform.open_engine("inline") as engine:
        outperform.run(study, tmp_path / "study.db", engine)
    with outperform.open_store(tmp_path / "study.db") as store:
        assert store.verify().is_sound
        store.backup(tmp_path / "copy.db")
    assert len(outperform.read_runs(tmp_path / "copy.db")) == 3


def test_names_are_listed_for_completion():
    assert {*outperform.__all__, "stats"} <= set(dir(outperform))
    assert set(stats.__all__) <= set(dir(stats))


def test_import_is_lazy():
    code = "import outperform, sys; print('numpy' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout == "False\n"


@pytest.mark.parametrize("name", stats.__all__)
def test_every_statistic_is_there_and_documented(name):
    assert getattr(stats, name).__doc__


@pytest.mark.parametrize("home", [outperform, stats], ids=["outperform", "outperform.stats"])
def test_signatures_are_short_enough_to_be_read_in_a_notebook(home):
    values = [getattr(home, name) for name in home.__all__]
    functions = [value for value in values if inspect.isfunction(value)]
    assert functions
    assert not [
        each.__name__ for each in functions if "NestedSequence" in str(inspect.signature(each))
    ]


@pytest.mark.parametrize(
    ("function", "parameters"),
    [
        (
            outperform.compare,
            "scores_a scores_b paired goal gamma confidence_level ties interval margin train_size "
            "test_size tests equivalence rng",
        ),
        (stats.probability_of_outperforming, "a b paired ties"),
        (stats.brunner_munzel, "a b alternative method axis n_resamples rng"),
        (stats.noether_sample_size, "gamma alpha beta"),
        (stats.expected_best_of, "n validation test estimator goal"),
        (
            outperform.best_of_runs,
            "runs a b n task estimator interval confidence_level n_resamples drop_incomplete rng",
        ),
        (stats.verdict_power, "n_pairs probability gamma alpha interval tie_share"),
        (stats.required_pairs, "gamma alpha beta probability interval tie_share"),
    ],
)
def test_signatures_are_the_contract(function, parameters):
    assert list(inspect.signature(function).parameters) == parameters.split()


def test_statistics_at_the_top_are_the_same():
    assert outperform.expected_best_of is stats.expected_best_of


def test_compare_has_the_promised_defaults():
    defaults = {
        name: parameter.default
        for name, parameter in inspect.signature(outperform.compare).parameters.items()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY
    }
    assert defaults == {
        "paired": True,
        "goal": "maximize",
        "gamma": 0.75,
        "confidence_level": 0.95,
        "ties": "half",
        "interval": "exact",
        "margin": None,
        "train_size": None,
        "test_size": None,
        "tests": (),
        "equivalence": None,
        "rng": None,
    }


def _tree() -> list[type]:
    return [
        value
        for value in vars(errors).values()
        if isinstance(value, type) and issubclass(value, errors.OutperformError)
    ]


@pytest.mark.parametrize("error", _tree(), ids=lambda error: error.__name__)
def test_every_error_is_drawn_in_the_tree_and_has_two_parts(error):
    assert error.__name__ in (errors.__doc__ or "")
    assert str(error("it broke", "Mend it")) == "it broke. Mend it."


def test_errors_survive_pickling():
    import pickle

    error = pickle.loads(pickle.dumps(errors.TooFewRuns("one run", "Run more")))
    assert (error.problem, error.remedy) == ("one run", "Run more")
