from types import SimpleNamespace

import numpy as np
import pytest

from outperform.questions.rank.figure import PROFILES_HEIGHT, draw_profiles
from outperform.render.style import COLUMN_WIDTH, house_style, make_figure

LONG = "gradient boosting with early stopping, learning rate 0.{}, $depth$ 7"


def draw(names):
    thresholds = np.linspace(0, 2, 51)
    means = np.linspace(1.4, 0.5, len(names))
    shares = 1 / (1 + np.exp(6 * (thresholds - means[:, None])))
    with house_style():
        made = make_figure(COLUMN_WIDTH, PROFILES_HEIGHT)
        turned = shares[::-1]  # aggregates may have another order than ranks
        bounds = SimpleNamespace(estimate=turned, low=turned - 0.05, high=turned + 0.05)
        profiles = SimpleNamespace(thresholds=thresholds, shares=bounds)
        aggregates = SimpleNamespace(names=names[::-1], profiles=profiles)
        draw_profiles(SimpleNamespace(names=names, aggregates=aggregates), made.subplots())
        made.draw_without_rendering()
    return made, shares


@pytest.mark.parametrize(
    "names",
    [
        ["a", "b"],
        [LONG.format(i) for i in range(7)],
        ["_x_", "$y$", "模型", "שלום"],
        [*map(str, range(40))],
    ],
)
def test_curves_are_the_shares_and_no_text_overlaps(names, find, check_texts):
    made, shares = draw(names)
    check_texts(made)
    for row in range(len(names)):
        assert find(made, f"profile-{row}").get_ydata() == pytest.approx(shares[row])
    bands = made.findobj(lambda artist: str(artist.get_gid()).startswith("band-"))
    assert len(bands) == min(6, len(names))
    low, high = find(made, "band-0").get_datalim(made.axes[0].transData).intervaly
    assert low == pytest.approx(shares[0].min() - 0.05)
    assert high == pytest.approx(shares[0].max() + 0.05)


def test_curves_without_a_colour_are_counted():
    made, _ = draw([f"model-{place}" for place in range(40)])
    labels = [text.get_text().strip() for text in made.axes[0].get_legend().get_texts()]
    assert labels == [*(f"model-{place}" for place in range(6)), "34 others"]


def test_curves_are_told_apart_without_colour(find):
    made, _ = draw(list("abcdef"))
    patterns = {str(find(made, f"profile-{row}")._dash_pattern) for row in range(6)}
    assert len(patterns) == 6
