"""What designs are worth, as text."""

import math
from collections.abc import Iterator
from statistics import median
from typing import TYPE_CHECKING

from outperform.questions.result import Table
from outperform.wording import describe_goal, format_duration, format_spread

if TYPE_CHECKING:
    from outperform.questions.quality.result import (
        DesignSummary,
        MeasuredDesign,
        MeasuredDeviations,
        Middle,
        PairQuality,
        Quality,
    )

_MISSING = "What would complete the picture, each beside what is there:"


def tabulate_quality(result: "Quality") -> list[Table | str]:
    """All designs in short, estimates of the deviation, what is missing; every pair if asked."""
    parts: list[Table | str] = []
    if result.names:
        parts.append(_tabulate_summary(result))
    if any(pair.deviations for pair in result.pairs):
        parts.append(_tabulate_deviations(result))
    if result.detailed:
        for pair in result.pairs:
            parts += _tabulate_pair(pair)
            parts += [_list_all_deviations(pair)] if len(result.pairs) > 1 else []
    if result.missing:
        rows = [
            [each.line, f"{each.n_fits:,}", format_duration(each.seconds)]
            for each in result.missing
        ]
        parts.append(Table(["lines of the study file", "fits more", "time"], rows, _MISSING))
    return parts


def _tabulate_summary(result: "Quality") -> Table:
    n = result.n_ideal
    header = ["design", "ρ", "bias / σ", "worth ideal replicates", "fits saved"]
    header += [f"fits for {n}: one search", "best split"]
    several = len(result.pairs) > 1
    rows = [
        _list_middles(each) if several else _list_estimates(result.pairs[0], each.name)
        for each in result.summary
    ]
    what = f"median and range of {len(result.pairs)} pairs" if several else result.pairs[0].name
    return Table(
        header,
        [row for row in rows if row],
        title=f"Designs against the ideal one ({what}):",
        note=(
            "bias: above 0 the mean looks better than it is. worth: ideal replicates with the same "
            "mean squared error as one whole repetition.\nfits saved: how many times its fits they "
            f"take. fits for {n}: for the precision of {n} ideal replicates, as a share of theirs."
        ),
    )


def _list_middles(summary: "DesignSummary") -> list[str]:
    middles = summary.correlation, summary.optimism, summary.equivalent, summary.saving
    ratios = summary.ratio_alone, summary.ratio
    return [summary.name, *map(_format_middle, middles), *map(_format_ratios, ratios)]


def _list_estimates(pair: "PairQuality", name: str) -> list[str]:
    design = pair.find(name)
    if design is None:
        return []
    reach, bias = design.quality.reach, pair.optimism(design)
    split = f" ({reach.n_repetitions:g} × {reach.n_scores:g})"
    return [
        name,
        str(design.quality.correlation),
        f"{bias.value:.2g} [{bias.interval.low:.2g}, {bias.interval.high:.2g}]",
        str(design.equivalent),
        f"{design.saving} ×",
        format_ratio(reach.cost_alone / reach.cost_ideal),
        f"{format_ratio(reach.ratio.value)}{split if math.isfinite(reach.cost) else ''}",
    ]


def _format_middle(middle: "Middle") -> str:
    return f"{middle.median:.2g} ({middle.low:.2g} to {middle.high:.2g})"


def _format_ratios(middle: "Middle") -> str:
    median, low, high = map(format_ratio, (middle.median, middle.low, middle.high))
    return median if low == high else f"{median} ({low} to {high})"


def format_ratio(ratio: float) -> str:
    """Share of fits, or that no number of them is enough.

    Examples
    --------
    >>> format_ratio(0.2), format_ratio(12.3), format_ratio(math.inf)
    ('20%', '1,230%', 'never')
    """
    if math.isinf(ratio):
        return "never"
    return f"{100 * ratio:.2g}%" if ratio < 0.995 else f"{100 * ratio:,.0f}%"


