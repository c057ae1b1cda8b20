"""`navarena scene import`, `make`, `info` and `preview`."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from navarena.cli.console import Console
from navarena.cli.flags import OutputFile
from navarena.core.errors import InputError
from navarena.core.files import write_atomic
from navarena.scenes.catalog import PLAN_SUFFIX, is_file_path, scene_hash
from navarena.scenes.datasets.dataset_scenes import find_dataset_scene
from navarena.scenes.mesh_reference import join_reference, split_reference
from navarena.scenes.scene import SceneSummary, summarise_scene
from navarena.simulation.body_catalog import get_body
from navarena.simulation.world import World, open_world

DEFAULT_BODY = "locobot"
LISTED_CATEGORIES = 8


@dataclass(frozen=True, kw_only=True)
class MeshFlags:
    """Options for reading a mesh file."""

    up: str = "y"
    """Axis of a mesh file that points up: y, z, x, or one with a minus sign (--up=-z)."""
    scale: float = 1.0
    """Metres for one unit of a mesh file."""
    flip: bool = False
    """Reverse the triangles of a mesh file whose floors face down."""
    double_sided: bool = False
    """Treat both sides of the triangles of a mesh file as surfaces."""
    categories: Path | None = None
    """JSON file that maps names of a mesh file's objects, or patterns such as chair_*, to categories."""
    force_up: bool = False
    """Accept a mesh file even if it seems to lie on its side, or upside down."""

    def open(self, scene: str, body: str) -> World:
        """The world of a scene id, or of a mesh file read in this way."""
        if self.flip and self.double_sided:
            raise InputError("expected --flip or --double-sided, got both; the second has all sides")
        named = split_reference(scene, self.up, self.scale)
        if self.flip or self.double_sided:
            named = named._replace(sides="back" if self.flip else "both")
        if self.categories is not None:
            named = named._replace(categories=str(self.categories))
        if join_reference(*named) != scene and not is_file_path(scene):
            raise InputError(f"expected a mesh file for options of mesh files, got {scene!r}; leave them out")
        return open_world(join_reference(*named), get_body(body), force_up=self.force_up)


@dataclass(frozen=True)
class SceneImport(MeshFlags):
    """Compile a mesh file, or all scenes of a dataset, with navmesh and render mesh into the cache."""

    path: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="PATH")]
    """The mesh file (.glb, .gltf, .obj or .ply); with --dataset its folder, or one scene of it."""
    dataset: str | None = None
    """Dataset in the folder: hm3d, mp3d, gibson, replica, procthor, habitat."""
    only: str = ""
    """With --dataset: import only scenes whose name begins with this, such as val/."""
    workers: int = 0
    """With --dataset: scenes compiled at once, each in its own process; 0 for one per processor."""
    propose: Annotated[Path | None, OutputFile()] = None
    """Write the categories that the names of the file's objects match into this file, for --categories."""
    body: str = DEFAULT_BODY
    """Body for whose size the navmesh is built."""
    json: bool = False
    """Print one JSON document instead of a table."""

    def run(self, console: Console) -> int:
        """Import, cut the navmesh, report; the exit code is 0."""
        if self.dataset is not None:
            from navarena.cli.scenes.dataset_import import import_dataset

            if self.workers < 0:
                raise InputError(f"expected --workers of 0 or more, got {self.workers}")
            path = Path(self.path).expanduser()
            return import_dataset(console, self.dataset, path, self.body, self.only, self.workers)
        if find_dataset_scene(self.path) is None and not is_file_path(self.path):
            raise InputError(f"expected a mesh file, got {self.path!r}; generate houses with: scene make")
        world = self.open(self.path, self.body)
        _ = world.render_mesh  # compiled when first looked at
        return _report(console, world, self.body, propose=self.propose)


