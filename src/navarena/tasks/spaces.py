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


def action_space(task: Task) -> spaces.Discrete:
    """Indices into the task's actions."""
    return spaces.Discrete(len(task.actions))
