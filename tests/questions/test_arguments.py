"""What is easily passed by mistake is refused in words: a path for a study, a name for a list."""

import numpy as np
import pytest

import outperform as op

SCORES = np.random.default_rng(0).normal(size=(2, 20))
RNG = {"rng": np.random.default_rng(0)}


def fit(params, split, seeds):
    return {"valid": 0.5, "test": seeds["init"] / 2**32}


def make_study():
    net = op.Pipeline("net", fit, space={"c": op.Uniform(0, 1)}, sources=["init"])
    return op.Study([net], [op.Task("toy", metric="accuracy")], [op.Ideal(8)], trials=3)


@pytest.mark.parametrize(
    "ask",
    [
        lambda study: op.run(study, "study.db"),
        lambda study: op.run_until_decided(study, "study.db", "a", "b"),
        op.check,
        lambda study: op.trace_searches(study, {}),
        lambda study: op.collect_trials(study, {}),
    ],
)
def test_the_path_of_a_study_is_no_study(ask):
    with pytest.raises(op.OutperformError) as caught:
        ask("study.toml")
    assert str(caught.value) == (
        "the study is 'study.toml'. Pass a Study: read_study reads one from a study file."
    )


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (
            lambda: op.check(make_study(), "inline", pipelines="net"),
            "pipelines are the text 'net'. Pass a list: ['net'].",
        ),
        (
            lambda: op.check(make_study(), "inline", sources="init"),
            "sources are the text 'init'. Pass a list: ['init'].",
        ),
        (
            lambda: op.plan_budget(make_study(), budget=100, pipelines="net"),
            "pipelines are the text 'net'. Pass a list: ['net'].",
        ),
        (
            lambda: op.compare(*SCORES, tests="wilcoxon"),
            "tests are the text 'wilcoxon'. Pass a list: ['wilcoxon'].",
        ),
        (
            lambda: op.simulate_error_rates(rules="verdict", **RNG),
            "rules are the text 'verdict'. Pass a list: ['verdict'].",
        ),
        (
            lambda: op.simulate_error_rates(n_pairs=20, **RNG),
            "n_pairs is 20. Pass a list: [20].",
        ),
        (
            lambda: op.simulate_error_rates(gammas=0.75, **RNG),
            "gammas is 0.75. Pass a list: [0.75].",
        ),
        (
            lambda: op.trace_seeds(SCORES[0], tests="welch-t", **RNG),
            "tests are the text 'welch-t'. Pass a list: ['welch-t'].",
        ),
        (
            lambda: op.trace_seeds(SCORES[0], alphas=0.05, **RNG),
            "alphas is 0.05. Pass a list: [0.05].",
        ),
        (
            lambda: op.trace_seeds(SCORES[0], sizes=5, **RNG),
            "sizes is 5. Pass a list: [5].",
        ),
        (
            lambda: op.join_runs(op.read_runs({"a": [1, 2], "b": [2, 3]}), "c.csv"),
            "there are no runs in a value of type str. Pass Runs: read_runs reads them from a "
            "file.",
        ),
    ],
)
def test_what_was_meant_is_said(ask, message):
    with pytest.raises(op.OutperformError) as caught:
        ask()
    assert str(caught.value) == message