@dataclass(frozen=True)
class SceneMake:
    """Generate a scene of a set, or of a floor plan, and compile it into the cache.

    `navarena scene make houses-v1/val/00017` makes a listed house, `navarena scene make --plan
    flat.json` the house of a floor plan.
    """

    scene: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="SCENE")] = ""
    """Scene id: set, split and index."""
    plan: Path | None = None
    """A floor plan instead: a JSON file with rooms, doors and windows."""
    out: Annotated[Path | None, OutputFile(".glb")] = None
    """Also write it as a binary glTF file (.glb) with colours, textures, objects and baked light."""
    body: str = DEFAULT_BODY
    """Body for whose size the navmesh is built."""
    json: bool = False
    """Print one JSON document instead of a table."""

    def run(self, console: Console) -> int:
        """Build, report, perhaps export; the exit code is 0."""
        if bool(self.scene) == (self.plan is not None):
            raise InputError(
                "expected either a scene id or --plan FILE, got " + ("both" if self.scene else "neither")
            )
        if self.plan is not None and self.plan.suffix.lower() != PLAN_SUFFIX:
            raise InputError(f"expected --plan to end in {PLAN_SUFFIX}, got {self.plan}")
        if self.plan is None and is_file_path(self.scene):
            raise InputError(f"expected a scene id, got the file {self.scene!r}; read it with: scene import")
        world = open_world(str(self.plan or self.scene), get_body(self.body))
        _ = world.render_mesh  # compiled when first looked at
        return _report(console, world, self.body, out=self.out)


@dataclass(frozen=True)
class SceneInfo(MeshFlags):
    """Describe a scene: geometry, materials, objects, rooms, and how much of it a body can reach."""

    scene: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="SCENE")]
    """Scene id, or the path of a mesh file."""
    body: str = DEFAULT_BODY
    """Body for whose size the navmesh is built."""
    json: bool = False
    """Print one JSON document instead of a table."""

    def run(self, console: Console) -> int:
        """Load and describe the scene; the exit code is 0."""
        return _report(console, self.open(self.scene, self.body), self.body)


@dataclass(frozen=True)
class ScenePreview(MeshFlags):
    """Draw a scene into one PNG: the plan from above and four views from inside."""

    scene: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="SCENE")]
    """Scene id, or the path of a mesh file."""
    out: Annotated[Path, OutputFile(".png")]
    """The image to write, .png."""
    body: str = DEFAULT_BODY
    """Body for whose size the navmesh is built."""
    json: bool = False
    """Print one JSON document instead of a line."""

    def run(self, console: Console) -> int:
        """Draw and write the image; the exit code is 0."""
        from navarena.reports.preview import draw_preview, write_png

        world = self.open(self.scene, self.body)
        sheet = draw_preview(world)
        write_png(sheet.image, self.out)
        height, width = sheet.image.shape[:2]
        console.text(
            f"{self.out}: {self.scene} from above and in {len(sheet.views)} views, {width} x {height}"
        )
        views = [{"position": view.position.tolist(), "yaw": view.yaw} for view in sheet.views]
        console.result(
            {
                "scene_id": self.scene,
                "file": str(self.out),
                "width_px": width,
                "height_px": height,
                "views": views,
            }
        )
        return 0


