"""Train once, and write the scores: replace the middle by your own training."""

import argparse
import json
from pathlib import Path

from sklearn.datasets import load_digits
from sklearn.neural_network import MLPClassifier

from outperform.study.splits import OutOfBootstrap

parser = argparse.ArgumentParser()
parser.add_argument("--rate", type=float, required=True)
parser.add_argument("--split", type=int, required=True, help="seed of the split")
parser.add_argument("--init", type=int, required=True, help="seed of the weights")
parser.add_argument("--refit", choices=["true", "false"], required=True)
parser.add_argument("--out", type=Path, required=True)
arguments = parser.parse_args()

# The split that the study makes for its other pipelines, so that runs are truly paired. Without
# outperform, any split will do that depends on this seed and nothing else.
features, labels = load_digits(return_X_y=True)
split = OutOfBootstrap().split(len(labels), seed=arguments.split)
if arguments.refit == "true":
    split = split.refit()  # train on validation data too

model = MLPClassifier(32, learning_rate_init=arguments.rate, random_state=arguments.init)
for _epoch in range(20):
    model.partial_fit(features[split.train] / 16, labels[split.train], classes=range(10))

# Searches go by validation scores alone; test scores of theirs are for curves.
scores = {
    name: model.score(features[rows] / 16, labels[rows])
    for name, rows in (("valid", split.valid), ("test", split.test))
    if len(rows)  # a final fit has no validation data left
}
arguments.out.write_text(json.dumps(scores))
