"""PyTorch, and trees of tensors: names -> tensors whose first dimension counts slots."""

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from navarena.core.errors import InputError, require_extra
from navarena.core.seeding import derive_seed

EXTRA = "learn"

torch: Any = require_extra("torch", EXTRA)
"""PyTorch; every module of `learning` that computes takes it from here."""

safetensors: Any = require_extra("safetensors.torch", EXTRA)
"""Reads and writes weights; asked for with PyTorch, before anything is trained."""

if TYPE_CHECKING:
    Tensor = Any  # type checkers run without PyTorch, too
else:
    Tensor = torch.Tensor

Tree = dict[str, Tensor]
"""Name -> tensor; states of policies are such trees of (N, ...) tensors."""

KEPT_BLOCK, KEPT = 2**28, 2**29
"""Bytes: the largest block, and how much in all, that a process keeps for itself when it is freed."""

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # of mallopt, in malloc.h of glibc


def keep_freed_memory() -> None:
    """Let this process keep memory that it frees, for what it asks for next; does nothing without glibc.

    The outputs of layers are blocks of some MB to some tens of MB. By itself glibc takes them from the system
    and gives them back at every step, and the system fills their pages with zeros each time: with a frozen
    EfficientNet-Lite0 this was half of the time (32 images of 128 x 96 pixels at once: 207 a second of a
    core, 475 without), and with ResNet-18 a quarter. What the environment says (MALLOC_...) is left as it is.
    """
    if not sys.platform.startswith("linux") or any(name.startswith("MALLOC_") for name in os.environ):
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, KEPT_BLOCK)
        mallopt(_M_TRIM_THRESHOLD, KEPT)


keep_freed_memory()


@contextmanager
def seeded(*name: str | int) -> Iterator[None]:
    """Context in which PyTorch draws from the stream `name`, as of `derive_seed`, and nothing else of it."""
    with torch.random.fork_rng(devices=()):
        torch.manual_seed(derive_seed(*name) % 2**63)
        yield


def reset_rows(state: Tree, mask: Tensor) -> Tree:
    """`state` with rows zeroed where `mask` (N,) bool is False, as at the start of an episode."""
    return {name: _reset(value, mask) for name, value in state.items()}


def _reset(value: Tensor, mask: Tensor) -> Tensor:
    wide = mask.reshape(-1, *[1] * (value.dim() - 1))
    return torch.where(wide, value, torch.zeros((), dtype=value.dtype, device=value.device))


def take_rows(tree: Tree, rows: Tensor) -> Tree:
    """The `rows` (K,) int64 of every tensor, copies."""
    return {name: value[rows] for name, value in tree.items()}


def working_dtype(device: Any) -> Any:
    """The dtype of products on `device`: that of autocast where it is on, else float32."""
    kind = device.type
    return torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else torch.float32


def require_device(name: str) -> None:
    """Raise InputError unless PyTorch can compute on the device `name`: "cpu", "cuda" or "cuda:1"."""
    kind, _, number = name.partition(":")
    if kind not in ("cpu", "cuda") or (number and not number.isdecimal()):
        raise InputError(f"expected the device cpu, cuda or cuda:1, got {name!r}")
    count = torch.cuda.device_count() if kind == "cuda" else 1
    if int(number or 0) >= count:
        has = f"{count} devices" if count else "no CUDA device"
        raise InputError(
            f"expected the device {name} to be there, got a PyTorch {torch.__version__} that finds {has}; "
            "use --device cpu, or install PyTorch for CUDA (https://pytorch.org/get-started)"
        )
