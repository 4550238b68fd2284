"""What designs of real, tiny studies are worth against their ideal design."""

import math
import sqlite3
import tomllib
from contextlib import closing
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from outperform import measure_quality
from outperform.engines import InlineEngine
from outperform.errors import DamagedStore, InvalidInput, UnknownName
from outperform.questions.quality.answer import COMBINED
from outperform.questions.quality.result import Middle
from outperform.runner import run_fits
from outperform.stats import assess_design
from outperform.store import Measurement, RunLabel, open_store
from outperform.study.designs import FixHopt, Ideal, Variance, name_repetition
from outperform.study.pipelines import FunctionPipeline
from outperform.study.spaces import Uniform
from outperform.study.study import Study
from outperform.study.tasks import Task
from outperform.wording import count

TRIALS = 3


def draw(seeds, name):
    return np.random.default_rng(seeds[name]).normal()


def fit(params, split, seeds, task):
    """Standard deviations 2 by split and 1 by init; a bad search costs much."""
    loss = 4 * (params["lr"] - 0.5) ** 2
    score = 10 + 2 * draw(seeds, "split") + draw(seeds, "init") - 10 * loss
    return {"valid": -loss, "test": score}


def fit_without_search(params, split, seeds, task):
    """Whatever is found by a search, it changes nothing."""
    return {"valid": params["lr"], "test": draw(seeds, "split") + draw(seeds, "init")}


def fail_sometimes(params, split, seeds, task):
    scores = fit_without_search(params, split, seeds, task)
    if scores["test"] < -2:
        raise ValueError("too bad")
    return scores


def make_study(
    *designs, function=fit, metric="accuracy", tasks=("toy",), names=("net",), trials=TRIALS
):
    space = {"lr": Uniform(0, 1)}
    pipelines = [FunctionPipeline(name, function, space, ("split", "init")) for name in names]
    return Study(pipelines, [Task(t, metric=metric) for t in tasks], designs, trials=trials)


def run(path, *designs, **options):
    study = make_study(*designs, **options)
    with open_store(path) as store, InlineEngine() as engine:
        run_fits(study, store, engine)
    return path


def add_repetitions(path, kind, scores):
    """Record repetitions of a design that needs no search of its own, a row each."""
    with open_store(path) as store:
        study = store.get_meta("study")
        for repetition, row in enumerate(scores):
            source = name_repetition("all", repetition)
            study["designs"].append({"design": kind, "source": source, "replicates": len(row)})
            for i, score in enumerate(row):
                key = f"{kind}-{repetition}-{i}"
                about = (key, "net", "toy", {"lr": 0.5}, {"split": i}, 0, True)
                recorded = Measurement(*about, "done", {"test": score}, 0.01, None, 0.0, {})
                store.add([recorded], [RunLabel(kind, source, i, "net", "toy", key)])
        store.set_meta("study", study)


def read_scores(path, design, source):
    with open_store(path) as store:
        scores, labels = store.scores(), store.run_labels()
    own = sorted((x.replicate, scores[x.key]["test"]) for x in labels if x[:2] == (design, source))
    return [score for _, score in own]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    designs = Ideal(12), FixHopt(5, ("init",), 6), FixHopt(5, (), 6)
    return run(tmp_path_factory.mktemp("quality") / "study.db", *designs)


@pytest.fixture(scope="module")
def quality(path):
    return measure_quality(path)


def test_numbers_are_those_of_the_recorded_runs(path, quality):
    ideal = read_scores(path, "ideal", "all")
    rows = [read_scores(path, "fix-hopt", name_repetition("init", r)) for r in range(6)]
    rng = np.random.default_rng(0)
    expected = assess_design(rows, ideal, range(6), overhead=TRIALS, rng=rng)
    (pair,) = quality.pairs
    by_init, by_all = pair.designs
    assert (by_init.name, by_all.name) == ("fix-hopt (init)", "fix-hopt (all)")
    assert by_init.quality.to_dict() == expected.to_dict()
    assert by_init.means == pytest.approx(np.mean(rows, axis=1))
    assert (pair.ideal.n_replicates, pair.ideal.mean) == (12, pytest.approx(np.mean(ideal)))
    assert pair.ideal.sd.value == pytest.approx(np.std(ideal, ddof=1))
    deviations = {each.name: each.estimates.values for each in pair.deviations}
    assert deviations["fix-hopt (init)"] == pytest.approx(np.std(rows, axis=1, ddof=1))


