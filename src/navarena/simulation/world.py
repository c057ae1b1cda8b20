"""A scene made ready for one kind of body, and a bounded store of such worlds."""

import logging
from collections import OrderedDict, deque
from collections.abc import Callable
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from navarena.core.errors import InputError
from navarena.core.sources import source_fingerprint
from navarena.scenes.catalog import is_file_path, load_scene, navmesh_file, scene_hash
from navarena.scenes.mesh_reference import split_reference
from navarena.scenes.packs import content_hash, load_or_build
from navarena.scenes.scene import Scene
from navarena.simulation.body import Embodiment
from navarena.simulation.navmesh.navmesh import NavMesh
from navarena.simulation.navmesh.navmesh_settings import NavMeshSettings
from navarena.simulation.rendering.render_mesh import (
    RenderMesh,
    build_render_mesh,
    render_mesh_from_pack,
    render_mesh_to_arrays,
)
from navarena.simulation.rendering.shared_texels import texel_key

DEFAULT_CACHE_BYTES = 1 << 30

THRASH_WINDOW = 20
"""Openings looked back on: half of them again of scenes among as many that left last is a warning."""

_log = logging.getLogger(__name__)

_HERE = Path(__file__).parent
_NAVMESH_SOURCES = tuple(
    _HERE / "navmesh" / name
    for name in (
        "building/mesh_navmesh.py",
        "building/floor_navmesh.py",
        "building/mesh_checks.py",
        "navmesh.py",
    )
)
_GIVEN_NAVMESH_SOURCE = _HERE / "navmesh" / "given_navmesh.py"
_RENDER_MESH_SOURCE = _HERE / "rendering" / "render_mesh.py"


