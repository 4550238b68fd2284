"""Whether higher or lower is better, by the name of a metric.

Names are read word by word, never by parts of words. The last word that is not a mere addition
(`test`, `macro`, `@10`) must be a known metric, so `accuracy_drop` is unknown; words before it may
be anything (`MNLI dev acc.`) unless they contradict it (`f1_error`) or turn it round (`neg_`).
"""

import math
import re
from collections.abc import Mapping
from functools import cache
from itertools import filterfalse
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from outperform.errors import InvalidScores, UnknownDirection
from outperform.stats.checks import FloatArray
from outperform.wording import enumerate_names, split_words

Goal: TypeAlias = Literal["maximize", "minimize"]

_UP = split_words(
    """
    acc accuracies accuracy ami ap ari auc aucpr aupr auprc auroc bertscore bleu bleurt chrf cider
    comet concordance correct corr correlation dice elbo elo em f1 f2 fbeta fmeasure fps fscore
    hits homogeneity iou jaccard kappa kendall kendalltau likelihood loglik loglikelihood
    macrof1 map mcc meteor microf1 miou mos mrr ndcg nmi npv pearson pearsonr pesq precision
    prauc psnr r2 recall return returns reward rewards rocauc rouge rouge1 rouge2 rougel
    rougelsum sacrebleu sensitivity silhouette snr spearman spearmanr specificity spice ssim stoi
    success successes throughput tnr tpr utility wins
    """
)
_TIMES_AND_COSTS = split_words(
    """
    cost costs duration elapsed flops hours latency milliseconds minutes ms runtime sec seconds
    secs time times walltime
    """
)
_DOWN = _TIMES_AND_COSTS | split_words(
    """
    ade bpb bpc bpd brier cer chamfer crossentropy crps deviance ece eer epe err error errors
    failures fde fdr fid fnr fpr hausdorff kid levenshtein logloss loss losses lpips mae mape mase
    mce medae misclassification misclassifications mistakes mpjpe mse msle nll nrmse perplexity
    ppl rank regret rmse rmsle smape ter violations wasserstein wer wmape xent
    """
)
# Between 0 and 1, or between 0 and 100 if they are per cent.
_SHARES = split_words(
    """
    acc accuracies accuracy ap auc aucpr aupr auprc auroc bertscore bleu chrf correct dice em eer
    err error f1 f2 fbeta fdr fmeasure fnr fpr fscore hits iou jaccard macrof1 map meteor microf1
    miou misclassification mrr ndcg npv prauc precision recall rocauc rouge rouge1 rouge2 rougel
    rougelsum sensitivity specificity ssim success tnr tpr wer cer
    """
)
# Which are never above 1, or 100; word errors may be, and areas under other curves.
_AT_MOST_ALL = split_words(
    """
    acc accuracies accuracy auprc auroc dice em f1 f2 fbeta fdr fmeasure fnr fpr fscore iou jaccard
    macrof1 microf1 miou mrr ndcg npv precision recall rocauc sensitivity specificity tnr tpr
    """
)
# Answers that may be counted.
_COUNTS = split_words(
    """
    correct errors failed failures hits incorrect misclassifications misclassified mistakes passed
    resolved right solved successes violations wins wrong
    """
)
_RATIOS = split_words("frac fraction mean pct per percent percentage rate ratio share")
_NEVER_NEGATIVE = split_words(
    "absolute mae mape mase medae mse msle nrmse perplexity ppl rmse rmsle smape squared wmape"
)
# Shares of which some are negative all the same, and what makes any of them so.
_MAY_BE_NEGATIVE = split_words(
    """
    adjusted bertscore centered centred chance corrected log logit minus neg negated negative
    normalised normalized relative rescaled scaled signed ssim standardised standardized z
    """
)
_GOALS: dict[str, Goal] = dict.fromkeys(_UP, "maximize")
_GOALS |= dict.fromkeys(_DOWN, "minimize")