def test_repetitions_and_ideal_replicates_share_searches_and_first_fits(path):
    # What the link in the interval of the bias rests on.
    ideal = read_scores(path, "ideal", "all")
    firsts = [read_scores(path, "fix-hopt", name_repetition("all", r))[0] for r in range(6)]
    assert firsts == ideal[:6]


def test_fits_are_counted_and_their_ratio_is_what_is_saved(quality):
    (pair,) = quality.pairs
    design = pair.designs[0]
    assert (pair.ideal.n_fits, design.n_fits) == (TRIALS + 1, TRIALS + 5)
    assert design.saving.value == pytest.approx(design.equivalent.value * 4 / 8)
    assert design.mse_times_fits.value == pytest.approx(design.mse.value * 8)
    assert design.seconds == pytest.approx(2 * pair.ideal.seconds)
    assert design.quality.reach.cost_ideal == 10 * (TRIALS + 1)


def test_a_source_that_matters_must_be_redrawn(tmp_path):
    # With the split fixed, half of the variance of learning is shared.
    designs = Ideal(40), FixHopt(6, ("init",), 20), FixHopt(6, (), 20)
    path = run(tmp_path / "s.db", *designs, function=fit_without_search)
    (pair,) = measure_quality(path, n_ideal=6).pairs
    by_init, by_all = pair.designs
    assert 0.5 in by_init.quality.correlation.interval
    assert by_init.equivalent.interval.high < 3
    assert math.isinf(by_init.quality.reach.cost_alone)
    # Where searches change nothing, fix-hopt with all redrawn is the ideal design (control).
    assert 0 in by_all.quality.correlation.interval
    assert 6 in by_all.equivalent.interval
    assert 0 in by_all.quality.bias.interval
    assert 1 in pair.deviations[1].estimates.ratio.interval


def test_the_average_of_fix_hopt_and_simulated_searches(path, tmp_path):
    copy = tmp_path / "copy.db"
    copy.write_bytes(path.read_bytes())
    rows = np.random.default_rng(0).normal(9, 3, (6, 5))
    add_repetitions(copy, "simulated-hopt", rows)
    add_repetitions(copy, "resampled-hopt", rows + 1)
    result = measure_quality(copy)
    (pair,) = result.pairs
    assert [each.name for each in pair.designs][2:] == ["simulated-hopt", "resampled-hopt"]
    assert pair.designs[2].means == pytest.approx(rows.mean(axis=1))
    *_, combined = pair.deviations
    fixed = [read_scores(path, "fix-hopt", name_repetition("all", r)) for r in range(6)]
    both = [np.std(each, axis=1, ddof=1) for each in (fixed, rows)]
    assert combined.name == COMBINED
    assert combined.n_fits == TRIALS + 10
    assert combined.estimates.values == pytest.approx(np.mean(both, axis=0))


def test_only_shared_repetitions_are_averaged(path, tmp_path):
    copy = tmp_path / "copy.db"
    copy.write_bytes(path.read_bytes())
    add_repetitions(copy, "simulated-hopt", np.random.default_rng(0).normal(9, 3, (3, 5)))
    *_, combined = measure_quality(copy).pairs[0].deviations
    assert (combined.name, combined.estimates.n_repetitions) == (COMBINED, 3)


def test_lower_may_be_better(tmp_path):
    designs = Ideal(12), FixHopt(5, (), 6)
    (up,), (down,) = (
        measure_quality(
            run(tmp_path / metric, *designs, function=fit_without_search, metric=metric)
        ).pairs
        for metric in ("accuracy", "rmse")
    )
    first, second = up.find("fix-hopt (all)"), down.find("fix-hopt (all)")
    # The bias is in the metric's own sign; a mean that is too low looks too good.
    assert second.quality.bias == first.quality.bias
    assert down.optimism(second).value == pytest.approx(-up.optimism(first).value)
    assert down.optimism(second).interval.low == pytest.approx(-up.optimism(first).interval.high)
    assert second.equivalent.value == first.equivalent.value


