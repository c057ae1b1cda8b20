"""Recipes of MultiON's agents with maps of their own, at the paper's sizes and small; for three goals.

Sources: saimwani/multiON, habitat_baselines/rl/ppo/policy.py (ProjNeuralMap); Wani et al. 2020, whose code
has no EgoMap and no ObjRecogMap: the first is edbeeching/ego_map's second reading on ProjNeuralMap's map, the
second follows the paper's text. Those whose features are projected see depth of 0 to 10 m.
"""

from dataclasses import replace

from navarena.learning.auxiliaries.settings import SEEN_CLASS
from navarena.learning.networks.neural_map_settings import NeuralMapSettings
from navarena.learning.recipes.multion import MULTION_NOMAP, MULTION_ORACLE_MAP
from navarena.learning.recipes.multion_small import NOMAP_DAGGER, PPO, reinforce
from navarena.learning.settings import MULTION

MULTION_PROJ_NEURAL_MAP = replace(
    MULTION_NOMAP,
    description="MultiON's ProjNeuralMap: features of images in a map",
    protocol="multion-3on-v1+depth=far",
    sensors=(*MULTION_NOMAP.sensors, "gps", "compass"),
    policy=replace(MULTION_NOMAP.policy, memory="neural_map", has_pose=True),
)
"""The recipe `multion-proj-neural-map-paper`."""

MULTION_EGO_MAP = replace(
    MULTION_PROJ_NEURAL_MAP,
    description="MultiON's EgoMap: ProjNeuralMap whose cells are asked for, too",
    policy=replace(MULTION_PROJ_NEURAL_MAP.policy, neural_map=NeuralMapSettings("queried")),
)
"""The recipe `multion-ego-map-paper`."""

MULTION_OBJ_RECOG_MAP = replace(
    MULTION_NOMAP,
    description="MultiON's ObjRecogMap: recognised goals in a map",
    sensors=(*MULTION_NOMAP.sensors, "gps", "compass"),
    targets=("nearest_seen_class",),
    method=replace(MULTION, auxiliaries=(SEEN_CLASS,)),
    policy=replace(
        MULTION_ORACLE_MAP.policy,
        memory="neural_map",
        has_pose=True,
        neural_map=NeuralMapSettings("recognised"),
    ),
)
"""The recipe `multion-obj-recog-map-paper`."""

MULTION_OBJ_RECOG_MAP_DYNAMIC = replace(
    MULTION_OBJ_RECOG_MAP,
    description="MultiON's DynamicObjRecogMap: of recognised goals the current one",
    policy=replace(
        MULTION_OBJ_RECOG_MAP.policy, neural_map=NeuralMapSettings("recognised", current_only=True)
    ),
)
"""The recipe `multion-obj-recog-map-dynamic-paper`."""

PROJ_NEURAL_MAP_DAGGER = replace(
    NOMAP_DAGGER,
    description="MultiON's ProjNeuralMap: DAgger from an exploring teacher, RGB-D of 64 x 64",
    protocol=f"{NOMAP_DAGGER.protocol}+depth=far",
    sensors=MULTION_PROJ_NEURAL_MAP.sensors,
    policy=replace(
        NOMAP_DAGGER.policy,
        memory="neural_map",
        has_pose=True,
        # 4 x 4 features of 64 x 64 pixels: each is dropped from 4 x 4 points
        neural_map=NeuralMapSettings(cells=61, points=16),
    ),
    core_hours=0.5,
)
"""The recipe `multion-proj-neural-map-dagger-small`."""

PROJ_NEURAL_MAP = reinforce("multion-proj-neural-map-dagger-small", PROJ_NEURAL_MAP_DAGGER, 0.6)
"""The recipe `multion-proj-neural-map-small`."""

EGO_MAP_DAGGER = replace(
    PROJ_NEURAL_MAP_DAGGER,
    description="MultiON's EgoMap: DAgger from an exploring teacher, RGB-D of 64 x 64",
    policy=replace(
        PROJ_NEURAL_MAP_DAGGER.policy, neural_map=NeuralMapSettings("queried", cells=61, points=16)
    ),
    core_hours=0.5,
)
"""The recipe `multion-ego-map-dagger-small`."""

EGO_MAP = reinforce("multion-ego-map-dagger-small", EGO_MAP_DAGGER, 0.7)
"""The recipe `multion-ego-map-small`."""

OBJ_RECOG_MAP_DAGGER = replace(
    NOMAP_DAGGER,
    description="MultiON's ObjRecogMap: DAgger from an exploring teacher, RGB-D of 64 x 64",
    sensors=MULTION_OBJ_RECOG_MAP.sensors,
    targets=MULTION_OBJ_RECOG_MAP.targets,
    method=replace(NOMAP_DAGGER.method, auxiliaries=(SEEN_CLASS,)),
    policy=replace(
        NOMAP_DAGGER.policy, memory="neural_map", has_pose=True, neural_map=NeuralMapSettings("recognised")
    ),
    core_hours=0.5,
)
"""The recipe `multion-obj-recog-map-dagger-small`."""

OBJ_RECOG_MAP = replace(
    reinforce("multion-obj-recog-map-dagger-small", OBJ_RECOG_MAP_DAGGER, 0.7),
    method=replace(PPO, auxiliaries=(SEEN_CLASS,)),
)
"""The recipe `multion-obj-recog-map-small`."""
