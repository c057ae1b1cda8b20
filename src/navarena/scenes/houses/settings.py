"""Settings of the house generator."""

from collections.abc import Mapping
from dataclasses import dataclass

from navarena.core.errors import InputError

MAX_ROOMS = 12
USUAL_CLUTTER = 60
CLUTTER_LEVELS: Mapping[str, int] = {"bare": 0, "tidy": 25, "usual": USUAL_CLUTTER, "cluttered": 100}
"""Clutter percentages by name."""
CLUTTER_WEIGHTS: Mapping[str, int] = {"tidy": 25, "usual": 50, "cluttered": 25}
"""How often a house is tidy, usual or cluttered."""
USUAL_NARROWEST = 90
"""Percent; the narrowest toilets are then 0.95 m wide, bathrooms 1.62 m."""
MAX_STOREYS = 3
AREA_M2 = (40, 400)
"""Smallest and largest floor of a house, all storeys together."""


@dataclass(frozen=True)
class HouseSettings:
    """Settings of a house.

    Attributes:
        rooms: number of rooms, corridor included, 1 to 12, of a house with one storey; None draws it.
        storeys: 1 to 3; None draws it (1 when `rooms` is given).
        area_m2: smallest and largest floor of all storeys together, where `rooms` is None.
        clutter_percent: how many of the small objects a furnished home could hold are there,
            0 to 100; above 60 some lie on the floor. None draws one of CLUTTER_LEVELS, see CLUTTER_WEIGHTS.
        narrowest_percent: no room is narrower than this share of what its kind wants
            (RoomKind.min_width_mm), 0 to 95: houses with such a room are drawn again.
        light_spacing_mm: distance of the points at which light is baked on floors, walls and ceilings;
            vertices stay where the light is uneven.
        without: categories none of whose families may stand in the house, such as those that a benchmark
            keeps for houses never seen in training; something alike stands in for them where it can.
        furnished: False leaves the rooms empty (structure, doors, windows and stairs only).

    Raises InputError for a value outside its range.
    """

    rooms: int | None = None
    storeys: int | None = None
    area_m2: tuple[int, int] = AREA_M2
    clutter_percent: int | None = USUAL_CLUTTER
    narrowest_percent: int = USUAL_NARROWEST
    light_spacing_mm: int = 150
    furnished: bool = True
    without: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.rooms is not None and not 1 <= self.rooms <= MAX_ROOMS:
            raise InputError(f"expected rooms in [1, {MAX_ROOMS}] or None, got rooms={self.rooms}")
        if self.storeys is not None and not 1 <= self.storeys <= MAX_STOREYS:
            raise InputError(f"expected storeys in [1, {MAX_STOREYS}] or None, got storeys={self.storeys}")
        if self.rooms is not None and self.storeys not in (None, 1):
            raise InputError(
                f"expected storeys=1 where rooms is given, got rooms={self.rooms} and "
                f"storeys={self.storeys}; leave rooms out"
            )
        low, high = self.area_m2
        if not 0 <= low <= AREA_M2[1] or high < max(low + 60, 120):
            raise InputError(
                f"expected area_m2 (least, most) with least in [0, {AREA_M2[1]}] and most at least 120 and "
                f"60 above it, got {self.area_m2}"
            )
        if self.clutter_percent is not None and not 0 <= self.clutter_percent <= 100:
            raise InputError(f"expected clutter_percent in [0, 100] or None, got {self.clutter_percent}")
        if not 0 <= self.narrowest_percent <= 95:
            raise InputError(f"expected narrowest_percent in [0, 95], got {self.narrowest_percent}")
        if not 100 <= self.light_spacing_mm <= 2000:
            raise InputError(f"expected light_spacing_mm in [100, 2000], got {self.light_spacing_mm}")
