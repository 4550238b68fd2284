"""The command `outperform copy`."""

import click

from outperform.cli.options import debug_option
from outperform.cli.output import print_json
from outperform.cli.progress import ProgressBar
from outperform.render.terminal import say


@click.command()
@click.argument("source", metavar="STORE")
@click.argument("target", metavar="STORE")
@click.option("--json", "as_json", is_flag=True, help="Print what the copy holds as JSON.")
@debug_option
def command(source: str, target: str, as_json: bool) -> None:
    """Copy a study from one store into another, of whatever kind.

    \b
        outperform copy study.db 'postgresql://lab/benchmarks?schema=digits'
        outperform copy 'postgresql://lab/benchmarks?schema=digits' study.db

    The first is copied as it is at one moment, also while a run goes on; the second must not hold a
    study yet. At the end every row of both is compared. A copy that was interrupted is gone on
    with by the same command.
    """
    from outperform.store.copying import copy_store

    with ProgressBar("copying") as bar:
        copy = copy_store(source, target, report=bar)
    if as_json:
        print_json(copy.to_dict(), kind="Verification")
    else:
        say(str(copy))
