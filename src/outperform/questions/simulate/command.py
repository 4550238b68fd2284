"""The command `outperform simulate`."""

from typing import Any

import click
import numpy as np

from outperform.cli.options import (
    Output,
    only_option,
    output_options,
    paired_option,
    reading_options,
    resplit_options,
    seed_option,
)
from outperform.cli.progress import ProgressBar
from outperform.questions.simulate.answer import resample_error_rates, simulate_error_rates
from outperform.questions.simulate.result import ErrorRates, SeedsCurve
from outperform.questions.simulate.scenarios import (
    DESIGNS,
    IDEAL,
    Scenario,
    describe_variation,
    measure_variation,
    read_scenarios,
)
from outperform.questions.simulate.seeds import trace_run_seeds
from outperform.stats.decision_rules import PUBLISHED_IMPROVEMENT, RULES
from outperform.store.store import open_runs

_OF_STUDY = ("sigma", "bias_sd", "conditional_sd", "correlation")
_OF_SPLITS = ("train_size", "test_size")
_ABOUT_NORMAL = (*("store", "case_studies", "cases", "designs", *_OF_STUDY, "delta", *_OF_SPLITS),)
_ABOUT_RUNS = ("only", "paired", "drop_incomplete")


def _refuse_estimator(_context: click.Context, _option: click.Parameter, value: object) -> None:
    if value:
        raise click.UsageError("--estimator is called --design now, as in study files: write that.")


@click.command()
@click.argument("words", nargs=-1, metavar="[RUNS A [B]]")
@click.option(
    "--pairs",
    "n_pairs",
    type=int,
    multiple=True,
    help="Number of pairs; may be repeated, for a curve.  [default: 50]",
)
@click.option(
    "--gamma",
    "gammas",
    type=float,
    multiple=True,
    help="Smallest P(A>B) that matters; may be repeated, for a curve.  [default: 0.75]",
)
@click.option(
    "--alpha",
    "alphas",
    type=float,
    multiple=True,
    help="Level of the tests.  [default: 0.05; of seeds also 0.01 and 0.001]",
)
@click.option(
    "--rule",
    "rules",
    multiple=True,
    help=f"One of {', '.join(RULES)}; may be repeated.  [default: all]",
)
@click.option(
    "--case-studies", metavar="FILE", help="JSON with sigma and sigma_epsilon of each task."
)
@click.option(
    "--store",
    metavar="STORE",
    help="Store of your own study: sigma, bias and correlation are measured.",
)
@click.option(
    "--case", "cases", multiple=True, metavar="NAME", help="Case study, or pipeline of the study."
)
@click.option(
    "--design",
    "designs",
    multiple=True,
    help=f"What a run redraws: {', '.join(DESIGNS)}.  [default: ideal and all]",
)
@click.option(
    "--estimator", hidden=True, multiple=True, expose_value=False, callback=_refuse_estimator
)
@click.option("--sigma", type=float, help="Standard deviation of scores.  [default: 1]")
@click.option("--bias-sd", type=float, help="... of a design's mean over what it fixes.")
@click.option("--conditional-sd", type=float, help="... of scores with that fixed.  [sigma]")
@click.option("--correlation", type=float, help="... or their correlation with that fixed.")
@click.option(
    "--delta",
    type=float,
    help="Difference of averages that counts, in standard deviations.  "
    f"[default: {PUBLISHED_IMPROVEMENT}; of several gammas what each stands for]",
)
@resplit_options
@only_option
@paired_option
@click.option(
    "--drop-incomplete", is_flag=True, default=None, help="Leave out failed runs and missing pairs."
)
@click.option(
    "--draws",
    "n_draws",
    type=int,
    help="Simulated samples.  [default: 10,000; of seeds up to 100,000]",
)
@seed_option
@reading_options
@output_options
def command(words: tuple[str, ...], output: Output, seed: int, **options: Any) -> None:
    """Find out how often rules of comparison err.

    \b
        outperform simulate
        outperform simulate --rule verdict --rule welch-t --pairs 10 --pairs 30 --pairs 50
        outperform simulate --case-studies stats.json --plot rates.pdf
        outperform simulate --store study.db
        outperform simulate --sigma 0.02 --bias-sd 0.01
        outperform simulate --train-size 245 --test-size 55
        outperform simulate runs.csv resnet vgg --pairs 20
        outperform simulate runs.csv resnet

    Without RUNS, scores are normal: false positives between equals, false negatives at P(A>B) =
    gamma, and all rates in between. With --store, how they vary is measured: sigma from ideal
    runs, the bias from fix-hopt with repetitions. With the sizes of the sets that every run divides
    one dataset into, equals are compared on such runs too, by all rules and by Nadeau and Bengio's
    corrected test. With RUNS A B, runs are drawn from those at hand
    instead. With RUNS A, one algorithm is compared with itself: how many seeds are enough?
    """
    result: ErrorRates | SeedsCurve
    with ProgressBar("simulating") as report:
        drawing = {"rng": np.random.default_rng(seed), "report": report}
        if not words:
            result = _simulate(options, **drawing)
        elif len(words) == 3:
            result = _resample(words, options, **drawing)
        else:
            result = _trace_seeds(words, options, **drawing)
    output.show(result)


