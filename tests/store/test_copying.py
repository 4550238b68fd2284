"""A study moves between stores of any kind, whole, in order and once."""

from itertools import product

import pytest
from sklearn.naive_bayes import GaussianNB

import outperform as op
from outperform.errors import DamagedStore, StoreError
from outperform.runner import describe_study
from outperform.store import RunLabel, open_store
from outperform.store.measurement import FAILED_TRIAL
from outperform.store.meta import ACTIVITY
from tests.store.test_store_contract import STORES

LABELS = [
    RunLabel("ideal", "all", 0, "svm", "digits", "k1"),
    RunLabel("ideal", "all", 10, "svm", "Übung\x00", "k2"),
    RunLabel("ideal", "all", 2, "svm", "a", "k2"),
]
TRIAL = RunLabel(FAILED_TRIAL, "a search", 3, "svm", "digits", "k0")


@pytest.fixture(params=[*product(STORES, STORES)], ids="-to-".join)
def places(request, tmp_path):
    """Addresses of two stores that are not there yet."""
    folders = [tmp_path / name for name in ("from", "to")]
    for folder in folders:
        folder.mkdir()
    return [STORES[kind](folder) for kind, folder in zip(request.param, folders, strict=True)]


@pytest.fixture
def source(places, done, failed):
    with open_store(places[0]) as store:
        store.add([failed("k0", error="nul \x00 and \x1a0"), done("k9"), done("k\x000")], LABELS)
        store.add([done(f"k{i}", params={"text": "\x00é"}) for i in range(5)], [TRIAL])
        store.set_meta("notes", {"mine": [1, "é\x00"]})
        store.set_meta("other", 0.1)
    return places[0]


def read_all(store):
    names = [name for name in store.meta_names() if name != "writer"]
    return (
        [*store.measurements()],
        store.run_labels(),
        store.failed_trials(),
        {name: store.get_meta(name) for name in names},
    )


def test_all_of_it_is_there_in_the_same_order(source, places):
    steps = []
    copy = op.copy_store(source, places[1], report=lambda *step: steps.append(step))
    with open_store(source) as old, open_store(places[1]) as new:
        assert read_all(new) == read_all(old)
        assert [each.key for each in new.measurements()][:3] == ["k0", "k9", "k\x000"]
        assert len(new.run_labels()) == 3
        assert new.find_writer() is None
        assert copy == new.verify()
    assert steps == [(7, 7)]


def test_a_moment_is_copied_while_a_run_goes_on(source, places, done):
    with open_store(source) as writer:
        with writer.snapshot() as moment:
            writer.add([done("later")])
            writer.set_meta("notes", "changed")
            assert "later" not in moment.scores()
            assert moment.get_meta("notes") == {"mine": [1, "é\x00"]}
            assert len([*moment.measurements()]) == 7
        writer.set_meta(ACTIVITY, None)
        assert op.copy_store(source, places[1]).n_measurements == 8
    with open_store(places[1]) as new:
        assert ACTIVITY not in new.meta_names()  # no run of its own


def test_a_copy_that_was_interrupted_is_gone_on_with(source, places, done):
    with open_store(source) as old, open_store(places[1]) as new:
        new.add([*old.measurements()][:2])
    op.copy_store(source, places[1])
    with open_store(source) as old, open_store(places[1]) as new:
        assert read_all(new) == read_all(old)


def test_one_that_was_interrupted_at_the_very_end_is_no_study_yet(source, places, monkeypatch):
    task = op.Task("iris", metric="accuracy")
    study = op.Study([op.Pipeline("a", GaussianNB())], [task], [op.Ideal(2)])
    with open_store(source) as old:
        old.set_meta("study", describe_study(study))
        old.set_meta("unsimulated", {"a on toy": 3})

    def interrupt(store, name, value):
        if name == "study":
            raise KeyboardInterrupt
        set_meta(store, name, value)

    with open_store(places[1]) as new:
        set_meta = type(new).set_meta
        monkeypatch.setattr(type(new), "set_meta", interrupt)
        with pytest.raises(KeyboardInterrupt):
            op.copy_store(source, new)
        monkeypatch.undo()
        assert "study" not in new.meta_names()
        assert "unsimulated" in new.meta_names()
        op.copy_store(source, new)
        with open_store(source) as old:
            assert read_all(new) == read_all(old)


@pytest.mark.parametrize("what", ["a study", "other fits"])
def test_a_store_that_holds_another_study_is_left_alone(source, places, done, what):
    with open_store(places[1]) as store:
        if what == "a study":
            store.set_meta("notes", "precious")
        else:
            store.add([done("another")])
        before = read_all(store)
    with pytest.raises(StoreError) as caught:
        op.copy_store(source, places[1])
    with open_store(places[1]) as store:
        assert str(caught.value) == (
            f"'{store.address}' holds a study already, with {len(before[0])} fits. Name a store "
            "that is not there yet."
        )
        assert read_all(store) == before


def test_there_must_be_something_to_copy(places):
    with pytest.raises(StoreError, match="there is no store"):
        op.copy_store(*places)
    with open_store(places[1]) as store:
        assert not store.exists()


def test_a_store_cannot_be_copied_onto_itself(source):
    with pytest.raises(StoreError, match="holds a study already"):
        op.copy_store(source, source)


def test_a_difference_is_found(source, places, done, monkeypatch):
    with open_store(places[1]) as new, open_store(source) as old:
        kept = new.add
        monkeypatch.setattr(new, "add", lambda fits, labels=(): kept([*fits][::-1], labels))
        with pytest.raises(DamagedStore, match="is damaged: fit k0 is another"):
            op.copy_store(old, new)
