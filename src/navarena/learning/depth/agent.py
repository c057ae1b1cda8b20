"""`predicted-depth:DIR:AGENT`: AGENT, whose depth images are predicted from colours by the network in DIR.

AGENT maps by depth. So it plays from colours alone, and corruptions of colours reach it.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float, Float32, Int64, UInt8

from navarena.agents.agent import Boundary, EpisodeStarts, Start
from navarena.agents.declaration import join_hashes
from navarena.agents.explorers.mapping_agent import MappingAgent, as_floats, depth_camera, forget_edges
from navarena.agents.explorers.pose_sources import nominal_motions
from navarena.agents.forwarding import ForwardingAgent
from navarena.agents.loading import declare_agent, load_agent
from navarena.core.errors import InputError
from navarena.learning.checkpoints.fitted import read_fitted_info
from navarena.learning.depth.predictor import CERTAIN, DepthInfo, find_depth_predictor
from navarena.learning.inputs import resize_nearest
from navarena.mapping.walked_distance import measure_walk, shrink_to_grey
from navarena.simulation.body import Camera
from navarena.simulation.sensors.images import Depth
from navarena.simulation.sensors.resized import ResizedDepth
from navarena.tasks.calibration_env import CalibrationEnv
from navarena.tasks.catalog import get_body_task
from navarena.tasks.task import Actions, Task, TaskRules

LEAST_ERROR = 0.03
"""Predicted error of the logarithm of depth, below which pixels weigh the same in measured walks."""


def find_predicted_depth(
    text: str, task: TaskRules | None = None, patience: float | None = None
) -> type["PredictedDepthAgent"]:
    """The agent that DIR:AGENT names; see `declare_agent` for task and patience.

    Raises InputError for another text, FileError for a folder without a checkpoint, UnknownNameError for an
    unknown agent.
    """
    folder, mark, name = text.partition(":")
    if not (folder and mark and name):
        raise InputError(f"expected predicted-depth:DIR:AGENT, got 'predicted-depth:{text}'")
    info, inner = read_fitted_info(Path(folder), DepthInfo), declare_agent(name, task, patience)
    members = {
        "folder": Path(folder),
        "inner_name": name,
        "sensors": _see_colours(inner.sensors),
        "privileged": inner.privileged,
        "privileged_inputs": inner.privileged_inputs,
        "trained_with": inner.trained_with,
        "resizes": inner.resizes,
        "model_sha256": join_hashes(inner.model_sha256, info.model_sha256),
        "__doc__": f"{name}, with depth from colours by {folder} ({info.frames} images).",
    }
    return type("PredictedDepthAgent", (PredictedDepthAgent,), members)


def _see_colours(sensors: Sequence[str]) -> tuple[str, ...]:
    """The observations `sensors`, with colours in the place of depth."""
    return tuple(dict.fromkeys("rgb" if name == "depth" else name for name in sensors))


def _require_view(task: Task, protocol: str) -> None:
    """Raise InputError unless colours and depth of `task` are seen as by the first camera of `protocol`."""
    learned, own = get_body_task(protocol).embodiment.cameras[0], task.camera_body.cameras
    seen = [next((one for one in own if kind in one.channels), None) for kind in ("rgb", "depth")]
    if any(one is None or _view(one) != _view(learned) for one in seen):
        told = " and ".join("none" if one is None else _describe(one) for one in seen)
        raise InputError(
            f"expected colours and depth of the camera of {protocol}, {_describe(learned)}, by which it has "
            f"learned, got {told} of {task.protocol_id}; train another by --protocol {task.protocol_id}"
        )


def _view(camera: Camera) -> tuple[float, tuple[float, float, float], float, float]:
    """What decides which depth a pixel has: field of view, place and direction."""
    return camera.hfov, camera.mount, camera.pitch, camera.yaw


def _describe(camera: Camera) -> str:
    return f"{math.degrees(camera.hfov):.1f} degrees wide at {camera.mount[1]:.2f} m"


class PredictedDepthAgent(ForwardingAgent):
    """Lets another agent act, which gets predicted depth in the place of depth images.

    Predictions are brought to the size, range and unit of the protocol's depth. They are NaN beside edges,
    where they lie between what is near and what is behind it. Maps and poses leave out that, and what the
    network is not certain of. How far a walk came is measured by the colours before and after it.

    Args:
        task: with colours and depth of one view.
        seed: of the other agent.
        patience: seconds that the other agent may take to answer; None for as long as it likes.

    Raises InputError for an agent that does not map what it sees, and for colours or depth of another view
    than the training's.
    """

    on_graphs = False
    folder: ClassVar[Path]
    inner_name: ClassVar[str]

    def __init__(self, task: Task, seed: int, patience: float | None = None) -> None:
        super().__init__(load_agent(self.inner_name, task, seed, patience))
        if not isinstance(self._inner, MappingAgent):
            raise InputError(f"expected an agent that maps by depth, got {self.inner_name!r}")
        self._inner.doubt_depth()
        sensor = task.find_sensor("depth")
        if not isinstance(sensor, Depth | ResizedDepth):
            raise InputError(f"expected a protocol with images of depth, got {task.protocol_id!r}")
        self._sensor = sensor
        self._predictor = find_depth_predictor(self.folder)
        _require_view(task, self._predictor.info.protocol)
        self._spec = self._sensor.spec(depth_camera(task.camera_body))
        self.sensors = _see_colours(self._inner.sensors)
        self._camera = next(one for one in task.camera_body.cameras if "rgb" in one.channels)
        self._motions = nominal_motions(task)
        self._episodes = EpisodeStarts()
        self._ahead = np.zeros(0)
        self._greys: dict[int, Float32[np.ndarray, "r c"]] = {}

    def reset(self, starts: Sequence[Start]) -> None:
        for start in map(self._episodes.mark, starts):
            if start.boundary >= Boundary.EPISODE and start.slot < len(self._ahead):
                self._ahead[start.slot] = 0.0
        super().reset(starts)

    def adapt(self, env: CalibrationEnv) -> None:
        """Refused: a calibration shows true depth."""
        raise InputError(f"expected {self.inner_name!r} to adapt by itself, got it behind predicted depth")

    def act(self, observations: Mapping[str, np.ndarray], active: Bool[np.ndarray, "n"]) -> Actions:
        if len(self._ahead) != len(active):
            self._ahead = np.zeros(len(active))
        depth = np.zeros((len(active), *self._spec.shape), np.float32)
        certain = np.zeros(depth.shape[:3], bool)
        walked = np.full(len(active), np.nan)
        rows = np.flatnonzero(active)
        if len(rows):
            height, width, _ = self._spec.shape
            metres, errors = self._predictor.predict(observations["rgb"][rows])
            seen = np.zeros((len(rows), height, width, 1), self._spec.dtype)
            self._sensor.develop(np.ascontiguousarray(resize_nearest(metres, (height, width))), seen)
            is_edge = np.isnan(resize_nearest(forget_edges(metres), (height, width)))
            depth[rows, ..., 0] = np.where(is_edge, np.nan, as_floats(seen)[..., 0])
            certain[rows] = resize_nearest(errors <= CERTAIN, (height, width))
            walked[rows] = self._measure_walks(rows, observations["rgb"][rows], metres, errors)
        told = {"depth": depth, "certain": certain, "walked": walked}
        actions = self._inner.act({**observations, **told}, active)
        self._ahead[rows] = self._motions[actions[rows], 0]
        return actions

    def overrule(self, actions: Int64[np.ndarray, "n"]) -> None:
        self._ahead = self._motions[actions, 0]
        super().overrule(actions)

    def _measure_walks(
        self,
        rows: Int64[np.ndarray, "k"],
        rgb: UInt8[np.ndarray, "k h w 3"],
        metres: Float32[np.ndarray, "k h2 w2"],
        errors: Float32[np.ndarray, "k h2 w2"],
    ) -> Float[np.ndarray, "k"]:
        """(K,) metres that bodies in `rows` walked since their last images; NaN, if they did not."""
        greys = shrink_to_grey(rgb)
        metres = resize_nearest(metres, greys.shape[1:])
        weights = 1 / np.maximum(resize_nearest(errors, greys.shape[1:]), np.float32(LEAST_ERROR))
        walked = np.full(len(rows), np.nan)
        for k, slot in enumerate(rows.tolist()):
            if self._ahead[slot] > 0:
                walked[k] = measure_walk(
                    self._greys[slot], greys[k], metres[k], weights[k], self._camera, self._ahead[slot]
                )
            self._greys[slot] = greys[k]
        return walked
