"""Audits: what picking seeds could show, and the verdict on that."""

import json
from math import comb

import numpy as np
import pytest

from outperform.errors import InvalidInput, TooFewRuns, UnknownName
from outperform.questions.audit.answer import audit
from outperform.questions.audit.result import Audit, SelfAudit
from outperform.questions.compare.answer import compare
from outperform.runs import read_runs
from tests.questions.audit.scores import audit_quickly, from_wins, table


def draw(n_a, n_b, shift, seed=0):
    rng = np.random.default_rng(seed)
    return {"a": rng.normal(shift, 1, n_a).tolist(), "b": rng.normal(0, 1, n_b).tolist()}


# The verdict


@pytest.mark.parametrize(
    ("runs", "verdict", "sentence"),
    [
        (
            from_wins(25, 4),
            "robust",
            "Robust: a outperforms b; it takes 13 of 29 pairs hidden to undo that.",
        ),
        (
            from_wins(21, 8),
            "fragile",
            "Fragile: a outperforms b, but hiding 2 of 29 pairs is enough to undo that.",
        ),
        (
            from_wins(4, 25),
            "robust",
            "Robust: b outperforms a; it takes 13 of 29 pairs hidden to undo that.",
        ),
        (
            from_wins(17, 12),
            "undecided",
            "Undecided: no difference shown between a and b; hiding 6 of 29 pairs would show that "
            "a outperforms b, 14 that b outperforms a.",
        ),
        (
            from_wins(7, 1),
            "undecided",
            "Undecided: no difference shown between a and b; hiding 1 of 8 pairs would show that a "
            "outperforms b.",
        ),
        (
            from_wins(3, 2),
            "undecided",
            "Undecided: no difference shown between a and b, whichever of 5 pairs are hidden.",
        ),
    ],
)
def test_the_verdict_and_its_sentence(runs, verdict, sentence):
    result = audit_quickly(runs, "a", "b")
    assert isinstance(result, Audit)
    assert result.verdict == verdict
    assert str(result) == sentence


def test_what_is_said_of_hidden_pairs_is_what_compare_says_without_them():
    runs = from_wins(22, 7)
    result = audit_quickly(runs, "a", "b")
    a, b = np.array(runs["a"]), np.array(runs["b"])
    n = result.hidden[0].n
    assert result.hidden[0].what == "a no longer outperforms b"
    # Hide wins: n - 1 of them leave the verdict, n do not.
    assert compare(a[n - 1 :], b[n - 1 :]).winner == "a"
    assert compare(a[n:], b[n:]).winner is None
    turn = result.hidden[2]
    assert (turn.what, turn.rule) == ("b outperforms a", "verdict")
    assert compare(a[turn.n :], b[turn.n :]).winner == "b"
    assert compare(a[turn.n - 1 :], b[turn.n - 1 :]).winner is None


def test_a_difference_too_small_to_matter_is_a_claim_too():
    result = audit_quickly(from_wins(600, 400), "a", "b")
    assert str(result) == (
        "Robust: a is better than b, but by too little to matter; it takes 142 of 1000 pairs "
        "hidden to undo that."
    )
    assert [hiding.what for hiding in result.hidden[::2]] == [
        "a is no longer better than b",
        "b is better than a",
    ]


def test_a_metric_to_minimise_is_turned():
    runs = read_runs(from_wins(25, 4), metric="loss")
    result = audit_quickly(runs, "a", "b")
    assert result.comparison.winner == "b"
    assert str(result).startswith("Robust: b outperforms a;")
    # The best of b are its lowest; all of b are equal here, so it is a whose runs are picked.
    assert (result.within[0].difference > 0).all()
    assert (result.between[1].difference > 0).all()


def test_independent_runs():
    result = audit_quickly(draw(20, 15, 2), "a", "b", paired=False)
    assert result.n_runs == 35
    assert result.same_seeds == ()
    assert [shares.rule for shares in result.sets] == ["brunner-munzel", "welch t"]
    assert {hiding.rule for hiding in result.hidden} == {"verdict"}
    assert result.verdict == "robust"
    assert "runs hidden to undo that." in str(result)
    assert (
        "independent runs were hidden from the ends only, the worst of one and the best of the "
        "other: where a number is marked ≤, fewer may do"
    ) in result.caveats


