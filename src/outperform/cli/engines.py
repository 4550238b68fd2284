"""Where the fits of a study file run: where a command is told to, else where the file says."""

from outperform.engines import Engine, open_engine
from outperform.render.terminal import say


def open_study_engine(study_file: str, address: str | None, workers: int | None) -> Engine:
    """Engine of an address or of so many local workers; of the table [engine] if neither is given.

    Options in that table are for the kind of engine that it names.
    """
    from outperform.study.study_file import read_engine_table  # `--help` is quick without

    table = read_engine_table(study_file)
    own = table.address or "local"
    where = address or (f"local:{workers}" if workers else own)
    kind, own_kind = where.partition(":")[0], own.partition(":")[0]
    if table.options and kind != own_kind:
        say(
            f"Note: the study file's [engine.options] are for {own_kind}, and left out on {kind}.",
            fg="yellow",
            err=True,
        )
        return open_engine(where)
    return open_engine(where, table.options)