def _simulate(options: dict[str, Any], **more: Any) -> ErrorRates:
    _refuse(options, _ABOUT_RUNS[options["store"] is not None :], "needs runs: name RUNS A B")
    delta = options["delta"]
    if delta is None and len(options["gammas"]) <= 1:
        delta = PUBLISHED_IMPROVEMENT
    scenarios = _choose_scenarios(options, max(options["n_pairs"], default=50))
    alpha, names = _one(options, "alphas", 0.05), ("n_pairs", "gammas", "rules", "n_draws")
    chosen = _pick(options, *names, *_OF_SPLITS)
    return simulate_error_rates(scenarios, alpha=alpha, delta=delta, **chosen, **more)


def _choose_scenarios(options: dict[str, Any], n_runs: int) -> tuple[Scenario, ...]:
    if options["store"]:
        _refuse(options, ("case_studies", "designs", *_OF_STUDY), "is not for --store STORE")
        return measure_variation(options["store"], pipelines=options["cases"], task=options["only"])
    if options["case_studies"]:
        _refuse(options, _OF_STUDY, "is for your own study, not for --case-studies")
        designs = options["designs"] or ("ideal", "all")
        return read_scenarios(
            options["case_studies"], cases=options["cases"], designs=designs, n_runs=n_runs
        )
    _refuse(options, ("cases",), "needs --case-studies FILE or --store STORE")
    _refuse(options, ("designs",), "needs --case-studies FILE")
    measured = {name: options[name] for name in _OF_STUDY[1:]}
    if all(value is None for value in measured.values()):
        _refuse(options, ("sigma",), "matters only together with --bias-sd or --conditional-sd")
        return (IDEAL,)
    sigma = 1.0 if options["sigma"] is None else options["sigma"]
    return (IDEAL, describe_variation(sigma, **measured))


def _resample(words: tuple[str, ...], options: dict[str, Any], **more: Any) -> ErrorRates:
    _refuse(options, _ABOUT_NORMAL, "is for normal scores: leave out RUNS")
    path, a, b = words
    runs = open_runs(path, options["reading"], (a, b))
    gamma, alpha = _one(options, "gammas", 0.75), _one(options, "alphas", 0.05)
    names = ("paired", "drop_incomplete", "n_pairs", "rules", "n_draws")
    chosen = _pick(options, *names, task="only")
    return resample_error_rates(runs, a, b, gamma=gamma, alpha=alpha, **chosen, **more)


def _trace_seeds(words: tuple[str, ...], options: dict[str, Any], **more: Any) -> SeedsCurve:
    if len(words) > 3:
        raise click.UsageError(f"Name RUNS A B, not {len(words)} words: quote names with spaces.")
    why = "does not matter to one algorithm against itself"
    _refuse(options, (*_ABOUT_NORMAL, "gammas", "paired"), why)
    runs = open_runs(words[0], options["reading"])
    renamed = {"task": "only", "sizes": "n_pairs", "tests": "rules"}
    chosen = _pick(options, "drop_incomplete", "alphas", "n_draws", **renamed)
    return trace_run_seeds(runs, words[1] if len(words) > 1 else None, **chosen, **more)


def _pick(options: dict[str, Any], *names: str, **others: str) -> dict[str, Any]:
    """Options that were given, as the library calls them: by their own names, or by others."""
    wanted = {name: name for name in names} | others
    return {to: options[name] for to, name in wanted.items() if options[name] not in (None, ())}


def _refuse(options: dict[str, Any], names: tuple[str, ...], why: str) -> None:
    """Say that an option has no meaning here, instead of ignoring it."""
    flags = {p.name: p.opts[0] for p in click.get_current_context().command.params}
    idle = [flags[name] for name in names if options[name] is not None and options[name] != ()]
    if idle:
        raise click.UsageError(f"{', '.join(idle)} {why}.")


def _one(options: dict[str, Any], name: str, default: float) -> float:
    values = options[name] or (default,)
    if len(values) > 1:
        raise click.UsageError(f"Give --{name.rstrip('s')} once here, not {len(values)} times.")
    return float(values[0])
