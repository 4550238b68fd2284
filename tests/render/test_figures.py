import subprocess
import sys
import warnings
from io import BytesIO

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from outperform.errors import InvalidInput
from outperform.questions.audit.answer import audit
from outperform.questions.compare.answer import compare
from outperform.questions.compare.published import compare_published, compare_published_table
from outperform.questions.compare.sequential import compare_sequentially
from outperform.questions.decompose.answer import decompose_crossed
from outperform.questions.decompose.search_curves import Course, SearchCurve, SearchCurves
from outperform.questions.plan.answer import plan
from outperform.render.figures import figure, freeze_layout, plot, save_figure
from outperform.runs import read_runs
from outperform.stats import Summary

LONG = {
    "a": "gradient boosting with early stopping, learning rate 0.1, $depth$ 7",
    "b": "gradient boosting with early stopping, learning rate 0.3, $depth$ 7",
    "metric": "balanced accuracy over all classes and folds",
}
TITLES = {
    "paired": "svm outperforms forest: significant and meaningful",
    "unpaired": "svm outperforms forest: significant and meaningful",
    "published": "A outperforms B: significant and meaningful, if scores are normal",
    "re-splits": "svm outperforms forest on this sample of the data; for other data like it that "
    "is not shown (p = 0.051): significant and meaningful",
    "audit": "Undecided: svm has the better mean, but is not shown to beat forest more often; "
    "hiding 3 of 40 pairs would show that svm outperforms forest, 20 that forest outperforms svm.",
    "plan": "54 pairs show a P(A > B) of 0.75 with power 0.95",
}


def make_components(*shape, **names):
    table = np.random.default_rng(0).normal(0.9, 0.01, shape)
    sources = ["split", "init", "augmentation", "dropout"][: len(shape)]
    return decompose_crossed(table, sources, **{"algorithm": "svm", "task": "digits"} | names)


def make_curves(tasks, *, tested=True):
    scores = np.maximum.accumulate(np.random.default_rng(0).uniform(size=(20, 30)), axis=1)
    curves = tuple(
        SearchCurve(
            name,
            task,
            "all",
            Course(scores),
            Course(scores - 0.05) if tested else None,
            scores[:, -1],
        )
        for task in tasks
        for name in ("svm", "tree")
    )
    return SearchCurves("accuracy", "maximize", "random", curves)


def make_audit(*names, n=40, sd=0.01, **options):
    rng = np.random.default_rng(0)
    scores = {name: rng.normal(0.9 - 0.01 * i, sd, n).tolist() for i, name in enumerate(names)}
    return audit(read_runs(scores, accept="constant"), *names, n_resamples=50, **options)


def make_sequential(a="svm", b="forest", n=40, gaps=0):
    first, second = np.random.default_rng(0).normal(0.9, 0.01, (2, n))
    second[: 3 * gaps : 3] = np.nan
    runs = read_runs({a: (first + 0.01).tolist(), b: second.tolist()})
    return compare_sequentially(runs, a, b, drop_incomplete=True)


def make_published(a="svm", b="forest", **options):
    cells = {f"dataset {i}": [f"{90 + i} ± 1", f"{92 - i / 2} ± 1"] for i in range(7)}
    table = {"method": [a, b], **cells}
    return compare_published_table(table, a, b, metric="accuracy", **options)


def make_task_audit(n_tasks, *, names=("svm", "forest"), task="task", alone=False):
    rng = np.random.default_rng(0)
    rows = [
        {"algorithm": name, "task": f"{task} {i}", "seed": seed, "accuracy": score}
        for i in range(n_tasks)
        for name, mean in zip(names, (0.9 + 0.02 * (i / n_tasks - 0.4), 0.9), strict=True)
        for seed, score in enumerate(rng.normal(mean, 0.01, 12))
    ]
    return audit(rows, *names[: 1 if alone else 2], n_resamples=5)


