"""How often methods err about *data like these* when replicates re-split one dataset.

    python -m calibration.resplits

prints the tables of docs/scope.md. Cells that are done are kept, so that it may be interrupted.
"""

import argparse
import json
import math
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from scipy.special import bdtr, ndtri, stdtr

from calibration.resplit_studies import (
    DESIGNS,
    MAIN,
    SETTINGS,
    Design,
    Differences,
    Floats,
    Setting,
    draw_differences,
)
from outperform.stats.dependent_replicates import cautious_alpha

SEED, N_STUDIES = 10, 1500
STORE = Path(__file__).parent / "cache" / "resplits.jsonl"


@dataclass(frozen=True, slots=True)
class Method:
    """A way to decide; the variance of the mean is (1/k + correction)·s²."""

    name: str
    correction: str | None  # a key of `corrections`; None: the sign test
    alpha: float = 0.05


METHODS = (
    Method("sign test", None),
    Method("paired t", "none"),
    Method("corrected, draws counted", "drawn"),
    Method("corrected", "distinct"),
    Method("corrected, α = 0.01", "distinct", 0.01),
    # The posterior of the correlated t-test is the t distribution of the corrected one: 95% sure
    # of either sign is p < 0.1 two-sided.
    Method("Bayesian, 95% sure", "distinct", 0.1),
    Method("spread as error", "spread"),
)
LEVELS = (0.01, 0.05, 0.1, 0.2)  # α that somebody asks `compare` for
# What `compare` holds the correction to then, and a fifth of it, which is not enough below 0.05.
ASKED = {
    alpha: (
        Method(f"as `compare` asks, α = {alpha:g}", "distinct", cautious_alpha(alpha)),
        Method(f"a fifth, α = {alpha:g}", "distinct", alpha / 5),
    )
    for alpha in LEVELS
}
ALL_METHODS = (*METHODS, *(method for both in ASKED.values() for method in both))


@dataclass(frozen=True, slots=True)
class Row:
    """How one method fares in one design and setting, in shares of the studies."""

    seed: int
    n_studies: int
    design: str
    n_examples: int
    setting: str
    n_splits: int
    method: str
    size: float  # finds equals different
    power: float  # finds the better one better
    coverage: float  # interval holds the population's difference, where one is better
    correction: float  # of the variance; 0 for the sign test
    needed: float  # what it would have to be
    deviation: float  # of the differences of a study


def simulate(
    seed: int = SEED,
    *,
    n_studies: int = N_STUDIES,
    designs: Sequence[Design] = DESIGNS,
    done: Iterable[Row] = (),
) -> Iterator[list[Row]]:
    """Yield the rows of each design and setting, but for those that are done.

    The same seed gives the same rows, whatever else is simulated.
    """
    cells = {(r.seed, r.n_studies, r.design, r.n_examples, r.setting) for r in done}
    for design in designs:
        for name in design.settings:
            cell = (seed, n_studies, design.name, design.n_examples, name)
            if cell not in cells:
                rng = np.random.default_rng([seed, zlib.crc32(repr(cell[2:]).encode())])
                drawn = draw_differences(design, SETTINGS[name], n_studies, rng)
                yield list(_rate(design, SETTINGS[name], drawn, seed))


def _rate(design: Design, setting: Setting, drawn: Differences, seed: int) -> Iterator[Row]:
    # Splits do not test what they train on, so that the mean over datasets is without bias.
    alike = setting.score_a is setting.score_b
    equal = drawn.equal - (0.0 if alike else drawn.equal.mean())
    for k in design.n_splits:
        variance = equal[:, :k].var(axis=1, ddof=1).mean()
        factors = corrections(drawn, k)
        for method in ALL_METHODS:
            size, power, coverage = _rates(equal[:, :k], drawn.better[:, :k], method, factors)
            yield Row(
                seed=seed,
                n_studies=len(equal),
                design=design.name,
                n_examples=design.n_examples,
                setting=setting.name,
                n_splits=k,
                method=method.name,
                size=size,
                power=power,
                coverage=coverage,
                correction=factors.get(str(method.correction), 0.0),
                needed=float((equal[:, :k].mean(axis=1) ** 2).mean() / variance - 1 / k),
                deviation=float(variance**0.5),
            )


def _rates(
    equal: Floats, better: Floats, method: Method, factors: dict[str, float]
) -> tuple[float, float, float]:
    """Shares of studies: false alarms, differences shown, truths held."""
    false_alarm = pvalues(equal, method, factors) < method.alpha
    shown = (pvalues(better, method, factors) < method.alpha) & (better.mean(axis=1) > 0)
    missed = pvalues(better - better.mean(), method, factors) < method.alpha
    return float(false_alarm.mean()), float(shown.mean()), float((~missed).mean())


def corrections(drawn: Differences, k: int) -> dict[str, float]:
    """What is added to 1/k in the variance of the mean."""
    return {
        "none": 0.0,
        "drawn": drawn.n_test / drawn.n_drawn,
        "distinct": drawn.n_test / drawn.n_distinct,
        "spread": 1 - 1 / k,  # the standard error is s itself
    }


def pvalues(differences: Floats, method: Method, factors: dict[str, float]) -> Floats:
    """Two-sided p-values of many studies, a row each."""
    k = differences.shape[1]
    if method.correction is None:
        wins, losses = (differences > 1e-12).sum(1), (differences < -1e-12).sum(1)
        return np.asarray(np.minimum(1, 2 * bdtr(np.minimum(wins, losses), wins + losses, 0.5)))
    error = differences.std(axis=1, ddof=1) * math.sqrt(1 / k + factors[method.correction])
    vary = error > 1e-12  # differences that do not vary show nothing
    statistic = np.where(vary, differences.mean(1), 0) / np.where(vary, error, 1)
    return np.asarray(2 * stdtr(k - 1, -np.abs(statistic)))


