"""The robots of the field, by name.

Sections named below are those of the protocol notes: the published challenge
configurations (facebookresearch/habitat-challenge, branches challenge-2020 and
challenge-2023), multiON (saimwani/multiON), RoboTHOR (allenai/robothor-challenge),
VLN-CE (jacobkrantz/VLN-CE) and GOAT-Bench (Ram81/goat-bench).
"""

import math

from navarena.core.suggest import unknown_name
from navarena.simulation.body import Camera, Embodiment

MULTION = Embodiment(
    name="multion",
    height=1.5,  # paper and shipped navmesh; the yaml's 0.88 is overridden by the runner
    radius=0.1,
    forward_step=0.25,
    turn_angle=math.radians(30),
    slides=False,
    cameras=(Camera(width_px=256, height_px=256, hfov=math.radians(79), mount=(0.0, 0.88, 0.0)),),
)
"""MultiON (Wani et al. 2020; multiON configs/tasks/multinav_mp3d.yaml)."""

LOCOBOT = Embodiment(
    name="locobot",
    height=0.88,
    radius=0.18,
    forward_step=0.25,
    turn_angle=math.radians(30),
    tilt_angle=math.radians(30),
    tilt_range=(-math.inf, math.inf),  # the challenge sets no limit on the pitch
    slides=False,
    cameras=(Camera(width_px=640, height_px=480, hfov=math.radians(79), mount=(0.0, 0.88, 0.0)),),
)
"""LoCoBot of the Habitat 2020 ObjectNav challenge (configs/challenge_objectnav2020.local.rgbd.yaml)."""

LOCOBOT_POINTNAV = Embodiment(
    name="locobot-pointnav",
    height=0.88,
    radius=0.18,
    forward_step=0.25,
    turn_angle=math.radians(30),
    slides=False,
    cameras=(Camera(width_px=640, height_px=360, hfov=math.radians(70), mount=(0.0, 0.88, 0.0)),),
)
"""LoCoBot of the Habitat 2020 PointNav challenge (configs/challenge_pointnav2020.local.rgbd.yaml)."""

LOCOBOT_ROBUSTNAV = Embodiment(
    name="locobot-robustnav",
    height=0.9,
    radius=0.175,
    forward_step=0.25,
    turn_angle=math.radians(30),
    tilt_angle=math.radians(30),
    tilt_range=(-math.radians(30), math.radians(30)),
    slides=False,
    cameras=(
        # 63.453048 degrees vertically; the camera's height is that of the Habitat LoCoBot, as below.
        Camera(width_px=400, height_px=300, hfov=math.radians(79), mount=(0.0, 0.88, 0.0)),
    ),
)
"""LoCoBot of RobustNav (AI2-THOR 2.7.4; allenai/robustnav): RoboTHOR's body with pictures of 400 x 300."""

LOCOBOT_ROBOTHOR = Embodiment(
    name="locobot-robothor",
    height=0.9,
    radius=0.175,
    forward_step=0.25,
    turn_angle=math.radians(30),
    tilt_angle=math.radians(30),
    tilt_range=(-math.radians(30), math.radians(30)),
    slides=False,
    cameras=(
        # The vertical view of 63.453048 degrees is 79 degrees horizontally at 4:3. The height of
        # the camera is not in the published configuration; that of the Habitat LoCoBot is taken.
        Camera(width_px=640, height_px=480, hfov=math.radians(79), mount=(0.0, 0.88, 0.0)),
    ),
)
"""LoCoBot of RoboTHOR 2021 (capsule of radius 0.175 m and height 0.9 m; robothor-challenge)."""

STRETCH = Embodiment(
    name="stretch",
    height=1.41,
    radius=0.17,
    max_climb=0.1,
    voxel_height=0.05,
    forward_step=0.25,
    turn_angle=math.radians(30),
    tilt_angle=math.radians(30),
    slides=False,
    cameras=(Camera(width_px=360, height_px=640, hfov=math.radians(42), mount=(0.0, 1.31, 0.0)),),
    walk_speed=0.3,  # greatest speeds of the waypoint controller of the Habitat challenge 2023
    turn_speed=0.45,
)
"""Stretch of GOAT-Bench (portrait camera; Khanna et al. 2024)."""

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
        LOCOBOT_ROBUSTNAV,
        MULTION,
        STRETCH,
        VLN_CE,
    )
}
"""Name -> Embodiment."""


def get_body(name: str) -> Embodiment:
    """The body called `name`; raises UnknownNameError with the nearest choice."""
    if name not in BODIES:
        raise unknown_name("body", name, BODIES)
    return BODIES[name]
