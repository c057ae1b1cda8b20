"""Apartments like RoboTHOR's: one outer size, movable panels, 12 targets, and a twin of each."""

from navarena.scenes.apartments.apartment_sets import (
    APARTMENT_SPLITS,
    INSTANCE_SPLITS,
    TWIN_CORRUPTIONS,
    apartment_number,
)
from navarena.scenes.twin_ids import original_of, twin_of

__all__ = [
    "APARTMENT_SPLITS",
    "INSTANCE_SPLITS",
    "TWIN_CORRUPTIONS",
    "apartment_number",
    "original_of",
    "twin_of",
]
