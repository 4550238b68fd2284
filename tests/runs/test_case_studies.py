"""Constants of case studies."""

import json
import math

import pytest

from outperform.errors import OutperformError
from outperform.runs.case_studies import BIASED_DESIGNS, read_case_studies

SDS = {"weights_init": 0.3, "bootstrap": 0.2, "biased": 0.1}


@pytest.fixture
def write(tmp_path):
    def write(content):
        path = tmp_path / "constants.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    return write


def test_constants_are_read_by_design_and_number_of_runs(write):
    path = write({"rte": {"sigma": 0.5, "sigma_epsilon": {"10": SDS, "50": {"biased": 0.05}}}})
    (case,) = read_case_studies(path)
    assert (case.name, case.sd) == ("rte", 0.5)
    assert case.find_bias("init", 50) == (0.3, 10)
    assert case.find_bias("data", 10) == (0.2, 10)
    assert case.find_bias("all", 40) == (0.05, 50)


def test_published_constants(shared_data):
    path = shared_data / "variance_constants" / "stats.json"
    cases = {case.name: case for case in read_case_studies(path)}
    assert list(cases) == ["vgg", "segmentation", "bert-sst2", "bert-rte", "bio-task2"]
    # Bare NaN in the file: only k = 10 was measured there.
    assert math.isnan(cases["segmentation"].bias_sd["all"][50])
    assert cases["segmentation"].find_bias("all", 50) == (pytest.approx(0.003005, rel=1e-3), 10)
    assert all(case.find_bias(name, 50) for case in cases.values() for name in BIASED_DESIGNS)


def test_named_cases_are_kept(shared_data):
    path = shared_data / "variance_constants" / "stats.json"
    assert [case.name for case in read_case_studies(path, ["bert-rte", "vgg"])] == [
        "bert-rte",
        "vgg",
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "constants.json: it is not JSON"),
        ("[1]", "constants.json holds no case studies. Write"),
        ({}, "constants.json holds no case studies. Write"),
        ({"rte": {"sigma": 1}}, "'rte' of"),
        ({"rte": [1, 2]}, "has no sigma and sigma_epsilon. Write"),
        ('{"rte": {"sigma": NaN, "sigma_epsilon": {}}}', "sigma of the case study 'rte'"),
        ({"rte": {"sigma": 0, "sigma_epsilon": {}}}, "is 0.0. Measure it, or leave this"),
        (
            {"rte": {"sigma": 1, "sigma_epsilon": {"10": {"biased": -1}}}},
            "is negative: all at k = 10. Standard deviations are not negative: mend the file.",
        ),
    ],
)
def test_files_that_make_no_sense_are_refused(write, content, message):
    with pytest.raises(OutperformError) as caught:
        read_case_studies(write(content))
    assert message in str(caught.value)


def test_a_missing_file_and_an_unknown_name_are_refused(write, tmp_path):
    with pytest.raises(OutperformError, match=r"No such file or directory\. Name a JSON file"):
        read_case_studies(tmp_path / "nowhere.json")
    path = write({"rte": {"sigma": 1, "sigma_epsilon": {}}})
    with pytest.raises(OutperformError) as caught:
        read_case_studies(path, ["rt"])
    assert str(caught.value) == f"no case study 'rt' in {path}. Did you mean 'rte'? It has: rte."


def test_a_bias_that_nobody_measured_is_refused(write):
    path = write('{"rte": {"sigma": 1, "sigma_epsilon": {"10": {"biased": NaN}}}}')
    (case,) = read_case_studies(path)
    with pytest.raises(OutperformError) as caught:
        case.find_bias("all", 50)
    assert str(caught.value) == (
        "the case study 'rte' has no bias of the design 'all': every value is NaN. "
        "Choose another design or case study."
    )
