"""Corruptions of images in N slots, and of the cameras that take them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Bool, Int64

from navarena.core.errors import InputError
from navarena.core.seeding import make_generator
from navarena.corruptions.corruption import CameraCorruption, DepthCorruption, ImageCorruption
from navarena.simulation.body import Camera, Embodiment
from navarena.simulation.corruption.draws import EpisodeKey

ImageKind = ImageCorruption | DepthCorruption

CHANNEL_KINDS = {"rgb": ImageCorruption, "depth": DepthCorruption}
"""Channel of a camera -> the corruptions that act on it; none acts on labels."""


class ImageStage:
    """Corruptions of colour and depth images, in the order in which they are applied.

    What a corruption draws is named by itself, its place in that order, the image, the scene, the
    episode and the step, so an image depends neither on the batch nor on which were looked at before.

    Args:
        corruptions: place -> text and corruption.
        active: (P, N) bool, places and the slots whose episodes they change; its owner rewrites it.
    """

    def __init__(
        self, corruptions: Mapping[int, tuple[str, ImageKind]], active: Bool[np.ndarray, "p n"]
    ) -> None:
        self._corruptions, self._active = corruptions, active

    def find(self, name: str | None) -> list[ImageKind]:
        """The corruptions of the channel `name`, with its camera's prefix, or of all channels for None."""
        kind = ImageKind if name is None else CHANNEL_KINDS.get(name.split("_")[-1])
        return [one for _, one in self._corruptions.values() if kind is not None and isinstance(one, kind)]

    def corrupt(
        self,
        name: str,
        images: np.ndarray,
        rows: Bool[np.ndarray, "n"],
        episodes: Sequence[EpisodeKey | None],
        steps: Int64[np.ndarray, "n"],
    ) -> None:
        """Corrupt `images`, (N, H, W, 3) uint8 or (N, H, W) float32 metres, in place.

        Raises InputError for a corruption that returns images of another shape, or that bytes cannot hold.

        Args:
            name: of the channel, with its camera's prefix.
            images: rows of slots without an episode stay as they are.
            rows: (N,) bool, which of them.
            episodes: of the N slots.
            steps: (N,) counts of steps.
        """
        kind = CHANNEL_KINDS.get(name.split("_")[-1])
        chosen = {slot: episodes[slot] for slot in np.flatnonzero(rows).tolist()}
        for place, (text, corruption) in self._corruptions.items():
            active = self._active[place]
            keys = {slot: key for slot, key in chosen.items() if key is not None and active[slot]}
            slots = list(keys)
            if kind is None or not slots or not isinstance(corruption, kind):
                continue
            kept = {"scene": -2, "episode": -1}.get(corruption.per)
            generators = [
                make_generator(*("corruption", text, place, name, *key, int(steps[slot]))[:kept])
                for slot, key in keys.items()
            ]
            picked = images[slots].reshape(len(slots), *images.shape[1:3], -1)
            changed = np.asarray(corruption.corrupt(picked, generators))
            fits = changed.shape == picked.shape
            if fits and picked.dtype == np.uint8 and changed.dtype != np.uint8:
                fits = bool(((changed >= 0) & (changed <= 255)).all())  # else they would wrap around
            if not fits:
                raise InputError(
                    f"expected images {picked.shape} of {picked.dtype} from the corruption {text!r}, got "
                    f"{changed.shape} of {changed.dtype}; mend its corrupt()"
                )
            images[slots] = changed.reshape(-1, *images.shape[1:])


def change_cameras(body: Embodiment, corruptions: Sequence[CameraCorruption]) -> Embodiment:
    """`body` with its cameras changed by `corruptions`, in their order.

    Where only colours are concerned, a camera is split in two at the same place; the changed one comes
    first.
    """
    cameras = list(body.cameras)
    for corruption in corruptions:
        cameras = [made for camera in cameras for made in _change(camera, corruption)]
    return replace(body, cameras=tuple(cameras)) if corruptions else body


def _change(camera: Camera, corruption: CameraCorruption) -> list[Camera]:
    changed = replace(camera, hfov=corruption.change(camera.hfov))
    if not corruption.rgb_only:
        return [changed]
    others = tuple(channel for channel in camera.channels if channel != "rgb")
    colour = [replace(changed, channels=("rgb",))] if "rgb" in camera.channels else []
    return colour + ([replace(camera, channels=others)] if others else [])