def test_what_others_are_beside_changes_no_number(path, tmp_path, quality):
    other = run(tmp_path / "s.db", Ideal(12), FixHopt(5, (), 6))
    alone = measure_quality(other).pairs[0].find("fix-hopt (all)")
    assert alone.quality.to_dict() == quality.pairs[0].find("fix-hopt (all)").quality.to_dict()


def test_several_pairs_are_summed_up_by_medians(tmp_path):
    designs = Ideal(8), FixHopt(4, (), 4)
    path = run(tmp_path / "s.db", *designs, tasks=("x", "y"), names=("a", "b"))
    result = measure_quality(path)
    assert [pair.name for pair in result.pairs] == ["a on x", "b on x", "a on y", "b on y"]
    (summary,) = result.summary
    values = [pair.designs[0].equivalent.value for pair in result.pairs]
    assert summary.equivalent == Middle(np.median(values), min(values), max(values))
    assert len(measure_quality(path, pipelines=["b"]).pairs) == 2
    assert len(measure_quality(path, task="x").pairs) == 2
    assert str(result.scope).endswith("so this is about these tasks")


def test_medians_of_what_is_never_reached():
    assert Middle.of([math.inf, 1.0, math.inf]) == Middle(math.inf, 1.0, math.inf)
    assert Middle.of([3.0, 1.0]) == Middle(2.0, 1.0, 3.0)
    assert Middle.of([1.0, math.inf]) == Middle(math.inf, 1.0, math.inf)


# What is missing


def test_missing_fits_cost_what_a_study_with_them_does(path, quality):
    before = make_study(Ideal(12), FixHopt(5, ("init",), 6), FixHopt(5, (), 6)).count_fits()
    added = [
        (Ideal(50), FixHopt(5, ("init",), 6), FixHopt(5, (), 6)),
        (Ideal(12), FixHopt(5, ("init",), 20), FixHopt(5, (), 6)),
        (Ideal(12), FixHopt(5, ("init",), 6), FixHopt(5, (), 20)),
    ]
    assert [each.line for each in quality.missing] == [
        '[[design]]\nkind = "ideal"\nreplicates = 50',
        '[[design]]\nkind = "fix-hopt"\nreplicates = 5\nrepetitions = 20\nvary = ["init"]',
        '[[design]]\nkind = "fix-hopt"\nreplicates = 5\nrepetitions = 20',
    ]
    lines = tomllib.loads("\n".join(row[0] for row in quality.tables[-1].rows))["design"]
    assert [line["replicates"] for line in lines] == [50, 5, 5]
    for each, designs in zip(quality.missing, added, strict=True):
        assert each.n_fits == pytest.approx(make_study(*designs).count_fits() - before, abs=6)
        assert each.seconds > 0


def test_one_repetition_tells_the_deviation_only_and_what_to_add(tmp_path):
    result = measure_quality(run(tmp_path / "s.db", Ideal(5), FixHopt(4)))
    assert result.summary == result.pairs[0].designs == ()
    (estimates,) = result.pairs[0].deviations
    assert estimates.estimates.n_repetitions == 1
    assert str(result).startswith("No design was repeated, so that its error is not known")
    assert any(doubt.startswith("fix-hopt (all): done once") for doubt in result.caveats)
    assert "repetitions = 20" in result.missing[1].line
    assert result.advice.startswith("give the study the lines above (")


def test_ideal_runs_alone_are_asked_for_a_cheaper_design(tmp_path):
    result = measure_quality(run(tmp_path / "s.db", Ideal(5)))
    assert str(result) == (
        "There are ideal runs and no whole repetition of a cheaper design to measure against them."
    )
    assert result.missing[1].line == (
        '[[design]]\nkind = "fix-hopt"\nreplicates = 50\nrepetitions = 20'
    )


def test_searches_that_can_be_redrawn_are_asked_for(tmp_path):
    missing = measure_quality(run(tmp_path / "s.db", Ideal(3), trials=20)).missing
    assert [each.line.split('"')[1] for each in missing] == [
        "ideal", "fix-hopt", "simulated-hopt", "resampled-hopt",
    ]  # fmt: skip
    # 17 more searches and 20 · 50 fits, of which fix-hopt has three.
    assert [each.n_fits for each in missing[1:]] == [1337, 1340, 1340]


