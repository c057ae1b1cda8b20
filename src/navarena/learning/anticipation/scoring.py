"""Scores of an anticipation in houses that it never saw: intersection over union of maps."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Int64

from navarena.learning.anticipation.anticipator import STATES, Anticipator
from navarena.learning.anticipation.settings import WindowSettings
from navarena.learning.anticipation.windows import load_windows
from navarena.learning.perception.houses import require_unseen
from navarena.learning.perception.scoring import count_confusions
from navarena.mapping import UNKNOWN


def count_window_confusions(
    anticipator: Anticipator,
    settings: WindowSettings,
    split: str,
    advance: Callable[[], object] = lambda: None,
) -> tuple[Int64[np.ndarray, "3 3"], Int64[np.ndarray, "3 3"]]:
    """(3, 3) int64 cells by true and predicted state: of what was seen alone, and with anticipation.

    What was seen is believed; the likeliest state is taken for every other cell.

    Args:
        anticipator: that is scored.
        settings: of the windows; they are drawn where the cache folder does not have them.
        split: of the houses.
        advance: called after each house.

    Raises InputError for a split that it learned from.
    """
    require_unseen(split, "the anticipation")
    seen, anticipated = (np.zeros((len(STATES),) * 2, np.int64) for _ in range(2))
    for number in range(settings.houses):
        one = load_windows(settings, anticipator.info.protocol, split, number)
        windows, true = np.asarray(one.seen), np.asarray(one.true)
        likeliest = anticipator.anticipate(windows).argmax(-1)
        seen += count_confusions(true, windows, len(STATES))
        anticipated += count_confusions(true, np.where(windows == UNKNOWN, likeliest, windows), len(STATES))
        advance()
    return seen, anticipated
