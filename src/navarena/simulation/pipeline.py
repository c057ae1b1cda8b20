"""The interface of what changes the movements and images of a simulator."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Bool, Float, Int64

from navarena.corruptions.corruption import Corruption
from navarena.simulation.bodies import Bodies
from navarena.simulation.slot_worlds import SlotWorlds


@runtime_checkable
class SimulationPipeline(Protocol):
    """Stands between commands and movements, and between rendered images and the sensors that read them.

    Attributes:
        stays_when_blocked: whether a movement that meets an obstacle is not made at all, turn included.
    """

    stays_when_blocked: bool

    def change_movements(
        self,
        actions: Int64[np.ndarray, "n"],
        movements: Float[np.ndarray, "n 4"],
        active: Bool[np.ndarray, "n"],
        bodies: Bodies,
        slot_worlds: SlotWorlds,
    ) -> Float[np.ndarray, "n 4"]:
        """(N, 4) executed movements [along, across, turn, tilt], metres and radians.

        Args:
            actions: (N,) indices.
            movements: (N, 4) that the actions command.
            active: (N,) the slots that act; rows of others have no effect.
            bodies: before the step.
            slot_worlds: in which they stand.
        """
        ...

    def change_images(self, name: str, images: np.ndarray, rows: Bool[np.ndarray, "n"]) -> None:
        """Change images in place, before sensors read them.

        Args:
            name: key of a camera's channel, such as "depth" or "left_rgb".
            images: (N, H, W, 3) uint8 sRGB, (N, H, W) float32 metres or (N, H, W) int32 ids.
            rows: (N,) those that have just been rendered; the others keep what they were changed to before.
        """
        ...

    def find_image_corruptions(self, name: str | None = None) -> Sequence[Corruption]:
        """Corruptions that `change_images` applies to a camera's channel (any for None), in their order."""
        ...
