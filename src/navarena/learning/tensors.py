"""PyTorch, and trees of tensors: names -> tensors whose first dimension counts slots."""

from typing import TYPE_CHECKING, Any

from navarena.core.errors import require_extra

EXTRA = "learn"

torch: Any = require_extra("torch", EXTRA)
"""PyTorch; every module of `learning` that computes takes it from here."""

if TYPE_CHECKING:
    Tensor = Any  # type checkers run without PyTorch, too
else:
    Tensor = torch.Tensor

Tree = dict[str, Tensor]
"""Name -> tensor; states of policies are such trees of (N, ...) tensors."""


def reset_rows(state: Tree, mask: Tensor) -> Tree:
    """`state` with 0 in the rows where `mask` (N,) bool is False: what was there before an episode began."""
    return {name: _reset(value, mask) for name, value in state.items()}


def _reset(value: Tensor, mask: Tensor) -> Tensor:
    wide = mask.reshape(-1, *[1] * (value.dim() - 1))
    return torch.where(wide, value, torch.zeros((), dtype=value.dtype, device=value.device))


def take_rows(tree: Tree, rows: Tensor) -> Tree:
    """The `rows` (K,) int64 of every tensor, copies."""
    return {name: value[rows] for name, value in tree.items()}
