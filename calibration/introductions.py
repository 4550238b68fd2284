"""What the page says around its tables, for readers who are no statisticians."""

INTRODUCTION = """# How often each method errs

Made by `make calibrate`; do not edit. Every decision rule, interval and test of this project is tried here on data of which the truth is known, and its errors are counted. [statistics.md](statistics.md) says what each method is.

**How to read it.** All numbers are percentages. *False alarms* is how often a method finds a difference between equals: it should be at most 5. *Coverage* is how often an interval holds the truth: it should be at least 95. *Power* is how often a true difference of P(A>B) = 0.75 is found: more is better, and only `SequentialTest` and `smallest_shown_probability` promise any. Columns are numbers of pairs, or of runs of each algorithm.

**A number in bold is off**: it breaks the claim by more than chance can do (more than {n_errors} Monte-Carlo standard errors) and by more than a tenth of the errors that are allowed ({slack} false alarms, where 5% are claimed). Methods that promise never to err more often than they say get no such slack. Fewer false alarms and more coverage than claimed are never off: they cost power, not truth. Where a cell stands for several true P(A>B) or kinds of data, it shows the worst.

**Error.** The last column is the largest Monte-Carlo standard error of the row, in percentage points. *exact* means that every outcome was summed up, with its chance, and nothing was drawn. The rest comes from 400 to 20,000 simulated studies a cell; permutation tests draw 999 splits or sign flips a study (without ties 49,999 splits that serve all), the bootstrap 500 resamples. Seeds derive from the names of the cells, so the page comes out the same every time.

**Data.**

| kind | what it is |
| --- | --- |
| normal | scores of A and of B are normal, with the same spread |
| 30% ties | the same, rounded so that equals are tied in 30% of pairs |
| skewed | exponential scores |
| heavy tails | Student's t with 3 degrees of freedom: now and then a run is far out |
| unequal variances | normal, A varies three times as much as B |
| skewed, unequal variances | exponential, A varies three times as much as B, so that differences are skewed, too. Equals win equally often, or have equal means, depending on what the method is about |
| n against 50 | n runs of A, which vary three times as much as the 50 runs of B |
| re-splits of one dataset | equals for *data like these*: all scores of an algorithm share the luck of one dataset, so that two of them correlate by 0.2 (800 examples to train on, 200 to test on). Methods that take runs as independent are right about *this dataset*, and wrong about others like it |"""

SUMMARY = """## Summary

*Worst* is the worst cell, leaving out re-splits of one dataset, which have a column of their own. *About this dataset only*: the method keeps its claim about the dataset at hand, not about other data like it."""

