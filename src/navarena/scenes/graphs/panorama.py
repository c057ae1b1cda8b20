"""The 36 views of a panorama, and angles to other places.

Headings are radians clockwise from -z (Matterport's +y): the negative of our yaw. Elevations are
radians, upwards positive. View k looks along heading (k mod 12) 30 degrees and elevation
(k div 12 - 1) 30 degrees, as in Matterport3DSimulator's discretised mode.
"""

import numpy as np
from jaxtyping import Float, Int

from navarena.core.elementary import arctan2

HEADINGS = 12
ELEVATIONS = 3
VIEWS = HEADINGS * ELEVATIONS
STEP = np.pi / 6
"""Radians between neighbouring views."""

LEVEL = HEADINGS
"""Index of the first level view."""

Angle = Float[np.ndarray, "..."] | float

VIEW_HEADINGS: Float[np.ndarray, "36"] = np.arange(VIEWS) % HEADINGS * STEP
"""(36,) radians."""

VIEW_ELEVATIONS: Float[np.ndarray, "36"] = (np.arange(VIEWS) // HEADINGS - 1) * STEP
"""(36,) radians."""


def normalize_heading(heading: Angle) -> Float[np.ndarray, "..."]:
    """Headings (...,), radians, moved into [0, 2 pi)."""
    turned = np.asarray(heading, float) % (2 * np.pi)
    return np.where(turned >= 2 * np.pi, 0.0, turned)


def relative_angle(angle: Angle, reference: Angle) -> Float[np.ndarray, "..."]:
    """(...,) radians in [-pi, pi) from `reference` to `angle`."""
    return np.asarray((np.asarray(angle, float) - reference + np.pi) % (2 * np.pi) - np.pi)


def heading_step(heading: Angle) -> Int[np.ndarray, "..."]:
    """Index (...,) 0 to 11 of the 30 degree step nearest to a heading in radians; halves round up."""
    return np.asarray(np.floor(normalize_heading(heading) / STEP + 0.5).astype(np.int64) % HEADINGS)


def elevation_step(elevation: Angle) -> Int[np.ndarray, "..."]:
    """Index (...,) 0 down, 1 level, 2 up of an elevation in radians; level reaches 15 degrees."""
    value = np.asarray(elevation, float)
    return np.asarray(1 + (value > STEP / 2).astype(np.int64) - (value < -STEP / 2))


def view_index(heading: Angle, elevation: Angle) -> Int[np.ndarray, "..."]:
    """Index (...,) 0 to 35 of the view at a heading and elevation, radians, after snapping both."""
    return np.asarray(heading_step(heading) + HEADINGS * elevation_step(elevation))


def bearings(
    origin: Float[np.ndarray, "... 3"], target: Float[np.ndarray, "... 3"]
) -> tuple[Float[np.ndarray, "..."], Float[np.ndarray, "..."], Float[np.ndarray, "..."]]:
    """Heading and elevation of `target` seen from `origin`, both (..., 3) metres in the world frame.

    Returns:
        heading (...,) radians in [0, 2 pi), elevation (...,) radians, distance (...,) metres.
    """
    offset = np.asarray(target, float) - np.asarray(origin, float)
    level = np.hypot(offset[..., 0], offset[..., 2])
    heading = normalize_heading(arctan2(offset[..., 0], -offset[..., 2]))
    elevation, distance = arctan2(offset[..., 1], level), np.hypot(level, offset[..., 1])
    return heading, np.asarray(elevation), np.asarray(distance)


def nearest_view(heading: Angle, elevation: Angle) -> Int[np.ndarray, "..."]:
    """Index (...,) of the view nearest in angle to a direction in radians; the first of equals.

    The distance is sqrt(heading difference^2 + elevation difference^2), as where R2R's candidate
    lists (`absViewIndex`) come from.
    """
    h = relative_angle(np.asarray(heading, float)[..., None], VIEW_HEADINGS)
    e = np.asarray(elevation, float)[..., None] - VIEW_ELEVATIONS
    return np.asarray(np.argmin(np.hypot(h, e), -1).astype(np.int64))


def angle_feature(heading: Angle, elevation: Angle, size: int = 4) -> Float[np.ndarray, "... s"]:
    """(..., size) float32 [sin h, cos h, sin e, cos e] of radians, repeated to `size` (a multiple of 4)."""
    h, e = np.broadcast_arrays(np.asarray(heading, float), np.asarray(elevation, float))
    four = np.stack([np.sin(h), np.cos(h), np.sin(e), np.cos(e)], -1).astype(np.float32)
    return np.concatenate([four] * (size // 4), -1)


def panorama_angles(current_view: int, size: int = 4) -> Float[np.ndarray, "36 s"]:
    """(36, size) float32 angle features of the views (radians) for a body that looks along `current_view`.

    Headings are relative to the current one, elevations absolute (HAMT's and EnvDrop's convention).
    """
    return angle_feature(VIEW_HEADINGS - current_view % HEADINGS * STEP, VIEW_ELEVATIONS, size)
