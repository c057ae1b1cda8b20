"""From a storey to lit triangles, and from storeys to one mesh."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Float32, Int32

from navarena.scenes.houses.appearance.baked_light import bake_light, smooth_diagonals
from navarena.scenes.houses.appearance.finishes import Look
from navarena.scenes.houses.furniture.catalog import is_flat
from navarena.scenes.houses.plan.house_plan import HousePlan
from navarena.scenes.houses.solids.mesh_builder import HouseMesh, MeshBuilder, Thing
from navarena.scenes.houses.structure.rooms import RoomLooks, build_structure


@dataclass(frozen=True)
class LitStorey:
    """The triangles of one storey above its own floor, and the things they belong to."""

    mesh: HouseMesh
    things: tuple[Thing, ...]
    triangles: Int32[np.ndarray, "t 3"]
    uv: Float32[np.ndarray, "t 3 2"]
    light: Float32[np.ndarray, "v"]


@dataclass(frozen=True)
class LitHouse:
    """All storeys together; arrays as in Scene, vertices in millimetres above the ground floor.

    Attributes:
        looks: distinct looks; triangle_look are indices into them.
    """

    vertices: Float[np.ndarray, "v 3"]
    triangles: Int32[np.ndarray, "t 3"]
    triangle_object: Int32[np.ndarray, "t"]
    triangle_look: Int32[np.ndarray, "t"]
    uv: Float32[np.ndarray, "t 3 2"]
    light: Float32[np.ndarray, "v"]
    looks: tuple[Look, ...]


def light_storey(
    house: HousePlan, level: int, looks: Sequence[RoomLooks], tread: Look, spacing: int
) -> LitStorey:
    """Structure, furniture and the stairs to the next storey; `looks` by room, `spacing` in millimetres."""
    storey, builder = house.storeys[level], MeshBuilder()
    build_structure(builder, storey.plan, looks, spacing)
    for placed in storey.placements:
        shades = not is_flat(placed.family, placed.model)
        thing = Thing(placed.category, placed.room, placed.model.attributes, placed.at, placed.turn, shades)
        builder.add_thing(thing, placed.model)
    if level < len(house.stairs):
        stairs = house.stairs[level]
        model = stairs.model(tread, looks[stairs.room].wall)
        # Steps would darken each other: what they lie on is a ramp to the light.
        builder.add_thing(Thing("stairs", stairs.room, model.attributes, shades=False), model)
    mesh = builder.build([-1 if thing.room is None else thing.room for thing in builder.things])
    light = bake_light(mesh, storey.plan, storey.placements)
    triangles, uv = smooth_diagonals(mesh, light)
    return LitStorey(mesh, tuple(builder.things), triangles, uv, light)


def join_storeys(storeys: Sequence[LitStorey], bases: Sequence[int]) -> LitHouse:
    """The storeys on top of each other, floors at `bases` (millimetres); objects are numbered on."""
    looks: dict[Look, int] = {}
    vertices, triangles, owners, shown = [], [], [], []
    vertex_count = thing_count = 0
    for storey, base in zip(storeys, bases, strict=True):
        mesh = storey.mesh
        vertices.append(mesh.vertices + np.array([0.0, base, 0.0]))
        triangles.append(storey.triangles + np.int32(vertex_count))
        owners.append(mesh.triangle_object + np.int32(thing_count))
        number = np.array([looks.setdefault(look, len(looks)) for look in mesh.looks], np.int32)
        shown.append(number[mesh.triangle_look])
        vertex_count += len(mesh.vertices)
        thing_count += len(storey.things)
    return LitHouse(
        vertices=np.concatenate(vertices),
        triangles=np.concatenate(triangles),
        triangle_object=np.concatenate(owners),
        triangle_look=np.concatenate(shown),
        uv=np.concatenate([storey.uv for storey in storeys]),
        light=np.concatenate([storey.light for storey in storeys]),
        looks=tuple(looks),
    )


def raised(thing: Thing, base: int) -> Thing:
    """The thing with its frame `base` millimetres higher."""
    return replace(thing, at=(thing.at[0], thing.at[1] + base, thing.at[2]))
