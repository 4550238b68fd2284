"""`outperform report`: every question that runs can answer, on one page."""

import re

import numpy as np
import pytest
from click.testing import CliRunner

import outperform as op
from outperform.cli import main


def call(*words):
    return CliRunner().invoke(main, ["report", *map(str, words)])


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    # With n=3 there is nothing to pick, and no figures of that, which take most of the time.
    def write_runs(names="ab", tasks=("easy",), *, n=12, validation=False):
        rng = np.random.default_rng(0)
        header = "algorithm,task,seed,accuracy" + (",validation" if validation else "")
        lines = [header]
        for place, name in enumerate(names):
            for task in tasks:
                for seed in range(n):
                    score = rng.normal(0.8 + 0.05 * place, 0.01)
                    more = f",{score + rng.normal(0, 0.01):.5f}" if validation else ""
                    lines.append(f"{name},{task},{seed},{score:.5f}{more}")
        (tmp_path / "runs.csv").write_text("\n".join(lines))
        return tmp_path / "runs.csv"

    return write_runs


def headings(path):
    return re.findall(r"<h2[^>]*>(.*?)</h2>", path.read_text(encoding="utf-8"))


def test_a_page_answers_all_that_runs_can_answer(write, tmp_path):
    result = call(write(validation=True))
    assert result.exit_code == 0, result.output
    page = tmp_path / "report.html"
    compared, audited, best = headings(page)
    assert compared.startswith("b outperforms a on easy")
    assert audited.startswith("Robust: b outperforms a")
    assert "best of 5" in best
    assert "<title>runs.csv</title>" in page.read_text()
    # What the page says is said at once, in the order of the page.
    said = result.stdout.splitlines()
    assert [line[:20] for line in said[:3]] == [compared[:20], audited[:20], best[:20]]
    assert "Next: open report.html." in said


def test_of_a_pair_that_nobody_named_the_better_comes_first(write, tmp_path):
    page = tmp_path / "report.html"
    for names, chance in (((), "P(b &gt; a)"), (("a", "b"), "P(a &gt; b)")):
        assert call(write(), *names).exit_code == 0
        text = page.read_text()
        assert (chance in text, "difference, a − b" in text) == (True, bool(names))
    # Lower is better here.
    runs = (tmp_path / "runs.csv").read_text().replace("accuracy", "loss")
    (tmp_path / "runs.csv").write_text(runs)
    assert call(tmp_path / "runs.csv").exit_code == 0
    assert "P(a &gt; b)" in page.read_text()


def test_sizes_tell_what_holds_for_other_data(write, tmp_path):
    assert call(write(), "--train-size", 80, "--test-size", 20).exit_code == 0
    compared, _ = headings(tmp_path / "report.html")
    assert "for data like these (p = " in compared


def test_what_the_runs_do_not_tell_is_not_asked(write, tmp_path):
    assert call(write(), "-o", "page.html", "--title", "Ours").exit_code == 0
    assert len(headings(tmp_path / "page.html")) == 2  # no validation scores, no best of n
    assert "<h1>Ours</h1>" in (tmp_path / "page.html").read_text()


def test_a_question_without_an_answer_says_why(write, tmp_path):
    result = call(write(n=3))
    assert result.exit_code == 0, result.output
    assert len(headings(tmp_path / "report.html")) == 1
    text = (tmp_path / "report.html").read_text()
    assert "Not asked: Could picked seeds have shown this? " in text


def test_three_algorithms_are_compared_two_by_two(write, tmp_path):
    assert call(write("abc", n=3)).exit_code == 0
    compared = [text for text in headings(tmp_path / "report.html") if "P(" in text]
    assert len(compared) == 3
    # Three comparisons at 5% err in at least one with a chance of 15% at the most.
    text = (tmp_path / "report.html").read_text()
    assert "equals differ significantly in at least one is up to 15%. To name a single pair" in text
    assert "compare it with --alpha 0.017." in text


def test_many_are_ranked_and_two_of_them_compared_when_named(write, tmp_path):
    runs = write("abcd")
    result = call(runs)
    assert result.exit_code == 0, result.output
    (heading,) = headings(tmp_path / "report.html")
    assert "pairs differ" in heading
    text = (tmp_path / "report.html").read_text()
    assert "has 4 algorithms, which are ranked; to compare two, name them: a, b, c, d." in text
    assert call(runs, "a", "d").exit_code == 0
    assert any("P(" in text for text in headings(tmp_path / "report.html"))
    assert call(runs, "a").exit_code == 2


