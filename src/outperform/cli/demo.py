"""The command `outperform demo`."""

import shlex
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from outperform.cli.init import TEMPLATES, make_folder, write_files
from outperform.cli.options import Output, debug_option
from outperform.cli.run import command as run_command
from outperform.errors import InvalidInput, TooFewRuns
from outperform.questions.compare.answer import compare_runs
from outperform.questions.compare.command import command as compare_command
from outperform.questions.decompose.answer import decompose_scores
from outperform.questions.decompose.redrawn_runs import load_variation
from outperform.questions.decompose.result import Decomposition, Decompositions
from outperform.questions.decompose.search_curves import SearchCurves, trace_searches
from outperform.render.html import write_report
from outperform.render.terminal import say
from outperform.store import Store, open_store
from outperform.store.stored_runs import load_runs
from outperform.study.sources import derive_seed
from outperform.study.study import Study
from outperform.study.study_file import read_study

_FILES = {"network.py": "network.py", "study.toml": "demo.toml"}  # and the templates of these


@click.command()
@click.argument("folder", default="outperform-demo", metavar="[FOLDER]")
@debug_option
@click.pass_context
def command(context: click.Context, folder: str) -> None:
    """Compare two real learners in about a minute.

    \b
        outperform demo

    Nearest neighbours and a small neural network, both tuned, learn to read handwritten digits,
    offline. Study, results, figures and a report go to FOLDER (outperform-demo if not given).
    Interrupt it and call it again: it resumes. If FOLDER has a study.toml, that is the study.
    """
    place = Path(folder)
    make_folder(place)
    file, store_file = place / "study.toml", place / "study.db"
    if not file.exists():
        templates = {name: TEMPLATES / template for name, template in _FILES.items()}
        write_files(place, {name: t.read_text(encoding="utf-8") for name, t in templates.items()})
    study = read_study(str(file))
    names = [pipeline.name for pipeline in study.pipelines]
    if len(names) < 2:
        raise InvalidInput(f"{file} has one pipeline only", "Add another to compare it with")
    a, b, *_ = names
    _show_command("run", file)
    context.invoke(run_command, study_file=str(file))
    _show_command("compare", store_file, a, b)
    context.invoke(compare_command, words=(str(store_file), a, b))
    say()
    with open_store(store_file) as store:
        results = _gather(store, study, a, b)
        n_fits = store.get_meta("study")["n_fits"]
    about = (
        f"{n_fits:,} fits; {study.tuner} search with {study.trials} trials; root "
        f"seed {study.seed}. Replicates of all pipelines share their splits and seeds, so that "
        "runs are paired."
    )
    title = f"{study.name}: {', '.join(names)} on {', '.join(task.name for task in study.tasks)}"
    _write(results, place, title=title, about=[about])


def _show_command(*words: object) -> None:
    say("", f"$ {shlex.join(['outperform', *map(str, words)])}", bold=True)


def _gather(store: Store, study: Study, a: str, b: str) -> list[Any]:
    """The comparison, then, if the study has them, sources of variation and searches."""
    results: list[Any] = [compare_runs(load_runs(store), a, b)]
    if any(design.kind == "variance" for design in study.designs):
        results += [
            decompose_scores(
                each.by_source,
                algorithm=each.algorithm,
                task=each.task,
                metric=each.metric,
                n_test=_count_test_examples(study, each.task),
            )
            for each in load_variation(store)[0]
            if each.by_source
        ]
    with suppress(TooFewRuns):
        results.append(trace_searches(study, store))
    return results


def _count_test_examples(study: Study, name: str) -> int | None:
    """Size of the first replicate's test set; the others are of about that size."""
    task = study.task(name)
    if task.data is None:
        return None
    data = task.data()
    seed = derive_seed(study.seed, "split", 0)
    split = task.splitter.split(len(data.labels), seed=seed, labels=data.labels, groups=data.groups)
    return len(split.test)


def _write(results: list[Any], place: Path, **words: Any) -> None:
    """Write figures and a report, which has words of its own."""
    decompositions = tuple(each for each in results if isinstance(each, Decomposition))
    figures = {
        "comparison": results[0],
        "sources": Decompositions(decompositions, ()) if decompositions else None,
        "searches": next((each for each in results if isinstance(each, SearchCurves)), None),
    }
    for name, result in figures.items():
        for kind in ("png", "svg") if result else ():
            Output().draw(result, str(place / f"{name}.{kind}"))
    report = place / "report.html"
    write_report(results, report, **words)
    say(f"Report written to {report}", err=True)
    say(f"Next: open {report}; change {place / 'study.toml'} and call this again.")