def test_what_is_not_proven_of_independent_runs_is_not_claimed():
    runs = {"a": [1.0, 2, 3, 4, 5, 6], "b": [1.5, 2.5, 3.5, 4.5, 5.5]}
    assert str(audit_quickly(runs, "a", "b", paired=False)) == (
        "Undecided: no difference shown between a and b, whichever of 11 runs are hidden from the "
        "ends."
    )


def test_what_needs_no_hiding_is_already_so():
    # Five pairs are too few for the verdict, and all differ by 1: the t-test is sure.
    result = audit_quickly({"a": [2.0, 3, 4, 5, 6], "b": [1.0, 2, 3, 4, 5]}, "a", "b")
    shown = {(hiding.what, hiding.rule): str(hiding) for hiding in result.hidden}
    assert shown["a outperforms b", "verdict"] == "no number"
    assert shown["a outperforms b", "paired t"] == "already so"


def test_an_algorithm_that_never_varies_is_doubted():
    result = audit_quickly({"a": [0.9] * 8, "b": [0.8] * 8}, "a")
    assert "all 8 runs of a have the same score 0.9: does the seed reach the training?" in (
        result.caveats
    )


def test_pairs_whose_margins_are_small_are_doubted():
    runs = from_wins(25, 4)
    runs["a"][-1] = -300.0
    result = audit_quickly(runs, "a", "b")
    assert result.caveats[0] == (
        "the paired t-test does not find a better: it wins often, but not by enough on average"
    )
    assert [str(hiding) for hiding in result.hidden[:2]] == ["13", "already so"]


def test_curves_have_the_sizes_that_are_asked_about():
    result = audit_quickly(draw(100, 100, 0.5), "a", "b")
    for shares in result.sets:
        assert {3, 5, 10, 25, 100} <= set(shares.sizes.tolist())
    assert result.within[0].sizes.tolist() == list(range(2, 100))
    assert result.between[0].sizes.tolist() == list(range(2, 100))
    assert result.sets[0].sizes.tolist() == list(range(2, 101))


def test_many_runs_are_picked_at_fewer_sizes():
    result = audit_quickly(draw(400, 400, 0.5), "a", "b")
    assert len(result.within[0].sizes) <= 200
    assert len(result.sets[1].sizes) <= 30


def test_the_same_runs_give_the_same_audit():
    runs = draw(12, 12, 0.5)
    first, second = (audit_quickly(runs, "a", "b").to_dict() for _ in range(2))
    assert first == second
    other = audit_quickly(runs, "a", "b", rng=np.random.default_rng(1))
    assert other.sets[1].share_a.tolist() != first["sets"][1]["share_a"]


def test_results_are_plain():
    for result in (
        audit_quickly(from_wins(9, 3), "a", "b"),
        audit_quickly(draw(9, 9, 1), "a", "b", paired=False),
        audit_quickly(draw(9, 9, 1), "a"),
    ):
        json.dumps(result.to_dict())
    values = audit_quickly(from_wins(9, 3), "a", "b").to_dict()
    assert values["verdict"] == "undecided"
    assert values["hidden"][0] == {
        "what": "a outperforms b",
        "rule": "verdict",
        "n": 2,
        "exact": True,
    }


# One algorithm with itself


def test_one_algorithm_against_itself():
    result = audit({"a": range(1, 21)}, "a")
    assert isinstance(result, SelfAudit)
    # Means of 16 … 20 and of 1 … 5, 15 apart; both vary with √2.5. With 17 of each, scipy's
    # one-sided Welch test has p = .046, with 18 p = .134.
    assert str(result) == (
        "a: picked by score, the best 5 of 20 runs are 15 better than the worst 5 (Cohen's d = "
        "9.49); best and worst differ significantly up to 17 of 20 runs each (α = 0.05)."
    )
    assert result.n_fooled == 17
    assert result.advice.startswith("fix the seeds before the first run")


def test_runs_that_are_all_alike_fool_nobody():
    result = audit({"a": [1.0] * 6}, "a")
    assert str(result) == (
        "a: picked by score, the best 5 of 6 runs are 0 better than the worst 5 (Cohen's d = 0), "
        "which is not significant (α = 0.05)."
    )