def test_runs_that_cannot_be_compared_make_no_page(write, tmp_path):
    path = write()
    path.write_text(path.read_text().replace("a,easy,0,", "a,easy,77,"))
    result = call(path)
    assert result.exit_code == 2
    assert result.output.startswith("Error: ")
    assert not (tmp_path / "report.html").exists()


def test_a_pair_that_was_named_must_be_compared(write, tmp_path):
    path = write(validation=True)
    path.write_text(path.read_text().replace("a,easy,0,", "a,easy,77,"))
    # Whoever names nobody gets the answers that there are, and is told of the others.
    result = call(path)
    assert result.exit_code == 0, result.output
    (best,) = headings(tmp_path / "report.html")
    assert "With a budget of 5 on easy" in best
    assert (
        "Note: Not asked: Does A outperform B? Could picked seeds have shown this? not every seed "
        "has a run of both 'b' and 'a' in task 'easy' of runs.csv: 11 for both, 1 for 'b' only "
        "(0), 1 for 'a' only (77). Add the missing runs, pass --drop-incomplete to leave them out, "
        "or pass --unpaired."
    ) in result.stderr
    (tmp_path / "report.html").unlink()
    assert call(path, "b", "a").exit_code == 2
    assert not (tmp_path / "report.html").exists()


def test_many_with_validation_scores_are_ranked_first_and_then_chosen_from(write, tmp_path):
    assert call(write("abcd", ("easy", "hard"), validation=True)).exit_code == 0
    ranked, *best = headings(tmp_path / "report.html")
    assert "pairs differ" in ranked
    assert [text.split(",")[0] for text in best] == [
        "With a budget of 5 on easy", "With a budget of 5 on hard",
    ]  # fmt: skip


def test_one_algorithm_is_compared_with_itself_and_chosen_from(write, tmp_path):
    result = call(write("a", validation=True))
    assert result.exit_code == 0, result.output
    audited, best = headings(tmp_path / "report.html")
    assert audited.startswith("a on easy: picked by score, the best 5 of 12 runs are ")
    assert best.startswith("The best of 5 runs of a on easy chosen by validation is expected")
    assert (
        "Note: Not asked: Does A outperform B? runs.csv holds one algorithm only: a. Join the file "
        "of the other with --with FILE (from Python: join_runs), or name the column that tells "
        "them apart with --algorithm.\n"
    ) in result.stderr


def test_runs_that_answer_nothing_make_no_page_and_every_reason_is_named(write, tmp_path):
    result = call(write("a", n=3))
    assert result.exit_code == 2
    assert result.stderr == (
        "Error: runs.csv answers no question.\n"
        "Does A outperform B? runs.csv holds one algorithm only: a. Join the file of the other "
        "with --with FILE (from Python: join_runs), or name the column that tells them apart with "
        "--algorithm. Could picked seeds have shown this? 'a' has 3 runs. Picking needs at least "
        "4; `outperform plan` says how many a verdict needs.\n"
    )
    assert not (tmp_path / "report.html").exists()


def test_a_file_of_sources_is_told_what_makes_its_scores_vary(write, tmp_path):
    path = write("ab", n=8)
    text = path.read_text().replace("seed,", "source,")
    for number in range(8):
        text = text.replace(f"easy,{number},", f"easy,{'init' if number < 4 else 'split'},")
    path.write_text(text.replace("accuracy", "unheard"))  # of which nobody knows what is better
    result = call(path, "--metric", "unheard")
    assert result.exit_code == 0, result.output
    for name, heading in zip("ab", headings(tmp_path / "report.html"), strict=True):
        assert f"source of variation of the unheard of {name} on easy" in heading
    assert (
        "Note: Not asked: Does A outperform B? Which of many are best? Could picked seeds have "
        "shown this? What will the best of 5 reach? runs.csv says in its column source what was "
        "redrawn for each of its runs: they are no replicates of one another. Compare runs in "
        "which everything was redrawn; if that is so of every run, pass --accept redrawn.\n"
    ) in result.stderr
    path.write_text(text)
    assert call(path, "a", "b").exit_code == 2
    # Where the data come from is another kind of source.
    path.write_text(text.replace("init", "openml").replace("split", "kaggle"))
    assert call(path).exit_code == 0
    compared, _ = headings(tmp_path / "report.html")
    assert compared.startswith("b outperforms a on easy")


def fit(params, split, seeds):
    rng = np.random.default_rng(list(seeds.values()))
    return {"valid": params["bonus"] + rng.normal(), "test": params["bonus"] + rng.normal()}


def fail(params, split, seeds):
    raise RuntimeError("out of memory")


