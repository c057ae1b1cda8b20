"""Making of networks: the encoder and the memory that the settings of a policy name."""

from collections.abc import Sequence
from typing import Literal

from navarena.learning.inputs import InputSpec
from navarena.learning.networks.attention import FRMQNMemory, SMTMemory
from navarena.learning.networks.binocular_encoder import BinocularEncoder
from navarena.learning.networks.clip_resnet import ClipGoalEncoder
from navarena.learning.networks.embedded_encoder import EmbeddedEncoder
from navarena.learning.networks.encoders import Encoder, ObservationEncoder
from navarena.learning.networks.follower import FollowerEncoder, FollowerMemory
from navarena.learning.networks.map_memories import ProjectedMapMemory, RecognisedMapMemory
from navarena.learning.networks.memories import Memory, RecurrentMemory
from navarena.learning.networks.neural_map_encoder import ProjectingEncoder, RecognisingEncoder
from navarena.learning.networks.tiled_encoder import TILED_TRUNKS, TiledGoalEncoder
from navarena.learning.settings import PolicySettings


def make_encoder(inputs: Sequence[InputSpec], settings: PolicySettings) -> Encoder:
    """The encoder of `inputs`; raises InputError and UnknownNameError as its class does."""
    if settings.memory == "neural_map":
        is_recognised = settings.neural_map.kind == "recognised"
        return (RecognisingEncoder if is_recognised else ProjectingEncoder)(inputs, settings)
    if settings.memory == "cma":
        return FollowerEncoder(inputs, settings.follower)
    if settings.encoder.binocular:
        return BinocularEncoder(inputs, settings)
    unit_goals = settings.encoder.goals == "unit"
    if settings.encoder.images == "clip_resnet50":
        return ClipGoalEncoder(inputs, settings.image_features, settings.number_features, unit_goals)
    if settings.encoder.images in TILED_TRUNKS:
        return TiledGoalEncoder(inputs, settings.number_features, settings.encoder.images)
    if settings.encoder.numbers == "embedded":
        return EmbeddedEncoder(inputs, settings.image_features, settings.number_features, settings.encoder)
    return ObservationEncoder(inputs, settings.image_features, settings.number_features, unit_goals)


def make_memory(features: int, settings: PolicySettings, encoder: Encoder) -> Memory:
    """The memory of `features` numbers a step, first those of `encoder`; raises InputError as its class."""
    if isinstance(encoder, FollowerEncoder):
        return FollowerMemory(encoder, features, settings.hidden, settings.follower)
    if settings.memory == "smt":
        return SMTMemory(features, settings.hidden, settings.memory_steps, settings.heads, settings.has_pose)
    if settings.memory == "frmqn":
        return FRMQNMemory(features, settings.hidden, settings.memory_steps)
    if settings.memory == "neural_map":
        is_recognised = settings.neural_map.kind == "recognised"
        return (RecognisedMapMemory if is_recognised else ProjectedMapMemory)(features, settings)
    kind: Literal["gru", "lstm"] = "lstm" if settings.memory == "lstm" else "gru"
    return RecurrentMemory(features, settings.hidden, settings.layers, kind)
