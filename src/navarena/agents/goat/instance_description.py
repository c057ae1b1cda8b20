"""Descriptions of remembered instances: colour, neighbours, size."""

import math
from collections.abc import Sequence

import cv2
import numpy as np
from jaxtyping import Float

from navarena.mapping import Instance
from navarena.scenes.houses.appearance.finishes import COLORS

NEAR = 1.5
"""Metres between two instances of which one is named to describe the place of the other; their boxes are not
known
exactly."""

MAX_NEIGHBOURS = 8
"""Named of an instance, the nearest first."""

UNLIKE = 20.0
"""Distance in CIELAB at which a colour is 1 / e like another."""

SHADE = np.array([0.5, 1.0, 1.0])
"""Weights of lightness and the two axes of colour."""

_NAMES = tuple(COLORS)


def color_name(color: Float[np.ndarray, "3"]) -> str:
    """The word for a colour (3,) sRGB, 0 to 255, as people see it: by its place in CIELAB."""
    return _NAMES[int(np.argmin(np.linalg.norm(_lab(np.array([color])) - _palette(), axis=1)))]


def color_likeness(name: str, color: Float[np.ndarray, "3"]) -> float:
    """Similarity, within (0, 1], of an observed colour (3,) sRGB, 0 to 255, to a colour word.

    Lightness counts half: what stands in the shade is seen darker than it is.
    """
    apart = (_lab(np.array([color])) - _lab(np.array([COLORS[name]], float)))[0] * SHADE
    return math.exp(-float(np.linalg.norm(apart)) / UNLIKE)


def describe(instance: Instance, others: Sequence[Instance]) -> str:
    """Words for an instance such as "brown sofa near the rug, the tv stand" that an encoder of words can
    read.

    Args:
        instance: with at least one view; else its colour is left out.
        others: all that is known; those near it are named.
    """
    best = max(instance.views, key=lambda view: view.quality, default=None)
    color = "" if best is None else f"{color_name(best.color)} "
    name = instance.category.replace("_", " ")
    around = ", ".join(f"the {one}" for one in neighbours(instance, others))
    return f"{color}{name} near {around}" if around else f"{color}{name}"


def neighbours(instance: Instance, others: Sequence[Instance]) -> list[str]:
    """Categories of the objects near an instance, nearest first, without repetition."""
    known = [one for one in others if one is not instance and len(one.points) and len(instance.points)]
    if not known:
        return []
    apart = gaps(instance, known)
    names = [
        known[k].category.replace("_", " ") for k in np.argsort(apart, kind="stable") if apart[k] <= NEAR
    ]
    return list(dict.fromkeys(name for name in names if name))[:MAX_NEIGHBOURS]


def gaps(instance: Instance, others: Sequence[Instance]) -> Float[np.ndarray, "n"]:
    """(N,) metres between the boxes around the points of an instance and of N others."""
    low, high = instance.box
    boxes = np.stack([other.box for other in others])
    between = np.maximum(0.0, np.maximum(low - boxes[:, 1], boxes[:, 0] - high))
    return np.asarray(np.linalg.norm(between, axis=1))


def _palette() -> Float[np.ndarray, "c 3"]:
    return _lab(np.array(list(COLORS.values()), float))


def _lab(colors: Float[np.ndarray, "c 3"]) -> Float[np.ndarray, "c 3"]:
    """(C, 3) CIELAB of sRGB colours, 0 to 255."""
    pixels = (colors[None] / 255).astype(np.float32)
    return np.asarray(cv2.cvtColor(pixels, cv2.COLOR_RGB2LAB)[0], float)
