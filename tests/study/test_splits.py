"""Splits: no example in two sets, whatever the splitter."""

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outperform.errors import InvalidInput
from outperform.study.splits import (
    CrossValidation,
    FixedSplit,
    HoldOut,
    OutOfBootstrap,
    Split,
    make_splitter,
)

RANDOM = [OutOfBootstrap, HoldOut, CrossValidation]


def sets(split):
    return {"train": split.train, "valid": split.valid, "test": split.test}


def same(first, second):
    return all(np.array_equal(sets(first)[name], sets(second)[name]) for name in sets(first))


def shared(first, second):
    return set(first.tolist()) & set(second.tolist())


def assert_disjoint(split, groups=None):
    for first, second in combinations(sets(split).values(), 2):
        assert not shared(first, second)
        if groups is not None:
            assert not shared(groups[first], groups[second])


fractions = st.sampled_from([0.1, 0.2, 0.35, 0.5])
sizes = st.one_of(fractions, st.integers(1, 8))


@st.composite
def splitters(draw, kinds=RANDOM):
    kind, stratified = draw(st.sampled_from(kinds)), draw(st.booleans())
    valid = draw(st.one_of(sizes, st.just(0)))
    if kind is CrossValidation:
        return CrossValidation(draw(st.integers(2, 6)), valid=valid, stratified=stratified)
    test = draw(st.one_of(st.sampled_from([0.1, 0.2, 0.4]), st.integers(1, 8)))
    train = draw(st.sampled_from([0.3, 12]))
    if kind is HoldOut:
        train = draw(st.sampled_from([None, 0.1, 12]))
    else:
        train = draw(st.sampled_from([1.0, train]))
    return kind(train=train, valid=valid, test=test, stratified=stratified)


@st.composite
def datasets(draw):
    """Labels of each example, and groups of one class each, or none."""
    n_classes = draw(st.integers(1, 4))
    n_units = draw(st.integers(30, 120))
    rng = np.random.default_rng(draw(st.integers(0, 10)))
    of_unit = rng.permutation(np.arange(n_units) % n_classes)
    if not draw(st.booleans()):
        return of_unit, None
    unit_of = np.repeat(np.arange(n_units), rng.integers(1, 5, size=n_units))
    unit_of = rng.permutation(unit_of)
    return of_unit[unit_of], np.array([f"patient {unit}" for unit in unit_of])


# Properties


@settings(max_examples=400, deadline=None)
@given(splitters(), datasets(), st.integers(0, 2**32 - 1), st.integers(0, 5))
def test_no_example_and_no_group_is_in_two_sets(splitter, dataset, seed, fold):
    labels, groups = dataset
    fold %= splitter.n_folds
    try:
        split = splitter.split(len(labels), seed=seed, fold=fold, labels=labels, groups=groups)
    except InvalidInput as error:
        # Only for want of examples, which can happen: 8 + 8 of a class of 8.
        assert "but" in error.problem or "its share" in error.problem  # noqa: PT017
        return
    assert_disjoint(split, groups)
    assert len(split.train)
    assert len(split.test)
    assert bool(len(split.valid)) == bool(splitter.valid)
    for part in sets(split).values():
        assert part.dtype == np.int64
        assert not len(part) or (part.min() >= 0 and part.max() < len(labels))
    for part in (split.valid, split.test):
        assert len(np.unique(part)) == len(part)
    if not isinstance(splitter, OutOfBootstrap):
        assert len(np.unique(split.train)) == len(split.train)
    again = splitter.split(len(labels), seed=seed, fold=fold, labels=labels, groups=groups)
    assert same(split, again)


@settings(max_examples=100, deadline=None)
@given(splitters(), st.integers(0, 2**31))
def test_another_seed_differs(splitter, seed):
    first, second = (splitter.split(200, seed=seed + i, labels=np.zeros(200)) for i in range(2))
    assert not same(first, second)
    assert not np.array_equal(first.train, second.train)


@pytest.mark.parametrize("kind", RANDOM)
def test_another_seed_tests_on_other_examples(kind):
    splits = [kind().split(200, seed=seed) for seed in range(2)]
    assert not np.array_equal(splits[0].test, splits[1].test)
    assert not np.array_equal(splits[0].valid, splits[1].valid)


@pytest.mark.parametrize("splitter", [HoldOut(0.05, 0.05), CrossValidation(2, valid=0.05)])
def test_rare_classes_are_in_every_set(splitter):
    labels = np.repeat(["common", "rare", "uncommon"], [90, 4, 6])
    stratified = replace(splitter, stratified=True)
    for seed in range(20):
        split = stratified.split(100, seed=seed, labels=labels)
        assert all(set(labels[part]) == set(labels) for part in sets(split).values())


