"""The command `outperform quality`, as a person meets it, and its part of a report."""

import json

import pytest

from outperform import __version__, measure_quality
from outperform.study.designs import FixHopt, Ideal
from tests.command_line import call
from tests.questions.quality.test_answer import fit_without_search, run


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    designs = Ideal(12), FixHopt(4, ("init",), 5), FixHopt(4, (), 5)
    return run(tmp_path_factory.mktemp("quality") / "study.db", *designs)


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    designs = Ideal(8), FixHopt(3, (), 4)
    options = {"tasks": ("x", "y"), "names": ("a", "b"), "function": fit_without_search}
    return run(tmp_path_factory.mktemp("quality") / "many.db", *designs, **options)


def test_one_pair_is_told_with_intervals(store):
    done = call("quality", store)
    assert done.exit_code == 0, done.output
    result, lines = measure_quality(store), done.stdout.splitlines()
    assert lines[0] == str(result)
    assert lines[3] == "Designs against the ideal one (net on toy):"
    row = next(line for line in lines if line.startswith("  fix-hopt (all)"))
    design = result.pairs[0].designs[1]
    for estimate in (design.quality.correlation, design.equivalent, design.saving):
        assert str(estimate) in row
    assert "What would complete the picture, each beside what is there:" in lines
    assert lines[-1].startswith("Next: give the study the lines above (")


def test_details_are_printed_where_they_are_asked_for(store, many):
    short, long = call("quality", store).stdout, call("quality", store, "--details").stdout
    assert "standard error (worth)" not in short
    assert "net on toy: accuracy (higher is better), ideal " in long
    assert "k = 4" in long
    pairs = call("quality", many, "--details").stdout
    assert [pairs.count(f"{name} on {task}: accuracy") for name in "ab" for task in "xy"] == [1] * 4
    assert pairs.count("standard deviation ") == 4


def test_several_pairs_are_told_by_median_and_range(many):
    lines = call("quality", many).stdout.splitlines()
    assert lines[3] == "Designs against the ideal one (median and range of 4 pairs):"
    assert "may be the same" in call("quality", many).stdout
    alone = call("quality", many, "--on", "x", "--pipeline", "a").stdout
    assert "Designs against the ideal one (a on x):" in alone


def test_json_holds_everything(store):
    printed = json.loads(call("quality", store, "--json", "--ideal", 4, "--alpha", 0.1).stdout)
    expected = measure_quality(store, n_ideal=4, confidence_level=0.9)
    assert printed == json.loads(json.dumps(expected.to_dict()))
    assert (printed["kind"], printed["version"]) == ("Quality", __version__)
    design = printed["pairs"][0]["designs"][0]["quality"]
    assert design["bias"]["interval"]["confidence_level"] == 0.9
    assert [len(design["mse"][word]) for word in ("values", "low", "high")] == [4, 4, 4]
    assert printed["n_ideal"] == design["reach"]["n_ideal"] == 4


def test_the_seed_moves_intervals_only(store):
    first, second = (
        json.loads(call("quality", store, "--json", "--seed", seed).stdout)["pairs"][0]["designs"]
        for seed in (0, 1)
    )
    assert first[0]["equivalent"]["value"] == second[0]["equivalent"]["value"]
    assert first[0]["equivalent"]["interval"] != second[0]["equivalent"]["interval"]


@pytest.mark.parametrize("view", ["standard-errors", "parts", "means", "deviations"])
def test_every_view_can_be_drawn(many, tmp_path, view):
    done = call("quality", many, "--plot", tmp_path / "f.svg", "--view", view)
    assert done.exit_code == 0, done.output
    assert (tmp_path / "f.svg").read_text().startswith("<?xml")


def test_a_report_has_a_section_where_designs_were_repeated(many, tmp_path):
    done = call("report", many, "-o", tmp_path / "page.html")
    assert done.exit_code == 0, done.output
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert str(measure_quality(many)).replace(">", "&gt;") in page
    assert "a on x: accuracy (higher is better)" in page


def test_a_report_of_other_stores_does_not_speak_of_designs(tmp_path):
    path = run(tmp_path / "s.db", Ideal(8), FixHopt(3), names=("a", "b"))
    assert call("report", path, "-o", tmp_path / "page.html").exit_code == 0
    assert "ideal replicates" not in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_refusals_have_no_traceback(tmp_path):
    (tmp_path / "runs.csv").write_text("algorithm,score\na,1\n")
    for words, message in (
        ((tmp_path / "runs.csv",), "is no store of a study. Pass the store"),
        ((tmp_path / "no.db",), "there is no store"),
    ):
        done = call("quality", *words)
        assert done.exit_code == 2
        assert "Traceback" not in done.stderr
        assert message in " ".join(done.stderr.split()), done.stderr
