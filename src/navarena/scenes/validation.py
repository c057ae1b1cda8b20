"""Validation of scenes before anything is computed from them.

The checks run once, when a scene is compiled. What fails is a SceneError that names the
array or record and the first place that is wrong.
"""

import math
from collections.abc import Iterable, Sequence

import numpy as np
from jaxtyping import Bool

from navarena.core.errors import SceneError
from navarena.core.files import LIMITS
from navarena.scenes.scene import Scene


def validate_scene(scene: Scene) -> None:
    """Raise SceneError unless `scene` fulfils the documentation of the class `Scene`.

    Geometry: shapes, dtypes, finite numbers, indices in range, at least one triangle with an
    area. Looks: materials, textures with sides that are powers of two, coordinates for them.
    Meaning: positive rising ids, every triangle's object and every object's room known,
    outlines of at least three finite points.
    """
    _check_geometry(scene)
    _check_looks(scene)
    _check_objects(scene)
    _check_rooms(scene)
    _check_walkable(scene)


def _fail(scene: Scene, what: str) -> SceneError:
    return SceneError(f"scene {scene.scene_id}: {what}")


def _require_array(scene: Scene, name: str, shape: Sequence[int | None], dtype: type, rows: str = "") -> None:
    """Require an array of `dtype` and `shape`, where None stands for any length."""
    array = getattr(scene, name)
    fits = array.ndim == len(shape) and all(want in (None, got) for want, got in zip(shape, array.shape))
    if not fits or array.dtype != np.dtype(dtype):
        wanted = ", ".join("any" if want is None else str(want) for want in shape)
        raise _fail(
            scene,
            f"expected {name} of shape ({wanted}){rows} and dtype {np.dtype(dtype)}, "
            f"got {array.shape} {array.dtype}",
        )


def _require_rows(scene: Scene, name: str, good: Bool[np.ndarray, "..."], expected: str) -> None:
    """Require `good` everywhere; the error shows the first row of array `name` where it fails."""
    if good.all():
        return
    row = int(np.argmin(good.reshape(len(good), -1).all(1)))
    bad = int((~good.reshape(len(good), -1).all(1)).sum())
    value = np.asarray(getattr(scene, name))[row].tolist()
    more = f" ({bad} such rows)" if bad > 1 else ""
    raise _fail(scene, f"expected {expected}, got {name}[{row}] = {value}{more}")


def _check_geometry(scene: Scene) -> None:
    _require_array(scene, "vertices", (None, 3), np.float32)
    _require_array(scene, "triangles", (None, 3), np.int32)
    count = len(scene.triangles)
    if count == 0:
        raise _fail(scene, "expected at least one triangle, got none; is it a point cloud?")
    near = np.abs(scene.vertices) <= LIMITS.number
    _require_rows(scene, "vertices", near, f"finite coordinates within {LIMITS.number:,.0f} m")
    known = (scene.triangles >= 0) & (scene.triangles < len(scene.vertices))
    _require_rows(scene, "triangles", known, f"vertex indices from 0 to {len(scene.vertices) - 1}")
    low, high = scene.vertices.min(0), scene.vertices.max(0)
    if np.count_nonzero(high > low) < 2:
        raise _fail(scene, f"expected triangles with an area, got all points between {low} and {high}")
    for name in ("triangle_object", "triangle_material"):
        _require_array(scene, name, (count,), np.int32, " (one for each triangle)")


def _check_looks(scene: Scene) -> None:
    vertex_count, count = len(scene.vertices), len(scene.triangles)
    if not scene.materials:
        raise _fail(scene, "expected at least one material, got none")
    known = (scene.triangle_material >= 0) & (scene.triangle_material < len(scene.materials))
    _require_rows(scene, "triangle_material", known, f"materials from 0 to {len(scene.materials) - 1}")
    for index, material in enumerate(scene.materials):
        if len(material.color) != 3 or not all(0 <= channel <= 255 for channel in material.color):
            raise _fail(scene, f"expected three bytes as color of materials[{index}], got {material.color}")
        if material.texture is None:
            continue
        if not 0 <= material.texture < len(scene.textures):
            raise _fail(
                scene,
                f"expected a texture below {len(scene.textures)} in materials[{index}], "
                f"got {material.texture}",
            )
        if scene.triangle_uv is None:
            raise _fail(scene, f"expected triangle_uv for the texture of materials[{index}], got None")
    for index, texture in enumerate(scene.textures):
        _check_texture(scene, index, texture)
    if scene.triangle_uv is not None:
        _require_array(scene, "triangle_uv", (count, 3, 2), np.float32, " (one for each triangle)")
        _require_rows(scene, "triangle_uv", np.isfinite(scene.triangle_uv), "finite texture coordinates")
    if scene.vertex_color is not None:
        _require_array(scene, "vertex_color", (vertex_count, 3), np.uint8, " (one for each vertex)")
    if scene.vertex_light is not None:
        _require_array(scene, "vertex_light", (vertex_count,), np.float32, " (one for each vertex)")
        good = np.isfinite(scene.vertex_light) & (scene.vertex_light >= 0)
        _require_rows(scene, "vertex_light", good, "finite light of 0 or more")


