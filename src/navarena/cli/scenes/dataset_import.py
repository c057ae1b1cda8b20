"""`navarena scene import --dataset`: check a dataset's folder, compile its scenes, several at once."""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import as_completed
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from navarena.cli.console import Console
from navarena.core.errors import FileError, InputError, NavarenaError
from navarena.core.processes import open_pool
from navarena.core.threads import THREADS_VARIABLE, thread_count
from navarena.scenes.datasets.catalog import dataset_of_folder, get_dataset
from navarena.scenes.datasets.dataset import SceneDataset
from navarena.scenes.datasets.roots import register_root

MAX_PARENTS = 3
"""How far above a scene's own file or folder its dataset's folder is looked for."""


@dataclass(frozen=True)
class Imported:
    """The result of importing one scene; `error` is empty if it was compiled (see Scene for the share)."""

    scene_id: str
    triangles: int = 0
    objects: int = 0
    rooms: int = 0
    navigable_area: float = 0.0
    ambiguous_share: float | None = None
    error: str = ""


def import_dataset(console: Console, name: str, path: Path, body: str, only: str, workers: int) -> int:
    """Check, register and compile the scenes below `path`; the exit code is 0, or 2 when one failed.

    Args:
        console: to speak through.
        name: of the dataset.
        path: its folder, the folder or file of one of its scenes, or a Habitat configuration file.
        body: whose size decides where it fits.
        only: beginning of the names of the scenes wanted; empty for all.
        workers: processes; 0 for one to a processor.

    Raises FileError that names the first missing file and where it is offered, before anything is
    compiled.
    """
    dataset = get_dataset(name)
    root, names = find_scenes(dataset, path)
    names = [scene for scene in names if scene.startswith(only)]
    if not names:
        raise InputError(f"expected a scene of {root} whose name begins with {only!r}, found none")
    verify_scenes(dataset, root, names)
    prefix = root_name(dataset, root)
    register_root(prefix, dataset.name, root)
    scenes = [f"{prefix}/{scene}" for scene in names]
    rows: dict[str, Imported] = {}
    with console.progress(len(scenes), f"importing {dataset.title}") as progress:
        for row in _compile_all(scenes, body, workers or thread_count()):
            rows[row.scene_id] = row
            if row.error:
                console.note(f"{row.scene_id}: {row.error}")
            progress.advance()
    done = [rows[scene] for scene in scenes]
    failed = sum(bool(row.error) for row in done)
    _report(console, dataset, root, body, done, failed)
    return InputError.exit_code if failed else 0


def find_scenes(dataset: SceneDataset, path: Path) -> tuple[Path, list[str]]:
    """(root folder, names of the scenes): all below `path`, or the one that `path` itself is.

    Raises FileError when there is none.
    """
    path = path.resolve()
    if not path.exists():
        raise FileError(f"{dataset.title}: expected its folder at {path}, found nothing; {dataset.offer}")
    if path.is_dir() or dataset.name == "habitat":
        names = dataset.list_scenes(path)
        if names:
            return path, names
    for parent in list(path.parents)[:MAX_PARENTS]:
        scene = dataset.scene_name(path.relative_to(parent).as_posix())
        if scene is not None and (len(scene.split("/")) > 1 or dataset.name != "hm3d"):
            return parent, [scene]
    raise FileError(f"{dataset.title}: expected {path}/{dataset.layout}, found none; {dataset.offer}")


def verify_scenes(dataset: SceneDataset, root: Path, names: Sequence[str]) -> None:
    """Raise FileError for the first missing file, with the number of scenes that lack one."""
    errors = []
    for name in names:
        try:
            dataset.locate(root, name)
        except FileError as error:
            errors.append(error)
    if errors:
        more = f" ({len(errors)} of {len(names)} scenes lack a file)" if len(names) > 1 else ""
        raise FileError(f"{errors[0]}{more}") from errors[0]


def root_name(dataset: SceneDataset, root: Path) -> str:
    """Prefix of the ids of scenes in `root`: its folder's name if that names a dataset."""
    if dataset.name == "habitat":
        name = root.name.partition(".")[0] if root.is_file() else root.name
        if dataset_of_folder(name) is not None:
            raise InputError(f"expected a folder with a name of its own, got {name!r}; rename {root}")
        return name
    return root.name if dataset_of_folder(root.name) == dataset.name else dataset.name


def compile_scene(scene_id: str, body: str) -> Imported:
    """Put scene, navmesh and render mesh of one scene into the cache; `error` says what failed."""
    from navarena.simulation.body_catalog import get_body
    from navarena.simulation.world import open_world

    try:
        world = open_world(scene_id, get_body(body))
        _ = world.render_mesh
    except NavarenaError as error:
        return Imported(scene_id, error=str(error))
    scene = world.scene
    return Imported(
        scene_id,
        len(scene.triangles),
        len(scene.objects),
        len(scene.rooms),
        world.navmesh.navigable_area,
        scene.ambiguous_share,
    )


def _compile_all(scenes: Sequence[str], body: str, workers: int) -> Iterator[Imported]:
    """Yield the scenes as they are finished, compiled in separate processes if there are several workers."""
    workers = min(workers, len(scenes))
    if workers <= 1:
        for scene in scenes:
            yield compile_scene(scene, body)
        return
    threads = max(1, thread_count() // workers)
    with open_pool(workers, partial(_set_threads, threads)) as pool:
        futures = {pool.submit(compile_scene, scene, body): scene for scene in scenes}
        for future in as_completed(futures):
            try:
                yield future.result()
            except Exception as error:  # a process that died, for lack of memory perhaps
                yield Imported(futures[future], error=f"its process ended: {error or type(error).__name__}")


def _set_threads(threads: int) -> None:
    os.environ[THREADS_VARIABLE] = str(threads)


def _share(row: Imported) -> str:
    """The share of the area with doubtful labels, for people."""
    return "" if row.ambiguous_share is None else f"{row.ambiguous_share:.2%}"


def _report(
    console: Console, dataset: SceneDataset, root: Path, body: str, rows: Sequence[Imported], failed: int
) -> None:
    good = [row for row in rows if not row.error]
    console.table(
        f"{dataset.title} in {root}",
        ("scene", "triangles", "objects", "rooms", "doubtful labels", f"navigable m2 for {body}"),
        [
            (row.scene_id, row.triangles, row.objects, row.rooms, _share(row), row.navigable_area)
            for row in good
        ],
    )
    console.text(f"{len(good)} of {len(rows)} scenes compiled; they are found by these names from now on")
    console.result(
        {
            "dataset": dataset.name,
            "root": str(root),
            "body": body,
            "failed": failed,
            "scenes": [asdict(row) for row in rows],
        }
    )