def test_nothing_is_missing_from_a_whole_study(tmp_path):
    path = run(tmp_path / "s.db", Ideal(50), FixHopt(2, (), 20), function=fit_without_search)
    result = measure_quality(path)
    assert (result.missing, result.advice) == ((), "")
    # What intervals rest on, what they hold, and that more fits than 2 are needed.
    assert len(result.caveats) == 3


# Doubts


def test_few_repetitions_are_doubted(quality, tmp_path):
    assert any(
        doubt == "fewer than 10 repetitions are rough: fix-hopt (init) (6), fix-hopt (all) (6)"
        for doubt in quality.caveats
    )
    result = measure_quality(run(tmp_path / "s.db", Ideal(5), FixHopt(3, (), 2)))
    assert any(
        doubt == "so few repetitions tell next to nothing of the error: fix-hopt (all) (2)"
        for doubt in result.caveats
    )
    assert any("fewer than 30 ideal replicates" in doubt for doubt in result.caveats)


def test_savings_that_may_be_luck_are_doubted(tmp_path, quality):
    unsure = "estimated to be cheaper than the ideal design, and not shown to be"
    lucky = "worth more ideal replicates than it has fits"
    assert not [c for c in quality.caveats if c.startswith(lucky)]  # control
    alike = run(tmp_path / "s.db", Ideal(6), FixHopt(5, (), 3), function=fit_without_search)
    found = measure_quality(alike)
    (design,) = found.pairs[0].designs
    ratio = design.quality.reach.ratio
    assert design.quality.correlation.value < 0
    assert ratio.value < 1 < ratio.interval.high
    assert [c for c in found.caveats if c.startswith(unsure)] == [
        f"{unsure}, as the interval of the fits needed goes beyond 100%: fix-hopt (all) for net on "
        "toy"
    ]
    assert design.equivalent.value > 5
    assert [c for c in found.caveats if c.startswith(lucky)] == [
        f"{lucky}, which is chance, as ρ below 0 is: fix-hopt (all) for net on toy (ρ = -0.17)"
    ]


def test_pipelines_without_hyperparameters_are_left_out(tmp_path):
    def fit_plain(params, split, seeds):
        return {"test": draw(seeds, "split")}

    def fit_toy(params, split, seeds):
        return fit({"lr": 0.5, **params}, split, seeds, "toy")

    def run_with(space, name):
        net = FunctionPipeline("net", fit_toy, space, ("split", "init"))
        plain = FunctionPipeline("plain", fit_plain, {}, ("split",))
        designs = Ideal(5), FixHopt(3, (), 3)
        tasks = [Task("toy", metric="accuracy")]
        with open_store(tmp_path / name) as store, InlineEngine() as engine:
            run_fits(Study([net, plain], tasks, designs, trials=TRIALS), store, engine)
        return tmp_path / name

    found = measure_quality(run_with({"lr": Uniform(0, 1)}, "one.db"))
    assert [pair.pipeline for pair in found.pairs] == ["net"]
    assert "left out, as it has no hyperparameters to search: plain" in found.caveats
    with pytest.raises(InvalidInput) as refused:
        measure_quality(run_with({}, "none.db"))
    assert str(refused.value) == (
        f"no pipeline of {tmp_path / 'none.db'} that is looked at has hyperparameters to search, "
        "so that every design is the ideal one. Give one a space in the study file, or name one "
        "that has: --pipeline."
    )


def test_failed_runs_leave_their_repetition_out(tmp_path):
    designs = Ideal(60), FixHopt(4, (), 9)
    result = measure_quality(run(tmp_path / "s.db", *designs, function=fail_sometimes))
    (pair,) = result.pairs
    n = pair.designs[0].quality.n_repetitions
    assert 2 <= n < 9
    assert (
        f"fix-hopt (all) of net on toy: left out {count(9 - n, 'repetition')} with failed or "
        "missing runs: if these went badly, ρ and the design's error are larger than measured"
    ) in result.caveats
    n_ideal = pair.ideal.n_replicates
    assert n_ideal < 60
    assert (
        f"{60 - n_ideal} of 60 ideal runs of net on toy failed, or are still to be done: if these "
        "went badly, its mean is worse, and its deviation larger, than measured"
    ) in result.caveats