def _check_texture(scene: Scene, index: int, texture: np.ndarray) -> None:
    sides = texture.shape[:2]
    powers = all(side > 0 and side & (side - 1) == 0 for side in sides)
    if texture.dtype != np.uint8 or texture.ndim != 3 or texture.shape[2] != 3 or not powers:
        raise _fail(
            scene,
            f"expected textures[{index}] of shape (h, w, 3) uint8 with sides that are powers of two, "
            f"got {texture.shape} {texture.dtype}",
        )


def _check_rising(scene: Scene, name: str, ids: Sequence[int], lowest: int) -> None:
    for index, (before, this) in enumerate(zip([lowest - 1, *ids], ids)):
        if this <= before:
            raise _fail(
                scene,
                f"expected ids of {name} from {lowest} upwards, each once and rising, "
                f"got {this} after {before} at {name}[{index}]",
            )


def _check_objects(scene: Scene) -> None:
    ids = [obj.object_id for obj in scene.objects]
    _check_rising(scene, "objects", ids, 1)
    known = np.isin(scene.triangle_object, np.array([0, *ids], np.int64))
    what = "0 or the id of one of the objects" if ids else "0 in a scene without objects"
    _require_rows(scene, "triangle_object", known, what)
    rooms = {room.room_id for room in scene.rooms}
    for index, obj in enumerate(scene.objects):
        where = f"objects[{index}] (id {obj.object_id}, {obj.category!r})"
        if not obj.category:
            raise _fail(scene, f"expected a category, got none in {where}")
        if not _all_finite((*obj.center, *obj.half_size, obj.yaw)) or min(obj.half_size) < 0:
            raise _fail(
                scene,
                f"expected a finite box with sizes of 0 or more, got center {obj.center}, "
                f"half_size {obj.half_size}, yaw {obj.yaw} in {where}",
            )
        if obj.room is not None and obj.room not in rooms:
            raise _fail(scene, f"expected a known room, got {obj.room} in {where}")


def _check_rooms(scene: Scene) -> None:
    _check_rising(scene, "rooms", [room.room_id for room in scene.rooms], 0)
    for index, room in enumerate(scene.rooms):
        where = f"rooms[{index}] (id {room.room_id}, {room.category!r})"
        _check_outline(scene, room.polygon, where)
        if not room.floor_height < room.ceiling_height:
            raise _fail(
                scene,
                f"expected a ceiling above the floor, got floor {room.floor_height} and "
                f"ceiling {room.ceiling_height} in {where}",
            )


def _check_walkable(scene: Scene) -> None:
    for index, surface in enumerate(scene.walkable):
        where = f"walkable[{index}]"
        _check_outline(scene, surface.outline, f"{where}.outline")
        for number, hole in enumerate(surface.holes):
            _check_outline(scene, hole, f"{where}.holes[{number}]")
        if not _all_finite(surface.plane):
            raise _fail(scene, f"expected a finite plane, got {surface.plane} in {where}")
        for number, obstacle in enumerate(surface.obstacles):
            _check_outline(scene, obstacle.polygon, f"{where}.obstacles[{number}]")
            if not obstacle.low <= obstacle.high:
                raise _fail(
                    scene,
                    f"expected low <= high, got {obstacle.low} and {obstacle.high} "
                    f"in {where}.obstacles[{number}]",
                )


def _check_outline(scene: Scene, outline: Sequence[Sequence[float]], where: str) -> None:
    if len(outline) < 3 or not all(len(point) == 2 and _all_finite(point) for point in outline):
        raise _fail(scene, f"expected at least three finite points (x, z), got {outline} in {where}")


def _all_finite(values: Iterable[float]) -> bool:
    return all(math.isfinite(value) for value in values)
