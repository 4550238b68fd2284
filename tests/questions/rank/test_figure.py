import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from itertools import combinations

import numpy as np
import pytest
from matplotlib.figure import Figure

from outperform.errors import InvalidInput
from outperform.questions.rank.ranks_figure import find_cliques
from outperform.questions.rank.result import RankedAlgorithm, RankedPair, RankedTask, Ranking
from outperform.render.figures import figure, plot, save_figure
from outperform.runs.scope import THESE_TASKS, Scope

VIEWS = ("critical difference", "ranks", "pairs", "tasks")
MEANINGFUL, SMALL, NEITHER = (
    "significant and meaningful",
    "significant, not meaningful",
    "not significant",
)


def make_pair(a, b, difference, *, wide=1.5):
    """Compare two by the difference of their mean ranks: told apart where it is wide enough."""
    winner = None if abs(difference) < wide else "a" if difference > 0 else "b"
    verdict = NEITHER if winner is None else SMALL if abs(difference) < wide + 0.3 else MEANINGFUL
    chance = float(1 / (1 + np.exp(-difference)))
    return RankedPair(
        a=a,
        b=b,
        probability=chance,
        low=max(0, chance - 0.2),
        high=min(1, chance + 0.2),
        pvalue=0.1,
        pvalue_adjusted=0.1,
        adjusted_low=max(0, chance - 0.3),
        adjusted_high=min(1, chance + 0.3),
        verdict=verdict,
        winner=winner,
        wins=5,
        ties=0,
        losses=5,
        mean_difference=difference,
        n_tasks_better={"a": 0, "b": 0},
        n_tasks_better_adjusted={"a": 0, "b": 0},
    )


def make_task(name, means, *, sds=None, metric="accuracy", goal="maximize"):
    higher = {each: mean if goal == "maximize" else -mean for each, mean in means.items()}
    ordered = sorted(means, key=higher.__getitem__, reverse=True)
    sds = sds or dict.fromkeys(means, 0.01)
    return RankedTask(name, metric, goal, 5, ordered[0], tuple(ordered[:2]), means, sds)


def make_ranking(n_algorithms=5, n_tasks=4, *, names=None, baseline=None, **changed):
    """Ranking of algorithms whose scores fall by their place, with noise."""
    rng = np.random.default_rng(n_algorithms)
    names = names or [f"model-{place}" for place in range(n_algorithms)]
    k = len(names)
    ranks = np.sort(rng.uniform(1, k, k))
    means = rng.normal(0.9 - ranks / 99, 0.01, (n_tasks, k)).tolist()
    tasks = tuple(
        make_task(f"dataset {place}", dict(zip(names, row, strict=True)))
        for place, row in enumerate(means)
    )
    rows = range(k)
    if baseline is None:
        chosen = list(combinations(rows, 2))
    else:
        chosen = [(row, names.index(baseline)) for row in rows if names[row] != baseline]
    # Noise, so that who is told apart is not a matter of ranks alone.
    differences = [ranks[b] - ranks[a] + rng.normal(0, 0.5) for a, b in chosen]
    fields = {
        "algorithms": tuple(
            RankedAlgorithm(name, float(rank), max(1, row - 1), min(k, row + 3), 1)
            for row, (name, rank) in enumerate(zip(names, ranks, strict=True))
        ),
        "tasks": tasks,
        "pairs": tuple(
            make_pair(names[a], names[b], float(each))
            for (a, b), each in zip(chosen, differences, strict=True)
        ),
        "tasks_are": "fixed",
        "why": "it was asked for",
        "scope": Scope(("seeds",), THESE_TASKS),
        "test": "wins",
        "task_test": "wins",
        "correction": "holm",
        "gamma": 0.75,
        "alpha": 0.05,
        "baseline": baseline,
        "n_units": n_tasks,
    }
    return Ranking(**fields | changed)


def make_gappy(*, k=4):
    names = [f"model-{place}" for place in range(k)]
    near = {"model-2": 0.9, "model-3": 0.91}
    tasks = (
        make_task("gap", {"model-0": float("nan"), "model-1": 0.9, **near}),
        make_task("diverged", {"model-0": -1e9, "model-1": float("inf"), **near}),
        make_task("nobody", dict.fromkeys(names, float("nan"))),
    )
    return make_ranking(names=names, tasks=tasks)


