"""Placement of groups: an anchor and the furniture around it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from navarena.scenes.houses.furnishing.arranger import Arranger
from navarena.scenes.houses.furnishing.free_space import Placement, against_wall, distance_from, turned_rect
from navarena.scenes.houses.furnishing.room_groups import Follower, Group
from navarena.scenes.houses.furniture.catalog import FAMILIES
from navarena.scenes.houses.plan.floor_plan import INWARD_TURNS, Rect
from navarena.scenes.houses.solids.models import QUARTERS, SLIGHT_TURNS

LEG_MM = 80
"""Chairs keep clear of the legs at the ends of a table."""


def order_groups(groups: Sequence[Group], present: Sequence[str], area: int) -> list[Group]:
    """The groups that a room of `area` square millimetres, in a house with rooms `present`, may have."""
    return [
        group
        for group in groups
        if area // 10_000 >= group.min_dm2 and not any(name in present for name in group.without)
    ]


def add_group(arranger: Arranger, group: Group) -> None:
    """Place a group's anchor and followers; nothing when the anchor does not fit."""
    families = [name for name in group.families if arranger.resolve(name) is not None]
    index = None
    for family in arranger.draws.shuffled(families)[:2]:
        index = arranger.place(family, group.align)
        if index is not None:
            break
    if index is None:
        return
    members = {family: [index]}
    members[""] = [index]
    for follower in group.followers:
        added = []
        for anchor in list(members.get(follower.of, ())):
            added += _follow(arranger, follower, anchor)
        members.setdefault(follower.family, []).extend(added)
    for name, indices in members.items():
        if name:
            for k in indices:
                arranger.fill_surfaces(k)


def add_missing(arranger: Arranger) -> None:
    """Place objects for the room's unmet needs where they fit."""
    for need in arranger.missing_needs():
        places: list[tuple[str, Callable[[str], int | None]]]
        places = [(family, arranger.place) for family in need.families]
        places += [(family, arranger.stand_free) for family in need.families if need.anywhere]
        for family, place in places:
            index = place(family)
            if index is not None:
                arranger.fill_surfaces(index)
                break


def _follow(arranger: Arranger, follower: Follower, anchor: int) -> list[int]:
    """Place `follower` at the object with index `anchor`; returns indices."""
    family = arranger.resolve(follower.family)
    if family is None:
        return []
    follower = replace(follower, family=family)
    if follower.relation == "around":
        return _around(arranger, follower, anchor)
    found = []
    for _ in range(follower.max_count):
        if arranger.draws.chance(follower.percent):
            index = RELATIONS[follower.relation](arranger, follower, anchor)
            if index is not None:
                found.append(index)
    return found


def _on(arranger: Arranger, follower: Follower, anchor: int) -> int | None:
    """Placement on the middle of the anchor."""
    return arranger.put_on(follower.family, anchor, centered=True)


