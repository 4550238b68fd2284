"""What a run keeps in a store beside its measurements, and the shape that each part has."""

from collections.abc import Iterator
from typing import Any

_MISSING = object()  # in place of a value
ACTIVITY = "activity"  # what a run does at the moment; None where none is going on

# A type; a tuple of what is allowed; [shape] of a list; {str: shape} of a table with any keys; or
# a table with these keys, of which those with a question mark may be missing.
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
        "divided": {str: (str, None)},
        "plan": (
            None,  # where a design is the person's own
            {
                "seed": int,
                "tuner": str,
                "trials": int,
                "designs": [dict],
                "tasks": [dict],
                "pipelines": [
                    {"name": str, "space": {str: dict}, "sources": [str], "gets_split": bool}
                ],
            },
        ),
        "files": {str: {str: str}},
        "n_fits": int,
        "prices": {str: [[(str, int)]]},
        "designs": [{"design": str, "source": str, "replicates": int}],
        "sizes": {str: [int]},
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
    misfits = _find_misfits(value, _SHAPES[name], name) if name in _SHAPES else iter(())
    place = next(misfits, None)
    if place is None and name == "study":
        place = _find_contradiction(value)
    return None if place is None else f"what it keeps as '{place}' makes no sense"


def _find_contradiction(study: dict[str, Any]) -> str | None:
    """A part of a study's description that no study has, though its shape is right."""
    tasks = study["tasks"]
    wrong = {
        "tasks": not tasks,
        "pipelines": not study["pipelines"],
        "kinds": not study["kinds"],
        "divided": not tasks.keys() <= study["divided"].keys(),
        "sizes": any(len(pair) != 2 or min(pair) < 1 for pair in study["sizes"].values()),
        "prices": any(len(price) != 3 for own in study["prices"].values() for price in own),
    }
    return next((f"study.{part}" for part, is_wrong in wrong.items() if is_wrong), None)


def _find_misfits(value: Any, shape: Any, place: str) -> Iterator[str]:
    """Where a value has another shape than it should."""
    if isinstance(shape, tuple):
        fits = any(next(_find_misfits(value, each, place), None) is None for each in shape)
    elif isinstance(shape, list | dict):
        fits = isinstance(value, type(shape))
    else:
        fits = type(value) is shape if isinstance(shape, type) else value == shape
    if not fits:
        yield place
    elif isinstance(shape, list):
        for i, each in enumerate(value):
            yield from _find_misfits(each, shape[0], f"{place}[{i}]")
    elif isinstance(shape, dict):
        for key, part in _list_parts(value, shape).items():
            yield from _find_misfits(value.get(key, _MISSING), part, f"{place}.{key}")


def _list_parts(table: dict[str, Any], shape: dict[Any, Any]) -> dict[str, Any]:
    """Shapes of what a table has, or should have, by key."""
    if str in shape:
        return dict.fromkeys(table, shape[str])
    parts = {key.rstrip("?"): part for key, part in shape.items()}
    return {key: part for key, part in parts.items() if key in table or key in shape}
