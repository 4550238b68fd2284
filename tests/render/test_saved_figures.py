"""Figures in files, settings that they leave alone, and what importing them costs."""

import subprocess
import sys
import warnings
from io import BytesIO

import matplotlib
import pytest
from matplotlib.figure import Figure

from outperform.errors import InvalidInput
from outperform.render.figures import figure, freeze_layout, plot, save_figure


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


def test_a_file_is_drawn_once(results, tmp_path, monkeypatch):
    drawn, draw = [], Figure.draw
    monkeypatch.setattr(Figure, "draw", lambda *all_: drawn.append(all_) or draw(*all_))
    save_figure(results["paired"], tmp_path / "figure.svg")
    assert len(drawn) == 1  # neither to lay it out, nor to prepare the file


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


def test_one_view_may_be_saved(results, tmp_path, find):
    drawn = figure(results["paired"], view="densities")
    assert len(drawn.axes) == 1
    assert find(drawn, "runs-a")
    save_figure(results["paired"], tmp_path / "x.svg", view="densities", width=5, title=False)
    assert (tmp_path / "x.svg").read_bytes().startswith(STARTS["svg"])
