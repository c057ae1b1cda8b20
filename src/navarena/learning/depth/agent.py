"""`predicted-depth:DIR:AGENT`: AGENT, whose depth images are predicted from colours by the network in DIR.

AGENT maps by depth. So it plays from colours alone, and corruptions of colours reach it.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Bool

from navarena.agents.agent import Agent, Start
from navarena.agents.explorers.mapping_agent import MappingAgent, as_floats, depth_camera, forget_edges
from navarena.agents.loading import declare_agent, load_agent
from navarena.core.errors import InputError
from navarena.learning.checkpoints.fitted import read_fitted_info
from navarena.learning.depth.predictor import DepthInfo, find_depth_predictor
from navarena.learning.perception.labelling import pick_nearest
from navarena.simulation.body import Camera
from navarena.simulation.sensors.images import Depth
from navarena.simulation.sensors.resized import ResizedDepth
from navarena.tasks.catalog import get_body_task
from navarena.tasks.task import Actions, Task


def find_predicted_depth(text: str) -> type["PredictedDepthAgent"]:
    """The agent that DIR:AGENT names.

    Raises InputError for another text, FileError for a folder without a checkpoint, UnknownNameError for an
    unknown agent.
    """
    folder, mark, name = text.partition(":")
    if not (folder and mark and name):
        raise InputError(f"expected predicted-depth:DIR:AGENT, got 'predicted-depth:{text}'")
    info, inner = read_fitted_info(Path(folder), DepthInfo), declare_agent(name)
    members = {
        "folder": Path(folder),
        "inner_name": name,
        "sensors": _see_colours(inner.sensors),
        "privileged": inner.privileged,
        "privileged_inputs": inner.privileged_inputs,
        "trained_with": inner.trained_with,
        "resizes": inner.resizes,
        "__doc__": f"{name}, with depth from colours by {folder} ({info.frames} images).",
    }
    return type("PredictedDepthAgent", (PredictedDepthAgent,), members)


def _see_colours(sensors: Sequence[str]) -> tuple[str, ...]:
    """The observations `sensors`, with colours in the place of depth."""
    return tuple(dict.fromkeys("rgb" if name == "depth" else name for name in sensors))


def _describe(camera: Camera) -> str:
    return f"{math.degrees(camera.hfov):.0f} degrees wide at {camera.mount[1]:.2f} m"


class PredictedDepthAgent(Agent):
    """Lets another agent act, which gets predicted depth in the place of depth images.

    Predictions are brought to the size, range and unit of the protocol's depth. Beside edges, where they lie
    between what is near and what is behind it, they are NaN, which maps leave out.

    Args:
        task: with colours and depth of one view.
        seed: of the other agent.

    Raises InputError for an agent that does not map what it sees, and a camera that is not the one of the
    training.
    """

    on_graphs = False
    folder: ClassVar[Path]
    inner_name: ClassVar[str]

    @classmethod
    def inputs_beyond(cls, task: Task) -> tuple[str, ...]:
        """Those of the other agent."""
        inputs = declare_agent(cls.inner_name, task).privileged_inputs
        return tuple(name for name in inputs if name not in cls.privileged_inputs)

    def __init__(self, task: Task, seed: int) -> None:
        self._inner = load_agent(self.inner_name, task, seed)
        if not isinstance(self._inner, MappingAgent):
            raise InputError(f"expected an agent that maps by depth, got {self.inner_name!r}")
        sensor = task.find_sensor("depth")
        if not isinstance(sensor, Depth | ResizedDepth):
            raise InputError(f"expected a protocol with images of depth, got {task.protocol_id!r}")
        self._sensor = sensor
        self._predictor = find_depth_predictor(self.folder)
        camera, learned = depth_camera(task.camera_body), self._predictor.info.protocol
        if _describe(camera) != (known := _describe(depth_camera(get_body_task(learned).camera_body))):
            raise InputError(
                f"expected the camera of {learned}, {known}, by which {self.folder} learned depth, got "
                f"{_describe(camera)} of {task.protocol_id}; train one by --protocol {task.protocol_id}"
            )
        self._spec = self._sensor.spec(camera)
        self.sensors = _see_colours(self._inner.sensors)

    def attach(self, batch: Any) -> None:
        """Hand the batch on."""
        self._inner.attach(batch)

    def reset(self, starts: Sequence[Start]) -> None:
        self._inner.reset(starts)

    def episode_costs(self, slot: int) -> Mapping[str, float]:
        return self._inner.episode_costs(slot)

    def forgo_declaration(self) -> None:
        self._inner.forgo_declaration()

    def overrule(self, actions: Actions) -> None:
        self._inner.overrule(actions)

    def act(self, observations: Mapping[str, np.ndarray], active: Bool[np.ndarray, "n"]) -> Actions:
        depth = np.zeros((len(active), *self._spec.shape), np.float32)
        rows = np.flatnonzero(active)
        if len(rows):
            height, width, _ = self._spec.shape
            metres = self._predictor.predict(observations["rgb"][rows])
            seen = np.zeros((len(rows), height, width, 1), self._spec.dtype)
            self._sensor.develop(np.ascontiguousarray(pick_nearest(metres, (height, width))), seen)
            is_edge = np.isnan(pick_nearest(forget_edges(metres), (height, width)))
            depth[rows, ..., 0] = np.where(is_edge, np.nan, as_floats(seen)[..., 0])
        return self._inner.act({**observations, "depth": depth}, active)
