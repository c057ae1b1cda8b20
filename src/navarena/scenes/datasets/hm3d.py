"""Habitat-Matterport 3D (HM3D), with the labels of HM3D-Semantics.

A scene is a folder such as `val/00800-TEEsavR23oF` with `TEEsavR23oF.glb` or `TEEsavR23oF.basis.glb`
(z up) and, where it is annotated, `TEEsavR23oF.semantic.glb`, whose texture is painted with one colour for
each object, and `TEEsavR23oF.semantic.txt`:

    HM3D Semantic Annotations
    1,A1B2C3,"ceiling",0

which gives object id, colour, category and region of each object. Objects are named "bed_16" in episode
files: category and object id. Regions become rooms; their categories are not annotated.
"""

import csv
import json
import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import ClassVar, final

import numpy as np
from jaxtyping import Int32, UInt8

from navarena.core.errors import FileError
from navarena.core.files import read_bytes
from navarena.scenes.datasets.dataset import SceneDataset, SceneFiles, folders_named, split_mesh_name
from navarena.scenes.datasets.mesh_reader import (
    ObjectRecord,
    label_scene,
    plain_mesh,
    require_id,
    semantic_parts,
    with_objects,
)
from navarena.scenes.datasets.rooms import rooms_from_objects
from navarena.scenes.labelling import SurfacePart
from navarena.scenes.scene import Scene

MPCAT40 = (
    "void", "wall", "floor", "chair", "door", "table", "picture", "cabinet", "cushion", "window", "sofa",
    "bed", "curtain", "chest_of_drawers", "plant", "sink", "stairs", "ceiling", "toilet", "stool", "towel",
    "mirror", "tv_monitor", "shower", "column", "bathtub", "counter", "fireplace", "lighting", "beam",
    "railing", "shelving", "blinds", "gym_equipment", "seating", "board_panel", "furniture", "appliances",
    "clothes", "objects", "misc", "unlabeled",
)  # fmt: skip
"""Index -> name of the categories of Matterport3D (`metadata/mpcat40.tsv` of its repository)."""

UNLABELED = "unlabeled"

HM3D_GOALS = ("chair", "bed", "plant", "toilet", "tv_monitor", "sofa")
"""Task id -> goal category of ObjectNav on HM3D (Habitat challenges of 2022 and 2023)."""

_TABLE = Path(__file__).with_name("hm3d_categories.json")
"""The raw names of HM3D by mpcat40 name; HM3D files, unlike those of MP3D, carry no such mapping.

Names are sorted by the meaning that MP3D gives them (a headboard is a part of a bed, an ottoman is a
stool), so that both datasets can be asked for one list of goals.
"""


@cache
def _raw_table() -> tuple[dict[str, str], frozenset[str]]:
    """(HM3D category -> mpcat40 name, HM3D categories that are no goal whatever their mpcat40 name)."""
    table = json.loads(_TABLE.read_bytes())
    names = {raw: name for name, raws in table["mpcat40"].items() for raw in raws}
    return names, frozenset(table["no_goals"])


def clean_name(raw: str) -> str:
    """A category as it is looked up: lower case, single blanks, no underscores."""
    return " ".join(raw.lower().replace("_", " ").split())


def mpcat40_of(raw: str) -> str:
    """The mpcat40 name of an HM3D category; "objects" for categories that are not in the table.

    Names of mpcat40 itself stand for themselves.
    """
    name = clean_name(raw)
    if name.replace(" ", "_") in MPCAT40:
        return name.replace(" ", "_")
    return _raw_table()[0].get(name, "objects" if name else UNLABELED)


def hm3d_goal_of(raw: str) -> str | None:
    """The ObjectNav goal (one of HM3D_GOALS) that an HM3D category counts as, or None.

    Parts do not count: a headboard is no bed and a cushion no sofa. A toilet seat is a toilet, as in
    the published episodes.
    """
    name = clean_name(raw)
    goal = mpcat40_of(name)
    return goal if goal in HM3D_GOALS and name not in _raw_table()[1] else None


HEADER = "HM3D Semantic Annotations"
UP_AXIS = "z"

_log = logging.getLogger(__name__)
_FOLDER = re.compile(r"\d{5}-[A-Za-z0-9]{11}")
_BAND = 256
"""Rows of an image that are looked up at once, to bound memory."""

