"""The page of error rates: of all methods, of this code, with its marks where they belong."""

import ast
import dataclasses
import doctest
import inspect
import math
import re
from pathlib import Path
from typing import NamedTuple, get_args, get_type_hints

import numpy as np
import pytest

from calibration import blocks, cells, marks, page
from calibration.blocks import Block, append_stored, list_blocks, read_stored
from calibration.cells import SIZES, Cell, share
from calibration.data import KINDS, TIES, chance_of_tie, observed_sd, shift_for_chance
from calibration.introductions import GROUPS
from calibration.marks import badness, is_off
from outperform import stats
from outperform.questions.compare.named_tests import TestName
from outperform.stats import (
    HypothesisTest,
    Interval,
    coverage_after_one_search,
    plan_sequential_test,
)
from outperform.stats.best_of_resamples import BestOfInterval
from outperform.stats.decision_rules import RULES
from outperform.stats.outperforming import PairedMethod, UnpairedMethod

DOCS = Path(__file__).parents[1] / "docs"
MEASURES = {words: measure for measure, words in page._WORDS.items()}
FOLDED = ("worst of the others", "lowest of the others")  # rows that stand for several blocks


class Shown(NamedTuple):
    value: float
    error: float
    marked: bool


def read_page():
    """Every number, by group, method, measure, data and column."""
    shown = {}
    sections = re.split(r"^## ", (DOCS / "calibration.md").read_text(), flags=re.MULTILINE)
    titles = {title: group for group, (title, _) in GROUPS.items()}
    for section in sections:
        title, _, body = section.partition("\n")
        if title not in titles:
            continue
        rows = [line[2:-2].split(" | ") for line in body.splitlines() if line.startswith("|")]
        for method, what, data, *numbers in rows[2:]:
            error = 0.0 if numbers[-1] == "exact" else float(numbers[-1][1:]) / 100
            for column, text in zip(rows[0][3:-1], numbers[:-1], strict=True):
                if text.strip():
                    place = (titles[title], method.strip("`"), MEASURES[what], data, column)
                    value = float(text.strip("*")) / 100
                    shown[place] = Shown(value, error, text.startswith("**"))
    return shown


@pytest.fixture(scope="module")
def shown():
    return read_page()


def worst_at_each_place(cells):
    places = {}
    for cell in cells:
        place = (cell.group, cell.method, cell.measure, cell.data, cell.column)
        places[place] = max(places.get(place, cell), cell, key=badness)
    return places


# The page is of this code


QUICK = [
    (Block("paired_intervals", (("part", "no ties"), ("n", 7))), {}),
    (Block("paired_intervals", (("part", "30% ties"), ("n", 15))), {}),
    (Block("sequential_tests", (("gamma", 0.9),)), {"n_studies": 300}),
    (
        Block("two_samples", (("method", "brunner-munzel"), ("kind", "normal"), ("n", 20))),
        {"n_studies": 1000},
    ),
    (Block("hypothesis_tests", (("kind", "skewed"), ("n", 8))), {"n_studies": 1000}),
    (
        Block("hypothesis_tests", (("kind", "re-splits of one dataset"), ("n", 20))),
        {"n_studies": 1000},
    ),
    (Block("decision_rules", (("kind", "normal"), ("n", 10))), {"n_studies": 4000}),
    (
        Block("deviations", (("part", "spread"), ("kind", "normal"), ("n", 8))),
        {"n_studies": 1000},
    ),
    (
        Block("one_search", (("part", "pairs"), ("kind", "normal"), ("shared", 0.1), ("n", 50))),
        {"n_studies": 200},
    ),
    (
        Block("one_search", (("part", "design"), ("kind", "normal"), ("shared", 0.3), ("n", 5))),
        {"n_studies": 100},
    ),
    (Block("budget_plans", (("shared", 0.3), ("n", 500))), {"n_studies": 400}),
    (Block("best_of", (("kind", "normal"), ("n", 20))), {"n_studies": 200}),
    (
        Block("published_scores", (("part", "accuracy"), ("kind", "normal"), ("n", 200))),
        {},
    ),
    (
        Block("many_tasks", (("part", "sets"), ("kind", "normal"), ("n", 10))),
        {"n_studies": 100},
    ),
    (
        Block("many_tasks", (("part", "strata"), ("kind", "heavy tails"), ("n", 5))),
        {"n_studies": 200},
    ),
    (
        Block("many_tasks", (("part", "tests"), ("kind", "30% ties"), ("n", 5))),
        {"n_studies": 100},
    ),
    (Block("many_tasks", (("part", "better"), ("kind", "normal"), ("n", 10))), {}),
    (
        Block("aggregates", (("tasks", "sampled"), ("kind", "skewed"), ("n_tasks", 6), ("n", 5))),
        {"n_studies": 400},
    ),
    (
        Block("many_algorithms", (("part", "best"), ("kind", "heavy tails"), ("n", 10))),
        {"n_studies": 300},
    ),
    (
        Block("many_algorithms", (("part", "pairs"), ("kind", "30% ties"), ("n", 10))),
        {"n_studies": 1000},
    ),
    (
        Block("many_algorithms", (("part", "tasks"), ("kind", "chances"), ("n", 6))),
        {"n_studies": 1000},
    ),
]