@pytest.mark.parametrize("kind", RANDOM)
def test_groups_are_whole(kind):
    groups = np.random.default_rng(0).integers(0, 40, size=300)
    split = kind().split(300, seed=1, groups=groups)
    for part in sets(split).values():
        for group in np.unique(groups[part]):
            assert set(np.flatnonzero(groups == group)) <= set(part.tolist())


@pytest.mark.parametrize("kind", RANDOM)
def test_class_shares_are_kept_when_stratified_and_only_then(kind):
    labels = np.repeat([0, 1, 2], [700, 250, 50])

    def worst(stratified):
        gaps = []
        for seed in range(30):
            split = kind(stratified=stratified).split(1000, seed=seed, labels=labels)
            counts = np.bincount(labels[split.train], minlength=3) / len(split.train)
            gaps.append(np.abs(counts - [0.7, 0.25, 0.05]).max())
        return max(gaps)

    assert worst(stratified=True) < 0.002
    assert worst(stratified=False) > 0.01  # negative control


@pytest.mark.parametrize("kind", [HoldOut, CrossValidation])
def test_held_out_class_shares_are_kept(kind):
    labels = np.repeat([0, 1, 2], [703, 251, 46])
    split = kind(stratified=True).split(1000, seed=0, labels=labels)
    for part in (split.valid, split.test):
        expected = np.array([703, 251, 46]) * len(part) / 1000
        assert np.abs(np.bincount(labels[part], minlength=3) - expected).max() < 1.5


# Out-of-bootstrap


def test_a_bootstrap_draws_63_percent():
    shares = [len(np.unique(OutOfBootstrap().split(500, seed=s).train)) / 500 for s in range(400)]
    expected = 1 - (1 - 1 / 500) ** 500
    assert expected == pytest.approx(1 - 1 / math.e, abs=0.001)
    # The number never drawn has variance n(1/e - 2/e²).
    error = math.sqrt(500 * (1 / math.e - 2 / math.e**2)) / 500 / math.sqrt(400)
    assert abs(np.mean(shares) - expected) < 4 * error