class World:
    """A scene with its navmesh and render mesh for bodies of one kind.

    The navmesh is there from the start; the scene and its render mesh are loaded when they are
    first looked at, so that a run without images never opens them.

    Args:
        scene_id: such as "houses-v1/val/00017".
        navmesh: for the body's size.
        load: returns the scene.
        load_render_mesh: returns what the renderer draws, given a function that returns the scene;
            None builds it from the scene.
        reopen: makes the world again where a pickle of it is loaded; None pickles scene and navmesh.
    """

    def __init__(
        self,
        scene_id: str,
        navmesh: NavMesh,
        load: Callable[[], Scene],
        load_render_mesh: Callable[[Callable[[], Scene]], RenderMesh] | None = None,
        reopen: "Callable[[], World] | None" = None,
    ) -> None:
        self.scene_id = scene_id
        self.navmesh = navmesh
        self._load = load
        self._load_render_mesh = load_render_mesh or (lambda load: build_render_mesh(load()))
        self._reopen = reopen

    @classmethod
    def of(cls, scene: Scene, navmesh: NavMesh) -> "World":
        """The world of a scene in memory; nothing is cached on disk."""
        return cls(scene.scene_id, navmesh, lambda: scene)

    def __reduce__(self) -> tuple[Any, ...]:
        return (World.of, (self.scene, self.navmesh)) if self._reopen is None else (self._reopen, ())

    @cached_property
    def scene(self) -> Scene:
        """The geometry with its meaning."""
        return self._load()

    @cached_property
    def render_mesh(self) -> RenderMesh:
        """The render mesh. A scene that was not loaded before is not kept in memory for it."""
        return self._load_render_mesh(lambda: self.__dict__.get("scene") or self._load())

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays that are loaded now and in memory of their own.

        What is mapped from the cache folder is not counted: the system takes these pages back at need.
        """
        return sum(array.nbytes for array in self._arrays() if not _is_mapped(array))

    def _arrays(self) -> list[np.ndarray]:
        parts: list[object] = [self.navmesh]
        parts += [self.__dict__[name] for name in ("scene", "render_mesh") if name in self.__dict__]
        return [one for part in parts for one in vars(part).values() if isinstance(one, np.ndarray)]


def make_navmesh(scene: Scene, embodiment: Embodiment, up_axis: str = "y") -> NavMesh:
    """Build the navmesh of `scene` for `embodiment`: from exact floors where the scene has them.

    Args:
        scene: y up.
        embodiment: the body.
        up_axis: axis of the scene's file that became y, for the advice in messages; "" where it is no file.

    Raises SceneError when there is nowhere to stand.
    """
    settings = NavMeshSettings.for_body(embodiment)
    if scene.walkable:
        from navarena.simulation.navmesh.building.floor_navmesh import build_floor_navmesh

        return build_floor_navmesh(scene.walkable, settings)
    from navarena.simulation.navmesh.building.mesh_navmesh import build_navmesh  # Shapely: only to build

    return build_navmesh(scene.vertices, scene.triangles, settings, up_axis)


def open_world(
    scene_id: str,
    embodiment: Embodiment,
    up_axis: str = "y",
    scale: float = 1.0,
    force_up: bool = False,
) -> World:
    """The world of a scene for one body, through the packs of the cache folder.

    A `.navmesh` file of Habitat's beside the mesh is taken where it was made for such a body, as Habitat
    does; else the navmesh is built.

    Args:
        scene_id: of a known scene set, or the path of a mesh file.
        embodiment: whose size the navmesh is cut for.
        up_axis: of a mesh file: "y", "z", "x", or one with a minus sign.
        scale: of a mesh file, metres per unit.
        force_up: take a mesh file that clearly seems to lie on its side (`navmesh.up_axis`). Its
            navmesh then stays in the cache, where later calls without this find it.

    Raises UnknownNameError, FileError or SceneError when there is no such scene, nowhere to stand, or
    a floor several times larger with another axis up, or whose things hang from its top; FileError for a
    damaged `.navmesh` file.
    """
    content, given = scene_hash(scene_id, up_axis, scale), navmesh_file(scene_id)
    up = split_reference(scene_id, up_axis).up_axis if is_file_path(scene_id) else ""

    def load() -> Scene:
        return load_scene(scene_id, up_axis, scale)

    def load_render_mesh(load: Callable[[], Scene]) -> RenderMesh:
        key = content_hash(content, source_fingerprint(_RENDER_MESH_SOURCE), texel_key())
        return render_mesh_from_pack(
            load_or_build("render", key, lambda: render_mesh_to_arrays(load()), scene_id), load
        )

    def build() -> NavMesh:
        scene = load()
        if given is not None:
            from navarena.simulation.navmesh.given_navmesh import load_given_navmesh

            found = load_given_navmesh(given, embodiment, scene)
            if found is not None:
                return found
        navmesh = make_navmesh(scene, embodiment, up)
        if up and not scene.walkable and not force_up:
            from navarena.simulation.navmesh.building.mesh_checks import require_standing, require_upright

            area = float(navmesh.island_areas.max())
            require_upright(scene.vertices, scene.triangles, navmesh.settings, up, area)
            require_standing(scene, navmesh, up)
        return navmesh

    read = () if given is None else (_GIVEN_NAVMESH_SOURCE,)
    sources = [source_fingerprint(file) for file in (*_NAVMESH_SOURCES, *read)]
    key = content_hash(content, repr(NavMeshSettings.for_body(embodiment)), *sources)
    pack = load_or_build("navmesh", key, lambda: build().to_arrays(), scene_id)
    navmesh = NavMesh.from_arrays(pack.arrays, pack.meta)
    reopen = partial(open_world, scene_id, embodiment, up_axis, scale, force_up)
    return World(scene_id, navmesh, load, load_render_mesh, reopen)


class WorldCache:
    """Worlds of one body by scene id; the least recently used leave when they grow too large.

    A generated house of 1 to 3 storeys takes 1 to 5 MB with its images, 3.5 MiB on average, and its scene
    1 MB more where a task looks at its objects: 1 GiB holds some 290 of them, 2.8 GiB the 800 of a training
    split. Mapped files, which all processes share, come on top. A run in which worlds leave that are soon
    needed again says so once in the log.

    Args:
        embodiment: the body.
        open: makes a world from a scene id; `open_world` by default.
        limit_bytes: of all worlds together (their `nbytes`). The last one asked for stays in any case.

    Attributes:
        embodiment, open, limit_bytes: as given.
    """

    def __init__(
        self,
        embodiment: Embodiment,
        open: Callable[[str, Embodiment], World] = open_world,
        limit_bytes: int = DEFAULT_CACHE_BYTES,
    ) -> None:
        if limit_bytes <= 0:
            raise InputError(f"expected a positive limit_bytes of the world cache, got {limit_bytes}")
        self.embodiment, self.open, self.limit_bytes = embodiment, open, limit_bytes
        self._worlds: OrderedDict[str, World] = OrderedDict()
        self._sizes: dict[str, int] = {}
        self._used: set[str] = set()
        self._left: deque[str] = deque(maxlen=THRASH_WINDOW)
        self._again: deque[bool] = deque(maxlen=THRASH_WINDOW)
        self._warned = False

    def __len__(self) -> int:
        return len(self._worlds)

    @property
    def nbytes(self) -> int:
        """Bytes of all held worlds, without mapped files."""
        self._measure()
        return sum(self._sizes.values())

    def add(self, world: World) -> None:
        """Hold a ready world under its scene id, in the place of any other."""
        self._worlds[world.scene_id] = world
        self._worlds.move_to_end(world.scene_id)
        self._used.add(world.scene_id)
        self._evict()

    def get(self, scene_id: str) -> World:
        """The world of `scene_id`, opened when it is not held."""
        if scene_id not in self._worlds:
            self._note_opening(scene_id)
            self.add(self.open(scene_id, self.embodiment))
        self._worlds.move_to_end(scene_id)
        self._used.add(scene_id)
        return self._worlds[scene_id]

    def _measure(self) -> None:
        """Bring sizes up to date: scenes and render meshes are loaded after their worlds were asked for."""
        self._sizes |= {name: self._worlds[name].nbytes for name in self._used if name in self._worlds}
        self._used.clear()

    def _evict(self) -> None:
        total = self.nbytes
        while len(self._worlds) > 1 and total > self.limit_bytes:
            name, _ = self._worlds.popitem(last=False)
            total -= self._sizes.pop(name)
            self._left.append(name)
        self._used.add(next(reversed(self._worlds)))  # what it loads is not yet known

    def _note_opening(self, scene_id: str) -> None:
        """Warn once when most of the last openings were of worlds that had just left."""
        self._again.append(scene_id in self._left)
        if self._warned or sum(self._again) * 2 < THRASH_WINDOW:
            return
        self._warned = True
        _log.warning(
            "%d of the last %d scenes were opened again right after they had left: %d scenes fill the limit "
            "of %.0f MB; give WorldCache a larger limit_bytes, or draw from fewer scenes at a time",
            sum(self._again),
            len(self._again),
            len(self._worlds),
            self.limit_bytes / 1e6,
        )


def _is_mapped(array: np.ndarray) -> bool:
    """Whether the bytes of `array` are those of a file in the cache folder; small files are copied."""
    owner: object = array
    while isinstance(owner, np.ndarray):
        owner = owner.base
    return isinstance(owner, memoryview) and not isinstance(owner.obj, np.ndarray)
