"""`navarena scene import`, `make`, `info` and `preview`."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from navarena.cli.console import Console
from navarena.core.errors import InputError
from navarena.scenes.catalog import PLAN_SUFFIX, is_file_path, scene_hash
from navarena.scenes.datasets.names import find_dataset_scene
from navarena.scenes.summary import SceneSummary, summarise_scene
from navarena.simulation.body_catalog import get_body
from navarena.simulation.world import World, open_world

DEFAULT_BODY = "locobot"
LISTED_CATEGORIES = 8


@dataclass(frozen=True)
class SceneImport:
    """Compile a mesh file, or all scenes of a dataset, with navmesh and render mesh into the cache."""

    path: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="PATH")]
    """The mesh file (.glb, .gltf, .obj or .ply); with --dataset its folder, or one scene of it."""
    dataset: str | None = None
    """What the folder holds: hm3d, mp3d, gibson, replica, procthor, habitat."""
    only: str = ""
    """With --dataset: import only scenes whose name begins with this, such as val/."""
    workers: int = 0
    """With --dataset: scenes compiled at once, each in a process of its own; 0 for one to a processor."""
    up: str = "y"
    """Axis of the file that points up: y, z, x, or one with a minus sign (--up=-z)."""
    scale: float = 1.0
    """Metres for one unit of the file."""
    force_up: bool = False
    """Take a mesh file as it is that clearly seems to lie on its side."""
    body: str = DEFAULT_BODY
    """Body whose size decides where it fits."""
    json: bool = False
    """Print one JSON document instead of a table."""

    def run(self, console: Console) -> int:
        """Import, cut the navmesh, report; the exit code is 0."""
        if self.dataset is not None:
            from navarena.cli.dataset_import import import_dataset

            if self.workers < 0:
                raise InputError(f"expected --workers of 0 or more, got {self.workers}")
            path = Path(self.path).expanduser()
            return import_dataset(console, self.dataset, path, self.body, self.only, self.workers)
        if find_dataset_scene(self.path) is None and not is_file_path(self.path):
            raise InputError(f"expected a mesh file, got {self.path!r}; generate houses with: scene make")
        world = _compile(self.path, self.body, self.up, self.scale, self.force_up)
        return _report(console, world, self.body, self.up, self.scale)


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
    out: Path | None = None
    """Also write it as a binary glTF file (.glb) with colours, textures, objects and baked light."""
    body: str = DEFAULT_BODY
    """Body whose size decides where it fits."""
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
        if self.out is not None and self.out.suffix.lower() != ".glb":
            raise InputError(f"expected --out to end in .glb, got {self.out}")
        world = _compile(str(self.plan or self.scene), self.body)
        return _report(console, world, self.body, out=self.out)


@dataclass(frozen=True)
class SceneInfo:
    """Describe a scene: geometry, looks, objects, rooms, and how much of it a body can reach."""

    scene: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="SCENE")]
    """Scene id, or the path of a mesh file."""
    up: str = "y"
    """Axis of a mesh file that points up: y, z, x, or one with a minus sign (--up=-z)."""
    scale: float = 1.0
    """Metres for one unit of a mesh file."""
    force_up: bool = False
    """Take a mesh file as it is that clearly seems to lie on its side."""
    body: str = DEFAULT_BODY
    """Body whose size decides where it fits."""
    json: bool = False
    """Print one JSON document instead of a table."""

    def run(self, console: Console) -> int:
        """Load and describe the scene; the exit code is 0."""
        world = open_world(self.scene, get_body(self.body), self.up, self.scale, self.force_up)
        return _report(console, world, self.body, self.up, self.scale)


@dataclass(frozen=True)
class ScenePreview:
    """Draw a scene into one PNG: the plan from above and four views from inside."""

    scene: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="SCENE")]
    """Scene id, or the path of a mesh file."""
    out: Path
    """The image to write, .png."""
    up: str = "y"
    """Axis of a mesh file that points up: y, z, x, or one with a minus sign (--up=-z)."""
    scale: float = 1.0
    """Metres for one unit of a mesh file."""
    force_up: bool = False
    """Take a mesh file as it is that clearly seems to lie on its side."""
    body: str = DEFAULT_BODY
    """Body whose size decides where it fits."""
    json: bool = False
    """Print one JSON document instead of a line."""

    def run(self, console: Console) -> int:
        """Draw and write the image; the exit code is 0."""
        from navarena.reports.preview import draw_preview, write_png

        if self.out.suffix.lower() != ".png":
            raise InputError(f"expected --out to end in .png, got {self.out}")
        world = open_world(self.scene, get_body(self.body), self.up, self.scale, self.force_up)
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


def _compile(scene_id: str, body: str, up: str = "y", scale: float = 1.0, force_up: bool = False) -> World:
    """Put scene, navmesh and render mesh into the cache; returns the world."""
    world = open_world(scene_id, get_body(body), up, scale, force_up)
    _ = world.render_mesh  # loaded, and compiled, when first looked at
    return world


def _report(
    console: Console, world: World, body: str, up: str = "y", scale: float = 1.0, out: Path | None = None
) -> int:
    """Export a scene if asked, and print what it holds."""
    scene_id = world.scene_id
    summary = summarise_scene(world.scene)
    if out is not None:
        from navarena.scenes.formats import export_glb

        export_glb(world.scene, out)
    console.table(scene_id, ("what", "value"), _rows(summary, world, body))
    advice = _up_advice(world, up) if is_file_path(scene_id) else None
    if advice is not None:
        console.note(f"warning: {advice}")
    if out is not None:
        console.text(f"written to {out}")
    mesh = world.navmesh
    console.result(
        {
            **asdict(summary),
            "hash": scene_hash(scene_id, up, scale),
            "body": body,
            "navigable_area": mesh.navigable_area,
            "islands": mesh.island_count,
            "largest_island_area": float(mesh.island_areas.max()),
            "up_advice": advice,
            "file": None if out is None else str(out),
        }
    )
    return 0


def _up_advice(world: World, up: str) -> str | None:
    """What to try where a mesh has much more floor with another axis up, or None."""
    from navarena.simulation.navmesh.up_axis import advise_up

    mesh, scene = world.navmesh, world.scene
    if scene.walkable:  # a floor plan, whose floors are known
        return None
    area = float(mesh.island_areas.max())
    advice = advise_up(scene.vertices, scene.triangles, mesh.settings, up, area)
    return None if advice is None else advice.message


def _rows(summary: SceneSummary, world: World, body: str) -> list[tuple[str, Any]]:
    """The table for people: name and value of everything worth knowing."""
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
