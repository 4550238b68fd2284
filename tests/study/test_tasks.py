"""Datasets come from anywhere, say what is wrong with them, and whether they can be split."""

import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from outperform.errors import InvalidInput, UnknownDirection, UnknownName
from outperform.study.datasets import Dataset, load_table
from outperform.study.pipelines import FunctionPipeline
from outperform.study.splits import CrossValidation, FixedSplit, HoldOut, OutOfBootstrap
from outperform.study.tasks import (
    BUNDLED,
    Task,
    check_feasible,
    find_goal,
    is_spacious,
    measure_resplit,
    name_division,
    split_dataset,
)


def write_csv(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_datasets_load_by_name(name):
    task = Task(name, metric="r2", data=name)
    assert task.data is not None
    dataset = task.data()
    assert dataset.n_examples == len(dataset.features) > 100
    assert task.data() is dataset  # once per process


def test_a_task_called_like_a_bundled_dataset_has_it():
    assert Task("wine", metric="accuracy").fingerprint == (
        Task("grapes", metric="accuracy", data="wine").fingerprint
    )
    assert Task("grapes", metric="accuracy").data is None
    own = Task("wine", metric="accuracy", data=([[0.0], [1.0]], [0, 1]))
    assert own.data().n_examples == 2


def test_a_copy_of_a_task_has_the_same_data():
    for data in ("wine", lambda: ([[0.0]], [1]), ([[0.0]], [1])):
        task = Task("t", metric="accuracy", data=data)
        assert replace(task, name="u").fingerprint == task.fingerprint


@pytest.mark.parametrize("splitter", ["hold-out", HoldOut, 5])
def test_what_is_no_splitter_is_refused(splitter):
    with pytest.raises(InvalidInput) as caught:
        Task("t", metric="accuracy", splitter=splitter)
    assert str(caught.value) == (
        f"the splitter of task 't' is {splitter!r}. Pass one such as HoldOut(test=0.3) or "
        "CrossValidation(5)."
    )


def test_an_unknown_dataset_names_the_nearest():
    with pytest.raises(UnknownName) as caught:
        Task("t", metric="accuracy", data="digit")
    assert str(caught.value) == (
        "there is no dataset 'digit'. Did you mean 'digits'? It has: digits, breast_cancer, wine, "
        "iris, diabetes; a path must end in .csv or .npz."
    )


def test_a_task_may_have_no_data():
    task = Task("imagenet", metric="top1_accuracy")
    assert task.data is None
    assert isinstance(task.splitter, OutOfBootstrap)


def test_data_in_memory_with_groups():
    task = Task("t", metric="accuracy", data=([[1.0], [2.0]], ["a", "b"], [0, 1]))
    assert task.data is not None
    dataset = task.data()
    assert dataset.groups is not None
    features, labels = dataset.take(np.array([1, 1, 0]))
    assert features.tolist() == [[2.0], [2.0], [1.0]]
    assert labels.tolist() == ["b", "b", "a"]


def test_data_frames_are_taken_by_position():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"x": [1.0, 2.0, 3.0]}, index=[7, 8, 9])
    features, labels = Dataset(frame, np.array([0, 1, 0])).take(np.array([2, 0]))
    assert features["x"].tolist() == [3.0, 1.0]
    assert labels.tolist() == [0, 0]


def test_sparse_features_are_accepted():
    sparse = pytest.importorskip("scipy.sparse")
    features, _ = Dataset(sparse.csr_array(np.eye(3)), np.arange(3)).take(np.array([2, 1]))
    assert features.toarray().tolist() == [[0, 0, 1], [0, 1, 0]]


def test_a_loader_is_called_when_needed():
    calls = []

    def load():
        calls.append(1)
        return np.zeros((3, 2)), np.arange(3)

    task = Task("t", metric="r2", data=load)
    assert not calls
    assert task.data is not None
    assert task.data().n_examples == 3


