"""Studies run until a sequential test has decided, and what their stores keep of every look."""

import pytest

from outperform.engines import InlineEngine
from outperform.errors import InvalidInput, UnknownName
from outperform.questions.compare.answer import compare_runs
from outperform.questions.compare.sequential import compare_sequentially
from outperform.questions.compare.until_decided import plan_decision, run_until_decided
from outperform.render.figures import figure, plot
from outperform.runner import run_fits
from outperform.runner.spool import HEARTBEAT, PATIENCE
from outperform.stats import plan_sequential_test
from outperform.store import open_store
from outperform.store.stored_runs import load_runs
from outperform.study.designs import FixHopt
from outperform.study.pipelines import FunctionPipeline
from outperform.study.study import Study
from outperform.study.tasks import Task


def score(seeds, chance=0.0):
    """A score that beats another of the same seed in a share of the seeds."""
    return {"valid": 0.5, "test": seeds["init"] / 2**33 + chance}


def fit(params, split, seeds):
    return score(seeds)


def win(params, split, seeds):
    return score(seeds, 0.1)


def win_often(params, split, seeds):
    return score(seeds, 0.1 if seeds["init"] % 4 else -0.1)


def win_half(params, split, seeds):
    return score(seeds, 0.1 if seeds["init"] % 2 else -0.1)


class Flaky:
    """Fails for the first seeds it is given until it is mended."""

    def __init__(self, n_failing):
        self.n_failing, self.seen, self.is_mended = n_failing, [], False

    def __call__(self, params, split, seeds):
        if seeds["init"] not in self.seen:
            self.seen.append(seeds["init"])
        if not self.is_mended and self.seen.index(seeds["init"]) < self.n_failing:
            raise ValueError("no luck")
        return score(seeds, 0.1)


def make_study(a=win, b=fit, n=100, tasks=("toy",)):
    pipelines = tuple(
        FunctionPipeline(name, each, {}, ("init",)) for name, each in (("a", a), ("b", b))
    )
    return Study(pipelines, tuple(Task(name, metric="accuracy") for name in tasks), (FixHopt(n),))


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path / "study.db") as opened:
        yield opened


@pytest.fixture
def decided_on_two(store):
    def win_on_x(params, split, seeds, task):
        return score(seeds, 0.1 if task == "x" else 0.0)

    def tie(params, split, seeds, task):
        return score(seeds)

    return decide(make_study(win_on_x, tie, tasks=("x", "y")), store)


def decide(study, store, a="a", b="b", **options):
    return run_until_decided(study, store, a, b, engine="inline", **options)


def run_all(study, store):
    with InlineEngine() as engine:
        run_fits(study, store, engine)


# What is decided


def test_the_decision_is_that_of_the_test_on_all_pairs(store, tmp_path):
    decision = decide(make_study(win_often), store)
    with open_store(tmp_path / "all.db") as complete:
        run_all(make_study(win_often), complete)
        pairs = load_runs(complete).pair("a", "b")
        whole = compare_sequentially(load_runs(complete), "a", "b")
    call, end = plan_sequential_test().follow(pairs.a, pairs.b)
    assert (decision.winner, decision.n_replicates) == (call.item(), end.item())
    assert decision.winner == "a"
    assert decision.n_replicates > 9
    assert (whole.n_pairs, whole.n_beyond) == (decision.n_replicates, 100 - decision.n_replicates)
    assert decision.n_beyond == 0  # one worker does no pair too many
    assert len(load_runs(store)) == 2 * decision.n_replicates


class TwelveWorkers(InlineEngine):
    """One that has work for many at a time."""

    n_workers = 12


def test_pairs_beyond_the_end_of_a_lot_are_named_and_not_counted(store, tmp_path):
    study = make_study(win_often)
    alone = decide(study, store)
    with open_store(tmp_path / "lots.db") as other, TwelveWorkers() as engine:
        many = run_until_decided(study, other, "a", "b", engine=engine)
        n_done = len(load_runs(other)) // 2
    assert many.n_replicates == alone.n_replicates
    assert many.n_beyond == n_done - many.n_replicates
    assert many.looks == alone.looks
    assert many.parts[0].comparison.n_pairs == many.n_replicates
    assert (many.n_beyond > 0) == any("after the end of the test" in c for c in many.caveats)


def test_equals_are_neither(store):
    decision = decide(make_study(fit), store)
    assert (decision.outcome, decision.winner, decision.exit_status) == ("neither", None, 0)
    assert (decision.n_replicates, len(load_runs(store))) == (21, 42)


