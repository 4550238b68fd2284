"""Tables for papers: Markdown, LaTeX and CSV that show every name as it is."""

import csv
import re
import shutil
import string
import subprocess
from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from outperform import compare
from outperform.errors import InvalidInput
from outperform.questions.result import PaperTable, Table
from outperform.render.paper import (
    escape_latex,
    render_csv,
    render_latex,
    render_markdown,
    render_paper,
)
from outperform.wording import STEERING, make_line

TABLE = PaperTable(
    ["", "digits ↑", "news & co ↓"],
    [["res_net", "0.912 ± 0.004", "−1.5 ± 0.2"], ["a|b <i>", "0.850 ± 0.010", "–"]],
    {(0, 1), (1, 1), (0, 2)},
    "Bold: 95% of *all*.",
    "all",
)
# What means something to LaTeX, Markdown, HTML or a spreadsheet, first in a name and within it.
SIGNS = string.punctuation
NASTY = [
    *(f"{sign}x{sign}{sign}y{sign}" for sign in SIGNS),
    *("\\input{x}", "%", "$x^2$", "[h]", "*", "{", "}", "\\", "?`!`", "--- ,, ''", "&lt;", "-- -"),
    *("=1+1", "+aug", "-1", "@home", "<script>", "| --- |", "1. x", "# x", "**x**", "x\\|y"),
    *("café", "Müller", "γ-net", "σ² ± ≤ × …"),
]


def test_markdown_by_hand():
    assert render_markdown(TABLE).split("\n") == [
        r"|                |          digits ↑ | news &amp; co ↓ |",
        r"| :------------- | ----------------: | --------------: |",
        r"| res\_net       | **0.912 ± 0.004** |  **−1.5 ± 0.2** |",
        r"| a\|b &lt;i&gt; | **0.850 ± 0.010** |               – |",
        "",
        r"Bold: 95% of \*all\*.",
    ]


def test_latex_by_hand():
    assert render_latex(TABLE).split("\n") == [
        r"% Needs \usepackage{booktabs}. Where text is in two columns, make it a table*.",
        r"\begin{table}",
        r"  \centering",
        r"  \small",
        r"  \setlength{\tabcolsep}{4pt}",
        r"  \caption{Bold: 95\% of {*}all{*}.}",
        r"  \label{tab:all}",
        r"  \par\medskip",
        r"  \begin{tabular}{lrr}",
        r"    \toprule",
        r"     & digits $\uparrow$ & news \& co $\downarrow$ \\",
        r"    \midrule",
        r"    res\_net & \textbf{0.912 $\pm$ 0.004} & \textbf{$-$1.5 $\pm$ 0.2} \\",
        r"    a\textbar{}b $<$i$>$ & \textbf{0.850 $\pm$ 0.010} & \textendash{} \\",
        r"    \bottomrule",
        r"  \end{tabular}",
        r"\end{table}",
    ]


def test_csv_by_hand():
    table = Table(["name", "mean"], [['a,"b"', "0.5"], ["=1+1", ""], ["x\ny\x1b", "-1.0"]])
    assert render_csv(table) == 'name,mean\n"a,""b""",0.5\n=1+1,\nx\\ny\\x1b,-1.0'


def make_table(names, n_columns=1):
    rows = [[name, *(["0.9022 ± 0.0089"] * n_columns)] for name in names]
    bold = {(0, j) for j in range(1, n_columns + 1)}
    return PaperTable(["", *(["task ↑"] * n_columns)], rows, bold, " ".join(names), "names")


def read_markdown(text):
    """First cells of the rows, and the caption, as a browser would show them."""
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    texts = ["".join(each.content for each in t.children) for t in tokens if t.type == "inline"]
    kinds = {each.type for token in tokens for each in token.children or ()}
    assert kinds <= {"text", "text_special", "strong_open", "strong_close"}
    assert {token.tag for token in tokens} <= {"table", "thead", "tbody", "tr", "th", "td", "p", ""}
    return texts[2:-1:2], texts[-1]


def read_latex(text):
    """What LaTeX prints of a text without Greek letters and accents."""
    signs = {r"\textbackslash{}": "\\", r"\textasciitilde{}": "~", r"\textasciicircum{}": "^"}
    signs |= {r"\textbar{}": "|", "{''}": '"', "$<$": "<", "$>$": ">", "{[}": "[", "{*}": "*"}
    signs |= {f"\\{sign}": sign for sign in "&%$#_{}"} | {"{}": ""}
    tokens = sorted(signs, key=len, reverse=True)
    plain = r"[^\\~^<>|\"\[*&%$#_{}]"
    found = re.findall(f"{'|'.join(map(re.escape, tokens))}|{plain}", text)
    assert "".join(found) == text  # nothing is left that LaTeX would obey
    assert not re.search("--|,,|''|[!?]`", text.replace("{''}", ""))
    return "".join(signs.get(token, token) for token in found)


words = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20).map(
    lambda text: " ".join(make_line(text).split())
)
names = st.lists(words.filter(bool), min_size=1, max_size=5)


@given(names)
def test_names_survive_markdown(chosen):
    assert read_markdown(render_markdown(make_table(chosen))) == (chosen, " ".join(chosen))


def test_nasty_names_survive_markdown():
    assert read_markdown(render_markdown(make_table(NASTY))) == (NASTY, " ".join(NASTY))


@pytest.mark.parametrize("caption", ["1. x", "2) x", "- x", "+ x", "# x", "> x", "* x", "==="])
def test_a_caption_is_no_list_or_title(caption):
    table = make_table(["vit"])._replace(caption=caption)
    assert read_markdown(render_markdown(table)) == (["vit"], caption)


@given(st.text(string.printable, max_size=20))
def test_ascii_survives_latex(text):
    assert read_latex(escape_latex(text)) == make_line(text)


@given(names)
def test_names_survive_csv(chosen):
    rows = [[name, "1"] for name in chosen]
    text = render_csv(Table(["algorithm", "mean"], rows))
    assert [*csv.reader(StringIO(text))] == [["algorithm", "mean"], *rows]
    assert not STEERING.search(text)


@pytest.mark.parametrize("render", [render_markdown, render_latex])
def test_names_steer_no_terminal_and_forge_no_line(render):
    text = render(make_table(["a\x1b[2J\u202eb\n| x |\n\\end{table}"]))
    assert not STEERING.search(text)
    assert text.count("\n") == render(make_table(["a"])).count("\n")


def has_latex():
    """Whether tables can be compiled here."""
    words = ["kpsewhich", "booktabs.sty"]
    return bool(shutil.which("pdflatex")) and subprocess.run(words).returncode == 0


def compile_latex(table, folder):
    """Compile a table, and give the log of the compiler."""
    page = "\\documentclass{article}\n\\usepackage{booktabs}\n\\begin{document}\n"
    path = folder / "page.tex"
    path.write_text(f"{page}{render_latex(table)}\n\\end{{document}}\n", encoding="utf-8")
    words = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape"]
    done = subprocess.run([*words, path.name], cwd=folder, capture_output=True)
    log = done.stdout.decode(errors="replace")
    assert done.returncode == 0, log
    return log


def test_nasty_names_compile(tmp_path):
    """Each is read back here, and compiled where pdflatex is installed with booktabs."""
    for name in NASTY:
        if name.isascii():
            assert read_latex(escape_latex(name)) == name
    if has_latex():
        compile_latex(make_table(NASTY[:30]), tmp_path)
        compile_latex(make_table(NASTY[30:]), tmp_path)


@pytest.mark.parametrize("n_columns", [1, 4, 7, 26])
def test_a_wide_table_is_folded_into_blocks_that_fit(n_columns, tmp_path):
    table = make_table(["resnet-50", "vit"], n_columns)
    text = render_latex(table)
    blocks = re.findall(r"\\begin\{tabular\}\{l(r+)\}", text)
    assert len("".join(blocks)) == n_columns
    assert len(blocks) == -(-n_columns // 3)  # three of 15 letters fit beside the names
    assert max(map(len, blocks)) - min(map(len, blocks)) <= 1
    assert text.count("    vit & 0.9022") == len(blocks)
    if has_latex():
        assert "Overfull" not in compile_latex(table, tmp_path)


def test_letters_that_pdflatex_lacks_are_named():
    second = render_latex(make_table(["残差", "é"])).split("\n")[1]
    assert (
        second == "% pdflatex may lack 差, 残: take xelatex or lualatex and a font that has them."
    )
    assert "lack" not in render_latex(make_table(["Müller γ σ²"]))


def test_a_result_without_such_a_table_is_refused():
    with pytest.raises(InvalidInput) as caught:
        render_paper(compare([3, 2, 4], [1, 1, 2]), "latex")
    assert str(caught.value) == (
        "there is no table for papers of a Comparison. Pass a Ranking, as rank_runs returns it."
    )