HOSTILE = [
    "gradient boosting with early stopping, learning rate 0.1, $depth$ 7",
    "gradient boosting with early stopping, learning rate 0.3, $depth$ 7",
    "$x_1^2$",
    "_private_",
    "模型模型模型模型模型模型",
    "שלום עולם",
    "svm\n\x1b[2K\u202eforest",
    "",
]
METRICS = (
    make_task("a", {"x": 1.0, "y": 2.0}, metric="loss per token and fold", goal="minimize"),
    make_task("b", {"x": 1e-9, "y": -2e-9}, sds={"x": 1e-10, "y": float("nan")}),
    make_task("a long name " * 5, {"x": 1e12, "y": 2e12}, sds={"x": 0.0, "y": 0.0}),
)
RANKINGS = {
    "3 on one task": lambda: make_ranking(3, 1),
    "5": lambda: make_ranking(5, 4),
    "8": lambda: make_ranking(8, 6),
    "12": lambda: make_ranking(12, 3),
    "13 on 30 tasks": lambda: make_ranking(13, 30),
    "40": lambda: make_ranking(40, 12),
    "two": lambda: make_ranking(2, 2),
    "hostile names": lambda: make_ranking(names=HOSTILE),
    "against one": lambda: make_ranking(8, 6, baseline="model-3"),
    "40 against one": lambda: make_ranking(40, 12, baseline="model-30"),
    "against a long name": lambda: make_ranking(names=HOSTILE, baseline=HOSTILE[0]),
    "gaps": make_gappy,
    "metrics": lambda: make_ranking(names=["x", "y"], tasks=METRICS),
    "tasks like these": lambda: make_ranking(8, 12, tasks_are="sampled"),
    "long tasks": lambda: make_ranking(
        names=["x", "y"], tasks=tuple(make_task(c * 40, {"x": 1.0, "y": 2.0}) for c in "ab$_")
    ),
}


def list_bars(ax):
    """Rows that each bar has a dot on."""
    dots = ax.findobj(lambda artist: str(artist.get_gid()).startswith("bar-"))
    return [tuple(int(row) for row in line.get_ydata()) for line in dots]


def panels_of(ax):
    return [child for child in ax.child_axes if str(child.get_gid()).startswith("task-")]


def label_of(ax):
    return " ".join(ax.get_xlabel().split())


@pytest.mark.parametrize(
    ("kind", "view"),
    [
        *((kind, None) for kind in RANKINGS),
        *((kind, view) for kind in ("8", "hostile names", "40 against one") for view in VIEWS),
        *((kind, "tasks") for kind in ("13 on 30 tasks", "40", "gaps", "metrics")),
    ],
)
def test_no_text_of_a_ranking_is_cut_off_or_overlaps_another(kind, view, check_texts):
    check_texts(figure(RANKINGS[kind](), view=view))


@pytest.mark.parametrize(
    ("kind", "view", "width"),
    [
        ("8", None, 5),
        ("8", None, 9),
        ("against one", None, 5),
        *(("8", view, 3) for view in VIEWS),
        ("against one", "pairs", 3),
    ],
)
def test_another_width_cuts_nothing_off(kind, view, width, check_texts):
    check_texts(figure(RANKINGS[kind](), view=view, width=width))


@pytest.mark.parametrize("layout", [None, "constrained"])
def test_small_axes_side_by_side_do_not_overlap(layout, check_texts):
    drawn = Figure(figsize=(11, 2.8), layout=layout)
    for view, ax in zip(VIEWS, drawn.subplots(1, 4), strict=True):
        plot(make_ranking(5, 4), ax, view=view)
    check_texts(drawn)


@pytest.mark.parametrize(("n_tasks", "shown"), [(5, 5), (30, 6)])
def test_panels_on_axes_of_two_inches_do_not_overlap(n_tasks, shown, check_texts):
    drawn = Figure(figsize=(12, 7))
    for ax in drawn.subplots(3, 4).flat:
        plot(make_ranking(3, n_tasks), ax, view="tasks")
    check_texts(drawn)
    assert len(panels_of(ax)) == shown
    assert ("the first 6 of 30 tasks" in label_of(ax)) == (shown < n_tasks)


