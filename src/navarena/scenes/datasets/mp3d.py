"""Matterport3D (MP3D), in the layout that its owner offers for Habitat.

A scene is a folder such as `17DRP5sb8fy` with `17DRP5sb8fy.glb` (z up), `17DRP5sb8fy_semantic.ply`, whose
faces name the segment they belong to, and `17DRP5sb8fy.house`, which says what segments and regions are.
Objects are named "0_9_230" in episode files: level, region and object. Their ids are their indices in the
.house file, as in Habitat's semantic images; only object 0 has another, since 0 is no object.
"""

import re
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, final

import numpy as np
from jaxtyping import Int

from navarena.core.errors import FileError
from navarena.scenes.datasets.dataset import SceneDataset, SceneFiles, folders_named, split_mesh_name
from navarena.scenes.datasets.mesh_reader import (
    ObjectRecord,
    label_scene,
    plain_mesh,
    read_labelled_ply,
    with_objects,
    world_points,
)
from navarena.scenes.datasets.mp3d_house import House, HouseObject, read_house, region_outline
from navarena.scenes.datasets.rooms import MIN_HEIGHT
from navarena.scenes.labelling import SurfacePart, upright_box
from navarena.scenes.scene import Room, Scene

UP_AXIS = "z"

_SCAN = re.compile(r"[A-Za-z0-9]{11}")


@final
class MP3D(SceneDataset):
    """Matterport3D: 90 scanned buildings with labelled regions and objects."""

    name: ClassVar[str] = "mp3d"
    title: ClassVar[str] = "MP3D"
    offer: ClassVar[str] = (
        "its owner offers it at https://niessner.github.io/Matterport/ (with the script you get there: "
        "download_mp.py --task habitat -o FOLDER)"
    )
    layout: ClassVar[str] = "17DRP5sb8fy/{17DRP5sb8fy.glb, 17DRP5sb8fy_semantic.ply, 17DRP5sb8fy.house}"

    def scene_name(self, rest: str) -> str | None:
        folders, stem = split_mesh_name(rest, ".glb")
        if len(folders) != 1 or not _SCAN.fullmatch(folders[0]):
            return None
        return folders[0] if stem in (None, folders[0]) else None

    def list_scenes(self, root: Path) -> list[str]:
        return folders_named(root, _SCAN)

    def locate(self, root: Path, name: str) -> SceneFiles:
        folder = root / name
        paths = {"mesh": self.require_file(folder / f"{name}.glb", "mesh")}
        labels, house = folder / f"{name}_semantic.ply", folder / f"{name}.house"
        if self.require_both(labels, house):
            paths |= {"labels": labels, "house": house}
        return SceneFiles(name, paths)

    def build(self, files: SceneFiles, scene_id: str) -> Scene:
        scene = plain_mesh(files.paths["mesh"], UP_AXIS, scene_id)
        if "house" not in files.paths:
            return scene
        house, labels = read_house(files.paths["house"]), files.paths["labels"]
        mesh = read_labelled_ply(labels, ("material_id",), UP_AXIS)
        owners = _objects_of_segments(house, mesh.values, labels, files.paths["house"])
        scene = label_scene(scene, [SurfacePart(mesh.corners, owners)], files.paths["mesh"], labels)
        scene = replace(scene, rooms=_rooms(house))
        records = {
            _object_id(house, entry.index): _object_record(house, entry)
            for entry in house.objects.values()
            if entry.category >= 0
        }
        return with_objects(scene, records)


def _object_id(house: House, index: int) -> int:
    """The id of the object `index`: its index, but one above the last for object 0; 0 for none (-1)."""
    return max(index, 0) if index else max(house.objects) + 1


def _objects_of_segments(
    house: House, segments: Int[np.ndarray, "t"], labels: Path, path: Path
) -> Int[np.ndarray, "t"]:
    """(T,) object id of each face's segment; 0 for faces without one."""
    listed, where = np.unique(segments, return_inverse=True)
    owners = np.zeros(len(listed), np.int64)
    for row, segment in enumerate(listed.tolist()):
        if segment >= 0:
            if segment not in house.segments:
                raise FileError(
                    f"{labels}: a face belongs to segment {segment}, of which {path} says nothing; are both "
                    "of the same scene?"
                )
            owners[row] = _object_id(house, house.segments[segment])
    return owners[where.reshape(-1)]


def _object_record(house: House, entry: HouseObject) -> ObjectRecord:
    raw, name = house.categories[entry.category]
    region = house.regions.get(entry.region)
    level = 0 if region is None else region.level
    return ObjectRecord(
        name,
        {"name": f"{level}_{entry.region}_{entry.index}", "raw_category": raw, "mpcat40": name},
        upright_box(world_points(entry.corners, UP_AXIS)),
        None if region is None else region.index,
        level,
    )


def _rooms(house: House) -> tuple[Room, ...]:
    return tuple(
        Room(
            region.index,
            region.category,
            region_outline(house, region),
            region.level,
            float(region.low[2]),
            max(float(region.high[2]), float(region.low[2]) + MIN_HEIGHT),
        )
        for region in sorted(house.regions.values(), key=lambda region: region.index)
    )