@pytest.mark.parametrize(("block", "options"), QUICK, ids=lambda x: getattr(x, "name", ""))
def test_recomputed_cells_agree_with_the_page(block, options, shown):
    compared = 0
    for place, cell in worst_at_each_place(block.measure(**options)).items():
        if cell.data in FOLDED or cell.group == "rules":
            continue
        # The worst of three truths is up to a standard error worse by chance. 0.0005: rounding of
        # the number, and of the error that the page shows.
        error = math.hypot(cell.error, shown[place].error + 0.0005 * (shown[place].error > 0))
        assert abs(cell.value - shown[place].value) <= 5 * error + 0.00051, place
        compared += 1
    assert compared > 0


def test_the_page_has_the_words_and_the_order_of_its_generator():
    text = (DOCS / "calibration.md").read_text()
    empty = page.render([])  # without tables
    said = [line for line in empty.splitlines() if line and not line.startswith("|")]
    assert said == [line for line in text.splitlines() if line and not line.startswith("|")]


@pytest.mark.parametrize("method", [*get_args(PairedMethod), *get_args(TestName)])
def test_the_page_has_every_size_and_kind_of_data(method, shown):
    group, kinds = "tests", {name for name, kind in KINDS.items() if not kind.n_b}
    if method in get_args(PairedMethod):  # for which the shape of scores does not matter
        group, kinds = "paired", {"no ties", "30% ties", "re-splits of one dataset"}
    asked = {(group, method, "size", kind, str(n)) for kind in kinds for n in SIZES}
    assert asked <= shown.keys()


# No method is missing


def methods_of(shown, group):
    return {place[1].split(",")[0] for place in shown if place[0] == group}


@pytest.mark.parametrize(
    ("group", "methods"),
    [
        ("paired", get_args(PairedMethod)),
        ("unpaired", get_args(UnpairedMethod)),
        ("tests", get_args(TestName)),
        ("rules", RULES),
        ("power of rules", RULES),
        ("best of n", (*get_args(BestOfInterval), "best_of_probability")),
        ("rank sets", ("rank_confidence_sets",)),
        ("all at once", ("friedman", "nemenyi", "wilcoxon_test")),
        ("how many tasks", ("partial_conjunction",)),
    ],
)
def test_the_page_has_exactly_the_methods_that_can_be_chosen(group, methods, shown):
    assert methods_of(shown, group) == set(methods)


def makes_a_claim(kind):
    """Whether a result is, or holds, an interval or a test."""
    if kind in (Interval, HypothesisTest) or hasattr(kind, "bounds"):
        return True
    if not dataclasses.is_dataclass(kind):
        return False
    return any(makes_a_claim(part) for part in get_type_hints(kind).values())


CLAIMING = [
    name
    for name in stats.__all__
    if inspect.isfunction(getattr(stats, name))
    and makes_a_claim(get_type_hints(getattr(stats, name)).get("return"))
]


@pytest.mark.parametrize("name", CLAIMING)
def test_every_function_with_an_interval_or_a_test_is_on_the_page(name):
    text = (DOCS / "calibration.md").read_text()
    option = name.removesuffix("_test").removesuffix("_interval").replace("_", "-")
    assert f"`{name}" in text or f"`{option}`" in text


def test_functions_are_known_by_their_results():
    # Negative control: what makes no claim is not asked for.
    assert {"brunner_munzel", "deviation", "variance_components"} <= set(CLAIMING)
    assert {"mean_difference", "estimate_best_of", "equivalence_test"} <= set(CLAIMING)
    assert not {"cohens_d", "noether_sample_size", "best_of_distribution"} & set(CLAIMING)


# Marks


@pytest.mark.parametrize(
    ("measure", "value", "error", "slack", "off"),
    [
        ("size", 0.0549, 0.0, 0.1, False),  # within a tenth of 5%
        ("size", 0.0551, 0.0, 0.1, True),
        ("size", 0.0501, 0.0, 0.0, True),  # who promises never to exceed gets no slack
        ("size", 0.059, 0.0022, 0.1, True),  # 0.9 points: more than 4 · 0.22
        ("size", 0.059, 0.0023, 0.1, False),  # less than 4 · 0.23
        ("size", 0.001, 0.0, 0.0, False),
        ("coverage", 0.9451, 0.0, 0.1, False),
        ("coverage", 0.9449, 0.0, 0.1, True),
        ("coverage", 0.999, 0.0, 0.1, False),
    ],
)
def test_a_cell_is_off_beyond_chance_and_beyond_what_matters(measure, value, error, slack, off):
    cell = Cell("tests", "t", measure, "normal", "5", "", value, error, alpha=0.05, slack=slack)
    assert is_off(cell) is off
    unclaimed = dataclasses.replace(cell, alpha=None)
    assert not is_off(unclaimed)