@pytest.mark.parametrize("kind", ["5", "8", "40", "tasks like these"])
def test_bars_join_exactly_who_is_not_told_apart(kind):
    ranking = RANKINGS[kind]()
    bars = list_bars(plot(ranking))
    rows = {name: row for row, name in enumerate(ranking.names)}
    alike = {tuple(sorted((rows[p.a], rows[p.b]))) for p in ranking.pairs if not p.winner}
    assert {pair for bar in bars for pair in combinations(bar, 2)} == alike
    for bar in bars:
        others = set(rows.values()) - set(bar)
        assert all({tuple(sorted((row, o))) for row in bar} - alike for o in others)


def test_a_bar_is_thin_past_those_that_it_does_not_join():
    names = ["a", "b", "c"]
    pairs = (make_pair("a", "b", 2), make_pair("b", "c", 2), make_pair("a", "c", 0.1))
    ax = plot(make_ranking(names=names, pairs=pairs))
    assert list_bars(ax) == [(0, 2)]
    (line,) = [
        line for line in ax.lines if line.get_ydata()[:].tolist() == [0, 2] and not line.get_gid()
    ]
    assert line.get_linestyle() == ":"
    assert line.get_linewidth() < 1
    whole = plot(make_ranking(names=names, pairs=(*pairs[:1], make_pair("b", "c", 0.1), pairs[2])))
    thick = [line for line in whole.lines if line.get_linewidth() > 2]
    assert [line.get_ydata().tolist() for line in thick] == [[1, 2]]


def test_bars_of_one_column_keep_a_row_apart():
    pairs = tuple(
        make_pair(a, b, 0.1 if {a, b} in ({"a", "b"}, {"c", "d"}) else 2)
        for a, b in combinations("abcd", 2)
    )
    ax = plot(make_ranking(names=list("abcd"), pairs=pairs))
    places = {line.get_xdata()[0] for line in ax.lines if str(line.get_gid()).startswith("bar-")}
    assert len(places) == 2


@pytest.mark.parametrize("share", [0.4, 0.8])
def test_bars_are_no_more_than_there_is_room_for_and_it_is_said(share):
    rng = np.random.default_rng(0)
    names = [f"m{place}" for place in range(40)]
    alike = rng.random(780) < share
    pairs = tuple(
        make_pair(a, b, 0.1 if same else 2)
        for (a, b), same in zip(combinations(names, 2), alike, strict=True)
    )
    ax = plot(make_ranking(names=names, pairs=pairs))
    bars = list_bars(ax)
    places = {line.get_xdata()[0] for line in ax.lines if str(line.get_gid()).startswith("bar-")}
    assert len(places) <= 12
    n_joined = len({pair for bar in bars for pair in combinations(bar, 2)})
    n_alike = sum(pair.winner is None for pair in pairs)
    assert n_joined < n_alike
    matrix = np.zeros((40, 40), dtype=bool)
    matrix[np.triu_indices(40, 1)] = alike
    n_cliques = sum(len(clique) > 1 for clique in find_cliques(matrix | matrix.T))
    assert (n_cliques > 500) == (share == 0.8)
    n_sets = "more than 500" if share == 0.8 else n_cliques
    assert f"{len(bars)} of {n_sets} sets, with {n_joined} of {n_alike} such" in label_of(ax)


def test_every_pair_told_apart_needs_no_bar():
    pairs = tuple(make_pair(a, b, 2) for a, b in combinations("abc", 2))
    ax = plot(make_ranking(names=list("abc"), pairs=pairs))
    assert list_bars(ax) == []
    assert label_of(ax).endswith("every pair is told apart")


def test_against_a_baseline_marks_say_who_is_better(find):
    ranking = make_ranking(8, 6, baseline="model-3")
    ax = plot(ranking)
    assert list_bars(ax) == []
    shapes = {"a": "^", "b": "v", None: "o"}
    for row, name in enumerate(ranking.names):
        dot = find(ax, f"mean-{row}")
        pair = ranking.find_pair(name, "model-3")
        assert dot.get_marker() == ("D" if name == "model-3" else shapes[pair.winner])
        assert dot.get_xdata() == [ranking.algorithms[row].mean_rank]
    assert "▲ better than ◆, ▼ worse, ○ not told apart" in label_of(ax)


