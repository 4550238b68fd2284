"""Engines that are interrupted, for tests of what is left then."""

from outperform.engines import InlineEngine, Outcome


class Interrupting(InlineEngine):
    """Ctrl-C comes while the n-th outcome is waited for."""

    def __init__(self, n: int) -> None:
        super().__init__()
        self.n = n

    def wait(self, patience: float | None = None) -> list[Outcome]:
        self.n -= 1
        if self.n == 0:
            raise KeyboardInterrupt
        return super().wait(patience)
