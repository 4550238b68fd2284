"""Train once, and write the scores: replace the middle by your own training."""

import argparse
import json
from pathlib import Path

from sklearn.datasets import load_digits
from sklearn.neural_network import MLPClassifier

parser = argparse.ArgumentParser()
parser.add_argument("--rate", type=float, required=True)
parser.add_argument("--split", type=Path, required=True, help="positions of train, valid and test")
parser.add_argument("--init", type=int, required=True, help="seed of the weights")
parser.add_argument("--out", type=Path, required=True)
arguments = parser.parse_args()

# The split that the study makes for all its pipelines, so that runs are pairs.
features, labels = load_digits(return_X_y=True)
split = json.loads(arguments.split.read_text())

model = MLPClassifier(32, learning_rate_init=arguments.rate, random_state=arguments.init)
for _epoch in range(20):
    model.partial_fit(features[split["train"]] / 16, labels[split["train"]], classes=range(10))

# Searches go by validation scores alone; test scores of theirs are for curves.
scores = {
    name: model.score(features[split[name]] / 16, labels[split[name]])
    for name in ("valid", "test")
    if split[name]  # a final fit trains on validation data too, and has none left
}
arguments.out.write_text(json.dumps(scores))
