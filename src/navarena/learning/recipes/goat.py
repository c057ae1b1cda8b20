"""Recipes of GOAT-Bench: skills for one modality each, and one policy for all goals.

Goals are vectors of an encoder: at the paper's sizes of CLIP's RN50 in weights/clip-rn50 (and of its towers
beside), at small ones of the joint space in runs/train/joint-small (`navarena train joint-small`); sensors=
names others. The modality is an observation, too, where current_subtask stands among the sensors.

Sizes of the small ones: colour and depth of 64 x 36, four convolutions that are compared with the goal place
by place, the map of what was seen (64 x 64 cells), vectors of one length through a layer of 64, an LSTM of
2 x 256; 3,572,585 parameters with seven actions and vectors of 256.

The binocular ones see a goal's image itself, beside colour, depth and pose, and no map: 2,256,391 parameters
with six actions, 549,648 of them of the binocular network in runs/train/cross-view-small (`navarena train
cross-view-small`).

Those with `map` in their names see no images and no vectors, but a map of how alike what was seen is to the
goal; sensors= names `goal_map` (true labels) or `goal_map_predicted:SEGMENTER` in its place.

The small ones imitate shortest paths, and go on by PPO. Their core-hours are those of `ovon-small` with
vectors of `words`, frame by frame, and of the binocular ones those of a few updates.
"""

from dataclasses import replace

from navarena.learning.auxiliaries.settings import CLASSES
from navarena.learning.inputs import GOAL_IMAGE, GOAL_VECTOR
from navarena.learning.networks.encoder_settings import EncoderSettings
from navarena.learning.recipes.objectnav import (
    OBJECTNAV_MAP_DAGGER_SMALL,
    SEARCH,
    SEARCH_POLICY,
    SEARCH_PPO,
)
from navarena.learning.recipes.recipe import Recipe
from navarena.learning.settings import (
    HABITAT_DDPPO,
    OptimiserSettings,
    PolicySettings,
    Schedule,
)

CLIP = "open-clip:weights/clip-rn50"
"""The encoder of goals at the paper's sizes."""

JOINT = "joint:runs/train/joint-small"
"""That of the small ones."""

GOAL_MAP = "goal_map_similar"
"""How alike what was seen is to the goal, by an encoder."""

CROSS_VIEW = "runs/train/cross-view-small"
"""Whose binocular network reads images of goals."""


def monolithic(encoder: str) -> Recipe:
    """GOAT-Bench's agent for all goals at the paper's sizes; `encoder` makes their vectors.

    (goat_bench/models/clip_policy.py; the paper writes of a GRU: policy.memory=gru.)
    """
    return Recipe(
        description="One network for all goals of GOAT-Bench, at the paper's sizes",
        protocol="goat-v1",
        # the order in which the policy joins them
        sensors=("rgb", f"{GOAL_VECTOR}:{encoder}" if encoder else GOAL_VECTOR, "compass", "gps"),
        method=replace(HABITAT_DDPPO, epochs=4),
        image_size=(640, 360),
        policy=PolicySettings(
            memory="lstm",
            hidden=512,
            layers=2,
            image_features=512,
            number_features=32,
            action_features=32,
            encoder=EncoderSettings(images="clip_resnet50", numbers="embedded"),
            temperature=1.0,
        ),
        slots=32,
        steps=64,
        # of --collection=variable (VER), which the paper trains by: its two inference workers
        groups=2,
        frames=500_000_000,
        save_updates=1000,
    )


GOAT_PAPER = monolithic(CLIP)
"""The recipe `goat-paper`."""

OVON_PAPER = replace(
    GOAT_PAPER,
    description="GOAT-Bench's skill for names of objects, at the paper's sizes",
    protocol="ovon-v1",
    frames=300_000_000,
)
"""The recipe `ovon-paper`."""

LANGUAGENAV_PAPER = replace(
    OVON_PAPER,
    description="GOAT-Bench's skill for descriptions, at the paper's sizes",
    protocol="languagenav-v1",
    # vectors of BERT, not of CLIP
    sensors=("rgb", f"{GOAL_VECTOR}:bert:weights/bert-base", "compass", "gps"),
)
"""The recipe `languagenav-paper`."""

INSTANCE_IMAGENAV_PAPER = replace(
    OVON_PAPER,
    description="GOAT-Bench's skill for images, by vectors of CLIP, at the paper's sizes",
    # as its training has it; evaluations keep the protocol's limit
    protocol="instance-imagenav-v1+max_steps=1000",
    slots=16,
    frames=200_000_000,
)
"""The recipe `instance-imagenav-paper`."""

GOAT_DAGGER_SMALL = Recipe(
    description="GOAT-Bench, one policy for all goals: DAgger from shortest paths",
    # beyond so many actions a learner is lost, and the next goal begins
    protocol="goat-v1+subtask_budget=300+max_steps=1500",
    sensors=("occupancy_map", "rgb", "depth", f"{GOAL_VECTOR}:{JOINT}", "gps", "compass"),
    targets=("goal_mask", CLASSES),
    method=SEARCH,
    image_size=(64, 36),
    policy=SEARCH_POLICY,
    precision="auto",
    # an episode's end is not a goal's: agents of the benchmark never end one by themselves
    masked=("stop",),
    frames=1_400_000,
    core_hours=0.8,
)
"""The recipe `goat-dagger-small`."""

OVON_DAGGER_SMALL = replace(
    GOAT_DAGGER_SMALL,
    description="GOAT-Bench's skill for names of objects: DAgger from shortest paths",
    protocol="ovon-v1+max_steps=300",
    masked=(),
    frames=1_000_000,
    core_hours=0.6,
)
"""The recipe `ovon-dagger-small`."""

