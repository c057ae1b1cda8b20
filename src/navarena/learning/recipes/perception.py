"""Recipes of perception that agents share."""

from dataclasses import replace

from navarena.learning.anticipation.settings import AnticipationRecipe, WindowSettings
from navarena.learning.cross_view.settings import CrossViewRecipe, ViewPairSettings
from navarena.learning.depth.settings import DepthRecipe
from navarena.learning.joint.settings import JointRecipe, PairSettings
from navarena.learning.networks.binocular_settings import BinocularSettings
from navarena.learning.perception.settings import ImageSettings, SegmenterRecipe, UNetSettings

SEGMENTER_SMALL = SegmenterRecipe(
    description="13 classes of Iterative VLN's map from colours and depth; 40,000 images of 400 train houses",
    images=ImageSettings(houses=400),
    frames=240_000,
    core_hours=0.9,
)
"""The recipe `segmenter-small`."""

SEGMENTER_SMOKE = replace(
    SEGMENTER_SMALL,
    description="the same, tiny: shows within a minute that the loss falls",
    images=ImageSettings(size=(64, 64), houses=4, images=24),
    network=UNetSettings(widths=(8, 16, 24, 32)),
    frames=1_920,
    core_hours=0.0,
    save_updates=60,
    log_updates=20,
)
"""The recipe `segmenter-smoke`."""

SEGMENTER_PAPER = replace(
    SEGMENTER_SMALL,
    description="the same by RedNet on images of 256 x 256, as in Iterative VLN's paper; for a GPU",
    # Iterative VLN 2023: colours and depth at 256 x 256 (IVLN-CE mapping_module/rednet.py)
    images=ImageSettings(size=(256, 256), houses=800),
    network=None,
    frames=4_000_000,
    core_hours=0.0,
)
"""The recipe `segmenter-paper`."""

SEGMENTER_HABITAT2020 = replace(
    SEGMENTER_SMALL,
    description="the 21 goals of ObjectNav 2020 through its own camera; 15,000 small images of 150 houses",
    protocol="objectnav-habitat2020-v1",
    images=ImageSettings(
        vocabulary="habitat2020", cameras=("objectnav-habitat2020-v1",), size=(48, 64), houses=150
    ),
    frames=160_000,
    core_hours=0.2,
)
"""The recipe `segmenter-habitat2020-small`, for `frontier-segmenter`."""

SEGMENTER_ROBOTHOR = replace(
    SEGMENTER_SMALL,
    description="the 12 goals of RoboTHOR through RobustNav's camera; 15,000 images of 60 apartments",
    protocol="robustnav-objectnav-v1",
    images=ImageSettings(
        vocabulary="robothor",
        cameras=("robustnav-objectnav-v1",),
        size=(96, 128),
        scenes="robothor-like-v1",
        houses=60,
        images=250,
        # goals are small: with 4 and 0.01, as elsewhere, no alarm clock, apple or mug was ever found
        candidates=8,
        min_share=0.002,
    ),
    frames=160_000,
    core_hours=0.3,
)
"""The recipe `segmenter-robothor-small`, for `frontier-segmenter`."""

SEGMENTER_GOAT = replace(
    SEGMENTER_SMALL,
    description="157 names of GOAT-Bench through its own camera; 15,000 small images of 150 houses",
    protocol="goat-v1",
    images=ImageSettings(vocabulary="goat", cameras=("goat-v1",), size=(112, 64), houses=150),
    quarters=True,
    frames=100_000,
    core_hours=0.3,
)
"""The recipe `segmenter-goat-small`."""

DEPTH_SMALL = DepthRecipe(
    description="depth from colours by the camera of pointnav-habitat2020-v1; 20,000 images of 200 houses",
    images=ImageSettings(size=(48, 80), houses=200, tilts=(0.0,)),
    frames=400_000,
    core_hours=0.3,
)
"""The recipe `depth-small`."""

DEPTH_SMOKE = replace(
    DEPTH_SMALL,
    description="the same, tiny: shows within a minute that the loss falls",
    images=ImageSettings(size=(32, 48), houses=4, images=24, tilts=(0.0,)),
    network=UNetSettings(widths=(8, 16, 24, 32)),
    frames=1_920,
    core_hours=0.0,
    save_updates=60,
    log_updates=20,
)
"""The recipe `depth-smoke`."""

ANTICIPATION_SMALL = AnticipationRecipe(
    description="occupancy beyond what was seen, from maps of depth; 20,000 windows of 200 train houses",
    core_hours=0.3,
)
"""The recipe `anticipation-small`."""

ANTICIPATION_SMOKE = replace(
    ANTICIPATION_SMALL,
    description="the same, tiny: shows within a minute that the loss falls",
    windows=WindowSettings(side=64, cell=0.1, houses=2, windows=24),
    network=UNetSettings(widths=(8, 16, 24, 32)),
    frames=960,
    core_hours=0.0,
    batch=8,
    save_updates=60,
    log_updates=20,
)
"""The recipe `anticipation-smoke`."""

JOINT_SMALL = JointRecipe(
    description="texts and crops of objects in one space; 600,000 pairs of 150 train houses",
    core_hours=0.2,
)
"""The recipe `joint-small`."""

JOINT_SMOKE = replace(
    JOINT_SMALL,
    description="the same, tiny: shows within a minute that the loss falls",
    pairs=PairSettings(houses=2),
    texts="words",
    frames=6_400,
    batch=64,
    save_updates=50,
    log_updates=10,
)
"""The recipe `joint-smoke`."""

CROSS_VIEW_SMALL = CrossViewRecipe(
    description="a binocular network, by completing views from others; 15,000 pairs of 100 train houses",
    frames=300_000,
    core_hours=0.3,
    batch=64,
)
"""The recipe `cross-view-small`."""

CROSS_VIEW_SMOKE = replace(
    CROSS_VIEW_SMALL,
    description="the same, tiny: shows within a minute that the loss falls",
    pairs=ViewPairSettings(houses=2, pairs=64),
    network=BinocularSettings(width=48, layers=1, crossings=1),
    frames=6_400,
    core_hours=0.0,
    batch=32,
    save_updates=100,
    log_updates=20,
)
"""The recipe `cross-view-smoke`."""
