"""Spoils the images of N slots, and the cameras that take them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Bool, Int64

from navarena.core.seeding import make_generator, scene_name
from navarena.corruptions.corruption import CameraCorruption, DepthCorruption, ImageCorruption
from navarena.episodes.episode import Episode
from navarena.simulation.body import Camera, Embodiment

ImageKind = ImageCorruption | DepthCorruption

KINDS = {"rgb": ImageCorruption, "depth": DepthCorruption}
"""Channel of a camera -> what spoils it; labels are never spoilt."""


class ImageSpoiler:
    """Corruptions of images, in the order in which they are applied.

    What a corruption draws is named by itself, its place in that order, the image, the scene, the
    episode and the step, so an image depends neither on the batch nor on which were looked at before.

    Args:
        corruptions: place -> text and corruption.
        steps: (N,) counts of steps of the episodes, which somebody else keeps.
    """

    def __init__(
        self, corruptions: Mapping[int, tuple[str, ImageKind]], steps: Int64[np.ndarray, "n"]
    ) -> None:
        self._corruptions, self._steps = corruptions, steps

    def retouch(
        self,
        name: str,
        images: np.ndarray,
        rows: Bool[np.ndarray, "n"],
        episodes: Sequence[Episode | None],
    ) -> None:
        """Spoil `images`, (N, H, W, 3) uint8 or (N, H, W) float32 metres, of the channel `name`, in place.

        rows: (N,) which of them; episodes: (N). Images of slots without an episode stay as they are.
        """
        slots = [slot for slot in np.flatnonzero(rows).tolist() if episodes[slot] is not None]
        kind = KINDS.get(name.split("_")[-1])
        for place, (text, corruption) in self._corruptions.items():
            if kind is None or not slots or not isinstance(corruption, kind):
                continue
            names = [self._name(text, place, name, corruption.per, slot, episodes[slot]) for slot in slots]
            generators = [make_generator(*one) for one in names]
            chosen = images[slots].reshape(len(slots), *images.shape[1:3], -1)
            images[slots] = corruption.corrupt(chosen, generators).reshape(-1, *images.shape[1:])

    def _name(
        self, text: str, place: int, image: str, per: str, slot: int, episode: Episode | None
    ) -> tuple[str | int, ...]:
        scene, own = (scene_name(episode.scene_id), episode.episode_id) if episode else ("", "")
        longest = ("corruption", text, place, image, scene, own, int(self._steps[slot]))
        return longest[: {"scene": -2, "episode": -1}.get(per)]


def change_cameras(body: Embodiment, corruptions: Sequence[CameraCorruption]) -> Embodiment:
    """`body` with the cameras that `corruptions` make of its own, in their order.

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
