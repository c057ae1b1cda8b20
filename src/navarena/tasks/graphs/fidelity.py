"""HAMT's reward on graphs: nearer or farther, how well the described path is followed, where it stops."""

import numpy as np
from jaxtyping import Bool, Float

from navarena.metrics.instruction import SUCCESS_DISTANCE, ndtw
from navarena.tasks.graphs.batch import GraphBatch
from navarena.tasks.graphs.scoring import drop_repeats
from navarena.tasks.task import StepResult

STOP_REWARD = 2.0
"""Of a stop at the goal, with twice nDTW beside it; the negative of one elsewhere."""

NEAR = 1.0
"""Metres from the goal, within which moving away costs more."""

MISS_WEIGHT = 2.0
"""Of what such a move costs for each metre that the body was nearer than NEAR."""


def fidelity_reward(
    before: Float[np.ndarray, "n"],
    after: Float[np.ndarray, "n"],
    before_ndtw: Float[np.ndarray, "n"],
    after_ndtw: Float[np.ndarray, "n"],
    stopped: Bool[np.ndarray, "n"],
) -> Float[np.ndarray, "n"]:
    """(N,) rewards of N steps, as HAMT's (finetune_src/r2r/agent_cmt.py).

    A stop brings 2 and twice nDTW within 3 m of the goal, else -2. A move brings the sign of the metres that
    it leads nearer, and the gain of nDTW; one that leads away from less than 1 m costs twice what was
    missing to 1 m.

    Args:
        before: (N,) metres to the goal before the step.
        after: (N,) metres, after it.
        before_ndtw: (N,), of the path before the step.
        after_ndtw: (N,), after it.
        stopped: (N,) bool, whether the step was a stop.
    """
    nearer = before - after
    moved = np.sign(nearer) + after_ndtw - before_ndtw
    missed = (before <= NEAR) & (nearer < 0)
    moved = moved - np.where(missed, MISS_WEIGHT * (NEAR - before), 0.0)
    at_goal = after < SUCCESS_DISTANCE
    return np.where(stopped, np.where(at_goal, STOP_REWARD + 2.0 * after_ndtw, -STOP_REWARD), moved)


class FidelityReward:
    """The rewards of a batch's steps: `begin` before each step, `compute` after it.

    Args:
        batch: of bodies on graphs, in episodes whose goals are known.
    """

    def __init__(self, batch: GraphBatch) -> None:
        self._batch = batch
        self._before = np.zeros(batch.slots)
        self._before_ndtw = np.zeros(batch.slots)
        self._led = np.zeros(batch.slots, bool)

    def begin(self) -> None:
        """Note where the bodies are."""
        self._led = self._batch.led
        self._before, self._before_ndtw = self._batch.state.distance.copy(), self._measure()

    def compute(self, result: StepResult) -> Float[np.ndarray, "n"]:
        """(N,) rewards of the step with this `result`; 0 where an oracle led."""
        stopped, after = np.asarray(result.terminated, bool), self._batch.state.distance
        rewards = fidelity_reward(self._before, after, self._before_ndtw, self._measure(), stopped)
        return np.where(self._led, 0.0, rewards)

    def _measure(self) -> Float[np.ndarray, "n"]:
        """(N,) nDTW of the paths so far, with distances along the edges; 0 where an oracle leads."""
        state, atlas = self._batch.state, self._batch.atlas
        found = np.zeros(self._batch.slots)
        for slot in np.flatnonzero(~self._led).tolist():
            walked = drop_repeats(state.nodes[slot, : state.steps[slot] + 1])
            found[slot] = ndtw(atlas.distance(walked[:, None], state.paths[slot]))
        return found