# Group: title of its section, and what to know about it.
GROUPS = {
    "paired": (
        "P(A>B) of pairs, and the verdict",
        "False alarms: how often one of two equals is called *significantly* better. Power: how often A is called *significantly and meaningfully* better where it wins 75% of the untied pairs. Coverage: the lowest where A wins 50, 75, 90 or 97% of the untied pairs. Only wins and ties count, so the shape of scores does not matter. All are methods of `outperforming_interval`; without ties `exact` is `clopper_pearson_interval`.",
    ),
    "looking": (
        "Looking after every pair",
        "How often the interval has missed the truth at least once by the n-th look. Only `anytime` claims to survive that; the rows of `exact`, `percentile` and `wilson` show how often a verdict on equals would have been significant at one look or another. `second_look_level`: the verdict on n pairs and, where that is not significant, once more on 2n at the level that is left.",
    ),
    "sequential": (
        "Deciding as pairs come in",
        "The test of `plan_sequential_test` with α = β = 5%, followed pair by pair. Columns are the γ that it is planned for. False alarms: it decides for either of two equals. Power: it decides for A where P(A>B) is γ, a tie counting half, which it promises to do in 95% (at γ = 0.9, 30% of ties are too many to be possible). *Half of A's wins fail*: `trace_path` takes such pairs as incomplete. It keeps its promise about equals; it makes none about power, and finds next to nothing where so many fail. Leaving failed pairs out and going on with others claims nothing here, and errs far more often.",
    ),
    "unpaired": (
        "P(A>B) of independent runs",
        "Coverage: the lowest where P(A>B) is 0.5, 0.75 or 0.97.",
    ),
    "tests": (
        "Tests",
        "Equals have the same mean for `welch-t`, `paired-t`, `sign-flip` and `nadeau-bengio`, and P(A>B) = 0.5 for the others. The sign test is the verdict by `exact`, above.",
    ),
    "means": (
        "Mean difference and equivalence",
        "False alarms of `equivalence_test`: means that differ by exactly the margin are called equivalent. Power: equal means are. The margin is one standard deviation of the differences. `resampled_difference` is the interval of `nadeau-bengio`.",
    ),
    "trained learners": (
        "Re-splits by learners that train",
        "Equals for *data like these*, told apart by re-splits of one dataset of 300 examples: each study draws a dataset and trains both learners on every split. Columns are re-splits; a cell is the worst of six pairs of learners. [scope.md](scope.md) has more designs, and what follows.",
    ),
    "rules": (
        "Decision rules",
        "How often a rule declares one of two equals better, at the number of pairs (of those above) at which that is most frequent. `single-point`, `average` and `oracle` decide by a threshold and claim nothing.",
    ),
    "power of rules": (
        "What decision rules find",
        "How often A is declared better where P(A>B) = 0.75.",
    ),
    "variation": (
        "Deviations, their ratios and variance components",
        "Coverage of the true standard deviation, ratio or variance. Columns of `variance_components` are levels of each of two factors; main effects and interaction have the same variance. Columns of `repeated_means` are repetitions of 10 scores. Below 5 values `deviation` is the chi-square interval and `deviation_ratio` the F interval, for normal values.",
    ),
    "one search": (
        "One search, taken for many",
        "Coverage of the interval of `combine_designs`, by pairs. ρ is the share of the variance of a difference that is luck of the search. The interval holds the mean difference after *this search*. **It fails to hold the mean over all searches**, and that is how it is made: all pairs share the luck of one search, which moves their mean and not their spread. More pairs make it narrower and no truer, so it gets worse with them. Only where searches have no luck (ρ = 0) does it hold both.",
    ),
    "several searches": (
        "Several searches of each",
        "How often equals that are tuned anew are found to differ by `difference_over_searches`, the t test of the means of searches, by the number of searches of each, with 5 replicates after each; and how often `equivalence_over_searches` calls means equivalent that differ by exactly the margin, which is one standard deviation of a score. ρ is the share of the variance of a score that is luck of its search. Scores are normal unless the row says otherwise.",
    ),
    "designs": (
        "What a design is worth",
        "Coverage, by repetitions of 20 scores each, which share the luck of one search (ρ), beside 50 independent scores; every repetition has its search and its first score in common with one of these. Scores are normal unless the row says otherwise. `assess_design`: the bias, ρ, the mean squared error of a repetition's mean, and the independent replicates that are equivalent to it; the lower of no bias and one of 0.3 standard deviations. `assess_deviations`: the mean deviation within repetitions, and its ratio to that of independent scores.",
    ),
    "budgets": (
        "What a budget shows",
        "What `outperform plan --budget` says by `smallest_shown_probability`: with the searches (of 50 trials) and replicates that the budget is split into, the t test of the means of searches errs in 5% of equals and finds the P(A>B) that is *shown* in 95%. Power is that at this P(A>B), where pipelines are tuned anew. Rows have the true ρ of scores after one search. *ρ known*: the plan has the true one, as the claim supposes; where it is 0, one search is planned, which shows nothing. *ρ of a pilot*: it has what 10 repetitions of 5 replicates let it expect. *ρ typical*: it has 0.16, the mean of published case studies, which is taken where there is no pilot. The test knows none of them.",
    ),
    "best of n": (
        "The best of n",
        "Both intervals of `estimate_best_of`. Columns are *n of m*: the expected best of n, estimated from m runs that are chosen and reported on the same score. `best_of_probability` is tried on equals.",
    ),
    "published": (
        "From published numbers",
        "`probability_from_summary` and `welch_from_summary` know mean, standard deviation and number of runs; the lowest where P(A>B) is 0.5 or 0.97. The others are about the best of m equals, all with an accuracy (or area under the ROC curve) of 0.9 on n examples (n of each class).",
    ),
    "maybe best": (
        "Who may be the best of many",
        "Coverage: how often the marked set holds the truly best of 3, 8 or 20 algorithms, of which none is worse (the hardest case), by runs of each. With *unequal variances* the best varies a tenth as much as the others, with *skewed, unequal variances* it has the longest tail; *one bad* is three standard deviations below. `leader` rows claim nothing: who is not told from the observed leader, by Holm's correction or by none.",
    ),
    "over tasks": (
        "Many algorithms over many tasks",
        "Columns are tasks. `holm`: how often any pair of equals among 6 algorithms is told apart, with 10 runs on each task; `flat α/(k − 1)` is what some packages call Holm, and claims nothing here. Unequal variances: the spread of a task is between a tenth and ten times the usual. `average_probability`: the worst of 5, 20 and from 3 to 50 runs. `partial_conjunction`: how often A is claimed to be better on more tasks than it is.",
    ),
    "rank sets": (
        "Sets of ranks",
        "Coverage: all sets hold the true ranks at once (`marginal`: that of one competitor does); the lowest for 3, 8 and 20 competitors. Columns are tasks; of `clusters`, families of one to three tasks; of `strata`, replicates on each of 6 tasks that are fixed, on each of which others are good. Means are equal but for *one bad among equals*, which is three standard deviations worse. *Unequal variances of tasks*: standard deviations differ by a factor of e and more. *One skewed, three times as much*: exponential, and one varies three times as much as the others, so that differences are skewed. With 5 tasks nothing is ever sure. A study draws 499 flips.",
    ),
    "all at once": (
        "All competitors at once",
        "False alarms: any two equals among 3 or 8 competitors differ; the worse of both. Of *one bad among equals* only differences among the equals count, and `friedman` has nothing to err about. Columns are tasks.",
    ),
    "how many tasks": (
        "On how many tasks",
        "False alarms: A is claimed to be better on more tasks than it is, by p-values of paired t-tests of 10 seeds on each; the worst where it is better, beyond doubt, on none, half or all but one. *One seed for all tasks*: differences by chance are the same on every task, for which Fisher's method makes no claim. Columns are tasks.",
    ),
    "aggregates": (
        "One number over tasks",
        "Columns are *n on m tasks*: replicates of each, drawn together. *fixed*: the truth of these tasks, whose means are one of each level; *sampled*: that of all tasks like these. Tasks' means have a standard deviation of 0.25 about 0.6, and runs one of 0.15 about the mean of their task; both have the shape that the row says.",
    ),
}