RESULTS = {
    "paired": lambda compared, tasks: compared(),
    "unpaired": lambda compared, tasks: compared(paired=False),
    "minimize": lambda compared, tasks: compared(goal="minimize"),
    "b better": lambda compared, tasks: compared(shift=-0.01),
    "undecided": lambda compared, tasks: compared(shift=0),
    "with task": lambda compared, tasks: compared(names={"task": "digits"}),
    "re-splits": lambda compared, tasks: compared(train_size=800, test_size=200),
    "re-splits, long names": lambda compared, tasks: compared(
        shift=0.03, train_size=800, test_size=200, names=LONG | {"task": "a long name " * 5}
    ),
    "constant re-splits": lambda compared, tasks: compare(
        [0.9] * 10, [0.8] * 10, train_size=800, test_size=200
    ),
    "two runs": lambda compared, tasks: compared(n=2),
    "1000 runs": lambda compared, tasks: compared(n=1000, shift=0.002),
    "constant": lambda compared, tasks: compare([0.9] * 10, [0.8] * 10),
    "all tied": lambda compared, tasks: compare([0.9] * 10, [0.9] * 10),
    "coarse": lambda compared, tasks: compare(np.arange(40) % 5, np.arange(40) % 4),
    "long names": lambda compared, tasks: compared(
        names=LONG | {"task": "a long name " * 5}, shift=0
    ),
    "long names, many ties": lambda compared, tasks: compared(names=LONG, n=5000, decimals=2),
    "small gamma": lambda compared, tasks: compared(gamma=0.55),
    "large gamma": lambda compared, tasks: compared(gamma=0.95),
    "no gamma": lambda compared, tasks: compared(gamma=0.5),
    "1 task": lambda compared, tasks: tasks(1),
    "7 tasks": lambda compared, tasks: tasks(7),
    "40 tasks": lambda compared, tasks: tasks(40),
    "long tasks": lambda compared, tasks: tasks(3, LONG | {"task": "a long name " * 5}),
    "published": lambda compared, tasks: compare_published(
        Summary(76.3, 0.8, 10), Summary(75.1, 0.9, 10)
    ),
    "published table": lambda compared, tasks: make_published(n=5),
    "published table without n": lambda compared, tasks: make_published(),
    "published table, long names": lambda compared, tasks: make_published(LONG["a"], LONG["b"]),
    "sequential": lambda compared, tasks: make_sequential(),
    "sequential, undecided": lambda compared, tasks: make_sequential(n=5),
    "sequential, long names": lambda compared, tasks: make_sequential(LONG["a"], LONG["b"]),
    "sequential with gaps": lambda compared, tasks: make_sequential(gaps=2),
    "audit": lambda compared, tasks: make_audit("svm", "forest"),
    "audit of one": lambda compared, tasks: make_audit("svm"),
    "unpaired audit": lambda compared, tasks: make_audit("svm", "forest", paired=False),
    "audit of few": lambda compared, tasks: make_audit("svm", "forest", n=4),
    "audit of constants": lambda compared, tasks: make_audit("svm", "forest", sd=0),
    "audit of one constant": lambda compared, tasks: make_audit("svm", sd=0),
    "audit with long names": lambda compared, tasks: make_audit(LONG["a"], LONG["b"]),
    "audit of a long name": lambda compared, tasks: make_audit(LONG["a"]),
    "audit of 7 tasks": lambda compared, tasks: make_task_audit(7),
    "audit of 40 tasks": lambda compared, tasks: make_task_audit(40),
    "audit of tasks with long names": lambda compared, tasks: make_task_audit(
        3, names=(LONG["a"], LONG["b"]), task="a long name " * 5
    ),
    "audit of one on 3 tasks": lambda compared, tasks: make_task_audit(3, alone=True),
    "plan": lambda compared, tasks: plan(),
    "plan at 0.55": lambda compared, tasks: plan(gamma=0.55),
    "plan at 0.95": lambda compared, tasks: plan(gamma=0.95, n_pairs=1000),
    "components": lambda compared, tasks: make_components(4, 3),
    "components of many": lambda compared, tasks: make_components(3, 2, 2, 2),
    "components of two designs": lambda compared, tasks: (
        make_components(8, 8),
        make_components(2, 2, 2),
    ),
    "components, long names": lambda compared, tasks: make_components(
        3, 3, algorithm=LONG["a"], task="a long name " * 5, metric=LONG["metric"]
    ),
    "searches": lambda compared, tasks: make_curves(("digits",)),
    "searches without test": lambda compared, tasks: make_curves(("digits",), tested=False),
    "searches on tasks": lambda compared, tasks: make_curves(("digits", "a long name " * 5)),
}


