from itertools import pairwise

import numpy as np
import pytest
from matplotlib.colors import to_hex

from outperform.questions.decompose.answer import decompose
from outperform.questions.decompose.figure import (
    compose_decomposition,
    decomposition_height,
    draw_decomposition,
)
from outperform.render.style import COLOUR_A, COLOUR_NEITHER, house_style

SDS = {"init": 0.01, "split": 0.03, "all": 0.04, "order": 0.02}


def make(sds=SDS, *, n=50, mean=0.7, seed=0, **options):
    rng = np.random.default_rng(seed)
    scores = {name: rng.normal(mean, sd, n) for name, sd in sds.items()}
    options = {"algorithm": "bert", "task": "rte", "metric": "accuracy"} | options
    return decompose(scores, **options)


def with_noise(**options):
    return make(SDS | {"noise": 0}, **options)


def variation(found, source):
    return next(v for v in found.sources if v.source == source)


def labels(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


# One decomposition


def test_bars_are_standard_deviations_with_their_intervals(find, ax):
    found = with_noise()
    draw_decomposition([found], ax)
    assert len(ax.patches) == 5
    for source in (*SDS, "noise"):
        sd = variation(found, source).sd
        assert find(ax, f"bar-0-{source}").get_width() == sd.value
        interval = find(ax, f"interval-0-{source}")
        assert list(interval.get_xdata()) == [sd.interval.low, sd.interval.high]
        bar = find(ax, f"bar-0-{source}")
        middle = bar.get_y() + bar.get_height() / 2
        assert interval.get_ydata() == pytest.approx([middle, middle])
    assert ax.get_xlabel() == "standard deviation of accuracy\n95% interval"


def test_intervals_that_go_on_beyond_the_axis_have_an_arrow_there(find, ax):
    found = make({"split": 0.03, "init": 0.001}, n=3)
    draw_decomposition([found], ax)
    limit = ax.get_xlim()[1]
    assert (
        variation(found, "init").sd.interval.high
        < limit
        < variation(found, "split").sd.interval.high
    )
    assert find(ax, "beyond-0-split").get_xdata() == [limit]
    assert not ax.findobj(lambda artist: artist.get_gid() == "beyond-0-init")
    assert ax.get_xlabel().endswith("95% interval, ▶ goes on")


def test_sources_are_ordered_by_size_between_all_and_noise(find, ax):
    draw_decomposition([make({"noise": 0.05} | SDS)], ax)
    assert labels(ax) == ["all", "split", "order", "init", "noise"]
    tops = [find(ax, f"bar-0-{source}").get_y() for source in labels(ax)]
    assert tops == sorted(tops)
    assert ax.get_ylim()[0] > ax.get_ylim()[1]  # the first is on top


def test_single_sources_stand_out(find, ax):
    draw_decomposition([with_noise()], ax)
    colours = {s: to_hex(find(ax, f"bar-0-{s}").get_facecolor()).upper() for s in labels(ax)}
    grey, blue = COLOUR_NEITHER.upper(), COLOUR_A
    assert colours == {"all": grey, "split": blue, "order": blue, "init": blue, "noise": grey}


def test_shares_of_the_reference_stand_above(ax):
    found = make()
    draw_decomposition([found], ax)
    (shares,) = ax.child_axes
    assert shares.get_xlabel() == "as share of split's"
    ax.figure.draw_without_rendering()
    scale = variation(found, "split").sd.value
    assert shares.get_xlim() == pytest.approx([x / scale for x in ax.get_xlim()])
    assert ax.get_legend() is None


def test_a_zero_is_written_where_there_is_no_bar(find, ax):
    draw_decomposition([with_noise()], ax)
    assert find(ax, "zero-0-noise").get_text() == "0"
    zeros = ax.findobj(lambda artist: str(artist.get_gid()).startswith("zero"))
    assert len(zeros) == 1


def test_nothing_varies(find, ax):
    draw_decomposition([make({"split": 0, "init": 0})], ax)
    assert ax.child_axes == []
    assert ax.get_xlim() == (0, 1)
    assert find(ax, "zero-0-init")


def test_the_binomial_model_is_marked_where_the_test_set_is_redrawn(find, ax):
    found = make(n_test=100)
    draw_decomposition([found], ax)
    for source in ("split", "all"):
        expected = variation(found, source).binomial_sd
        assert find(ax, f"binomial-0-{source}").get_xdata()[0] == expected
        assert expected < ax.get_xlim()[1]
    marks = ax.findobj(lambda artist: str(artist.get_gid()).startswith("binomial"))
    assert len(marks) == 2
    assert ax.get_xlabel().endswith("95% interval, ◇ binomial model")


def test_the_binomial_model_of_unknown_sources_is_marked_on_each(find, ax):
    draw_decomposition([make({"bootstrap": 0.03, "init": 0.01}, n_test=100)], ax)
    assert find(ax, "binomial-0-bootstrap")
    assert find(ax, "binomial-0-init")


def test_absurd_intervals_do_not_squash_the_bars(ax):
    found = make(n=2)
    draw_decomposition([found], ax)
    longest = max(v.sd.value for v in found.sources)
    assert max(v.sd.interval.high for v in found.sources) > 10 * longest
    assert ax.get_xlim()[1] == pytest.approx(2.1 * longest)


# Several


def test_several_are_drawn_as_shares_grouped_by_source(find, ax):
    group = [make(task="rte"), make({"split": 3, "init": 2}, task="sst2", mean=9, metric="loss")]
    draw_decomposition(group, ax)
    assert labels(ax) == ["all", "split", "order", "init"]
    for index, found in enumerate(group):
        for v in found.sources:
            assert find(ax, f"bar-{index}-{v.source}").get_width() == v.share.value
            ends = list(find(ax, f"interval-{index}-{v.source}").get_xdata())
            assert ends == [v.share.interval.low, v.share.interval.high]
    assert len(ax.patches) == 6
    assert find(ax, "reference").get_xdata()[0] == 1
    assert ax.get_xlabel() == "standard deviation as share of split's\n95% interval"
    assert ax.child_axes == []


def test_bars_never_overlap_and_lie_next_to_their_source(ax):
    group = [make(task="rte"), make({"split": 0.3}, task="sst2"), make(task="mnli")]
    draw_decomposition(group, ax)
    spans = sorted((bar.get_y(), bar.get_y() + bar.get_height()) for bar in ax.patches)
    for (_, end), (start, _) in pairwise(spans):
        assert end < start
    for source, place in zip(labels(ax), ax.get_yticks(), strict=True):
        own = [bar for bar in ax.patches if bar.get_gid().endswith(f"-{source}")]
        middles = [bar.get_y() + bar.get_height() / 2 for bar in own]
        assert place == pytest.approx(np.mean(middles))
        assert np.ptp(middles) == pytest.approx(len(own) - 1)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ([("bert", "rte"), ("bert", "sst2")], ["rte", "sst2"]),
        ([("bert", "rte"), ("gpt", "rte")], ["bert", "gpt"]),
        ([("bert", "rte"), ("gpt", "sst2")], ["bert, rte", "gpt, sst2"]),
        ([("bert", "rte"), ("bert", "rte")], ["1", "2"]),
    ],
)
def test_the_legend_names_what_differs_and_what_one_stands_for(ax, names, expected):
    group = [make(algorithm=a, task=t, seed=i) for i, (a, t) in enumerate(names)]
    draw_decomposition(group, ax)
    scales = [variation(found, "split").sd.value for found in group]
    wanted = [f"{name} (split's sd {x:.2g})" for name, x in zip(expected, scales, strict=True)]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == wanted