def _report(
    console: Console, world: World, body: str, out: Path | None = None, propose: Path | None = None
) -> int:
    """Export a scene and write proposed categories, if requested; print the scene's content."""
    scene_id = world.scene_id
    summary = summarise_scene(world.scene)
    proposed, foreign = _propose(summary) if is_file_path(scene_id) else ({}, [])
    if propose is not None:
        if not proposed:
            raise InputError(
                f"expected objects whose names speak of a category, got {len(summary.categories)} names "
                f"that do not in {scene_id}; write {propose} by hand"
            )
        write_atomic(propose, json.dumps(proposed, indent=1, ensure_ascii=False).encode() + b"\n")
    if out is not None:
        from navarena.scenes.formats import export_glb

        export_glb(world.scene, out)
    console.table(scene_id, ("what", "value"), _rows(summary, world, body))
    advice = _up_advice(world) if is_file_path(scene_id) else None
    if advice is not None:
        console.note(f"warning: {advice}")
    if proposed:
        console.table("proposed categories", ("name", "category"), list(proposed.items()))
        others = f"; no proposal for {', '.join(foreign)}" if foreign else ""
        hint = f"written to {propose}: use --categories" if propose else "write them with --propose map.json"
        console.text(f"{len(proposed)} names speak of a category, {hint}{others}")
    if out is not None:
        console.text(f"written to {out}")
    mesh = world.navmesh
    console.result(
        {
            **asdict(summary),
            "hash": scene_hash(scene_id),
            "body": body,
            "navigable_area": mesh.navigable_area,
            "islands": mesh.island_count,
            "largest_island_area": float(mesh.island_areas.max()),
            "up_advice": advice,
            "proposed_categories": proposed,
            "file": None if out is None else str(out),
        }
    )
    return 0


def _propose(summary: SceneSummary) -> tuple[dict[str, str], list[str]]:
    """(name -> proposed category, names without a proposal) of categories that are in no vocabulary."""
    from navarena.scenes.houses.furniture.catalog import CATEGORIES
    from navarena.scenes.houses.vocabulary import propose_category

    names = sorted(name for name in summary.categories if name not in CATEGORIES)
    found = {name: propose_category(name) for name in names}
    proposed = {name: category for name, category in found.items() if category is not None}
    return proposed, [name for name in names if name not in proposed]


def _up_advice(world: World) -> str | None:
    """Advice if a mesh has much more floor with another axis up, else None."""
    from navarena.simulation.navmesh.building.mesh_checks import advise_up

    mesh, scene = world.navmesh, world.scene
    if scene.walkable:  # a floor plan, whose floors are known
        return None
    area = float(mesh.island_areas.max())
    up = split_reference(world.scene_id).up_axis
    advice = advise_up(scene.vertices, scene.triangles, mesh.settings, up, area)
    return None if advice is None else advice.message


def _rows(summary: SceneSummary, world: World, body: str) -> list[tuple[str, Any]]:
    """The rows of the table: name and value."""
    mesh = world.navmesh
    size = [high - low for low, high in zip(summary.low, summary.high)]
    looks = [f"{summary.materials} materials", f"{summary.textures} textures"]
    looks += ["vertex colours"] * summary.colored + ["baked light"] * summary.lit
    doubt = summary.ambiguous_share
    objects = f"{summary.objects} in {len(summary.categories)} categories"
    return [
        ("triangles", f"{summary.triangles:,}"),
        ("vertices", f"{summary.vertices:,}"),
        ("size", f"{size[0]:.2f} x {size[1]:.2f} x {size[2]:.2f} m (x, y up, z)"),
        ("bounds", f"{_point(summary.low)} to {_point(summary.high)}"),
        ("looks", ", ".join(looks)),
        ("objects", objects + _counts(summary.categories) if summary.objects else "none (no semantics)"),
        ("doubtful labels", "none" if doubt is None else f"{doubt:.2%} of the area"),
        ("rooms", f"{summary.rooms}" + _counts(summary.room_categories)),
        ("storeys", str(summary.levels)),
        ("navigable", f"{mesh.navigable_area:.1f} m2 for {body}, islands: {mesh.island_count}"),
        ("largest island", f"{mesh.island_areas.max():.1f} m2"),
    ]


def _counts(numbers: dict[str, int]) -> str:
    """The most frequent names with their numbers, as the end of a sentence."""
    if not numbers:
        return ""
    listed = [f"{number} {name}" for name, number in list(numbers.items())[:LISTED_CATEGORIES]]
    more = ", ..." if len(numbers) > LISTED_CATEGORIES else ""
    return f": {', '.join(listed)}{more}"


def _point(point: tuple[float, float, float]) -> str:
    return "(" + ", ".join(f"{c:.2f}" for c in point) + ")"
