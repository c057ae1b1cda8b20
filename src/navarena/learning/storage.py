"""Rollouts: T steps of N slots, written once and learned from in place."""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from navarena.episodes.episode import Episode
from navarena.learning.inputs import InputSpec, resize_input
from navarena.learning.tensors import Tensor, Tree, take_rows, torch
from navarena.simulation.sensors.sensor import ObservationSpec

NO_LABEL = -1
"""In the place of a teacher's action where none was asked for."""

NO_ACTION = -1
"""In the place of a discrete action where an oracle leads: the policy's choice is not made, nor learned."""

STEPWISE = (
    *("mask", "actions", "log_probs", "values", "labels", "weights", "led"),
    *("rewards", "terminated", "truncated", "cut_values", "returns"),
)
"""Attributes of a Rollout whose first dimension counts steps, beside the observations."""


@dataclass(frozen=True)
class Fragment:
    """T steps of some slots, as minibatches and losses see them.

    Attributes:
        observations: name -> (T, N, ...), in the dtypes of storage.
        state: of the policy before the first step.
        mask: (T, N) bool, False where the step is the first of an episode.
        actions: (T, N) int64, or (T, N, K) float32: what was done, whoever chose it; or NO_ACTION.
        log_probs: (T, N) float32, of the policy's actions when they were chosen.
        values: (T, N) float32, when they were chosen.
        labels: (T, N) int64, the teacher's actions, or NO_LABEL.
        weights: (T, N) float32, of the labels.
        led: (T, N) bool, whether the teacher decided.
        counted: (T, N) bool, the steps that are learned from; None for all.
    """

    observations: Tree
    state: Tree
    mask: Tensor
    actions: Tensor
    log_probs: Tensor
    values: Tensor
    labels: Tensor
    weights: Tensor
    led: Tensor
    counted: Tensor | None = None


class EpisodeEnd(NamedTuple):
    """The end of an episode within a rollout.

    Attributes:
        step: number of its last step.
        slot: in which it ran.
        episode: what ended.
    """

    step: int
    slot: int
    episode: Episode


