"""The robots of the field, by name.

Sections named below are those of the protocol notes: the published challenge
configurations (facebookresearch/habitat-challenge, branches challenge-2020 and
challenge-2023), multiON (saimwani/multiON), RoboTHOR (allenai/robothor-challenge),
VLN-CE (jacobkrantz/VLN-CE) and GOAT-Bench (Ram81/goat-bench).
"""

import math
from dataclasses import replace

from navarena.core.errors import unknown_name
from navarena.simulation.body import Camera, Embodiment


def _camera(width_px: int, height_px: int, degrees: float, up: float) -> tuple[Camera, ...]:
    """A camera of the given pixels and horizontal degrees, `up` metres above the foot point."""
    return (Camera(width_px=width_px, height_px=height_px, hfov=math.radians(degrees), mount=(0.0, up, 0.0)),)


MULTION = Embodiment(
    name="multion",
    height=1.5,  # paper and shipped navmesh; the yaml's 0.88 is overridden by the runner
    radius=0.1,
    cameras=_camera(256, 256, 79, 0.88),
)
"""MultiON (Wani et al. 2020; multiON configs/tasks/multinav_mp3d.yaml)."""

LOCOBOT = Embodiment(
    name="locobot",
    height=0.88,
    radius=0.18,
    tilt_range=(-math.inf, math.inf),  # the challenge sets no limit on the pitch
    cameras=_camera(640, 480, 79, 0.88),
)
"""LoCoBot of the Habitat 2020 ObjectNav challenge (configs/challenge_objectnav2020.local.rgbd.yaml)."""

LOCOBOT_POINTNAV = Embodiment(
    name="locobot-pointnav", height=0.88, radius=0.18, cameras=_camera(640, 360, 70, 0.88)
)
"""LoCoBot of the Habitat 2020 PointNav challenge (configs/challenge_pointnav2020.local.rgbd.yaml)."""

LOCOBOT_ROBOTHOR = Embodiment(
    name="locobot-robothor",
    height=0.9,
    radius=0.175,
    tilt_range=(-math.radians(30), math.radians(30)),
    # The vertical view of 63.453048 degrees is 79 degrees horizontally at 4:3. The height of
    # the camera is not in the published configuration; that of the Habitat LoCoBot is taken.
    cameras=_camera(640, 480, 79, 0.88),
)
"""LoCoBot of RoboTHOR 2021 (capsule of radius 0.175 m and height 0.9 m; robothor-challenge)."""

LOCOBOT_ROBOTHOR_2020 = replace(
    LOCOBOT_ROBOTHOR,
    name="locobot-robothor-2020",
    # The configuration of 2020 sets no view, which leaves AI2-THOR's 60 degrees vertically.
    cameras=_camera(640, 480, math.degrees(2 * math.atan(math.tan(math.radians(30)) * 640 / 480)), 0.88),
)
"""LoCoBot of RoboTHOR 2020 (its "bot" mode; the text of the challenge says 79 degrees horizontally)."""

LOCOBOT_ROBUSTNAV = replace(LOCOBOT_ROBOTHOR, name="locobot-robustnav", cameras=_camera(400, 300, 79, 0.88))
"""LoCoBot of RobustNav (AI2-THOR 2.7.4; allenai/robustnav): RoboTHOR's body with images of 400 x 300."""

STRETCH = Embodiment(
    name="stretch",
    height=1.41,
    radius=0.17,
    max_climb=0.1,
    voxel_height=0.05,
    cameras=_camera(360, 640, 42, 1.31),
    walk_speed=0.3,  # greatest speeds of the waypoint controller of the Habitat challenge 2023
    turn_speed=0.45,
)
"""Stretch of GOAT-Bench (portrait camera; Khanna et al. 2024)."""

STRETCH_2023 = replace(
    STRETCH, name="stretch-2023", tilt_range=(-1.57, 0.43), cameras=_camera(480, 640, 42, 1.31)
)
"""Stretch of the Habitat 2023 ObjectNav challenge; its camera tilts by -1.57 to 0.43 radians."""

VLN_CE = Embodiment(
    name="vln-ce",
    height=1.5,
    radius=0.1,
    forward_step=0.25,
    turn_angle=math.radians(15),
    tilt_angle=math.radians(15),
    slides=True,
    cameras=(
        Camera(
            width_px=224,
            height_px=224,
            hfov=math.radians(90),
            mount=(0.0, 1.25, 0.0),
            channels=("rgb",),
        ),
        Camera(
            width_px=256,
            height_px=256,
            hfov=math.radians(90),
            mount=(0.0, 1.25, 0.0),
            channels=("depth", "semantic", "instance"),
        ),
    ),
)
"""The agent of VLN-CE and IVLN-CE (two cameras of different size at the same place)."""

BODIES = {
    body.name: body
    for body in (
        LOCOBOT,
        LOCOBOT_POINTNAV,
        LOCOBOT_ROBOTHOR,
        LOCOBOT_ROBOTHOR_2020,
        LOCOBOT_ROBUSTNAV,
        MULTION,
        STRETCH,
        STRETCH_2023,
        VLN_CE,
    )
}
"""Name -> Embodiment."""


def get_body(name: str) -> Embodiment:
    """The body called `name`; raises UnknownNameError with the nearest choice."""
    if name not in BODIES:
        raise unknown_name("body", name, BODIES)
    return BODIES[name]
