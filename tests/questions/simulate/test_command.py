"""The command `outperform simulate`, as a person meets it."""

import json

import numpy as np
import pytest
from click.testing import CliRunner, Result

from outperform import read_scenarios, simulate_error_rates
from outperform.cli import main


def call(*words: object) -> Result:
    return CliRunner().invoke(main, ["simulate", *(str(word) for word in words)])


def flat(text: str) -> str:
    return " ".join(text.split())


@pytest.fixture
def runs_file(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "runs.csv"
    rows = [
        f"{name},{seed},{rng.normal(shift, 1):.6f}"
        for name, shift in (("new", 0.5), ("old", 0))
        for seed in range(30)
    ]
    path.write_text("algorithm,seed,reward\n" + "\n".join(rows))
    return path


@pytest.fixture
def constants_file(tmp_path):
    path = tmp_path / "constants.json"
    path.write_text(
        '{"vgg": {"sigma": 2, "sigma_epsilon": {"50": {"biased": 1, "weights_init": 3}}},'
        ' "rte": {"sigma": 1, "sigma_epsilon": {"10": {"biased": 0.2}, "50": {"biased": NaN}}}}'
    )
    return path


def test_sentence_table_caveats_and_what_next():
    result = call("--rule", "verdict", "--rule", "single-point")
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0] == (
        "With 50 pairs, the P(A>B) verdict declares A better in 1.6% of the comparisons of equals, "
        "and fails to in 5.5% of those with P(A>B) = γ = 0.75 (normal scores, α = 0.05)."
    )
    assert lines[3] == "ideal: 50 pairs, γ = 0.75"
    assert lines[4].split() == ["rule", "false", "positives", "false", "negatives", "how"]
    assert lines[5].split() == ["single-point", "7.9%", "76.9%", "exact"]
    assert lines[6].split() == ["verdict", "1.6%", "5.5%", "exact"]
    assert "Caveats" in lines
    assert lines[-1].startswith("Next: choose the rule and the number of pairs")
    assert (
        "- single-point: A is declared better if one score is higher by more than 1.9952 standard "
        "deviations, the lead that published improvements have; --delta 0 asks for any lead"
    ) in " ".join(result.stdout.split())


def test_the_mean_being_higher_is_a_rule():
    """As the README says: between equals, either mean is higher half of the time."""
    result = call("--pairs", 30, "--rule", "average", "--delta", 0)
    assert " declares A better in 50.0% of the comparisons of equals" in result.stdout
    assert "- average: A is declared better if the mean is higher\n" in result.stdout


def test_simulated_rates_carry_their_error():
    result = call("--rule", "wilcoxon", "--pairs", 12, "--draws", 500)
    row = next(line for line in result.stdout.splitlines() if line.startswith("  wilcoxon"))
    assert row.count("±") == 2
    assert row.endswith("simulated")
    assert "± is the Monte-Carlo standard error of 500 draws." in result.stdout


def test_the_seed_decides():
    words = ("--rule", "wilcoxon", "--pairs", 12, "--draws", 500, "--json")
    first, again = call(*words).stdout, call(*words).stdout
    assert first == again
    assert first != call(*words, "--seed", 1).stdout


def test_case_studies(constants_file):
    result = call("--case-studies", constants_file, "--rule", "verdict", "--json")
    answer = json.loads(result.stdout)
    assert [curve["scenario"] for curve in answer["curves"]] == ["ideal", "vgg, all", "rte, all"]
    note = "rte: the bias of the design all is NaN at k = 50; that at k = 10 was taken"
    assert note in answer["caveats"]
    result = call(
        *("--case-studies", constants_file, "--case", "vgg", "--design", "init"),
        *("--rule", "verdict", "--json"),
    )
    assert [curve["scenario"] for curve in json.loads(result.stdout)["curves"]] == ["vgg, init"]


def test_published_case_studies(shared_data):
    path = shared_data / "variance_constants" / "stats.json"
    answer = json.loads(call("--case-studies", path, "--rule", "verdict", "--json").stdout)
    rates = {curve["scenario"]: curve["false_positives"] for curve in answer["curves"]}
    assert rates["vgg, all"] == pytest.approx(0.315, abs=0.001)
    assert len(rates) == 6
    # Bouthillier et al. (2021) say about 5%.
    assert answer["means"][0]["false_positives"] == pytest.approx(0.156, abs=0.001)