def test_a_hundred_runs_of_one_network(shared_data):
    path = shared_data / "bert_100_seeds" / "runs.csv"
    result = audit(read_runs(path, metric="MNLI dev acc."), "runs")
    assert (result.scores.size, result.n_fooled) == (100, 93)
    # The rows that sum up others were left out, with a note; seeds 0 … 99 need none.
    assert [note.split(" (")[0] for note in result.caveats] == [
        "rows 102, 103, 104, 105 sum up other rows"
    ]
    two = ("Lexical (nonent)", "Constituent (nonent)")
    wide = read_runs(path, wide=True, algorithm=two, goal="maximize")
    pair = audit_quickly(wide, *two)
    assert pair.verdict == "robust"
    assert pair.caveats == result.caveats


def test_a_network_of_the_second_paper(shared_data):
    path = shared_data / "boon_runs" / "derived_asreader_cbtcn_fixed.csv"
    result = audit(path, "derived_asreader_cbtcn_fixed")
    assert result.scores.size == 370
    assert result.n_fooled > 300


# Next


def test_what_to_do_next():
    assert audit_quickly(from_wins(25, 4), "a", "b").advice.startswith(
        "report the verdict with every seed"
    )
    fragile = audit_quickly(from_wins(21, 8), "a", "b").advice
    assert fragile == (
        "add seeds in sequence, and leave none out: about 39 pairs would make a share of wins as "
        "here robust. Until then, call it fragile."
    )
    undecided = audit_quickly(from_wins(17, 12), "a", "b").advice
    assert undecided.endswith("Take the seeds in sequence, and leave none out.")


def test_the_pairs_promised_are_robust():
    assert audit_quickly(from_wins(28, 11), "a", "b").verdict == "robust"  # 21/29 of 39


# Calibration


@pytest.mark.slow
@pytest.mark.parametrize("n", [7, 8, 12, 20, 29])
def test_equals_are_called_robust_at_most_as_often_as_alpha(n):
    """Exact, over all outcomes of n pairs of equals."""
    robust = [
        wins
        for wins in range(n + 1)
        if audit(from_wins(wins, n - wins), "a", "b", n_resamples=1).verdict == "robust"
    ]
    assert 0 < sum(comb(n, wins) for wins in robust) / 2**n <= 0.05


@pytest.mark.slow
def test_equal_independent_runs_are_called_robust_at_most_as_often_as_alpha():
    verdicts = [
        audit(draw(8, 8, 0, seed), "a", "b", paired=False, n_resamples=1).verdict
        for seed in range(150)
    ]
    assert verdicts.count("robust") <= 15  # P(Bin(150, .05) > 15) = .004
    assert verdicts.count("undecided") > 120


@pytest.mark.slow
def test_clear_differences_are_called_robust_with_enough_runs():
    """P(A>B) = 0.86: nearly always robust with 51 pairs, as often fragile or less with 8."""
    shares = {
        n: np.mean(
            [
                audit(draw(n, n, 1.5, seed), "a", "b", n_resamples=1).verdict == "robust"
                for seed in range(30)
            ]
        )
        for n in (8, 51)
    }
    assert shares[51] >= 0.95
    assert shares[8] <= 0.6


# Negative control


def test_by_the_percentile_interval_equals_would_be_robust_too_often():
    """Seven wins of eight, which 7% of equals have, outlive a hidden pair."""
    assert audit_quickly(from_wins(7, 1), "a", "b", interval="percentile").verdict == "robust"
    assert audit_quickly(from_wins(7, 1), "a", "b").verdict == "undecided"


NO_SEQUENCE = (
    "follow no sequence: a predefined one, such as 0…{last}, would show that none were tried and "
    "left out"
)