class Results:
    """Results by name, made when asked for."""

    def __init__(self, make_comparison, make_tasks):
        self.makers = make_comparison, make_tasks

    def __getitem__(self, kind):
        return RESULTS[kind](*self.makers)


@pytest.fixture
def results(make_comparison, make_tasks):
    return Results(make_comparison, make_tasks)


@pytest.fixture(scope="module")
def figures():
    return {}


@pytest.fixture
def draw(results, figures):
    """Draw a result of a kind: once, for all tests that only look."""

    def draw_once(kind):
        if kind not in figures:
            figures[kind] = figure(results[kind])
        return figures[kind]

    return draw_once


@pytest.mark.parametrize("kind", ["paired", "7 tasks", "components of two designs", "re-splits"])
def test_what_it_is_about_stands_below(results, draw, find, kind):
    result = results[kind]
    first = result[0] if isinstance(result, tuple) else result
    about = find(draw(kind), "scope")
    varied = "Split, init and augmentation" if kind.startswith("comp") else str(first.scope)
    assert " ".join(about.get_text().split()).startswith(varied)
    assert about.get_fontsize() < 7


def test_what_is_known_of_data_like_these_is_drawn_wider(make_comparison, find):
    result = make_comparison(train_size=800, test_size=200)
    ax = plot(result, view="differences")
    here, beyond = (find(ax, f"{gid}-interval") for gid in ("difference", "population"))
    assert here.get_xdata().tolist() == [
        result.difference.interval.low,
        result.difference.interval.high,
    ]
    assert beyond.get_xdata().tolist() == [
        result.population.interval.low,
        result.population.interval.high,
    ]
    assert find(ax, "population").get_xdata()[0] == result.population.value
    assert ax.get_yticklabels()[-1].get_text() == "for data like\nthese, 99%"
    alone = plot(make_comparison(), view="differences")
    assert not alone.findobj(lambda artist: artist.get_gid() == "population")


def region_labels(drawn):
    children = [child for ax in drawn.axes for child in ax.child_axes]
    return {label for child in children for label in child.get_xticklabels()}


@pytest.mark.parametrize("kind", RESULTS)
def test_no_text_is_cut_off_or_overlaps_another(draw, check_texts, kind):
    drawn = draw(kind)
    # The empty lines that lift one name of a region above the others overlap these on purpose.
    check_texts(drawn, may_overlap=region_labels(drawn))


@pytest.mark.parametrize(
    ("kind", "width"), [("paired", 3.4), ("7 tasks", 7.0), ("plan", 3.4), ("audit", 7.0)]
)
def test_figures_are_as_wide_as_a_column_or_a_page(draw, kind, width):
    assert draw(kind).get_figwidth() == width


@pytest.mark.parametrize(("kind", "title"), TITLES.items())
def test_title_is_the_verdict(draw, kind, title):
    assert draw(kind).get_suptitle().replace("\n", " ") == title


def test_title_names_the_task(draw):
    title = draw("with task").get_suptitle().replace("\n", " ")
    assert title == "svm outperforms forest on digits: significant and meaningful"


def test_a_verdict_stands_on_one_line_of_the_title(draw):
    title = draw("undecided").get_suptitle()
    assert title == "No difference shown between svm and forest:\nnot significant"


def test_paired_runs_are_drawn_in_three_views(draw, find):
    densities, differences, probability = draw("paired").axes
    assert find(densities, "runs-a")
    assert find(differences, "difference")
    assert find(probability, "interval-0")


def test_unpaired_runs_are_drawn_without_differences(draw, find):
    densities, probability = draw("unpaired").axes
    assert find(densities, "runs-a")
    assert find(probability, "interval-0")