def test_against_a_baseline_pairs_are_intervals(find):
    ranking = make_ranking(8, 6, baseline="model-3")
    ax = plot(ranking, view="pairs")
    assert [label.get_text() for label in ax.get_yticklabels()] == [p.a for p in ranking.pairs]
    for row, pair in enumerate(ranking.pairs):
        ends = [pair.adjusted_low, pair.adjusted_high]
        assert find(ax, f"interval-{row}").get_xdata().tolist() == ends


def test_ranks_have_their_confidence_sets(find):
    ranking = make_ranking(5, 4)
    ax = plot(ranking, view="ranks")
    for row, algorithm in enumerate(ranking.algorithms):
        ends = [algorithm.rank_low, algorithm.rank_high]
        assert find(ax, f"ranks-{row}").get_xdata().tolist() == ends
        assert find(ax, f"mean-{row}").get_xdata() == [algorithm.mean_rank]


def test_ranks_without_confidence_sets_are_dots_alone():
    algorithms = tuple(RankedAlgorithm(name, 1.5, None, None, 1) for name in "ab")
    ax = plot(make_ranking(names=["a", "b"], algorithms=algorithms), view="ranks")
    assert len(ax.lines) == 2
    assert label_of(ax) == "rank on these 4 tasks; dots: its mean"


def test_cells_hold_the_chance_of_the_row_and_its_mark(find):
    pairs = (make_pair("a", "b", 1.6), make_pair("a", "c", -3), make_pair("b", "c", 0.1))
    ax = plot(make_ranking(names=list("abc"), pairs=pairs), view="pairs")
    chances = find(ax, "chances").get_array().reshape(3, 3)
    assert chances[0, 1] == pytest.approx(1 / (1 + np.exp(-1.6)))
    assert chances[0, 1] + chances[1, 0] == pytest.approx(1)
    assert np.ma.getmaskarray(chances).diagonal().all()
    numbers = {text.get_text() for text in ax.texts}
    assert numbers == {".83", ".17", ".05", ".95", ".52", ".48", "1", "2", "3"}
    marks = {
        gid: np.floor(find(ax, gid).get_offsets() + 0.5).astype(int).tolist()
        for gid in ("up", "down", "hollow up", "hollow down")
    }
    # Column and row: c beats a; a beats b, but by too little.
    assert marks == {
        "up": [[0, 2]],
        "down": [[2, 0]],
        "hollow up": [[1, 0]],
        "hollow down": [[0, 1]],
    }
    assert "hollow: by too little to matter, γ = 0.75" in label_of(ax)


def test_many_algorithms_have_a_scale_in_place_of_numbers():
    few, many = (plot(make_ranking(k, 2), view="pairs") for k in (12, 13))
    assert len(few.texts) == 12 * 11 + 12  # and the numbers of rows
    assert not few.child_axes
    assert len(many.texts) == 13
    assert len(many.child_axes) == 1


def test_winners_are_darker_than_losers_in_grey(find):
    mesh = find(plot(make_ranking(3, 2), view="pairs"), "chances")
    greys = mesh.cmap(np.linspace(0, 1, 5))[:, :3] @ [0.299, 0.587, 0.114]
    assert greys[2] > 0.99
    assert greys[4] < greys[0] - 0.2
    assert greys[3] < greys[1]


def test_every_task_has_a_panel_with_who_may_be_the_best_filled(find):
    ranking = make_ranking(5, 4)
    ax = plot(ranking, view="tasks")
    panels = panels_of(ax)
    assert [panel.get_title() for panel in panels] == [task.name for task in ranking.tasks]
    for panel, task in zip(panels, ranking.tasks, strict=True):
        for row, name in enumerate(ranking.names):
            dot = find(panel, f"mean-{row}")
            assert dot.get_xdata() == [task.means[name]]
            assert (dot.get_markerfacecolor() != "white") == (name in task.maybe_best)
    assert label_of(ax).startswith("accuracy (higher is better); mean ± standard deviation")


