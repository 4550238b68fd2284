"""What an engine on a cluster does with news that no cluster of ours gives when asked to."""

import pytest

from outperform.engines.remote import RemoteEngine
from outperform.errors import EngineError


class Nameless:
    """A cluster of two workers that cannot begin anything, and do not say which of them it was."""

    name, n_workers, is_deserted, lists_all = "nameless", 2, False, True
    n_calls = 0

    def share(self, code):
        return code

    def call(self, code, order, tell, avoid=()):
        self.n_calls += 1
        tell(ValueError("no luck"))

    def working(self):
        return [("first", None), ("second", None)]

    def cancel(self, handles):
        pass

    def close(self, session):
        pass


def test_what_nobody_can_begin_is_given_up_though_nobody_says_who_tried():
    cluster = Nameless()
    with RemoteEngine(cluster) as engine:
        engine.submit(abs, -3, tag=0)
        with pytest.raises(EngineError, match=r"no worker could load the code .* no luck"):
            engine.wait()
    assert cluster.n_calls == 2 * 3