def test_numbers_of_every_task_stand_beside_it(make_tasks, drawn_texts):
    tasks = make_tasks(7)
    drawn = figure(tasks)
    texts = [text.get_text() for text in drawn_texts(drawn)]
    assert drawn.get_suptitle().replace("\n", " ") == str(tasks)
    average = tasks.average.interval
    assert f"{tasks.average.probability:.3f} [{average.low:.3f}, {average.high:.3f}]" in texts
    for comparison in tasks.comparisons:
        chance, difference = comparison.interval, comparison.difference
        assert f"{comparison.probability:.3f} [{chance.low:.3f}, {chance.high:.3f}]" in texts
        ends = f"[{difference.interval.low:+.3g}, {difference.interval.high:+.3g}]"
        assert f"{difference.value:+.3g} {ends}".replace("-", "−") in texts


def test_numbers_of_tasks_have_room_for_browsers_that_write_wider(make_tasks, drawn_texts):
    drawn = figure(make_tasks(3))
    numbers = max(drawn_texts(drawn), key=lambda text: text.get_window_extent().x1)
    assert numbers.get_window_extent().x1 <= 0.98 * drawn.bbox.x1


def test_forty_tasks_get_the_height_they_need(make_tasks):
    drawn = figure(make_tasks(40))
    tops = sorted(label.get_window_extent().y0 for label in drawn.axes[0].get_yticklabels())
    heights = [label.get_window_extent().height for label in drawn.axes[0].get_yticklabels()]
    assert np.diff(tops).min() > max(heights)


@pytest.mark.parametrize(
    ("view", "gid"),
    [
        (None, "interval-0"),
        ("probability", "interval-0"),
        ("densities", "runs-a"),
        ("differences", "difference"),
    ],
)
def test_plot_draws_the_view_asked_for(make_comparison, find, ax, view, gid):
    assert plot(make_comparison(), ax, view=view) is ax
    assert find(ax, gid)
    own = plot(make_comparison(), view=view)
    assert find(own, gid)
    assert own.get_figure().get_figwidth() == 3.4


@pytest.mark.parametrize("kind", ["7 tasks", "published", "plan"])
def test_plot_draws_any_result_on_one_axes(results, kind):
    ax = plot(results[kind])
    assert ax.figure.axes == [ax]
    assert ax.lines


def test_plot_grows_with_the_number_of_tasks(make_tasks):
    heights = [plot(make_tasks(n)).get_figure().get_figheight() for n in (1, 10, 40)]
    assert heights == sorted(set(heights))


@pytest.mark.parametrize(
    ("kind", "view", "choices"),
    [
        ("paired", "violin", "'probability', 'densities', 'differences'"),
        ("7 tasks", "densities", "'probability'"),
        ("plan", "probability", "'sample sizes'"),
    ],
)
def test_unknown_view_is_refused(results, kind, view, choices):
    with pytest.raises(InvalidInput) as caught:
        plot(results[kind], view=view)
    assert str(caught.value) == f"view is {view!r}. Choose one of {choices}."


@pytest.mark.parametrize("draw", [plot, figure, lambda result: save_figure(result, "x.svg")])
def test_unknown_result_is_refused(draw):
    with pytest.raises(InvalidInput) as caught:
        draw([0.9, 0.8])
    assert str(caught.value) == (
        "there is no figure of a list. "
        "Pass a result, such as what `compare`, `plan` or `decompose` returned."
    )


@pytest.mark.parametrize("ax", [3, "axes", Figure()])
def test_what_is_no_axes_is_refused(results, ax):
    with pytest.raises(InvalidInput) as caught:
        plot(results["paired"], ax=ax)
    assert str(caught.value) == (
        f"ax is of type {type(ax).__name__}, not matplotlib's axes. Pass one of the axes that "
        "plt.subplots returned, or leave it out."
    )


def test_what_is_no_path_is_refused(results):
    with pytest.raises(InvalidInput) as caught:
        save_figure(results["paired"], 3)
    assert str(caught.value) == "the path of a figure is 3. Pass a string or a Path."


