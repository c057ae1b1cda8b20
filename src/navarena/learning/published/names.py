"""Names and sizes of weights in the files of the reference code."""

from collections.abc import Mapping
from typing import Literal

Shapes = Mapping[str, tuple[int, ...]]
"""Key of a file -> shape of its tensor."""


def begins(name: str, pairs: Mapping[str, str]) -> str:
    """`name` with its beginning replaced by the first of `pairs` that fits."""
    for ours, theirs in pairs.items():
        if name.startswith(ours):
            return theirs + name.removeprefix(ours)
    return name


def measure_memory(shapes: Shapes) -> tuple[Literal["gru", "lstm"], int, int]:
    """Kind, hidden units and layers of the recurrent network in a file of habitat-lab or of a fork of it."""
    weights = "net.state_encoder.rnn.weight_hh_l"
    cells = shapes.get(f"{weights}0", ())
    gates, hidden = cells if len(cells) == 2 else (2048, 512)
    layers = sum(name.startswith(weights) for name in shapes)
    return "gru" if gates == 3 * hidden else "lstm", hidden, max(layers, 1)


def rename_resnet(name: str) -> str:
    """The key in habitat-lab's ResNets of the weight `name` of ours."""
    if name.startswith("stem."):
        return name.replace("stem.", "conv1.", 1)
    _, stage, block, part, rest = name.split(".", 4)
    inner = "downsample" if part == "shortcut" else "convs"
    return f"layer{int(stage) + 1}.{block}.{inner}.{rest}"
