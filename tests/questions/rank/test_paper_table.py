"""A ranking as the table of a paper: what is bold, the caption, and records that programs read."""

from dataclasses import fields, replace
from io import StringIO
from typing import get_args

import click
import numpy as np
import pytest
from click.testing import CliRunner

from outperform import __version__
from outperform.cli.options import Output, paper_output_options
from outperform.questions.compare.named_tests import TestName
from outperform.questions.rank.paper_table import list_records, make_paper_table
from outperform.questions.rank.result import RankedAlgorithm, RankedPair, RankedTask, Ranking
from outperform.render.paper import render_paper
from outperform.runs.scope import Scope
from outperform.stats import friedman, nemenyi

NAMES = ("vit", "res_net", "svm")
MEANS = {"digits": (0.912, 0.908, 0.85), "speech": (-12.31, 14.1, 13.0)}
SDS = {"digits": (0.004, 0.006, 0.01), "speech": (0.5, 0.4, 0.6)}
BEST = {"digits": ("vit", "res_net"), "speech": ("vit",)}
METRICS = {"digits": ("accuracy", "maximize"), "speech": ("wer", "minimize")}


def make_pair(a, b, **values):
    known = dict.fromkeys(field.name for field in fields(RankedPair))
    return RankedPair(
        **known | {"a": a, "b": b, "pvalue": 0.01, "verdict": "not significant"} | values
    )


@pytest.fixture
def ranking():
    """Three algorithms on two tasks, of different metrics and directions."""
    tasks = tuple(
        RankedTask(
            *(task, *METRICS[task], 5, "vit", BEST[task]),
            dict(zip(NAMES, MEANS[task], strict=True)),
            dict(zip(NAMES, SDS[task], strict=True)),
        )
        for task in MEANS
    )
    return Ranking(
        algorithms=(
            RankedAlgorithm("vit", 1.0, 1, 2, 2),
            RankedAlgorithm("res_net", 2.5, 1, 3, 1),
            RankedAlgorithm("svm", 2.5, 2, 3, 0),
        ),
        tasks=tasks,
        pairs=(
            make_pair("vit", "res_net", n_tasks_better_adjusted={"a": 1, "b": 0}),
            make_pair("vit", "svm", winner="a", n_tasks_better_adjusted={"a": 2, "b": 0}),
            make_pair("res_net", "svm", n_tasks_better_adjusted={"a": 0, "b": 0}),
        ),
        tasks_are="fixed",
        why="two tasks are too few",
        scope=Scope(("seeds",), "these tasks"),
        test="sign test of wins on all tasks",
        task_test="paired-t",
        correction="holm",
        gamma=0.75,
        alpha=0.05,
        n_units=2,
        caveats=("few runs",),
    )


CAPTION = (
    "Mean ± standard deviation of each metric (↑ higher is better, ↓ lower is better) over 5 runs "
    "of each algorithm on each task. Bold: all that may be the best on a task; they hold the truly "
    "best with 95% (whoever another beats in a one-sided paired t-test at level 0.05/2 is ruled "
    "out). Mean ranks over tasks are those of mean scores, 1 is the best; in brackets the ranks "
    "that each may truly have by its ranks within replicates, with 95% for all at once. vit may be "
    "the best on both tasks, each task by itself; 1 of 3 pairs differs. "
    "A pair differs where p ≤ 0.05 (two-sided; sign "
    "test of wins on all tasks, Holm's correction for 3 pairs) and the interval of P(A>B) at "
    "the same level does not hold "
    f"0.5. Seeds varied, so this is about these tasks. Computed with outperform {__version__}."
)


def test_markdown_by_hand(ranking):
    assert render_paper(ranking, "markdown").split("\n") == [
        "|          | digits (accuracy ↑) |    speech (wer ↓) |     mean rank |",
        "| :------- | ------------------: | ----------------: | ------------: |",
        r"| vit      | **0.9120 ± 0.0040** | **−12.31 ± 0.50** | 1.00 \[1, 2\] |",
        r"| res\_net | **0.9080 ± 0.0060** |      14.10 ± 0.40 | 2.50 \[1, 3\] |",
        r"| svm      |     0.8500 ± 0.0100 |      13.00 ± 0.60 | 2.50 \[2, 3\] |",
        "",
        CAPTION.replace("res_net", r"res\_net").replace("A>B", "A&gt;B"),
    ]


