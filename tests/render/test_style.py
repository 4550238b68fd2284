import pytest

from outperform.render.style import (
    join_phrases,
    short_names,
    wrap_evenly,
    wrap_name,
    wrap_title,
)
from outperform.wording import shorten, shorten_apart, wrap_lines


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("svm", "svm"),
        ("exactly-10", "exactly-10"),
        ("resnet50-augmented-v2", "resne…d-v2"),
        ("two\n words", "two words"),
        ("", ""),
    ],
)
def test_long_names_keep_both_ends(name, short):
    assert shorten(name, 10) == short


def test_names_that_differ_in_the_middle_are_told_apart(make_comparison):
    names = {"a": "resnet-with-dropout-0.1-seed-7", "b": "resnet-with-dropout-0.2-seed-7"}
    comparison = make_comparison(names=names)
    assert short_names(comparison, 12) == ("A: res…eed-7", "B: res…eed-7")
    assert short_names(comparison, 40) == (names["a"], names["b"])
    first, second = short_names(comparison, 12, n_lines=2)
    assert first != second


def test_equal_names_stay_equal(make_comparison):
    names = {"a": "one and the same", "b": "one and the same"}
    assert short_names(make_comparison(names=names), 10) == ("one a…same", "one a…same")


def test_dollar_signs_are_not_mathematics(make_comparison, ax):
    names = {"a": "$x$", "b": "b"}
    label = short_names(make_comparison(names=names), 10)[0]
    assert label == r"\$x\$"
    text = ax.text(0, 0, label)
    width = text.get_window_extent().width
    text.set_text("x")
    assert width > 2 * text.get_window_extent().width


@pytest.mark.parametrize(
    ("name", "wrapped"),
    [
        ("svm", "svm"),
        ("gradient boosting", "gradient\nboosting"),
        ("resnet50augmented", "resnet50augm\nented"),
        ("a bb ccc dddd eeeee ffffff ggggggg", "a bb ccc ddd\n…fff ggggggg"),
    ],
)
def test_names_take_two_lines_at_most(name, wrapped):
    assert wrap_name(name, 12) == wrapped


def test_phrases_share_a_line_while_they_fit():
    assert join_phrases("a", "b") == "a, b"
    assert join_phrases("a" * 20, "b" * 20, "c") == f"{'a' * 20}, {'b' * 20}\nc"
    assert join_phrases("a" * 21, "b" * 20) == f"{'a' * 21}\n{'b' * 20}"


def test_names_that_differ_in_the_middle_stay_apart():
    names = [f"benchmark task number {i:02d} with a long name" for i in range(40)]
    short = shorten_apart(names, 18)
    assert len(set(short)) == 40
    assert max(map(len, short)) <= 18
    assert shorten_apart(["cifar10", "cifar100"], 18) == ["cifar10", "cifar100"]


def test_wide_letters_take_twice_the_space():
    name = "残差网络与数据增强"
    assert shorten(name, 18) == name
    assert shorten(name, 11) == "残差…增强"
    assert wrap_lines("残差网络 on mnist", 12) == ["残差网络 on", "mnist"]
    assert wrap_name(name, 8) == "残差网络\n…据增强"
    assert join_phrases(name, name, "xyz") == f"{name}, {name}\nxyz"


def test_no_line_of_a_title_ends_within_a_number():
    sentence = "for data like it that is not shown (p = 0.022, where p < 0.01 is asked): [-0.1, 9]"
    for width in range(12, 40):
        lines = wrap_title(sentence, width / 12).split("\n")
        assert " ".join(lines) == sentence
        assert not any(line.endswith(("p", "=", "<", "[-0.1,")) for line in lines)


def test_no_line_of_a_title_ends_within_what_belongs_together():
    sentence = "svm is better: P(svm > knn) = 0.85 [0.653, 0.966] on digits"
    for width in range(35, 60):
        lines = wrap_title(sentence, width / 15).split("\n")
        assert any("P(svm > knn) = 0.85 [0.653, 0.966]" in line for line in lines), lines


def test_long_names_of_a_title_are_broken_at_their_comparison_rather_than_within():
    a, b = "gradient_bo…0.1_depth7", "gradient_bo…0.3_depth7"
    lines = wrap_title(f"Undecided: P({a} > {b}) = 0.7 [0.361, 0.93]", 3.4).split("\n")
    assert lines == [f"Undecided: P({a} >", f"{b}) = 0.7 [0.361, 0.93]"]


def test_lines_are_as_few_and_as_even_as_can_be():
    text = "54 pairs show a P(A > B) of 0.75 with power 0.95"
    assert len(wrap_lines(text, 45)) == 2
    assert wrap_evenly(text, 45) == ["54 pairs show a P(A > B)", "of 0.75 with power 0.95"]
    assert wrap_evenly(text, 48) == [text]
    assert wrap_evenly("anticonstitutionnellement so", 26) == ["anticonstitutionnellement", "so"]
    assert wrap_evenly("", 9) == []
