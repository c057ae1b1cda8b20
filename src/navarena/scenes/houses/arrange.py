"""Placing groups of things in one room."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from navarena.scenes.houses.draws import Draws
from navarena.scenes.houses.furniture.catalog import FAMILIES
from navarena.scenes.houses.furniture.decor import make_rug
from navarena.scenes.houses.furniture.taste import Taste
from navarena.scenes.houses.parts import QUARTERS, SLIGHT_TURNS, Model, Turn
from navarena.scenes.houses.plan import INWARD_TURNS, SIDES, Rect
from navarena.scenes.houses.recipes import Follower, Group
from navarena.scenes.houses.space import Placement, RoomSpace, against_wall, distance_from, turned_rect

SLIDE_MM = 10
TRIES = 5
"""Instances drawn of a family before giving up on it."""
SEAT_ROOM_MM = 480
"""Floor a seated person takes behind a table's edge."""


@dataclass
class Arranger:
    """Fills one room.

    Attributes:
        space: what is free.
        draws: stream of the room.
        taste: palette of the room.
        clutter: percent of small things.
        placed: result so far; `parent` fields index into it.
        sides: side at whose wall a placement stands, by index.
    """

    space: RoomSpace
    draws: Draws
    taste: Taste
    clutter: int
    placed: list[Placement] = field(default_factory=list)
    sides: dict[int, int] = field(default_factory=dict)

    def build(self, family: str) -> Model:
        """Draw one instance of a family."""
        return FAMILIES[family].build(self.taste)

    def has_any(self, families: Sequence[str]) -> bool:
        """Whether one of `families` stands in the room."""
        return any(placed.family in families for placed in self.placed)

    def commit(
        self,
        family: str,
        model: Model,
        pose: tuple[tuple[int, int, int], Turn],
        side: int | None = None,
        parent: int = -1,
        category: str = "",
    ) -> int:
        """Add a placement, mark what it takes, and let it carry its small things; returns its index."""
        kind = FAMILIES.get(family)
        category = category or (kind.category if kind else family)
        placement = Placement(family, category, model, pose[0], pose[1], self.space.room, parent)
        self.placed.append(placement)
        index = len(self.placed) - 1
        if side is not None:
            self.sides[index] = side
        if parent < 0 and model.high > 20:
            self.space.take(placement, kind.clearance if kind else 0, side)
        return index

    def add_group(self, group: Group) -> None:
        """Place a group's anchor and followers; nothing when the anchor does not fit."""
        family = self.draws.choose(group.families)
        index = self.place(family, group.align)
        if index is None and len(group.families) > 1:
            others = [name for name in group.families if name != family]
            family = self.draws.choose(others)
            index = self.place(family, group.align)
        if index is None:
            return
        members = {family: [index]}
        members[""] = [index]
        for follower in group.followers:
            added = []
            for anchor in list(members.get(follower.of, ())):
                added += self._follow(follower, anchor)
            members.setdefault(follower.family, []).extend(added)
        for name, indices in members.items():
            if name:
                for k in indices:
                    self.fill_surfaces(k)

    def place(self, family: str, align: str = "any") -> int | None:
        """Place one thing by its family's own rule; None when nothing is free."""
        kind = FAMILIES[family]
        for _ in range(TRIES):
            model = self.build(family)
            if kind.stands in ("wall", "corner"):
                align = "end" if kind.stands == "corner" else align
                index = self._at_wall(family, model, align, 0, kind.clearance)
            elif kind.stands == "hung":
                index = self._at_wall(family, model, align, kind.hung_at, 0)
            else:
                index = self._on_floor(family, model)
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

    def _on_floor(self, family: str, model: Model) -> int | None:
        """Anywhere in the room, keeping away from other things; tables leave room for chairs."""
        margin = SEAT_ROOM_MM if family == "dining_table" else 60
        best, widest = None, -1
        for _ in range(14):
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
            if nearest > widest:
                best, widest = ((x, 0, z), turn), nearest
        return None if best is None else self.commit(family, model, best)

    def _follow(self, follower: Follower, anchor: int) -> list[int]:
        relate: Mapping[str, Callable[[Follower, int], int | None]] = {
            "on": self._follow_on,
            "beside": self._follow_beside,
            "front": self._follow_front,
            "facing": self._follow_facing,
            "under": self._follow_under,
            "flank": self._follow_flank,
            "above": self._follow_above,
        }
        if follower.relation == "around":
            return self._follow_around(follower, anchor)
        found = []
        for _ in range(follower.most):
            if self.draws.chance(follower.percent):
                index = relate[follower.relation](follower, anchor)
                if index is not None:
                    found.append(index)
        return found

    def _try(
        self, family: str, model: Model, pose: tuple[tuple[int, int, int], Turn], side: int | None
    ) -> int | None:
        """Commit a pose on the floor if it is free."""
        rect = Placement(family, "", model, *pose, self.space.room).rect
        if self.space.is_free(rect, pose[0][1] + model.low, pose[0][1] + model.high, ignore_clearance=True):
            return self.commit(family, model, pose, side)
        return None

    def _relative(self, anchor: int, x: int, z: int) -> tuple[int, int, int]:
        """World position of a point in the anchor's frame."""
        base = self.placed[anchor]
        dx, dz = base.turn.apply(x, z)
        return base.at[0] + dx, base.at[1], base.at[2] + dz

    def _follow_on(self, follower: Follower, anchor: int) -> int | None:
        return self.put_on(follower.family, anchor, centered=True)

    def _follow_beside(self, follower: Follower, anchor: int) -> int | None:
        """Left or right of the anchor, backs in line."""
        own, model = self.placed[anchor].model.rect, self.build(follower.family)
        for sign in self.draws.shuffled((-1, 1)):
            x = sign * (own.width // 2 + follower.gap + model.rect.width // 2)
            z = own.z1 - model.rect.z1
            pose = (self._relative(anchor, x, z), self.placed[anchor].turn)
            index = self._try(follower.family, model, pose, self.sides.get(anchor))
            if index is not None:
                return index
        return None

    def _follow_front(self, follower: Follower, anchor: int) -> int | None:
        """Before the anchor, facing it."""
        own, model = self.placed[anchor].model.rect, self.build(follower.family)
        z = own.z0 - follower.gap + model.rect.z0
        turn = self.placed[anchor].turn.then_quarter(2)
        x = 0
        if follower.relation == "front" and self.placed[anchor].family == "desk":
            surface = self.placed[anchor].model.surfaces[0]
            x = surface.at[0]
        pose = (self._relative(anchor, x, z), turn)
        if follower.gap >= 0:
            return self._try(follower.family, model, pose, None)
        clear = own.z0 + model.rect.z0
        probe = (self._relative(anchor, x, clear), turn)
        rect = Placement(follower.family, "", model, *probe, self.space.room).rect
        if not self.space.is_free(rect, 0, model.high, ignore_clearance=True):
            return None
        return self.commit(follower.family, model, pose)

    def _follow_facing(self, follower: Follower, anchor: int) -> int | None:
        """Across the room, towards the anchor: at the far wall if that is near enough, else free-standing."""
        base, model = self.placed[anchor], self.build(follower.family)
        side = self.sides.get(anchor)
        if side is None:
            return None
        far_side = (side + 2) % 4
        reach = distance_from(self.space.floor, far_side, base.rect)
        free = reach - base.rect.width * (side % 2) - base.rect.depth * (1 - side % 2) - model.rect.depth
        gaps = [free - 20] if 1400 <= free <= 3400 else []
        gaps += [gap for gap in (2800, 2500, 2200, 1900, 1600) if gap <= free - 750]
        turn = base.turn.then_quarter(2)
        for gap in gaps:
            for shift in (0, -300, 300, -600, 600):
                z = base.model.rect.z0 - gap + model.rect.z0
                pose = (self._relative(anchor, shift, z), turn)
                index = self._try(follower.family, model, pose, far_side if gap == free - 20 else None)
                if index is not None:
                    return index
        return None

    def _follow_flank(self, follower: Follower, anchor: int) -> int | None:
        """At one end of the anchor, facing across it."""
        own, model = self.placed[anchor].model.rect, self.build(follower.family)
        for sign in self.draws.shuffled((-1, 1)):
            x = sign * (own.width // 2 + follower.gap - model.rect.z0)
            turn = self.placed[anchor].turn.then_quarter(1 if sign > 0 else 3)
            for shift in (0, -150, 150):
                index = self._try(follower.family, model, (self._relative(anchor, x, shift), turn), None)
                if index is not None:
                    return index
        return None

    def _follow_under(self, follower: Follower, anchor: int) -> int | None:
        """A rug below the anchor and the floor around it; it must lie wholly inside the room."""
        base = self.placed[anchor]
        own = base.model.rect
        spread = 420 if base.family in ("coffee_table", "dining_table") else 300
        model = make_rug(self.taste, own.width + 2 * spread, own.depth + 2 * spread)
        if base.family == "bed":
            model = make_rug(self.taste, own.width + 900, 1400)
        z = own.z0 + 500 if base.family == "bed" else 0
        pose = (self._relative(anchor, 0, z), base.turn)
        rect = Placement("rug", "", model, *pose, self.space.room).rect
        if not self.space.floor.grown(-30).contains(rect) or any(
            placed.family == "rug" and placed.rect.overlaps(rect) for placed in self.placed
        ):
            return None
        return self.commit("rug", model, pose)

    def _follow_above(self, follower: Follower, anchor: int) -> int | None:
        """On the wall above the anchor."""
        side = self.sides.get(anchor)
        if side is None:
            return None
        base, model = self.placed[anchor], self.build(follower.family)
        height = max(FAMILIES[follower.family].hung_at, base.high + 120)
        top = max((p.high for p in self.placed if p.parent == anchor), default=0)
        height = max(height, top + 60)
        start, end = base.rect.span(side)
        own = turned_rect(model.rect, QUARTERS[INWARD_TURNS[side]])
        first = (start + end) // 2 - (own.width if side % 2 == 0 else own.depth) // 2
        depth = own.depth if side % 2 == 0 else own.width
        last = first + (own.width if side % 2 == 0 else own.depth)
        if height + model.high > self.space.ceiling - 60:
            return None
        spans = self.space.wall_intervals(side, depth, height, height + model.high)
        if not any(a <= first and last <= b for a, b in spans):
            return None
        return self.commit(
            follower.family, model, against_wall(self.space.floor, side, first, model, height, 1), side
        )

    def _follow_around(self, follower: Follower, anchor: int) -> list[int]:
        """Chairs on all sides of a table, all of one kind."""
        base = self.placed[anchor]
        own, model = base.model.rect, self.build(follower.family)
        seats: list[tuple[int, int, int]] = []
        tuck = self.draws.integer(60, 180, 20)
        if base.model.attributes.get("shape") == "round":
            tuck = 40
        for quarter in range(4):
            length = own.width if quarter % 2 == 0 else own.depth
            reach = (own.depth if quarter % 2 == 0 else own.width) // 2
            number = max(1, (length - 160) // 560) if quarter % 2 == 0 else int(self.draws.chance(55))
            if length < 700:
                number = 0
            for k in range(number):
                along = (2 * k + 1 - number) * length // (2 * max(number, 1))
                seats.append((quarter, along, reach - tuck - model.rect.z0))
        found = []
        for quarter, along, out in self.draws.shuffled(seats)[: follower.most]:
            x, z = QUARTERS[quarter].apply(along, out)
            turn = base.turn.then_quarter(quarter)
            if tuck <= 60 and self.draws.chance(30):
                turn = turn.then(self.draws.choose(SLIGHT_TURNS[:4]))
            pose = (self._relative(anchor, x, z), turn)
            rect = Placement("", "", model, *pose, self.space.room).rect
            if self._seat_is_free(rect, base, model.high):
                found.append(self.commit(follower.family, model, pose))
        return found

    def _seat_is_free(self, rect: Rect, table: Placement, high: int) -> bool:
        """Whether a chair fits; it may reach below its own table."""
        others = [b for b in self.space.blocks if b.rect != table.rect]
        return (
            self.space.floor.grown(-80).contains(rect)
            and not any(b.low < high and b.rect.overlaps(rect) for b in others)
            and not any(zone.overlaps(rect) for zone in self.space.doors)
        )

    def fill_surfaces(self, index: int) -> None:
        """Put small things on a placement, as its family's row says."""
        placement = self.placed[index]
        kind = FAMILIES.get(placement.family)
        if kind is None or kind.carries is None:
            return
        for number in range(len(placement.model.surfaces)):
            for _ in range(kind.carries.most):
                if self.draws.chance(kind.carries.percent * self.clutter // 60):
                    self.put_on(self.draws.choose(kind.carries.families), index, number)

    def put_on(self, family: str, index: int, number: int = 0, centered: bool = False) -> int | None:
        """Stand a small thing on a surface of a placement, beside what is there already."""
        base, model = self.placed[index], self.build(family)
        if not base.model.surfaces:
            return None
        surface = base.model.surfaces[number]
        if model.high > surface.headroom:
            return None
        taken = [p.rect for p in self.placed if p.parent == index]
        upright = FAMILIES[family].upright
        for attempt in range(8):
            turn = base.turn if upright else base.turn.then(self.draws.choose(SLIGHT_TURNS))
            own = turned_rect(model.rect, turn.then(base.turn.inverse()))
            slack_x, slack_z = surface.width - own.width, surface.depth - own.depth
            if slack_x < 0 or slack_z < 0:
                return None
            x = 0 if centered and attempt == 0 else self.draws.integer(-slack_x // 2, slack_x // 2, 5)
            z = self.draws.integer(-slack_z // 2, slack_z // 2, 5)
            if family == "cushion":
                z = slack_z // 2
            elif centered:
                z = slack_z // 4
            position = self._relative(
                index, surface.at[0] + x - (own.x0 + own.x1) // 2, surface.at[2] + z - (own.z0 + own.z1) // 2
            )
            pose = ((position[0], base.at[1] + surface.at[1], position[2]), turn)
            rect = Placement(family, "", model, *pose, self.space.room).rect
            if not any(rect.grown(8).overlaps(other) for other in taken):
                return self.commit(family, model, pose, parent=index)
        return None


def _apart(a: Rect, b: Rect) -> int:
    """Manhattan gap between two rectangles."""
    return max(0, a.x0 - b.x1, b.x0 - a.x1) + max(0, a.z0 - b.z1, b.z0 - a.z1)


def order_groups(groups: Sequence[Group], present: Sequence[str], floor: Rect) -> list[Group]:
    """The groups that a room of this size, in a house with these rooms, may have."""
    area = floor.area // 10_000
    return [
        group
        for group in groups
        if area >= group.least_dm2 and not any(name in present for name in group.without)
    ]
