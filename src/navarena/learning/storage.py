"""Rollouts: T steps of N slots, written once and learned from in place."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from navarena.learning.inputs import InputSpec, write_input
from navarena.learning.tensors import Tensor, Tree, take_rows, torch

NO_LABEL = -1
"""In the place of a teacher's action where none was asked for."""


@dataclass(frozen=True)
class Fragment:
    """T steps of some slots, as minibatches and losses see them.

    Attributes:
        observations: name -> (T, N, ...), in the dtypes of storage.
        state: of the policy before the first step.
        mask: (T, N) bool, False where the step is the first of an episode.
        actions: (T, N) int64, or (T, N, K) float32: what was done, whoever chose it.
        log_probs: (T, N) float32, of the policy's actions when they were chosen.
        values: (T, N) float32, when they were chosen.
        labels: (T, N) int64, the teacher's actions, or NO_LABEL.
        weights: (T, N) float32, of the labels.
    """

    observations: Tree
    state: Tree
    mask: Tensor
    actions: Tensor
    log_probs: Tensor
    values: Tensor
    labels: Tensor
    weights: Tensor


class Rollout:
    """Storage of T steps of N slots.

    Images are stored as uint8 or float16. An observation is written once, from the array of the batch into
    its place here; acting and learning read it there, so both see the same numbers.

    Args:
        inputs: what is stored of each step.
        steps: T.
        slots: N.
        numbers: K, of a continuous action; 0 for discrete ones.

    Attributes:
        mask, actions, log_probs, values, labels, weights: as of Fragment.
        rewards: (T, N) float32.
        terminated: (T, N) bool, the task came to its end with this step.
        truncated: (T, N) bool, the step limit cut the episode off after this step.
        cut_values: (T, N) float32, the value after the last step of truncated episodes, else 0.
        next_values: (N,) float32, values of the step after the last.
        state: of the policy before the first step.
    """

    def __init__(self, inputs: Sequence[InputSpec], steps: int, slots: int, numbers: int = 0) -> None:
        self.steps, self.slots, self._inputs = steps, slots, tuple(inputs)
        shape = (steps, slots)
        self._arrays = {one.name: np.zeros((*shape, *one.shape), one.dtype) for one in self._inputs}
        self.observations: Tree = {name: torch.from_numpy(array) for name, array in self._arrays.items()}
        self.mask = torch.zeros(shape, dtype=torch.bool)
        self.actions = torch.zeros((*shape, numbers)) if numbers else torch.zeros(shape, dtype=torch.int64)
        self.log_probs, self.values = torch.zeros(shape), torch.zeros(shape)
        self.labels = torch.full(shape, NO_LABEL, dtype=torch.int64)
        self.weights = torch.ones(shape)
        self.rewards, self.cut_values = torch.zeros(shape), torch.zeros(shape)
        self.terminated = torch.zeros(shape, dtype=torch.bool)
        self.truncated = torch.zeros(shape, dtype=torch.bool)
        self.next_values = torch.zeros(slots)
        self.state: Tree = {}

    def observe(self, step: int, observations: Mapping[str, np.ndarray]) -> Tree:
        """Write the `observations` (N, ...) of step number `step`; returns their rows here."""
        for one in self._inputs:
            write_input(one, observations[one.name], self._arrays[one.name][step])
        return {name: value[step] for name, value in self.observations.items()}

    def look(self, observations: Mapping[str, np.ndarray]) -> Tree:
        """The `observations` (N, ...) as the policy reads them, in arrays of their own: of no step."""
        seen = {one.name: np.zeros((self.slots, *one.shape), one.dtype) for one in self._inputs}
        for one in self._inputs:
            write_input(one, observations[one.name], seen[one.name])
        return {name: torch.from_numpy(array) for name, array in seen.items()}

    def fragment(self, slots: Tensor | None = None) -> Fragment:
        """All steps of `slots` (K,) int64, copied, or of all slots, in place."""
        fields = (self.mask, self.actions, self.log_probs, self.values, self.labels, self.weights)
        if slots is None:
            return Fragment(self.observations, self.state, *fields)
        seen = {name: value[:, slots] for name, value in self.observations.items()}
        return Fragment(seen, take_rows(self.state, slots), *(value[:, slots] for value in fields))
