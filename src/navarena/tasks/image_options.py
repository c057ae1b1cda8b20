"""Image sizes, type of depth and poses of maps of a run, for any protocol with cameras."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, cast, get_args

from navarena.core.errors import InputError, require_name
from navarena.core.protocol_ids import SIZE_MARK
from navarena.simulation.body import Camera, Embodiment
from navarena.simulation.sensors.images import Depth, DepthType
from navarena.simulation.sensors.resized import ResizedDepth, ResizedRgb
from navarena.simulation.sensors.sensor import Sensor

MAX_PX = 4096
"""Pixels along a side of an image."""

SIZE_OPTIONS = (f"rgb{SIZE_MARK}", f"depth{SIZE_MARK}")
IMAGE_OPTIONS = (*SIZE_OPTIONS, "depth_dtype", "poses")
"""Names of the options of ids such as `pointnav-v1+rgb=128x128+depth=64x64+depth_dtype=uint8`."""

Poses = Literal["estimated", "odometry"]
"""In the place of true poses; see ImageOptions."""

Size = tuple[int, int]
"""Width and height in pixels."""


@dataclass(frozen=True)
class ImageOptions:
    """Sizes of images, type of depth, and poses of maps; None for the protocol's own.

    Cameras keep their place and their horizontal field of view, and pixels are square: the vertical field
    follows from the sides. The rules stay as they are: what decides success is seen at the protocol's size.

    Attributes:
        rgb: (width, height) in pixels of colour images.
        depth: (width, height) in pixels of depth images, and of semantic and instance images.
        depth_dtype: "float32", "float16", or "uint8": 0 to 255 for the range of the protocol's depth.
        poses: at which observed maps are drawn and read, in the place of the true ones: those "estimated" by
            gps and compass, with their corruptions, or of "odometry", which replaces gps and compass (and
            what follows from them) by actions and depth images (navarena.mapping.ScanOdometry).

    Raises InputError for a side outside 1 to 4096, UnknownNameError for another depth_dtype or poses.
    """

    rgb: Size | None = None
    depth: Size | None = None
    depth_dtype: str | None = None
    poses: str | None = None

    def __post_init__(self) -> None:
        for name, size in (("rgb", self.rgb), ("depth", self.depth)):
            if size is not None and not all(1 <= side <= MAX_PX for side in size):
                raise InputError(
                    f"expected an image size of {name} of 1 to {MAX_PX} pixels along each side, got "
                    f"{size[0]}x{size[1]}"
                )
        for name, word, known in (("depth_dtype", self.depth_dtype, DepthType), ("poses", self.poses, Poses)):
            if word is not None:
                require_name(name, word, get_args(known))

    @classmethod
    def read(cls, texts: Mapping[str, str]) -> "ImageOptions":
        """The options from their `texts` in an id."""
        rgb, depth = (_read_size(texts[name]) if name in texts else None for name in SIZE_OPTIONS)
        return cls(rgb, depth, texts.get("depth_dtype"), texts.get("poses"))

    def texts(self) -> dict[str, str]:
        """Name -> text of the options that differ from the protocol, as in an id."""
        sizes = zip(SIZE_OPTIONS, (self.rgb, self.depth))
        found = {name: f"{size[0]}x{size[1]}" for name, size in sizes if size is not None}
        words = {"depth_dtype": self.depth_dtype, "poses": self.poses}
        return found | {name: word for name, word in words.items() if word is not None}

    def change_body(self, body: Embodiment, is_resized: bool) -> Embodiment:
        """`body` with cameras of these sizes; those whose images are `is_resized` afterwards stay."""
        if is_resized or (self.rgb is None and self.depth is None):
            return body
        cameras = [made for camera in body.cameras for made in self._change(camera)]
        return replace(body, cameras=tuple(cameras))

    def _change(self, camera: Camera) -> list[Camera]:
        """The cameras at the place of `camera`: one for each size that its channels have."""
        own = camera.width_px, camera.height_px
        sizes: dict[Size, list[str]] = {}
        for channel in camera.channels:
            size = (self.rgb if channel == "rgb" else self.depth) or own
            sizes.setdefault(size, []).append(channel)
        return [
            replace(camera, width_px=size[0], height_px=size[1], channels=tuple(channels))
            for size, channels in sizes.items()
        ]

    def change_sensor(self, sensor: Sensor | None) -> Sensor | None:
        """`sensor`, of images, with this type of depth; of those that resize images with these sizes, too."""
        if isinstance(sensor, ResizedRgb) and self.rgb is not None:
            return replace(sensor, width_px=self.rgb[0], height_px=self.rgb[1])
        if isinstance(sensor, ResizedDepth) and self.depth is not None:
            sensor = replace(sensor, width_px=self.depth[0], height_px=self.depth[1])
        if isinstance(sensor, Depth | ResizedDepth) and self.depth_dtype is not None:
            return replace(sensor, dtype=cast(DepthType, self.depth_dtype))
        return sensor


def _read_size(text: str) -> Size:
    width, height = text.split("x")
    return int(width[-9:]), int(height[-9:])
