"""Seeds depend on root, source and replicate, and on nothing else."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outperform.errors import InvalidInput
from outperform.study.sources import LEARNING_SOURCES, check_sources, derive_seed

ALL = [*LEARNING_SOURCES, "hpo", "my_sampler"]


def test_seed_by_hand():
    digest = hashlib.blake2b(b"7/init/3", digest_size=4).digest()
    assert derive_seed(7, "init", 3) == int.from_bytes(digest, "big")


@given(st.integers(0, 2**40), st.sampled_from(ALL), st.integers(0, 1000))
def test_seeds_fit_in_32_bits(root, name, replicate):
    assert 0 <= derive_seed(root, name, replicate) < 2**32


def test_seeds_of_a_large_study_hardly_collide():
    seeds = [derive_seed(0, name, replicate) for name in ALL for replicate in range(2000)]
    # 14,000 draws out of 2**32: 0.023 collisions expected.
    assert len(set(seeds)) >= len(seeds) - 1


def test_parts_of_a_derived_seed_are_not_confused():
    assert derive_seed(1, 23) != derive_seed(12, 3)


def test_sources_of_ones_own_are_welcome():
    check_sources(ALL)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ("init", "sources are the text 'init'. Pass a list: ['init']."),
        (["init", "split", "init"], "source 'init' is listed 2 times. List it once."),
        (
            ["data order"],
            "a source of variation is called 'data order'. Use letters, digits and underscores, "
            "as {seed.name} in a command needs them.",
        ),
        (
            ["noise"],
            "a source of variation is called 'noise', which means what is left when every seed "
            "is fixed. Choose another name.",
        ),
    ],
)
def test_refusals(names, message):
    with pytest.raises(InvalidInput) as caught:
        check_sources(names)
    assert str(caught.value) == message