@pytest.mark.parametrize(
    ("seeds", "note"),
    [
        (range(8), None),
        (range(1, 9), None),
        ([0, 1, 2, 4, 5, 6, 8, 9], "seeds 0…9 without 3 and 7: were these runs left out?"),
        ([0, 1, 2, 3, 5], "seeds 0…5 without 4: were these runs left out?"),
        (range(10, 16), "seeds 10…15 do not begin at 0 or 1: were earlier ones tried?"),
        ([42, 1337, 7, 99], f"seeds 7, 42, 99 and 1 more {NO_SEQUENCE.format(last=3)}"),
    ],
)
@pytest.mark.parametrize("prefix", ["", "Run ", "seed-"])
def test_gaps_in_the_sequence_of_seeds_are_noted(seeds, note, prefix):
    for result in (
        audit_quickly(table(seeds, prefix=prefix), "a", "b"),
        audit(table(seeds, prefix=prefix), "a"),
    ):
        noted = [caveat for caveat in result.caveats if caveat.startswith("seeds")]
        assert noted == ([note] if note else [])


def test_labels_that_are_no_numbers_are_not_read_as_such():
    rows = table(range(6))
    for row in rows:
        row["seed"] = "abcdefg"[int(row["seed"])]
    assert not [c for c in audit_quickly(rows, "a", "b").caveats if "seeds" in c]


def test_seeds_of_one_algorithm_only_are_noted():
    rows = table(range(8), [*range(7), 9])
    result = audit_quickly(rows, "a", "b", drop_incomplete=True)
    assert result.caveats[:3] == (
        "b: seeds 0…9 without 7 and 8: were these runs left out?",
        "seeds run for a only: 7; were those of b left out?",
        "seeds run for b only: 9; were those of a left out?",
    )


def test_runs_without_seeds_are_noted():
    rows = [{k: v for k, v in row.items() if k != "seed"} for row in table(range(6))]
    assert audit_quickly(rows, "a", "b").caveats[0] == (
        "the table does not say which seeds were used, so nobody can see whether any are gone"
    )


# Refusals


@pytest.mark.parametrize(
    ("runs", "names", "error", "message"),
    [
        (
            from_wins(2, 1),
            ("a", "b"),
            TooFewRuns,
            "'a' and 'b' have 3 pairs. Picking needs at least 4; `outperform plan` says how many a "
            "verdict needs.",
        ),
        (
            from_wins(2, 1),
            ("a",),
            TooFewRuns,
            "'a' has 3 runs. Picking needs at least 4; `outperform plan` says how many a verdict "
            "needs.",
        ),
        (
            from_wins(4, 1),
            ("a", "a"),
            InvalidInput,
            "cannot audit 'a' against itself as if it were two. Name it once: its best runs are "
            "compared with its worst.",
        ),
        (
            from_wins(4, 1),
            ("a", "c"),
            UnknownName,
            "no algorithm 'c' in the dict. It has: a, b.",
        ),
    ],
)
def test_what_cannot_be_audited_is_refused(runs, names, error, message):
    with pytest.raises(error) as caught:
        audit(runs, *names)
    assert str(caught.value) == message


# Re-splits of one dataset


def test_a_verdict_that_holds_on_this_dataset_only_is_said_so():
    rng = np.random.default_rng(1)
    b = rng.normal(0.8, 0.02, 20)
    runs = {"new": (b + rng.normal(0.01, 0.012, 20)).tolist(), "old": b.tolist()}
    sizes = {"train_size": 800, "test_size": 200}
    found = audit(runs, "new", "old", n_resamples=20, **sizes)
    assert found.comparison.holds_for_population is False
    assert str(found).startswith(
        f"Robust: {found.comparison.claim}; it takes {found.hidden[0].n} of 20 pairs hidden to "
        "undo the first."
    )
    assert "for other data like it that is not shown" in found.comparison.claim
    assert "as one on this dataset only" in found.advice
    assert found.scope.about == "this dataset"
    # Without sizes, or where it holds for data like these too, it may be reported as it is.
    sure = {"new": (b + rng.normal(0.05, 0.01, 20)).tolist(), "old": b.tolist()}
    for options, undone in ((sizes, "that on this dataset"), ({}, "that")):
        found = audit(sure, "new", "old", n_resamples=20, **options)
        assert str(found).endswith(f"hidden to undo {undone}.")
        assert "this dataset only" not in found.advice


