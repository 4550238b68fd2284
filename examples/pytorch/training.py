"""Train a small network once: what the study calls for every fit."""

from sklearn.datasets import load_digits
from torch import Generator, manual_seed, nn, no_grad, optim, set_num_threads, tensor
from torch.utils.data import DataLoader, TensorDataset

set_num_threads(1)  # fits run in parallel: one processor each
features, labels = load_digits(return_X_y=True)
DATA = TensorDataset(tensor(features / 16).float(), tensor(labels))


def fit_with_dropout(params, split, seeds, refit):
    """Forget three units of ten."""
    return fit(params, split, seeds, refit, dropout=0.3)


def fit_plainly(params, split, seeds, refit):
    """Forget nothing."""
    return fit(params, split, seeds, refit, dropout=0.0)


def fit(params, split, seeds, refit, *, dropout):
    """Scores of one training; every random choice has the seed of its source."""
    manual_seed(seeds["init"])
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Dropout(dropout), nn.Linear(64, 10))
    shuffled = Generator().manual_seed(seeds["order"])
    batches = DataLoader(
        TensorDataset(*DATA[split.train]), batch_size=64, shuffle=True, generator=shuffled
    )
    if dropout:
        manual_seed(seeds["dropout"])  # drawn from torch's global generator while training
    train(model, batches, rate=params["rate"])
    scores = {"test": measure_accuracy(model, split.test)}
    if not refit:  # the final fit has no validation data left
        scores["valid"] = measure_accuracy(model, split.valid)
    return scores


def train(model, batches, *, rate, n_epochs=10):
    """Replace this by your own."""
    optimizer = optim.Adam(model.parameters(), lr=rate)
    model.train()
    for _ in range(n_epochs):
        for x, y in batches:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()


def measure_accuracy(model, rows):
    """Share of the examples in these rows that the model gets right."""
    model.eval()
    with no_grad():
        x, y = DATA[rows]
        return (model(x).argmax(1) == y).float().mean().item()
