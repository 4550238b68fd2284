import pytest

from outperform.errors import UnknownDirection
from outperform.runs import known_goal, read_runs
from outperform.runs.metrics import looks_like_score

UP = """
score | test_acc | Accuracy | MNLI dev acc. | top-1 accuracy | top5_acc | neg_log_loss |
neg_mean_squared_error | roc_auc | ROC-AUC | r2 | R² | R^2 | r2_score | bleu | BLEU-4 | mAP |
mAP@50 | ndcg@10 | recall@k | f1_macro | F1 Score | macro F1 | mean_test_score | valAccuracy | IoU
| win rate | exact_match | images/sec | tokens per second | explained_variance | log-likelihood |
balanced accuracy | true positive rate | negative predictive value | test.score |
average_precision | success_rate | test/acc | Eval/Accuracy | metrics/mAP | metrics.auc |
Rank-1 accuracy | score ↑ | PSNR ↑ | text-to-image recall | q (higher is better)
"""

DOWN = """
loss | Val Loss | valLoss | test_loss_mean | error_rate | top-5 error | wer | WER (%) | FID | fid
| perplexity | ppl | elapsed | seconds | latency | latency_ms | train_time | score_time |
mean_fit_time | rmse | mean_squared_error | MAPE | brier_score | cross-entropy | negative log
likelihood | nll | false_positive_rate | edit distance | bits per byte | expected calibration
error | mean rank | val/loss | score ↓ | FID ↓ | value (lower is better) | AURC ↓
"""

UNKNOWN = """
value | result | test | val | x | "" | lossless_ratio | f1_error | accuracy_drop | loss weight |
acc_std | learning_rate | dropout rate | 1 - accuracy | 1-acc | inverse_loss | accuracy gap |
std_acc | stdev of loss | scoreboard | accurate | errorless | neg | neg_score | lossy |
loss_accuracy | rate | error reduction | mapping | Rank-1 | rank@5 | epochs_to_accuracy |
steps until success | queries needed for success | attack_success_rate | accuracy ↓ | loss ↑
"""


def listed(names: str) -> list[str]:
    return [name.strip().strip('"') for name in names.replace("\n", " ").split("|")]


@pytest.mark.parametrize("name", listed(UP))
def test_higher_is_better(name):
    assert known_goal(name) == "maximize"


@pytest.mark.parametrize("name", listed(DOWN))
def test_lower_is_better(name):
    assert known_goal(name) == "minimize"


@pytest.mark.parametrize("name", listed(UNKNOWN))
def test_a_name_that_does_not_tell(name):
    assert known_goal(name) is None


def test_times_are_metrics_but_seldom_the_score():
    assert looks_like_score("test_acc")
    assert not looks_like_score("seconds")
    assert not looks_like_score("notes")
    assert not looks_like_score("Params ↓")


def test_unknown_direction_is_refused(write):
    path = write("algorithm,seed,value\na,1,0.5\n")
    with pytest.raises(UnknownDirection) as caught:
        read_runs(path)
    assert str(caught.value) == (
        "nothing says whether a higher 'value' is better. Pass --maximize or --minimize "
        '(from Python: goal="maximize" or goal="minimize").'
    )
    assert read_runs(path, goal="minimize").goal == "minimize"


def test_a_goal_of_another_name_is_refused(write):
    with pytest.raises(UnknownDirection) as caught:
        read_runs(write("algorithm,score\na,1\n"), goal="max")  # type: ignore[arg-type]
    assert str(caught.value) == (
        'the goal is \'max\', which says no direction. Pass "maximize" or "minimize".'
    )


def test_the_direction_given_wins_over_the_one_known(write):
    assert read_runs(write("algorithm,loss\na,1\n"), goal="maximize").goal == "maximize"


@pytest.mark.parametrize("name", ["-loglik", "− accuracy", "100 - acc", "exp(-loss)", "inv_acc"])
def test_names_that_compute_something_say_no_direction(name):
    assert known_goal(name) is None
