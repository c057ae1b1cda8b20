"""Names of weights, in the files of the reference code and here."""

from collections.abc import Mapping

Shapes = Mapping[str, tuple[int, ...]]
"""Key of a file -> shape of its tensor."""


def begins(name: str, pairs: Mapping[str, str]) -> str:
    """`name` with its beginning replaced by the first of `pairs` that fits."""
    for ours, theirs in pairs.items():
        if name.startswith(ours):
            return theirs + name.removeprefix(ours)
    return name


def rename_resnet(name: str) -> str:
    """The key in habitat-lab's ResNets of the weight `name` of ours."""
    if name.startswith("stem."):
        return name.replace("stem.", "conv1.", 1)
    _, stage, block, part, rest = name.split(".", 4)
    inner = "downsample" if part == "shortcut" else "convs"
    return f"layer{int(stage) + 1}.{block}.{inner}.{rest}"
