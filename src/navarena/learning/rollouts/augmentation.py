"""Augmentation while a policy learns: crops, shifts and colour jitter of its images, mirrored episodes."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int64, Shaped, UInt8

from navarena.core.errors import InputError
from navarena.corruptions.augmentations import change_colors
from navarena.learning.auxiliaries.settings import AugmentationSettings
from navarena.learning.inputs import InputSpec

COLUMNS = ("top", "left", "size", "down", "across", "brightness", "contrast", "saturation", "hue")
"""What is drawn for an image: see `draw_changes`."""


SIGNS: Mapping[str, tuple[float, ...]] = {
    "pointgoal_with_gps_compass": (1.0, -1.0),
    "pointgoal": (1.0, -1.0),
    "gps": (1.0, -1.0),
    "compass": (-1.0,),
    "odometry": (1.0, -1.0, -1.0),
}
"""Sensor of numbers -> what they are multiplied with in a mirror."""


def mirror_actions(actions: Sequence[str]) -> Int64[np.ndarray, "a"]:
    """(A,) the index of each of `actions` (A names) in a mirror, where turns change sides."""
    other = {"turn_left": "turn_right", "turn_right": "turn_left"}
    return np.array([actions.index(other.get(name, name)) for name in actions], np.int64)


def draw_changes(
    settings: AugmentationSettings, generator: np.random.Generator, count: int
) -> Float[np.ndarray, "count 9"]:
    """(count, 9) float64: the changes of `count` images, in the order of COLUMNS.

    Top and left are where the window begins, as shares of the room that it leaves; size is the window's share
    of both sides; down and across are the shift in shares of the sides; the last four are amounts of colour
    changes, 0 for none.
    """
    drawn = generator.random((count, len(COLUMNS)))
    drawn[:, 2] = 1.0 - settings.crop * drawn[:, 2]
    drawn[:, 3:5] = settings.shift * (2.0 * drawn[:, 3:5] - 1.0)
    drawn[:, 5:] = settings.jitter * (2.0 * drawn[:, 5:] - 1.0)
    return drawn


def move_images(
    images: Shaped[np.ndarray, "n h w c"], changes: Float[np.ndarray, "n 9"]
) -> Shaped[np.ndarray, "n h w c"]:
    """(N, H, W, C) of the same dtype: windows of `images`, enlarged to the whole size, and shifted.

    A pixel takes the nearest one of the image; what comes in from outside continues the border.

    Args:
        images: any dtype.
        changes: of `draw_changes`.
    """
    count, height, width = images.shape[:3]
    top, left, size, down, across = (changes[:, [k]] for k in range(5))
    rows = (np.arange(height) + 0.5) / height
    columns = (np.arange(width) + 0.5) / width
    from_rows = (top * (1.0 - size) + size * rows - down) * height
    from_columns = (left * (1.0 - size) + size * columns - across) * width
    y = np.clip(np.floor(from_rows + 1e-9), 0, height - 1).astype(np.int64)
    x = np.clip(np.floor(from_columns + 1e-9), 0, width - 1).astype(np.int64)
    return images[np.arange(count)[:, None, None], y[:, :, None], x[:, None, :]]


def jitter_images(images: UInt8[np.ndarray, "n h w 3"], changes: Float[np.ndarray, "n 9"]) -> None:
    """Change brightness, contrast, saturation and hue of `images` (N, H, W, 3) bytes in place, in this order.

    The formulas are those of `color_jitter` of navarena.corruptions; `changes` are those of `draw_changes`.
    """
    for image, amounts in zip(images, changes[:, 5:].tolist(), strict=True):
        for change, amount in enumerate(amounts):
            change_colors(image.reshape(-1, 3), change, amount)


def _has_colours(one: InputSpec) -> bool:
    """Whether an image holds bytes of three channels."""
    return one.dtype == "uint8" and one.shape[2] == 3


class Augmenter:
    """Changes the images of N slots at every step; all images of a slot move alike.

    Args:
        settings: how much, and whether each frame is changed anew or all frames of an episode alike.
        inputs: what the policy sees; bytes of 3 channels are colours.
        slots: N.
        generator: of the draws.
        actions: names of the discrete ones.
        targets: of losses; images among them move as those that the policy sees.

    Raises InputError for mirrored episodes with continuous actions, or with numbers that have no mirror, and
    for changes of images or colours that the policy does not see.
    """

    def __init__(
        self,
        settings: AugmentationSettings,
        inputs: Sequence[InputSpec],
        slots: int,
        generator: np.random.Generator,
        actions: Sequence[str] = (),
        targets: Sequence[InputSpec] = (),
    ) -> None:
        self._settings, self._generator = settings, generator
        numbers = [one.name for one in inputs if not one.is_image and not one.classes]
        if settings.mirror and (not actions or set(numbers) - set(SIGNS)):
            raise InputError(
                f"expected discrete actions and numbers of {', '.join(SIGNS)} for mirrored episodes, got the "
                f"actions {list(actions)} and {numbers}"
            )
        seen = [one for one in inputs if one.is_image]
        for name, shown in (("crop", seen), ("shift", seen), ("jitter", list(filter(_has_colours, seen)))):
            if getattr(settings, name) and not shown:
                raise InputError(
                    f"expected a policy that sees {'colours' if name == 'jitter' else 'images'} for "
                    f"augmentation.{name}, got {', '.join(one.name for one in inputs)}; leave it out"
                )
        self._other_side, self._numbers = mirror_actions(actions), numbers
        self._mirrored = np.zeros(slots, bool)
        self._images = [one for one in (*inputs, *targets) if one.is_image]
        self._changes = draw_changes(settings, generator, slots)

    def augment(self, observations: Mapping[str, np.ndarray], mask: Bool[np.ndarray, "n"]) -> None:
        """Change the images among the `observations`, name -> (N, ...), in place.

        mask: (N,) bool, False where the step is the first of an episode.
        """
        drawn = draw_changes(self._settings, self._generator, len(mask))
        is_kept = mask if self._settings.per == "episode" else np.zeros(len(mask), bool)
        self._changes = np.where(is_kept[:, None], self._changes, drawn)
        if self._settings.mirror:
            begun = ~mask
            self._mirrored[begun] = self._generator.random(int(begun.sum())) < self._settings.mirror
        moves = self._settings.crop > 0 or self._settings.shift > 0
        for one in self._images:
            images = observations[one.name]
            if moves:
                images[...] = move_images(images, self._changes)
            if self._settings.jitter > 0 and _has_colours(one):
                jitter_images(images, self._changes)
        self.mirror(observations)

    def mirror(self, observations: Mapping[str, np.ndarray]) -> None:
        """Exchange left and right in `observations`, name -> (N, ...), of mirrored slots, in place."""
        rows = np.flatnonzero(self._mirrored)
        if not len(rows):
            return
        for one in self._images:
            observations[one.name][rows] = observations[one.name][rows, :, ::-1].copy()
        for name in self._numbers:
            observations[name][rows] *= np.array(SIGNS[name], observations[name].dtype)

    def exchange(self, actions: Int64[np.ndarray, "n"]) -> Int64[np.ndarray, "n"]:
        """(N,) mirrored actions: from the policy's `actions` (N,) to the bodies' and back."""
        return (
            np.where(self._mirrored, self._other_side[actions], actions) if self._mirrored.any() else actions
        )

    def save_state(self) -> dict[str, Any]:
        """Plain values for `restore_state`; the generator is its owner's to save."""
        return {"changes": self._changes.tolist(), "mirrored": self._mirrored.tolist()}

    def restore_state(self, saved: dict[str, Any]) -> None:
        """Restore the state `saved`."""
        self._changes = np.array(saved["changes"]).reshape(-1, len(COLUMNS))
        self._mirrored = np.array(saved["mirrored"], bool)
