"""What varied between runs, and hence what may be concluded from them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from outperform.errors import InvalidInput
from outperform.plain_values import Plain
from outperform.runs.columns import read_name
from outperform.wording import join_words

_MOST = 10**12  # examples: nobody has more
RUNS = "runs"  # where nothing says what set them apart
SEEDS = "seeds"
SPLITS = "splits of this dataset"
FOLDS = "folds of this dataset"
TASKS = "tasks"
EXAMPLES = "examples"
HYPERPARAMETERS = "hyperparameters"

THIS_DATASET = "this dataset"
THIS_SPLIT = "this split of this dataset"
DATA_LIKE_THESE = "data like these"
THESE_TASKS = "these tasks"
TASKS_LIKE_THESE = "tasks like these"
THESE_MODELS = "these trained models"

_TUNED_ONCE = "with the hyperparameters that one search found"
_COLUMNS = {"fold": FOLDS, "split": SPLITS, "seed": SEEDS}


@dataclass(frozen=True, slots=True)
class Scope(Plain):
    """What varied between the runs of a result, and what it is about for that reason."""

    JSON = "varied about=whole"

    varied: tuple[str, ...]
    about: str
    how: str = "varied"  # what is planned or computed has not varied yet
    tuned_once: bool = False  # all runs of an algorithm share one search of its hyperparameters

    @property
    def divides_anew(self) -> bool:
        """Whether each replicate has its own division of one dataset."""
        return SPLITS in self.varied or FOLDS in self.varied

    @property
    def whole(self) -> str:
        """What it is about, with the hyperparameters that were held fixed."""
        return f"{self.about}, {_TUNED_ONCE}" if self.tuned_once else self.about

    def __str__(self) -> str:
        words = join_words(self.varied)
        if self.about in (THESE_TASKS, TASKS_LIKE_THESE):
            words = words.replace(THIS_DATASET, "each dataset")
        return f"{words[0].upper()}{words[1:]} {self.how}, so this is about {self.whole}"


UNKNOWN = Scope((RUNS,), THIS_DATASET)  # where nothing is said of the runs


@dataclass(frozen=True, slots=True)
class Resplit:
    """Sizes of the sets that one dataset is divided into anew for every replicate.

    An example that a bootstrap draws more than once counts once; validation examples count as
    trained on where the final fit takes them in. Where examples come in groups that stay together,
    the sizes count groups.
    """

    n_train: int
    n_test: int

    def __post_init__(self) -> None:
        for name, size in (("train", self.n_train), ("test", self.n_test)):
            if size < 1:
                raise InvalidInput(f"the {name} size is {size}", "Pass the number of its examples")
            if size > _MOST:
                raise InvalidInput(
                    f"the {name} size is {size}",
                    f"Pass the number of its examples, up to {_MOST:,}",
                )


def varied_by(columns: Sequence[str]) -> tuple[str, ...]:
    """What the columns that tell replicates apart say of what varied between them.

    Examples
    --------
    >>> varied_by(["Fold", "params.seed"]), varied_by(["seed", "lr"]), varied_by(["replicate"])
    (('folds of this dataset', 'seeds'), ('seeds', 'hyperparameters'), ('runs',))
    >>> varied_by(["split_seed", "init_seed"])
    ('splits of this dataset', 'seeds')
    """
    varied = []
    for name in map(read_name, columns):
        known = _COLUMNS.get(name.bare)
        if known is None and "seed" in name.hints:
            known = SPLITS if "split" in name.bare else SEEDS
        varied.append(HYPERPARAMETERS if name.kind == "setting" else known)
    return tuple(dict.fromkeys(filter(None, varied))) or (RUNS,)


def join_scopes(scopes: Sequence[Scope], tasks: Collection[str]) -> Scope:
    """What several results on these tasks are about, taken together.

    Examples
    --------
    >>> scopes = Scope((SEEDS,), THIS_DATASET), Scope((SPLITS, SEEDS), THIS_DATASET)
    >>> str(join_scopes(scopes, ["digits", "iris"]))
    'Seeds and splits of each dataset varied, so this is about these tasks'
    """
    varied = tuple(dict.fromkeys(word for scope in scopes for word in scope.varied))
    about = THESE_TASKS if len(set(tasks)) > 1 else scopes[0].about
    return Scope(varied, about, scopes[0].how, any(scope.tuned_once for scope in scopes))