def test_methods_known_to_err_are_marked_and_others_not(shown):
    # 7 pairs: percentile asks for 6 wins, which equals reach with chance 2 · 8 / 128 = 0.125.
    assert shown["paired", "percentile", "size", "no ties", "7"] == (0.125, 0.0, True)
    resplits = "re-splits of one dataset"
    assert shown["tests", "paired-t", "size", resplits, "50"].marked
    assert not shown["tests", "nadeau-bengio", "size", resplits, "50"].marked
    guaranteed = [
        number.marked
        for (group, method, measure, data, _), number in shown.items()
        if group in ("paired", "looking") and method in ("exact", "anytime", "second_look_level")
        if measure == "size" and data != resplits
    ]
    assert len(guaranteed) > 50
    assert not any(guaranteed)
    assert shown["tests", "brunner-munzel", "size", "normal", "5"].marked


@pytest.mark.parametrize("tie", ["no ties", "30% ties"])
@pytest.mark.parametrize("gamma", [0.6, 0.75, 0.9])
def test_a_sequential_test_keeps_both_promises_as_it_counts_them(gamma, tie, shown):
    # The page follows every path by `judge`, `operating` counts wins: two ways to one number.
    test, tie_share = plan_sequential_test(gamma), TIES * (tie == "30% ties")
    column = f"γ = {gamma:g}"
    size = shown["sequential", "SequentialTest", "size", tie, column]
    assert size.value == pytest.approx(
        test.operating(0.5, tie_share=tie_share).chance_either, abs=0.00051
    )
    assert not size.marked
    if gamma + tie_share / 2 <= 1:
        power = shown["sequential", "SequentialTest", "power", tie, column]
        assert power.value == pytest.approx(
            test.operating(gamma, tie_share=tie_share).chance_a, abs=0.00051
        )
        assert not power.marked


def test_a_sequential_test_must_not_leave_out_pairs_that_fail(shown):
    failing = "half of A's wins fail"
    for column in ("γ = 0.6", "γ = 0.75", "γ = 0.9"):
        assert not shown["sequential", "trace_path", "size", failing, column].marked
        left_out = shown["sequential", "failed pairs left out", "size", failing, column]
        assert left_out.value > 0.2


@pytest.mark.parametrize("n", [10, 50, 200])
def test_an_interval_after_one_search_is_marked_where_it_is_taken_for_many(n, shown):
    for shared in (0.0, 0.1, 0.3):
        place = ("coverage", f"ρ = {shared:g}", str(n))
        assert not shown["one search", "combine_designs, this search", *place].marked
        missing = shown["one search", "combine_designs, all searches", *place]
        assert missing.marked is (shared > 0)
        # The formula takes deviations as known, which few pairs do not tell.
        expected = coverage_after_one_search(n, shared)
        assert missing.value == pytest.approx(expected, abs=5 * missing.error + 0.2 / n)


def test_a_budget_shows_what_it_says_only_where_rho_is_known(shown):
    rows = {place: number for place, number in shown.items() if place[0] == "budgets"}
    marked = {place[1].split(", ")[1] for place, number in rows.items() if number.marked}
    assert {place[1].split(", ")[1] for place in rows} - marked == {"ρ known"}


MARKED = sorted({place[1].split(",")[0] for place, number in read_page().items() if number.marked})


@pytest.mark.parametrize("method", MARKED)
def test_every_mark_is_mentioned_where_the_method_is_documented(method):
    lines = (DOCS / "statistics.md").read_text().splitlines()
    assert any(f"`{method}`" in line and "](calibration.md" in line for line in lines)


@pytest.mark.parametrize("module", [cells, marks])
def test_examples_are_right(module):
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0


def test_the_summary_counts_the_marks():
    shares = [
        Cell("unpaired", "m", "coverage", "normal", "5", f"P = {p}", value, 0.001, alpha=0.05)
        for p, value in [(0.5, 0.95), (0.75, 0.93), (0.97, 0.9)]
    ]
    text = page.render(shares)
    assert "off in 2 of 3 cells" in text
    assert "**90.0** (coverage, normal, P = 0.97, n = 5)" in text
    assert "| `m` | coverage | normal | **90.0** | ±0.1 |" in text