def test_a_loader_by_import_path(tmp_path, monkeypatch):
    (tmp_path / "my_loader.py").write_text("def load():\n    return [[1.0], [2.0]], [0, 1]\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    task = Task("t", metric="r2", data="my_loader:load")
    assert task.data is not None
    assert task.data().labels.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            ([[1.0]], [0, 1]),
            "there are 2 labels, but features for 1 examples. Pass one of each per example.",
        ),
        (
            ([[1.0], [2.0]], [0, 1], [5]),
            "there are 2 labels, but groups for 1 examples. Pass one of each per example.",
        ),
        (([], []), "the dataset is empty. Pass at least a few examples."),
        (
            ([1.0],),
            "a tuple is no dataset. Pass (features, labels) or add groups as third.",
        ),
        (
            {"path": "a.csv", "lable": "y"},
            "data has an unknown word 'lable'. Did you mean 'label'? It has: path, label, group.",
        ),
        ({"label": "y"}, "data has no path. Give the path of a CSV or NPZ file as path."),
    ],
)
def test_bad_data_is_refused_at_once(data, message):
    with pytest.raises(InvalidInput) as caught:
        Task("t", metric="accuracy", data=data)
    assert str(caught.value) == message


def test_csv_with_text_labels_and_groups(tmp_path):
    path = write_csv(tmp_path / "d.csv", "x1,target,x2,group\n1,yes,2.5,a\n,no,3,b\n")
    dataset = load_table(path)
    assert dataset.labels.tolist() == ["yes", "no"]
    assert dataset.groups is not None
    assert dataset.groups.tolist() == ["a", "b"]
    np.testing.assert_array_equal(dataset.features, [[1, 2.5], [np.nan, 3]])


@pytest.mark.parametrize(
    ("cells", "expected", "kind"), [("3,4", [3, 4], "i"), ("3.5,4", [3.5, 4], "f")]
)
def test_numeric_labels_keep_their_kind(tmp_path, cells, expected, kind):
    first, second = cells.split(",")
    labels = load_table(write_csv(tmp_path / "d.csv", f"x,y\n1,{first}\n2,{second}\n")).labels
    assert labels.tolist() == expected
    assert labels.dtype.kind == kind


def test_a_label_column_can_be_named(tmp_path):
    path = write_csv(tmp_path / "d.csv", "x,quality\n1,5\n2,6\n")
    task = Task("wine", metric="r2", data={"path": str(path), "label": "quality"})
    assert task.data is not None
    assert task.data().labels.tolist() == [5, 6]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "x,quality\n1,5\n",
            "cannot tell which part of d.csv holds the labels: x, quality. Name it label, or say "
            "which it is.",
        ),
        (
            "x,y\nred,5\n2,6\nblue,7\n",
            "column 'x' of d.csv holds 'red' where a number should be (rows 2, 4). Encode it as "
            "numbers, or load the data with a function of your own.",
        ),
        (
            "x,y\n1,5\n2\n",
            "d.csv has 2 columns, but not in row 3. Give every row one cell per column of the "
            "header.",
        ),
        (
            "x,y\n1,5\n2,\n",
            "column 'y' of d.csv has no label in row 3. Remove these rows, or label them.",
        ),
        ("x,y\n", "d.csv has no examples. Give a header, and a row per example."),
        ("y\n1\n", "d.csv has no examples. Give a header, and a row per example."),
    ],
)
def test_bad_csv_is_refused(tmp_path, text, message):
    with pytest.raises(InvalidInput) as caught:
        load_table(write_csv(tmp_path / "d.csv", text))
    assert str(caught.value) == message


def test_a_missing_file_and_a_strange_one(tmp_path):
    with pytest.raises(InvalidInput, match=r"cannot read .*none\.csv: No such file or directory"):
        load_table(tmp_path / "none.csv")
    with pytest.raises(InvalidInput, match=r"cannot read .*none\.csv: No such file or directory"):
        _ = Task("t", metric="r2", data=tmp_path / "none.csv").fingerprint
    with pytest.raises(InvalidInput, match=r"cannot tell what d\.xlsx holds"):
        load_table(tmp_path / "d.xlsx")