_FLOORS = ("floor", "rug", "carpet")


@dataclass(frozen=True)
class Annotation:
    """One line of a .semantic.txt file.

    Attributes:
        object_id: 1 or more; 0 stands for nothing.
        color: 0xRRGGBB, or None when it cannot be read.
        category: as the annotator wrote it.
        region: of the object, or None.
    """

    object_id: int
    color: int | None
    category: str
    region: int | None


@final
class HM3D(SceneDataset):
    """Habitat-Matterport 3D: 1,000 scanned buildings, 216 of them with labelled objects."""

    name: ClassVar[str] = "hm3d"
    title: ClassVar[str] = "HM3D"
    offer: ClassVar[str] = (
        "its owner offers it at https://matterport.com/habitat-matterport-3d-research-dataset (files: "
        "https://github.com/matterport/habitat-matterport-3dresearch; images: hm3d-<split>-glb-v0.2.tar or "
        "hm3d-<split>-habitat-v0.2.tar, labels: hm3d-<split>-semantic-annots-v0.2.tar)"
    )
    layout: ClassVar[str] = "{train,val,minival,example}/00800-TEEsavR23oF/TEEsavR23oF.glb (or .basis.glb)"

    def scene_name(self, rest: str) -> str | None:
        folders, stem = split_mesh_name(rest, ".basis.glb", ".glb")
        if not folders or not _FOLDER.fullmatch(folders[-1]):
            return None
        return "/".join(folders) if stem in (None, folders[-1].partition("-")[2]) else None

    def list_scenes(self, root: Path) -> list[str]:
        folders = [root, *(child for child in sorted(root.iterdir()) if child.is_dir())]
        return [
            (folder / name).relative_to(root).as_posix()
            for folder in folders
            for name in folders_named(folder, _FOLDER)
        ]

    def locate(self, root: Path, name: str) -> SceneFiles:
        folder = self._folder(root, name)
        stem = folder.name.partition("-")[2]
        mesh, basis = folder / f"{stem}.glb", folder / f"{stem}.basis.glb"
        if not mesh.is_file() and basis.is_file():
            mesh = basis
        if not mesh.is_file():
            raise self.missing(mesh, f"mesh (or {basis.name} beside it)")
        paths = {"mesh": mesh}
        painted, table = folder / f"{stem}.semantic.glb", folder / f"{stem}.semantic.txt"
        if self.require_both(painted, table):
            paths |= {"painted": painted, "table": table}
        return SceneFiles(name, paths)

    def build(self, files: SceneFiles, scene_id: str) -> Scene:
        scene = plain_mesh(files.paths["mesh"], UP_AXIS, scene_id)
        if "table" not in files.paths:
            return scene
        table, painted = files.paths["table"], files.paths["painted"]
        annotations = read_annotations(table)
        scene = label_scene(scene, painted_surface(painted, annotations), files.paths["mesh"], painted)
        scene = with_objects(
            scene, {line.object_id: _object_record(line) for line in annotations if line.object_id}
        )
        rooms = {line.object_id: line.region for line in annotations if line.region is not None}
        return rooms_from_objects(scene, rooms, _FLOORS)

    def _folder(self, root: Path, name: str) -> Path:
        """The folder of a scene: as named, or in another split (`minival` repeats scenes of `val`)."""
        folder = root / name
        if folder.is_dir() or not root.is_dir():
            return folder
        scene = name.rpartition("/")[2]
        others = (child / scene for child in sorted(root.iterdir()) if child.is_dir())
        return next((other for other in others if other.is_dir()), folder)


def read_annotations(path: Path) -> list[Annotation]:
    """The objects of a .semantic.txt file; raises FileError that names the line.

    One of the published files has a colour that is none (a radiator of nS8T59Aw3sf): an object with an
    unreadable colour, or with that of an object before it, is warned of and keeps no triangles.
    """
    lines = read_bytes(path, "list of objects").decode("utf-8-sig", errors="replace").split("\n")
    if lines[0].strip() != HEADER:
        raise FileError(f"{path}:1: expected {HEADER!r}, got {lines[0][:60]!r}")
    found: list[Annotation] = []
    ids: dict[int, int] = {}
    colors: dict[int, int] = {}
    for number, line in enumerate(lines[1:], 2):
        if not line.strip():
            continue
        where = f"{path}:{number}"
        entry = _annotation(where, line.strip())
        if entry.object_id in ids:
            raise FileError(
                f"{where}: expected another object id than in line {ids[entry.object_id]}, "
                f"got {entry.object_id}"
            )
        ids[entry.object_id] = number
        if entry.color is not None and entry.color in colors:
            _log.warning("%s: the colour is that of line %d; using that", where, colors[entry.color])
            entry = replace(entry, color=None)
        elif entry.color is not None:
            colors[entry.color] = number
        found.append(entry)
    if not found:
        raise FileError(f"{path}: expected objects after the first line, got none; the file is cut short")
    return found