@pytest.fixture
def run_study(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(*designs, **fits):
        space = {"bonus": op.Uniform(0.0, 1.0)}
        pipelines = [
            op.Pipeline(name, train, space=space, sources=["init", "order"])
            for name, train in (fits or {"x": fit, "y": fit}).items()
        ]
        task = op.Task("toy", metric="accuracy")
        study = op.Study(tasks=[task], pipelines=pipelines, designs=designs, trials=2)
        op.run(study, "toy.db", engine="inline")

    return run


def test_a_study_is_told_what_makes_its_scores_vary(run_study, tmp_path):
    run_study(op.Ideal(8), op.Variance(5))
    result = call("toy.db")
    assert result.exit_code == 0, result.output
    texts = headings(tmp_path / "report.html")
    assert sum("largest source of variation" in text for text in texts) == 2


def test_a_study_that_compares_nobody_is_told_what_makes_its_scores_vary(run_study, tmp_path):
    run_study(op.Variance(5), x=fit, failing=fail)
    result = call("toy.db")
    assert result.exit_code == 0, result.output
    (heading,) = headings(tmp_path / "report.html")
    assert "source of variation of the accuracy of x on toy" in heading
    assert (
        "toy.db holds no runs to compare; its designs are variance. Add a [[design]] with kind = "
        '"ideal" or "fix-hopt" to the study and run it.\n'
    ) in result.stderr
    text = (tmp_path / "report.html").read_text()
    assert "<title>toy.db</title>" in text
    # What is missing is a reason for doubt on the page too.
    assert "runs of failing on toy failed, or are still to be done: nothing is told of it" in text


def test_of_whom_every_fit_failed_the_status_tells_why(run_study, tmp_path):
    run_study(op.Ideal(8), x=fit, failing=fail)
    result = call("toy.db")
    assert result.exit_code == 0, result.output
    (heading,) = headings(tmp_path / "report.html")
    assert heading.startswith("x on toy: picked by score")
    unfinished = (
        "no run of 'failing' in toy.db has a score: they failed, or are still to be done. See "
        "which, and why, with `outperform status toy.db`."
    )
    assert f"Note: Not asked: Does A outperform B? {unfinished}\n" in result.stderr
    run_study(op.Ideal(8), x=fit, y=fit, failing=fail)
    assert f"Note: {unfinished}\n" in call("toy.db").stderr


def test_the_library_writes_the_same_page(write, tmp_path):
    path = write(validation=True)
    assert call(path, "a", "b", "--drop-incomplete").exit_code == 0
    answers = op.answer_all(path, "a", "b", drop_incomplete=True)
    op.write_report(answers, tmp_path / "ours.html")
    assert (tmp_path / "ours.html").read_bytes() == (tmp_path / "report.html").read_bytes()
    assert [str(result) for result in answers] == [str(result) for result in answers.results]
    from_runs = op.answer_all(op.read_runs(path), "a", "b")
    assert [*map(str, from_runs)] == [*map(str, answers)]


def test_files_are_read_and_joined_as_asked(write, tmp_path):
    path = write("ab")
    rows = path.read_text().splitlines()
    (tmp_path / "b.csv").write_text("\n".join([rows[0], *(r for r in rows if r[0] == "b")]))
    path.write_text("\n".join(row for row in rows if row[0] != "b"))
    assert call(path, "--with", "b.csv").exit_code == 0
    assert len(headings(tmp_path / "report.html")) == 2
    assert len(op.answer_all(path, others=["b.csv"]).results) == 2


@pytest.mark.parametrize("path", ["no/such/folder/page.html", "."])
def test_an_impossible_path_is_refused_before_anything_is_answered(write, monkeypatch, path):
    write()
    monkeypatch.setattr("outperform.questions.reporting.answer_all", pytest.fail)
    result = call("runs.csv", "-o", path)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"Error: cannot write '{path}': ")
    assert result.stderr.endswith("\nChoose a path where files may be written.\n")


def test_a_page_is_not_written_under_the_name_of_something_else(write, tmp_path):
    refusal = (
        "cannot write a page as 'page.pdf': it is HTML",
        "End the path in .html; a browser prints it as PDF",
    )
    result = call(write(n=3), "-o", "page.pdf")
    assert (result.exit_code, result.stderr) == (2, "Error: {}.\n{}.\n".format(*refusal))
    with pytest.raises(op.OutperformError) as caught:
        op.write_report(op.compare([3, 2, 4], [1, 1, 2]), "page.pdf")
    assert caught.value.args == refusal
    assert not (tmp_path / "page.pdf").exists()
    for name in ("page.HTM", "page"):
        assert call("runs.csv", "-o", name).exit_code == 0
