"""Recognises MultiON's cylinders in colour and depth: no label, no privileged input.

A goal object is unlit, so its pixels have its exact colour: red, green, blue, yellow, white, pink, black or
cyan. Other objects may have that colour, too; a cylinder is 0.75 m high, 0.2 m wide, and stands on the floor.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from jaxtyping import Bool, UInt8

from navarena.agents.explorers.sightings import DepthView
from navarena.core.geometry import focal_length
from navarena.core.kernels import kernel
from navarena.tasks.protocols.goal_objects import CYLINDER_COLORS

HEIGHT, WIDTH = 0.75, 0.2
"""Metres, of the visible part (multiON's object files)."""


@dataclass(frozen=True)
class CylinderSettings:
    """Limits within which a patch of colour counts as a cylinder.

    Attributes:
        tolerance: greatest difference of a byte from a colour.
        min_pixels: of a patch that is looked at.
        slack: metres by which height and width may be wrong.
        max_hollow: share of a patch's upright rectangle that it may leave out.
    """

    tolerance: int = 3
    min_pixels: int = 12
    slack: float = 0.08
    max_hollow: float = 0.15


def find_cylinders(
    rgb: UInt8[np.ndarray, "h w 3"],
    view: DepthView,
    settings: CylinderSettings = CylinderSettings(),
) -> dict[int, Bool[np.ndarray, "h w"]]:
    """Class id -> (H, W) bool, the pixels of the cylinder of that class that an image shows best.

    Args:
        rgb: (H, W, 3) uint8.
        view: the depth image taken with it, by a level camera; the floor lies at y 0.
        settings: what passes.
    """
    from scipy import ndimage  # SciPy: slow to import, and needed where goals are recognised only

    found = {}
    bits = match_colors(rgb, settings.tolerance)
    shown = int(np.bitwise_or.reduce(bits, axis=None))
    for kind in range(len(CYLINDER_COLORS)):
        if not shown >> kind & 1:
            continue
        mask = (bits & (1 << kind)).astype(bool)
        if np.count_nonzero(mask) < settings.min_pixels:
            continue
        patches, _ = ndimage.label(mask)
        best = 0
        for number, box in enumerate(ndimage.find_objects(patches), 1):
            patch = patches[box] == number
            size = int(np.count_nonzero(patch))
            if size > max(best, settings.min_pixels) and _is_cylinder(patch, box, view, settings):
                best = size
                found[kind] = patches == number
    return found


def match_colors(rgb: UInt8[np.ndarray, "h w 3"], tolerance: int) -> UInt8[np.ndarray, "h w"]:
    """(H, W) uint8: bit k is set where a pixel has the colour of class k, to within `tolerance` a byte."""
    bits = np.zeros(rgb.shape[:2], np.uint8)
    _look_up(rgb, _color_tables(tolerance), bits)
    return bits


@kernel
def _look_up(rgb, tables, bits):  # type: ignore[no-untyped-def]
    """Write what the bytes of a pixel of `rgb` (H, W, 3) share in `tables` (3, 256) into `bits` (H, W)."""
    for row in range(rgb.shape[0]):
        for column in range(rgb.shape[1]):
            red, green, blue = rgb[row, column]
            bits[row, column] = tables[0, red] & tables[1, green] & tables[2, blue]


@cache
def _color_tables(tolerance: int) -> UInt8[np.ndarray, "3 256"]:
    """(3, 256) uint8: bit k is set where a byte of a channel is that of class k, to within `tolerance`."""
    apart = np.abs(np.arange(256)[None, :, None] - np.array(CYLINDER_COLORS).T[:, None])
    return np.packbits(apart <= tolerance, axis=2, bitorder="little")[..., 0]


def _is_cylinder(
    patch: Bool[np.ndarray, "a b"],
    box: tuple[slice, slice],
    view: DepthView,
    settings: CylinderSettings,
) -> bool:
    """Whether a patch of one colour is as high, wide and full as a cylinder that stands on the floor."""
    camera, pose = view.camera, view.pose
    min_range, max_range = view.depth_range
    rows, columns = box
    metres = view.metres(view.depth[box][patch])
    known = metres[(metres > min_range) & (metres < max_range)]
    if not len(known) or known.max() - known.min() > WIDTH + settings.slack:
        return False
    pixel = float(np.median(known)) / focal_length(camera.width_px, camera.hfov)
    slack = settings.slack + 2 * pixel
    top = pose[1, 3] + (camera.height_px / 2 - rows.start) * pixel
    bottom = pose[1, 3] + (camera.height_px / 2 - rows.stop) * pixel
    ends_below = rows.stop < camera.height_px
    is_whole = columns.start > 0 and columns.stop < camera.width_px
    wide = (columns.stop - columns.start) * pixel
    if abs(top - HEIGHT) > slack or wide > WIDTH + slack or (ends_below and abs(bottom) > slack + 0.1):
        return False
    if is_whole and wide < WIDTH - slack:
        return False
    return bool(1 - np.count_nonzero(patch) / patch.size <= settings.max_hollow + 2 * pixel / WIDTH)
