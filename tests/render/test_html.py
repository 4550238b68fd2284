"""The report: one file that says everything, needs nothing, and escapes whatever it is given."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from outperform.errors import InvalidInput
from outperform.questions.audit.answer import audit
from outperform.questions.audit.result import Audit
from outperform.questions.best_of.answer import best_of_runs
from outperform.questions.best_of.result import BestOf, BestOfComparison, BestOfEach
from outperform.questions.check.result import Reproducibility, SourceCheck
from outperform.questions.compare.answer import compare, compare_runs
from outperform.questions.compare.decision import Decision
from outperform.questions.compare.published import PublishedComparison, compare_published
from outperform.questions.compare.published_tasks import compare_published_table
from outperform.questions.compare.result import Comparison
from outperform.questions.compare.sequential import compare_sequentially
from outperform.questions.compare.task_results import TaskComparisons
from outperform.questions.decompose.answer import decompose, decompose_crossed
from outperform.questions.decompose.result import (
    CrossedDecomposition,
    Decomposition,
    Decompositions,
)
from outperform.questions.decompose.search_curves import Course, SearchCurve, SearchCurves
from outperform.questions.plan.answer import plan
from outperform.questions.plan.budget_result import BudgetPlan
from outperform.questions.plan.result import Plan
from outperform.questions.quality.result import Quality
from outperform.questions.rank.answer import rank_runs
from outperform.questions.reporting import Answers
from outperform.questions.result import Table
from outperform.questions.simulate.answer import simulate_error_rates
from outperform.questions.simulate.result import ErrorRates, SeedsCurve
from outperform.questions.simulate.scenarios import describe_variation
from outperform.questions.simulate.seeds import trace_seeds
from outperform.questions.sota.answer import assess_leaderboard, assess_predictions, best_of_equals
from outperform.questions.sota.result import (
    BestOfEquals,
    LeaderboardAssessment,
    PredictionAssessment,
)
from outperform.render.html import escape, write_report
from outperform.runs import read_runs
from outperform.stats import Summary
from tests.test_rooms import list_drawn_kinds

EVIL = '<script>alert("x")</script>&amp;'
VOID = {"meta", "br", "link", "img"}


class Page(HTMLParser):
    """Text, tags and ids of a page; fails where tags do not match."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.ids, self.references, self.texts = [], [], [], [], []
        self.commands = re.findall("<code>(.*?)</code>", text)
        self.feed(re.sub("</?code>", "", text))  # they stand within sentences
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        for name, value in attrs:
            assert name not in ("src", "srcset", "action"), f"{tag} asks for {value}"
            assert not name.startswith("on")
            if name == "id":
                self.ids.append(value)
            if name.endswith("href"):
                assert value.startswith("#"), f"{tag} asks for {value}"
                self.references.append(value[1:])
            self.references += re.findall(r"url\(#([^)]*)\)", value or "")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append((self.open[-1] if self.open else "", data))

    def read(self, tag):
        return [" ".join(text.split()) for at, text in self.texts if at == tag]


@pytest.fixture
def comparison():
    rng = np.random.default_rng(0)
    b = rng.normal(0.8, 0.02, size=30)
    return compare(b + rng.normal(0.01, 0.01, size=30), b)


@pytest.fixture
def tasks():
    rng = np.random.default_rng(1)
    rows = [
        {"algorithm": name, "task": f"{EVIL}{t}", "seed": i, "accuracy": rng.normal(0.8, 0.1)}
        for name in (EVIL, "plain$x$")
        for t in range(2)
        for i in range(9)
    ]
    return compare_runs(read_runs(rows), EVIL, "plain$x$")


@pytest.fixture
def decomposition():
    rng = np.random.default_rng(2)
    scores = {"split": rng.normal(size=25), EVIL: rng.normal(size=25), "noise": np.zeros(25)}
    return decompose(scores, algorithm=EVIL, task="t", metric="m")


