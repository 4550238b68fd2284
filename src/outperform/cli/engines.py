"""Where the fits of a study file run: where a command is told to, else where the file says."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from outperform.engines import Engine, open_engine
from outperform.engines.engine import hide_options
from outperform.render.terminal import say


class Place(NamedTuple):
    """An engine that is not open yet, and the folder that its workers share with us."""

    address: str
    options: Mapping[str, Any]
    spool: Path | None
    patience: float | None

    @contextmanager
    def open(self) -> Iterator[Engine]:
        """Open the engine until the block ends, whose errors do not show its options."""
        from outperform.runner.spool import LEAST_PATIENCE, PATIENCE, find_heartbeat

        patience = PATIENCE if self.patience is None else max(self.patience, LEAST_PATIENCE)
        heartbeat = find_heartbeat(self.spool)
        settings: dict[str, Any] = {"heartbeat": heartbeat, "patience": patience}
        with (
            hide_options(self.options),
            open_engine(self.address, self.options, **settings) as engine,
        ):
            yield engine


def choose_place(
    study_file: str, address: str | None, workers: int | None, spool: str | None = None
) -> Place:
    """Engine of an address or of so many local workers; of the table [engine] if neither is given.

    Options in that table are for the kind of engine that it names.
    """
    from outperform.study.study_file import read_engine_table  # `--help` is quick without

    table = read_engine_table(study_file)
    own = table.address or "local"
    where = address or (f"local:{workers}" if workers else own)
    kind, own_kind = where.partition(":")[0], own.partition(":")[0]
    options = table.options
    if options and kind != own_kind:
        say(
            f"Note: the study file's [engine.options] are for {own_kind}, and left out on {kind}.",
            fg="yellow",
            err=True,
        )
        options = {}
    return Place(where, options, Path(spool) if spool else table.spool, table.patience)
