"""What the fits of each pipeline need of the engine."""

from outperform.engines import NO_NEEDS, Needs
from outperform.study.study import Study


def list_needs(study: Study) -> dict[str, Needs]:
    """What a fit needs, by pipeline.

    Where one asks for GPUs, those that do not must see none: they would take some of its memory.
    """
    no_gpus = need_nothing(study).gpus
    needs = {}
    for pipeline in study.pipelines:
        others = dict(pipeline.resources)
        gpus, memory = others.pop("gpus", no_gpus), others.pop("memory", None)
        limit = None if memory is None else int(memory)
        needs[pipeline.name] = Needs(gpus, limit, tuple(sorted(others.items())))
    return needs


def need_nothing(study: Study) -> Needs:
    """What all that is no fit needs: no GPU, where there are fits which do."""
    is_asked = any("gpus" in pipeline.resources for pipeline in study.pipelines)
    return Needs(gpus=0) if is_asked else NO_NEEDS