def test_latex_by_hand(ranking):
    text = CAPTION
    for sign, written in {
        "%": r"\%",
        "±": r"$\pm$",
        "↑": r"$\uparrow$",
        "↓": r"$\downarrow$",
    }.items():
        text = text.replace(sign, written)
    text = text.replace("≤", r"$\leq$").replace("A>B", "A$>$B").replace("res_net", r"res\_net")
    assert render_paper(ranking, "latex").split("\n") == [
        r"% Needs \usepackage{booktabs}. Where text is in two columns, make it a table*.",
        r"\begin{table}",
        r"  \centering",
        r"  \small",
        r"  \setlength{\tabcolsep}{4pt}",
        f"  \\caption{{{text}}}",
        r"  \label{tab:ranking}",
        r"  \par\medskip",
        r"  \begin{tabular}{lrrr}",
        r"    \toprule",
        r"     & digits (accuracy $\uparrow$) & speech (wer $\downarrow$) & mean rank \\",
        r"    \midrule",
        r"    vit & \textbf{0.9120 $\pm$ 0.0040} & \textbf{$-$12.31 $\pm$ 0.50} & 1.00 {[}1, 2] \\",
        r"    res\_net & \textbf{0.9080 $\pm$ 0.0060} & 14.10 $\pm$ 0.40 & 2.50 {[}1, 3] \\",
        r"    svm & 0.8500 $\pm$ 0.0100 & 13.00 $\pm$ 0.60 & 2.50 {[}2, 3] \\",
        r"    \bottomrule",
        r"  \end{tabular}",
        r"\end{table}",
    ]


def test_csv_by_hand(ranking):
    assert render_paper(ranking, "csv").split("\n") == [
        "algorithm,task,metric,goal,mean,sd,n,maybe_best,mean_rank,rank_low,rank_high",
        "vit,digits,accuracy,maximize,0.912,0.004,5,True,1.0,1,2",
        "vit,speech,wer,minimize,-12.31,0.5,5,True,1.0,1,2",
        "res_net,digits,accuracy,maximize,0.908,0.006,5,True,2.5,1,3",
        "res_net,speech,wer,minimize,14.1,0.4,5,False,2.5,1,3",
        "svm,digits,accuracy,maximize,0.85,0.01,5,False,2.5,2,3",
        "svm,speech,wer,minimize,13.0,0.6,5,False,2.5,2,3",
    ]


def test_pandas_reads_records_at_once(ranking):
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_csv(StringIO(render_paper(ranking, "csv")))
    assert frame["maybe_best"].dtype == bool
    assert frame["n"].dtype == "int64"
    assert frame[frame["maybe_best"]].groupby("task")["algorithm"].agg(list).to_dict() == {
        "digits": ["vit", "res_net"],
        "speech": ["vit"],
    }


def test_records_count_the_runs_of_every_cell_and_leave_unknown_ones_empty(ranking):
    gaps = np.ones((3, 5))
    gaps[1, 2:] = np.nan
    gaps[2] = np.nan
    first, second = ranking.tasks
    first = replace(
        first, means=first.means | {"svm": np.nan}, sds=first.sds | {"svm": np.nan}, n_runs=0
    )
    alone = replace(
        ranking,
        tasks=(first, second),
        scores=(gaps, np.ones((3, 5))),
        algorithms=tuple(
            replace(each, rank_low=None, rank_high=None) for each in ranking.algorithms
        ),
    )
    rows = [
        dict(zip(*(list_records(alone).header, row), strict=True))
        for row in list_records(alone).rows
    ]
    assert [row["n"] for row in rows] == ["5", "5", "2", "5", "0", "5"]
    assert (rows[4]["mean"], rows[4]["sd"], rows[4]["rank_low"]) == ("", "", "")
    table = make_paper_table(alone)
    assert table.rows[2][1] == "–"
    assert table.rows[2][3] == "2.50"
    assert "A dash: no runs there" in table.caption
    assert "A dash" not in make_paper_table(ranking).caption
    assert "over 2 to 5 runs" in table.caption
    assert "in brackets" not in table.caption


def test_one_metric_is_named_in_the_caption_only(ranking):
    same = replace(
        ranking, tasks=tuple(replace(t, metric="accuracy", goal="maximize") for t in ranking.tasks)
    )
    table = make_paper_table(same)
    assert table.header == ["", "digits ↑", "speech ↑", "mean rank"]
    assert table.caption.startswith(
        "Mean ± standard deviation of accuracy (↑ higher is better) over 5 runs of each algorithm "
        "on each task. "
    )


def test_one_task_without_a_name_is_called_by_its_metric(ranking):
    table = make_paper_table(replace(ranking, tasks=(replace(ranking.tasks[0], name=""),)))
    assert table.header == ["", "accuracy ↑", "rank"]
    assert "5 runs of each algorithm. Bold: all that may be the best; they hold" in table.caption


