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
    assert "Not asked: could picked seeds have shown this? " in text


def test_three_algorithms_are_compared_two_by_two(write, tmp_path):
    assert call(write("abc")).exit_code == 0
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


def fit(params, split, seeds):
    rng = np.random.default_rng(list(seeds.values()))
    return {"valid": params["bonus"] + rng.normal(), "test": params["bonus"] + rng.normal()}


def test_a_study_is_told_what_makes_its_scores_vary(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    space = {"bonus": op.Uniform(0.0, 1.0)}
    pipelines = [
        op.Pipeline(name, fit, space=space, sources=["init", "order"]) for name in ("x", "y")
    ]
    study = op.Study(
        tasks=[op.Task("toy", metric="accuracy")],
        pipelines=pipelines,
        designs=[op.Ideal(8), op.Variance(5)],
        trials=2,
    )
    op.run(study, "toy.db", engine="inline")
    result = call("toy.db")
    assert result.exit_code == 0, result.output
    texts = headings(tmp_path / "report.html")
    assert sum("largest source of variation" in text for text in texts) == 2


@pytest.mark.parametrize("path", ["no/such/folder/page.html", "."])
def test_an_impossible_path_is_refused_before_anything_is_answered(write, monkeypatch, path):
    write()
    monkeypatch.setattr("outperform.questions.reporting.answer_all", pytest.fail)
    result = call("runs.csv", "-o", path)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"Error: cannot write '{path}': ")
    assert result.stderr.endswith("\nChoose a path where files may be written.\n")