STARTS = {"svg": b"<?xml", "pdf": b"%PDF", "PNG": b"\x89PNG"}


@pytest.mark.parametrize(
    ("kind", "suffix"),
    [
        *(("paired", suffix) for suffix in STARTS),
        *(("1000 runs", suffix) for suffix in STARTS),
        ("7 tasks", "svg"),
        ("plan", "svg"),
        ("audit", "svg"),
    ],
)
def test_saved_files_are_the_same_byte_for_byte(results, tmp_path, monkeypatch, kind, suffix):
    paths = [tmp_path / f"{name}.{suffix}" for name in ("first", "second")]
    save_figure(results[kind], paths[0])
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1000000000")  # had a date been written, it would show
    save_figure(results[kind], str(paths[1]))
    first, second = (path.read_bytes() for path in paths)
    assert len(first) > 5000
    assert first.startswith(STARTS[suffix])
    assert first == second


def test_last_digits_of_the_layout_do_not_reach_the_file(results):
    drawn = figure(results["paired"])
    freeze_layout(drawn)
    before = [ax.get_position().bounds for ax in drawn.axes]
    for ax in drawn.axes:
        ax.set_position([x + 1e-12 for x in ax.get_position().bounds])
    freeze_layout(drawn)
    assert [ax.get_position().bounds for ax in drawn.axes] == before


def test_saved_files_tell_different_results_apart(results, tmp_path):
    for kind in ("paired", "undecided"):
        save_figure(results[kind], tmp_path / f"{kind}.svg")
    assert (tmp_path / "paired.svg").read_bytes() != (tmp_path / "undecided.svg").read_bytes()


def test_vector_files_hold_text_as_text_and_few_dots_as_shapes(results, tmp_path):
    save_figure(results["paired"], tmp_path / "few.svg")
    save_figure(results["1000 runs"], tmp_path / "many.svg")
    few, many = ((tmp_path / f"{name}.svg").read_text() for name in ("few", "many"))
    assert ">accuracy (higher is better)</text>" in few
    assert "<image" not in few
    assert "<image" in many


def test_png_has_200_dots_per_inch(results, tmp_path):
    save_figure(results["paired"], tmp_path / "figure.png")
    header = (tmp_path / "figure.png").read_bytes()
    assert int.from_bytes(header[16:20], "big") == 680


@pytest.mark.parametrize("name", ["figure.jpg", "figure", "svg"])
def test_unknown_format_is_refused(results, tmp_path, name):
    with pytest.raises(InvalidInput) as caught:
        save_figure(results["paired"], tmp_path / name)
    path = str(tmp_path / name)
    assert str(caught.value) == (
        f"cannot save a figure as {path!r}. End the path in .pdf, .png, .svg."
    )


def test_missing_folder_is_refused(results, tmp_path):
    with pytest.raises(InvalidInput) as caught:
        save_figure(results["paired"], tmp_path / "missing" / "figure.svg")
    folder = str(tmp_path / "missing")
    assert str(caught.value) == (
        f"the folder {folder!r} does not exist. Create it, or save elsewhere."
    )


def test_unwritable_path_is_refused(results, tmp_path):
    path = tmp_path / "folder.svg"
    path.mkdir()
    with pytest.raises(InvalidInput) as caught:
        save_figure(results["paired"], path)
    assert str(caught.value) == (
        f"cannot write {str(path)!r}: Is a directory. Choose a path where files may be written."
    )


def test_the_users_settings_are_left_alone(results, tmp_path):
    before = dict(matplotlib.rcParams)
    plot(results["paired"])
    figure(results["paired"])
    save_figure(results["paired"], tmp_path / "figure.svg")
    assert dict(matplotlib.rcParams) == before


def test_the_users_settings_do_not_show(results, tmp_path):
    save_figure(results["paired"], tmp_path / "before.svg")
    with matplotlib.rc_context({"font.size": 20, "axes.facecolor": "black", "lines.linewidth": 9}):
        save_figure(results["paired"], tmp_path / "after.svg")
    assert (tmp_path / "before.svg").read_bytes() == (tmp_path / "after.svg").read_bytes()


