"""Checkpoints of cross-view completion."""

from dataclasses import dataclass
from typing import ClassVar

from navarena.learning.checkpoints.fitted import FittedInfo
from navarena.learning.cross_view.network import CompletionNetwork
from navarena.learning.cross_view.settings import ViewPairSettings
from navarena.learning.networks.binocular_settings import BinocularSettings


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
