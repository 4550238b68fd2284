"""Write the pages that come from the code, or with --check say whether they are up to date."""

import sys
from pathlib import Path

import click

from outperform.cli import main

PAGE = Path(__file__).parent / "cli.md"
INTRODUCTION = """# Command line

Made from `--help` by `make docs`; do not edit.
"""


def render() -> str:
    """Help of every command, as Markdown."""
    context = main.make_context("outperform", [], resilient_parsing=True, terminal_width=78)
    sections = [INTRODUCTION, _section("outperform", main.get_help(context))]
    for name in main.list_commands(context):
        command = main.get_command(context, name)
        assert command is not None
        inner = click.Context(command, info_name=name, parent=context, terminal_width=78)
        sections.append(_section(f"outperform {name}", command.get_help(inner)))
    return "\n".join(sections)


def _section(title: str, text: str) -> str:
    return f"## {title}\n\n```text\n{text}\n```\n"


if __name__ == "__main__":
    if "--check" not in sys.argv:
        PAGE.write_text(render(), encoding="utf-8")
    elif not PAGE.exists() or PAGE.read_text(encoding="utf-8") != render():
        sys.exit(f"{PAGE.name} is not what --help says. Run `make docs`.")
