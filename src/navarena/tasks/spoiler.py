"""Applies corruptions to the colour pictures of N slots, the same in every batch."""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Int64

from navarena.core.errors import InputError
from navarena.core.seeding import make_generator
from navarena.corruptions.catalog import find_corruptions
from navarena.corruptions.corruption import Corruption, PictureCorruption
from navarena.episodes.episode import Episode
from navarena.simulation.sensors.sensor import ObservationSpec


class Spoiler:
    """Corruptions in the order in which they are applied.

    What a corruption draws is named by itself, its place in that order, the episode and the step,
    so that a picture depends neither on the batch nor on which pictures were looked at before.

    Args:
        corruptions: each as "name:severity" or "name".
        specs: of the observations; the keys that end in "rgb" are colour pictures.
        slots: N.

    Raises UnknownNameError for an unknown name, InputError for a bad severity.
    """

    def __init__(self, corruptions: Sequence[str], specs: Mapping[str, ObservationSpec], slots: int) -> None:
        found = find_corruptions(corruptions)
        self._corruptions = [(text, _require_pictures(text, one)) for text, one in found.items()]
        names = [name for name in specs if name == "rgb" or name.endswith("_rgb")] if corruptions else []
        self._spoilt = {name: np.zeros((slots, *specs[name].shape), specs[name].dtype) for name in names}

    def spoil(
        self,
        seen: Mapping[str, np.ndarray],
        episodes: Sequence[Episode | None],
        steps: Int64[np.ndarray, "n"],
    ) -> dict[str, np.ndarray]:
        """Name -> (N, H, W, 3) uint8 sRGB: spoilt copies of the colour pictures in `seen`.

        steps: (N,) counts of steps in `episodes` (N); slots without an episode are left as they were.
        The arrays are rewritten by the next call.
        """
        for name, spoilt in self._spoilt.items():
            for slot, episode in enumerate(episodes):
                if episode is not None:
                    spoilt[slot] = self._spoil_one(seen[name][slot], name, episode, int(steps[slot]))
        return self._spoilt

    def _spoil_one(self, picture: np.ndarray, name: str, episode: Episode, step: int) -> np.ndarray:
        for place, (text, corruption) in enumerate(self._corruptions):
            generator = make_generator(
                "corruption", text, place, name, episode.scene_id, episode.episode_id, step
            )
            picture = corruption.corrupt(picture[None], [generator])[0]
        return picture


def _require_pictures(text: str, corruption: Corruption) -> PictureCorruption:
    if not isinstance(corruption, PictureCorruption):
        raise InputError(f"expected {text!r} to be a corruption of pictures, got {type(corruption).__name__}")
    return corruption
