"""Frozen networks of instruction followers at the papers' sizes: from files that users have."""

from functools import partial
from pathlib import Path

from navarena.core.errors import InputError
from navarena.learning.networks.encoder_settings import RANDOM_TRUNK
from navarena.learning.networks.trunks import read_weights, rename_torchvision, take_weights
from navarena.learning.published.names import rename_resnet
from navarena.learning.settings import PolicySettings
from navarena.learning.tensors import Tensor, torch

_VISUAL = ("actor_critic.net.visual_encoder.", "net.visual_encoder.", "visual_encoder.")
"""With which the keys of DD-PPO's network of depth begin in its files."""


def load_follower_trunks(policy: torch.nn.Module, settings: PolicySettings) -> None:
    """Read the frozen networks of `policy`, where it has some, from the files that settings name.

    Raises InputError when none is named, or one for networks that learn, and FileError for a file with other
    weights.
    """
    follower = settings.follower
    if settings.memory != "cma" or follower.images != "resnet50":
        if {follower.rgb_trunk, follower.depth_trunk} - {"", RANDOM_TRUNK}:
            raise InputError(
                "expected memory=cma with policy.follower.images=resnet50 for rgb_trunk and depth_trunk, got "
                f"memory={settings.memory} with images={follower.images}, which reads no file"
            )
        return
    weights = policy.state_dict()
    for name, path in (("rgb", follower.rgb_trunk), ("depth", follower.depth_trunk)):
        begin = f"encoder.networks.{name}."
        wanted = {key.removeprefix(begin): value for key, value in weights.items() if key.startswith(begin)}
        if not wanted or path == RANDOM_TRUNK:
            continue
        if not path:
            raise InputError(
                f"expected a file with the weights of the frozen network of {name}: "
                f"--set policy.follower.{name}_trunk=FILE ({RANDOM_TRUNK} to go without)"
            )
        found = _find(read_weights(Path(path)), name)
        taken = take_weights(found, wanted, partial(rename_follower_trunk, name=name), path)
        with torch.no_grad():
            for key, value in taken.items():
                wanted[key].copy_(value)


def _find(found: dict[str, object], name: str) -> dict[str, Tensor]:
    """The weights of network `name` in a file's content, without later layers."""
    inner = found.get("state_dict", found)
    weights = inner if isinstance(inner, dict) else found
    if name == "rgb":
        return {key: value for key, value in weights.items() if not key.startswith("fc.")}
    kept = {}
    for key, value in weights.items():
        begin = next((one for one in _VISUAL if key.startswith(one)), None)
        if begin is not None and not key.startswith(f"{begin}running_mean_and_var."):
            kept[key.removeprefix(begin)] = value
    return kept


def rename_follower_trunk(key: str, name: str) -> str:
    """The key in a file of our weight `key` of the network of `name`."""
    if name == "rgb":
        return rename_torchvision(key.removeprefix("trunk."))
    if key.startswith("trunk."):
        return f"backbone.{rename_resnet(key.removeprefix('trunk.'))}"
    return key
