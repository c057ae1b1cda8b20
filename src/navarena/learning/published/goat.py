"""The layout of GOAT-Bench: its agents of CLIP's view and a goal's vector, with an LSTM.

Keys: goat_bench/models/clip_policy.py; the frozen network of images is part of the files.
"""

from dataclasses import replace

from navarena.learning.published.names import Shapes, begins, measure_memory
from navarena.learning.recipes.goat import monolithic
from navarena.learning.recipes.recipe import Recipe

_KEYS = {
    "encoder.trunk.": "net.visual_encoder.backbone.",
    "encoder.visual.0.": "net.visual_fc.0.",
    "encoder.numbers.compass.": "net.compass_embedding.",
    "encoder.numbers.gps.": "net.gps_embedding.",
    "action_encoder.": "net.prev_action_embedding.",
    "memory.cells.": "net.state_encoder.rnn.",
    "head.linear.": "action_distribution.linear.",
    "critic.": "critic.fc.",
}


def choose_goat(shapes: Shapes) -> Recipe:
    """The recipe with the memory of the weights."""
    recipe = monolithic("")
    memory, hidden, layers = measure_memory(shapes)
    policy = replace(
        recipe.policy,
        memory=memory,
        hidden=hidden,
        layers=layers,
        image_features=(shapes.get("net.visual_fc.0.weight") or (hidden,))[0],
    )
    return replace(recipe, policy=policy)


def rename_goat(name: str, shapes: Shapes) -> str:
    """The reference code's key of our weight `name`."""
    return begins(name, _KEYS)
