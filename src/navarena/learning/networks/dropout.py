"""Dropout that draws four numbers at once on processors, where PyTorch's own draws them one by one."""

from navarena.learning.tensors import Tensor, torch

LEVELS = 2**16
"""Steps of a probability: 16 bits decide on each number."""


class Dropout(torch.nn.Module):
    """Set numbers to 0 with a probability, and scale the others so that means stay, while training.

    On an AMD EPYC it takes half of the time of torch.nn.Dropout, backwards included; elsewhere than on a
    processor it is torch.nn.Dropout. The draws are those of torch's default generator.

    Args:
        probability: 0 to below 1, rounded to 1 / LEVELS.
    """

    def __init__(self, probability: float) -> None:
        super().__init__()
        self._dropped = round(probability * LEVELS)

    def forward(self, given: Tensor) -> Tensor:
        """The shape and dtype of `given`."""
        if not self.training or not self._dropped:
            return given
        if given.device.type != "cpu":
            return torch.nn.functional.dropout(given, self._dropped / LEVELS)
        count = given.numel()
        drawn = torch.empty(-(-count // 4), dtype=torch.int64).random_(-(2**63), None)
        kept = drawn.view(torch.int16)[:count].view(given.shape) >= self._dropped - LEVELS // 2
        return given * kept.to(given.dtype).mul_(LEVELS / (LEVELS - self._dropped))