def _tabulate_deviations(result: "Quality") -> Table:
    """Estimates of the standard deviation, as shares of the ideal one where there are several."""
    title = "Standard deviation of a fit, as each repetition estimates it:"
    if len(result.pairs) == 1:
        return _list_all_deviations(result.pairs[0], title)
    names = dict.fromkeys(each.name for pair in result.pairs for each in pair.deviations)
    rows = []
    for name in names:
        own = [each for pair in result.pairs for each in pair.deviations if each.name == name]
        ratios = [each.estimates.ratio.value for each in own]
        spread = f"{median(ratios):.2g} ({min(ratios):.2g} to {max(ratios):.2g})"
        holds = sum(1 in each.estimates.ratio.interval for each in own)
        rows.append([name, spread, f"{holds} of {len(own)}"])
    return Table(["design", "share of ideal's", "may be the same"], rows, title)


def _list_all_deviations(pair: "PairQuality", title: str = "") -> Table:
    header = ["standard deviation", "repetitions", "mean", "spread", "share of ideal's", "fits"]
    n_fits = pair.ideal.n_fits * pair.ideal.n_replicates
    alone = ["ideal", "1", str(pair.ideal.sd), "", "1", f"{n_fits:,}"]
    return Table(header, [alone, *map(_list_deviations, pair.deviations)], title)


def _list_deviations(measured: "MeasuredDeviations") -> list[str]:
    found = measured.estimates
    return [
        measured.name,
        str(found.n_repetitions),
        str(found.mean),
        "" if math.isnan(found.spread) else f"{found.spread:.2g}",
        str(found.ratio),
        f"{measured.n_fits:,}",
    ]


def _tabulate_pair(pair: "PairQuality") -> Iterator[Table | str]:
    """All numbers of a pair: designs, and standard errors by number of fits."""
    ideal = pair.ideal
    yield (
        f"{pair.name}: {pair.metric} ({describe_goal(pair.goal)}), ideal "
        f"{format_spread(ideal.mean, ideal.sd.value)} over {ideal.n_replicates} replicates of "
        f"{ideal.n_fits:,} fits, {format_duration(ideal.seconds)} each"
    )
    if pair.designs:
        header = ["design", "repetitions", "bias", "sd of a fit", "sd within", "standard error"]
        header += ["mean squared error", "times fits", "fits", "time"]
        yield Table(header, [_list_design(each) for each in pair.designs])
        yield _tabulate_errors(pair)


def _list_design(design: "MeasuredDesign") -> list[str]:
    found = design.quality
    return [
        design.name,
        f"{found.n_repetitions} × {found.n_scores}",
        str(found.bias),
        f"{math.sqrt(found.variance.value):.3g}",
        f"{math.sqrt(found.within_variance.value):.3g}",
        str(design.standard_error),
        str(design.mse),
        f"{design.mse_times_fits.value:.2g}",
        f"{design.n_fits:,}",
        format_duration(design.seconds),
    ]


def _tabulate_errors(pair: "PairQuality") -> Table:
    """Standard errors of means of k fits, and in brackets the ideal replicates they are worth."""
    largest = max(each.quality.n_scores for each in pair.designs)
    sizes = list_sizes(largest)
    ideal = [f"{pair.ideal.sd.value / math.sqrt(k):.3g} ({k})" for k in sizes]
    rows = [["ideal", *ideal]]
    for each in pair.designs:
        errors, worth = each.quality.standard_error.values, each.quality.equivalent.values
        known = [k for k in sizes if k <= each.quality.n_scores]
        cells = [f"{errors[k - 1]:.3g} ({worth[k - 1]:.2g})" for k in known]
        rows.append([each.name, *cells, *[""] * (len(sizes) - len(cells))])
    header = ["standard error (worth)", *(f"k = {k}" for k in sizes)]
    return Table(header, rows)


def list_sizes(n_scores: int) -> list[int]:
    """Numbers of scores that a table shows, of all from 1 on.

    Examples
    --------
    >>> list_sizes(30)
    [1, 2, 5, 10, 20, 30]
    """
    usual = (first * 10**power for power in range(7) for first in (1, 2, 5))
    return [*(n for n in usual if n < n_scores), n_scores]
