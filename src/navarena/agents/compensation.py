"""`compensating:AGENT`: measures motion corruptions by odometry and compensates for them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float, Int64

from navarena.agents.agent import Agent, Boundary, EpisodeStarts, Start, require_actions, require_discrete
from navarena.agents.explorers.adaptive import LEFT, RIGHT, SENSORS, WALK, observe_motions
from navarena.agents.forwarding import ForwardingAgent
from navarena.core.errors import InputError
from navarena.core.geometry import wrap_angle
from navarena.core.seeding import make_generator
from navarena.simulation.body import Embodiment
from navarena.tasks.calibration_env import CalibrationEnv
from navarena.tasks.task import Actions, Task

Kind = Literal["none", "bias", "noise", "drift", "failure"]
"""What is found: nothing; walks and turns that are all too long or too short; that vary; walks that turn to
one side; turns to one side that do nothing."""

FEWEST = 8
"""Motions of an action in a scene from which on they are judged."""

FAILED = 0.1
"""Share of a turn below which the median turn counts as none."""

DRIFTS = np.radians(3.0)
"""Radians of the median turn of a walk beyond which it drifts."""

BIASED_METRES, BIASED_RADIANS = 0.03, np.radians(3.0)
"""Difference of the median walk or turn from the commanded one beyond which it is biased."""

NOISY_METRES, NOISY_RADIANS = 0.04, np.radians(4.0)
"""Deviation of walks or turns beyond which they are noisy: between native noise (5 mm, 0.5 degrees) and the
stochastic bias (0.1 m, 10 degrees)."""

MAX_CORRECTIONS = 12
"""Actions in a row that correct a heading: a full turn by steps of 30 degrees."""


@dataclass(frozen=True)
class MotionModel:
    """Measured motion of each action in one scene.

    Attributes:
        kind: what is wrong.
        step: metres of a walk, median.
        drift: radians to the left by which a walk turns, median.
        left: radians of a turn to the left, median, to the left.
        right: radians of a turn to the right, median, to the left.
        noise: deviation of walks in metres, and of turns in radians.
    """

    kind: Kind
    step: float
    drift: float
    left: float
    right: float
    noise: tuple[float, float] = (0.0, 0.0)


def estimate_model(motions: Mapping[str, Float[np.ndarray, "k 3"]], body: Embodiment) -> MotionModel:
    """The model of observed `motions`: action -> (K, 3) [metres ahead, metres right, radians left].

    Of an action with fewer than FEWEST motions the data sheet of `body` is believed. Walks count where the
    path was free.
    """
    usual = {WALK: (body.forward_step, 0.0), LEFT: (0.0, body.turn_angle), RIGHT: (0.0, -body.turn_angle)}
    median, spread = {}, {}
    for action, (ahead, turn) in usual.items():
        seen = np.asarray(motions.get(action, np.zeros((0, 3))), float)
        known = len(seen) >= FEWEST
        median[action] = np.median(seen, axis=0) if known else np.array([ahead, 0.0, turn])
        # of the middle half, scaled to a normal distribution: walks that met something are no noise
        low, high = np.quantile(seen, (0.25, 0.75), axis=0) if known else np.zeros((2, 3))
        spread[action] = (high - low) / 1.349
    noise = float(spread[WALK][0]), float(max(spread[name][2] for name in (LEFT, RIGHT)))
    step, drift = float(median[WALK][0]), float(median[WALK][2])
    left, right = float(median[LEFT][2]), float(median[RIGHT][2])
    turns = np.abs([left, right])
    kind: Kind = "none"
    if turns.min() < FAILED * body.turn_angle <= turns.max():
        kind = "failure"
    elif abs(drift) > DRIFTS and spread[WALK][2] <= NOISY_RADIANS:
        kind = "drift"  # also where walks that drift meet walls, and vary in length
    elif noise[0] > NOISY_METRES or noise[1] > NOISY_RADIANS:
        kind = "noise"
    elif (
        abs(step - body.forward_step) > BIASED_METRES
        or np.abs(turns - body.turn_angle).max() > BIASED_RADIANS
    ):
        kind = "bias"
    return MotionModel(kind, step, drift, left, right, noise)


def estimate_models(
    env: CalibrationEnv, task: Task, generator: np.random.Generator
) -> dict[str, MotionModel]:
    """Scene -> motion model, estimated from random walks and turns until the budget is used up.

    Args:
        env: that observes depth and odometry.
        task: whose depth it is.
        generator: of the actions.
    """
    index = {name: task.actions.index(name) for name in (WALK, LEFT, RIGHT)}

    def choose(free: Bool[np.ndarray, "n"]) -> Int64[np.ndarray, "n"]:
        drawn = generator.choice([index[LEFT], index[RIGHT], index[WALK]], env.slots)
        return np.where(free | (drawn != index[WALK]), drawn, index[LEFT])

    observed = observe_motions(env, task, choose)
    return {scene: estimate_model(motions, task.embodiment) for scene, motions in observed.items()}


class CompensatingAgent(ForwardingAgent):
    """Wraps an agent and corrects the body's heading to the one that the wrapped agent requested.

    In the calibration it walks and turns at random and observes depth and odometry, from which it learns for
    each scene what actions do. While acting it adds up how far the heading is from the one that was asked
    for, by what it learned, and turns in between as soon as that brings it nearer: against a drift by the
    usual turn to the other side, after a failed turn by as many turns to the other side as make it up. The
    other agent is not asked meanwhile, nor told: with these turns its last action did what it asked for.

    Args:
        inner: the agent that acts.
        task: of discrete actions.
        seed: of the walk of the calibration.

    Attributes:
        models: scene -> what was found there.
    """

    def __init__(self, inner: Agent, task: Task, seed: int) -> None:
        require_discrete(task, "compensating")
        super().__init__(inner)
        self.calibration_sensors = SENSORS
        self.models: dict[str, MotionModel] = {}
        self._task, self._seed = task, seed
        self._index = {name: task.actions.index(name) for name in (WALK, LEFT, RIGHT)}
        self._episodes = EpisodeStarts()
        self._here: dict[int, MotionModel | None] = {}
        self._errors: dict[int, float] = {}
        self._corrections: dict[int, int] = {}
        self._asked, self._done, self._told = np.zeros(0, bool), np.zeros(0, np.int64), np.zeros(0, np.int64)
        self._uncounted: set[int] = set()

    @property
    def adapts(self) -> bool:
        return True

    def adapt(self, env: CalibrationEnv) -> None:
        """Estimate the motion of each action in `env`; raises InputError for an agent that adapts itself."""
        if self._inner.adapts:
            raise InputError(
                "expected an agent that does not adapt itself behind compensating:, got "
                f"{type(self._inner).__name__}, and the calibration serves one of them; leave its adaptation "
                "or compensating: out"
            )
        self.models = estimate_models(env, self._task, make_generator("compensating", "adapt", self._seed))

    def reset(self, starts: Sequence[Start]) -> None:
        for start in map(self._episodes.mark, starts):
            if start.boundary >= Boundary.EPISODE:
                self._here[start.slot] = self.models.get(start.scene_id)
                self._errors[start.slot] = 0.0
                self._corrections[start.slot] = 0
                self._uncounted.discard(start.slot)
        super().reset(starts)

    def act(self, observations: Mapping[str, np.ndarray], active: Bool[np.ndarray, "n"]) -> Actions:
        for slot in self._uncounted:
            self._count(slot, int(self._done[slot]), bool(self._asked[slot]))
        actions, asked = np.zeros(len(active), np.int64), active.copy()
        for slot in np.flatnonzero(active).tolist():
            turn = self._correct(slot)
            if turn is not None:
                actions[slot], asked[slot] = turn, False
        if asked.any():
            chosen = require_actions(self._inner.act(observations, asked), len(active), None)
            actions[asked] = chosen[asked]
        if len(self._told) != len(active):
            self._told = np.zeros(len(active), np.int64)
        self._told = np.where(asked, actions, self._told)
        self._asked, self._done, self._uncounted = asked, actions, set(np.flatnonzero(active).tolist())
        return actions.copy()

    def overrule(self, actions: Actions) -> None:
        """Tell the other agent what was done where it was asked; elsewhere its own last actions stand."""
        self._done = actions.copy()
        if self._asked.any():
            self._told = np.where(self._asked, actions, self._told)
            super().overrule(self._told)

    def _correct(self, slot: int) -> int | None:
        """The turn that brings the heading of `slot` nearer to the requested one; None if no turn helps."""
        model, error = self._here[slot], self._errors[slot]
        if model is None or model.kind in ("none", "noise") or self._corrections[slot] >= MAX_CORRECTIONS:
            return None
        if model.kind == "failure":
            # the turns that are left go round the other way: worth it once a whole turn is missing
            works = LEFT if abs(model.left) > abs(model.right) else RIGHT
            return self._index[works] if abs(error) > self._task.embodiment.turn_angle / 2 else None
        after = {
            name: abs(float(wrap_angle(error - turn)))
            for name, turn in ((LEFT, model.left), (RIGHT, model.right))
        }
        best = min(after, key=lambda name: after[name])
        return self._index[best] if after[best] < abs(error) - 1e-6 else None

    def _count(self, slot: int, action: int, is_asked: bool) -> None:
        """Add up the heading that is missing after an action, which the other agent `is_asked` for or not."""
        model = self._here[slot]
        if model is None:
            return
        made = {WALK: model.drift, LEFT: model.left, RIGHT: model.right}
        wanted = {WALK: 0.0, LEFT: self._task.embodiment.turn_angle, RIGHT: -self._task.embodiment.turn_angle}
        for name, number in self._index.items():
            if action == number:
                error = self._errors[slot] + is_asked * wanted[name] - made[name]
                self._errors[slot] = float(wrap_angle(error))
        self._corrections[slot] = 0 if is_asked else self._corrections[slot] + 1
