"""Placing single objects in one room: at walls, on the floor, on other objects."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf

from navarena.scenes.houses.furnishing.free_space import Placement, RoomSpace, against_wall, turned_rect
from navarena.scenes.houses.furniture.catalog import FAMILIES, STAND_INS, described
from navarena.scenes.houses.furniture.room_style import RoomStyle
from navarena.scenes.houses.plan.floor_plan import INWARD_TURNS, SIDES, Rect
from navarena.scenes.houses.random_draws import Draws
from navarena.scenes.houses.room_needs import ROOM_NEEDS, Need, missing_needs
from navarena.scenes.houses.settings import USUAL_CLUTTER
from navarena.scenes.houses.solids.models import QUARTERS, SLIGHT_TURNS, Model, Turn

SLIDE_MM = 10
TRIES = 5
"""Instances drawn of a family before giving up on it."""
TIGHT_PERCENT = 60
"""Of the floor that a family wants before or around it, which must do after half of TRIES."""
FRESH_TRIES = 4
"""Instances drawn of a family until the description of one is new to the house."""
FLOOR_TRIES = 20
PUT_TRIES = 10
FREE_MM = 300
"""Floor left free around what usually stands at a wall."""
FLOOR_MARGIN_MM = 60
"""Least floor left free around what stands in the middle of a room."""


Description = tuple[str, tuple[tuple[str, str], ...]]
"""Category and attributes."""


@dataclass
class Arranger:
    """Fills one room.

    Attributes:
        space: what is free.
        draws: stream of the room.
        style: colours and materials of the room.
        clutter: percent of small objects.
        placed: result so far; `parent` fields index into it.
        sides: side at whose wall a placement stands, by index.
        without: categories that the house does without.
        known: descriptions of everything placed so far, in this room and those before it.
        needs: what rooms need, by their kind.
        pick_model: gives the instances of a family where they are not drawn but chosen from a list.
    """

    space: RoomSpace
    draws: Draws
    style: RoomStyle
    clutter: int
    placed: list[Placement] = field(default_factory=list)
    sides: dict[int, int] = field(default_factory=dict)
    without: frozenset[str] = frozenset()
    known: set[Description] = field(default_factory=set)
    needs: Mapping[str, Sequence[Need]] = field(default_factory=lambda: ROOM_NEEDS)
    pick_model: Callable[[str], Model] | None = None

    def resolve(self, family: str) -> str | None:
        """The family, its substitute, or None, by the categories that the house leaves out."""
        name: str | None = family
        while name is not None and FAMILIES[name].category in self.without:
            name = STAND_INS.get(name)
        return name

    def build(self, family: str) -> Model:
        """Draw an instance of a family unlike those placed before in its description, if one comes up."""
        if self.pick_model is not None:
            return self.pick_model(family)
        kind = FAMILIES[family]
        for _ in range(FRESH_TRIES):
            model = described(family, kind.build(self.style))
            if _description(kind.category, model) not in self.known:
                break
        return model

    def has_any(self, families: Sequence[str]) -> bool:
        """Whether the room contains one of `families`."""
        return any(placed.family in families for placed in self.placed)

    def missing_needs(self) -> list[Need]:
        """Needs of the room's use that its objects do not meet."""
        found = {placed.category for placed in self.placed}
        return missing_needs(self.needs.get(self.space.category, ()), found)

    def commit(
        self,
        family: str,
        model: Model,
        pose: tuple[tuple[int, int, int], Turn],
        side: int | None = None,
        parent: int = -1,
        category: str = "",
    ) -> int:
        """Add a placement, occupy its floor, and put small objects on it; returns its index."""
        kind = FAMILIES.get(family)
        category = category or (kind.category if kind else family)
        model = described(family, model)
        self.known.add(_description(category, model))
        placement = Placement(family, category, model, pose[0], pose[1], self.space.room, parent)
        self.placed.append(placement)
        index = len(self.placed) - 1
        if side is not None:
            self.sides[index] = side
        if parent < 0 and model.high > 20:
            self.space.take(placement, kind.clearance if kind else 0, side)
        return index

    def place(self, family: str, align: str = "any") -> int | None:
        """Place one object by its family's own rule; None when nothing is free."""
        resolved = self.resolve(family)
        if resolved is None:
            return None
        family, kind = resolved, FAMILIES[resolved]
        for attempt in range(TRIES):
            model = self.build(family)
            clearance = kind.clearance if attempt < TRIES // 2 else kind.clearance * TIGHT_PERCENT // 100
            if kind.stands in ("wall", "corner"):
                align = "end" if kind.stands == "corner" else align
                index = self._at_wall(family, model, align, 0, clearance)
            elif kind.stands == "hung":
                index = self._at_wall(family, model, align, kind.hung_at, 0)
            else:
                index = self._on_floor(family, model, clearance)
            if index is not None:
                return index
        return None

    def _at_wall(self, family: str, model: Model, align: str, height: int, clearance: int) -> int | None:
        """Against any wall; hung when `height` is not zero."""
        spots: list[tuple[int, int, int]] = []
        low, high = height + model.low, height + model.high
        if high > self.space.ceiling - 30:
            return None
        for side in SIDES:
            own = turned_rect(model.rect, QUARTERS[INWARD_TURNS[side]])
            width, depth = (own.width, own.depth) if side % 2 == 0 else (own.depth, own.width)
            spots += [
                (side, a, b)
                for a, b in self.space.wall_intervals(side, depth, low, high, clearance)
                if b - a >= width
            ]
        for side, a, b in self.draws.shuffled(spots):
            own = turned_rect(model.rect, QUARTERS[INWARD_TURNS[side]])
            width = own.width if side % 2 == 0 else own.depth
            start = self._aligned(a, b - width, align)
            pose = against_wall(self.space.floor, side, start, model, height, 1 if height else 20)
            candidate = Placement(family, "", model, *pose, self.space.room)
            if height or self.space.is_free(candidate.rect, low, high):
                return self.commit(family, model, pose, side)
        return None

    def _aligned(self, first: int, last: int, align: str) -> int:
        """A coordinate in [first, last]: in the middle, at an end, or anywhere."""
        if align == "middle":
            return (first + last) // 2
        if align == "end" or self.draws.chance(35):
            return self.draws.choose((first, last))
        return self.draws.integer(first, last, SLIDE_MM)

    def _on_floor(self, family: str, model: Model, clearance: int = 0) -> int | None:
        """Anywhere in the room, keeping `clearance` on all sides.

        Of some places, what needs floor around it takes the one farthest from other objects; what needs none
        stands or lies beside something, or at a wall, rather than in the middle of the room.
        """
        margin = max(FLOOR_MARGIN_MM, clearance)
        best, most = None, -inf
        for _ in range(FLOOR_TRIES):
            turn = self.draws.choose(QUARTERS)
            own = turned_rect(model.rect, turn)
            floor = self.space.floor.grown(-margin)
            if own.width > floor.width or own.depth > floor.depth:
                continue
            x = self.draws.integer(floor.x0 - own.x0, floor.x1 - own.x1, SLIDE_MM)
            z = self.draws.integer(floor.z0 - own.z0, floor.z1 - own.z1, SLIDE_MM)
            rect = Rect(own.x0 + x, own.z0 + z, own.x1 + x, own.z1 + z)
            if not self.space.is_free(rect.grown(margin), 0, max(model.high, 100)):
                continue
            nearest = min((_apart(rect, block.rect) for block in self.space.blocks), default=0)
            merit = nearest if clearance else -min(nearest, _to_wall(rect, self.space.floor))
            if merit > most:
                best, most = ((x, 0, z), turn), merit
        return None if best is None else self.commit(family, model, best)

    def _lying_turn(self, attempt: int) -> Turn:
        """Random yaw of a lying object; axis-aligned after a few failed attempts."""
        if attempt < PUT_TRIES // 2:
            return self.draws.choose(SLIGHT_TURNS)
        return QUARTERS[attempt % 2]

    def strew(self, family: str) -> int | None:
        """Leave something on the floor; None when it finds no place or the house does without it."""
        resolved = self.resolve(family)
        return None if resolved is None else self._on_floor(resolved, self.build(resolved))

    def stand_free(self, family: str) -> int | None:
        """Stand something away from walls and from all else; None when there is no such place."""
        resolved = self.resolve(family)
        return None if resolved is None else self._on_floor(resolved, self.build(resolved), FREE_MM)

    def attempt(
        self, family: str, model: Model, pose: tuple[tuple[int, int, int], Turn], side: int | None
    ) -> int | None:
        """Commit a pose on the floor if it is free; the index, or None."""
        rect = Placement(family, "", model, *pose, self.space.room).rect
        if self.space.is_free(rect, pose[0][1] + model.low, pose[0][1] + model.high, ignore_clearance=True):
            return self.commit(family, model, pose, side)
        return None

    def relative(self, anchor: int, x: int, z: int) -> tuple[int, int, int]:
        """World position of a point in the anchor's frame."""
        base = self.placed[anchor]
        dx, dz = base.turn.apply(x, z)
        return base.at[0] + dx, base.at[1], base.at[2] + dz

    def fill_surfaces(self, index: int) -> None:
        """Put small objects on a placement, as its family's row says."""
        placement = self.placed[index]
        kind = FAMILIES.get(placement.family)
        if kind is None or kind.carries is None:
            return
        most = -(-kind.carries.limit * max(self.clutter, USUAL_CLUTTER) // USUAL_CLUTTER)
        for number in range(len(placement.model.surfaces)):
            for _ in range(most):
                if self.draws.chance(kind.carries.percent * self.clutter // USUAL_CLUTTER):
                    self.put_on(self.draws.choose(kind.carries.families), index, number)

    def put_on(self, family: str, index: int, number: int = 0, centered: bool = False) -> int | None:
        """Put a small object on a free part of a placement's surface."""
        base, resolved = self.placed[index], self.resolve(family)
        if resolved is None or not base.model.surfaces:
            return None
        family, model = resolved, self.build(resolved)
        surface = base.model.surfaces[number]
        if model.high > surface.headroom:
            return None
        level = base.at[1] + surface.at[1]
        taken = [p.rect for p in self.placed if p.parent == index and p.at[1] == level]
        upright = FAMILIES[family].upright
        for attempt in range(PUT_TRIES):
            turn = base.turn if upright else base.turn.then(self._lying_turn(attempt))
            own = turned_rect(model.rect, turn.then(base.turn.inverse()))
            slack_x, slack_z = surface.width - own.width, surface.depth - own.depth
            if slack_x < 0 or slack_z < 0:
                continue
            x = 0 if centered and attempt == 0 else self.draws.integer(-slack_x // 2, slack_x // 2, 5)
            z = self.draws.integer(-slack_z // 2, slack_z // 2, 5)
            if family == "cushion":
                z = slack_z // 2
            elif centered:
                z = slack_z // 4
            position = self.relative(
                index, surface.at[0] + x - (own.x0 + own.x1) // 2, surface.at[2] + z - (own.z0 + own.z1) // 2
            )
            pose = ((position[0], base.at[1] + surface.at[1], position[2]), turn)
            rect = Placement(family, "", model, *pose, self.space.room).rect
            if self.space.is_below_nothing(rect, pose[0][1], pose[0][1] + model.high) and not any(
                rect.grown(8).overlaps(other) for other in taken
            ):
                return self.commit(family, model, pose, parent=index)
        return None


def _description(category: str, model: Model) -> Description:
    return category, tuple(sorted(model.attributes.items()))


def _apart(a: Rect, b: Rect) -> int:
    """Manhattan gap between two rectangles."""
    return max(0, a.x0 - b.x1, b.x0 - a.x1) + max(0, a.z0 - b.z1, b.z0 - a.z1)


def _to_wall(rect: Rect, floor: Rect) -> int:
    """Least gap between a rectangle and the walls around it."""
    return min(rect.x0 - floor.x0, floor.x1 - rect.x1, rect.z0 - floor.z0, floor.z1 - rect.z1)
