"""Reasons to doubt that seeds do what they should."""

from collections.abc import Iterator, Sequence

from outperform.questions.check.result import SourceCheck, UnseededDraws


def find_doubts(checks: Sequence[SourceCheck], unseeded: Sequence[UnseededDraws]) -> Iterator[str]:
    """What each unused or noisy seed means, and what draws without one."""
    for check in checks:
        if check.finding == "unused":
            yield (
                f"{check.name}: all {check.scores.shape[0]} seeds give the score "
                f"{check.scores[0, 0]:.4g}, so its seed is unused, or has no effect that this "
                "metric shows"
            )
        elif check.finding == "noisy" and check.spread <= check.noise:
            yield (
                f"{check.name}: seeds differ by no more than runs of one seed do, so it cannot be "
                "told whether the seed is used"
            )
    yield from map(str, unseeded)