@pytest.mark.parametrize("goes_on", [False, True])
def test_after_a_decision_for_neither_no_more_pairs_are_asked_for(goes_on, store):
    study = make_study(fit)
    decide(study, store)
    if goes_on:
        run_all(study, store)
    for names in ("ab", "ba"):
        comparison = compare_runs(load_runs(store), *names)
        assert comparison.advice == (
            "report what the sequential test of these runs decided (--sequential): an advantage of "
            "either as large as γ = 0.75 is ruled out, and more pairs could show a smaller one "
            "only."
        )
    replayed = compare_sequentially(load_runs(store), "a", "b")
    assert replayed.advice.endswith("; any further test, with more pairs or without, may err too.")


def test_after_a_test_that_ended_undecided_more_pairs_are_asked_for(store):
    assert decide(make_study(win_half, n=14), store).outcome == "undecided"
    assert compare_runs(load_runs(store), "a", "b").advice.startswith("add pairs and look again")
    assert compare_sequentially(load_runs(store), "a", "b").advice.startswith("add pairs and look")


def test_each_task_is_decided_by_itself(decided_on_two, store):
    decision = decided_on_two
    assert (decision.outcome, decision.winner, decision.n_replicates) == ("neither", None, 21)
    calls = [(part.task, part.winner, part.n_pairs) for part in decision.parts]
    assert calls == [("x", "a", 9), ("y", None, 21)]
    assert str(decision) == (
        "Decided after 21 of the 100 replicates that the study allows: an advantage of a or b as "
        "large as γ = 0.75 was ruled out on 1 of 2 tasks; of 2 tasks, a is better on 1."
    )
    # 1 - (1 - .0425)².
    assert (
        "each of 2 tasks is decided by itself: were both equal on all of them, a winner would be "
        "named on some in 8% of studies (independent tasks)"
    ) in decision.caveats
    (kept,) = store.get_meta("sequential")
    assert kept["rule"]["tasks"] == ["x", "y"]
    assert [each["winner_name"] for each in kept["decisions"]] == ["a", None]
    assert decision.advice.endswith("a b --sequential --on x")


def test_what_a_study_too_short_for_the_test_leaves_is_said(store):
    planned = plan_decision(make_study(n=40), "a", "b", gamma=0.75, alpha=0.05, beta=0.05)
    assert str(planned).startswith("Deciding between a and b by Wald's test between ½ and γ = 0.75")
    assert str(planned).endswith("ended after 40 its power is 0.80 in place of 0.95")
    decision = decide(make_study(win_half, n=12), store)
    assert (decision.outcome, decision.exit_status) == ("undecided", 3)
    assert (
        "the study allows 12 replicates, and the test may take 80: its power was 0.17 in place of "
        "0.95"
    ) in decision.caveats


@pytest.mark.parametrize(
    ("study", "pair", "options", "message"),
    [
        (
            make_study(n=8),
            ("a", "b"),
            {},
            "8 pairs can decide nothing between ½ and γ = 0.75 (α = 0.05, β = 0.05): whoever is "
            "better must win 9 in a row at least. Let the study have 80 replicates, which is the "
            "most that are needed, or 9 at the very least; or pass a larger gamma.",
        ),
        (make_study(), ("a", "a"), {}, "cannot decide between 'a' and itself. Name two of: a, b."),
        (
            make_study(),
            ("a", "b"),
            {"gamma": 0.5},
            "gamma is 0.5, which is no difference. Pass a gamma above 0.5.",
        ),
        (
            make_study(),
            ("a", "b"),
            {"gamma": 0.505},
            "deciding between 0.5 and gamma = 0.505 takes more than 2,000 pairs. Pass a larger "
            "gamma.",
        ),
        (make_study(), ("a", "b"), {"beta": 0}, "beta is 0. Pass a value between 0 and 1."),
        (make_study(), ("a", "c"), {}, "the study has no pipeline 'c'. It has: a, b."),
    ],
)
def test_what_cannot_be_decided_is_refused_before_the_first_fit(
    study, pair, options, message, store
):
    with pytest.raises((InvalidInput, UnknownName)) as caught:
        decide(study, store, *pair, **options)
    assert str(caught.value) == message
    assert not store.exists()


# What the store keeps


def test_rule_looks_and_decision_are_kept(store):
    decision = decide(make_study(win_often), store)
    (kept,) = store.get_meta("sequential")
    test = plan_sequential_test()
    assert kept["rule"] == {
        "a": "a",
        "b": "b",
        "tasks": ["toy"],
        "design": "fix-hopt",
        "gamma": 0.75,
        "alpha": 0.05,
        "beta": 0.05,
        "upper": test.upper,
        "lower": test.lower,
        "n_max": 80,
        "n_last": 80,
    }
    assert [look["pairs"] for look in kept["looks"]] == [*range(1, decision.n_replicates + 1)]
    assert all(look.pop("when") for look in kept["looks"])
    assert kept["looks"] == decision.looks
    (decided,) = kept["decisions"]
    assert (decided["outcome"], decided["winner_name"]) == ("decided", "a")
    assert decided["pairs"] == decision.n_replicates
    assert store.verify().problems == ()


