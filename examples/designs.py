"""What every cheap design of a study is worth against the ideal one, on real fits.

Three learners on three tasks, each by 100 replicates of the ideal design and 20 times by every
design that searches once; then with searches of 10 and of 5 trials instead of 50. About 200,000
fits: some 15 to 40 minutes on two cores. The same command goes on where it was stopped, and
afterwards prints everything again.

    python examples/designs.py --store designs

`docs/designs.md` tells what came out.
"""

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import outperform as op
from design_verdicts import (
    Verdicts,
    draw_false_positives,
    judge,
    tabulate_learners,
    tabulate_verdicts,
)
from outperform.render.figures import render_picture
from outperform.render.style import PAGE_WIDTH, house_style, make_figure
from outperform.render.terminal import print_result, print_table
from outperform.runner.exchange import Progress
from outperform.store.repeated_runs import RepeatedRuns
from outperform.store.store import use_store
from outperform.store.stored_doubts import SURROGATES
from short_searches import draw_plans, tabulate_plans
from small_learners import LEARNERS, TASKS, make_pipelines, make_tasks

SHORT = (10, 5)  # trials of short searches


def read_arguments(words: Sequence[str] | None) -> argparse.Namespace:
    """Where to keep the runs, and which there are to be."""
    parser = argparse.ArgumentParser(description="Measure what designs of studies are worth.")
    parser.add_argument("--store", type=Path, default=Path("designs"), help="folder for the runs")
    parser.add_argument("--engine", default="local:2", help="where fits run")
    fewer = parser.add_argument_group("to try it out with fewer fits")
    fewer.add_argument("--tasks", nargs="+", default=TASKS, choices=TASKS)
    fewer.add_argument("--learners", nargs="+", default=LEARNERS, choices=LEARNERS)
    fewer.add_argument("--trials", type=int, default=50, help="of a long search")
    fewer.add_argument("--ideal", type=int, default=100, help="replicates of the ideal design")
    fewer.add_argument("--replicates", type=int, default=50, help="of a repetition of the others")
    fewer.add_argument("--repetitions", type=int, default=20, help="of the others")
    chosen = parser.parse_args(words)
    if chosen.trials <= max(SHORT):
        parser.error(f"--trials is {chosen.trials}. A long search has more than {max(SHORT)}.")
    return chosen


def make_long_study(chosen: argparse.Namespace) -> op.Study:
    """Learners and their twins by every design, with long searches."""
    k, times = chosen.replicates, chosen.repetitions
    return op.Study(
        name="designs",
        tasks=make_tasks(chosen.tasks),
        pipelines=make_pipelines(chosen.learners),
        designs=[
            op.Ideal(chosen.ideal),
            op.FixHopt(k, vary=("init",), n_repetitions=times),
            op.FixHopt(k, n_repetitions=times),
            op.SimulatedHopt(k, times),
            op.ResampledHopt(k, times),
        ],
        trials=chosen.trials,
    )


def make_short_study(chosen: argparse.Namespace, trials: int) -> op.Study:
    """Learners and their twins by a short search per fit, and by one for several fits."""
    k = min(20, chosen.replicates)
    return op.Study(
        name=f"designs, {trials} trials",
        tasks=make_tasks(chosen.tasks),
        pipelines=make_pipelines(chosen.learners),
        designs=[op.Ideal(chosen.ideal), op.FixHopt(k, n_repetitions=chosen.repetitions)],
        trials=trials,
    )


def run(study: op.Study, path: Path, engine: str) -> RepeatedRuns:
    """Do the fits that the store does not have yet, and read them all."""
    began = said = time.monotonic()

    def report(progress: Progress) -> None:
        nonlocal said
        if time.monotonic() - said > 30:
            said = time.monotonic()
            done = progress.n_known + progress.n_done
            print(f"{study.name}: {done:,} of {progress.n_fits:,} fits", file=sys.stderr)

    op.run(study, path, engine=engine, report=report)
    with use_store(path) as store:
        runs = RepeatedRuns.of(store)
        n_fits, seconds = sum(store.counts().values()), time.monotonic() - began
        print(f"{study.name}: {n_fits:,} fits, this time {seconds:,.0f} s.")
        models = [*(store.get_meta(SURROGATES) or {}).values()]
    for learner in (pipeline.name for pipeline in study.pipelines if models):
        own = [model for model in models if model["pipeline"] == learner]
        refused, doubted = (sum(bool(m.get(key)) for m in own) for key in ("refused", "doubts"))
        print(f"  models of {learner}: {len(own)}, of these refused {refused}, doubted {doubted}")
    return runs


def main(words: Sequence[str] | None = None) -> None:
    """Run, and print what came out."""
    chosen = read_arguments(words)
    folder: Path = chosen.store
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{chosen.trials}-trials.db"
    long = run(make_long_study(chosen), path, chosen.engine)
    short = {
        n: run(make_short_study(chosen, n), folder / f"{n}-trials.db", chosen.engine) for n in SHORT
    }
    quality = op.measure_quality(path)
    verdicts = [*judge(long, short, chosen.replicates)]
    print()
    print_result(quality)
    for table in (
        tabulate_plans(quality, short, chosen.trials + chosen.replicates),
        tabulate_verdicts(verdicts),
        tabulate_learners({chosen.trials: long} | short),
    ):
        print()
        print_table(table)
    draw(quality, short, verdicts, folder)


def draw(
    quality: op.Quality,
    short: Mapping[int, RepeatedRuns],
    verdicts: Sequence[Verdicts],
    folder: Path,
) -> None:
    """Save the figures of the page."""
    op.save_figure(quality, folder / "designs.png")
    first = quality.pairs[0].pipeline
    of_first = tuple(pair for pair in quality.pairs if pair.pipeline == first)
    op.save_figure(replace(quality, pairs=of_first), folder / f"designs-{first}.png")
    with house_style():
        figure = make_figure(PAGE_WIDTH, 4.2)
        left, right = figure.subplots(1, 2)
        draw_plans(quality, short, left)
        draw_false_positives(verdicts, right)
        figure.draw_without_rendering()
    (folder / "designs-budget.png").write_bytes(render_picture(figure, ".png"))


if __name__ == "__main__":
    main()
