"""The command `outperform demo`, as a person meets it."""

import re
import sys

import pytest

from outperform.cli.init import TEMPLATES
from tests.command_line import call

FILES = {
    "study.toml", "study.db", "comparison.png", "comparison.svg", "sources.png", "sources.svg",
    "searches.png", "searches.svg", "report.html", "network.py",
}  # fmt: skip


@pytest.fixture(autouse=True)
def forget_network():
    """Each of these demos has a network.py of its own, of which a process imports one only."""
    yield
    sys.modules.pop("network", None)


def write_smaller(folder, **changes):
    """The study of the demo with fewer replicates and trials."""
    text = (TEMPLATES / "demo.toml").read_text()
    for word, number in ({"replicates": 3, "trials": 2} | changes).items():
        text, n = re.subn(rf"^{word} = \d+", f"{word} = {number}", text, flags=re.MULTILINE)
        assert n
    folder.mkdir(exist_ok=True)
    (folder / "study.toml").write_text(text)
    network = (TEMPLATES / "network.py").read_text()
    assert "N_EPOCHS, BATCH_SIZE = 15," in network
    (folder / "network.py").write_text(network.replace("BATCH_SIZE = 15,", "BATCH_SIZE = 1,"))


def files(folder):
    names = {path.name for path in folder.iterdir() if path.name != "__pycache__"}
    return {name for name in names if not name.endswith(".lock")}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A folder where a smaller demo has run, and what that said."""
    folder = tmp_path_factory.mktemp("demo")
    write_smaller(folder)
    return folder, call("demo", folder)


def test_it_ends_with_verdict_figures_and_report(finished):
    folder, result = finished
    assert result.exit_code == 0, result.stderr
    assert f"$ outperform run {folder}/study.toml" in result.stdout
    assert "fits done now, 0 were recorded before, 0 failed" in result.stdout
    assert f"$ outperform compare {folder}/study.db knn neural" in result.stdout
    assert re.search(r"P\(knn > neural\) = .* \(3 pairs, too few to tell, ", result.stdout)
    assert files(folder) == FILES
    report = (folder / "report.html").read_text()
    assert report.count("<svg") == 4
    assert "the largest source of variation of the accuracy of neural on digits" in report


def test_called_again_it_trains_nothing_anew(finished):
    folder, _ = finished
    before = (folder / "report.html").read_bytes()
    result = call("demo", folder)
    assert re.search(r"^0 fits done now, \d+ were recorded before, 0 failed", result.stdout, re.M)
    assert (folder / "report.html").read_bytes() == before


def test_one_pipeline_is_refused(tmp_path):
    write_smaller(tmp_path)
    text = (tmp_path / "study.toml").read_text()
    start = text.index('[[pipeline]]\nname = "neural"')
    end = text.index("# Every replicate")
    (tmp_path / "study.toml").write_text(text[:start] + text[end:])
    result = call("demo", tmp_path)
    assert result.exit_code == 2
    assert "study.toml has one pipeline only" in result.stderr


@pytest.mark.slow
def test_as_it_is_it_concludes_for_this_dataset_and_no_other_data(tmp_path):
    result = call("demo", tmp_path / "demo")
    assert result.exit_code == 0, result.stderr
    assert files(tmp_path / "demo") == FILES
    assert "(54 pairs, at least γ = 0.75 shown)" in result.stdout
    assert (
        "knn outperforms neural on this sample of digits; for other data like it that is not shown "
        "(p = 0.0"
    ) in result.stdout