def test_the_same_rule_goes_on_where_it_was(store, monkeypatch):
    study, module = make_study(win_half), "outperform.questions.compare.until_decided"
    shown = 0

    def interrupt(parts):
        nonlocal shown
        shown += 1
        if shown == 2:
            raise KeyboardInterrupt
        return ""

    with monkeypatch.context() as patched:
        patched.setattr(f"{module}._describe_lot", interrupt)
        with pytest.raises(KeyboardInterrupt):
            decide(study, store)
    (kept,) = store.get_meta("sequential")
    n_seen = len(kept["looks"])
    assert n_seen >= 9
    assert kept["decisions"] == []
    (note,) = [each for each in load_runs(store).notes if "looked at" in each]
    assert note.endswith(f"looked at after {n_seen} pairs, not decided yet")
    before = [dict(look) for look in kept["looks"]]
    decision = decide(study, store)
    (kept,) = store.get_meta("sequential")
    assert kept["looks"][:n_seen] == before
    assert len(kept["looks"]) == decision.n_replicates
    again = decide(study, store)
    assert again == decision
    assert store.get_meta("sequential") == [kept]
    assert again.notes == ()


def test_a_test_keeps_the_boundaries_it_began_with(store):
    study = make_study()
    decide(study, store)
    (kept,) = store.get_meta("sequential")
    kept["rule"]["upper"] = 4.5  # as another version might have planned it
    store.set_meta("sequential", [kept])
    decision = decide(study, store)
    assert (decision.n_replicates, decision.rule.test.upper) == (12, 4.5)  # 12 · .4055 = 4.87
    assert decision.notes == ()


CHANGES = {
    "gamma": {"gamma": 0.8},
    "alpha": {"confidence_level": 0.9},
    "beta": {"beta": 0.2},
    "names": {"a": "b", "b": "a"},
}


@pytest.mark.parametrize("change", CHANGES)
def test_another_rule_is_refused_or_told_ever_after(change, store):
    study = make_study()
    decide(study, store)
    before = store.get_meta("sequential")
    with pytest.raises(InvalidInput) as caught:
        decide(study, store, **CHANGES[change])
    problem, _, remedy = str(caught.value).partition(". Go on by the first")
    first = (
        "a against b on toy by Wald's test between ½ and γ = 0.75, α = 0.05, β = 0.05, at most 80 "
        "pairs of fix-hopt"
    )
    assert problem.startswith(f"{store.address} has been looked at by one rule, {first}, and ")
    assert "--new-rule (new_rule=True in Python), which every later result" in remedy
    assert store.get_meta("sequential") == before
    decision = decide(study, store, **CHANGES[change], new_rule=True)
    doubt = (
        "2 sequential tests were begun here (the rule was changed), and chances to err add up; "
        f"before the last: {first}: decided for a on toy after 9 pairs"
    )
    assert decision.notes == (doubt,)
    assert doubt in decision.caveats
    assert len(store.get_meta("sequential")) == 2
    # By that rule it goes on, and nothing makes the doubt go away.
    assert doubt in decide(study, store, **CHANGES[change]).caveats
    run_all(study, store)
    assert doubt in compare_runs(load_runs(store), "a", "b").caveats
    assert doubt in compare_sequentially(load_runs(store), "a", "b").caveats


def test_another_end_is_another_rule(store):
    decide(make_study(n=40), store)
    with pytest.raises(InvalidInput, match="at most 40 pairs of fix-hopt, and this is another"):
        decide(make_study(n=60), store)
    decide(make_study(n=40), store)


def test_more_replicates_than_the_test_may_take_change_no_rule(store):
    decide(make_study(n=90), store)
    assert decide(make_study(n=100), store).notes == ()


def test_a_plain_run_after_a_decision_is_seen(store):
    study = make_study(n=30)
    decide(study, store)
    run_all(study, store)
    comparison = compare_runs(load_runs(store), "a", "b")
    assert comparison.n_pairs == 30
    assert (
        "these runs were looked at after every pair, a against b on toy by Wald's test between ½ "
        "and γ = 0.75, α = 0.05, β = 0.05, at most 30 pairs of fix-hopt: decided for a on toy "
        "after 9 pairs; replicates after these, 21 here, are no part of that"
    ) in comparison.caveats


