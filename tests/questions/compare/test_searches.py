"""Several searches of each: their means tell of pipelines tuned anew, each search counted once."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

from outperform import decide_gate, rank_runs, run_until_decided
from outperform.cli import main
from outperform.engines import InlineEngine
from outperform.errors import TooFewRuns
from outperform.questions.compare.answer import compare_runs
from outperform.questions.compare.doubts import find_doubts
from outperform.questions.compare.sequential import compare_sequentially
from outperform.runner import run
from outperform.stats import (
    difference_over_searches,
    equivalence_over_searches,
    required_searches,
)
from outperform.store import open_store
from outperform.store.stored_runs import load_runs
from outperform.study.designs import FixHopt, Ideal
from outperform.study.pipelines import FunctionPipeline
from outperform.study.spaces import Uniform
from outperform.study.study import Study
from outperform.study.tasks import Task

K, R = 7, 4


def draw(seed):
    return np.random.default_rng(seed).normal() / 50


def fit_high(params, split, seeds):
    """A score that is mostly luck of the search: the highest number tried."""
    return {"valid": params["c"], "test": params["c"] + draw(seeds["init"])}


def fit_low(params, split, seeds):
    """As good, with other luck: the lowest number tried."""
    return {"valid": -params["c"], "test": 1 - params["c"] + draw(seeds["init"] + 1)}


def fit_better(params, split, seeds):
    scores = fit_high(params, split, seeds)
    return scores | {"test": scores["test"] + 2}


def fit_seed(params, split, seeds):
    return {"valid": 0.5, "test": seeds["init"] / 2**32}


def fit_high_on(params, split, seeds, task):
    return fit_high(params, split, seeds)


def fit_better_on(params, split, seeds, task):
    return fit_better(params, split, seeds)


def fit_low_on(params, split, seeds, task):
    return fit_low(params, split, {"init": seeds["init"] + (task == "two")})


def fail_at_times(params, split, seeds):
    if seeds["init"] % 7 == 0:
        raise ValueError("no luck")
    return fit_low(params, split, seeds)


def run_study(path, *designs, a=fit_high, b=fit_low, space=None, tasks=("toy",)):
    space = {"c": Uniform(0, 1)} if space is None else space
    pipelines = [FunctionPipeline(name, f, space, ("init",)) for name, f in (("a", a), ("b", b))]
    on = tuple(Task(name, metric="score", goal="maximize") for name in tasks)
    with InlineEngine() as engine:
        run(Study(tuple(pipelines), on, designs, trials=3), path, engine=engine)
    return path


@pytest.fixture(scope="module")
def equals(tmp_path_factory):
    return run_study(tmp_path_factory.mktemp("e") / "study.db", FixHopt(K, n_repetitions=R))


def read_searches(path):
    with open_store(path) as store:
        return load_runs(store).searches


def test_the_means_of_all_searches_are_tested(equals):
    searches, result = read_searches(equals), compare_runs(equals, "a", "b")
    assert searches.n_searches == R
    a, b = searches.pair("a", "b", "toy")
    assert result.searches == difference_over_searches(a, b)
    assert (result.searches.n_searches, result.searches.n_pairs) == (R, K * R - 3)
    np.testing.assert_array_equal(a[0], result.scores_a)  # the pairs of the first search


def test_no_two_searches_have_a_seed_in_common(tmp_path):
    """With the first run after each, few searches of few runs would be no independent ones."""
    designs = FixHopt(2, n_repetitions=4), FixHopt(1, n_repetitions=4), FixHopt(5, n_repetitions=3)
    kept = ([2, 1, 2, 2], [1, 1, 1, 1], [5, 4, 4])
    for number, (design, sizes) in enumerate(zip(designs, kept, strict=True)):
        path = run_study(tmp_path / f"{number}.db", design, a=fit_seed, b=fit_seed)
        rows = read_searches(path).pair("a", "b", "toy")[0]
        assert [*map(len, rows)] == sizes
        assert len(np.unique(np.concatenate(rows))) == sum(sizes)


def test_the_sentence_says_what_is_shown_of_pipelines_tuned_anew(equals, tmp_path):
    result = compare_runs(equals, "a", "b")
    pvalue = f"p = {result.searches.pvalue:.2g}"
    assert result.winner is not None  # by the luck of one search
    anew = ", each tuned once; tuned anew on these data, 4 times each, "
    assert f"{anew}no difference is shown ({pvalue}): P(" in str(result)
    path = run_study(tmp_path / "study.db", FixHopt(K, n_repetitions=R), a=fit_better)
    better = compare_runs(path, "a", "b")
    assert f"a outperforms b on toy{anew}a has the better mean (p = " in str(better)
    swapped = compare_runs(path, "b", "a")
    assert "4 times each, a has the better mean (p = " in str(swapped)
    shown = better.searches
    value = f"{shown.value:+.3g} {shown.interval}, p = {shown.pvalue:.2g}"
    row = ("  over 4 searches", value)
    assert row in better.tables[0].rows


def test_caveats_bear_the_sentence_out(equals, tmp_path):
    result = compare_runs(equals, "a", "b")
    assert not any("only more searches tell" in each for each in result.caveats)
    note = (
        "the runs are those of fix-hopt after the first of 4 searches: all share its luck, and "
        "tell of what it found; the means of all 4 searches, which `outperform compare` tests, "
        "tell of pipelines tuned anew"
    )
    assert note in result.caveats
    assert note in rank_runs(equals).caveats
    few = "4 searches of each are few: the interval over them is right if the means of searches"
    assert not any(few in each for each in result.caveats)  # nothing is shown by them
    path = run_study(tmp_path / "study.db", FixHopt(K, n_repetitions=R), a=fit_better)
    assert any(few in each for each in compare_runs(path, "a", "b").caveats)


def test_json_has_what_searches_show(equals):
    printed = CliRunner().invoke(main, ["compare", str(equals), "a", "b", "--json"])
    answer, result = json.loads(printed.stdout), compare_runs(equals, "a", "b")
    assert answer["searches"]["pvalue"] == result.searches.pvalue
    assert answer["searches"]["n_searches"] == R


def test_ideal_runs_take_the_means_of_their_searches(tmp_path):
    """Where each has its search in common with several runs, their mean is the surer one."""
    designs = Ideal(R), FixHopt(K, n_repetitions=R)
    result = compare_runs(run_study(tmp_path / "study.db", *designs, a=fit_better), "a", "b")
    assert (result.n_pairs, result.conclusive) == (R, False)  # too few for wins
    assert result.gain_here == result.searches.interval
    assert str(result).startswith(
        "a has the better mean on toy, over 4 searches of each, but is not shown to beat b more "
        "often: P(a > b) = 1 "
    )
    assert "tuned once" not in str(result)
    # Wins and means are of different runs: 8.7% with 54 searches where ρ is 0.1.
    either = "equals do by one of them in up to 10.0% of studies"
    assert any(each.endswith(either) for each in result.caveats)
    # More ideal runs than searches tell more than these.
    more = compare_runs(run_study(tmp_path / "more.db", Ideal(R + 1), designs[1]), "a", "b")
    assert more.searches.n_searches == R
    assert more.gain_here == more.difference.interval


def test_searches_with_failed_runs_are_left_out_and_counted(tmp_path):
    path = run_study(tmp_path / "study.db", FixHopt(K, n_repetitions=R), b=fail_at_times)
    result = compare_runs(path, "a", "b", drop_incomplete=True)
    n_left = 0 if result.searches is None else result.searches.n_searches
    assert n_left < R
    assert any(
        each.startswith(
            f"of 4 searches of each, {R - n_left} have failed or missing runs of a or b"
        )
        for each in result.caveats
    )


def fail_in_every_fifth(params, split, seeds):
    if seeds["init"] % 5 == 0:
        raise ValueError("no luck")
    return fit_low(params, split, seeds)


def test_searches_that_are_left_show_nothing_where_others_failed(tmp_path):
    path = run_study(
        tmp_path / "study.db", FixHopt(3, n_repetitions=8), a=fit_better, b=fail_in_every_fifth
    )
    a, b = read_searches(path).pair("a", "b", "toy")
    assert 2 <= len(a) < 8
    assert difference_over_searches(a, b).shown
    result = compare_runs(path, "a", "b", drop_incomplete=True)
    assert result.searches.n_searches == len(a)
    assert not result.searches.shown
    assert math.isinf(result.searches.interval.low)
    n_left = 8 - len(a)
    incomplete = f"{n_left} of 8 searches incomplete"
    assert f"; tuned anew on these data, nothing is shown ({incomplete}): P(" in str(result)
    assert ("  over 8 searches", incomplete) in result.tables[0].rows
    plain = result.to_dict()["searches"]
    assert (plain["pvalue"], plain["n_incomplete"]) == (None, n_left)
    assert decide_gate(result).outcome == "undecided"
    assert result.advice == (
        "complete all searches (`outperform run`, with --retry-failed where runs failed): those at "
        "hand tell nothing of pipelines tuned anew."
    )


def test_one_complete_search_of_several_lets_no_gate_pass(tmp_path):
    """It must not show more than two of them would."""
    path = run_study(tmp_path / "study.db", FixHopt(12, n_repetitions=R), a=fit_better)
    with open_store(path) as store:
        table = load_runs(store)
    first = {cell: {0: searches[0]} for cell, searches in table.searches.scores.items()}
    table = replace(table, searches=replace(table.searches, scores=first))
    result = compare_runs(table, "a", "b")
    assert result.winner == "a"
    assert "nothing is shown (3 of 4 searches incomplete)" in str(result)
    assert decide_gate(result).outcome == "undecided"
    assert any("only more searches tell" in each for each in result.caveats)


def test_means_that_do_not_vary_have_no_pvalue(tmp_path):
    path = run_study(tmp_path / "study.db", FixHopt(K, n_repetitions=R), b=fit_high)
    result = compare_runs(path, "a", "b")
    same = "4 times each, no difference is shown (means differ by the same after every search)"
    assert same in str(result)
    assert result.to_dict()["searches"]["pvalue"] is None


def test_unpaired_runs_after_one_search_ask_all_searches_too(equals, tmp_path):
    paired, result = (compare_runs(equals, "a", "b", paired=each) for each in (True, False))
    assert result.winner is not None  # by the luck of one search
    assert result.searches == paired.searches
    assert ", 4 times each, no difference is shown (p = " in str(result)
    assert result.advice == paired.advice
    gate = decide_gate(result)
    assert (gate.outcome, decide_gate(paired).outcome) == ("undecided", "undecided")
    assert "at most about 2.5% of cases" in gate.errors
    # Runs of ideal are after all searches already.
    ideal = run_study(tmp_path / "study.db", Ideal(R), FixHopt(K, n_repetitions=R))
    assert compare_runs(ideal, "a", "b", paired=False).searches is None


def test_a_sequential_decision_says_what_all_searches_show(tmp_path):
    path = run_study(tmp_path / "study.db", FixHopt(12, n_repetitions=R))
    result = compare_sequentially(path, "a", "b")
    assert result.winner is not None  # by the luck of one search
    name = result.winner_name
    assert str(result).startswith(f"Decided for {name} on toy, each tuned once, after 9 pairs: P(")
    pvalue = f"(p = {result.comparison.searches.pvalue:.2g}, were this the only look)."
    anew = f"; tuned anew on these data, 4 times each, no difference is shown {pvalue}"
    assert str(result).endswith(anew)
    assert not any("only more searches tell" in each for each in result.caveats)
    assert "the mean difference over all searches" in result.advice
    once = compare_sequentially(run_study(tmp_path / "once.db", FixHopt(12)), "a", "b")
    assert ", each tuned once, after 9 pairs" in str(once)
    assert any("only more searches tell" in each for each in once.caveats)


def test_a_run_until_decided_says_that_each_is_tuned_once(tmp_path):
    sides = (("a", fit_high), ("b", fit_low))
    pipelines = tuple(FunctionPipeline(n, f, {"c": Uniform(0, 1)}, ("init",)) for n, f in sides)
    tasks = (Task("toy", metric="score", goal="maximize"),)
    study = Study(pipelines, tasks, (FixHopt(50, n_repetitions=R),), trials=3)
    with InlineEngine() as engine:
        decision = run_until_decided(study, tmp_path / "study.db", "a", "b", engine=engine)
    assert str(decision) == (
        f"Decided for {decision.winner_name} after 9 of the 50 replicates that the study allows, "
        "each tuned once."
    )


def test_equivalence_is_tested_over_searches_too(equals):
    """What one search found may differ by more, or by less, than pipelines tuned anew."""
    result = compare_runs(equals, "a", "b", equivalence=5)
    after_one, over_all = result.tests
    assert (after_one.name, over_all.name) == ("equivalence", "equivalence over searches")
    assert over_all == equivalence_over_searches(result.searches, margin=5)
    assert over_all.pvalue > after_one.pvalue
    assert (over_all.name, str(over_all)) in result.tables[0].rows
    margin = 1.01 * abs(result.searches.value)
    assert not compare_runs(equals, "a", "b", equivalence=margin).tests[1].equivalent


@pytest.mark.parametrize(
    ("pvalues", "says"),
    [
        ((0.01, 0.01), "after this search and for pipelines tuned anew."),
        ((0.01, 0.30), "after this search, but not for pipelines tuned anew."),
        ((0.30, 0.01), "for pipelines tuned anew, but not after this search."),
    ],
)
def test_advice_says_of_what_a_difference_is_ruled_out(equals, pvalues, says):
    result = compare_runs(equals, "a", "b", equivalence=5)
    tests = (replace(test, pvalue=p) for test, p in zip(result.tests, pvalues, strict=True))
    advice = replace(result, tests=tuple(tests)).advice
    assert result.winner is not None
    assert not result.searches.shown
    start = "any difference is small: report that a difference of 5 or more is ruled out "
    assert advice == f"{start}{says}"


def test_equivalence_after_one_search_says_so(tmp_path):
    path = run_study(tmp_path / "study.db", FixHopt(K))
    alike = compare_runs(path, "a", "b", equivalence=5)
    assert len(alike.tests) == 1
    assert alike.advice.endswith("a difference of 5 or more is ruled out after this search.")


def test_one_search_or_none_has_no_such_means(tmp_path):
    assert read_searches(run_study(tmp_path / "one.db", FixHopt(K))) is None
    path = run_study(
        tmp_path / "n.db", FixHopt(K, n_repetitions=R), a=fit_seed, b=fit_seed, space={}
    )
    assert read_searches(path) is None
    assert read_searches(run_study(tmp_path / "ideal.db", Ideal(R))) is None


def test_several_tasks_have_a_column_of_them(tmp_path):
    tasks = ("one", "two")
    of_tasks = {"a": fit_high_on, "b": fit_low_on, "tasks": tasks}
    path = run_study(tmp_path / "study.db", FixHopt(K, n_repetitions=R), **of_tasks)
    result = compare_runs(path, "a", "b")
    [table] = result.tables
    assert table.header[-1] == "p, over searches"
    pvalues = [f"{each.searches.pvalue:.2g}" for each in result.comparisons]
    assert [row[-1] for row in table.rows] == pvalues
    assert result.winner is not None  # by the luck of one search
    assert ", each tuned once; tuned anew, no difference is shown; P(" in str(result)
    once = run_study(tmp_path / "once.db", FixHopt(K), **of_tasks)
    assert ": significant and meaningful, each tuned once; P(" in str(compare_runs(once, "a", "b"))
    better = of_tasks | {"a": fit_better_on}
    path = run_study(tmp_path / "better.db", FixHopt(K, n_repetitions=R), **better)
    shown = ", each tuned once; tuned anew, a has the better mean on 2, each task by itself; P("
    assert shown in str(compare_runs(path, "a", "b"))
    assert shown in str(compare_runs(path, "b", "a"))


def test_a_gate_asks_all_searches(equals, tmp_path):
    """Equals won by the luck of the first search must not pass as if tuned anew."""
    result = compare_runs(equals, "a", "b", margin=0.1)
    assert result.winner is not None
    winner, loser = ("a", "b") if result.winner == "a" else ("b", "a")
    won = compare_runs(equals, winner, loser, margin=0.1)
    for claim in ("better", "not-worse"):
        gate = decide_gate(won, claim)
        assert gate.outcome == "undecided"
        assert gate.claim.endswith(", tuned once and tuned anew")
        assert "at most about 2.5% of cases" in gate.errors
    path = run_study(tmp_path / "study.db", FixHopt(K, n_repetitions=R), a=fit_better)
    assert decide_gate(compare_runs(path, "a", "b")).outcome == "shown"
    assert decide_gate(compare_runs(path, "b", "a")).outcome == "refuted"


def test_a_gate_after_one_search_says_so(tmp_path):
    path = run_study(tmp_path / "study.db", FixHopt(K), a=fit_better)
    gate = decide_gate(compare_runs(path, "a", "b"))
    assert gate.claim == "a outperforms b, each tuned once"


def test_more_searches_are_advised_where_they_leave_it_open(equals):
    result = compare_runs(equals, "a", "b")
    n = required_searches(result.searches)
    assert result.advice == (
        "for pipelines tuned anew, search more often instead of adding pairs after one search: if "
        f"means differ and vary as here, {n} searches of each (repetitions = {n}) would show it "
        "with a chance of 95%; give the study another seed, since this look has used up the level "
        "for these."
    )
    assert compare_runs(equals, "a", "b", interval="anytime").advice == result.advice


@pytest.mark.parametrize("names", ["ab", "ba"])
def test_what_searches_show_is_to_be_reported_where_pairs_do_not(tmp_path, names):
    """Two pairs show nothing by wins, whichever side all searches favour."""
    path = run_study(tmp_path / "study.db", FixHopt(2, n_repetitions=R), a=fit_better)
    result = compare_runs(path, *names)
    assert result.winner is None
    assert result.searches.shown
    assert result.advice == (
        "report the mean difference over 4 searches with its interval: pairs after one search "
        "tell of what that one found."
    )


def test_one_run_after_each_search_leads_to_the_design_that_has_them_as_pairs(tmp_path):
    path = tmp_path / "study.db"
    run_study(path, FixHopt(1, n_repetitions=8), a=fit_better)
    with open_store(path) as store:
        fits = set(store.scores())
    with pytest.raises(TooFewRuns) as refused:
        compare_runs(path, "a", "b")
    assert str(refused.value) == (
        "there is one run of each algorithm after each of 8 searches, and pairs are those after "
        "the first. "
        'Write kind = "ideal" and replicates = 8 into the study and run it again: that is one run '
        "after each search, and no fit is done twice."
    )
    run_study(path, Ideal(8), a=fit_better)
    with open_store(path) as store:
        assert set(store.scores()) == fits
    result = compare_runs(path, "a", "b")
    assert (result.n_pairs, result.winner) == (8, "a")


def test_the_caveat_names_whom_the_sentence_names(tmp_path):
    """Means over searches may favour another than the means of the runs compared."""
    path = run_study(tmp_path / "study.db", Ideal(R), FixHopt(K, n_repetitions=R), a=fit_better)
    result = compare_runs(path, "a", "b")
    against = difference_over_searches([[0.0], [0.1], [0.2]], [[5.0], [5.2], [5.4]])
    turned = replace(result, searches=replace(against, n_searches=R))
    assert str(turned).startswith("b has the better mean on toy, over 4 searches of each, ")
    assert any("excludes 0, in favour of b: " in each for each in find_doubts(turned))
