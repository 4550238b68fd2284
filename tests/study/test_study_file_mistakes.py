"""Study files that make no sense: what is said, and of which line."""

from pathlib import Path

import pytest

from outperform.errors import InvalidInput, OutperformError
from outperform.study.study import Study
from outperform.study.study_file import parse_study_file

FILE = (Path(__file__).parent / "digits.toml").read_text()
COMMAND = (Path(__file__).parent / "command.toml").read_text()


def parse(text: str) -> Study:
    return parse_study_file(text, folder=Path()).study


NOT_LESS = "Pass a whole number not less than"
SEARCH = '[tuning]\ntuner = "random"\ntrials = 5'
TREE = "[[pipeline]]\nestimator = 'sklearn.tree.DecisionTreeClassifier'\n"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        # words
        (
            "seed = 7",
            "sede = 7",
            "the study has an unknown word 'sede' (line 3). Did you mean 'seed'? It has: name, "
            "seed, tuning, limits, engine, task, pipeline, design.",
        ),
        (
            "trials = 5",
            "trails = 5",
            "tuning has an unknown word 'trails' (line 7). Did you mean 'trials'? It has: tuner, "
            "trials.",
        ),
        (
            "retries",
            "retry",
            "limits has an unknown word 'retry' (line 11). Did you mean 'retries'? It has: "
            "timeout, retries.",
        ),
        (
            "fixed =",
            "fixd =",
            "the pipeline has an unknown word 'fixd' (line 21). Did you mean 'fixed'? It has: "
            "name, space, estimator, fixed, sources, resources.",
        ),
        (
            "split =",
            "splt =",
            "the task has an unknown word 'splt' (line 16). Did you mean 'split'? It has: name, "
            "data, metric, goal, split.",
        ),
        (
            "stratified",
            "stratfied",
            "out-of-bootstrap has an unknown word 'stratfied' (line 16). Did you mean "
            "'stratified'? It has: train, valid, test, stratified.",
        ),
        (
            "log-uniform",
            "log-unifrom",
            "hyperparameter 'C': there is no option 'log-unifrom' (line 23). Did you mean "
            "'log-uniform' or 'uniform'? It has: uniform, log-uniform, integers, choices, default.",
        ),
        (
            'kind = "ideal"',
            'knd = "ideal"',
            "the design has an unknown word 'knd' (line 26). Did you mean 'kind'? It has: "
            "kind, replicates, repetitions, best_share, levels, searches, vary, sources.",
        ),
        (
            "replicates = 10",
            "replicate = 10",
            "fix-hopt has an unknown word 'replicate' (line 31). Did you mean 'replicates'? It "
            "has: replicates, vary, repetitions.",
        ),
        (
            'vary = ["split"]',
            "searches = 3",
            "fix-hopt has an unknown word 'searches' (line 32). It has: replicates, vary, "
            "repetitions.",
        ),
        # values
        (
            'tuner = "random"',
            'tuner = "radnom"',
            "there is no tuner 'radnom' (line 6). Did you mean 'random'? It has: random, "
            "wide-random, grid, noisy-grid, gp-ei, tpe, cma-es.",
        ),
        (
            'data = "digits"',
            'data = "digist"',
            "there is no dataset 'digist' (line 14). Did you mean 'digits' or 'iris'? It has: "
            "digits, breast_cancer, wine, iris, diabetes; a path must end in .csv or .npz.",
        ),
        (
            'metric = "accuracy"',
            'metric = "acuracy"',
            "nothing says whether a higher 'acuracy' is better (line 15). Did you mean 'accuracy'? "
            'Otherwise set goal = "maximize" or goal = "minimize" for the task.',
        ),
        (
            'metric = "accuracy"',
            'metric = "acuracy"\ngoal = "maximize"',
            "scikit-learn has no scorer 'acuracy' (line 15). Did you mean 'accuracy' or 'top_k",
        ),
        (
            'metric = "accuracy"',
            'metric = "accuracy"\ngoal = "max"',
            "the goal is 'max', which says no direction (line 16). "
            'Set goal = "maximize" or goal = "minimize" for the task.',
        ),
        (
            '"out-of-bootstrap"',
            '"out-of-bootstap"',
            "there is no split 'out-of-bootstap' (line 16). Did you mean 'out-of-bootstrap'? It "
            "has: out-of-bootstrap, hold-out, cross-validation, fixed.",
        ),
        (
            '"sklearn.svm.SVC"',
            '"sklearn.svm.SCV"',
            "there is no 'SCV' in sklearn.svm (line 20). Did you mean 'SVR' or 'SVC'?",
        ),
        (
            "fixed = {kernel",
            "fixed = {kernle",
            "the estimator of pipeline 'svm' has no parameter 'kernle' (line 21). Did you mean "
            "'kernel'?",
        ),
        (
            "C = {log",
            "c = {log",
            "the estimator of pipeline 'svm' has no parameter 'c' (line 23). Did you mean 'C'?",
        ),
        (
            'kind = "ideal"',
            'kind = "idael"',
            "there is no design 'idael' (line 26). Did you mean 'ideal'? It has: ideal, "
            "fix-hopt, simulated-hopt, resampled-hopt, variance, crossed.",
        ),
        (
            'vary = ["split"]',
            'vary = ["split",\n"inti"]',
            "pipeline 'svm' does not honour inti: redrawing it would change nothing (line 33). "
            "Did you mean 'init'? It has: split, order, init.",
        ),
        ("seed = 7", "seed = -1", f"seed is -1 (line 3). {NOT_LESS} 0."),
        ("trials = 5", "trials = 0", f"trials is 0 (line 7). {NOT_LESS} 1."),
        ("timeout = 60", "timeout = 0", "timeout is 0 (line 10). Pass a positive number of sec"),
        ("retries = 1", "retries = -1", f"retries is -1 (line 11). {NOT_LESS} 0."),
        ("replicates = 3", "replicates = 0", f"replicates is 0 (line 27). {NOT_LESS} 1."),
        (
            "stratified = true",
            "valid = 2.0",
            "valid is 2.0 (line 16). Pass a whole number not less than 0, or a fraction up to 1.0.",
        ),
        # kinds of values
        ('name = "digits"', "name = 5", 'name is 5 (line 2). Write a text: name = "...".'),
        ('name = "digits"', 'name = ""', "name is '' (line 2). Write a text: name = \"...\"."),
        ('name = "svm"', "name = 5", 'name is 5 (line 19). Write a text: name = "...".'),
        ("seed = 7", "seed = true", "seed is true (line 3). Write a whole number."),
        ("trials = 5", 'trials = "5"', "trials is '5' (line 7). Write a whole number."),
        ("timeout = 60", "timeout = true", "timeout is true (line 10). Write a number."),
        (
            SEARCH,
            'tuning = "random"',
            "tuning is 'random' (line 5). Write a table: tuning = {...}.",
        ),
        (
            'metric = "accuracy"',
            "metric = 3",
            'metric is 3 (line 15). Write a text: metric = "...".',
        ),
        (
            'data = "digits"',
            "data = 3",
            'data is 3 (line 14). Write a text, data = "...", or a table, data = {...}.',
        ),
        (
            "stratified = true",
            "stratified = 1",
            "stratified is 1 (line 16). Write true or false.",
        ),
        (
            "C = {log-uniform = [0.01, 100.0], default = 1.0}",
            "C = 1.0",
            "hyperparameter 'C': 1.0 says not how to search it (line 23). Write for example "
            "{log-uniform = [0.0001, 0.1]}.",
        ),
        (
            "replicates = 3",
            "replicates = 2.5",
            "replicates is 2.5 (line 27). Write a whole number.",
        ),
        (
            'vary = ["split"]',
            'vary = "split"',
            "vary is 'split' (line 32). List names, vary = [\"init\"], or leave it out.",
        ),
        (
            'vary = ["split"]',
            'vary = ["split",\n3]',
            "vary holds 3 (line 33). Write it as a text, in quotes.",
        ),
        (
            'estimator = "sklearn.svm.SVC"',
            "function = 5",
            "fixed is for pipelines with estimator, and this one has function (line 21). Remove it",
        ),
        (
            'estimator = "sklearn.svm.SVC"\nfixed = {kernel = "rbf"}',
            "function = 5",
            'function is 5 (line 20). Write a text: function = "...".',
        ),
        (
            'estimator = "sklearn.svm.SVC"\nfixed = {kernel = "rbf"}',
            'function = ""',
            "function is '' (line 20). Write a text: function = ",
        ),
        (
            'fixed = {kernel = "rbf"}',
            "epochs = 3",
            "the pipeline has an unknown word 'epochs' (line 21). It has: name, space, estimator, ",
        ),
        # what is missing, or there twice
        (
            "replicates = 3",
            "",
            "ideal does not say how many replicates (line 25). Add replicates = 29.",
        ),
        (
            'kind = "ideal"',
            "",
            "the design has no kind (line 25). Give it one of ideal, fix-hopt, simulated-hopt, "
            "resampled-hopt, variance, crossed.",
        ),
        (
            'metric = "accuracy"',
            "",
            'the task has no metric (line 13). Add metric = "accuracy", or another.',
        ),
        (
            'estimator = "sklearn.svm.SVC"',
            "",
            "the pipeline has nothing to train (line 18). Give it one of estimator, function, "
            "command.",
        ),
        (
            'estimator = "sklearn.svm.SVC"',
            'estimater = "sklearn.svm.SVC"',
            "the pipeline has an unknown word 'estimater' (line 20). Did you mean 'estimator'? It",
        ),
        (
            "[[task]]",
            "[task]",
            "task is no list of tables (line 13). Begin each with [[task]].",
        ),
        (
            '[[design]]\nkind = "ideal"\nreplicates = 3\n\n[[design]]',
            "[design]",
            "design is no list of tables (line 25). Begin each with [[design]].",
        ),
        (
            "[[design]]",
            TREE + "name = 'svm'\n[[design]]",
            "more than one pipeline is called svm (line 27). Give each a name of its own.",
        ),
        (
            "[[design]]",
            TREE + TREE + "[[design]]",
            "more than one pipeline is called DecisionTreeClassifier (line 27). Give each a name "
            "of its own.",
        ),
        (
            "[[pipeline]]",
            "[[task]]\ndata = 'digits'\nmetric = 'accuracy'\n[[pipeline]]",
            "more than one task is called digits (line 18). Give each a name of its own.",
        ),
        (
            "[[pipeline]]",
            "[[task]]\ndata = 'wine'\nmetric = 'f1_macro'\n[[pipeline]]",
            "the tasks have different metrics (accuracy, f1_macro) (line 20). Make a study per "
            "metric: scores of different metrics cannot be compared.",
        ),
        (
            'data = "digits"',
            'data = "rows.csv"',
            "there is no file rows.csv (line 14). Check the path.",
        ),
        (
            "seed = 7",
            "seed = seven",
            "the study file is not TOML: Invalid value (at line 3, column 8). Mend that line: "
            'texts stand in quotes, as in name = "svm".',
        ),
        (
            "[[design]]",
            "[[estimator]]",
            "the study has an [[estimator]], which is called [[design]] now (line 25). Write "
            "[[design]] instead; `estimator` in a pipeline is scikit-learn's.",
        ),
        (
            "[[design]]",
            "[estimator]",
            "the study has an [estimator], which is called [[design]] now (line 25). Write "
            "[[design]] instead; `estimator` in a pipeline is scikit-learn's.",
        ),
        (
            'data = "digits"',
            'name = "digit"',
            "pipeline 'svm' needs data, and task 'digit' has none (line 14). Did you mean data = "
            '"digits"? Give the task its data: digits, breast_cancer, wine, iris, diabetes, a CSV '
            "or NPZ file, or a function that loads it.",
        ),
        (
            "[[design]]",
            "[design]\n[design]",
            "the study file is not TOML: Cannot declare ('design',) twice (at line 26, column 8). "
            "Begin each task, pipeline and design with [[...]], as in [[pipeline]].",
        ),
        (
            "seed = 7",
            "seed 7",
            "the study file is not TOML: Expected '=' after a key in a key/value pair (at line 3, "
            "column 6). Mend that line.",
        ),
    ],
)
def test_mistakes_are_named_with_their_line(old, new, message):
    assert old in FILE
    with pytest.raises(OutperformError) as caught:
        parse(FILE.replace(old, new, 1))
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            '"{lr}"',
            '"{lrr}"',
            "the command of pipeline 'mine' has the unknown placeholder {lrr} (line 9). Did you "
            "mean 'lr'? It has: lr, seed.split, seed.init, seed.order, seed.augmentation, "
            "seed.dropout, task, fold and 3 more.",
        ),
        (
            '"--lr", "{lr}",',
            "",
            "pipeline 'mine' searches 'lr', but its command never passes it on (line 14). Put "
            "{lr} into the command, or take it out of the space.",
        ),
        (
            'sources = ["split"]',
            'sources = ["split", "init"]',
            "pipeline 'mine' declares the source 'init', but its command never passes on that seed "
            "(line 12). Put {seed.init} into the command, or take 'init' out of sources.",
        ),
        (
            'metric = "accuracy"\n',
            'metric = "accuracy"\n[[task]]\nname = "other"\nmetric = "accuracy"\n',
            "pipeline 'mine' cannot tell which of 2 tasks it is on (line 10). Put {task} into its "
            "command, or make a study per task.",
        ),
        (
            'metric = "accuracy"\n',
            'metric = "accuracy"\nsplit = "cross-validation"\n',
            "pipeline 'mine' is not told the fold of the cross-validation (line 8). Put {fold} "
            "into its command, or split in another way.",
        ),
        (
            'command = [\n    "python", "train.py",\n    "--lr", "{lr}",\n    "--split", '
            '"{seed.split}",\n]\nsources = ["split"]',
            'function = "shutil:copyfile"',
            "the function of pipeline 'mine' cannot be called with (params, split, seeds): too "
            "many positional arguments (line 7). Let it take these three and, if it likes, task, "
            "fold, refit, data by name.",
        ),
    ],
)
def test_mistakes_of_commands_and_functions_are_named_with_their_line(old, new, message):
    assert old in COMMAND
    with pytest.raises(InvalidInput) as caught:
        parse(COMMAND.replace(old, new, 1))
    assert str(caught.value) == message