def test_a_figure_keeps_its_style_when_saved_later(results):
    drawn = figure(results["paired"])
    pictures = []
    for settings in ({}, {"xtick.labelsize": 30, "ytick.labelsize": 30, "xtick.major.size": 20}):
        with matplotlib.rc_context(settings):
            drawn.savefig(buffer := BytesIO(), format="png")
        pictures.append(buffer.getvalue())
    assert pictures[0] == pictures[1]


def test_given_axes_keep_their_own_style(make_comparison):
    with matplotlib.rc_context({"font.size": 20, "axes.labelsize": "medium"}):
        ax = Figure().subplots()
        plot(make_comparison(), ax)
    assert ax.xaxis.label.get_fontsize() == 20


def test_names_in_any_script_are_drawn_without_warnings(make_comparison, tmp_path):
    path = tmp_path / "figure.png"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        save_figure(make_comparison(names={"a": "模型", "b": "ፊደል"}), path)
    assert [str(warning.message) for warning in caught] == []
    assert path.read_bytes().startswith(STARTS["PNG"])


def run_python(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)


def test_import_leaves_slow_packages_alone():
    code = """
import sys, outperform.render.figures
print({'matplotlib', 'scipy.stats'} & set(sys.modules))
"""
    assert run_python(code).stdout == "set()\n"


def test_saving_leaves_pyplot_alone(tmp_path):
    code = f"""
import sys
from outperform.questions.compare.answer import compare
from outperform.render.figures import figure, save_figure
comparison = compare([3, 4, 5], [1, 2, 6])
figure(comparison), save_figure(comparison, {str(tmp_path / "x.png")!r})
print("matplotlib.pyplot" in sys.modules)
"""
    assert run_python(code).stdout == "False\n"


def test_a_plot_is_known_to_pyplot_so_that_it_is_shown():
    code = """
from matplotlib import pyplot
from outperform import compare, plot
ax = plot(compare([3, 4, 5], [1, 2, 6]))
print(pyplot.get_fignums(), pyplot.gcf() is ax.figure)
"""
    assert run_python(code).stdout == "[1] True\n"


@pytest.mark.parametrize(
    ("kind", "width"),
    [
        *((kind, width) for kind in ("paired", "plan", "components") for width in (3.0, 5.0, 9.0)),
        ("7 tasks", 9.0),
        ("audit", 9.0),
    ],
)
def test_another_width_cuts_nothing_off(results, check_texts, kind, width):
    drawn = figure(results[kind], width=width)
    assert drawn.get_figwidth() == width
    check_texts(drawn, may_overlap=region_labels(drawn))


def test_a_title_may_be_left_to_the_caption(results, check_texts):
    with_title, without = (figure(results["paired"], title=each) for each in (True, False))
    assert without.get_suptitle() == ""
    assert without.get_figheight() < with_title.get_figheight()
    check_texts(without, may_overlap=region_labels(without))


def test_one_view_may_be_saved(results, tmp_path, find):
    drawn = figure(results["paired"], view="densities")
    assert len(drawn.axes) == 1
    assert find(drawn, "runs-a")
    save_figure(results["paired"], tmp_path / "x.svg", view="densities", width=5, title=False)
    assert (tmp_path / "x.svg").read_bytes().startswith(STARTS["svg"])


@pytest.mark.parametrize("width", [1, 50, float("nan")])
def test_a_width_that_serves_nobody_is_refused(results, width):
    with pytest.raises(InvalidInput) as caught:
        figure(results["paired"], width=width)
    assert str(caught.value) == f"the width is {width:g} inches. Choose one from 2.5 to 20."


@pytest.mark.parametrize(
    ("kind", "views"),
    [
        ("7 tasks", "probability"),
        (
            "audit",
            "random sets, between, same seeds, densities, few seeds, differences, effect sizes, "
            "within, gaps",
        ),
        # There is room for the axes, and none for the text below them.
        ("paired", "probability, densities, differences"),
    ],
)
def test_a_width_without_room_for_the_views_is_refused(results, kind, views):
    with pytest.raises(InvalidInput) as caught:
        figure(results[kind], width=2.5)
    assert str(caught.value) == (
        "2.5 inches have no room for all views of this result. "
        f"Choose a larger width, or draw one view only: {views}."
    )


