"""The recipes that come with navarena, by name."""

from navarena.core.registry import Registry

RECIPES = Registry(
    "recipe",
    {
        "multion-frmqn-paper": "navarena.learning.recipes.multion:MULTION_FRMQN",
        "multion-nomap-paper": "navarena.learning.recipes.multion:MULTION_NOMAP",
        "multion-nomap-small": "navarena.learning.recipes.multion_small:MULTION_NOMAP_SMALL",
        "multion-oracle-ego-map-code-paper": "navarena.learning.recipes.multion:MULTION_ORACLE_EGO_MAP_CODE",
        "multion-oracle-ego-map-paper": "navarena.learning.recipes.multion:MULTION_ORACLE_EGO_MAP",
        "multion-oracle-map-obj-paper": "navarena.learning.recipes.multion:MULTION_ORACLE_MAP_OBJ",
        "multion-oracle-map-occ-paper": "navarena.learning.recipes.multion:MULTION_ORACLE_MAP_OCC",
        "multion-oracle-map-paper": "navarena.learning.recipes.multion:MULTION_ORACLE_MAP",
        "multion-oracle-map-small": "navarena.learning.recipes.multion_small:MULTION_ORACLE_MAP_SMALL",
        "multion-smt-paper": "navarena.learning.recipes.multion:MULTION_SMT",
        "objectnav-ddppo-paper": "navarena.learning.recipes.habitat:OBJECTNAV_DDPPO",
        "objectnav-stretch-small": "navarena.learning.recipes.objectnav:OBJECTNAV_STRETCH_SMALL",
        "pointnav-bc-small": "navarena.learning.recipes.pointnav:POINTNAV_BC_SMALL",
        "pointnav-dagger-small": "navarena.learning.recipes.pointnav:POINTNAV_DAGGER_SMALL",
        "pointnav-ddppo-paper": "navarena.learning.recipes.habitat:POINTNAV_DDPPO",
        "pointnav-ppo-small": "navarena.learning.recipes.pointnav:POINTNAV_PPO_SMALL",
        "pointnav-small": "navarena.learning.recipes.pointnav:POINTNAV_SMALL",
        "pointnav-smoke": "navarena.learning.recipes.pointnav:POINTNAV_SMOKE",
        "robustnav-objectnav-paper": "navarena.learning.recipes.robustnav:ROBUSTNAV_OBJECTNAV",
        "robustnav-pointnav-paper": "navarena.learning.recipes.robustnav:ROBUSTNAV_POINTNAV",
        "segmenter-goat-small": "navarena.learning.recipes.perception:SEGMENTER_GOAT",
        "segmenter-paper": "navarena.learning.recipes.perception:SEGMENTER_PAPER",
        "segmenter-small": "navarena.learning.recipes.perception:SEGMENTER_SMALL",
        "segmenter-smoke": "navarena.learning.recipes.perception:SEGMENTER_SMOKE",
    },
    "navarena.training_recipes",
)
"""Name -> Recipe. Packages add theirs in the entry-point group."""
