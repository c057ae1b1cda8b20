"""Recipes of RobustNav: at the paper's sizes, and small ones whose own network reads images of 80 x 60.

Paper: a frozen ResNet-18, the goal at every place of it, a GRU (allenai/robustnav,
projects/robustnav_baselines and projects/{point,object}nav_baselines/models). The slots are those of all the
paper's processes. ImageNet's weights come from a file (policy.encoder.trunk). EmbCLIP (Khandelwal et al.
2022) is the same network behind CLIP's RN50.

Small: three convolutions of the policy's own, a GRU of 256; in the 60 train apartments DAgger, then PPO. All
learn action prediction (AP) beside, so that they can adapt (`?adapt=ap`).
"""

from dataclasses import replace

from navarena.learning.auxiliaries.settings import INVERSE_DYNAMICS, AugmentationSettings
from navarena.learning.checkpoints.selection import TrainingEvaluationSettings
from navarena.learning.networks.encoder_settings import EncoderSettings
from navarena.learning.recipes.pointnav import POINTNAV_DAGGER_SMALL, POINTNAV_SMALL
from navarena.learning.recipes.recipe import Recipe
from navarena.learning.settings import (
    ALLENACT,
    PolicySettings,
    PPOSettings,
    constant,
)

ROBUSTNAV_POINTNAV = Recipe(
    description="RobustNav's PointNav agent of colours at the paper's sizes",
    protocol="robustnav-pointnav-v1",
    sensors=("rgb", "pointgoal_with_gps_compass"),
    method=ALLENACT,
    image_size=(224, 224),
    policy=PolicySettings(
        hidden=512,
        number_features=32,
        action_features=0,
        encoder=EncoderSettings(images="frozen_resnet18", numbers="embedded"),
    ),
    slots=60,
    steps=128,
    frames=75_000_000,
    training_view=False,
)
"""The recipe `robustnav-pointnav-paper`."""

ROBUSTNAV_OBJECTNAV = replace(
    ROBUSTNAV_POINTNAV,
    description="RobustNav's ObjectNav agent of colours at the paper's sizes",
    protocol="robustnav-objectnav-v1",
    sensors=("rgb", "objectgoal"),
    frames=300_000_000,
)
"""The recipe `robustnav-objectnav-paper`."""

OBJECTNAV_EMBCLIP = replace(
    ROBUSTNAV_OBJECTNAV,
    description="EmbCLIP's ObjectNav agent of colours: the same behind frozen CLIP RN50",
    protocol="objectnav-robothor2021-v1",
    # projects/objectnav_baselines/experiments/robothor/clip of allenai/embodied-clip
    policy=replace(
        ROBUSTNAV_OBJECTNAV.policy,
        encoder=EncoderSettings(images="frozen_clip_resnet50", numbers="embedded"),
    ),
)
"""The recipe `objectnav-embclip-paper`."""

POINTNAV_RGB_DAGGER = Recipe(
    description="RobustNav's PointNav from colours, with AP: DAgger",
    protocol="robustnav-pointnav-v1",
    sensors=("rgb", "pointgoal_with_gps_compass"),
    method=replace(POINTNAV_DAGGER_SMALL.method, auxiliaries=(INVERSE_DYNAMICS,)),
    image_size=(60, 80),
    policy=PolicySettings(hidden=256, temperature=0.5),
    precision="auto",
    frames=600_000,
    core_hours=0.1,
)
"""The recipe `robustnav-pointnav-rgb-dagger-small`."""

POINTNAV_RGB_LITE0 = replace(
    POINTNAV_RGB_DAGGER,
    description="RobustNav's network of colours behind frozen EfficientNet-Lite0, with AP: DAgger",
    image_size=(96, 128),
    policy=replace(
        POINTNAV_RGB_DAGGER.policy,
        number_features=32,
        encoder=EncoderSettings(images="frozen_lite0", numbers="embedded"),
    ),
    precision="float32",
    frames=300_000,
    core_hours=0.4,
)
"""The recipe `robustnav-pointnav-rgb-lite0-small`, which needs the extra `trunk`."""

POINTNAV_RGBD_DAGGER = replace(
    POINTNAV_RGB_DAGGER,
    description="RobustNav's PointNav from RGB-D, with AP: DAgger",
    sensors=("rgb", "depth", "pointgoal_with_gps_compass"),
    core_hours=0.2,
)
"""The recipe `robustnav-pointnav-rgbd-dagger-small`."""


def _reinforce(first: str, imitated: Recipe, core_hours: float) -> Recipe:
    """The recipe that continues `imitated`, called `first`, with PPO, which takes `core_hours`."""
    return replace(
        imitated,
        description=f"{imitated.description.partition(':')[0]}: {first}, then PPO",
        first=first,
        method=replace(POINTNAV_SMALL.method, auxiliaries=(INVERSE_DYNAMICS,)),
        frames=1_800_000,
        core_hours=core_hours,
        evaluation=TrainingEvaluationSettings(updates=150),
    )


POINTNAV_RGB_SMALL = _reinforce("robustnav-pointnav-rgb-dagger-small", POINTNAV_RGB_DAGGER, 0.4)
"""The recipe `robustnav-pointnav-rgb-small`."""

POINTNAV_RGBD_SMALL = _reinforce("robustnav-pointnav-rgbd-dagger-small", POINTNAV_RGBD_DAGGER, 0.7)
"""The recipe `robustnav-pointnav-rgbd-small`."""

POINTNAV_RGB_AUGMENTED = replace(
    POINTNAV_RGB_SMALL,
    description="the same from colours, cropped, shifted and jittered during PPO",
    # crops of 240 x 320 of 300 x 400 pixels, shifts of 20 %, jitter of 0.4 (robustnav, -irc -irs -icj)
    augmentation=AugmentationSettings(crop=0.2, shift=0.2, jitter=0.4),
    core_hours=0.6,
)
"""The recipe `robustnav-pointnav-rgb-augmented`."""

POINTNAV_RGB_MIXTURE = replace(
    POINTNAV_RGB_SMALL,
    description="the same, each episode of PPO clean or corrupted",
    # held out: lower_fov, camera_crack, spatter, motor_failure
    mixture=(
        "clean",
        "speckle_noise:5",
        "lighting:5",
        "defocus_blur:5",
        "motion_drift",
        "motion_bias_constant:episode",
        "defocus_blur:5+motion_drift",
    ),
    # corruptions of images count in pixels: of the protocol's images they are as strong as in an evaluation
    training_view=False,
    core_hours=1.0,
)
"""The recipe `robustnav-pointnav-rgb-mixture`."""

POINTNAV_RGB_FINETUNE = replace(
    POINTNAV_RGB_DAGGER,
    description="goes on by PPO in corrupted calibration scenes, with rewards; --set start=CHECKPOINT --set "
    "corruptions=spatter:5",
    # Table 3's last row: the settings of training at its first rate, in the steps of the adaptation
    method=PPOSettings(
        optimiser=replace(ALLENACT.optimiser, rate=constant(3e-4)),
        clip=ALLENACT.clip,
        order=ALLENACT.order,
        minibatches=ALLENACT.minibatches,
        value_clip=ALLENACT.value_clip,
        normalise=ALLENACT.normalise,
        critic_share=0.1,
    ),
    precision="float32",
    training_view=False,
    split="calibration",
    slots=16,
    steps=128,
    frames=166_000,
    core_hours=0.4,
)
"""The recipe `robustnav-pointnav-rgb-finetune`."""
