"""Stopping modules: `stopping:DIR:AGENT` lets AGENT act, and stops where the checkpoint DIR sees the goal.

The checkpoint was trained with the auxiliary loss "goal_distance": from each single observation it tells the
distance to the goal, without memory. Behind DIR, ?at=0.5 says below how many metres it stops; else within the
task's success distance.
"""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float

from navarena.agents.agent import require_actions, require_discrete
from navarena.agents.declaration import join_hashes
from navarena.agents.forwarding import ForwardingAgent
from navarena.agents.loading import declare_agent, load_agent
from navarena.core.errors import InputError
from navarena.learning.agents.fit import require_fitting
from navarena.learning.auxiliaries.heads import AuxiliaryHeads, record_activations
from navarena.learning.auxiliaries.settings import Auxiliary
from navarena.learning.checkpoints.policies import load_body_policy, load_heads, read_info
from navarena.learning.inputs import choose_targets, resize_input
from navarena.learning.tensors import torch
from navarena.simulation.sensors.sensor import ObservationSpec
from navarena.tasks.task import Actions, Task, TaskRules

AT = "?at="
TARGET = "goal_distance"


def find_stopping(
    text: str, task: TaskRules | None = None, patience: float | None = None
) -> type["StoppingAgent"]:
    """The agent that DIR:AGENT or DIR?at=METRES:AGENT names; see `declare_agent` for task and patience.

    Raises InputError for another text, FileError for a folder without a checkpoint, UnknownNameError for an
    unknown agent.
    """
    place, mark, name = text.partition(":")
    folder, at, metres = place.partition(AT)
    if not (folder and mark and name):
        raise InputError(f"expected stopping:DIR:AGENT, got 'stopping:{text}'")
    try:
        distance = float(metres) if at else None
    except ValueError:
        distance = -1.0
    if distance is not None and not 0 <= distance < math.inf:
        raise InputError(f"expected metres of at least 0 behind {AT[:-1]}, got {metres!r}")
    info, inner = read_info(Path(folder)), declare_agent(name, task, patience)
    members = {
        "folder": Path(folder),
        "inner_name": name,
        "distance": distance,
        "sensors": tuple(dict.fromkeys((*inner.sensors, *(one.name for one in info.inputs)))),
        "privileged": inner.privileged,
        "privileged_inputs": inner.privileged_inputs,
        "trained_with": tuple(dict.fromkeys((*inner.trained_with, *info.trained_with))),
        "resizes": tuple(dict.fromkeys((*inner.resizes, *info.resizes))),
        "model_sha256": join_hashes(inner.model_sha256, info.model_sha256, info.heads_sha256),
        "__doc__": f"{name}, which stops by {folder}.",
    }
    return type("StoppingAgent", (StoppingAgent,), members)


class StoppingAgent(ForwardingAgent):
    """Lets another agent act, and stops in its place where a checkpoint believes that the goal is near.

    STOP of the other agent becomes a turn to the left, as with an oracle that stops. Every call of the
    network has the checkpoint's `act_rows` rows, so what is seen alone decides.

    Args:
        task: of discrete actions, and with the checkpoint's observations.
        seed: of the other agent.
        patience: seconds that the other agent may take to answer; None for as long as it likes.

    Raises InputError for a checkpoint without this loss, or one that does not fit the task.
    """

    on_graphs = False
    folder: ClassVar[Path]
    inner_name: ClassVar[str]
    distance: ClassVar[float | None]
    """Metres below which it stops; None for the task's success distance."""

    def __init__(self, task: Task, seed: int, patience: float | None = None) -> None:
        require_discrete(task, "stopping")
        super().__init__(load_agent(self.inner_name, task, seed, patience))
        self._info, self._policy = load_body_policy(self.folder)
        require_fitting(self._info, task, self.folder)
        names = (*self._inner.sensors, *(one.name for one in self._info.inputs))
        self.sensors = tuple(dict.fromkeys(names))
        loss = Auxiliary("goal_distance", 1.0, target=TARGET)
        targets = choose_targets({TARGET: ObservationSpec((1,), np.float32, -1.0, math.inf)}, (TARGET,))
        declaration, count = task.actions.index(task.declaration), len(task.actions)
        self._heads = AuxiliaryHeads(self._policy, (loss,), self._info.inputs, targets, count, declaration)
        load_heads(self._heads, self._info, self.folder, loss.kind)
        self._declaration, self._instead = declaration, task.actions.index("turn_left")
        self._near = task.success_distance if self.distance is None else self.distance

    def act(self, observations: Mapping[str, np.ndarray], active: Bool[np.ndarray, "n"]) -> Actions:
        chosen = require_actions(self._inner.act(observations, active), len(active), None)
        kept = np.where(chosen == self._declaration, self._instead, chosen)
        is_near = self.estimate(observations, active) < self._near
        return self.replace(chosen, np.where(is_near, self._declaration, kept), active)

    def estimate(
        self, observations: Mapping[str, np.ndarray], active: Bool[np.ndarray, "n"]
    ) -> Float[np.ndarray, "n"]:
        """(N,) metres to the goal as the checkpoint sees it; infinite in slots that are not `active`."""
        rows, slots = self._info.act_rows, np.flatnonzero(active)
        found = np.full(len(active), np.inf)
        for first in range(0, len(slots), rows):
            part = slots[first : first + rows]
            seen = {}
            for one in self._info.inputs:
                values = np.zeros((rows, *one.shape), one.dtype)
                values[: len(part)] = resize_input(one, observations[one.name])[part]
                seen[one.name] = torch.from_numpy(values)
            with torch.inference_mode(), record_activations(self._policy) as activations:
                self._policy.encoder(seen)
                logs = self._heads.heads["goal_distance"](activations.encoded)[: len(part), 0]
            found[part] = np.expm1(logs.double().numpy())
        return found
