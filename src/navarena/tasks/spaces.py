"""Observation and action spaces of Gymnasium."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces

from navarena.simulation.sensors.sensor import ObservationSpec
from navarena.tasks.task import TaskRules

TEXT_KIND = "U"
"""Of the dtype of observations that are text."""

LETTERS = "".join(chr(code) for code in (0x09, 0x0A, 0x0D, *range(0x20, 0x250), *range(0x2010, 0x2028)))
"""Of texts, as far as the space promises: Latin scripts, dashes and quotation marks, and ends of lines, which
R2R's instructions have."""


def observation_space(specs: Mapping[str, ObservationSpec]) -> spaces.Dict:
    """A Dict of one Box for each observation, by name; of one Text for what is described in words."""
    boxes: dict[str, spaces.Space[Any]] = {name: _space(spec) for name, spec in sorted(specs.items())}
    return spaces.Dict(boxes)


def _space(spec: ObservationSpec) -> spaces.Space[Any]:
    dtype = np.dtype(spec.dtype)
    if dtype.kind != TEXT_KIND:
        return _box(spec)
    letters = dtype.itemsize // np.dtype("<U1").itemsize
    return spaces.Text(max_length=letters, min_length=0, charset=LETTERS)


def as_observed(values: np.ndarray) -> Any:
    """What an observation space holds for `values` (N, ...): themselves, or a tuple of texts."""
    return tuple(values.tolist()) if values.dtype.kind == TEXT_KIND else values


def first_observed(values: np.ndarray) -> Any:
    """The same of the first row of `values` (N, ...) alone: a text, or an array of its own."""
    return str(values[0]) if values.dtype.kind == TEXT_KIND else np.array(values[0])


def _box(spec: ObservationSpec) -> spaces.Box:
    dtype = np.dtype(spec.dtype)
    low = np.full(spec.shape, spec.low, dtype)
    return spaces.Box(low, np.full(spec.shape, spec.high, dtype), dtype=dtype.type)


def action_space(task: TaskRules) -> spaces.Space[Any]:
    """Indices into the task's actions; of a continuous task a number within [-1, 1] for each of them."""
    if task.is_continuous:
        return spaces.Box(-1.0, 1.0, (len(task.actions),), np.float32)
    return spaces.Discrete(len(task.actions))