@pytest.mark.parametrize("fit_a", [win_half, win], ids=["undecided", "decided"])
def test_whatever_was_looked_at_takes_the_anytime_interval(fit_a, store):
    # Of equals, Wald's test ended after 30 pairs and then the exact interval tell 5.4% apart, and
    # the test with 80 pairs and then the exact interval of 200 7.7%, not 5%.
    study = make_study(fit_a, n=14)
    decide(study, store)
    run_all(study, store)
    comparison = compare_runs(load_runs(store), "a", "b")
    assert (comparison.n_pairs, comparison.interval.method) == (14, "anytime")
    assert (
        "a sequential test looked at these runs first: only an anytime interval allows for that"
    ) in comparison.caveats


@pytest.mark.parametrize(("first", "later"), [(12, 30), (30, 12)])
def test_another_number_of_replicates_after_looks_takes_the_anytime_interval(first, later, store):
    decide(make_study(win_half, n=first), store)
    run_all(make_study(win_half, n=later), store)
    comparison = compare_runs(load_runs(store), "a", "b")
    assert comparison.interval.method == "anytime"
    assert (
        f"the study allowed {first} replicates when its runs were looked at, and allows {later} "
        "now: only an anytime interval allows for that"
    ) in comparison.caveats


def test_runs_that_have_changed_since_they_were_seen_begin_a_new_test(store):
    decide(make_study(fit), store)
    decision = decide(make_study(win), store)
    assert decision.winner == "a"
    (doubt,) = decision.notes
    assert doubt.startswith(
        "2 sequential tests were begun here (runs had changed since they were seen), and chances "
        "to err add up; before the last: a against b on toy by "
    )
    assert doubt.endswith("decided for neither on toy after 21 pairs")


# Incomplete pairs


def test_a_pair_that_failed_counts_against_the_decision_until_it_is_done_again(store):
    flaky = Flaky(2)
    study = make_study(flaky)
    decision = decide(study, store)
    # Two losses take 2 · .693 + 2 · .4055 from nine wins, and every win more gives .4055.
    assert (decision.winner, decision.n_replicates) == ("a", 15)
    assert decision.parts[0].n_incomplete == 2
    assert decision.advice.endswith("--sequential --drop-incomplete")
    flaky.is_mended = True
    mended = decide(study, store, retry_failed=True)
    assert (mended.winner, mended.n_replicates, mended.parts[0].n_incomplete) == ("a", 9, 0)
    assert mended.notes == ()
    (kept,) = store.get_meta("sequential")
    assert [each["pairs"] for each in kept["decisions"]] == [15, 9]
    assert len(kept["looks"]) == 15 + 9


def test_gamma_is_ruled_out_only_if_no_failed_pair_could_have_shown_it(store):
    decision = decide(make_study(Flaky(7), win), store)
    assert (decision.outcome, decision.parts[0].n_incomplete) == ("neither", 7)
    # With seven wins, 7 · .5493 - n · .1438 is below -2.970 from n = 48 on; without, 21 would do.
    assert decision.n_replicates == 48


def test_workers_are_told_of_the_heartbeat_in_a_spool(tmp_path, monkeypatch):
    told = []

    def open_and_note(address, **settings):
        told.append((address, settings))
        return InlineEngine()

    monkeypatch.setattr("outperform.engines.engine.open_engine", open_and_note)
    where = {"engine": "dask://head:8786", "spool": tmp_path / "spool"}
    run_until_decided(make_study(), tmp_path / "study.db", "a", "b", **where)
    heartbeat = tmp_path / "spool" / HEARTBEAT
    assert told == [("dask://head:8786", {"heartbeat": heartbeat, "patience": PATIENCE})]


def test_a_decision_draws_the_test_of_every_task(decided_on_two, check_texts):
    drawn = figure(decided_on_two)
    check_texts(drawn)
    assert [ax.get_xlabel().split("\n")[0] for ax in drawn.axes] == ["x", "y"]
    for ax, part in zip(drawn.axes, decided_on_two.parts, strict=True):
        (line,) = [line for line in ax.get_lines() if line.get_gid() == "log-ratio-a"]
        assert line.get_xdata()[-1] == part.n_pairs
        assert line.get_ydata()[-1] == pytest.approx(part.log_ratio_a)


def test_one_view_of_a_decision_is_of_the_task_that_took_longest(decided_on_two):
    longest = max(decided_on_two.parts, key=lambda part: part.n_pairs)
    label = plot(decided_on_two).get_xlabel()
    assert (
        label == f"{longest.task}\npairs in the order of replicates, {longest.rule.n_last} at most"
    )
