"""Recipes of MultiON at the paper's sizes, for three goals; --protocol names those of one or two.

Source: saimwani/multiON, habitat_baselines/rl/ppo/policy.py and rl/models/simple_cnn.py. The paper's agents
with attention have one sentence each: sizes come from SoundSpaces (SMT) and from the recurrent agent (FRMQN).
"""

from dataclasses import replace

from navarena.learning.networks.encoder_settings import EncoderSettings
from navarena.learning.recipes.recipe import Recipe
from navarena.learning.settings import MULTION, PolicySettings

MULTION_NOMAP = Recipe(
    description="MultiON's agent without a map (RNN) at the paper's sizes",
    protocol="multion-3on-v1",
    sensors=("rgb", "depth", "multiobjectgoal"),
    method=MULTION,
    image_size=(256, 256),
    policy=PolicySettings(
        hidden=512,
        image_features=512,
        number_features=32,
        action_features=32,
        encoder=EncoderSettings(images="multion", numbers="embedded"),
        start_token=False,
    ),
    slots=16,
    steps=128,
    frames=40_000_000,
    save_updates=500,
)
"""The recipe `multion-nomap-paper`."""

MULTION_FRMQN = replace(
    MULTION_NOMAP,
    description="MultiON's FRMQN: keys and values of the last 150 steps, asked by an LSTM",
    policy=replace(MULTION_NOMAP.policy, memory="frmqn"),
)
"""The recipe `multion-frmqn-paper`."""

MULTION_SMT = replace(
    MULTION_NOMAP,
    description="MultiON's SMT: a transformer over the last 150 steps and poses",
    sensors=("rgb", "depth", "multiobjectgoal", "gps", "compass"),
    policy=replace(MULTION_NOMAP.policy, memory="smt", hidden=256, has_pose=True),
)
"""The recipe `multion-smt-paper`."""

_ORACLE_POLICY = replace(
    MULTION_NOMAP.policy,
    hidden=768,
    encoder=replace(MULTION_NOMAP.policy.encoder, spare_categories=1),
)

MULTION_ORACLE_MAP = replace(
    MULTION_NOMAP,
    description="MultiON's OracleMap (Occ+Obj): the true map, floor and goals",
    sensors=("oracle_map", *MULTION_NOMAP.sensors),
    policy=_ORACLE_POLICY,
)
"""The recipe `multion-oracle-map-paper`."""

MULTION_ORACLE_MAP_OCC = replace(
    MULTION_ORACLE_MAP,
    description="MultiON's OracleMap (Occ): the true map of the floor",
    sensors=("oracle_map_occupancy", *MULTION_NOMAP.sensors),
)
"""The recipe `multion-oracle-map-occ-paper`."""

MULTION_ORACLE_MAP_OBJ = replace(
    MULTION_ORACLE_MAP,
    description="MultiON's OracleMap (Obj): the true map of the goals",
    sensors=("oracle_map_objects", *MULTION_NOMAP.sensors),
)
"""The recipe `multion-oracle-map-obj-paper`."""

MULTION_ORACLE_EGO_MAP = replace(
    MULTION_ORACLE_MAP,
    description="MultiON's OracleEgoMap: of the true map, what was seen (the paper's)",
    sensors=("oracle_ego_map", *MULTION_NOMAP.sensors),
)
"""The recipe `multion-oracle-ego-map-paper`."""

MULTION_ORACLE_EGO_MAP_CODE = replace(
    MULTION_ORACLE_MAP,
    description="MultiON's OracleEgoMap as its code has it: goals alone, through walls",
    sensors=("oracle_ego_map_code", *MULTION_NOMAP.sensors),
)
"""The recipe `multion-oracle-ego-map-code-paper`."""
