"""Switchback stairs between storeys: position, geometry and walkable surface.

A switchback fills the end of a room: from the landing one flight leads up to a half-landing at
the far wall, and the other flight back to the landing of the next storey. The stairs of higher
storeys stand above it. In the plan of a flight, "along" runs from the landing to the far wall.
"""

from dataclasses import dataclass

from navarena.scenes.houses.appearance.finishes import Look
from navarena.scenes.houses.plan.floor_plan import EAST, NORTH, SLAB_MM, SOUTH, WEST, FloorPlan, Rect
from navarena.scenes.houses.solids.models import Model, Part
from navarena.scenes.houses.solids.shapes import BOX
from navarena.scenes.scene import WalkableSurface

RISERS = 8
"""Of one flight; with 2.74 to 3.06 m between floors each is 171 to 191 mm high."""

GOING_MM = 270
"""Depth of a tread."""

HALF_LANDING_MM = 1000
LANDING_MM = 1000
"""Least depth of the landing; what the room has more is added to it."""

GAP_MM = 100
"""Between the two flights; the parapet stands in it."""

FLIGHT_MM = 1000
"""Least width of a flight."""

RUN_MM = (RISERS - 1) * GOING_MM
DEEP_MM = LANDING_MM + RUN_MM + HALF_LANDING_MM
WIDE_MM = 2 * FLIGHT_MM + GAP_MM
PARAPET_MM = 900
PARAPET_THICK_MM = 60
CAP_MM = 40
SOFFIT_MM = 60
"""Thickness of a flight below the inner corners of its steps."""


