"""What a run will cost, as people read it."""

from shlex import quote

from outperform.cli.options import print_json
from outperform.cli.progress import say_if_slow
from outperform.engines import Engine
from outperform.questions.result import Table
from outperform.render.terminal import print_table, say
from outperform.runner.cost import FitSeconds, RunCost, measure_seconds
from outperform.study.study import Study
from outperform.wording import count, format_duration


def time_one_fit_each(study: Study, engine: Engine, known: FitSeconds) -> FitSeconds:
    """Seconds of a fit as measured, where they are not known."""
    with say_if_slow("Timing a fit of every pipeline on every task ..."):
        seconds = measure_seconds(study, engine, known.by_pair)
    for failure in seconds.failures:
        say(f"Note: {failure}", fg="yellow", err=True)
    return seconds


def show_dry_run(cost: RunCost, address: str, *, may_end_early: bool, as_json: bool) -> None:
    """Print what a run into a store would do, and what to do next."""
    if as_json:
        print_json(cost.to_dict(), kind="RunCost")
        return
    show_ahead(cost)
    if not cost.n_left:
        say("", f"Next: nothing is left to do; outperform status {quote(address)}")
        return
    timed = all(each.seconds is not None for each in cost.designs if each.chosen)
    how = "pass --seconds-per-fit, or --measure to time a fit of each pipeline; then "
    most = "at most " if may_end_early else ""
    does = f"the same command without --dry-run does {most}{cost.n_left:,} fits."
    say("", f"Next: {'' if timed else how}{does}")


def show_ahead(cost: RunCost) -> None:
    """Print what a run will do before it starts, and what is left where that was counted."""
    counted = any(each.n_left is not None for each in cost.designs)
    rows = []
    for each in cost.designs:
        time = "?" if each.seconds is None else format_duration(each.seconds)
        left = "–" if each.n_left is None else f"{each.n_left:,}"
        row = [each.design, f"{each.n_fits:,}", *([left] if counted else []), time]
        rows.append([*row, "chosen" if each.chosen else ""])
    left_column = ["left"] if counted else []
    header = ["design", "fits", *left_column, f"time on {count(cost.n_workers, 'worker')}", ""]
    print_table(Table(header, rows))
