"""The command `outperform report`."""

from typing import Any

import click

from outperform.cli.options import (
    debug_option,
    drop_option,
    reading_options,
    resplit_options,
)
from outperform.cli.progress import say_if_slow
from outperform.render.terminal import say


@click.command()
@click.argument("words", nargs=-1, required=True, metavar="RUNS [A B]")
@click.option(
    "-o",
    "--output",
    "path",
    metavar="FILE",
    default="report.html",
    show_default=True,
    help="Where the page is written.",
)
@click.option("--title", help="Its title.  [default: the name of RUNS]")
@resplit_options
@drop_option
@reading_options
@debug_option
def command(
    words: tuple[str, ...], path: str, title: str | None, reading: dict[str, Any], **options: Any
) -> None:
    """Answer every question that runs can answer, in one HTML file.

    \b
        outperform report runs.csv resnet vgg -o report.html
        outperform report study.db

    The page needs nothing else: to read, to send, to print. It compares A and B (all pairs of up to
    three algorithms if none are named), ranks three and more, says how far picked seeds could have
    moved the conclusion, what the best of five reaches where there are validation scores, what each
    design of a study is worth, and what makes scores vary where the runs tell it. A question that
    is refused is named, with the reason.
    """
    from outperform.questions.reporting import answer_all
    from outperform.render.html import check_page_path, write_report

    check_page_path(path)
    source, *names = words
    with say_if_slow("Answering every question; seed sets are drawn for each pair and task."):
        answers = answer_all(source, *names, **options, **reading)
        write_report(answers, path, title=title)
    for result in answers:
        say(str(result))
    for note in answers.notes:
        say(f"Note: {note}", fg="yellow", err=True)
    say(f"Report written to {path}", err=True)
    say("", f"Next: open {path}.")