class Rollout:
    """Storage of T steps of N slots.

    Images are stored as uint8 or float16. An observation is written once into its place here: drawn there by
    the batch where the storage has its size and type, else converted into it. Acting and learning read it
    there, so both see the same numbers.

    Args:
        inputs: what is stored of each step.
        steps: T.
        slots: N.
        numbers: K, of a continuous action; 0 for discrete ones.
        device: of PyTorch, where everything is stored.
        frozen: what is stored beside, by whoever computes it of the observations (Policy.see_frozen).

    Attributes:
        mask, actions, log_probs, values, labels, weights, led: as of Fragment.
        rewards: (T, N) float32.
        terminated: (T, N) bool, the task came to its end with this step.
        truncated: (T, N) bool, the step limit cut the episode off after this step.
        cut_values: (T, N) float32, the value after the last step of truncated episodes, else 0.
        returns: (T, N) float32, of the last update by PPO from these steps.
        next_values: (N,) float32, values of the step after the last.
        state: of the policy before the first step.
        ends: of episodes, those within tours too, in order.
        lengths: (N,) int64, steps of each slot, which the others lie behind; None where all have T.
        stale: (N,) int64, how many of these, the first ones, are of older policies and learned from again;
            None for none.
        device: as given.
    """

    def __init__(
        self,
        inputs: Sequence[InputSpec],
        steps: int,
        slots: int,
        numbers: int = 0,
        device: str = "cpu",
        frozen: Sequence[InputSpec] = (),
    ) -> None:
        self.steps, self.slots, self.device, self._inputs = steps, slots, device, tuple(inputs)
        shape = (steps, slots)
        with torch.device(device):
            self._seen: Tree = {  # the row behind the last step is for what is seen but not learned from
                one.name: torch.zeros((steps + 1, slots, *one.shape), dtype=getattr(torch, one.dtype))
                for one in (*self._inputs, *frozen)
            }
            self.mask = torch.zeros(shape, dtype=torch.bool)
            self.actions = torch.zeros((*shape, numbers) if numbers else shape, dtype=_number_type(numbers))
            self.log_probs, self.values = torch.zeros(shape), torch.zeros(shape)
            self.labels = torch.full(shape, NO_LABEL, dtype=torch.int64)
            self.weights, self.led = torch.ones(shape), torch.zeros(shape, dtype=torch.bool)
            self.rewards, self.cut_values = torch.zeros(shape), torch.zeros(shape)
            self.returns = torch.zeros(shape)
            self.terminated = torch.zeros(shape, dtype=torch.bool)
            self.truncated = torch.zeros(shape, dtype=torch.bool)
            self.next_values = torch.zeros(slots)
        self.observations: Tree = {name: value[:steps] for name, value in self._seen.items()}
        self.state: Tree = {}
        self.lengths: Tensor | None = None
        self.stale: Tensor | None = None
        self.ends: list[EpisodeEnd] = []
        self._staging: Tree = {}
        if device != "cpu":  # from memory that is pinned, copies go on beside the processor
            self._staging = {one.name: self._seen[one.name][0].cpu().pin_memory() for one in self._inputs}

    def rows(self, step: int, specs: Mapping[str, ObservationSpec]) -> dict[str, np.ndarray]:
        """Name -> array (N, ...) of step number `step`, into which a batch may draw its observation.

        Those of `specs` that are stored with the size and type in which they are observed; none on devices.
        T stands for what `look` shows.
        """
        if self._staging:
            return {}
        return {
            one.name: self._seen[one.name][step].numpy()
            for one in self._inputs
            if specs[one.name].shape == one.shape and np.dtype(specs[one.name].dtype) == one.dtype
        }

    def observe(self, step: int, observations: Mapping[str, np.ndarray]) -> Tree:
        """Write the `observations` (N, ...) of step number `step`; returns their rows here.

        What was drawn into `rows` is there already.
        """
        for one in self._inputs:
            self._write(one, torch.from_numpy(resize_input(one, observations[one.name])), step)
        return {name: value[step] for name, value in self._seen.items()}

    def look(self, observations: Mapping[str, np.ndarray]) -> Tree:
        """The `observations` (N, ...) as the policy reads them, of no step; the next look replaces them."""
        return self.observe(self.steps, observations)

    def _write(self, one: InputSpec, observed: Tensor, step: int) -> None:
        place = self._seen[one.name][step]
        if self._staging:
            place.copy_(self._staging[one.name].copy_(observed), non_blocking=True)
        elif observed.data_ptr() != place.data_ptr():
            place.copy_(observed)

    def first(self, steps: int) -> "Rollout":
        """The rollout of the first `steps` steps, in place; of all of them it is this one itself."""
        if steps == self.steps:
            return self
        part = copy(self)
        part.steps = steps
        part.observations = {name: value[:steps] for name, value in self.observations.items()}
        for name in STEPWISE:
            setattr(part, name, getattr(self, name)[:steps])
        return part

    def columns(self, first: int, last: int) -> "Rollout":
        """The rollout of the slots `first` to `last` - 1, in place, but for its state and next values."""
        part = copy(self)
        part.slots = last - first
        part._seen = {name: value[:, first:last] for name, value in self._seen.items()}
        part.observations = {name: value[:, first:last] for name, value in self.observations.items()}
        part._staging = {name: value[first:last] for name, value in self._staging.items()}
        for name in STEPWISE:
            setattr(part, name, getattr(self, name)[:, first:last])
        return part

    def put_before(self, steps: int, first: int, last: int) -> None:
        """Move the steps `first` to `last` - 1 before the first `steps`, which they do not overlap."""
        for stored in (*self._seen.values(), *(getattr(self, name) for name in STEPWISE)):
            stored[: last - first + steps] = torch.cat((stored[first:last], stored[:steps]))

    @property
    def counted(self) -> Tensor | None:
        """(T, N) bool: the steps that are learned from, none of which an oracle leads; None for all."""
        stored = self._stored
        if self.actions.is_floating_point():
            return stored
        acted = self.actions != NO_ACTION
        if acted.all():
            return stored
        return acted if stored is None else stored & acted

    @property
    def _stored(self) -> Tensor | None:
        """(T, N) bool: the steps before the last of their slots; None for all."""
        return None if self.lengths is None else self._are_first(self.lengths)

    @property
    def is_stale(self) -> Tensor | None:
        """(T, N) bool: the steps of older policies; None for none."""
        return None if self.stale is None else self._are_first(self.stale)

    @property
    def fresh(self) -> Tensor | None:
        """(T, N) bool: the steps that were collected since the last update; None for all."""
        stored, is_stale = self._stored, self.is_stale
        return stored if stored is None or is_stale is None else stored & ~is_stale

    @property
    def frames(self) -> int:
        """Steps that were collected since the last update, of all slots."""
        return self.mask.numel() if self.fresh is None else int(self.fresh.sum())

    def _are_first(self, counts: Tensor) -> Tensor:
        """(T, N) bool: the first steps of each slot, as many as `counts` (N,) says."""
        return torch.arange(self.steps, device=counts.device)[:, None] < counts

    def fragment(self, slots: Tensor | None = None) -> Fragment:
        """All steps of `slots` (K,) int64, copied, or of all slots, in place."""
        fields = (self.mask, self.actions, self.log_probs, self.values, self.labels, self.weights, self.led)
        counted = self.counted
        if slots is None:
            return Fragment(self.observations, self.state, *fields, counted=counted)
        slots = slots.to(self.device)
        seen = {name: value[:, slots] for name, value in self.observations.items()}
        part = Fragment(seen, take_rows(self.state, slots), *(value[:, slots] for value in fields))
        return part if counted is None else replace(part, counted=counted[:, slots])


def _number_type(numbers: int) -> Any:
    return torch.float32 if numbers else torch.int64