def test_the_caption_says_by_what_the_baseline_is_beaten(ranking):
    pairs = tuple(
        make_pair(a, "svm", n_tasks_better_adjusted={"a": n, "b": 0})
        for a, n in (("vit", 2), ("res_net", 1))
    )
    caption = make_paper_table(replace(ranking, baseline="svm", pairs=pairs)).caption
    assert "Holm's correction for 2 comparisons with svm)" in caption
    assert (
        "Numbers of tasks are lower bounds by partial conjunction (Bonferroni) of one-sided "
        "p-values (paired t-test) at level 0.05/4."  # of both sides of 2 comparisons
    ) in caption


def test_the_caption_has_the_numbers_of_friedman(ranking):
    # Ranks add up to 6, 13 and 17: chi2 = 12/72 (36 + 169 + 289) - 72 = 31/3, of which p is
    # exp(-31/6), and F = 5 chi2 / (12 - chi2) = 31. Nemenyi: 2.343 sqrt(3 * 4 / 36).
    scores = np.array([[3, 2, 1]] * 5 + [[3, 1, 2]])
    sampled = replace(
        ranking, tasks_are="sampled", friedman=friedman(scores), nemenyi=nemenyi(scores), n_units=6
    )
    assert (
        "Friedman test: χ² = 10.33, p = 0.0057; Iman and Davenport: F = 31.00, p < 0.001, both "
        "corrected for ties. By Nemenyi's test mean ranks differ from 1.35 on."
    ) in make_paper_table(sampled).caption


def test_too_few_tasks_have_no_test_in_the_caption(ranking):
    pairs = tuple(replace(pair, pvalue=None) for pair in ranking.pairs)
    few = replace(ranking, tasks_are="sampled", pairs=pairs)
    caption = make_paper_table(few).caption
    assert "No pair was tested: 2 tasks are too few for tasks like these." in caption
    assert "sign test" not in caption


def test_the_caption_says_where_nobody_is_ruled_out(ranking):
    bare = [replace(task, maybe_best=()) for task in ranking.tasks]
    table = make_paper_table(replace(ranking, tasks=(ranking.tasks[0], bare[1])))
    assert table.bold == {(0, 1), (1, 1)}
    assert "at level 0.05/2 is ruled out; one run rules nobody out)." in table.caption
    table = make_paper_table(replace(ranking, tasks=tuple(bare)))
    assert not table.bold
    assert "Nothing is bold: one run rules nobody out as the best." in table.caption


def test_the_caption_says_that_families_count(ranking):
    families = {"digits": "images", "speech": "sounds"}
    caption = make_paper_table(replace(ranking, tasks_are="sampled", families=families)).caption
    assert "Tasks are of 2 families, each of which counts as one. Seeds varied" in caption
    fixed = make_paper_table(replace(ranking, families=families)).caption
    assert "families" not in fixed


def test_every_test_and_correction_has_words_for_a_caption(ranking):
    for test in ("wins", *get_args(TestName)):
        assert "in a one-sided" in make_paper_table(replace(ranking, task_test=test)).caption
    for correction in ("holm", "bonferroni", "benjamini-hochberg", "none"):
        caption = make_paper_table(replace(ranking, correction=correction)).caption
        assert "for 3 pairs) and the interval" in caption


@pytest.mark.parametrize("form", ["markdown", "latex", "csv"])
def test_the_table_stands_alone_and_doubts_go_to_standard_error(ranking, form, capsys):
    Output(paper=form).show(ranking)
    printed = capsys.readouterr()
    assert printed.out == render_paper(ranking, form) + "\n"
    assert printed.err.splitlines() == [
        "vit may be the best on both tasks, each task by itself; 1 of 3 pairs differs.",
        "Seeds varied, so this is about these tasks (two tasks are too few).",
        "",
        "Caveats",
        "  - few runs",
    ]


def test_names_that_a_spreadsheet_would_compute_are_named(ranking, capsys):
    task = replace(ranking.tasks[0], name="=1+1")
    Output(paper="csv").show(replace(ranking, tasks=(task, ranking.tasks[1])))
    printed = capsys.readouterr()
    assert "\nvit,=1+1,accuracy," in printed.out
    assert printed.err.splitlines()[-1] == (
        "A spreadsheet takes what begins with = + - @ for a formula: import as text =1+1"
    )


def test_a_format_is_an_option_that_refuses_json(ranking):
    @click.command()
    @paper_output_options
    def show(output):
        output.show(ranking)

    done = CliRunner().invoke(show, ["--format", "csv"])
    assert (done.exit_code, done.stdout) == (0, render_paper(ranking, "csv") + "\n")
    done = CliRunner().invoke(show, ["--format", "latex", "--json"])
    assert (done.exit_code, done.stdout) == (2, "")
    assert "--format latex and --json both say what to print: leave one out." in done.stderr