def test_a_width_without_room_for_one_view_is_refused(make_comparison):
    with pytest.raises(InvalidInput) as caught:
        figure(make_comparison(names={"metric": "accuracy" * 9}), view="differences", width=2.5)
    assert str(caught.value) == (
        "2.5 inches have no room for differences of this result. Choose a larger width."
    )


@pytest.mark.parametrize("layout", [None, "constrained"])
def test_small_axes_side_by_side_do_not_overlap(make_comparison, check_texts, layout):
    drawn = Figure(figsize=(9, 2.6), layout=layout)
    views = ("probability", "densities", "differences")
    for view, ax in zip(views, drawn.subplots(1, 3), strict=True):
        plot(make_comparison(), ax, view=view)
    check_texts(drawn, may_overlap=region_labels(drawn))


@pytest.mark.parametrize("view", ["probability", "differences"])
def test_axes_of_two_inches_have_labels_that_fit(make_comparison, check_texts, view):
    drawn = Figure(figsize=(7, 2))
    for ax in drawn.subplots(1, 3):
        plot(make_comparison(), ax, view=view)
    check_texts(drawn)


@pytest.mark.parametrize("size", [(2, 2), (3, 2)])
@pytest.mark.parametrize("letters", [10, 12])
@pytest.mark.parametrize(
    ("kind", "view"),
    [
        ("paired", "probability"),
        ("paired", "densities"),
        ("paired", "differences"),
        ("7 tasks", "probability"),
    ],
)
def test_letters_too_large_for_small_axes_are_drawn_smaller(
    results, check_texts, kind, view, letters, size
):
    with matplotlib.rc_context({"font.size": letters}):
        drawn = Figure(figsize=size)
        ax = plot(results[kind], drawn.subplots(), view=view)
    check_texts(drawn, may_overlap=region_labels(drawn))
    assert 6 < ax.xaxis.label.get_fontsize() < letters


def test_titles_are_broken_where_axes_are_small(results):
    with matplotlib.rc_context({"font.size": 12}):
        drawn = Figure(figsize=(3, 2))
        ax = plot(results["audit"], drawn.subplots(), view="few seeds")
    drawn.draw_without_rendering()
    assert "\n" in ax.get_title(loc="left")
    (title,) = [text for text in ax.findobj(Text) if text.get_text() == ax.get_title(loc="left")]
    assert title.get_window_extent().x1 <= drawn.bbox.x1


def test_letters_that_fit_are_those_that_were_set(make_comparison):
    with matplotlib.rc_context({"font.size": 14}):
        ax = plot(make_comparison(), Figure(figsize=(5, 4)).subplots(), view="densities")
    assert ax.xaxis.label.get_fontsize() == 14


def test_who_laid_out_a_figure_keeps_the_layout(make_comparison):
    drawn = Figure(layout="tight")
    engine = drawn.get_layout_engine()
    plot(make_comparison(), drawn.subplots())
    assert drawn.get_layout_engine() is engine


def test_few_runs_have_dots_and_no_density(make_comparison, find):
    few, enough = (plot(make_comparison(n=n), view="densities") for n in (9, 10))
    assert find(few, "range-a").get_xdata()[0] == make_comparison(n=9).scores_a.min()
    assert not few.findobj(lambda artist: artist.get_gid() == "density-a")
    assert find(enough, "density-a")


def test_all_wins_have_the_width_that_is_known_of_them(make_comparison, find):
    result = make_comparison(shift=0.5, interval="percentile")
    assert result.interval.low == result.interval.high == 1
    line = find(plot(result), "interval-0")
    # 29 of 29: Clopper and Pearson's lower end is 0.025**(1/29).
    assert line.get_xdata() == pytest.approx([0.025 ** (1 / 29), 1])
    assert line.get_linestyle() == ":"