def test_tasks_that_have_no_room_are_counted():
    ranking = make_ranking(40, 12)
    ax = plot(ranking, view="tasks")
    n = len(panels_of(ax))
    assert 0 < n < 12
    assert label_of(ax).endswith(f"the first {n} of 12 tasks")
    assert len(panels_of(plot(make_ranking(8, 12), view="tasks"))) == 12


def test_metrics_of_their_own_stand_above_each_panel():
    ax = plot(RANKINGS["metrics"](), view="tasks")
    titles = [panel.get_title() for panel in panels_of(ax)]
    assert titles[:2] == ["a\nloss … fold ↓", "b\naccuracy ↑"]
    assert label_of(ax).startswith("↑ higher is better, ↓ lower is better")


def test_missing_and_far_means_are_not_taken_for_near_ones(find):
    ax = plot(make_gappy(), view="tasks")
    gap, diverged, nobody = panels_of(ax)
    assert [text.get_text() for text in gap.texts] == ["no runs"]
    assert len(nobody.texts) == 4
    low, high = diverged.get_xlim()
    assert 0.8 < low < high < 1
    assert find(diverged, "far-0").get_marker() == "<"
    assert find(diverged, "far-1").get_marker() == ">"
    assert "arrows: means beyond the axis" in label_of(ax)


def test_very_many_algorithms_are_counted():
    ranking = make_ranking(100, 2)
    for view in ("critical difference", "pairs"):
        ax = plot(ranking, view=view)
        assert label_of(ax).endswith("60 of 100 algorithms are shown")
    ax = plot(make_ranking(100, 2, baseline="model-99"))
    assert ax.get_yticklabels()[-1].get_text() == "model-99"


def test_all_views_stand_on_a_page():
    shapes = (8, 6), (20, 8), (40, 12), (3, 1)
    few, more, many, one = (figure(make_ranking(*shape)) for shape in shapes)
    assert len(few.axes) == len(more.axes) == 3
    assert len(many.axes) == len(one.axes) == 2
    assert panels_of(one.axes[0])
    for made in (few, more, many, one):
        assert made.get_figwidth() == 7
        assert made.get_figheight() < 10


def test_names_that_differ_stay_different():
    rows = [label.get_text() for label in plot(make_ranking(names=HOSTILE)).get_yticklabels()]
    assert rows[:4] == ["…earning rate 0.1…", "…earning rate 0.3…", "\\$x_1^2\\$", "_private_"]
    middles = ("a" * 40, f"{'a' * 20}b{'a' * 19}", "b" * 40)
    names = [f"{'x' * 20}{middle}{'y' * 20}" for middle in middles]
    rows = [label.get_text() for label in plot(make_ranking(names=names)).get_yticklabels()]
    assert len(set(rows)) == 3


def test_title_is_the_sentence_with_names_that_fit():
    ranking = make_ranking(8, 6)
    assert figure(ranking).get_suptitle().replace("\n", " ") == str(ranking)
    long = figure(make_ranking(names=HOSTILE)).get_suptitle()
    assert max(map(len, long.split("\n"))) <= 110
    assert long.count("\n") <= 2


def test_an_unknown_view_is_answered_with_all_that_there_are():
    with pytest.raises(InvalidInput) as caught:
        figure(make_ranking(), view="nemenyi")
    assert str(caught.value) == (
        "view is 'nemenyi'. Choose one of 'critical difference', 'ranks', 'pairs', 'tasks', "
        "'profiles'."
    )


@pytest.mark.parametrize("view", [None, *VIEWS])
def test_vector_files_are_valid_and_the_same_each_time(view, tmp_path):
    paths = tmp_path / "1.svg", tmp_path / "2.svg"
    for path in paths:
        save_figure(make_ranking(names=HOSTILE), path, view=view)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert ElementTree.parse(paths[0]).getroot().tag.endswith("svg")


def test_a_ranking_leaves_matplotlib_alone_until_it_is_drawn():
    code = """
import sys, outperform.questions.rank.result
print('matplotlib' in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
