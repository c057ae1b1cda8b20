"""Recipes of agents on navigation graphs: HAMT and the rows of TourHAMT."""

from dataclasses import replace

from navarena.learning.auxiliaries.settings import ProxySettings
from navarena.learning.checkpoints.selection import TrainingEvaluationSettings
from navarena.learning.inputs import GRAPH_INPUTS
from navarena.learning.networks.hamt_settings import SMALL, TOUR_ROWS, HAMTSettings
from navarena.learning.recipes.recipe import Recipe
from navarena.learning.settings import (
    ActorCriticSettings,
    ImitationSettings,
    OptimiserSettings,
    PolicySettings,
    Schedule,
)
from navarena.tasks.graphs.house_features import SIZES

FEATURES = "classes"

_TEACHER_FORCING = ImitationSettings(
    optimiser=OptimiserSettings(rate=Schedule(5e-4, 1e-4), epsilon=1e-8, max_gradient=5.0),
    minibatches=2,
)

_POLICY = PolicySettings(memory="hamt", hamt=replace(SMALL, features=SIZES[FEATURES]))

HAMT_SMALL = Recipe(
    description="HAMT with teacher forcing on graphs of houses, true classes",
    protocol="r2r-v1",
    sensors=GRAPH_INPUTS,
    method=_TEACHER_FORCING,
    policy=_POLICY,
    precision="auto",
    slots=32,
    steps=16,
    # words begin to matter after 150,000: until then the loss is that of blanked instructions
    frames=350_000,
    core_hours=0.5,
    features=FEATURES,
    evaluation=TrainingEvaluationSettings(updates=0),
)
"""The recipe `hamt-small`. --set method.teacher_share.last=0.5 --set method.mixing=step lets it meet
states of its own (student forcing)."""

HAMT_A2C_SMALL = replace(
    HAMT_SMALL,
    description="HAMT by imitation and reinforcement (A2C), from hamt-small",
    first="hamt-small",
    frames=200_000,
    core_hours=0.5,
    method=replace(
        _TEACHER_FORCING,
        optimiser=OptimiserSettings(rate=Schedule(1e-4, 1e-5), epsilon=1e-8, max_gradient=5.0),
        # half of the episodes each; the reference rolls out one batch with the teacher and one without
        teacher_share=Schedule(0.5, 0.5),
        actor_critic=ActorCriticSettings(),
    ),
)
"""The recipe `hamt-a2c-small`."""

HAMT_PRETRAIN_SMALL = replace(
    HAMT_SMALL,
    description="HAMT's proxy tasks on graphs of houses, to start hamt-small from",
    targets=("candidate_distances",),
    method=replace(_TEACHER_FORCING, proxies=ProxySettings()),
    # tasks see whole episodes alone, which have 5 to 7 steps
    steps=32,
    slots=16,
    frames=200_000,
    core_hours=0.5,
)
"""The recipe `hamt-pretrain-small`: `navarena train hamt-small --set start=FOLDER` goes on from it."""

HAMT_PAPER = replace(
    HAMT_SMALL,
    description="HAMT at the published sizes; for accelerators, 800,000 episodes",
    # IVLN's run_r2r_il.sh: 100,000 updates of 8 episodes, a constant rate
    method=ImitationSettings(
        optimiser=OptimiserSettings(
            rate=Schedule(1e-5, 1e-5), epsilon=1e-8, max_gradient=40.0, weight_decay=0.01
        ),
        minibatches=1,
    ),
    policy=PolicySettings(memory="hamt", hamt=HAMTSettings(features=SIZES[FEATURES])),
    precision="float32",
    slots=8,
    frames=4_800_000,
    core_hours=0.0,
)
"""The recipe `hamt-paper`."""


def _remember(row: str) -> Recipe:
    hamt = replace(SMALL, features=SIZES[FEATURES], **TOUR_ROWS[row])
    return replace(
        HAMT_SMALL,
        description=f"TourHAMT along tours, row {row} of IVLN",
        protocol="ir2r-v1",
        policy=PolicySettings(memory="hamt", hamt=hamt, remembers="tour"),
        steps=32,
        slots=8,
        frames=200_000,
        core_hours=0.5,
    )


TOUR_HAMT_PH = _remember("ph")
"""The recipe `tour-hamt-ph-small`."""

TOUR_HAMT_TH = _remember("ph+th")
"""The recipe `tour-hamt-th-small`."""

TOUR_HAMT_PHI = _remember("ph+th+phi")
"""The recipe `tour-hamt-phi-small`."""

TOUR_HAMT_IW = _remember("ph+th+phi+iw")
"""The recipe `tour-hamt-iw-small`."""
