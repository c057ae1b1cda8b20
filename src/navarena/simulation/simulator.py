"""N bodies in any mix of scenes: placed, stepped and looked through together."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int, Int64

from navarena.core.errors import ActionError, InputError, unknown_name
from navarena.core.geometry import intrinsic_matrix, wrap_angle
from navarena.simulation.bodies import Bodies
from navarena.simulation.body import Camera, Embodiment
from navarena.simulation.body_moves import act_bodies, move_bodies
from navarena.simulation.device_images import ON_CPU, RenderDevice
from navarena.simulation.motion import ACTIONS, movement_table
from navarena.simulation.navmesh.navmesh import NavMesh
from navarena.simulation.navmesh.queries.stepping import SCRATCH
from navarena.simulation.observation_sources import OwnSensor
from navarena.simulation.observer import Observer
from navarena.simulation.pipeline import SimulationPipeline
from navarena.simulation.rendering.views import ExtraObjects
from navarena.simulation.sensors.sensor import Sensor
from navarena.simulation.slot_worlds import SlotWorlds
from navarena.simulation.world import World


class Simulator:
    """N bodies of one kind.

    Args:
        embodiment: the body.
        slots: N.
        sensors: what to observe: names of registered sensors, or sensors; only these are computed.
            The sensors of a named camera are called "<camera>_<sensor>".
        actions: names; `step` takes indices into them.
        threads: for rendering; None for all processors this process may use.
        pipeline: changes movements and images, such as corruptions; None leaves both as they are.
        channels: images to take besides those of the sensors (see Observer.image).
        buffers: name -> an array (N, ...) of the caller, of the dtype of its spec, into which the
            observation is written; the simulator allocates those of other observations.
        own_sensor: name -> a version to take in the place of the registered sensor, or None.
        device: where images are drawn.

    Attributes:
        bodies: the poses.
        maps_at_estimates: whether maps are drawn and read at estimated poses (see `mapped_bodies`).
        threads: that images and maps of this simulator may use; None for all.
        slot_worlds: the worlds of the slots.
    """

    def __init__(
        self,
        embodiment: Embodiment,
        slots: int,
        sensors: Sequence[str | Sensor] = (),
        actions: Sequence[str] = ACTIONS,
        threads: int | None = None,
        *,
        pipeline: SimulationPipeline | None = None,
        own_sensor: OwnSensor = lambda name: None,
        channels: Sequence[str] = (),
        buffers: Mapping[str, np.ndarray] = MappingProxyType({}),
        device: RenderDevice = ON_CPU,
    ) -> None:
        if slots < 1:
            raise InputError(f"expected at least one slot, got {slots}")
        if threads is not None and threads < 1:
            raise InputError(f"expected at least one thread, or None for all processors, got {threads}")
        self.embodiment = embodiment
        self.slots = slots
        self.actions = tuple(actions)
        self.threads = threads
        self.bodies = Bodies(slots)
        self.maps_at_estimates = False
        self.slot_worlds = SlotWorlds(slots)
        self.observer = Observer(
            embodiment, self.bodies, sensors, threads, own_sensor, pipeline, channels, buffers, device
        )
        self._movements = movement_table(embodiment, self.actions)
        self._pipeline = pipeline
        self._tilt_range, self._slides = tuple(map(float, embodiment.tilt_range)), bool(embodiment.slides)
        self._visited = np.zeros(SCRATCH, np.int32)
        self._all = np.ones(slots, bool)

    @property
    def mapped_bodies(self) -> Bodies:
        """The bodies with the poses at which observed maps are drawn and read: true, or estimated ones."""
        return self.bodies.as_estimated() if self.maps_at_estimates else self.bodies

    @property
    def positions(self) -> Float[np.ndarray, "n 3"]:
        """(N, 3) float64 metres, world frame: the foot points. Rewritten by each step."""
        return self.bodies.positions

    @property
    def yaws(self) -> Float[np.ndarray, "n"]:
        """(N,) float64 radians. Rewritten by each step."""
        return self.bodies.yaws

    @property
    def tilts(self) -> Float[np.ndarray, "n"]:
        """(N,) float64 radians, upwards. Rewritten by each step."""
        return self.bodies.tilts

    @property
    def collided(self) -> Bool[np.ndarray, "n"]:
        """(N,) whether the last step was cut short. Rewritten by each step."""
        return self.bodies.collided

    @property
    def observations(self) -> Mapping[str, Any]:
        """Name -> (N, ...) current observations: NumPy arrays, or images on the device.

        They are computed when first read after a step or placement, and rewritten in place by
        the next; copy what must be kept.
        """
        return MappingProxyType(self.observer.observe(self.slot_worlds))

    def place(
        self,
        slots: Sequence[int] | Int64[np.ndarray, "k"],
        worlds: Sequence[World],
        positions: Float[np.ndarray, "k 3"],
        yaws: Float[np.ndarray, "k"],
        tilts: Float[np.ndarray, "k"] | None = None,
    ) -> None:
        """Put the bodies `slots` (K) into `worlds` (K) at poses in the world frame.

        Args:
            slots: distinct rows.
            worlds: one for each of them.
            positions: (K, 3) metres, on the floor.
            yaws: (K,) radians.
            tilts: (K,) radians, upwards, of the cameras, cut to what the body can do; None for level.

        Raises InputError when a position is not navigable; then nothing has changed its place.
        """
        rows = np.asarray(slots, np.int64)
        positions, yaws = np.asarray(positions, float), np.asarray(yaws, float)
        self._check_placement(rows, worlds, positions, yaws)
        self.slot_worlds.assign(rows, worlds)
        tilts = np.clip(np.zeros(len(rows)) if tilts is None else tilts, *self.embodiment.tilt_range)
        self.bodies.place(rows, positions, np.asarray(wrap_angle(yaws)), tilts)
        self.observer.expire(rows)

    def _check_placement(
        self,
        slots: Int64[np.ndarray, "k"],
        worlds: Sequence[World],
        positions: Float[np.ndarray, "k 3"],
        yaws: Float[np.ndarray, "k"],
    ) -> None:
        count = len(slots)
        if len(worlds) != count or positions.shape != (count, 3) or yaws.shape != (count,):
            raise InputError(
                f"expected one world, position and yaw for each of {count} slots, got {len(worlds)} worlds, "
                f"positions {positions.shape} and yaws {yaws.shape}"
            )
        if count and (slots.min() < 0 or slots.max() >= self.slots or len(np.unique(slots)) != count):
            raise InputError(f"expected distinct slots within 0..{self.slots - 1}, got {slots.tolist()}")
        if not np.isfinite(yaws).all():
            raise InputError(f"expected finite yaws, got {yaws.tolist()}")
        for slot, world, position in zip(slots, worlds, positions):
            if not (np.isfinite(position).all() and world.navmesh.is_navigable(position[None])[0]):
                raise InputError(
                    f"expected a start on the floor of {world.scene_id!r}, got {position.tolist()} in slot "
                    f"{slot}; snap it (NavMesh.snap_point) or make the episodes for this scene and body"
                )

    def step(
        self, actions: Int[np.ndarray, "n"], active: Bool[np.ndarray, "n"] | None = None, exact: bool = False
    ) -> None:
        """Let each body of an `active` slot (all by default) carry out its action.

        Args:
            actions: (N,) indices into `self.actions`; rows of other slots are ignored.
            active: (N,) bool.
            exact: whether movements are made as commanded, whatever the pipeline changes otherwise.

        Raises ActionError for an index out of range or a slot that was never placed.
        """
        moving = self._all if active is None else np.asarray(active, bool)
        pipeline, actions = self._pipeline, np.asarray(actions)
        if exact or pipeline is None:
            self._act(actions, moving)
        else:
            movements = self._change(pipeline, self.check_actions(actions, moving), moving)
            self.bodies.begin_step()
            self._move(movements, pipeline.stays_when_blocked)
        self.observer.expire(None if active is None else moving)

    def _act(self, actions: np.ndarray, moving: Bool[np.ndarray, "n"]) -> None:
        """Carry out actions (N,) exactly in the slots `moving` (N,): one native call."""
        bodies = self.bodies
        if not (
            actions.shape == moving.shape == (self.slots,)
            and actions.dtype.kind in "iu"
            and self.slot_worlds.worlds
            and act_bodies(
                self.slot_worlds.table.table,
                self.slot_worlds.row,
                np.ascontiguousarray(actions, np.int64),
                moving,
                self._movements,
                *self._tilt_range,
                self._slides,
                self._visited,
                bodies.positions,
                bodies.yaws,
                bodies.tilts,
                bodies.triangles,
                bodies.collided,
                bodies.moved,
                bodies.last_positions,
                bodies.last_yaws,
            )
        ):
            self.check_actions(actions, moving)
            bodies.begin_step()

    def _change(
        self, pipeline: SimulationPipeline, actions: Int64[np.ndarray, "n"], moving: Bool[np.ndarray, "n"]
    ) -> Float[np.ndarray, "n 4"]:
        """(N, 4) movements of actions (N,) as the pipeline changes them; 0 in slots that are not `moving`."""
        commanded = self._movements[actions]
        movements = pipeline.change_movements(actions, commanded, moving, self.bodies, self.slot_worlds)
        movements[~moving] = 0.0
        return movements

    def move(self, movements: Float[np.ndarray, "n 4"]) -> None:
        """Let every body make its movement (N, 4) [along, across, turn, tilt], exactly; 0 stays."""
        self._move(movements)
        self.observer.expire()

    def _move(self, movements: Float[np.ndarray, "n 4"], stays_when_blocked: bool = False) -> None:
        """Walk, then turn and tilt."""
        if not self.slot_worlds.worlds:
            return
        bodies = self.bodies
        move_bodies(
            self.slot_worlds.table.table,
            self.slot_worlds.row,
            movements,
            *self._tilt_range,
            self._slides,
            bool(stays_when_blocked),
            self._visited,
            bodies.positions,
            bodies.yaws,
            bodies.tilts,
            bodies.triangles,
            bodies.collided,
            bodies.moved,
        )

    def check_actions(self, actions: np.ndarray, active: np.ndarray) -> Int64[np.ndarray, "n"]:
        """`actions` (N,) indices with zeros in the rows of inactive slots; raises ActionError."""
        if actions.shape != (self.slots,) or actions.dtype.kind not in "iu":
            raise ActionError(
                f"expected ({self.slots},) integers, one action for each slot, got "
                f"{actions.dtype} {actions.shape}"
            )
        if active.shape != (self.slots,):
            raise ActionError(f"expected ({self.slots},) bool, one flag for each slot, got {active.shape}")
        wrong = active & ((actions < 0) | (actions >= len(self.actions)))
        if wrong.any():
            slot = int(np.flatnonzero(wrong)[0])
            raise ActionError(
                f"expected an action within 0..{len(self.actions) - 1} ({', '.join(self.actions)}), got "
                f"{int(actions[slot])} in slot {slot}"
            )
        unplaced = active & (self.slot_worlds.row < 0)
        if unplaced.any():
            raise ActionError(
                f"expected a placed body in slot {int(np.flatnonzero(unplaced)[0])}, got a step before any "
                "placement; call place (or reset) first"
            )
        return np.where(active, actions, 0).astype(np.int64)

    def show(self, extras: ExtraObjects | None) -> None:
        """Draw objects that belong to no scene into the images of single slots (their view_index)."""
        self.observer.show(extras)

    def geodesic_distance(
        self, slots: Int64[np.ndarray, "k"], goals: Float[np.ndarray, "k 3"]
    ) -> Float[np.ndarray, "k"]:
        """(K,) metres from the bodies `slots` to `goals` (K, 3); infinite without a path."""
        return self.slot_worlds.geodesic_distance(slots, self.bodies.positions[slots], goals)

    def navmesh(self, slot: int) -> NavMesh:
        """Navmesh of the body `slot`; raises ActionError if it was never placed."""
        world = self.slot_worlds.world(slot)
        if world is None:
            raise ActionError(f"expected a placed body in slot {slot}, got none yet; call place first")
        return world.navmesh

    def camera(self, name: str = "") -> Camera:
        """The body's first camera of that name; raises UnknownNameError."""
        for camera in self.embodiment.cameras:
            if camera.name == name:
                return camera
        raise unknown_name("camera", name, [camera.name for camera in self.embodiment.cameras])

    def intrinsics(self, camera: str = "") -> Float[np.ndarray, "3 3"]:
        """(3, 3) K of a camera, pixels: (column, row, 1) * depth = K @ (right, down, forward)."""
        chosen = self.camera(camera)
        return intrinsic_matrix(chosen.width_px, chosen.height_px, chosen.hfov)

    def world_from_camera(self, camera: str = "") -> Float[np.ndarray, "n 4 4"]:
        """(N, 4, 4) float64 poses of a camera now: world metres from its (right, up, backward, 1)."""
        return self.observer.world_from_camera(self.camera(camera))
