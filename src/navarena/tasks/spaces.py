"""Observation and action spaces of Gymnasium."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from navarena.core.render_devices import find_warp
from navarena.simulation.sensors.sensor import ObservationSpec
from navarena.tasks.task import TaskRules

TEXT_KIND = "U"
"""Of the dtype of observations that are text."""

LETTERS = "".join(chr(code) for code in (0x09, 0x0A, 0x0D, *range(0x20, 0x250), *range(0x2010, 0x2028)))
"""Of texts, as far as the space promises: Latin scripts, dashes and quotation marks, and ends of lines, which
R2R's instructions have."""


def observed_names(
    specs: Mapping[str, ObservationSpec], asked: Sequence[str] | None, text: bool
) -> tuple[str, ...]:
    """Names of the observations of an environment: those that are `asked` for, else all that are no text.

    Args:
        specs: name -> what is observed.
        asked: names; None for all of `specs`, of which texts are left out unless `text` is true.
        text: whether texts are part where nothing is asked for.
    """
    if asked is not None:
        return tuple(name for name in specs if name in asked)
    return tuple(name for name, spec in specs.items() if text or np.dtype(spec.dtype).kind != TEXT_KIND)


def observation_space(specs: Mapping[str, ObservationSpec]) -> spaces.Dict:
    """Dict space of one Box per observation, or one Text for textual ones."""
    boxes: dict[str, spaces.Space[Any]] = {name: _space(spec) for name, spec in sorted(specs.items())}
    return spaces.Dict(boxes)


def _space(spec: ObservationSpec) -> spaces.Space[Any]:
    dtype = np.dtype(spec.dtype)
    if dtype.kind != TEXT_KIND:
        return _box(spec)
    letters = dtype.itemsize // np.dtype("<U1").itemsize
    return spaces.Text(max_length=letters, min_length=0, charset=LETTERS)


def as_observed(values: Any, copy: bool = False) -> Any:
    """`values` (N, ...) as an element of the observation space: unchanged, copied, or a tuple of texts.

    Values are an array of NumPy, or of a device.
    """
    if not isinstance(values, np.ndarray):
        return find_warp().clone(values) if copy else values
    if values.dtype.kind == TEXT_KIND:
        return tuple(values.tolist())
    return values.copy() if copy else values


def first_observed(values: Any, copy: bool = True) -> Any:
    """First row of `values` (N, ...) as an element of the space: a text or an array, copied by `copy`."""
    if not isinstance(values, np.ndarray):
        return find_warp().clone(values[0]) if copy else values[0]
    if values.dtype.kind == TEXT_KIND:
        return str(values[0])
    return np.array(values[0]) if copy else values[0]


def _box(spec: ObservationSpec) -> spaces.Box:
    dtype = np.dtype(spec.dtype)
    low = np.full(spec.shape, spec.low, dtype)
    return spaces.Box(low, np.full(spec.shape, spec.high, dtype), dtype=dtype.type)


def action_space(task: TaskRules) -> spaces.Space[Any]:
    """Indices into the task's actions; of a continuous task a number within [-1, 1] for each of them."""
    if task.is_continuous:
        return spaces.Box(-1.0, 1.0, (len(task.actions),), np.float32)
    return spaces.Discrete(len(task.actions))
