"""The corruptions of a simulator, applied stage by stage: cameras, images, depth, motion and estimated poses.

Corruptions of goals and instructions, which the simulator does not know, are applied by
episodes.goal_corruptions.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int64

from navarena.core.seeding import scene_name
from navarena.corruptions.corruption import (
    CameraCorruption,
    Corruption,
    DepthCorruption,
    GoalCorruption,
    ImageCorruption,
    InstructionCorruption,
    MotionCorruption,
    PoseCorruption,
    TimingCorruption,
)
from navarena.corruptions.mixture import Mixture
from navarena.simulation.bodies import Bodies
from navarena.simulation.body import Embodiment
from navarena.simulation.corruption.draws import EpisodeDraws, EpisodeKey
from navarena.simulation.corruption.images import ImageStage, change_cameras
from navarena.simulation.corruption.motion import MotionStage
from navarena.simulation.corruption.poses import PoseStage
from navarena.simulation.corruption.timing import TimingStage
from navarena.simulation.motion import Actuation
from navarena.simulation.slot_worlds import SlotWorlds


class CorruptionPipeline:
    """Corruptions of N slots, in the order in which they are applied (see SimulationPipeline).

    Args:
        corruptions: text -> corruption, as join_corruptions finds them.
        slots: N.
        max_steps: for which random numbers are drawn when an episode begins.
        actuation: of the protocol, before corruptions of motion; None for exact movements.
        mixture: whose rows stand in `corruptions` together, each episode under one of them; None for all of
            them in every episode.

    Attributes:
        stays_when_blocked: whether a movement that meets an obstacle is not made at all, turn included.
    """

    def __init__(
        self,
        corruptions: Mapping[str, Corruption],
        slots: int,
        max_steps: int,
        actuation: Actuation | None = None,
        mixture: Mixture | None = None,
    ) -> None:
        ordered = list(enumerate(corruptions.items()))
        self._actuation = actuation
        self._steps = np.zeros(slots, np.int64)
        self._mixture, self._texts = mixture, list(corruptions)
        self._active = np.ones((len(ordered), slots), bool)
        self._episodes: list[EpisodeKey | None] = [None] * slots
        self._cameras = [one for one in corruptions.values() if isinstance(one, CameraCorruption)]
        self._images = ImageStage(
            {
                place: (text, one)
                for place, (text, one) in ordered
                if isinstance(one, ImageCorruption | DepthCorruption)
            },
            self._active,
        )
        self._draws = [
            EpisodeDraws(
                text,
                place,
                one,
                slots,
                max_steps + (not isinstance(one, MotionCorruption)),
                self._active[place],
            )
            for place, (text, one) in ordered
            if isinstance(one, MotionCorruption | PoseCorruption | TimingCorruption)
        ]
        self._motion, self._poses = MotionStage(self._draws, slots), PoseStage(self._draws, slots)
        self._timing = TimingStage(self._draws, slots, max_steps + 1)
        self.stays_when_blocked = self._motion.stays_when_blocked

    def change_cameras(self, body: Embodiment) -> Embodiment:
        """`body` with its cameras changed by corruptions."""
        return change_cameras(body, self._cameras)

    def begin(
        self,
        slots: Int64[np.ndarray, "k"],
        scene_ids: Sequence[str],
        episode_ids: Sequence[str],
        bodies: Bodies,
        slot_worlds: SlotWorlds,
    ) -> None:
        """Draw for episodes (K) that begin in `slots` (K,), at whose starts the bodies already stand.

        Raises SceneError for a scene without the materials of floors that a corruption depends on.
        """
        self._steps[slots] = 0
        for slot, scene, episode in zip(slots.tolist(), scene_ids, episode_ids, strict=True):
            key = self._episodes[slot] = scene_name(scene), episode
            if self._mixture is not None:
                chosen = self._mixture.choose(key)
                self._active[:, slot] = [text in chosen for text in self._texts]
            self._motion.begin(slot, key, slot_worlds.world(slot))
            self._poses.begin(slot, key)
            self._timing.begin(slot, key)
        self._poses.update(bodies, self._steps, slots, starting=True)
        self._timing.update(bodies, self._steps, slots)

    def end_step(self, slots: Int64[np.ndarray, "k"], bodies: Bodies) -> None:
        """Count a step of the bodies `slots` (K,) and estimate their poses.

        Steps that do not count for the task are counted here, too: the draws of images and the errors of
        poses go on.
        """
        self._steps[slots] += 1
        self._poses.update(bodies, self._steps, slots, starting=False)
        self._timing.update(bodies, self._steps, slots)

    def save_state(self) -> dict[str, object]:
        """The state that changes while episodes run, as a value that can be pickled."""
        return {
            "steps": self._steps.copy(),
            "episodes": list(self._episodes),
            "draws": [one.save_state() for one in self._draws],
            "last": self._poses.last_estimates,
            "active": self._active.copy(),
            "poses": self._timing.poses.copy(),
        }

    def restore_state(self, saved: Mapping[str, Any], slot_worlds: SlotWorlds) -> None:
        """Restore the state `saved` of a pipeline of equal arguments."""
        self._steps[:] = saved["steps"]
        self._episodes[:] = saved["episodes"]
        for one, state in zip(self._draws, saved["draws"], strict=True):
            one.restore_state(state)
        self._poses.last_estimates = saved["last"]
        self._active[:], self._timing.poses = saved["active"], saved["poses"]
        for world in slot_worlds.worlds:
            self._motion.read_floors(world)

    def change_movements(
        self,
        actions: Int64[np.ndarray, "n"],
        movements: Float[np.ndarray, "n 4"],
        active: Bool[np.ndarray, "n"],
        bodies: Bodies,
        slot_worlds: SlotWorlds,
    ) -> Float[np.ndarray, "n 4"]:
        """(N, 4) what bodies make of commanded `movements` (N, 4); see SimulationPipeline."""
        if self._actuation is not None:
            movements = self._actuation(actions, movements)
        return self._motion.corrupt(movements, active, self._steps, bodies.positions, slot_worlds)

    def change_images(self, name: str, images: np.ndarray, rows: Bool[np.ndarray, "n"]) -> None:
        """Corrupt `rows` (N,) of what the cameras have taken, in place; see SimulationPipeline."""
        shown = self._timing.find_shown(self._steps, np.flatnonzero(rows))
        self._images.corrupt(name, images, rows, self._episodes, shown)

    def find_image_corruptions(self, name: str | None = None) -> Sequence[Corruption]:
        """Corruptions of a camera's channel, or of all; see SimulationPipeline."""
        return self._images.find(name)


def make_pipeline(
    corruptions: Mapping[str, Corruption],
    slots: int,
    max_steps: int,
    actuation: Actuation | None = None,
    mixture: Mixture | None = None,
) -> CorruptionPipeline | None:
    """The pipeline of `corruptions`; None where nothing stands between simulator and observations.

    Arguments as of CorruptionPipeline.
    """
    beside = (GoalCorruption, InstructionCorruption)
    if actuation is None and all(isinstance(one, beside) for one in corruptions.values()):
        return None
    return CorruptionPipeline(corruptions, slots, max_steps, actuation, mixture)