@pytest.fixture(scope="module")
def all_kinds():
    """One result of every kind but those of studies, from runs with validation scores."""
    rng = np.random.default_rng(3)
    rows = [
        {"algorithm": name, "seed": i, "valid": score + rng.normal(0, 0.01), "accuracy": score}
        for name, mean in (("new", 0.85), ("old", 0.8))
        for i, score in enumerate(rng.normal(mean, 0.02, size=12))
    ]
    on_tasks = read_runs([{**row, "task": task} for task in "xy" for row in rows])
    runs, labels = read_runs(rows), rng.integers(0, 2, size=200)
    guesses = {name: np.where(rng.random(200) < 0.9, labels, 1 - labels) for name in "xyz"}
    published = {"Method": ["new", "old"], "x": ["9 ± 1", "7 ± 1"], "y": ["8 ± 1", "8 ± 1"]}
    return [
        compare_published(Summary(93.1, 0.3, 5), Summary(92.5, 0.4, 5)),
        compare_published_table(published, "new", "old", n=5, goal="maximize"),
        compare_published_table(published, "new", "old", goal="maximize"),
        plan(),
        audit(runs, "new", "old", n_resamples=20),
        audit(runs, "new", n_resamples=20),
        audit(on_tasks, "new", "old", n_resamples=20),
        audit(on_tasks, "new"),
        best_of_runs(runs, "new", n=5),
        best_of_runs(runs, "new", "old", n=5),
        best_of_runs(runs, n=5),
        best_of_equals(10, test_size=100, accuracy=0.9),
        assess_leaderboard([0.91, 0.9, 0.8], test_size=1000),
        assess_predictions(guesses, labels, metric="f1", n_resamples=100),
        simulate_error_rates(
            [describe_variation(sigma=0.02)], n_pairs=[10, 30], rules=["verdict"], rng=rng
        ),
        trace_seeds(runs.select("new"), alphas=[0.05], rng=rng),
        rank_runs(on_tasks),
        (sequential := compare_sequentially(runs, "new", "old")),
        Decision((sequential,), 80, "study.db"),
        Reproducibility(
            (SourceCheck("net", "digits", "init", np.array([[0.9, 0.9], [0.8, 0.8]])),)
        ),
    ]


def page_of(results, tmp_path, **options):
    path = tmp_path / "report.html"
    write_report(results, path, **options)
    return Page(path.read_text(encoding="utf-8"))


def test_every_result_has_its_sentence_table_caveats_and_figure(
    comparison, tasks, decomposition, tmp_path
):
    results = [comparison, tasks, decomposition]
    page = page_of(results, tmp_path)
    assert page.read("h2") == [str(result) for result in results]
    assert page.tags.count("table") == 3
    assert page.tags.count("figure") == page.tags.count("svg") == 3
    assert [text for text in page.read("li") if text] == [
        caveat for result in results for caveat in result.caveats
    ]


def test_whatever_can_be_drawn_can_be_reported(all_kinds, tmp_path):
    page = page_of(all_kinds, tmp_path)
    assert page.read("h2") == [str(result) for result in all_kinds]
    assert str(all_kinds[4].comparison) in page.read("p")
    tables = [part for result in all_kinds for part in result.tables if isinstance(part, Table)]
    assert page.tags.count("table") == len(tables) >= page.tags.count("figure") == len(all_kinds)
    assert [text for text in page.read("li") if text] == [
        caveat.replace("`", "") for result in all_kinds for caveat in result.caveats
    ]
    assert "accuracy, higher is better; 95% intervals" in page.read("p")
    assert set(page.read("strong")) == {"Next:"}
    assert page.tags.count("strong") == sum(bool(result.advice) for result in all_kinds) > 10
    of_studies = {Comparison, TaskComparisons, Decomposition, Decompositions}
    of_studies |= {BudgetPlan, CrossedDecomposition, SearchCurves, Quality}
    assert {type(result) for result in all_kinds} | of_studies == list_drawn_kinds()


def test_a_result_says_what_to_do_next_on_a_page_and_in_a_notebook(comparison, tmp_path):
    write_report(comparison, path := tmp_path / "report.html")
    for html in (path.read_text(encoding="utf-8"), comparison._repr_html_()):
        assert f"<p><strong>Next:</strong> {escape(comparison.advice)}</p>" in html