def test_an_unfinished_study_is_measured_as_far_as_it_is(path, tmp_path):
    copy = tmp_path / "copy.db"
    copy.write_bytes(path.read_bytes())
    with open_store(copy) as store:
        study = store.get_meta("study")
        for design in study["designs"]:
            if design["design"] == "ideal":
                design["replicates"] = 20
        store.set_meta("study", study)
    result = measure_quality(copy)
    assert result.pairs[0].ideal.n_replicates == 12
    assert any("8 of the study's 20 runs have no score" in doubt for doubt in result.caveats)


def test_one_replicate_a_repetition_tells_nothing_of_its_variance(tmp_path):
    result = measure_quality(run(tmp_path / "s.db", Ideal(5), FixHopt(1, (), 4)))
    assert result.pairs[0].designs == ()
    assert (
        "fix-hopt (all) of net on toy: one replicate a repetition tells neither V nor ρ"
        in result.caveats
    )


def test_a_source_that_does_nothing_makes_copies(tmp_path):
    def ignore_init(params, split, seeds, task):
        return {"valid": params["lr"], "test": draw(seeds, "split")}

    designs = Ideal(6), FixHopt(4, ("init",), 5)
    (pair,) = measure_quality(run(tmp_path / "s.db", *designs, function=ignore_init)).pairs
    assert pair.designs[0].quality.correlation.value == 1


# The sentence


def test_the_sentence_names_the_cheapest_design(tmp_path):
    designs = Ideal(50), FixHopt(12, ("init",), 12), FixHopt(12, (), 12)
    path = run(tmp_path / "s.db", *designs, function=fit_without_search)
    result = measure_quality(path, n_ideal=3)
    reach = result.pairs[0].designs[1].quality.reach
    words = str(result)
    assert words.startswith(
        "For the precision of 3 ideal replicates, fix-hopt (all) is estimated to need "
        f"{100 * reach.ratio.value:.2g}% of their fits, the cheapest of 2 designs (net on toy; 95% "
    )
    assert words.endswith("; by this estimate, one search is enough.")
    assert reach.ratio.interval.high > 1  # so that it is not shown to be cheaper
    # With one search it can be done, but not with so few fits.
    more = measure_quality(path, n_ideal=6)
    reach = more.pairs[0].designs[1].quality.reach
    alone = reach.cost_alone / reach.cost_ideal
    assert reach.ratio.value < 1 < alone < math.inf
    assert str(more).endswith(f"; by this estimate, one search alone needs {100 * alone:.0f}%.")


def test_the_sentence_says_where_a_bias_is_too_large_and_how_sure_that_is(path, tmp_path):
    copy = tmp_path / "copy.db"
    copy.write_bytes(path.read_bytes())
    with open_store(copy) as store:
        study = store.get_meta("study")
        study["designs"] = [each for each in study["designs"] if each["design"] == "ideal"]
        store.set_meta("study", study)
    rows = np.random.default_rng(0).normal(30, 1, (6, 5))
    add_repetitions(copy, "resampled-hopt", rows)
    assert str(measure_quality(copy)) == (
        "No design reaches the precision of 10 ideal replicates: each has too large a bias "
        "(net on toy)."
    )
    add_repetitions(copy, "simulated-hopt", rows - 30 + 8.7)
    assert not str(measure_quality(copy)).startswith("No design reaches")


def test_a_bias_that_may_be_chance_is_not_said_to_be_too_large(path, tmp_path):
    copy = tmp_path / "copy.db"
    copy.write_bytes(path.read_bytes())
    with open_store(copy) as store:
        study = store.get_meta("study")
        study["designs"] = [each for each in study["designs"] if each["design"] == "ideal"]
        store.set_meta("study", study)
    # Two repetitions, whose means are as far from each other as from that of the ideal runs.
    add_repetitions(copy, "resampled-hopt", np.array([[9.5, 10.5, 10.0], [10.5, 11.5, 11.0]]))
    result = measure_quality(copy)
    (design,) = result.pairs[0].designs
    assert math.isinf(design.quality.reach.ratio.value)
    assert 0 in design.quality.bias.interval
    low = f"{100 * design.quality.reach.ratio.interval.low:,.0f}%"
    assert str(result) == (
        "No design is shown to reach the precision of 10 ideal replicates, or to miss it: each is "
        f"estimated to have too large a bias, but resampled-hopt may do it with {low} of their "
        "fits (net on toy)."
    )


