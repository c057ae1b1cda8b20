"""Image corruptions that run on a device: those that draw nothing at random."""

from collections.abc import Sequence
from typing import Any

from navarena.core.errors import InputError
from navarena.corruptions.corruption import Corruption
from navarena.corruptions.depth import RANGES, DepthRange
from navarena.corruptions.light import TENTHS_DARKER, Lighting, dimming_table

_KNOWN = (Lighting, DepthRange)


def require_kernels(corruptions: Sequence[Corruption]) -> None:
    """Raise InputError for an image corruption without a kernel."""
    for one in corruptions:
        if type(one) not in _KNOWN:
            known = " and ".join(kind.__name__ for kind in _KNOWN)
            raise InputError(
                f"expected image corruptions that run where images stay ({known}), got {type(one).__name__}; "
                "use device='cpu' with it"
            )


def find_kernel(corruption: Corruption) -> tuple[Any, list[Any]]:
    """The kernel of a corruption, and its arguments between the rows and the images."""
    from navarena.simulation.rendering.warp.pixels import limit_depth, look_up_by_brightness

    if isinstance(corruption, Lighting):
        return look_up_by_brightness, [dimming_table(corruption.of_severity(TENTHS_DARKER))]
    assert isinstance(corruption, DepthRange)
    near, far = corruption.of_severity(RANGES)
    return limit_depth, [near, far, int(corruption.choices["beyond"] == "lost")]