def test_commands_in_sentences_are_set_as_such(comparison, tmp_path):
    doubt = "a `b` < c, and `outperform compare A B` says more"
    page = page_of(replace(comparison, caveats=(doubt,)), tmp_path, about=["a ` alone"])
    assert page.commands == ["b", "outperform compare A B"]
    assert page.read("li") == ["a b < c, and outperform compare A B says more"]
    assert page.read("p")[0] == "a ` alone"


def test_no_advice_begins_like_a_sentence_behind_next(all_kinds):
    for result in all_kinds:
        assert result.advice[:1] == result.advice[:1].lower()


def test_tables_hold_the_numbers_of_their_results(all_kinds):
    tables = {
        type(result): [
            row for part in result.tables if isinstance(part, Table) for row in part.rows
        ]
        for result in all_kinds
    }
    by_type = {type(result): result for result in all_kinds}
    assert tables[PublishedComparison][:2] == [
        ("A", "93.10 ± 0.30 (5 runs)"), ("B", "92.50 ± 0.40 (5 runs)"),
    ]  # fmt: skip
    assert ["0.75", "29", "71%", "54"] in tables[Plan]
    assert tables[Audit][0][1] == str(by_type[Audit].hidden[0])
    shown = [str(n) for n in by_type[BestOf].shown]
    assert [row[0] for row in tables[BestOf]] == [*shown, "new"]
    assert [row[0] for row in tables[BestOfEach]] == ["new", "old"]
    assert tables[BestOfEquals][3][1] == f"{by_type[BestOfEquals].chance_to_reach_mean:.2%}"
    assert tables[LeaderboardAssessment][-3:] == [
        ["entry 1", "0.9100", "yes"], ["entry 2", "0.9000", "yes"], ["entry 3", "0.8000", "no"],
    ]  # fmt: skip
    assert sorted(row[0] for row in tables[PredictionAssessment]) == ["x", "y", "z"]
    titles = [part.title for part in by_type[ErrorRates].tables if type(part) is Table]
    assert [title.partition(": ")[2].split()[0] for title in titles] == ["10", "30"]
    assert {row[0] for row in tables[ErrorRates]} == {"verdict"}
    assert {row[0] for row in tables[SeedsCurve]} >= {"welch-t", "brunner-munzel"}


def test_what_is_decided_and_what_is_not_look_different(all_kinds, tmp_path):
    decided = [each for each in all_kinds if isinstance(each, Audit | BestOfComparison)]
    equal = compare(np.arange(9.0), np.arange(9.0)[::-1])
    page_of([*decided, equal, plan()], tmp_path)
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert re.findall(r'<h2 class="(.*?)"', text) == ["decided", "decided", "undecided", ""]


def test_cells_are_those_of_the_table(comparison, tmp_path):
    page = page_of(comparison, tmp_path)
    (table,) = comparison.tables
    names, values = zip(*table.rows, strict=True)
    assert [text for text in page.read("th") if text] == list(names)
    assert [text for text in page.read("td") if text] == list(values)
    assert table.title in page.read("p")


def test_the_table_says_who_wins_by_how_much(comparison):
    (table,) = comparison.tables
    values = dict(table.rows)
    assert list(values) == ["A", "B", "difference", "P(A > B)"]
    assert values["A"] == f"{comparison.mean_a:.3f} ± {comparison.sd_a:.3f}"
    assert values["B"].startswith(f"{comparison.mean_b:.3f} ")
    assert values["difference"].startswith(f"{comparison.difference.value:+.3g} [")
    assert values["P(A > B)"] == f"{comparison.probability:.3g} {comparison.interval} (exact)"


def test_nothing_given_becomes_markup(tasks, decomposition, tmp_path):
    curve = SearchCurve(EVIL, EVIL, "hpo", Course(np.ones((2, 3))), None, np.ones(2))
    curves = SearchCurves(EVIL, "maximize", EVIL, (curve,), caveats=(EVIL,))
    page = page_of([tasks, decomposition, curves], tmp_path, title=EVIL, about=[EVIL])
    assert "script" not in page.tags
    assert page.read("title") == page.read("h1") == page.read("p")[:1] == [EVIL]
    assert EVIL in page.read("td")
    assert EVIL in page.read("li")
    assert EVIL in page.read("th")