# Tables


def write_tables(rows: Sequence[Row]) -> str:
    """Markdown tables of docs/scope.md."""
    first = rows[0]
    error = [100 * math.sqrt(p * (1 - p) / first.n_studies) for p in (0.05, 0.5)]
    note = (
        f"{first.n_studies} studies per cell, seed {first.seed}; Monte-Carlo standard error "
        f"{error[0]:.1f} points near 5%, {error[1]:.1f} near 50%."
    )
    tables = [_table_of_designs(rows), _table_of_settings(rows), _table_of_floors(rows)]
    tables.append(_table_of_levels(rows))
    return "\n\n".join([note, *tables])


def _table_of_designs(rows: Sequence[Row]) -> str:
    """How often methods err, from the learners that fare best to those that fare worst."""
    names = [method.name for method in METHODS]
    lines = [
        _line("one dataset, split by", "n", "k", *names, "power, corrected"),
        _line(*["---"] * (len(names) + 4)),
    ]
    for cell in dict.fromkeys((row.design, row.n_examples, row.n_splits) for row in rows):
        of_cell = [r for r in rows if (r.design, r.n_examples, r.n_splits) == cell]
        sizes = [_span(r.size for r in of_cell if r.method == name) for name in names]
        power = _span(r.power for r in of_cell if r.method == "corrected")
        lines.append(_line(*map(str, cell), *sizes, power))
    return "\n".join(lines)


def _table_of_settings(rows: Sequence[Row]) -> str:
    """Each pair of learners, with 51 out-of-bootstrap replicates of 300 examples."""
    lines = [_line("learners", "needed", "errs", "covers", "power"), _line(*["---"] * 5)]
    for row in _corrected_bootstraps(rows):
        if row.n_examples == MAIN.n_examples:
            rates = [_share(rate, row.n_studies) for rate in (row.size, row.coverage, row.power)]
            lines.append(_line(row.setting, f"{row.needed:.2f}", *rates))
    return "\n".join(lines)


def _table_of_floors(rows: Sequence[Row]) -> str:
    """What no number of re-splits shows, for the first pair of learners."""
    lines = [_line("n", "s", "floor"), _line("---", "---", "---")]
    for row in sorted(_corrected_bootstraps(rows), key=lambda row: row.n_examples):
        if row.setting == MAIN.settings[0]:
            floor = -ndtri(cautious_alpha(0.05) / 2) * math.sqrt(row.correction) * row.deviation
            lines.append(_line(str(row.n_examples), f"{row.deviation:.3f}", f"{floor:.3f}"))
    return "\n".join(lines)


def _table_of_levels(rows: Sequence[Row]) -> str:
    """How often the worst learners err at the level that is asked for, and at a fifth of α."""
    header = [f"α = {alpha:g}: p < {both[0].alpha:.2g}" for alpha, both in ASKED.items()]
    lines = [
        _line("one dataset, split by", "n", "k", *header, "α = 0.01: p < 0.002"),
        _line(*["---"] * (len(header) + 4)),
    ]
    names = [both[0].name for both in ASKED.values()] + [ASKED[LEVELS[0]][1].name]
    for place in dict.fromkeys((row.design, row.n_examples, row.n_splits) for row in rows):
        own = [r for r in rows if (r.design, r.n_examples, r.n_splits) == place]
        worst = [max(r.size for r in own if r.method == name) for name in names]
        lines.append(_line(*map(str, place), *(f"{100 * rate:.1f}%" for rate in worst)))
    return "\n".join(lines)


def _corrected_bootstraps(rows: Sequence[Row]) -> list[Row]:
    return [r for r in rows if (r.design, r.n_splits, r.method) == (MAIN.name, 51, "corrected")]


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _span(rates: Iterable[float]) -> str:
    """Lowest and highest of the learners."""
    low, *_, high = sorted(f"{100 * rate:3.0f}" for rate in rates) * 2
    return f"{low.strip()}%" if low == high else f"{low.strip()} to {high.strip()}%"


def _share(rate: float, n_studies: int) -> str:
    return f"{100 * rate:.1f} ± {100 * math.sqrt(rate * (1 - rate) / n_studies):.1f}%"


def read_stored() -> list[Row]:
    """Rows that are done."""
    lines = STORE.read_text().splitlines() if STORE.exists() else []
    return [Row(**json.loads(line)) for line in lines]


def main() -> None:
    """Simulate what is missing and print the tables."""
    parser = argparse.ArgumentParser(description="Print the tables of docs/scope.md.")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--studies", type=int, default=N_STUDIES)
    options = parser.parse_args()
    stored = read_stored()
    rows = [r for r in stored if (r.seed, r.n_studies) == (options.seed, options.studies)]
    STORE.parent.mkdir(exist_ok=True)
    for cell in simulate(options.seed, n_studies=options.studies, done=tuple(rows)):
        rows += cell
        with STORE.open("a") as file:
            file.writelines(json.dumps(asdict(row)) + "\n" for row in cell)
    order = [(design.name, design.n_examples) for design in DESIGNS]
    print(write_tables(sorted(rows, key=lambda r: order.index((r.design, r.n_examples)))))


if __name__ == "__main__":
    main()