def _beside(arranger: Arranger, follower: Follower, anchor: int) -> int | None:
    """Left or right of the anchor, backs in line."""
    own, model = arranger.placed[anchor].model.rect, arranger.build(follower.family)
    for sign in arranger.draws.shuffled((-1, 1)):
        x = sign * (own.width // 2 + follower.gap + model.rect.width // 2)
        z = own.z1 - model.rect.z1
        pose = (arranger.relative(anchor, x, z), arranger.placed[anchor].turn)
        index = arranger.attempt(follower.family, model, pose, arranger.sides.get(anchor))
        if index is not None:
            return index
    return None


def _front(arranger: Arranger, follower: Follower, anchor: int) -> int | None:
    """Before the anchor, facing it."""
    own, model = arranger.placed[anchor].model.rect, arranger.build(follower.family)
    z = own.z0 - follower.gap + model.rect.z0
    turn = arranger.placed[anchor].turn.then_quarter(2)
    x = 0
    if arranger.placed[anchor].family == "desk":
        x = arranger.placed[anchor].model.surfaces[0].at[0]
    pose = (arranger.relative(anchor, x, z), turn)
    if follower.gap >= 0:
        return arranger.attempt(follower.family, model, pose, None)
    clear = own.z0 + model.rect.z0
    probe = (arranger.relative(anchor, x, clear), turn)
    rect = Placement(follower.family, "", model, *probe, arranger.space.room).rect
    if not arranger.space.is_free(rect, 0, model.high, ignore_clearance=True):
        return None
    return arranger.commit(follower.family, model, pose)


def _facing(arranger: Arranger, follower: Follower, anchor: int) -> int | None:
    """Across the room, towards the anchor: at the far wall if that is near enough, else free-standing."""
    base, model = arranger.placed[anchor], arranger.build(follower.family)
    side = arranger.sides.get(anchor)
    if side is None:
        return None
    far_side = (side + 2) % 4
    reach = distance_from(arranger.space.floor, far_side, base.rect)
    free = reach - base.rect.width * (side % 2) - base.rect.depth * (1 - side % 2) - model.rect.depth
    gaps = [free - 20] if 1400 <= free <= 3400 else []
    gaps += [gap for gap in (2800, 2500, 2200, 1900, 1600) if gap <= free - 750]
    turn = base.turn.then_quarter(2)
    for gap in gaps:
        for shift in (0, -300, 300, -600, 600):
            z = base.model.rect.z0 - gap + model.rect.z0
            pose = (arranger.relative(anchor, shift, z), turn)
            index = arranger.attempt(follower.family, model, pose, far_side if gap == free - 20 else None)
            if index is not None:
                return index
    return None


def _flank(arranger: Arranger, follower: Follower, anchor: int) -> int | None:
    """Placement at one end of the anchor, facing across it."""
    own, model = arranger.placed[anchor].model.rect, arranger.build(follower.family)
    for sign in arranger.draws.shuffled((-1, 1)):
        x = sign * (own.width // 2 + follower.gap - model.rect.z0)
        turn = arranger.placed[anchor].turn.then_quarter(1 if sign > 0 else 3)
        for shift in (0, -150, 150):
            index = arranger.attempt(
                follower.family, model, (arranger.relative(anchor, x, shift), turn), None
            )
            if index is not None:
                return index
    return None


def _under(arranger: Arranger, follower: Follower, anchor: int) -> int | None:
    """A rug below the anchor and the floor around it; it must lie wholly inside the room."""
    base = arranger.placed[anchor]
    own = base.model.rect
    spread = 420 if base.family in ("coffee_table", "dining_table") else 300
    rug, width, depth = FAMILIES["rug"], own.width + 2 * spread, own.depth + 2 * spread
    model = rug.build(arranger.style, width=width, depth=depth)
    if base.family == "bed":
        model = rug.build(arranger.style, width=own.width + 900, depth=1400)
    z = own.z0 + 500 if base.family == "bed" else 0
    pose = (arranger.relative(anchor, 0, z), base.turn)
    rect = Placement("rug", "", model, *pose, arranger.space.room).rect
    if not arranger.space.has_floor(rect, 30) or any(
        placed.family == "rug" and placed.rect.overlaps(rect) for placed in arranger.placed
    ):
        return None
    return arranger.commit("rug", model, pose)


def _above(arranger: Arranger, follower: Follower, anchor: int) -> int | None:
    """Placement on the wall above the anchor."""
    side = arranger.sides.get(anchor)
    if side is None:
        return None
    base, model = arranger.placed[anchor], arranger.build(follower.family)
    carried = max((p.high for p in arranger.placed if p.parent == anchor), default=0)
    height = max(FAMILIES[follower.family].hung_at, base.high + 120, carried + 60)
    start, end = base.rect.span(side)
    own = turned_rect(model.rect, QUARTERS[INWARD_TURNS[side]])
    first = (start + end) // 2 - (own.width if side % 2 == 0 else own.depth) // 2
    depth = own.depth if side % 2 == 0 else own.width
    last = first + (own.width if side % 2 == 0 else own.depth)
    if height + model.high > arranger.space.ceiling - 60:
        return None
    spans = arranger.space.wall_intervals(side, depth, height, height + model.high)
    if not any(a <= first and last <= b for a, b in spans):
        return None
    return arranger.commit(
        follower.family, model, against_wall(arranger.space.floor, side, first, model, height, 1), side
    )


def _around(arranger: Arranger, follower: Follower, anchor: int) -> list[int]:
    """Chairs on all sides of a table, all of one kind."""
    base = arranger.placed[anchor]
    own, model = base.model.rect, arranger.build(follower.family)
    seats: list[tuple[int, int, int]] = []
    tuck = arranger.draws.integer(60, 180, 20)
    if base.model.attributes.get("shape") == "round":
        tuck = 40
    for quarter in range(4):
        length = own.width if quarter % 2 == 0 else own.depth
        reach = (own.depth if quarter % 2 == 0 else own.width) // 2
        number = max(1, (length - 160) // 560) if quarter % 2 == 0 else int(arranger.draws.chance(55))
        if length < 700:
            number = 0
        for k in range(number):
            along = (2 * k + 1 - number) * (length - 2 * LEG_MM) // (2 * max(number, 1))
            seats.append((quarter, along, reach - tuck - model.rect.z0))
    found = []
    for quarter, along, out in arranger.draws.shuffled(seats)[: follower.max_count]:
        x, z = QUARTERS[quarter].apply(along, out)
        turn = base.turn.then_quarter(quarter)
        if tuck <= 60 and arranger.draws.chance(30):
            turn = turn.then(arranger.draws.choose(SLIGHT_TURNS[:4]))
        pose = (arranger.relative(anchor, x, z), turn)
        rect = Placement("", "", model, *pose, arranger.space.room).rect
        if _seat_is_free(arranger, rect, base, model.high):
            found.append(arranger.commit(follower.family, model, pose))
    return found


def _seat_is_free(arranger: Arranger, rect: Rect, table: Placement, high: int) -> bool:
    """Whether a chair fits; it may reach below its own table."""
    others = [b for b in arranger.space.blocks if b.rect != table.rect]
    return (
        arranger.space.floor.grown(-80).contains(rect)
        and not any(b.low < high and b.rect.overlaps(rect) for b in others)
        and not any(zone.overlaps(rect) for zone in arranger.space.doors)
    )


RELATIONS: Mapping[str, Callable[[Arranger, Follower, int], int | None]] = {
    "on": _on,
    "beside": _beside,
    "front": _front,
    "facing": _facing,
    "under": _under,
    "flank": _flank,
    "above": _above,
}
"""How a single follower finds its place; "around" places several at once."""
