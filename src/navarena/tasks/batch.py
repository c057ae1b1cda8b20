"""Batches: N parallel episodes of one task, for environments and evaluation."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
from jaxtyping import Bool, Int64

from navarena.core.errors import ActionError, InputError
from navarena.corruptions.catalog import join_corruptions
from navarena.corruptions.mixture import make_mixture
from navarena.episodes.episode import Episode
from navarena.episodes.goal_corruptions import GoalCorruptions
from navarena.metrics.effort import measure_path
from navarena.metrics.trajectory import BodyRates, Trajectory
from navarena.simulation.corruption import make_pipeline
from navarena.simulation.device_images import ON_CPU, RenderDevice
from navarena.simulation.sensors.sensor import ObservationSpec
from navarena.simulation.simulator import Simulator
from navarena.simulation.world import WorldCache
from navarena.tasks.odometry import OdometryStage
from navarena.tasks.oracle_phases import OraclePhases
from navarena.tasks.recorder import Recorder
from navarena.tasks.saved_state import Name, dump_state, load_state
from navarena.tasks.sensors.catalog import find_body_sensors, find_goal_sensor
from navarena.tasks.sensors.lifelong_goal import LifelongGoalState
from navarena.tasks.sensors.privileged import find_privileged, offers_channel
from navarena.tasks.task import Actions, Phase, StepResult, Task, TaskState, require_state


class NavigationBatch:
    """Runs N episodes of a task at a time; each slot starts its next one when asked to.

    Args:
        task: the rules.
        slots: N.
        threads: for rendering; None for all processors this process may use.
        sensors: names of what to observe; None for all that the task offers. Only these are computed.
        worlds: where scenes come from; None for a store of its own.
        corruptions: of images, motion, estimated pose, goals and instructions, in this order and after the
            task's own, each as "name", "name:severity" or with words (see navarena.corruptions).
        buffers: name -> an array (N, ...) of the caller, of the dtype of its spec, into which the
            observation is written; the batch allocates those of other observations.
        device: where images are drawn.
        mixture: rows of more corruptions, each "clean" or some joined by "+"; every episode has one of them.

    Attributes:
        specs: name -> shape, type and bounds of each observation.
        simulator: the bodies.
        privileged_sensors: names of those sensors that show what no observation of the protocol gives.
    """

    def __init__(
        self,
        task: Task,
        slots: int,
        threads: int | None = None,
        sensors: Sequence[str] | None = None,
        worlds: WorldCache | None = None,
        corruptions: Sequence[str] = (),
        buffers: Mapping[str, np.ndarray] = MappingProxyType({}),
        device: RenderDevice = ON_CPU,
        mixture: Sequence[str] = (),
    ) -> None:
        self.task, self.slots = task, slots
        self._made_with = threads, tuple(corruptions), device, tuple(mixture)
        self.sensors = tuple(dict.fromkeys(task.sensors if sensors is None else sensors))
        found = {name: find_goal_sensor(name, task.find_sensor) for name in self.sensors}
        goals = {name: sensor for name, sensor in found.items() if sensor is not None}
        self._goal_sensors = list(goals.values())
        others = [name for name in self.sensors if name not in goals]
        of_body = find_body_sensors(task, others)
        if task.images.poses == "odometry" and not offers_channel(task, "depth"):
            raise InputError(
                f"expected a protocol that offers depth for poses=odometry, got {task.protocol_id}; choose "
                "poses=estimated"
            )
        privileged = find_privileged(task, of_body, goals)
        self.privileged_sensors = tuple(name for name in self.sensors if name in privileged)
        self.state: TaskState = task.make_state(slots)
        for name, sensor in goals.items():
            require_state(self.state, sensor.state_type, task, f"the sensor {name!r}")
        mixed = make_mixture(task.corruptions, corruptions, mixture) if mixture else None
        found_corruptions = mixed.corruptions if mixed else join_corruptions(task.corruptions, corruptions)
        self._pipeline = make_pipeline(found_corruptions, slots, task.max_steps, task.actuation, mixed)
        self._goal_corruptions = GoalCorruptions(found_corruptions)
        if isinstance(self.state, LifelongGoalState):
            self.state.image_transform = self._corrupt_goal_image
        self.simulator = Simulator(
            task.camera_body if self._pipeline is None else self._pipeline.change_cameras(task.camera_body),
            slots,
            others,
            () if task.is_continuous else task.actions,
            threads,
            pipeline=self._pipeline,
            own_sensor=task.find_sensor,
            channels=[channel for sensor in self._goal_sensors for channel in sensor.channels]
            + ["depth"] * (task.images.poses == "odometry"),
            buffers={name: array for name, array in buffers.items() if name not in goals},
            device=device,
        )
        self.simulator.maps_at_estimates = task.images.poses is not None
        self._odometry: OdometryStage | None = None
        if task.images.poses == "odometry":
            self._odometry = OdometryStage(task, self.simulator)
            self.simulator.observer.estimate_poses = partial(self._odometry.update, self.simulator)
        self._worlds = WorldCache(task.embodiment) if worlds is None else worlds
        self._recorder = Recorder(slots, task.max_steps, len(task.actions) if task.is_continuous else None)
        self._running = np.zeros(slots, bool)
        self._episodes: list[Episode | None] = [None] * slots
        goal_specs = {sensor.name: sensor.spec_on(self.simulator.embodiment) for sensor in self._goal_sensors}
        self.specs: dict[str, ObservationSpec] = {**self.simulator.observer.specs, **goal_specs}
        self._goals_seen = {
            name: spec.make_array(slots, buffers.get(name)) for name, spec in goal_specs.items()
        }
        self._fresh = False
        self._oracle = (
            None
            if task.oracle is None
            else OraclePhases(
                task,
                self.simulator,
                self.state,
                lambda slot, one: self._begin([slot], [one]),
                lambda one: self._goal_corruptions.corrupt_goals(one, None),
            )
        )

    @property
    def running(self) -> Bool[np.ndarray, "n"]:
        """(N,) bool, a copy: slots whose episode has begun and not ended."""
        return self._running.copy()

    @property
    def led(self) -> Bool[np.ndarray, "n"]:
        """(N,) bool: slots whose body an oracle leads to the next episode of a tour."""
        return np.asarray(self.state.phase != Phase.AGENT)

    @property
    def observations(self) -> Mapping[str, Any]:
        """Name -> (N, ...) current observations: NumPy arrays, or images on the device.

        They are computed when first read after a step or start, and rewritten in place by the
        next; copy what must be kept. Rows of slots that never started mean nothing.
        """
        seen = self.simulator.observer.observe(self.simulator.slot_worlds)
        if not self._fresh:
            for sensor in self._goal_sensors:
                sensor.observe(self.simulator, self.state, self._goals_seen[sensor.name])
            self.simulator.bodies.unseen[:] = False
            self._fresh = True
        return MappingProxyType({**seen, **self._goals_seen})

    def observe_into(self, out: Mapping[str, np.ndarray]) -> Mapping[str, np.ndarray]:
        """Current observations; those named in `out` are written to its arrays (N, ...).

        Images are drawn right into them: they may be rows of a slab (T, N, ...), or memory that is shared
        between processes or pinned. They are rewritten by later observations until others are given. Raises
        UnknownNameError for what is not observed, InputError for an array that does not fit.
        """
        for name, array in out.items():
            if name in self._goals_seen:
                self.specs[name].make_array(self.slots, array)
        self.simulator.observer.use_buffers({k: v for k, v in out.items() if k not in self._goals_seen})
        for name in out.keys() & self._goals_seen.keys():
            out[name][...] = self._goals_seen[name]
            self._goals_seen[name] = out[name]
        return self.observations

    def episode(self, slot: int) -> Episode:
        """The episode that began last in `slot`; raises InputError when none has."""
        episode = self._episodes[slot]
        if episode is None:
            raise InputError(f"expected an episode in slot {slot}, got none yet; call start first")
        return episode

    def start(self, slots: Sequence[int], episodes: Sequence[Episode]) -> None:
        """Begin `episodes` (K) in `slots` (K); what ran there ends without a result.

        Raises FileError for a scene that is missing or damaged, and InputError for a start that is off
        the floor; then these slots are left without a running episode.
        """
        if len(slots) != len(episodes):
            raise InputError(f"expected one episode for each of {len(slots)} slots, got {len(episodes)}")
        if not len(slots):
            return
        rows = np.asarray(slots, np.int64)
        self.state.phase[rows], self.state.tour_position[rows] = Phase.AGENT, 0
        if self._oracle is not None:
            for slot in rows.tolist():
                self._oracle.forget(slot)
        self._begin(slots, episodes)

    def follow(self, slots: Sequence[int], episodes: Sequence[Episode]) -> Bool[np.ndarray, "k"]:
        """Continue tours in `slots` (K) with their next `episodes` (K); (K,) bool, which start at once.

        Where the task has an oracle it leads the bodies there: `step` moves them, and says in `arrived`
        when an episode begins. Elsewhere the episodes begin now, as by `start`. Raises as `start`.
        """
        if self._oracle is None:
            self.start(slots, episodes)
            return np.ones(len(slots), bool)
        self._running[np.asarray(slots, np.int64)] = False
        self._fresh = False
        begun = [self._oracle.hand_over(slot, self.episode(slot), one) for slot, one in zip(slots, episodes)]
        return np.array(begun, bool)

    def oracle_steps(self, slot: int) -> tuple[int, int]:
        """Steps of the oracle before the current episode of `slot`: to the last goal, to the start."""
        return (0, 0) if self._oracle is None else self._oracle.oracle_steps(slot)

    def _begin(self, slots: Sequence[int], episodes: Sequence[Episode]) -> None:
        """Begin `episodes` (K) in `slots` (K), at their starts."""
        rows = np.asarray(slots, np.int64)
        self._running[rows] = False
        worlds = [self._worlds.get(episode.scene_id) for episode in episodes]
        positions = np.array([episode.start_position for episode in episodes], float)
        yaws = np.array([episode.start_yaw for episode in episodes], float)
        tilts = np.array([episode.start_tilt for episode in episodes], float)
        self.simulator.place(rows, worlds, positions, yaws, tilts)
        self.state.stopped[rows] = False
        self.state.steps[rows] = 0
        if self._pipeline is not None:
            scenes, ids = zip(*((episode.scene_id, episode.episode_id) for episode in episodes))
            self._pipeline.begin(rows, scenes, ids, self.simulator.bodies, self.simulator.slot_worlds)
        if self._odometry is not None:
            self._odometry.begin(rows)
        observed = [self._goal_corruptions.corrupt_goals(*one) for one in zip(episodes, worlds)]
        self.task.begin(self.simulator, self.state, rows, observed)
        for sensor in self._goal_sensors:
            sensor.begin(self.simulator, self.state, rows)
        for slot, episode in zip(rows, episodes):
            self._episodes[slot] = episode
        self._recorder.begin(rows, self.simulator.bodies, self.state)
        self._running[rows] = True
        self._fresh = False

    def step(self, actions: Actions, active: Bool[np.ndarray, "n"] | None = None) -> StepResult:
        """Carry out one action in each `active` slot (all by default), and judge it.

        Args:
            actions: (N,) indices into `task.actions`, or (N, K) numbers within [-1, 1] of a continuous
                task; rows of other slots, and of those that an oracle leads, are ignored.
            active: (N,) bool.

        Raises ActionError for an action out of range, and for a step in a slot whose episode has
        not begun or has ended.
        """
        chosen = np.ones(self.slots, bool) if active is None else np.asarray(active, bool)
        led = np.zeros(0, np.int64) if self._oracle is None else np.flatnonzero(chosen & self.led)
        acting = chosen & ~self.led if len(led) else chosen
        if acting.shape == (self.slots,) and (acting & ~self._running).any():
            slot = int(np.flatnonzero(acting & ~self._running)[0])
            when = "before reset (start)" if self._episodes[slot] is None else "after its end"
            raise ActionError(
                f"expected a running episode in slot {slot}, got a step {when}; call reset() first"
            )
        taken = np.asarray(actions)
        if len(led) and not acting.any():
            result = StepResult(np.zeros(self.slots), acting, acting.copy())
        else:
            self.simulator.bodies.begin_step()
            self.task.execute(self.simulator, self.state, taken, acting)
            self.state.steps[acting] += 1
            self._end_step(taken, acting)
            result = self.task.judge(self.simulator, self.state, taken, acting)
            self._recorder.record(acting, taken, self.simulator.bodies, self.state)
            self._running &= ~(result.terminated | result.truncated)
        self._fresh = False
        if self._oracle is None:
            return result
        if len(led):
            self.step_unrecorded(*self._oracle.next_actions(led))
        return replace(result, arrived=self._oracle.arrive(led))

    def step_unrecorded(self, actions: Int64[np.ndarray, "n"], active: Bool[np.ndarray, "n"]) -> None:
        """Move bodies outside the rules, exactly as commanded: nothing is judged, counted or recorded.

        Corruptions of images and estimated poses go on; those of motion do not act. The bodies of other slots
        keep what they measured in their own last step.

        Args:
            actions: (N,) indices into `task.actions`; rows of other slots are ignored.
            active: (N,) bool.

        Raises ActionError for an action out of range.
        """
        bodies, others = self.simulator.bodies, ~active
        measured = bodies.last_positions, bodies.last_yaws, bodies.collided, bodies.moved
        kept = [array[others] for array in measured]
        self.simulator.step(actions, active, exact=True)
        for array, rows in zip(measured, kept):
            array[others] = rows
        self._end_step(actions, active)
        self._fresh = False

    def _end_step(self, actions: Actions, active: Bool[np.ndarray, "n"]) -> None:
        """The bodies `active` (N,) have acted: count the step, and let them be observed anew."""
        self.simulator.bodies.unseen |= active
        self.simulator.observer.expire(active)
        if self._pipeline is not None:
            self._pipeline.end_step(np.flatnonzero(active), self.simulator.bodies)
        if self._odometry is not None:
            self._odometry.note(actions, active)

    def save_state(self) -> bytes:
        """State of the batch, for `restore_state` of a batch of equal arguments, in any process."""
        worlds, row = self.simulator.slot_worlds.worlds, self.simulator.slot_worlds.row
        named: dict[Name, object] = {(name,): one for name, one in self._unsaved().items()}
        for world in worlds:
            named["world", world.scene_id] = world
            named["navmesh", world.scene_id] = world.navmesh
        changing = {
            "scenes": [worlds[k].scene_id if k >= 0 else None for k in row.tolist()],
            "goals": [self.state.goal_fields.goals(slot) for slot in range(self.slots)],
            "extras": self.simulator.observer.extras,
            "parts": [vars(one) for one in self._changing_parts()],
            "pipeline": None if self._pipeline is None else self._pipeline.save_state(),
            "batch": (self._running, self._episodes, self._goals_seen, self._fresh),
            "oracle": None if self._oracle is None else self._oracle.save_state(),
        }
        return dump_state(changing, named)

    def restore_state(self, saved: bytes) -> None:
        """Restore the state `saved` of a batch of equal arguments, bit for bit.

        The bytes are a pickle: restore only what you saved. Raises FileError for a scene
        that cannot be read any more.
        """
        own = self._unsaved()

        def find(name: Name) -> object:
            if name[0] in own:
                return own[name[0]]
            world = self._worlds.get(name[1])
            return world if name[0] == "world" else world.navmesh

        changing = load_state(saved, find)
        rows = np.array([k for k, scene in enumerate(changing["scenes"]) if scene is not None], np.int64)
        worlds = [self._worlds.get(scene) for scene in changing["scenes"] if scene is not None]
        self.simulator.slot_worlds.assign(rows, worlds)
        for one, values in zip(self._changing_parts(), changing["parts"], strict=True):
            vars(one).update(values)
        for slot, world in zip(rows.tolist(), worlds):
            if (goals := changing["goals"][slot]) is not None:
                self.state.goal_fields.set_goals(slot, world.navmesh, goals)
        if self._pipeline is not None:
            self._pipeline.restore_state(changing["pipeline"], self.simulator.slot_worlds)
        self.simulator.show(changing["extras"])
        self._running, self._episodes, seen, self._fresh = changing["batch"]
        for name, array in seen.items():
            self._goals_seen[name][...] = array
        if self._oracle is not None:
            self._oracle.restore_state(changing["oracle"])

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles and copies are batches of equal arguments in the same state, with buffers of their own."""
        threads, corruptions, device, mixture = self._made_with
        first = (self.task, self.slots, threads, self.sensors, self._worlds, corruptions)
        return type(self), (*first, {}, device, mixture), self.save_state()

    def __setstate__(self, saved: bytes) -> None:
        self.restore_state(saved)

    def _changing_parts(self) -> list[object]:
        odometry = [] if self._odometry is None else [self._odometry]
        return [self.simulator.bodies, self.state, self._recorder, *odometry, *self._goal_sensors]

    def _unsaved(self) -> dict[str, object]:
        return {"batch": self, "state": self.state, "goal fields": self.state.goal_fields}

    def _corrupt_goal_image(self, slot: int, number: int, image: np.ndarray) -> np.ndarray:
        return self._goal_corruptions.corrupt_image(self.episode(slot), number, image)

    def trajectory(self, slot: int, with_path: bool = True) -> Trajectory:
        """A copy of the trajectory in `slot` since its episode began, complete once it has ended.

        with_path: whether to find the shortest path, which metrics of `effort` compare with; see also
            `Task.starts_along_path`.
        """
        self.episode(slot)
        shortest = None
        if with_path or self.task.starts_along_path:
            position, yaw = self._recorder.start(slot)
            path = self.task.shortest_path(self.simulator, self.state, slot, position)
            shortest = measure_path(path, yaw) if len(path) else None
        body = self.task.embodiment
        rates = BodyRates(body.forward_step, body.turn_angle, body.walk_speed, body.turn_speed)
        track = self._recorder.trajectory(slot, self.state, self.task.success_distance, rates, shortest)
        return self.task.complete(track, self.state, slot)
