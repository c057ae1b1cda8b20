"""Builds the lit triangles of each storey, and joins storeys into one mesh."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Float32, Int32

from navarena.scenes.houses.appearance.baked_light import bake_light
from navarena.scenes.houses.appearance.cell_merging import merge_cells
from navarena.scenes.houses.appearance.finishes import Look
from navarena.scenes.houses.furniture.catalog import is_flat
from navarena.scenes.houses.plan.house_plan import HousePlan
from navarena.scenes.houses.solids.mesh_builder import HouseMesh, HouseObject, MeshBuilder
from navarena.scenes.houses.structure.rooms import RoomLooks, build_structure


@dataclass(frozen=True)
class LitStorey:
    """The triangles of one storey above its own floor, and the objects they belong to."""

    mesh: HouseMesh
    light: Float32[np.ndarray, "v"]
    objects: tuple[HouseObject, ...]


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
        model, pose = placed.model, (placed.at, placed.turn)
        builder.add_object(HouseObject(placed.category, placed.room, model.attributes, *pose, shades), model)
    if level < len(house.stairs):
        stairs = house.stairs[level]
        model = stairs.model(tread, looks[stairs.room].wall)
        # Steps would darken each other: what they lie on is a ramp to the light.
        builder.add_object(HouseObject("stairs", stairs.room, model.attributes, shades=False), model)
    mesh = builder.build([-1 if one.room is None else one.room for one in builder.objects])
    light, seen = bake_light(mesh, storey.plan, storey.placements)
    return LitStorey(*merge_cells(mesh, light, seen), tuple(builder.objects))


def join_storeys(storeys: Sequence[LitStorey], bases: Sequence[int]) -> LitHouse:
    """The storeys on top of each other, floors at `bases` (millimetres); objects are numbered on."""
    looks: dict[Look, int] = {}
    vertices, triangles, owners, shown = [], [], [], []
    vertex_count = object_count = 0
    for storey, base in zip(storeys, bases, strict=True):
        mesh = storey.mesh
        vertices.append(mesh.vertices + np.array([0.0, base, 0.0]))
        triangles.append(mesh.triangles + np.int32(vertex_count))
        owners.append(mesh.triangle_object + np.int32(object_count))
        number = np.array([looks.setdefault(look, len(looks)) for look in mesh.looks], np.int32)
        shown.append(number[mesh.triangle_look])
        vertex_count += len(mesh.vertices)
        object_count += len(storey.objects)
    return LitHouse(
        vertices=np.concatenate(vertices),
        triangles=np.concatenate(triangles),
        triangle_object=np.concatenate(owners),
        triangle_look=np.concatenate(shown),
        uv=np.concatenate([storey.mesh.uv for storey in storeys]),
        light=np.concatenate([storey.light for storey in storeys]),
        looks=tuple(looks),
    )


def raised(grounded: HouseObject, base: int) -> HouseObject:
    """The object with its frame `base` millimetres higher."""
    return replace(grounded, at=(grounded.at[0], grounded.at[1] + base, grounded.at[2]))