def test_different_references_are_told(ax):
    group = [make(task="rte"), make({"init": 0.1, "order": 0.01}, task="sst2")]
    draw_decomposition(group, ax)
    assert ax.get_xlabel().startswith("standard deviation as share of each reference's")
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert "(split's sd" in texts[0]
    assert "(init's sd" in texts[1]


def test_the_binomial_model_is_a_share_too(find, ax):
    group = [make(task="rte", n_test=100), make(task="sst2")]
    draw_decomposition(group, ax)
    split = variation(group[0], "split")
    expected = split.binomial_sd / split.sd.value
    assert find(ax, "binomial-0-split").get_xdata()[0] == pytest.approx(expected)
    assert not ax.findobj(lambda artist: artist.get_gid() == "binomial-1-split")


def test_many_are_told_apart_by_colour_and_hatch(find, ax):
    draw_decomposition([make(task=f"task {i}") for i in range(20)], ax)
    bars = [find(ax, f"bar-{i}-split") for i in range(20)]
    assert len({(bar.get_facecolor(), bar.get_hatch()) for bar in bars}) == 20


# Whole figures

LONG = {"algorithm": "a long name $x$ " * 4, "task": "another long name " * 3}
FIGURES = {
    "one": lambda: [with_noise(n_test=277)],
    "constant": lambda: [make({"split": 0, "init": 0})],
    "one source": lambda: [make({"init": 0.1}, algorithm="", task="")],
    "few runs": lambda: [make(n=2)],
    "long names": lambda: [make({"split" * 9: 1, "init " * 9: 2}, metric="$acc$ " * 9, **LONG)],
    "tiny": lambda: [make({"split": 1e-9, "init": 3e-10})],
    "huge": lambda: [make({"split": 1e9, "init": 3e8}, metric="reward")],
    "five": lambda: [make(task=f"task {i}", seed=i, n_test=277) for i in range(5)],
    "twenty": lambda: [make({"split": 1, "init": 0.3}, task=f"task {i}") for i in range(20)],
    "several long": lambda: [
        make({"split" * 9: 1, "init": 2}, seed=i, **(LONG | {"task": f"{i} " * 40}))
        for i in range(3)
    ],
}


@pytest.mark.parametrize("kind", FIGURES)
def test_no_text_is_cut_off_or_overlaps_another(kind, check_texts):
    with house_style():
        figure = compose_decomposition(FIGURES[kind]())
        figure.draw_without_rendering()
    check_texts(figure)


@pytest.mark.parametrize(
    ("kind", "title"),
    [
        ("one", "Largest source of variation of bert on rte: split"),
        ("one source", "Largest source of variation: init"),
        ("constant", "No source changes the accuracy"),
        ("five", "Sources of variation"),
    ],
)
def test_title_names_the_largest_source(kind, title):
    figure = compose_decomposition(FIGURES[kind]())
    assert figure.get_suptitle().replace("\n", " ") == title
    assert figure.get_figwidth() == 3.4


def test_height_grows_with_the_bars():
    heights = [decomposition_height([make(task=f"{i}") for i in range(n)]) for n in (1, 4, 20)]
    assert heights == sorted(set(heights))
    assert decomposition_height([make(SDS | {"a": 1, "b": 1})]) > decomposition_height([make()])
