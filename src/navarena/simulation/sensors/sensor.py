"""Interface of the sensors of a body, of three kinds: of the pose, of images, of cameras.

A sensor holds settings only, so one object serves any number of simulators.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float
from numpy.typing import DTypeLike

from navarena.core.errors import InputError
from navarena.simulation.bodies import Bodies
from navarena.simulation.body import Camera


@dataclass(frozen=True)
class ObservationSpec:
    """Shape, type and bounds of one observation of one body.

    Attributes:
        shape: without the leading N.
        dtype: of the array.
        low, high: bounds of every value, inclusive, in `unit`.
        unit: such as "metres" or "radians"; "" where there is none.
        categories: of a map (H, W, C) whose values are categories, how many there are in each channel; empty
            for anything else.
    """

    shape: tuple[int, ...]
    dtype: DTypeLike
    low: float | int
    high: float | int
    unit: str = ""
    categories: tuple[int, ...] = ()

    def make_array(self, slots: int, given: np.ndarray | None = None) -> np.ndarray:
        """(slots, ...) zeros for observations, or the checked array `given`.

        Raises InputError for a given array of another shape or dtype, or one that is not C-contiguous and
        writable.
        """
        shape = (slots, *self.shape)
        if given is None:
            return np.zeros(shape, self.dtype)
        fits = given.shape == shape and given.dtype == np.dtype(self.dtype)
        if not (fits and given.flags.c_contiguous and given.flags.writeable):
            raise InputError(
                f"expected a writable C-contiguous buffer {shape} of {np.dtype(self.dtype)}, got "
                f"{given.shape} of {given.dtype}, strides {given.strides}"
            )
        return given


class Sensor(ABC):
    """Fills one observation of all N bodies.

    Attributes:
        name: its key among the observations (before a camera's prefix).
        privileged: whether it shows what no body of a protocol measures, such as true labels or the true
            pose; a run whose agent asks for it is marked.
    """

    name: str
    privileged: ClassVar[bool] = False


class BodySensor(Sensor):
    """Looks at the poses of the bodies."""

    @abstractmethod
    def spec(self) -> ObservationSpec:
        """Shape, type and bounds."""

    @abstractmethod
    def observe(self, bodies: Bodies, out: np.ndarray) -> None:
        """Write the observations into `out` (N, ...), of the dtype and unit of `spec`."""


class ImageSensor(Sensor):
    """Sensor of the images of one camera of each body.

    Attributes:
        channel: the image it needs: "rgb", "depth", "semantic" or "instance".
        is_raw: whether the observation is the image itself, in the shape of `spec`; then it is
            not copied and `develop` is never called.
    """

    channel: str
    is_raw: bool = False

    @abstractmethod
    def spec(self, camera: Camera) -> ObservationSpec:
        """Shape, type and bounds for `camera`."""

    @abstractmethod
    def develop(self, image: np.ndarray, out: np.ndarray) -> None:
        """Write the observations into `out` (N, ...).

        `image` is the rendered channel: rgb (N, H, W, 3) uint8, depth (N, H, W) float32 metres
        along the optical axis (0 where nothing was hit), instance and semantic (N, H, W) int32.
        """


class CameraSensor(Sensor):
    """Looks at where one camera of each body is."""

    @abstractmethod
    def spec(self, camera: Camera) -> ObservationSpec:
        """Shape, type and bounds for `camera`."""

    @abstractmethod
    def observe(self, camera: Camera, world_from_camera: Float[np.ndarray, "n 4 4"], out: np.ndarray) -> None:
        """Write the observations into `out` (N, ...), of the dtype and unit of `spec`.

        world_from_camera: (N, 4, 4) metres, see camera_pose.
        """
