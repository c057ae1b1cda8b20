"""Apartments like RoboTHOR's: one outer size, movable panels, 12 targets, and a twin of each."""

from navarena.scenes.apartments.generator import build_apartment, build_twin, draw_apartment, draw_twin
from navarena.scenes.apartments.splits import (
    APARTMENT_SPLITS,
    INSTANCE_SPLITS,
    TWIN_CORRUPTIONS,
    apartment_number,
    original_of,
    twin_of,
)

__all__ = [
    "APARTMENT_SPLITS",
    "INSTANCE_SPLITS",
    "TWIN_CORRUPTIONS",
    "apartment_number",
    "build_apartment",
    "build_twin",
    "draw_apartment",
    "draw_twin",
    "original_of",
    "twin_of",
]