def test_npz_round_trip_and_refusals(tmp_path):
    path = tmp_path / "d.npz"
    np.savez(path, X=np.eye(3), y=np.arange(3), groups=np.array([0, 0, 1]))
    dataset = load_table(path)
    assert dataset.features.shape == (3, 3)
    assert dataset.groups is not None
    np.savez(path, X=np.eye(3), y=np.array([None, 1, 2], dtype=object))
    with pytest.raises(InvalidInput, match=r"d\.npz holds something that is not a plain array"):
        load_table(path)
    np.savez(path, X=np.eye(3))
    with pytest.raises(InvalidInput, match=r"cannot tell which part of d\.npz holds the labels"):
        load_table(path)


def test_every_scorer_of_scikit_learn_is_maximized():
    metrics = pytest.importorskip("sklearn.metrics")
    assert {find_goal(name) for name in metrics.get_scorer_names()} == {"maximize"}


def test_the_goal_is_known_given_or_asked_for():
    assert Task("t", metric="test_error").goal == "minimize"
    assert Task("t", metric="my_thing", goal="minimize").goal == "minimize"
    with pytest.raises(UnknownDirection):
        Task("t", metric="my_thing")


def test_the_fingerprint_follows_data_and_splitter(tmp_path):
    def fingerprint_of(data, splitter=None):
        return Task("t", metric="r2", data=data, splitter=splitter).fingerprint

    path = write_csv(tmp_path / "d.csv", "x,y\n1,5\n")
    table = fingerprint_of(path)
    moved = write_csv(tmp_path / "moved.csv", "x,y\n1,5\n")
    assert fingerprint_of(moved) == table  # the content counts, not the place
    write_csv(path, "x,y\n1,6\n")
    memory = (np.eye(2), np.arange(2))
    fingerprints = [
        table,
        fingerprint_of(path),
        fingerprint_of("digits"),
        fingerprint_of("wine"),
        fingerprint_of(memory),
        fingerprint_of((2 * np.eye(2), np.arange(2))),
        fingerprint_of(lambda: memory),
        fingerprint_of("digits", CrossValidation(5)),
        fingerprint_of("digits", CrossValidation(10)),
        fingerprint_of("digits", OutOfBootstrap(stratified=True)),
    ]
    assert len(set(fingerprints)) == len(fingerprints)
    assert fingerprint_of("digits", OutOfBootstrap()) == fingerprint_of("digits")
    assert fingerprint_of((np.eye(2), np.arange(2))) == fingerprint_of(memory)


def test_metric_and_goal_are_labels_only():
    one = Task("t", "accuracy", "maximize")
    assert one.fingerprint == Task("t", "error", "minimize").fingerprint


def test_tasks_travel_to_workers():
    task = pickle.loads(pickle.dumps(Task("t", metric="accuracy", data="iris")))
    assert task.data().n_examples == 150


def make_dataset(*sizes: int) -> Dataset:
    """A dataset with a class of each size."""
    labels = np.repeat(np.arange(len(sizes)), sizes)
    return Dataset(np.zeros((len(labels), 1)), labels)


@pytest.fixture
def asked(monkeypatch):
    """Seeds and folds of the splits that are drawn."""
    drawn = []

    def split(splitter, dataset, *, seed, fold):
        drawn.append((seed, fold))
        return split_dataset(splitter, dataset, seed=seed, fold=fold)

    monkeypatch.setattr("outperform.study.tasks.split_dataset", split)
    return drawn


DRAWS = [(seed, 0) for seed in range(50)]


@pytest.mark.parametrize(
    "splitter",
    [
        HoldOut(stratified=True),
        FixedSplit([0, 1], [2], [3]),
        OutOfBootstrap(),
        OutOfBootstrap(stratified=True),
    ],
)
def test_one_split_stands_for_all_where_seeds_cannot_matter(splitter, asked):
    check_feasible(splitter, make_dataset(200, 300), DRAWS)
    assert len(asked) == 1


def test_every_fold_is_tried(asked):
    draws = {(seed, fold) for seed in range(5) for fold in range(3)}
    check_feasible(CrossValidation(3), make_dataset(10, 20), draws)
    assert sorted(fold for _, fold in asked) == [0, 1, 2]


def test_a_small_class_is_tried_with_every_seed(asked):
    check_feasible(OutOfBootstrap(stratified=True), make_dataset(30, 300), DRAWS)
    assert asked == DRAWS


