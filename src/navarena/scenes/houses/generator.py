"""From a seed to a furnished, lit house."""

import hashlib
from dataclasses import dataclass
from math import atan2

import numpy as np

from navarena.scenes.houses.draws import Draws
from navarena.scenes.houses.footprints import walkable_surfaces
from navarena.scenes.houses.furnish import draw_looks, draw_style, furnish
from navarena.scenes.houses.layout import draw_layout
from navarena.scenes.houses.light import bake_light, smooth_diagonals
from navarena.scenes.houses.looks import COLORS, FINISHES, Look
from navarena.scenes.houses.mesh import HouseMesh, MeshBuilder, Thing
from navarena.scenes.houses.openings import draw_openings
from navarena.scenes.houses.plan import FloorPlan
from navarena.scenes.houses.programme import draw_programme
from navarena.scenes.houses.reachability import remove_blockers
from navarena.scenes.houses.settings import HouseSettings
from navarena.scenes.houses.space import Placement
from navarena.scenes.houses.structure import build_structure
from navarena.scenes.houses.textures import base_tile
from navarena.scenes.scene import Material, Room, Scene, SceneObject

GENERATOR = "houses-v0"
"""First word of every stream's name: another version draws other houses."""

USUAL_SETTINGS = HouseSettings()

NOT_SHADING = frozenset(
    {
        "picture",
        "mirror",
        "clock",
        "towel",
        "toilet_paper",
        "wall_shelf",
        "coat_hooks",
        "curtains",
        "ceiling_lamp",
    }
)
"""Families too shallow (or too bright) to darken what is behind them."""


@dataclass(frozen=True)
class HousePlan:
    """A house before it becomes triangles: everything in it is a whole number of millimetres."""

    plan: FloorPlan
    placements: tuple[Placement, ...]

    def digest(self) -> str:
        """SHA-256 (hex) over all its whole numbers and names: equal on every machine."""
        return hashlib.sha256(repr((self.plan, self.placements)).encode()).hexdigest()


def draw_house(seed: int, settings: HouseSettings) -> HousePlan:
    """Rooms, openings and furniture of the house with this seed."""
    draws = Draws(GENERATOR, seed)
    plan = draw_plan(draws, settings)
    style = draw_style(draws.branch("style"))
    if not settings.furnished:
        return HousePlan(plan, ())
    placements, _ = furnish(draws.branch("furniture"), plan, style, settings)
    return HousePlan(plan, tuple(remove_blockers(plan, placements)))


def draw_plan(draws: Draws, settings: HouseSettings) -> FloorPlan:
    """The floor plan alone."""
    wishes = draw_programme(draws.branch("programme"), settings.rooms)
    rooms = draw_layout(draws.branch("layout"), wishes)
    openings = draw_openings(draws.branch("openings"), rooms)
    return FloorPlan(tuple(rooms), openings, draws.branch("height").integer(2480, 2800, 20))


def build_house(seed: int, settings: HouseSettings = USUAL_SETTINGS, scene_id: str = "") -> Scene:
    """The house with this seed: geometry, objects, rooms, exact floors, materials and baked light.

    Layout is drawn on an integer millimetre grid, so equal arguments give an equal house on every
    machine.

    Args:
        seed: any integer; see splits.house_seed for the seeds of the published splits.
        settings: number of rooms, clutter, density of the baked light.
        scene_id: stored in the scene; "house-<seed>" when empty.
    """
    house = draw_house(seed, settings)
    builder = MeshBuilder()
    draws = Draws(GENERATOR, seed)
    style = draw_style(draws.branch("style"))
    looks = draw_looks(draws.branch("looks"), house.plan, style)
    build_structure(builder, house.plan, looks, settings.light_spacing_mm)
    for placed in house.placements:
        shades = placed.family not in NOT_SHADING
        thing = Thing(placed.category, placed.room, placed.model.attributes, placed.at, placed.turn, shades)
        builder.add_thing(thing, placed.model)
    mesh = builder.build([-1 if thing.room is None else thing.room for thing in builder.things])
    light = bake_light(mesh, house.plan, house.placements)
    triangles, uv = smooth_diagonals(mesh, light)
    materials, textures = _materials(mesh.looks)
    return Scene(
        scene_id=scene_id or f"house-{seed}",
        vertices=(mesh.vertices / 1000).astype(np.float32),
        triangles=triangles,
        triangle_object=mesh.triangle_object,
        triangle_material=mesh.triangle_look,
        materials=materials,
        triangle_uv=uv,
        textures=textures,
        vertex_light=light,
        objects=_scene_objects(builder, mesh),
        rooms=_scene_rooms(house.plan),
        walkable=walkable_surfaces(house.plan, house.placements),
    )


def _materials(looks: tuple[Look, ...]) -> tuple[tuple[Material, ...], tuple[np.ndarray, ...]]:
    """Materials of the looks in use, and the tiles they need."""
    names = sorted({tile for look in looks if (tile := FINISHES[look.finish].texture) is not None})
    number = {name: k for k, name in enumerate(names)}
    materials = tuple(
        Material(
            f"{look.color} {look.finish}",
            COLORS[look.color],
            None if (tile := FINISHES[look.finish].texture) is None else number[tile],
        )
        for look in looks
    )
    return materials, tuple(base_tile(name) for name in names)


def _scene_objects(builder: MeshBuilder, mesh: HouseMesh) -> tuple[SceneObject, ...]:
    """Boxes in the frame of each thing, moved to the world."""
    objects = []
    for index, thing in enumerate(builder.things):
        middle = (mesh.thing_low[index] + mesh.thing_high[index]) / 2
        half = (mesh.thing_high[index] - mesh.thing_low[index]) / 2000
        cosine, sine = thing.turn.cosine / thing.turn.whole, thing.turn.sine / thing.turn.whole
        center = (
            (thing.at[0] + cosine * middle[0] + sine * middle[2]) / 1000,
            (thing.at[1] + middle[1]) / 1000,
            (thing.at[2] + cosine * middle[2] - sine * middle[0]) / 1000,
        )
        objects.append(
            SceneObject(
                object_id=index + 1,
                category=thing.category,
                center=tuple(float(value) for value in center),  # type: ignore[arg-type]
                half_size=tuple(float(value) for value in half),  # type: ignore[arg-type]
                yaw=atan2(sine, cosine),
                room=None if thing.room is None else thing.room + 1,
                attributes=thing.attributes,
            )
        )
    return tuple(objects)


def _scene_rooms(plan: FloorPlan) -> tuple[Room, ...]:
    rooms = []
    for index, room in enumerate(plan.rooms):
        floor = room.floor
        corners = ((floor.x0, floor.z0), (floor.x1, floor.z0), (floor.x1, floor.z1), (floor.x0, floor.z1))
        polygon = tuple((x / 1000, z / 1000) for x, z in corners)
        rooms.append(Room(index + 1, room.category, polygon, room.level, 0.0, plan.ceiling / 1000))
    return tuple(rooms)
