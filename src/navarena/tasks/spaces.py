"""Observation and action spaces of Gymnasium."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces

from navarena.simulation.sensors.sensor import ObservationSpec
from navarena.tasks.task import Task


def observation_space(specs: Mapping[str, ObservationSpec]) -> spaces.Dict:
    """A Dict of one Box for each observation, by name."""
    boxes: dict[str, spaces.Space[Any]] = {name: _box(spec) for name, spec in sorted(specs.items())}
    return spaces.Dict(boxes)


def _box(spec: ObservationSpec) -> spaces.Box:
    dtype = np.dtype(spec.dtype)
    low = np.full(spec.shape, spec.low, dtype)
    return spaces.Box(low, np.full(spec.shape, spec.high, dtype), dtype=dtype.type)


def action_space(task: Task) -> spaces.Space[Any]:
    """Indices into the task's actions; of a continuous task a number within [-1, 1] for each of them."""
    if task.is_continuous:
        return spaces.Box(-1.0, 1.0, (len(task.actions),), np.float32)
    return spaces.Discrete(len(task.actions))