def test_a_command_that_keeps_its_split_is_named_with_its_line():
    text = FILE + '[[pipeline]]\ncommand = "python train.py {seed.init}"\n'
    with pytest.raises(InvalidInput) as caught:
        parse(text)
    assert str(caught.value) == (
        "the command of pipeline 'train' never hears of the split, while that of svm is redrawn "
        "in every replicate of ideal (line 34). Put {split} into its command: a JSON file "
        "with the positions of train, valid and test; or fix the split for all."
    )


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            'data.path = "rows.csv"\ndata.label = "lable"',
            "no 'lable' in rows.csv (line 15). Did you mean 'label'? It has: x, label.",
        ),
        ('data.path = "rows.csv"\ndata.group = "patient"', "no 'patient' in rows.csv (line 15)."),
        ('data = {path = "row.csv"}', "there is no file "),
        ('data = {pth = "rows.csv"}', "data has an unknown word 'pth' (line 14). Did you mean 'pa"),
        ("data = {path = 5}", 'path is 5 (line 14). Write a text: path = "...".'),
        ('data = {path = "rows.csv", label = 5}', "label is 5 (line 14). Write a text: label ="),
    ],
)
def test_tables_are_looked_at_before_they_are_read(tmp_path, data, message):
    (tmp_path / "rows.csv").write_text("x,label\n1,0\n2,1\n")
    with pytest.raises(InvalidInput) as caught:
        parse_study_file(FILE.replace('data = "digits"', data), folder=tmp_path)
    assert str(caught.value).startswith(message)
    assert "(line 1" in str(caught.value)