LANGUAGENAV_DAGGER_SMALL = replace(
    OVON_DAGGER_SMALL,
    description="GOAT-Bench's skill for descriptions: DAgger from shortest paths",
    protocol="languagenav-v1+max_steps=300",
)
"""The recipe `languagenav-dagger-small`."""

INSTANCE_IMAGENAV_DAGGER_SMALL = replace(
    OVON_DAGGER_SMALL,
    description="GOAT-Bench's skill for images: DAgger from shortest paths",
    protocol="instance-imagenav-v1+max_steps=300",
)
"""The recipe `instance-imagenav-dagger-small`."""

INSTANCE_IMAGENAV_BINOCULAR_DAGGER_SMALL = replace(
    INSTANCE_IMAGENAV_DAGGER_SMALL,
    description="GOAT-Bench's skill for images, by a binocular network: DAgger from shortest paths",
    sensors=("rgb", "depth", GOAL_IMAGE, "gps", "compass"),
    targets=(),
    method=replace(SEARCH, auxiliaries=()),
    policy=replace(
        GOAT_DAGGER_SMALL.policy,
        number_features=128,
        encoder=EncoderSettings(goals="unit", binocular=CROSS_VIEW),
    ),
    core_hours=1.0,
)
"""The recipe `instance-imagenav-binocular-dagger-small`."""

_SEEN_MAPS = ("occupancy_map", f"{GOAL_MAP}:{JOINT}", "frontier_direction")

GOAT_MAP_DAGGER_SMALL = replace(
    OBJECTNAV_MAP_DAGGER_SMALL,
    description="GOAT-Bench, one policy for all goals, from maps and the way to the nearest frontier: DAgger",
    protocol=GOAT_DAGGER_SMALL.protocol,
    # the modality says which similarity is a great one
    sensors=(*_SEEN_MAPS, "current_subtask", "gps", "compass"),
    # with a smaller share of the teacher at last the loss rises
    method=replace(SEARCH, auxiliaries=(), teacher="frontier-expert", teacher_share=Schedule(0.9, 0.3)),
    image_size=(112, 63),
    masked=GOAT_DAGGER_SMALL.masked,
    frames=400_000,
    core_hours=0.8,
)
"""The recipe `goat-map-dagger-small`."""

OVON_MAP_DAGGER_SMALL = replace(
    GOAT_MAP_DAGGER_SMALL,
    description="GOAT-Bench's skill for names, from maps and the way to the nearest frontier: DAgger",
    protocol=OVON_DAGGER_SMALL.protocol,
    sensors=(*_SEEN_MAPS, "gps", "compass"),
    masked=(),
    core_hours=0.6,
)
"""The recipe `ovon-map-dagger-small`."""

LANGUAGENAV_MAP_DAGGER_SMALL = replace(
    OVON_MAP_DAGGER_SMALL,
    description="GOAT-Bench's skill for descriptions, from maps and the way to the nearest frontier: DAgger",
    protocol=LANGUAGENAV_DAGGER_SMALL.protocol,
)
"""The recipe `languagenav-map-dagger-small`."""

INSTANCE_IMAGENAV_MAP_DAGGER_SMALL = replace(
    OVON_MAP_DAGGER_SMALL,
    description="GOAT-Bench's skill for images, from maps and the way to the nearest frontier: DAgger",
    protocol=INSTANCE_IMAGENAV_DAGGER_SMALL.protocol,
)
"""The recipe `instance-imagenav-map-dagger-small`."""


def reinforce(first: str, imitated: Recipe) -> Recipe:
    """The recipe that continues `imitated`, called `first`, with PPO."""
    name = imitated.description.partition(":")[0]
    return replace(
        imitated,
        description=f"{name}: {first}, then PPO",
        method=replace(SEARCH_PPO, auxiliaries=imitated.method.auxiliaries),
        steps=64,
        frames=1_000_000,
        core_hours=0.7,
        first=first,
    )


GOAT_SMALL = reinforce("goat-dagger-small", GOAT_DAGGER_SMALL)
"""The recipe `goat-small`."""

OVON_SMALL = reinforce("ovon-dagger-small", OVON_DAGGER_SMALL)
"""The recipe `ovon-small`."""

LANGUAGENAV_SMALL = reinforce("languagenav-dagger-small", LANGUAGENAV_DAGGER_SMALL)
"""The recipe `languagenav-small`."""

INSTANCE_IMAGENAV_SMALL = reinforce("instance-imagenav-dagger-small", INSTANCE_IMAGENAV_DAGGER_SMALL)
"""The recipe `instance-imagenav-small`."""

INSTANCE_IMAGENAV_BINOCULAR_SMALL = replace(
    reinforce("instance-imagenav-binocular-dagger-small", INSTANCE_IMAGENAV_BINOCULAR_DAGGER_SMALL),
    core_hours=1.6,
)
"""The recipe `instance-imagenav-binocular-small`."""

GOAT_PPO_SMALL = replace(
    GOAT_SMALL,
    description="GOAT-Bench, one policy for all goals: PPO from scratch, the control",
    method=replace(
        SEARCH_PPO,
        optimiser=OptimiserSettings(Schedule(2.5e-4, 0.0), max_gradient=0.2),
        critic_share=0.0,
        actor_ramp=0.0,
    ),
    first="",
    # as many as goat-dagger-small and goat-small have together
    frames=2_400_000,
    core_hours=1.8,
    declaration_bias=-3.0,
)
"""The recipe `goat-ppo-small`."""