# Phrases that mean one word, longest first where one begins another.
_PHRASES = {
    "negative log likelihood": "nll",
    "negative predictive value": "npv",
    "positive predictive value": "precision",
    "log likelihood": "likelihood",
    "false positive rate": "fpr",
    "false negative rate": "fnr",
    "false discovery rate": "fdr",
    "true positive rate": "tpr",
    "true negative rate": "tnr",
    "error rate": "error",
    "success rate": "success",
    "win rate": "wins",
    "hit rate": "hits",
    "exact match": "em",
    "cross entropy": "xent",
    "inception score": "reward",
    "explained variance": "r2",
    "edit distance": "levenshtein",
    "bits per byte": "bpb",
    "bits per character": "bpc",
    "bits per dim": "bpd",
    "c index": "concordance",
    "g mean": "f1",
    "r 2": "r2",
    "per second": "throughput",
    "per sec": "throughput",
    "per s": "throughput",
}
_PHRASE = re.compile(rf"\b(?:{'|'.join(_PHRASES)})\b")
_WORD = re.compile(r"[^\W_]+")
_TOP = re.compile(r"\btop\d*\b|\brank ?\d+\b")  # rank-1 is an accuracy, of being ranked first
# How long it takes to reach something says nothing of how much of it is good.
_EFFORT = re.compile(
    r"(?:batch|call|episode|epoch|eval|evaluation|example|frame|generation|iter|iteration|quer|"
    r"round|sample|step|timestep|token|trial|update)(?:s|es|ies|y)? "
    r"(?:for|needed|required|till|to|until)\b"
)
_ARROW = re.compile(r"(↓|\blower(?: is|=) ?better)|↑|\bhigher(?: is|=) ?better", re.IGNORECASE)
_ADDITIONS = split_words(
    """
    average averaged avg best cv dev eval final holdout k macro max mean median micro min overall
    pct percent percentage s score scores test total train training val valid validation weighted
    """
)
_BARE = frozenset({"result", "value"})
_TURNS = frozenset({"neg", "negated", "negative", "minus"})
_UNCLEAR = split_words(
    """
    attack attacker attacks backdoor change decrease delta diff difference drop free gap
    improvement increase inv inverse jailbreak non not per reciprocal reduction sd se std stderr
    stdev
    """
)
_BOUNDED = frozenset(["acc", "accuracy", "accuracies", "auc", "auroc", "f1", "precision", "recall"])
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
# "1 - accuracy", "-loglik", "exp(-loss)": a name that computes something says no direction.
_ARITHMETIC = re.compile(r"\s*[-−–]\s*\w|\s*\d+(\.\d*)?\s*[-−–]|\w+\s*\(\s*[-−–]")
# What trackers put before a name, as in "val/loss"; any other slash is read as "per".
_NAMESPACE = re.compile(r"(dev|eval|metrics|summary|test|train|training|val|valid|validation)/")


@cache
def known_goal(name: str) -> Goal | None:
    """Say whether higher or lower values of a metric are better, None if its name does not tell.

    Examples
    --------
    >>> known_goal("test_acc"), known_goal("Val Loss"), known_goal("neg_log_loss")
    ('maximize', 'minimize', 'maximize')
    >>> known_goal("score ↓"), known_goal("epochs_to_accuracy"), known_goal("lossless_ratio")
    ('minimize', None, None)
    """
    by_words = _goal_by_words(name)
    if not (arrow := _ARROW.search(name)):
        return by_words
    goal: Goal = "minimize" if arrow[1] else "maximize"
    return goal if by_words in (None, goal) or is_bare_score(name) else None


def _goal_by_words(name: str) -> Goal | None:
    if _ARITHMETIC.match(name):
        return None
    name = _ARROW.sub("", name)
    for spelled in (name, _CAMEL.sub(" ", name)):
        spoken = _split(spelled)
        if _EFFORT.search(" ".join(spoken)):
            return None
        words = [*filterfalse(_TURNS.__contains__, spoken)]
        turned = len(spoken) - len(words)
        is_score = "score" in words or "scores" in words
        while words and (words[-1] in _ADDITIONS or words[-1].isdigit()):
            words.pop()
        if not words and is_score and not turned:
            return "maximize"
        goals = {*map(_GOALS.__getitem__, _GOALS.keys() & set(words))}
        if len(goals) == 1 and words[-1] in _GOALS and not _UNCLEAR & set(words):
            goal = goals.pop()
            if turned % 2:
                return "minimize" if goal == "maximize" else "maximize"
            return goal
    return None


def resolve_goal(name: str, goal: Goal | None) -> Goal:
    """Take the direction given, else the one the metric's name tells."""
    if goal is not None and goal not in ("maximize", "minimize"):
        raise UnknownDirection(
            f"the goal is {goal!r}, which says no direction", 'Pass "maximize" or "minimize"'
        )
    known = goal or known_goal(name)
    if known is None:
        raise UnknownDirection(
            f"nothing says whether a higher {name!r} is better",
            'Pass --maximize or --minimize (from Python: goal="maximize" or goal="minimize")',
        )
    return known


def looks_like_score(name: str) -> bool:
    """Whether the name is that of a metric of quality; times and costs seldom are the score."""
    return _goal_by_words(name) is not None and not _TIMES_AND_COSTS & set(_split(name))


@cache
def measures_speed(name: str) -> bool:
    """Whether a metric depends on the machine: a time, a cost, or how much is done in a time.

    Examples
    --------
    >>> measures_speed("latency_ms"), measures_speed("images/sec"), measures_speed("accuracy")
    (True, True, False)
    """
    return bool((_TIMES_AND_COSTS | {"fps", "throughput"}) & {*_split(name)})


