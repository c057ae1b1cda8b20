"""The layout of VLN-CE and IVLN-CE: agents of cross-modal attention (CMA) over colours and depth.

Keys: vlnce_baselines/models/cma_policy.py of VLN-CE; the agents of IVLN-CE that remember tours
(latent_cma_policy.py) have the same, and two more where they pool.
"""

from dataclasses import replace

from navarena.learning.networks.follower_settings import PAPER
from navarena.learning.published.follower_trunks import rename_follower_trunk
from navarena.learning.published.names import Shapes, begins
from navarena.learning.recipes.instructions import CMA_PAPER
from navarena.learning.recipes.recipe import Recipe

_TRUNKS = {"rgb": "net.rgb_encoder.cnn.", "depth": "net.depth_encoder.visual_encoder."}

_PARTS = {
    "encoder.positions.rgb": "net.rgb_encoder.spatial_embeddings.weight",
    "encoder.positions.depth": "net.depth_encoder.spatial_embeddings.weight",
    "action_encoder.": "net.prev_action_embedding.",
    "memory.text.embedding.": "net.instruction_encoder.embedding_layer.",
    "memory.text.cells.": "net.instruction_encoder.encoder_rnn.",
    "memory.vectors.rgb.0.": "net.rgb_linear.2.",
    "memory.vectors.depth.0.": "net.depth_linear.1.",
    "memory.places.rgb.": "net.rgb_kv.",
    "memory.places.depth.": "net.depth_kv.",
    "memory.vision.cells.": "net.state_encoder.rnn.",
    "memory.word_keys.": "net.text_k.",
    "memory.state_queries.": "net.state_q.",
    "memory.word_queries.": "net.text_q.",
    "memory.join.": "net.second_state_compress.",
    "memory.memory.cells.": "net.second_state_encoder.rnn.",
    "memory.end.": "net.out_layer.",
    "head.linear.": "action_distribution.linear.",
}

_CONVOLUTIONS = ("net.rgb_kv.weight", "net.depth_kv.weight", "net.text_k.weight")
"""Layers over each place or word, which the reference code has as convolutions of width 1."""


def choose_vlnce(shapes: Shapes) -> Recipe:
    """The recipe of CMA with the sizes of the weights, and with the pool where they have one.

    That the states of an agent outlast episodes (TourCMA) cannot be seen in its weights.
    """

    def measure(key: str, axis: int, default: int) -> int:
        shape = shapes.get(key, ())
        return shape[axis] if axis < len(shape) else default

    keys, hidden = measure("net.state_q.weight", 0, PAPER.keys), measure("net.state_q.weight", 1, 512)
    depth_features = measure("net.depth_linear.1.weight", 0, PAPER.depth_features)
    view_features = measure("net.rgb_linear.2.weight", 0, PAPER.view_features)
    action_features = measure("net.prev_action_embedding.weight", 1, 32)
    seen = view_features + depth_features + action_features
    pools = measure("net.state_encoder.rnn.weight_ih_l0", 1, seen) == seen + hidden
    follower = replace(
        PAPER,
        words=measure("net.instruction_encoder.embedding_layer.weight", 0, PAPER.words),
        word_features=measure("net.instruction_encoder.embedding_layer.weight", 1, PAPER.word_features),
        text_hidden=measure("net.instruction_encoder.encoder_rnn.weight_hh_l0", 1, PAPER.text_hidden),
        keys=keys,
        depth_values=measure("net.depth_kv.weight", 0, keys + PAPER.depth_values) - keys,
        view_features=view_features,
        depth_features=depth_features,
        positions=measure("net.rgb_encoder.spatial_embeddings.weight", 1, PAPER.positions),
        tour="none" if not pools else "pool_end" if "net.out_layer.0.weight" in shapes else "pool",
    )
    policy = replace(
        CMA_PAPER.policy,
        hidden=hidden,
        action_features=action_features,
        remembers="tour" if pools else "episode",
        follower=follower,
    )
    return replace(CMA_PAPER, protocol="ir2r-ce-v1" if pools else CMA_PAPER.protocol, policy=policy)


def rename_vlnce(name: str, shapes: Shapes) -> str:
    """The reference code's key of our weight `name`."""
    for image, theirs in _TRUNKS.items():
        ours = f"encoder.networks.{image}."
        if name.startswith(ours):
            return theirs + rename_follower_trunk(name.removeprefix(ours), image)
    return begins(name, _PARTS)


def reshape_vlnce(name: str, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of the weight `name` of theirs that has our `shape`.

    A table of 16 rows of positions is read as channels x 4 x 4 by the reference code, without transposing.
    """
    if name in _CONVOLUTIONS:
        return (*shape, 1)
    return shape[::-1] if name.endswith("spatial_embeddings.weight") else shape
