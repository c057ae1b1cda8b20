"""Checkpoints of cross-view completion, and policies that start from them."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import msgspec

from navarena.core.errors import InputError
from navarena.learning.checkpoints.fitted import FittedInfo, load_fitted
from navarena.learning.cross_view.network import CompletionNetwork
from navarena.learning.cross_view.settings import ViewPairSettings
from navarena.learning.networks.binocular_settings import BinocularSettings
from navarena.learning.networks.encoder_settings import RANDOM_TRUNK, EncoderSettings
from navarena.learning.tensors import torch


@dataclass(frozen=True, kw_only=True)
class CrossViewInfo(FittedInfo):
    """Description of the checkpoint of a cross-view completion.

    Attributes:
        pairs: what it learned from.
        network: sizes.
        masked: share of a view's patches that it completes.
    """

    noun: ClassVar[str] = "a cross-view completion"
    command: ClassVar[str] = "navarena train cross-view-small"
    own_format: ClassVar[str] = "navarena-cross-view-v1"

    pairs: ViewPairSettings
    network: BinocularSettings
    masked: float

    def build(self) -> CompletionNetwork:
        return CompletionNetwork(self.network)


def load_binocular(policy: torch.nn.Module, settings: EncoderSettings) -> None:
    """Read the weights of the binocular network of `policy`, where it has one, from the folder settings name.

    Raises FileError without a checkpoint there or for a damaged one, InputError for one of other sizes.
    """
    if settings.binocular in ("", RANDOM_TRUNK):
        return
    folder = Path(settings.binocular)
    info, network = load_fitted(folder, CrossViewInfo)
    ours, theirs = (msgspec.to_builtins(one) for one in (settings.binocular_network, info.network))
    for name, value in theirs.items():
        if ours[name] != value:
            raise InputError(
                f"expected a binocular network of {name}={ours[name]} in {folder}, got {name}={value}; "
                f"--set policy.encoder.binocular_network.{name}={value}, or train it again ({info.command})"
            )
    policy.encoder.binocular.load_state_dict(network.binocular.state_dict())