# Blocks are computed once, from seeds of their own


def test_a_share_has_the_binomial_error():
    value, error = share(np.arange(100) < 10)
    assert value == 0.1
    assert error == pytest.approx(math.sqrt(11 / 102 * 91 / 102 / 100))
    assert share([True] * 10)[1] > 0


def test_results_depend_on_the_block_alone():
    block, other = (
        Block("deviations", (("part", "spread"), ("kind", kind), ("n", 5)))
        for kind in ("normal", "unequal variances")
    )
    assert block.measure(n_studies=50) == block.measure(n_studies=50)
    assert block.key != other.key
    assert len({block.key for block in list_blocks()}) == len(list_blocks())


def test_stored_cells_come_back_and_a_line_cut_off_costs_itself_only(tmp_path):
    path = tmp_path / "cache" / "cells.jsonl"
    cell = Cell("tests", "paired-t", "size", "normal", "5", "", 0.05, 0.01, alpha=0.05)
    append_stored("a", [cell], path)
    with path.open("a") as file:
        file.write('\n{"key": "b", "cel')
    append_stored("c", [cell, cell], path)
    assert read_stored(path) == {"a": [cell], "c": [cell, cell]}
    assert read_stored(tmp_path / "none") == {}


@pytest.fixture
def keys_with_changed(monkeypatch):
    """Keys of two blocks where some code is another."""

    def keys(module="", name="", code=""):
        read = blocks._read_code

        def read_changed(asked):
            tree = read(asked)
            if asked == module:
                tree.body = [node for node in tree.body if getattr(node, "name", None) != name]
                tree.body.extend(ast.parse(code).body)
            return tree

        with monkeypatch.context() as patch:
            patch.setattr(blocks, "_read_code", read_changed)
            for cached in (blocks._code_of, blocks._read_names):
                cached.cache_clear()
            tests = Block("hypothesis_tests", (("kind", "normal"), ("n", 5)))
            pairs = Block("paired_intervals", (("part", "no ties"), ("n", 5)))
            found = tests.key, pairs.key
        for cached in (blocks._code_of, blocks._read_names):
            cached.cache_clear()
        return found

    return keys


def test_a_change_of_code_changes_the_keys_of_what_rests_on_it(keys_with_changed):
    before = keys_with_changed()
    # Of hypothesis_tests, at several removes: wilcoxon_test calls what calls it.
    name = "_rank_differences"
    tests, pairs = keys_with_changed("outperform.stats.rank_tests", name, f"{name} = 1")
    assert tests != before[0]
    assert pairs == before[1]
    # Both modules use what is in this file, but not the same.
    tests, pairs = keys_with_changed("outperform.stats.intervals", "wilson_interval", "x = 1")
    assert tests == before[0]
    assert pairs != before[1]
    # A constant.
    tests, pairs = keys_with_changed("calibration.data", "", "TIES = 0.2")
    assert pairs != before[1]
    # What nobody uses.
    assert keys_with_changed("outperform.stats.intervals", "", "new = 1") == before


def test_docstrings_change_no_key(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    for name, docstring in (("one_way", "Say."), ("another_way", "Say it otherwise.")):
        (tmp_path / f"{name}.py").write_text(f'def f(x):\n    """{docstring}"""\n    return x\n')
    trees = [ast.dump(blocks._read_code(name)) for name in ("one_way", "another_way")]
    assert trees[0] == trees[1]
    assert "Return" in trees[0]


# The truth that methods are held against


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_data_have_the_probability_that_they_are_said_to_have(kind):
    rng = np.random.default_rng(1)
    for truth in (0.5, 0.75, 0.97):
        drawn_a, drawn_b = kind.draw(rng, 20_000, 1)
        a = kind.observe(drawn_a, shift_for_chance(kind.name, truth))[:, 0]
        b = kind.observe(drawn_b)[:, 0]
        wins = (a > b) + 0.5 * (a == b)
        assert wins.mean() == pytest.approx(truth, abs=4 * 0.5 / 141)


def test_equals_are_tied_as_often_as_said():
    assert chance_of_tie(KINDS["30% ties"]) == pytest.approx(TIES, abs=1e-4)
    a, b = map(
        KINDS["30% ties"].observe, KINDS["30% ties"].draw(np.random.default_rng(2), 50_000, 1)
    )
    assert np.mean(a == b) == pytest.approx(TIES, abs=0.01)
    assert a.std() == pytest.approx(observed_sd(KINDS["30% ties"]), rel=0.02)


def test_re_splits_correlate_as_said():
    a, _ = KINDS["re-splits of one dataset"].draw(np.random.default_rng(3), 50_000, 2)
    assert np.corrcoef(a.T)[0, 1] == pytest.approx(0.2, abs=0.02)
