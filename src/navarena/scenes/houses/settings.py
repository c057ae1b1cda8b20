"""What can be asked of the house generator."""

from dataclasses import dataclass

from navarena.core.errors import InputError

MAX_ROOMS = 12


@dataclass(frozen=True)
class HouseSettings:
    """How a house is drawn.

    Attributes:
        rooms: number of rooms, corridor included, 1 to 12; None draws it (mostly 4 to 9).
        clutter_percent: how many of the small things a furnished home could hold are there, 0 to 100.
        light_spacing_mm: distance of the vertices at which light is baked on floors, walls and ceilings.
        furnished: False leaves the rooms empty (structure, doors and windows only).

    Raises InputError for a value outside its range.
    """

    rooms: int | None = None
    clutter_percent: int = 60
    light_spacing_mm: int = 500
    furnished: bool = True

    def __post_init__(self) -> None:
        if self.rooms is not None and not 1 <= self.rooms <= MAX_ROOMS:
            raise InputError(f"expected rooms in [1, {MAX_ROOMS}] or None, got rooms={self.rooms}")
        if not 0 <= self.clutter_percent <= 100:
            raise InputError(f"expected clutter_percent in [0, 100], got {self.clutter_percent}")
        if not 100 <= self.light_spacing_mm <= 2000:
            raise InputError(f"expected light_spacing_mm in [100, 2000], got {self.light_spacing_mm}")