def test_where_no_design_is_cheaper_the_sentence_says_so(quality, path):
    assert str(measure_quality(path, n_ideal=1)).startswith(
        "No design is shown to be cheaper than the ideal"
    )


def test_a_design_of_one_pair_among_several_is_told_with_its_own_pair(quality):
    (pair,) = quality.pairs
    others = replace(pair, pipeline="other", designs=())
    assert "(net on toy; 95% interval" in str(replace(quality, pairs=(others, pair)))


def test_of_several_pairs_the_sentence_says_how_large_the_ratio_may_be(quality):
    (pair,) = quality.pairs
    two = replace(quality, pairs=(pair, replace(pair, task="other")), n_ideal=3)
    best = min((each.quality.reach for each in pair.designs), key=lambda each: each.ratio.value)
    high = best.ratio.interval.high
    said = "never" if high == float("inf") else f"{100 * high:,.0f}%"
    assert f"; upper ends of their intervals: median {said})" in str(two)
    assert "median" not in str(quality)
    assert (
        "which design is the cheapest is seen by the same runs as its ratio, which therefore looks "
        "smaller than it is, the more so the closer the designs are" in quality.caveats
    )


def test_more_precision_never_costs_less(path):
    costs = [
        measure_quality(path, n_ideal=n).pairs[0].designs[1].quality.reach.cost for n in (1, 2, 5)
    ]
    assert all(first <= second for first, second in pairwise(costs))


# Refusals


def test_without_ideal_runs_their_cost_is_named(tmp_path):
    path = run(tmp_path / "s.db", FixHopt(4, (), 3), Variance(2))
    with pytest.raises(InvalidInput) as caught:
        measure_quality(path)
    problem, _, remedy = str(caught.value).partition(" (designs: ")
    assert problem == f"{path} has no ideal runs, against which designs are measured"
    assert remedy.startswith(
        'fix-hopt, variance). Give the study a [[design]] with kind = "ideal" and '
        "replicates = 50, and run it: 200 fits, "
    )


def test_a_single_ideal_run_tells_nothing(tmp_path):
    path = run(tmp_path / "s.db", Ideal(1), FixHopt(4, (), 3))
    with pytest.raises(InvalidInput) as caught:
        measure_quality(path)
    assert str(caught.value) == (
        f"{path} has no two ideal runs that differ. Let `outperform run` finish the ideal design, "
        "or give it more replicates."
    )


def test_other_refusals(path, tmp_path):
    with pytest.raises(UnknownName, match=r"has no task 'toi'. Did you mean 'toy'\?"):
        measure_quality(path, task="toi")
    (tmp_path / "runs.csv").write_text("algorithm,score\na,1\n")
    with pytest.raises(InvalidInput) as caught:
        measure_quality(tmp_path / "runs.csv")
    assert str(caught.value) == (
        f"{tmp_path / 'runs.csv'} is no store of a study. Pass the store that `outperform run` "
        "wrote: only its runs say which search they share."
    )
    with pytest.raises(InvalidInput, match="n_ideal is 0"):
        measure_quality(path, n_ideal=0)


def test_no_time_is_told_from_damaged_fits(path, tmp_path):
    copy = tmp_path / "copy.db"
    copy.write_bytes(path.read_bytes())
    with closing(sqlite3.connect(copy)) as connection, connection:
        connection.execute("UPDATE measurements SET pipeline = id")
    with pytest.raises(DamagedStore):
        measure_quality(copy)


def test_a_description_without_a_plan_is_read(path, tmp_path, quality):
    copy = tmp_path / "copy.db"
    copy.write_bytes(path.read_bytes())
    with open_store(copy) as store:
        # As where a design is the person's own.
        store.set_meta("study", {**store.get_meta("study"), "plan": None})
    assert measure_quality(copy).pairs[0].designs[0].n_fits == TRIALS + 5
