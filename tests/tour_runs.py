"""Leads batches along tours, as evaluation and environments do."""

from collections import deque

import numpy as np


class TourRun:
    """A batch with one tour in each slot; where an episode ends, the next of its tour follows.

    `tracks`: (slot, episode id) -> trajectory; `oracle`: likewise the steps of the oracle before it.
    """

    def __init__(self, batch, tours):
        self.batch, self.left = batch, [deque(tour) for tour in tours]
        self.tracks, self.oracle = {}, {}
        self.began = np.ones(len(tours), bool)
        batch.start(range(len(tours)), [tour.popleft() for tour in self.left])

    @property
    def running(self):
        """(N,) bool: slots whose tour has not ended."""
        return self.batch.running | self.batch.led

    def step(self, actions):
        """One step of every slot that runs; `began` then says where an episode began."""
        step = self.batch.step(np.asarray(actions), self.running)
        self.began = np.zeros(len(self.left), bool) if step.arrived is None else step.arrived.copy()
        for slot in np.flatnonzero(step.terminated | step.truncated).tolist():
            name = self.batch.episode(slot).episode_id
            self.tracks[slot, name] = self.batch.trajectory(slot)
            self.oracle[slot, name] = self.batch.oracle_steps(slot)
            if self.left[slot]:
                self.began[slot] = self.batch.follow([slot], [self.left[slot].popleft()])[0]
        return step
