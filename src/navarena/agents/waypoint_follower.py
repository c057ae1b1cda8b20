"""Following the shortest path with continuous commands: the expert of continuous protocols."""

import numpy as np
from jaxtyping import Bool, Float, Int64

from navarena.core.elementary import arctan2
from navarena.core.errors import InputError
from navarena.core.geometry import wrap_angle
from navarena.simulation.navmesh.navmesh import NavMesh
from navarena.simulation.steering import VelocityControl, WaypointControl
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.task import Task

STRAIGHT = {"velocity": 1e-3, "waypoint": 0.05}
"""Radians off the path below which the body walks; above, it turns first. Waypoint control reaches a
heading only within 0.025."""

DETOURS = np.radians(np.arange(0, 360, 2))
"""Headings that are tried where the path itself is blocked, radians."""

STILL = 1e-3
"""Metres below which a body has not moved, and a turning point is where it stands."""

DETOUR_STEP = 0.1
"""Metres of a detour."""

THERE = 5e-3
"""Metres from the end of a detour at which it is over, for velocities."""

WITHIN = 1.25
"""The same for waypoints, in distances within which their law takes a place for reached."""


class WaypointFollower:
    """Steers the bodies of a batch along the shortest paths to their goals, and calls STOP there.

    It turns on the spot until its heading is right and then walks to the next turning point. Where a body
    is blocked although the path leads on (it grazes a corner) it steps aside.

    Args:
        task: a continuous protocol that is steered by velocities or waypoints.

    Raises InputError for another kind of control.
    """

    def __init__(self, task: Task) -> None:
        control = getattr(task, "control", None)
        if not isinstance(control, VelocityControl | WaypointControl):
            raise InputError(
                f"expected a protocol steered by velocities or waypoints, got {task.protocol_id!r}; bring an "
                "agent of your own"
            )
        self._task, self._control = task, control
        self._there = THERE if isinstance(control, VelocityControl) else WITHIN * control.near
        self._column = {name: k for k, name in enumerate(task.actions)}

    def attach(self, batch: NavigationBatch) -> None:
        """Keep the batch, to look at its bodies and goals."""
        self._batch = batch
        self._aside = np.full((batch.slots, 3), np.nan)
        self._walked = np.zeros(batch.slots, bool)

    def reset(self, slots: Int64[np.ndarray, "k"]) -> None:
        """Forget the detours of `slots` (K,)."""
        self._aside[slots] = np.nan
        self._walked[slots] = False

    def act(self, active: Bool[np.ndarray, "n"]) -> Float[np.ndarray, "n c"]:
        """(N, C) float64 commands within [-1, 1]; bodies that have arrived, or have no path, call STOP."""
        batch = self._batch
        commands = np.zeros((batch.slots, len(self._column)))
        stop = self._column[self._task.declaration]
        commands[:, stop] = 1.0
        slots = np.flatnonzero(active)
        lengths, ahead = batch.state.goal_fields.ask(slots, batch.simulator.positions[slots])
        goes = np.isfinite(lengths) & ~self._task.has_arrived(batch.simulator, batch.state, slots)
        slots, ahead = slots[goes], ahead[goes]
        if len(slots):
            commands[slots, stop] = -1.0
            self._steer(slots, self._aim(slots, ahead), commands)
        return commands

    def _aim(
        self, slots: Int64[np.ndarray, "k"], ahead: Float[np.ndarray, "k 3"]
    ) -> Float[np.ndarray, "k 3"]:
        """(K, 3) metres: where to walk to; the ends of detours in the place of the turning points `ahead`."""
        bodies = self._batch.simulator.bodies
        over = np.linalg.norm((self._aside[slots] - bodies.positions[slots])[:, ::2], axis=1) < self._there
        self._aside[slots[over]] = np.nan
        walked = np.linalg.norm(bodies.positions[slots] - bodies.last_positions[slots], axis=1)
        blocked = self._walked[slots] & (walked < STILL)
        there = np.linalg.norm((ahead - bodies.positions[slots])[:, ::2], axis=1) < STILL
        for slot in slots[blocked | (there & ~np.isfinite(self._aside[slots, 0]))].tolist():
            self._aside[slot] = self._find_detour(self._batch.simulator.navmesh(slot), slot)
        detour = np.isfinite(self._aside[slots, 0])
        return np.where(detour[:, None], self._aside[slots], ahead)

    def _find_detour(self, mesh: NavMesh, slot: int) -> Float[np.ndarray, "3"]:
        """(3,) metres: the place aside from which the goal is nearest, of those the body can set out to.

        In a corner a place can be in reach although the body, as it stands there, cannot set out.
        """
        position = self._batch.simulator.positions[slot]
        offsets = np.stack([-np.sin(DETOURS), np.zeros(len(DETOURS)), -np.cos(DETOURS)], 1)
        starts = np.repeat(position[None], len(DETOURS), 0)
        begun = self._set_out(slot)
        ends = mesh.try_step(starts, starts + offsets * DETOUR_STEP, False)
        left = self._batch.state.goal_fields.distance([slot] * len(ends), ends)
        for reached, least in ((begun, STILL), (ends, 2 * self._there)):
            left[np.linalg.norm((reached - starts)[:, ::2], axis=1) < least] = np.inf
        return ends[int(np.argmin(left))]

    def _set_out(self, slot: int) -> Float[np.ndarray, "d 3"]:
        """(D, 3) metres: where the body in `slot` is after one command in the direction of each detour."""
        simulator, count = self._batch.simulator, len(DETOURS)
        positions = np.repeat(simulator.positions[slot][None], count, 0)
        triangles = np.repeat(simulator.bodies.triangles[slot], count)
        step = self._task.embodiment.walk_speed * self._control.time_step
        rows, blocked = np.repeat(simulator.slot_worlds.row[slot], count), np.zeros(count, bool)
        simulator.slot_worlds.table.step_bodies(
            rows, triangles, positions, DETOURS, np.full(count, step), False, blocked
        )
        return positions

    def _steer(
        self,
        slots: Int64[np.ndarray, "k"],
        targets: Float[np.ndarray, "k 3"],
        commands: Float[np.ndarray, "n c"],
    ) -> None:
        """Write the commands of `slots` (K,) that lead to `targets` (K, 3) metres."""
        bodies, control = self._batch.simulator.bodies, self._control
        offset = (targets - bodies.positions[slots])[:, ::2]
        far = np.hypot(offset[:, 0], offset[:, 1])
        off = wrap_angle(arctan2(-offset[:, 0], -offset[:, 1]) - bodies.yaws[slots])
        if isinstance(control, VelocityControl):
            straight = np.abs(off) < STRAIGHT["velocity"]
            speed = np.minimum(far / control.time_step, control.linear[1]) * straight
            self._write(commands, slots, "linear_velocity", 2 * speed / control.linear[1] - 1)
            arriving = straight & (far <= control.linear[1] * control.time_step)
            off[arriving] += self._turns_ahead(slots[arriving], targets[arriving], offset[arriving])
            spin = off / (control.time_step * control.angular)
            self._write(commands, slots, "angular_velocity", spin)
        else:
            straight = np.abs(off) < STRAIGHT["waypoint"]
            reach = np.minimum(far, control.reach) * straight / control.reach
            self._write(commands, slots, "waypoint_x", np.cos(off) * reach)
            self._write(commands, slots, "waypoint_y", np.sin(off) * reach)
            self._write(commands, slots, "waypoint_yaw", off / np.pi)
            commands[slots, self._column["max_duration"]] = 1.0
        self._walked[slots] = straight & (far > 2 * STILL)

    def _turns_ahead(
        self,
        slots: Int64[np.ndarray, "k"],
        places: Float[np.ndarray, "k 3"],
        offset: Float[np.ndarray, "k 2"],
    ) -> Float[np.ndarray, "k"]:
        """(K,) radians to turn at `places` (K, 3) metres, of bodies that came along `offset` (K, 2)."""
        _, ahead = self._batch.state.goal_fields.ask(slots, places)
        onward = (ahead - places)[:, ::2]
        before = arctan2(-offset[:, 0], -offset[:, 1])
        turns = wrap_angle(arctan2(-onward[:, 0], -onward[:, 1]) - before)
        return np.where(np.hypot(onward[:, 0], onward[:, 1]) > THERE, turns, 0.0)

    def _write(
        self,
        commands: Float[np.ndarray, "n c"],
        slots: Int64[np.ndarray, "k"],
        name: str,
        values: Float[np.ndarray, "k"],
    ) -> None:
        commands[slots, self._column[name]] = np.clip(values, -1.0, 1.0)
