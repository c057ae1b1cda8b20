"""N episodes of one task, side by side: what environments and evaluation stand on."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np
from jaxtyping import Bool, Int64

from navarena.core.errors import ActionError, InputError, UnknownNameError
from navarena.core.suggest import unknown_name
from navarena.episodes.episode import Episode
from navarena.metrics.effort import measure_way
from navarena.metrics.trajectory import BodyRates, Trajectory
from navarena.simulation.readings import find_readings
from navarena.simulation.sensors.catalog import SENSORS
from navarena.simulation.sensors.sensor import ObservationSpec
from navarena.simulation.simulator import Simulator
from navarena.simulation.world import WorldCache
from navarena.tasks.recorder import Recorder
from navarena.tasks.sensors.catalog import GOAL_SENSORS, find_goal_sensor
from navarena.tasks.spoiler import Spoiler
from navarena.tasks.task import Actions, StepResult, Task


class NavigationBatch:
    """Runs N episodes of a task at a time; each slot starts its next one when told to.

    Args:
        task: the rules.
        slots: N.
        threads: for rendering; None for all processors this process may use.
        sensors: names of what to observe; None for all that the task offers. Only these are computed.
        worlds: where scenes come from; None for a store of its own.
        corruptions: what spoils images, motion, knowledge of the pose and goals, in this order and after
            the task's own, each as "name", "name:severity" or with words (see navarena.corruptions).

    Attributes:
        specs: name -> shape, type and bounds of each observation.
        simulator: the bodies.
    """

    def __init__(
        self,
        task: Task,
        slots: int,
        threads: int | None = None,
        sensors: Sequence[str] | None = None,
        worlds: WorldCache | None = None,
        corruptions: Sequence[str] = (),
    ) -> None:
        self.task, self.slots = task, slots
        self.sensors = tuple(dict.fromkeys(task.sensors if sensors is None else sensors))
        found = {name: find_goal_sensor(name, task.make_sensor) for name in self.sensors}
        goals = {name: sensor for name, sensor in found.items() if sensor is not None}
        self._goal_sensors = list(goals.values())
        others = [name for name in self.sensors if name not in goals]
        _require_known(task, others)
        self.state = task.make_state(slots)
        self._spoiler = Spoiler(task, corruptions, slots, self.state.steps)
        self.simulator = Simulator(
            self._spoiler.body,
            slots,
            others,
            () if task.is_continuous else task.actions,
            threads,
            self._spoiler.actuate,
            task.make_sensor,
            self._spoiler.stays_when_blocked,
            self._spoiler.retouch,
            tuple(channel for sensor in self._goal_sensors for channel in sensor.channels),
        )
        self._spoiler.attach(self.simulator, self.state)
        self._worlds = WorldCache(task.embodiment) if worlds is None else worlds
        self._recorder = Recorder(slots, task.max_steps, len(task.actions) if task.is_continuous else None)
        self._running = np.zeros(slots, bool)
        self._episodes: list[Episode | None] = [None] * slots
        goal_specs = {sensor.name: sensor.spec() for sensor in self._goal_sensors}
        self.specs: dict[str, ObservationSpec] = {**self.simulator.observer.specs, **goal_specs}
        self._goals_seen = {
            name: np.zeros((slots, *spec.shape), spec.dtype) for name, spec in goal_specs.items()
        }
        self._fresh = False

    @property
    def running(self) -> Bool[np.ndarray, "n"]:
        """(N,) bool, a copy: slots whose episode has begun and not ended."""
        return self._running.copy()

    @property
    def observations(self) -> Mapping[str, np.ndarray]:
        """Name -> (N, ...) arrays of what was asked for, as of now.

        They are computed when first read after a step or start, and rewritten in place by the
        next; copy what must be kept. Rows of slots that never started mean nothing.
        """
        seen = dict(self.simulator.observations)
        if not self._fresh:
            for sensor in self._goal_sensors:
                sensor.observe(self.simulator, self.state, self._goals_seen[sensor.name])
            self._fresh = True
        return MappingProxyType({**seen, **self._goals_seen})

    def episode(self, slot: int) -> Episode:
        """The episode that began last in `slot`; raises InputError when none has."""
        episode = self._episodes[slot]
        if episode is None:
            raise InputError(f"expected an episode in slot {slot}, got none yet; call start first")
        return episode

    def start(self, slots: Sequence[int], episodes: Sequence[Episode]) -> None:
        """Begin `episodes` (K) in `slots` (K), whatever they were doing.

        Raises what opening a scene raises, and InputError for a start that is off the floor;
        then these slots are left without a running episode.
        """
        rows = np.asarray(slots, np.int64)
        if len(rows) != len(episodes):
            raise InputError(f"expected one episode for each of {len(rows)} slots, got {len(episodes)}")
        if not len(rows):
            return
        self._running[rows] = False
        worlds = [self._worlds.get(episode.scene_id) for episode in episodes]
        positions = np.array([episode.start_position for episode in episodes], float)
        yaws = np.array([episode.start_yaw for episode in episodes], float)
        tilts = np.array([episode.start_tilt for episode in episodes], float)
        self.simulator.place(rows, worlds, positions, yaws, tilts)
        self.state.stopped[rows] = False
        self.state.steps[rows] = 0
        self._spoiler.begin(rows, episodes)
        self.task.begin(self.simulator, self.state, rows, self._spoiler.tell(rows, episodes))
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
                task; rows of other slots are ignored.
            active: (N,) bool.

        Raises ActionError for an action out of range, and for a step in a slot whose episode has
        not begun or has ended.
        """
        chosen = np.ones(self.slots, bool) if active is None else np.asarray(active, bool)
        if chosen.shape == (self.slots,) and (chosen & ~self._running).any():
            slot = int(np.flatnonzero(chosen & ~self._running)[0])
            when = "before reset (start)" if self._episodes[slot] is None else "after its end"
            raise ActionError(
                f"expected a running episode in slot {slot}, got a step {when}; start an episode first"
            )
        taken = np.asarray(actions)
        self.simulator.bodies.begin_step()
        self.task.execute(self.simulator, self.state, taken, chosen)
        self.state.steps[chosen] += 1
        self._spoiler.feel(np.flatnonzero(chosen))
        result = self.task.judge(self.simulator, self.state, taken, chosen)
        self._recorder.record(chosen, taken, self.simulator.bodies, self.state)
        self._running &= ~(result.terminated | result.truncated)
        self._fresh = False
        return result

    def lead(self, actions: Int64[np.ndarray, "n"], active: Bool[np.ndarray, "n"]) -> None:
        """Move bodies outside the rules: nothing is judged, counted or recorded.

        Args:
            actions: (N,) indices into `task.actions`; rows of other slots are ignored.
            active: (N,) bool.

        Raises ActionError for an action out of range.
        """
        self.simulator.bodies.begin_step()
        self.simulator.step(actions, active)
        self._spoiler.feel(np.flatnonzero(active))
        self._fresh = False

    def trajectory(self, slot: int) -> Trajectory:
        """What has happened in `slot` since its episode began: a copy, complete once it has ended."""
        self.episode(slot)
        track = self._recorder.trajectory(slot, self.state, self.task.success_distance)
        way = self.task.shortest_path(self.simulator, self.state, slot, track.positions[0])
        body = self.task.embodiment
        track = replace(
            track,
            rates=BodyRates(body.forward_step, body.turn_angle, body.walk_speed, body.turn_speed),
            shortest=measure_way(way, float(track.yaws[0])) if len(way) else None,
        )
        return self.task.complete(track, self.state, slot)


def _require_known(task: Task, names: Sequence[str]) -> None:
    """Raise UnknownNameError, with the nearest of all sensors, for a name that none answers to."""
    for name in names:
        try:
            find_readings(task.embodiment, name, task.make_sensor)
        except UnknownNameError as error:
            raise unknown_name("sensor", name, [*SENSORS.names(), *GOAL_SENSORS.names()]) from error
