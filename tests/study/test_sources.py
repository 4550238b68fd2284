"""Seeds depend on root, source and replicate, and on nothing else."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outperform.errors import InvalidInput
from outperform.study.sources import (
    LEARNING_SOURCES,
    Source,
    derive_seed,
    draw_seeds,
    make_sources,
)

names = st.sampled_from([*LEARNING_SOURCES, "hpo", "my_sampler"])
ALL = make_sources([*LEARNING_SOURCES, "hpo"])


def test_seed_by_hand():
    digest = hashlib.blake2b(b"7/init/3", digest_size=4).digest()
    assert Source("init", "learning").seed(3, root=7) == int.from_bytes(digest, "big")


def test_only_hpo_is_a_source_of_tuning():
    assert {source.name for source in ALL if source.stage == "hpo"} == {"hpo"}


@given(names, st.integers(0, 1000), st.integers(0, 2**40))
def test_seeds_fit_in_32_bits(name, replicate, root):
    assert 0 <= Source(name, "learning").seed(replicate, root=root) < 2**32


def test_seeds_of_a_large_study_hardly_collide():
    seeds = [s.seed(replicate, root=0) for s in ALL for replicate in range(2000)]
    # 12,000 draws out of 2**32: 0.017 collisions expected.
    assert len(set(seeds)) >= len(seeds) - 1


@given(st.lists(names, unique=True, min_size=1), st.integers(0, 50), st.integers(0, 50))
def test_adding_sources_moves_no_seed(some, replicate, root):
    alone = draw_seeds(make_sources(some), replicate, root=root)
    more = draw_seeds(make_sources([*some, "yet_another"]), replicate, root=root)
    assert {name: more[name] for name in some} == alone


def test_sources_that_do_not_vary_stay_at_replicate_0():
    first, later = draw_seeds(ALL, 0, root=5), draw_seeds(ALL, 9, root=5, vary=["init", "order"])
    assert {name for name in first if first[name] != later[name]} == {"init", "order"}


def test_all_vary_unless_told_otherwise():
    first, later = draw_seeds(ALL, 0, root=5), draw_seeds(ALL, 1, root=5)
    assert not [name for name in first if first[name] == later[name]]
    assert draw_seeds(ALL, 1, root=5, vary=[]) == first


def test_same_root_repeats_and_another_differs():
    assert draw_seeds(ALL, 3, root=1) == draw_seeds(ALL, 3, root=1)
    assert draw_seeds(ALL, 3, root=1) != draw_seeds(ALL, 3, root=2)


def test_parts_of_a_derived_seed_are_not_confused():
    assert derive_seed(1, 23) != derive_seed(12, 3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: make_sources("init"),
            "sources are the text 'init'. Pass a list: ['init'].",
        ),
        (
            lambda: make_sources(["init", "split", "init"]),
            "source 'init' is listed 2 times. List it once.",
        ),
        (
            lambda: make_sources(["data order"]),
            "a source of variation is called 'data order'. Use letters, digits and underscores, "
            "as {seed.name} in a command needs them.",
        ),
        (
            lambda: make_sources(["noise"]),
            "a source of variation is called 'noise', which means what is left when every seed "
            "is fixed. Choose another name.",
        ),
        (
            lambda: draw_seeds(ALL, 1, root=0, vary=["innit"]),
            "cannot vary 'innit': the study has no such source. Did you mean 'init'? It has: "
            "split, init, order, augmentation, dropout, hpo.",
        ),
        (
            lambda: draw_seeds(ALL, 1, root=0, vary="init"),
            "vary is the text 'init'. Pass a list: ['init'].",
        ),
        (
            lambda: draw_seeds(ALL, -1, root=0),
            "replicate is -1. Pass a whole number not less than 0.",
        ),
    ],
)
def test_refusals(call, message):
    with pytest.raises(InvalidInput) as caught:
        call()
    assert str(caught.value) == message
