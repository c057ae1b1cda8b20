"""Bodies: size, steps and cameras of the robots of the field."""

from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Camera:
    """A pinhole camera fixed to a body.

    Attributes:
        name: prefix of its observations; "" for the only one ("rgb", "depth", ...),
            else such as "left" ("left_rgb", "left_depth", ...).
        width_px, height_px: image size in pixels.
        hfov: horizontal field of view in radians; pixels are square.
        mount: (x right, y up, z backward) metres from the body's foot point.
        pitch: radians, upwards, added to the body's own tilt.
        yaw: radians, to the left, relative to the body.
        channels: the images it takes. Two cameras of one name may share a mount and take
            different ones (VLN-CE's rgb and depth differ in size).
    """

    name: str = ""
    width_px: int = 256
    height_px: int = 256
    hfov: float = float(np.deg2rad(79))
    mount: tuple[float, float, float] = (0.0, 0.88, 0.0)
    pitch: float = 0.0
    yaw: float = 0.0
    channels: tuple[str, ...] = ("rgb", "depth", "semantic", "instance")


@dataclass(frozen=True)
class Embodiment:
    """A robot: its size, steps, speeds and cameras.

    Attributes:
        name: such as "locobot".
        height, radius: metres, of the upright cylinder.
        max_climb: metres, highest step it takes.
        max_slope: radians, steepest floor it takes.
        forward_step: metres of one forward action.
        turn_angle, tilt_angle: radians of one turn or look action.
        tilt_range: (lowest, highest) radians of the camera tilt.
        voxel_height: metres, vertical resolution at which its navmesh is cut.
        slides: whether a blocked step slides along the obstacle.
        cameras: at least one.
        walk_speed, turn_speed: metres and radians per second, by which times are reckoned; the default is
            the Kobuki base of the LoCoBot (its functional specification: 70 cm/s and 180 degrees/s).
            Not in the repr, which names what is built for a body: that depends on no speed.
    """

    name: str
    height: float
    radius: float
    max_climb: float = 0.2
    max_slope: float = float(np.deg2rad(45))
    forward_step: float = 0.25
    turn_angle: float = float(np.deg2rad(30))
    tilt_angle: float = float(np.deg2rad(30))
    tilt_range: tuple[float, float] = (-float(np.pi) / 2, float(np.pi) / 2)
    voxel_height: float = 0.2
    slides: bool = False
    cameras: tuple[Camera, ...] = (Camera(),)
    walk_speed: float = field(default=0.7, repr=False)
    turn_speed: float = field(default=float(np.pi), repr=False)