def test_means_stand_for_many_scenarios(constants_file):
    sizes = [word for n in range(2, 6) for word in ("--pairs", n)]
    result = call("--case-studies", constants_file, *sizes, "--rule", "verdict")
    assert "ideal: 5 pairs, γ = 0.75" in result.stdout
    assert "mean of 2 scenarios: 5 pairs, γ = 0.75" in result.stdout
    assert "vgg, all: 5 pairs" not in result.stdout
    assert "Every scenario of these means: --json." in result.stdout
    assert (
        "vgg, all: 5 pairs"
        in call("--case-studies", constants_file, "--pairs", 5, "--rule", "verdict").stdout
    )


def test_own_study():
    measured = call("--sigma", 0.02, "--bias-sd", 0.01, "--rule", "verdict", "--json")
    in_units = call("--bias-sd", 0.5, "--rule", "verdict", "--json")
    first, second = (json.loads(each.stdout)["curves"] for each in (measured, in_units))
    assert [curve["scenario"] for curve in first] == ["ideal", "biased"]
    assert first[1]["false_positives"] == pytest.approx(second[1]["false_positives"])
    correlated = json.loads(call("--correlation", 0.2, "--rule", "verdict", "--json").stdout)
    assert correlated["curves"][1]["false_positives"] > 0.1


@pytest.fixture(
    scope="module"
)  # once: a second simulated_training.py in this process would be refused
def study_store(tmp_path_factory):
    tmp_path = tmp_path_factory.mktemp("study")
    (tmp_path / "simulated_training.py").write_text(
        "from random import Random\n"
        "def fit(params, split, seeds):\n"
        "    score = sum(Random(seeds[name]).gauss(0, 1) for name in ('split', 'init'))\n"
        "    return {'valid': 0.5, 'test': score}\n"
    )
    study = tmp_path / "study.toml"
    study.write_text(
        '[[task]]\nname = "toy"\nmetric = "accuracy"\n'
        '[[pipeline]]\nname = "net"\nfunction = "simulated_training:fit"\n'
        'sources = ["split", "init"]\n'
        '[[design]]\nkind = "ideal"\nreplicates = 12\n'
        '[[design]]\nkind = "fix-hopt"\nvary = ["init"]\nreplicates = 4\nrepetitions = 11\n'
    )
    assert CliRunner().invoke(main, ["run", str(study), "--workers", "1"]).exit_code == 0
    return tmp_path / "study.db"


def test_variation_of_a_store_is_measured(study_store):
    words = ("--store", study_store, "--case", "net", "--on", "toy", "--rule", "verdict")
    answer = json.loads(call(*words, "--json").stdout)
    assert [curve["scenario"] for curve in answer["curves"]] == ["ideal", "net on toy, init"]
    assert any("11 repetitions of 4 runs" in caveat for caveat in answer["caveats"])
    refused = call("--store", study_store, "--case", "nett")
    assert refused.exit_code == 2
    assert f"Error: the study of {study_store} has no pipeline 'nett'." in refused.stderr


def test_python_takes_the_store_too(study_store):
    rates = simulate_error_rates(study_store, rules=["verdict"], rng=np.random.default_rng(0))
    answer = json.loads(call("--store", study_store, "--rule", "verdict", "--json").stdout)
    assert rates.to_dict() == answer


def test_the_old_name_of_designs_is_refused(constants_file):
    result = call("--case-studies", constants_file, "--estimator", "init")
    assert result.exit_code == 2
    assert result.stderr.splitlines()[-1] == (
        "Error: --estimator is called --design now, as in study files: write that."
    )
    assert "--estimator" not in call("--help").stdout


def test_python_reads_case_studies_too(constants_file):
    scenarios = read_scenarios(constants_file, cases=["vgg"], designs=["init"])
    assert [scenario.name for scenario in scenarios] == ["vgg, init"]


def test_runs_of_two_algorithms_are_drawn_again(runs_file):
    result = call(runs_file, "new", "old", "--pairs", 10, "--pairs", 20, "--draws", 200)
    assert result.exit_code == 0, result.stderr
    assert "new against old: 10 pairs, γ = 0.75" in result.stdout
    assert "new against old: 20 pairs, γ = 0.75" in result.stdout
    assert "an advantage for a constant that is added to every score of A" in flat(result.stdout)


