"""What pipelines say that their fits need, and what of it makes no sense."""

from pathlib import Path

import pytest
from sklearn.svm import SVC

from outperform.errors import InvalidInput
from outperform.study.pipelines import Pipeline, read_resources
from outperform.study.study_file import parse_study_file

FILE = (Path(__file__).parent / "digits.toml").read_text()
SIZES = 'Write a size such as "16GB", "512MB" or "1.5GiB".'


def parse(line):
    """Study of which the first pipeline has one line more."""
    text = FILE.replace("[pipeline.space]", f"{line}\n[pipeline.space]")
    return parse_study_file(text, folder=Path()).study


def fit(params, split, seeds):
    return {"test": 0.5}


@pytest.mark.parametrize("what", [SVC(), fit, "train --seed {seed.init}"])
def test_every_kind_of_pipeline_has_resources_and_they_change_no_key(what):
    resources = {"gpus": 1, "memory": "16GB", "cpus": 4, "TPU": 0.5}
    pipeline, plain = Pipeline("p", what, resources=resources), Pipeline("p", what)
    assert pipeline.resources == {"gpus": 1, "memory": 16 * 10**9, "cpus": 4, "TPU": 0.5}
    assert plain.resources == {}
    assert pipeline.fingerprint == plain.fingerprint


@pytest.mark.parametrize(
    ("memory", "n_bytes"),
    [
        ("16GB", 16_000_000_000),
        ("512 mb", 512_000_000),
        ("1.5GiB", 1_610_612_736),
        ("2000000kB", 2_000_000_000),
        ("3TiB", 3 * 1024**4),
        (1_000_000, 1_000_000),
        (2e9, 2_000_000_000),
    ],
)
def test_memory_is_a_size(memory, n_bytes):
    assert read_resources({"memory": memory}) == {"memory": n_bytes}


@pytest.mark.parametrize("gpus", [0, 0.25, 1, 1.0, 8])
def test_gpus_are_whole_or_a_part_of_one(gpus):
    assert read_resources({"gpus": gpus}) == {"gpus": gpus}


@pytest.mark.parametrize(
    ("resources", "message"),
    [
        ({"gpu": 1}, "resources name 'gpu'. Write gpus."),
        ({"GPUs": 1}, "resources name 'GPUs'. Write gpus."),
        ({"CPU": 1}, "resources name 'CPU'. Write cpus."),
        ({"ram": "1GB"}, "resources name 'ram'. Write memory."),
        ({"memmory": "1GB"}, "resources name 'memmory'. Write memory."),
        ({1: 1}, "resources name 1. Name each by a text."),
        ({"gpus": 1.5}, "gpus is 1.5. Give a whole number of them, or less than one to share it."),
        ({"gpus": -1}, "gpus is -1. Give zero or more."),
        ({"gpus": True}, "gpus is True. Give zero or more."),
        ({"gpus": float("nan")}, "gpus is nan. Give zero or more."),
        ({"gpus": "1"}, "gpus is '1'. Give zero or more."),
        ({"cpus": 0}, "cpus is 0. Give a positive number."),
        ({"tpus": float("inf")}, "tpus is inf. Give a positive number."),
        ({"memory": "16"}, f"memory is '16'. {SIZES}"),
        ({"memory": "16G"}, f"memory is '16G'. {SIZES}"),
        ({"memory": "-1GB"}, f"memory is '-1GB'. {SIZES}"),
        ({"memory": 16}, f"memory is 16, which is 16 bytes. {SIZES}"),
        ({"memory": "0GB"}, f"memory is '0GB', which is 0 bytes. {SIZES}"),
        ({"memory": "9999999999TB"}, f"memory is '9999999999TB', which is 1e+22 bytes. {SIZES}"),
        ({"memory": -5}, "memory is -5. Give a positive number."),
        ({"memory": [1]}, "memory is [1]. Give a positive number."),
        ("gpus", 'resources are \'gpus\'. Name them: {"gpus": 1, "memory": "16GB"}.'),
    ],
)
def test_what_makes_no_sense_is_refused(resources, message):
    with pytest.raises(InvalidInput) as caught:
        Pipeline("p", fit, resources=resources)
    assert str(caught.value) == message


def test_a_study_file_says_them_in_a_table():
    line = 'resources = {gpus = 0.5, memory = "2GB", licence = 1}'
    study = parse(line)
    assert study.pipelines[0].resources == {"gpus": 0.5, "memory": 2 * 10**9, "licence": 1}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("resources = {gpu = 1}", "resources name 'gpu' (line 22). Write gpus."),
        ('resources = {memory = "2"}', f"memory is '2' (line 22). {SIZES}"),
        ("resources = 1", "resources is 1 (line 22). Write a table: resources = {...}."),
        (
            "resource = {gpus = 1}",
            "the pipeline has an unknown word 'resource' (line 22). Did you mean 'resources' "
            "or 'sources'? It has: name, space, estimator, fixed, sources, resources.",
        ),
    ],
)
def test_mistakes_in_a_study_file_are_named_with_their_line(line, message):
    with pytest.raises(InvalidInput) as caught:
        parse(line)
    assert str(caught.value) == message