def test_every_example_is_drawn_equally_often():
    counts = np.zeros(20)
    for seed in range(2000):
        split = OutOfBootstrap().split(40, seed=seed, labels=None, groups=np.repeat(range(20), 2))
        counts += np.bincount(split.train[split.train % 2 == 0] // 2, minlength=20)
    # Binomial(2000 * 20, 1/20): mean 2000, standard deviation 43.6.
    assert np.abs(counts - 2000).max() < 4 * 43.6


def test_valid_and_test_share_what_was_never_drawn():
    split = OutOfBootstrap().split(101, seed=4)
    never_drawn = set(range(101)) - set(split.train.tolist())
    assert len(split.train) == 101
    assert set(split.valid.tolist()) | set(split.test.tolist()) == never_drawn
    assert 0 <= len(split.test) - len(split.valid) <= 1


def test_out_of_bootstrap_sizes():
    splitter = OutOfBootstrap(train=400, valid=100, test=100, stratified=True)
    labels = np.repeat(range(10), 100)
    split = splitter.split(1000, seed=0, labels=labels)
    assert np.bincount(labels[split.train]).tolist() == [40] * 10
    assert np.bincount(labels[split.valid]).tolist() == [10] * 10
    assert np.bincount(labels[split.test]).tolist() == [10] * 10


def test_groups_are_drawn_as_often_as_the_bootstrap_says():
    groups = np.repeat(range(50), 3)
    split = OutOfBootstrap().split(150, seed=0, groups=groups)
    times = np.bincount(split.train, minlength=150).reshape(50, 3)
    assert (times == times[:, :1]).all()
    assert times[:, 0].sum() == 50
    assert times.max() > 1


# Hold-out and cross-validation


def test_hold_out_takes_everything():
    split = HoldOut(valid=10, test=0.25).split(101, seed=0)
    assert [len(part) for part in sets(split).values()] == [66, 10, 25]
    assert sorted(np.concatenate(list(sets(split).values()))) == list(range(101))


def test_hold_out_may_train_on_less():
    split = HoldOut(train=20, valid=0.1, test=0.1).split(100, seed=0)
    assert [len(part) for part in sets(split).values()] == [20, 10, 10]


@pytest.mark.parametrize("stratified", [True, False])
def test_folds_partition_the_examples(stratified):
    labels = np.repeat([0, 1, 2], [53, 29, 21])
    splitter = CrossValidation(n_folds=7, stratified=stratified)
    splits = [splitter.split(103, seed=9, fold=fold, labels=labels) for fold in range(7)]
    tested = np.concatenate([split.test for split in splits])
    assert sorted(tested) == list(range(103))
    assert {len(split.test) for split in splits} == {14, 15}
    if stratified:
        counts = np.array([np.bincount(labels[split.test], minlength=3) for split in splits])
        assert (np.ptp(counts, axis=0) <= 1).all()
    for split in splits:
        assert len(np.concatenate(list(sets(split).values()))) == 103


def test_validation_rotates_with_the_folds():
    splits = [CrossValidation(5, valid=0.25).split(100, seed=0, fold=fold) for fold in range(5)]
    assert sorted(np.concatenate([split.valid for split in splits])) == list(range(100))


def test_training_examples_are_shuffled():
    for kind in RANDOM:
        train = kind().split(100, seed=0).train
        assert train.tolist() != sorted(train.tolist())


def test_refit_trains_on_validation_too():
    split = HoldOut().split(50, seed=0)
    refit = split.refit()
    assert isinstance(refit, Split)
    assert len(refit.valid) == 0
    assert set(refit.train.tolist()) == set(range(50)) - set(split.test.tolist())
    assert np.array_equal(refit.test, split.test)


def test_a_fixed_split_is_fixed():
    splitter = FixedSplit(np.array([0, 4]), (), [2, 1])
    for seed in (0, 1):
        split = splitter.split(5, seed=seed)
        assert [part.tolist() for part in sets(split).values()] == [[0, 4], [], [2, 1]]
    assert splitter == FixedSplit([0, 4], [], [2, 1])


# From a study file


def test_make_splitter_makes_every_kind():
    assert make_splitter({"kind": "out-of-bootstrap", "stratified": True, "valid": 100}) == (
        OutOfBootstrap(valid=100, stratified=True)
    )
    assert make_splitter({"kind": "hold-out", "test": 0.1}) == HoldOut(test=0.1)
    assert make_splitter({"kind": "cross-validation", "n_folds": 3}) == CrossValidation(3)
    assert make_splitter("hold-out") == HoldOut()
    fixed = make_splitter({"kind": "fixed", "train": "0:3", "test": [4, 3]})
    assert fixed == FixedSplit([0, 1, 2], [], [4, 3])


LABELS = np.repeat(["rare", "common"], [2, 98])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: make_splitter({"kind": "hold-uot"}),
            "there is no split 'hold-uot'. Did you mean 'hold-out'? It has: "
            "out-of-bootstrap, hold-out, cross-validation, fixed.",
        ),
        (
            lambda: make_splitter({}),
            "the split has no kind. Give it one of out-of-bootstrap, hold-out, cross-validation, "
            "fixed.",
        ),
        (
            lambda: make_splitter({"knd": "fixed"}),
            "the split has an unknown word 'knd'. Did you mean 'kind'? It has: kind, train, valid, "
            "test, n_folds, stratified.",
        ),
        (
            lambda: make_splitter({"kind": "hold-out", "stratifed": True}),
            "hold-out has an unknown word 'stratifed'. Did you mean 'stratified'? It has: valid, "
            "test, train, stratified.",
        ),
        (
            lambda: make_splitter({"kind": "hold-out", "stratified": "yes"}),
            "stratified is 'yes'. Write true or false.",
        ),
        (
            lambda: make_splitter({"kind": "fixed", "train": "0-3", "test": [4]}),
            "train is '0-3'. Write a range as \"0:50000\", or list positions.",
        ),
        (
            lambda: OutOfBootstrap(valid=60, test=60).split(100, seed=0),
            "there are 100 examples: 38 never drawn, but test needs 60 and other sets at least 1. "
            "Ask for smaller sets, or get more examples.",
        ),
        (
            lambda: OutOfBootstrap(train=200).split(100, seed=0),
            "train is 200, but there are 100 examples. Draw 100 at most, as train = 1.0 does.",
        ),
        (
            lambda: OutOfBootstrap(stratified=True).split(100, seed=0, labels=LABELS),
            "class 'rare' has 2 examples: 0 never drawn, but test needs 1. Merge or leave out rare "
            "classes, ask for other sizes, or set stratified = false.",
        ),
        (
            lambda: OutOfBootstrap(train=10, stratified=True).split(100, seed=0, labels=LABELS),
            "class 'rare' has 2 examples: its share of 10 draws for train is none. Merge or "
            "leave out rare classes, ask for other sizes, or set stratified = false.",
        ),
        (
            lambda: HoldOut(stratified=True).split(100, seed=0, labels=LABELS),
            "class 'rare' has 2 examples: 2 left, but test needs 1 and other sets at least "
            "2. Merge or leave out rare classes, ask for other sizes, or set stratified = false.",
        ),
        (
            lambda: HoldOut(test=2, stratified=True).split(
                100, seed=0, labels=np.repeat(["a", "rare"], [96, 4])
            ),
            "class 'rare' has 4 examples: its share of test rounds to none. Merge or leave out "
            "rare classes, ask for other sizes, or set stratified = false.",
        ),
        (
            lambda: HoldOut(valid=80, test=20).split(100, seed=0),
            "there are 100 examples: 80 left, but valid needs 80 and other sets at least 1. Ask "
            "for smaller sets, or get more examples.",
        ),
        (
            lambda: HoldOut().split(6, seed=0, groups=[0, 0, 0, 1, 1, 1]),
            "there are 2 groups: 2 left, but test needs 1 and other sets at least 2. Ask for "
            "smaller sets, or get more groups.",
        ),
        (
            lambda: CrossValidation(5).split(3, seed=0),
            "there are 3 examples: too few for 5 folds. Ask for smaller sets, or get more "
            "examples.",
        ),
        (
            lambda: CrossValidation(3, stratified=True).split(100, seed=0, labels=LABELS),
            "class 'rare' has 2 examples: too few for 3 folds. Merge or leave out rare classes, "
            "ask for other sizes, or set stratified = false.",
        ),
        (
            lambda: CrossValidation(5).split(100, seed=0, fold=5),
            "fold is 5, but the split has 5 folds. Pass a fold from 0 to 4.",
        ),
        (
            lambda: HoldOut().split(100, seed=0, fold=1),
            "fold is 1, but the split has 1 fold. Pass fold = 0.",
        ),
        (lambda: CrossValidation(1), "n_folds is 1. Pass a whole number not less than 2."),
        (
            lambda: CrossValidation(valid=1.0),
            "valid is 1.0, which leaves nothing to train. Pass less.",
        ),
        (
            lambda: HoldOut(valid=0.5, test=0.5),
            "valid is 0.5 and test is 0.5 of the examples, and nothing is left to train. Make "
            "the fractions smaller.",
        ),
        (
            lambda: OutOfBootstrap(valid=0.6),
            "valid is 0.6 and test is 0.5 of the examples never drawn, which is more than there "
            "is. Make the fractions smaller.",
        ),
        (
            lambda: HoldOut(test=0),
            "test is 0. Pass a whole number not less than 1, or a fraction up to 1.0.",
        ),
        (
            lambda: HoldOut(valid=1.5),
            "valid is 1.5. Pass a whole number not less than 0, or a fraction up to 1.0.",
        ),
        (
            lambda: HoldOut(test="10%"),
            "test is '10%'. Pass a number of examples, or a fraction.",
        ),
        (
            lambda: HoldOut(stratified=True).split(100, seed=0),
            "a stratified split needs the label of every example, and there are none. Pass "
            "labels, or set stratified = false.",
        ),
        (
            lambda: HoldOut(stratified=True).split(100, seed=0, labels=[1, 2]),
            "labels has shape (2,), but there are 100 examples. Pass one value per example.",
        ),
        (
            lambda: HoldOut(stratified=True).split(
                6, seed=0, labels=[0, 1, 0, 0, 0, 1], groups=["a", "a", "b", "b", "c", "c"]
            ),
            "2 of 3 groups have examples of several classes (the first: 'a'). Set stratified = "
            "false: groups stay together, so such classes cannot be balanced.",
        ),
        (
            lambda: HoldOut().split(1, seed=0),
            "the dataset has 1 example. At least 2 are needed to train and test.",
        ),
        (
            lambda: FixedSplit([0, 1, 2], [2, 3], [4]),
            "train and valid share 1 example: 2. Remove them from one of the two.",
        ),
        (
            lambda: FixedSplit([0], [], [9]).split(9, seed=0),
            "the fixed split has example 9, but there are 9 examples. Count from 0 to 8.",
        ),
        (
            lambda: FixedSplit([0], [], [1]).split(2, seed=0, groups=["a", "a"]),
            "1 group is in two sets of the fixed split: a. Move each group into one set, or "
            "pass no groups.",
        ),
        (
            lambda: FixedSplit([0], [], []),
            "test is empty. List the positions of its examples.",
        ),
        (
            lambda: FixedSplit([0.5], [], [1]),
            "train is [0.5]. List the positions of its examples.",
        ),
        (lambda: FixedSplit([0], [], [-1]), "test has example -1. Count examples from 0."),
    ],
)
def test_refusals(call, message):
    with pytest.raises(InvalidInput) as caught:
        call()
    assert str(caught.value) == message
