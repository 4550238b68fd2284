"""The command `outperform compare --summary`: published means, one by one or as a whole table."""

import json

import pytest

from tests.command_line import call, refused


def test_summary_from_the_command_line():
    result = call("compare", "--summary", "new=76.3,0.4,10", "old=75.1,0.5,10")
    assert result.stdout.startswith("new outperforms old: P(new > old) = 0.97 [0.837, 0.997] if ")
    assert "papers often print standard errors" in " ".join(result.stdout.split())


@pytest.mark.parametrize(
    ("n", "message"),
    [
        ("1e308", "Error: n is 1e+308.\nPass the number of runs.\n"),
        ("1e10", "Error: n is 10000000000.\nPass a whole number up to 1,000,000,000.\n"),
        ("0", "Error: n is 0.\nPass a whole number not less than 2.\n"),
        ("-1", "Error: n is -1.\nPass a whole number not less than 2.\n"),
        ("1.5", "Error: n is 1.5.\nPass a whole number not less than 2.\n"),
        (
            "nan",
            "Error: cannot read the summary 'new=1,1,nan'.\n"
            "Write NAME=MEAN,SD,N, for example resnet=76.3,0.4,10.\n",
        ),
    ],
)
def test_a_summary_of_no_number_of_runs(n, message):
    result = call("compare", "--summary", f"new=1,1,{n}", "old=75.1,0.5,10")
    assert (result.exit_code, result.stderr) == (2, message)


def test_summary_from_a_table(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("Method,Mean,Std,Seeds\nnew,0.40,0.02,10\nold,0.50,0.02,10\n")
    words = ["compare", "--summary", path, "new", "old", "--metric", "loss", "--json"]
    assert json.loads(call(*words).stdout)["winner"] == "a"
    assert refused(call("compare", "--summary", path, "nwe", "old")) == (
        "Error: table.csv has no rows for 'nwe'. Did you mean 'new'? It has: new, old."
    )


def test_a_table_of_summaries_is_read_like_any_other(tmp_path):
    path = tmp_path / "excel.csv"
    path.write_bytes(
        "\ufeffMethod;Mean;Std;Runs\r\nnew;76.3;0.4;10\r\nold;75.1;0.5;10\r\n".encode()
    )
    assert (
        json.loads(call("compare", "--summary", path, "new", "old", "--json").stdout)["n_b"] == 10
    )
    with_points = call("compare", "--summary", path, "new", "old").stdout
    path.write_text("Method;Mean;Std;Runs\nnew;76,3;0,4;10\nold;75,1;0,5;10\n")
    assert call("compare", "--summary", path, "new", "old").stdout == with_points
    path.write_text("Method,Mean,Std,Runs\nnew,76.3,0.4,2.5\nnew,1,1,3\nold,75.1,0.5,2.5\n")
    assert refused(call("compare", "--summary", path, "new", "old")) == (
        "Error: excel.csv has 2 rows for 'new'. Keep one of them."
    )
    assert refused(call("compare", "--summary", path, "old", "old")) == (
        "Error: n is 2.5. Pass a whole number not less than 2."
    )


@pytest.mark.parametrize(
    "spelling",
    [
        "{}±{},{}",
        "{} ± {}, {}",
        "{}+-{},{}",
        "{} +/- {} (n = {})",
        "{}%±{}%,{}",
        "{} ({}), n={}",
        "{},{},n={}",
    ],
)
def test_a_summary_as_papers_print_it(spelling):
    new, old = spelling.format(76.3, 0.4, 10), spelling.format(75.1, 0.5, 10)
    printed = call("compare", "--summary", f"new={new}", f"old={old}", "--json")
    written = call("compare", "--summary", "new=76.3,0.4,10", "old=75.1,0.5,10", "--json")
    assert printed.stdout == written.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["new=76.3,0.4", "old=75,1,10"],
            "Error: cannot read the summary 'new=76.3,0.4'. Write NAME=MEAN,SD,N, for example "
            "resnet=76.3,0.4,10.",
        ),
        (
            ["new:76.3,0.4,5", "old=75,1,10"],
            "Error: cannot read the summary 'new:76.3,0.4,5'. Write NAME=MEAN,SD,N, for example "
            "resnet=76.3,0.4,10.",
        ),
        (
            ["new=76.3,0.4,5", "new=75,1,10"],
            "Error: names is ('new', 'new'). Pass two different names.",
        ),
        (
            ["new=76.3,0.4,1", "old=75,1,10"],
            "Error: n is 1. Pass a whole number not less than 2.",
        ),
        (
            ["new=76.3,-1,5", "old=75,1,10"],
            "Error: mean is 76.3 and standard deviation -1.0. Pass numbers below 1e150 and a "
            "standard deviation that is not negative.",
        ),
    ],
)
def test_summaries_that_make_no_sense(words, message):
    assert refused(call("compare", "--summary", *words)) == message