def test_fewer_hidden_runs_than_undo_a_verdict_may_undo_it_for_data_like_these():
    """So the sentence says that its number is about this dataset."""
    differences = np.linspace(0.001, 0.033, 20)  # corrected t = 3.1: p = 0.0057
    b = np.random.default_rng(1).normal(0.8, 0.02, 20)
    sizes = {"train_size": 800, "test_size": 200}
    found = audit({"new": b + differences, "old": b}, "new", "old", n_resamples=20, **sizes)
    assert found.comparison.holds_for_population
    kept = np.delete(differences, np.arange(8, 12))
    assert not compare(kept, np.zeros(16), **sizes).holds_for_population
    assert found.hidden[0].n > 4
    assert str(found).endswith("pairs hidden to undo that on this dataset.")


def test_sizes_need_two_algorithms():
    with pytest.raises(InvalidInput) as refused:
        audit({"a": [1, 2, 3, 4]}, "a", train_size=80, test_size=20)
    assert str(refused.value) == (
        "sizes of splits say nothing about 'a' and itself. Leave out --train-size and "
        "--test-size, or name two algorithms."
    )


def test_names_keep_their_capitals():
    runs = {"ResNet": [9, 8, 9, 7, 8, 9, 8, 9], "VGG": [7, 6, 8, 8, 7, 7, 5, 8]}
    assert str(audit(runs, "ResNet", "VGG", n_resamples=20)).startswith(
        "Undecided: ResNet has the better mean"
    )
    equal = {"ResNet": [1, 2, 3, 4, 5, 6], "VGG": [6, 5, 4, 3, 2, 1]}
    assert str(audit(equal, "ResNet", "VGG", n_resamples=20)).startswith(
        "Undecided: no difference shown between ResNet and VGG"
    )


@pytest.mark.parametrize(("paired", "most"), [(True, 20_000), (False, 5_000)])
def test_so_many_runs_that_the_search_never_ends_are_refused(paired, most):
    scores = np.random.default_rng(0).normal(size=(2, most + 1))
    runs = read_runs({"a": scores[0], "b": scores[1]})
    with pytest.raises(InvalidInput, match=f"searched among {most:,} at most. Audit a part of"):
        audit(runs, "a", "b", paired=paired)


# Runs that are missing


def with_missing(wins, losses, n_missing):
    """Pairs won and lost, and others of which a has no score."""
    scores = from_wins(wins, losses + n_missing)
    return [
        {"algorithm": name, "seed": i, "score": None if name == "a" and i >= wins + losses else x}
        for name in "ab"
        for i, x in enumerate(scores[name])
    ]


def test_missing_pairs_are_hidden_like_lost_ones():
    taken = {"drop_incomplete": True}
    found = audit_quickly(with_missing(25, 2, 2), "a", "b", **taken)
    # By the sign test 12 of 16 wins are too few (p = 0.08), and 13 of 17 not (p = 0.049).
    assert str(found) == "Robust: a outperforms b; it takes 13 of 29 pairs hidden to undo that."
    assert found.verdict == audit_quickly(from_wins(25, 4), "a", "b").verdict
    assert found.hidden[0].n == audit_quickly(from_wins(25, 4), "a", "b").hidden[0].n
    left = audit_quickly(from_wins(25, 2), "a", "b")
    assert left.hidden[0].n > found.hidden[0].n
    counted = (
        "runs to hide are counted among all pairs, those that are missing included, as the worst "
        "of who lacks them; random seed sets and picked runs are of the runs that are left"
    )
    assert counted in found.caveats
    assert counted not in left.caveats


@pytest.mark.parametrize("paired", [True, False])
def test_who_would_win_but_for_missing_runs_is_not_shown_by_hiding_none(paired):
    for n_missing in (2, 5, 9):
        runs = with_missing(14, 3, n_missing)
        found = audit_quickly(runs, "a", "b", paired=paired, drop_incomplete=True)
        assert all((move.n != 0) for move in found.moves)
        assert "hiding 0 of" not in str(found)


def test_runs_that_one_algorithm_alone_lacks_are_counted():
    found = audit_quickly(with_missing(25, 2, 2), "a", drop_incomplete=True)
    assert (
        "2 incomplete runs were left out: if these went badly, a varies more than the others show"
    ) in found.caveats
    assert not any(
        "left out" in each
        for each in audit_quickly(with_missing(25, 2, 2), "b", drop_incomplete=True).caveats
    )