def _annotation(where: str, line: str) -> Annotation:
    form = 'expected id,RRGGBB,"category",region'
    try:
        fields = next(csv.reader([line], skipinitialspace=True))
    except csv.Error as error:
        raise FileError(f"{where}: {form}, got {line[:99]!r}: {error}") from error
    if len(fields) != 4 or line.count('"') % 2:
        raise FileError(f"{where}: {form}, got {line[:99]!r}; the file is damaged or cut short")
    key, color, category, region = (entry.strip() for entry in fields)
    if not re.fullmatch(r"[0-9]{1,18}", key) or not re.fullmatch(r"-?[0-9]{1,18}", region):
        raise FileError(f"{where}: {form}, got {line[:99]!r}")
    known = re.fullmatch(r"[0-9A-Fa-f]{1,6}", color)
    if not known:
        _log.warning("%s: expected a colour RRGGBB, got %r; object %s has no triangles", where, color, key)
    room = require_id(int(region), where) if int(region) >= 0 else None
    return Annotation(
        require_id(int(key), where), int(color, 16) if known else None, category or UNLABELED, room
    )


def painted_surface(path: Path, annotations: Sequence[Annotation]) -> list[SurfacePart]:
    """The surface of a .semantic.glb, labelled by the colours of its texture or of its vertices.

    Raises FileError when none of its colours is in the table: then the two are of different scenes.
    """
    ids = {line.color: line.object_id for line in annotations if line.color is not None}
    parts, known = [], 0
    images: dict[int, Int32[np.ndarray, "h w"]] = {}  # by identity of the look: parts share them
    for part, corners in semantic_parts(path, UP_AXIS):
        if part.look.image is not None and part.uv is not None:
            if id(part.look) not in images:
                images[id(part.look)] = _labels_of_colors(part.look.image, ids)
            labels = images[id(part.look)]
            parts.append(SurfacePart(corners, image=labels, uv=part.uv))
        elif part.vertex_color is not None:
            labels = _labels_of_colors(part.vertex_color[:, None], ids)[:, 0]
            parts.append(SurfacePart(corners, of_corner=labels[part.triangles]))
        else:
            parts.append(SurfacePart(corners, of_triangle=np.zeros(len(corners), np.int64)))
            continue
        known += int((labels > 0).sum())
    if not known:
        raise FileError(
            f"{path}: expected the colours listed in {path.with_suffix('.txt').name}, got none of them; are "
            "both of the same scene and version?"
        )
    return parts


def _labels_of_colors(pixels: UInt8[np.ndarray, "h w 3"], ids: Mapping[int, int]) -> Int32[np.ndarray, "h w"]:
    """(H, W) object id of each colour, 0 for colours that are not in the table."""
    listed = np.array(sorted(ids), np.uint32)
    values = np.array([ids[color] for color in sorted(ids)], np.int32)
    labels = np.zeros(pixels.shape[:2], np.int32)
    for row in range(0, len(pixels), _BAND):
        red, green, blue = np.moveaxis(pixels[row : row + _BAND].astype(np.uint32), -1, 0)
        codes = red << 16 | green << 8 | blue
        place = np.minimum(np.searchsorted(listed, codes), len(listed) - 1)
        labels[row : row + _BAND] = np.where(listed[place] == codes, values[place], 0)
    return labels


def _object_record(line: Annotation) -> ObjectRecord:
    attributes = {"name": f"{line.category}_{line.object_id}", "mpcat40": mpcat40_of(line.category)}
    goal = hm3d_goal_of(line.category)
    return ObjectRecord(line.category, attributes | ({"goal": goal} if goal else {}))
