"""The heads of HAMT's proxy tasks, beside those that it acts by."""

from navarena.learning.networks.dropout import Dropout
from navarena.learning.networks.hamt import EPSILON
from navarena.learning.networks.hamt_settings import HAMTSettings
from navarena.learning.tensors import Tensor, torch

ANGLES_AND_PROGRESS = 3
"""Numbers that sar tells: heading and elevation of the next action, and the share of the path behind."""


class ProxyHeads(torch.nn.Module):
    """Heads of masked words, actions, relations, hidden views and matches; sap has the head of actions.

    Args:
        settings: sizes of the network.
        classes: numbers of what hidden views show.
    """

    def __init__(self, settings: HAMTSettings, classes: int) -> None:
        super().__init__()
        width, dropout = settings.width, settings.dropout
        self.words = torch.nn.Sequential(
            torch.nn.Linear(width, width), torch.nn.GELU(), torch.nn.LayerNorm(width, EPSILON)
        )
        self.word_bias = torch.nn.Parameter(torch.zeros(settings.words))
        self.actions = _make_head(width, width, ANGLES_AND_PROGRESS, dropout)
        self.relations = _make_head(2 * width, width, 2, dropout)
        self.classes = _make_head(width, width, classes)
        self.matches = _make_head(width, width, 1)
        for one in self.modules():
            if isinstance(one, torch.nn.Linear):
                torch.nn.init.normal_(one.weight, std=0.02)
                torch.nn.init.zeros_(one.bias)

    def predict_words(self, tokens: Tensor, table: Tensor) -> Tensor:
        """(K, V) float32 logits of the words behind `tokens` (K, W); `table` (V, W) are their vectors."""
        logits: Tensor = (self.words(tokens) @ table.T + self.word_bias).float()
        return logits


def _make_head(inputs: int, width: int, outputs: int, dropout: float | None = None) -> torch.nn.Sequential:
    layers = [torch.nn.Linear(inputs, width), torch.nn.ReLU(), torch.nn.LayerNorm(width, EPSILON)]
    if dropout is not None:
        layers.append(Dropout(dropout))
    return torch.nn.Sequential(*layers, torch.nn.Linear(width, outputs))
