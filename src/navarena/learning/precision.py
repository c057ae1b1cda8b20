"""Precision: number types of a policy's matrix products, and the processor's support for them."""

from pathlib import Path

from navarena.learning.settings import Precision
from navarena.learning.tensors import torch

FAST_FLAGS = ("avx512_bf16", "amx_bf16")
"""Flags of processors that multiply bfloat16 faster than float32."""


def choose_precision(asked: Precision, device: str = "cpu", flags: frozenset[str] | None = None) -> bool:
    """Whether the products of encoders and memories are computed in bfloat16.

    Weights, states, logarithms of probabilities, values, losses and the optimiser stay float32.

    Args:
        asked: "float32" or "bfloat16" as said; "auto" takes bfloat16 where it is fast: on graphics
            processors that have it, and on processors with one of FAST_FLAGS.
        device: "cpu" or "cuda".
        flags: of the processor; None asks the system, which tells them on Linux.
    """
    if asked != "auto":
        return asked == "bfloat16"
    if device != "cpu":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    return not set(FAST_FLAGS).isdisjoint(_read_flags() if flags is None else flags)


def _read_flags() -> frozenset[str]:
    """Flags of the processor as Linux names them; none elsewhere."""
    path = Path("/proc/cpuinfo")
    if not path.exists():
        return frozenset()
    lines = [line for line in path.read_text().splitlines() if line.startswith("flags")]
    return frozenset(lines[0].split(":", 1)[1].split()) if lines else frozenset()