@pytest.fixture
def published(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(
        "Method,CIFAR,SVHN,STL\n"
        "new,\\textbf{95.1} $\\pm$ 0.2,97.0 (0.1),$90.2_{\\pm 0.5}$\n"
        "old,94.2±0.3,96.9 +/- 0.2,88.1 ± 0.6\n"
    )
    return path


def test_a_whole_published_table(published):
    words = ("compare", "--summary", published, "new", "old", "--metric", "accuracy")
    known = call(*words, "--n", 5)
    assert known.stdout.startswith("new is better than old on at least 2 of 3 datasets, if scores ")
    assert "accuracy, higher is better; 95% intervals" in known.stdout
    tried = call(*words)
    assert tried.stdout.startswith("new is better than old on at least 2 of 3 datasets, whether n ")
    answer = json.loads(call(*words, "--json").stdout)
    assert [each["n_tasks_better"]["a"] for each in answer["answers"]] == [2, 2, 2]
    assert max(map(len, tried.stdout.split("Caveats")[0].splitlines()[3:])) < 100


def test_a_published_table_is_asked_for_what_it_does_not_say(published):
    words = ("compare", "--summary", published, "new", "old")
    assert "table.csv does not say whether higher is better" in refused(call(*words))
    gated = refused(call(*words, "--maximize", "--gate"))
    assert "a gate cannot depend on a number of runs that nobody knows. Pass it with --n." in gated
    assert call(*words, "--maximize", "--n", 5, "--gate").exit_code == 3
    assert "Error: n is 1. Pass a whole number" in refused(call(*words, "--maximize", "--n", 1))
    runs = refused(call("compare", published, "new", "old", "--n", 5))
    assert runs.endswith("Error: --n is of a published table: add --summary.")
    pair = refused(call("compare", "--summary", "a=1,1,5", "b=2,1,5", "--n", 5))
    assert pair.endswith("Error: --n is of a table: NAME=MEAN,SD,N says the number of runs.")
    pair = refused(call("compare", "--summary", "a=1,1,5", "b=2,1,5", "--drop-incomplete"))
    assert pair.endswith("Error: --drop-incomplete needs runs, or a table of several datasets.")


def test_a_table_of_one_dataset_may_be_told_the_number_of_runs(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("Method,Mean,Std\nnew,76.3,0.4\nold,75.1,0.5\n")
    words = ("compare", "--summary", path, "new", "old")
    told = call(*words, "--n", 10, "--json")
    written = call("compare", "--summary", "new=76.3,0.4,10", "old=75.1,0.5,10", "--json")
    assert told.stdout == written.stdout
    assert refused(call(*words)) == (
        "Error: table.csv has no column for 'n'; it has Method, Mean, Std. Name the column one of "
        "n, runs, seeds, count, n_runs, n_seeds, num_runs, num_seeds, or pass --n."
    )


def test_a_summary_needs_a_known_direction():
    words = ["compare", "--summary", "a=1,1,5", "b=2,1,5", "--metric", "foo"]
    assert "nothing says whether a higher 'foo' is better" in refused(call(*words))
    assert call(*words, "--minimize").exit_code == 0


def test_a_forgotten_summary_is_asked_for():
    assert refused(call("compare", "a=1,1,5", "b=2,1,5")).endswith(
        "Error: To compare published means, add --summary."
    )


def test_a_summary_carries_its_doubts():
    words = ["compare", "--summary", "a=1,0,5", "b=2,1,5", "--metric", "loss", "--maximize"]
    text = " ".join(call(*words).stdout.split())
    assert "'loss' usually is to minimize, but was told to maximize" in text
    assert "the standard deviation of a is 0, which training with several seeds rarely" in text


def test_a_summary_refuses_what_needs_runs():
    words = ["compare", "--summary", "a=1,1,5", "b=2,1,5", "--test", "wilcoxon", "--unpaired"]
    assert "--paired, --test needs runs: --summary has only their means." in refused(call(*words))