def test_nothing_outside_is_asked_for(comparison, tasks, decomposition, tmp_path):
    page_of([comparison, tasks, decomposition], tmp_path)
    text = (tmp_path / "report.html").read_text()
    assert set(re.findall(r"https?://[^\"' ]*", text)) == {
        "http://www.w3.org/2000/svg",  # names, not addresses: nothing is fetched
        "http://www.w3.org/1999/xlink",
    }
    assert "@import" not in text


def test_ids_are_unique_and_references_find_theirs(comparison, decomposition, tmp_path):
    page = page_of([comparison, comparison, decomposition], tmp_path)
    assert len(page.ids) == len(set(page.ids)) > 0
    assert set(page.references) <= set(page.ids)
    assert page.references


def test_names_that_look_like_ids_stay_as_they_are(tmp_path):
    rows = [
        {"algorithm": name, "seed": i, "accuracy": i / 10 + shift}
        for name, shift in (('a id="b', 0.0), ("url(#c)", 0.01))
        for i in range(8)
    ]
    page = page_of(compare_runs(read_runs(rows), 'a id="b', "url(#c)"), tmp_path)
    assert 'a id="b' in page.read("text")
    assert "url(#c)" in page.read("text")


def test_components_have_a_table_and_a_figure(tmp_path):
    page = page_of(decompose_crossed([[1, 2], [5, 8]], ["split", "init"]), tmp_path)
    assert "svg" in page.tags
    assert [text for text in page.read("th") if text][-4:] == [
        "split", "init", "split × init", "all",
    ]  # fmt: skip


def test_the_same_results_give_the_same_bytes(comparison, tmp_path):
    for name in ("one.html", "two.html"):
        write_report(comparison, tmp_path / name)
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()


def test_a_result_without_a_report_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match="there is no report of a dict"):
        write_report([{}], tmp_path / "report.html")


def test_no_results_are_refused(tmp_path):
    with pytest.raises(InvalidInput, match="there are no results to report"):
        write_report([], tmp_path / "report.html")


def test_a_path_that_cannot_be_written_is_refused(comparison, tmp_path):
    with pytest.raises(InvalidInput, match=r"cannot write '.*nowhere.*': No such file"):
        write_report(comparison, tmp_path / "nowhere" / "report.html")


def test_a_notebook_shows_sentence_table_and_figure(comparison):
    page = Page(comparison._repr_html_())
    assert page.read("h2") == [str(comparison)]
    assert page.tags.count("table") == page.tags.count("svg") == 1
    assert "html" not in page.tags
    assert comparison._repr_html_() == comparison._repr_html_()


def test_a_notebook_shows_all_answers_and_the_notes_on_them(comparison, decomposition):
    notes = ("Not asked: is <b>a</b> better? There are few runs.",)
    answers = Answers("runs.csv", None, (comparison, decomposition), notes)
    page = Page(answers._repr_html_())
    assert page.read("h2") == [str(comparison), str(decomposition)]
    assert page.tags.count("svg") == 2
    assert page.read("p")[-1] == notes[0]
    assert str(answers) == f"{comparison}\n{decomposition}\n{notes[0]}"


def test_two_results_of_a_notebook_share_no_id(comparison, decomposition):
    first, second = (Page(each._repr_html_()) for each in (comparison, decomposition))
    assert first.ids
    assert not set(first.ids) & set(second.ids)


def test_all_that_a_study_tells_of_its_sources_is_drawn_too(decomposition):
    crossed = decompose_crossed([[1, 2], [5, 8]], ["split", "init"])
    for result in (Decompositions((decomposition,), ()), Decompositions((), (crossed,))):
        page = Page(result._repr_html_())
        assert page.tags.count("svg") == 1
        assert str(next(iter(result))) in page.read("h2")[0]