def test_the_one_seed_that_leaves_too_few_is_found():
    dataset = make_dataset(9, 300)
    splitter = OutOfBootstrap(stratified=True)

    def fails(seed: int) -> bool:
        try:
            split_dataset(splitter, dataset, seed=seed, fold=0)
        except InvalidInput:
            return True
        return False

    failing = [seed for seed in range(2000) if fails(seed)]
    assert 0 < len(failing) < 200
    good = [seed for seed in range(2000) if seed not in failing]
    check_feasible(splitter, dataset, [(seed, 0) for seed in good])
    with pytest.raises(InvalidInput, match=r"class 0 has 9 examples: \d never drawn"):
        check_feasible(splitter, dataset, [*((seed, 0) for seed in good), (failing[-1], 0)])


@pytest.mark.parametrize("size", [200, 500, 1000])
def test_spacious_datasets_leave_room_indeed(size):
    # How many of the class are never drawn, in many more bootstraps than most studies draw.
    rng = np.random.default_rng(size)
    undrawn = min(size - len(np.unique(rng.integers(size, size=size))) for _ in range(5_000))
    test = next(
        n
        for n in range(size, 0, -1)
        if is_spacious(OutOfBootstrap(valid=0, test=n), make_dataset(size), 5_000)
    )
    assert 0 < test < undrawn
    assert not is_spacious(OutOfBootstrap(valid=0, test=test + 1), make_dataset(size), 5_000)


def make_noise(n, groups=None):
    return Dataset(np.zeros((n, 1)), np.arange(n) % 2, groups)


@pytest.mark.parametrize(
    ("splitter", "n_train", "n_test"),
    [
        (HoldOut(valid=0.1, test=0.3), 70, 30),  # final fits train on the 10 of validation too
        (HoldOut(valid=10, test=20, train=30), 40, 20),
        (CrossValidation(n_folds=5, valid=0.25), 80, 20),
        (CrossValidation(n_folds=4, valid=0, stratified=True), 75, 25),
    ],
)
def test_sizes_count_what_final_fits_train_on(splitter, n_train, n_test):
    sizes = measure_resplit(splitter, make_noise(100), seed=3)
    assert (sizes.n_train, sizes.n_test) == (n_train, n_test)


@pytest.mark.parametrize("stratified", [False, True])
def test_what_a_bootstrap_draws_twice_counts_once(stratified):
    dataset = make_noise(2000)
    sizes = measure_resplit(OutOfBootstrap(stratified=stratified), dataset, seed=0)
    # Of 2,000, some 2,000/e = 736 are never drawn; half of them test, the others train in the end.
    assert sizes.n_test == pytest.approx(368, abs=30)
    assert sizes.n_train + sizes.n_test == 2000
    alone = measure_resplit(OutOfBootstrap(valid=0, test=10), dataset, seed=0)
    assert (alone.n_train, alone.n_test) == (pytest.approx(1264, abs=60), 10)


@pytest.mark.parametrize("splitter", [OutOfBootstrap(), HoldOut(), CrossValidation()])
def test_groups_count_as_one(splitter):
    groups = np.arange(300) // 6  # 50 groups of 6
    sizes = measure_resplit(splitter, make_noise(300, groups), seed=0)
    alone = measure_resplit(splitter, make_noise(50), seed=0)
    assert sizes == alone


def test_what_another_seed_of_split_divides():
    def fit(params, split, seeds):
        return {"test": 0.5}

    blind = (FunctionPipeline("blind", fit, {}, ("init",)),)
    sees = (*blind, FunctionPipeline("sees", fit, {}, ("split",)))
    fixed = FixedSplit([0, 1], [2], [3])
    cases = [
        ("iris", OutOfBootstrap(), blind, "splits of this dataset"),
        ("iris", CrossValidation(), blind, "folds of this dataset"),
        ("iris", fixed, sees, None),
        (None, OutOfBootstrap(), sees, "splits of this dataset"),
        (None, OutOfBootstrap(), blind, None),
    ]
    for data, splitter, pipelines, expected in cases:
        task = Task("toy", metric="accuracy", data=data, splitter=splitter)
        assert name_division(task, pipelines) == expected