@dataclass(frozen=True)
class Stairs:
    """A switchback from one storey to the next.

    Attributes:
        room: index of its room on the lower storey.
        floor: inner outline of that room.
        side: the side where the landing is.
        first_low: whether the first flight is the one at the low coordinates along `side`.
        rise: between the two floors, millimetres.
        closed: whether the space below the flights is filled in, as on the ground floor.
        is_last: whether no further flight stands above.
    """

    room: int
    floor: Rect
    side: int
    first_low: bool
    rise: int
    closed: bool
    is_last: bool

    @property
    def well(self) -> Rect:
        """Flights and half-landing, seen from above."""
        return self._band(0, self._width, 0, RUN_MM + HALF_LANDING_MM)

    @property
    def half_landing(self) -> Rect:
        """The half-landing, seen from above."""
        return self._band(0, self._width, RUN_MM, RUN_MM + HALF_LANDING_MM)

    @property
    def flights(self) -> tuple[Rect, Rect]:
        """The first and the second flight, seen from above."""
        each = self._flight_width
        low, high = self._band(0, each, 0, RUN_MM), self._band(self._width - each, self._width, 0, RUN_MM)
        return (low, high) if self.first_low else (high, low)

    @property
    def _width(self) -> int:
        start, end = self.floor.span(self.side)
        return end - start

    @property
    def _flight_width(self) -> int:
        return (self._width - GAP_MM) // 2

    def _band(self, start: int, end: int, near: int, far: int) -> Rect:
        """Over [start, end] along the side, from `near` to `far` beyond the landing."""
        first = self.floor.span(self.side)[0]
        depth = self.floor.depth if self.side in (NORTH, SOUTH) else self.floor.width
        edge = depth - RUN_MM - HALF_LANDING_MM
        return self.floor.band(self.side, first + start, first + end, edge + near, edge + far)

    def surfaces(self, base: int, level: int) -> list[WalkableSurface]:
        """The flights as ramps and the half-landing between them, for a lower floor at `base` millimetres.

        Their borders coincide with each other's and with the landings', heights included.
        """
        first, second = self.flights
        middle = base + self.rise / 2
        return [
            _ramp(first, self.side, base, middle, level),
            _surface(self.half_landing, (0.0, 0.0, middle / 1000), level),
            _ramp(second, self.side, base + self.rise, middle, level),
        ]

    def model(self, tread: Look, wall: Look) -> Model:
        """Steps, half-landing and parapets in the frame of the lower storey."""
        parts = self._flight_parts(0, tread) + self._flight_parts(1, tread)
        half = self.rise // 2
        low = 0 if self.closed else half - 200
        parts.append(_box(self.half_landing, low, half, tread))
        parts += self._parapet_parts(wall, tread)
        edge = self._band(0, self._width, -12, 0)
        parts.append(_box(edge, self.rise - SLAB_MM, self.rise - 2, wall))
        attributes = {"material": tread.material, "color": tread.color, "shape": "switchback"}
        return Model(tuple(parts), (), attributes)

    def _tread(self, flight: int, step: int) -> tuple[int, int, int]:
        """(near, far, height) of step 1, 2, ... RISERS - 1 of a flight."""
        if flight == 0:
            return (step - 1) * GOING_MM, step * GOING_MM, self.rise * step // (2 * RISERS)
        height = self.rise * (RISERS + step) // (2 * RISERS)
        return RUN_MM - step * GOING_MM, RUN_MM - (step - 1) * GOING_MM, height

    def _flight_parts(self, flight: int, look: Look) -> list[Part]:
        """A box for each step, down to the ground or to the underside of the flight."""
        first = self._flight_width if (flight == 0) != self.first_low else 0
        first += GAP_MM if first else 0
        riser = self.rise // (2 * RISERS)
        parts = []
        for step in range(1, RISERS):
            near, far, height = self._tread(flight, step)
            low = 0 if self.closed else height - 2 * riser - SOFFIT_MM
            rect = self._band(first, first + self._flight_width, near, far)
            parts.append(_box(rect, low, height, look))
        return parts

    def _parapet_parts(self, wall: Look, cap: Look) -> list[Part]:
        """Along the second flight, and across the first one's void on the top storey."""
        middle = self._width // 2
        parts = []
        for step in range(1, RISERS):
            near, far, height = self._tread(1, step)
            rect = self._band(middle - PARAPET_THICK_MM // 2, middle + PARAPET_THICK_MM // 2, near, far)
            parts += _parapet(rect, height - 2 * self.rise // (2 * RISERS), height + PARAPET_MM, wall, cap)
        if self.is_last:
            start, end = (0, middle) if self.first_low else (middle, self._width)
            rect = self._band(start, end, 0, PARAPET_THICK_MM)
            parts += _parapet(rect, self.rise - SLAB_MM, self.rise + PARAPET_MM, wall, cap)
        return parts


def stairs_room(plan: FloorPlan) -> int | None:
    """Index of the room that holds the well of a storey."""
    if plan.well is None:
        return None
    return next(k for k, room in enumerate(plan.rooms) if room.floor.contains(plan.well))


def _parapet(rect: Rect, low: int, high: int, wall: Look, cap: Look) -> list[Part]:
    """A thin wall with a wooden cap."""
    return [_box(rect, low, high - CAP_MM, wall), _box(rect.grown(8), high - CAP_MM, high, cap)]


def _box(rect: Rect, low: int, high: int, look: Look) -> Part:
    x, z = rect.center
    return Part(BOX, look, (rect.width, high - low, rect.depth), (x, low, z))


def _ramp(flight: Rect, side: int, near: float, far: float, level: int) -> WalkableSurface:
    """A plane that rises from `near` (millimetres) at the landing to `far` at the half-landing."""
    slope = (far - near) / RUN_MM
    edge = {NORTH: flight.z0, SOUTH: flight.z1, WEST: flight.x0, EAST: flight.x1}[side]
    inward = slope if side in (NORTH, WEST) else -slope
    constant = (near - inward * edge) / 1000
    plane = (0.0, inward, constant) if side in (NORTH, SOUTH) else (inward, 0.0, constant)
    return _surface(flight, plane, level)


def _surface(rect: Rect, plane: tuple[float, float, float], level: int) -> WalkableSurface:
    corners = ((rect.x0, rect.z0), (rect.x0, rect.z1), (rect.x1, rect.z1), (rect.x1, rect.z0))
    return WalkableSurface(tuple((x / 1000, z / 1000) for x, z in corners), (), plane, (), level)