@cache
def is_share(name: str) -> bool:
    """Whether a metric is known to lie between 0 and 1, or between 0 and 100.

    Examples
    --------
    >>> is_share("test_acc"), is_share("error rate"), is_share("mean squared error")
    (True, True, False)
    """
    words = set(_split(name))
    return bool(_SHARES & words) and not {"absolute", "squared"} & words


def is_never_negative(name: str) -> bool:
    """Whether a metric is a share or a size of errors, and nothing made of one: no logarithm.

    Examples
    --------
    >>> [is_never_negative(name) for name in ("test_mse", "mean absolute error", "log_mse", "loss")]
    [True, True, False, False]
    >>> [is_never_negative(name) for name in ("mnli dev acc", "r2", "ssim", "adjusted accuracy")]
    [True, False, False, False]
    """
    words = set(_split(name)) - _ADDITIONS
    sizes = words - {"error", "root"}
    if sizes and sizes <= _NEVER_NEGATIVE:
        return True
    return known_goal(name) is not None and bool(words & _SHARES) and not words & _MAY_BE_NEGATIVE


def is_at_most_all(name: str) -> bool:
    """Whether a metric is a share of what there is, and hence no more than 100 per cent.

    Examples
    --------
    >>> [is_at_most_all(name) for name in ("test_acc", "wer", "relative accuracy", "reward")]
    [True, False, False, False]
    """
    words = {*_split(name)}
    return (
        bool(words & _AT_MOST_ALL) and not words & _MAY_BE_NEGATIVE and known_goal(name) is not None
    )


def counts_answers(name: str) -> bool:
    """Whether a metric may be a number of right or wrong answers.

    Examples
    --------
    >>> counts_answers("n_correct"), counts_answers("test errors"), counts_answers("accuracy")
    (True, True, False)
    >>> counts_answers("hits_per_minute"), counts_answers("percent correct")
    (False, False)
    """
    words = {*_WORD.findall(_CAMEL.sub(" ", name).casefold())}
    return bool(_COUNTS & words) and not _RATIOS & words


def may_be_points(name: str) -> bool:
    """Whether a metric may be a number of points, out of those that can be reached.

    Examples
    --------
    >>> may_be_points("score"), may_be_points("test_points"), may_be_points("reward")
    (True, True, False)
    """
    return not {*_split(name)} - _ADDITIONS - _BARE - {"marks", "point", "points"}


@cache
def is_bare_score(name: str) -> bool:
    """Whether a name says no more than that these are scores."""
    words = _split(_ARROW.sub("", name))
    return not [word for word in words if word not in _ADDITIONS | _BARE]


def _split(name: str) -> list[str]:
    text = _NAMESPACE.sub(r"\1 ", name.casefold())
    text = text.replace("²", "2").replace("r^2", "r2").replace("/", " per ")
    text = _PHRASE.sub(lambda phrase: _PHRASES[phrase[0]], " ".join(_WORD.findall(text)))
    return _TOP.sub("", text).split()


def find_limits(metric: str, scores: FloatArray) -> tuple[float, float]:
    """Lowest and highest value that is possible: infinite unless the metric is a share by name.

    Refuses shares that are impossible, or of which some are in per cent and others are not.
    """
    if not _BOUNDED & set(re.split(r"[\W_]+", metric.casefold())):
        return -math.inf, math.inf
    low, high = float(scores.min()), float(scores.max())
    if low < 0 or high > 100:
        raise InvalidScores(
            f"values of {metric} go from {low:g} to {high:g}",
            "Pass shares between 0 and 1, or per cent; if it is another metric, rename it",
        )
    # No success at all is 0 in per cent too.
    n_fractions = int(np.count_nonzero((scores > 0) & (scores <= 1)))
    if high > 1 and n_fractions:
        raise InvalidScores(
            f"{n_fractions} of {scores.size} values of {metric} are fractions, and others go up to "
            f"{high:g}",
            "Give all of them as fractions, or all in per cent",
        )
    return 0.0, 100.0 if high > 1 else 1.0


class TaskMetric(NamedTuple):
    """What the scores on a task are, and whether higher or lower ones are better."""

    metric: str
    goal: Goal


def sum_up_metrics(by_task: Mapping[str, TaskMetric]) -> dict[str, Any]:
    """Fields of `Runs` that say what all tasks have in common, and what each has.

    Examples
    --------
    >>> sum_up_metrics({"iris": TaskMetric("accuracy", "maximize")})
    {'metric': 'accuracy', 'goal': 'maximize', 'task_metrics': {}}
    """
    metrics, goals = map(dict.fromkeys, zip(*by_task.values(), strict=True))
    differ = len(metrics) > 1 or len(goals) > 1
    return {
        "metric": enumerate_names(metrics, limit=3),
        "goal": next(iter(goals)) if len(goals) == 1 else None,
        "task_metrics": dict(by_task) if differ else {},
    }