def test_runs_of_one_algorithm_tell_how_many_seeds(runs_file):
    result = call(runs_file, "new", "--draws", 500, "--rule", "welch-t", "--alpha", 0.05)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.splitlines()[0] == (
        "Among 30 runs of new, the test welch-t keeps its level from 2 runs on at α = 0.05."
    )
    answer = json.loads(call(runs_file, "new", "--draws", 200, "--pairs", 5, "--json").stdout)
    assert [line["sizes"] for line in answer["lines"]] == [[5]] * 9


def test_the_only_algorithm_need_not_be_named(tmp_path):
    path = tmp_path / "bert.csv"
    path.write_text("seed,accuracy\n" + "\n".join(f"{i},{i * 7 % 23}" for i in range(20)))
    result = call(path, "--draws", 200)
    assert result.stdout.startswith("Among 20 runs of bert,")


@pytest.mark.parametrize("words", [[], ["new"], ["new", "old"]])
def test_plot(tmp_path, runs_file, words):
    figure = tmp_path / "rates.svg"
    source = [runs_file, *words] if words else ["--rule", "verdict"]
    result = call(*source, "--draws", 200, "--plot", figure)
    assert result.exit_code == 0, result.stderr
    assert figure.stat().st_size > 1000


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--gamma", 0.3], "gamma is 0.3. Pass a value from 0.5 up to, not including, 1."),
        (["--sigma", 0, "--bias-sd", 1], "sigma is 0. Pass a positive standard deviation."),
        (["--sigma", 2], "--sigma matters only together with --bias-sd or --conditional-sd."),
        (["--case", "vgg"], "--case needs --case-studies FILE or --store STORE."),
        (["--draws", 0], "n_draws is 0. Pass a whole number not less than 100."),
        (["--on", "rte"], "--on needs runs: name RUNS A B."),
        (["--store", "study.db", "--sigma", 1], "--sigma is not for --store STORE."),
        (["--store", "study.db", "--unpaired"], "--paired needs runs: name RUNS A B."),
        (["--store", "nope.db"], "there is no store 'nope.db'. Make it with `outperform run`."),
        (["--alpha", 0.05, "--alpha", 0.01], "Give --alpha once here, not 2 times."),
        (["RUNS", "new", "old", "--sigma", 1], "--sigma is for normal scores: leave out RUNS."),
        (["RUNS", "new", "--gamma", 0.8], "--gamma does not matter to one algorithm"),
        (["RUNS", "new", "--pairs", 20], "need 40, but there are 30. Ask for at most 15"),
        (["RUNS", "nwe", "old"], "no algorithm 'nwe' in runs.csv. Did you mean 'new'?"),
        (["RUNS"], "runs.csv has 2 algorithms and none was named. Name one, or two to compare"),
        (["RUNS", "a", "b", "c"], "Name RUNS A B, not 4 words: quote names with spaces."),
        (["RUNS", "new", "old", "--rule", "oracle"], "there is no rule 'oracle' here."),
        (["--case-studies", "RUNS"], "it is not JSON"),
        (["--plot", "rates.docx"], "cannot save a figure as 'rates.docx'"),
    ],
)
def test_what_makes_no_sense_is_refused_with_the_reason(runs_file, words, message):
    result = call(*(runs_file if word == "RUNS" else word for word in words))
    assert result.exit_code == 2
    assert message in flat(result.stderr)
    assert "Traceback" not in result.stderr


def test_progress_after_two_seconds_goes_to_standard_error(monkeypatch):
    clock = iter(range(0, 100_000, 50))
    monkeypatch.setattr("outperform.cli.progress.monotonic", lambda: next(clock))
    result = call("--rule", "wilcoxon", "--pairs", 5, "--draws", 200, "--json")
    assert "simulating: " in result.stderr
    json.loads(result.stdout)


def test_sizes_of_splits_show_what_the_verdict_is_about():
    words = ("--rule", "verdict", "--rule", "nadeau-bengio", "--pairs", 29)
    result = call(*words, "--train-size", 300, "--test-size", 55)
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    start = lines.index("re-splits of one dataset: 29 pairs, γ = 0.75")
    assert lines[start + 2].split() == ["verdict", "13.6%", "34.7%", "exact"]
    assert lines[start + 3].split()[:2] == ["nadeau-bengio", "2.5%"]


def test_sizes_are_no_matter_to_runs_at_hand(runs_file):
    result = call(runs_file, "new", "old", "--train-size", 80, "--test-size", 20)
    assert result.exit_code == 2
    assert flat(result.stderr).endswith(
        "Error: --train-size, --test-size is for normal scores: leave out RUNS."
    )
