"""What a run keeps in a store beside its measurements, and the shape that each part has."""

from typing import Any

ACTIVITY = "activity"  # what a run does at the moment; None where none is going on

# A type; a tuple of what is allowed; [shape] of a list; {str: shape} of a table with any keys; or
# a table with these keys, of which those with a question mark came with later versions.
_SHAPES: dict[str, Any] = {
    "study": {
        "name": str,
        "seed": int,
        "fingerprints": {str: str},
        "spaces": {str: str},
        "tasks": {str: {"metric": str, "goal": ("maximize", "minimize")}},
        "pipelines": [str],
        "kinds": [str],
        "settings": [str],
        "search": str,
        "divided?": {str: (str, None)},
        "n_fits?": int,
        "prices?": {str: [[(str, int)]]},
        "designs?": [{"design": str, "source": str, "replicates": int}],
        "sizes?": {str: [int]},
    },
    "stopped": (None, {"design": str, "replicates": int, "reason": str}),
    "sequential": [
        {
            "rule": {
                **dict.fromkeys(("a", "b", "design"), str),
                **dict.fromkeys(("gamma", "alpha", "beta", "upper", "lower"), float),
                **dict.fromkeys(("n_max", "n_last"), int),
                "tasks": [str],
            },
            "n_allowed": int,
            "why": str,
            "looks": [
                {
                    **dict.fromkeys(("task", "when"), str),
                    **dict.fromkeys(("pairs", "wins", "losses", "ties", "incomplete"), int),
                    **dict.fromkeys(("log_ratio_a", "log_ratio_b"), float),
                }
            ],
            "decisions": [
                {
                    **dict.fromkeys(("task", "outcome", "when"), str),
                    "winner_name": (str, None),
                    "pairs": int,
                }
            ],
        }
    ],
    ACTIVITY: (
        None,
        {
            "engine": str,
            **dict.fromkeys(("began", "spoke"), float),
            **dict.fromkeys(("n_workers", "n_done", "n_failed", "n_left", "n_more"), int),
            **dict.fromkeys(("fits_per_minute", "seconds_left"), (float, None)),
            "n_busy": (int, None),  # None where the engine cannot tell
            "workers": [
                {
                    **dict.fromkeys(("name", "doing"), str),
                    **dict.fromkeys(("pipeline", "task"), (str, None)),
                    "n_done": int,
                    **dict.fromkeys(("since", "seconds_per_fit"), (float, None)),
                }
            ],
        },
    ),
    "blocked": {str: int},
    "unsimulated": {str: int},
    "surrogates": {
        str: {
            "pipeline": str,
            "task": str,
            "chain?": {
                "log_thetas": [[float]],
                "autocorrelation_time": float,
                "acceptance": float,
                "n_effective": float,
            },
            "doubts?": [str],
            "refused?": [str],
        }
    },
    "writer": str,
}


def find_meta_problem(name: str, value: Any) -> str | None:
    """What is wrong with what is kept under a name; None if nothing is."""
    shape = _SHAPES.get(name)
    place = None if shape is None else _find_misfit(value, shape, name)
    if place is None and name == "study":
        place = _find_contradiction(value)
    return None if place is None else f"what it keeps as '{place}' makes no sense"


def _find_contradiction(study: dict[str, Any]) -> str | None:
    """A part of a study's description that no study has, though its shape is right."""
    tasks = study["tasks"]
    sizes, prices = study.get("sizes", {}), study.get("prices", {})
    wrong = {
        "tasks": not tasks,
        "pipelines": not study["pipelines"],
        "kinds": not study["kinds"],
        "divided": not tasks.keys() <= study.get("divided", tasks).keys(),
        "sizes": any(len(pair) != 2 or min(pair) < 1 for pair in sizes.values()),
        "prices": any(len(price) != 3 for each in prices.values() for price in each),
    }
    return next((f"study.{part}" for part, is_wrong in wrong.items() if is_wrong), None)


def _find_misfit(value: Any, shape: Any, place: str) -> str | None:
    """Where a value has another shape than it should; None if nowhere."""
    if isinstance(shape, list):
        if not isinstance(value, list):
            return place
        return _find_first((each, shape[0], f"{place}[{i}]") for i, each in enumerate(value))
    if isinstance(shape, dict):
        return _find_misfit_in_table(value, shape, place)
    if isinstance(shape, tuple):
        fits = any(_find_misfit(value, each, place) is None for each in shape)
    elif isinstance(shape, type):
        fits = type(value) is shape
    else:
        fits = value == shape
    return None if fits else place


def _find_misfit_in_table(value: Any, shape: dict[Any, Any], place: str) -> str | None:
    if not isinstance(value, dict):
        return place
    if str in shape:
        return _find_first((each, shape[str], f"{place}.{key}") for key, each in value.items())
    missing = object()
    parts = [
        (value.get(key.rstrip("?"), missing), part, f"{place}.{key.rstrip('?')}")
        for key, part in shape.items()
        if not key.endswith("?") or key.rstrip("?") in value
    ]
    return _find_first(iter(parts))


def _find_first(parts: Any) -> str | None:
    misfits = (_find_misfit(*part) for part in parts)
    return next((place for place in misfits if place is not None), None)
