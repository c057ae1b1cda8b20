"""Good files of every kind that navarena reads, each with its reader: what `fuzzing` mutates."""

import base64
import gzip
import json
import os
import sys
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path += [str(Path(__file__).parent), str(Path(__file__).parent / "scenes")]


@dataclass(frozen=True)
class Sample:
    """A good file among those that mutate.

    Attributes:
        name: of the kind, for counts.
        file: below the folder of samples; what it refers to lies beside it.
        read: reads a file, and all that follows from it.
        is_json: whether values can be swapped in it.
    """

    name: str
    file: Path
    read: Callable[[Path], object]
    is_json: bool = False


def make_samples(folder: Path) -> list[Sample]:
    """Good files below `folder`: small ones made here, and those of NAVARENA_TEST_DATA where it is set."""
    return [*_meshes(folder), *_episodes(folder), *_datasets(folder), *_graphs(folder), *_runs(folder)]


def _real() -> Path | None:
    named = os.environ.get("NAVARENA_TEST_DATA")
    return Path(named) if named else None


def _put(path: Path, content: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def _meshes(folder: Path) -> Iterator[Sample]:
    from dataset_samples import flat_png, quad_ply, room_meshes
    from scene_samples import full_scene
    from trimesh import Trimesh
    from trimesh.exchange.gltf import export_gltf
    from trimesh.exchange.ply import export_ply

    from navarena.scenes.formats import export_glb, import_mesh
    from navarena.scenes.pack_file import open_pack, verify_pack, write_pack
    from navarena.simulation.navmesh import load_habitat_navmesh

    meshes = folder / "meshes"
    meshes.mkdir(parents=True)
    export_glb(full_scene(), meshes / "full.glb")
    yield Sample("glb", meshes / "full.glb", import_mesh)
    from trimesh import load_scene

    for name, data in export_gltf(load_scene(meshes / "full.glb")).items():
        (meshes / ("full.gltf" if name.endswith(".gltf") else name)).write_bytes(data)
    yield Sample("gltf", meshes / "full.gltf", import_mesh, is_json=True)
    (meshes / "looks.mtl").write_text("newmtl red\nKd 1 0 0.2\nnewmtl picture\nmap_Kd picture.png\n")
    (meshes / "picture.png").write_bytes(flat_png(0x0A141E))
    (meshes / "room.obj").write_text(
        "mtllib looks.mtl\nv 0 0 0\nv 1 0 0\nv 1 0 1\nv 0 0 1\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\n"
        "o room\ng floor\nusemtl red\nf 1/1 4/4 3/3 2/2\ng wall_a\nusemtl picture\nf -5/1 -4/2 5/3\n"
    )
    yield Sample("obj", meshes / "room.obj", import_mesh)
    yield Sample("mtl", meshes / "looks.mtl", lambda path: import_mesh(path.with_name("room.obj")))
    yield Sample("image", meshes / "picture.png", lambda path: import_mesh(path.with_name("room.obj")))
    scene = full_scene()
    triangles = Trimesh(scene.vertices, scene.triangles, process=False)
    for encoding in ("ascii", "binary"):
        path = _put(meshes / f"{encoding}.ply", export_ply(triangles, encoding=encoding))
        yield Sample(f"ply {encoding}", path, import_mesh)
    rooms = room_meshes()
    yield Sample("ply quads", _put(meshes / "quads.ply", quad_ply(rooms, range(len(rooms)))), import_mesh)
    pack = meshes / "one.pack"
    write_pack(pack, {"a": np.arange(40000.0), "b": np.zeros((3, 5), np.uint8)}, {"kind": "test"})
    pack.chmod(0o644)
    yield Sample("pack", pack, lambda path: (open_pack(path), verify_pack(path)))
    real = _real()
    if real is not None:
        for name in ("dungeon.obj", "dungeon_vcol.glb"):
            copied = _put(meshes / name, (real / "meshes" / name).read_bytes())
            yield Sample(f"real {name}", copied, import_mesh)
        name = "nav_dungeon_r018_h088.navmesh"
        copied = _put(meshes / name, (real / "goldens" / name).read_bytes())
        yield Sample("navmesh", copied, load_habitat_navmesh)
        copied = _put(
            folder / "noise" / "table.npy", (real / "noise" / "redwood-depth-dist-model.npy").read_bytes()
        )
        from navarena.corruptions.redwood import load_table

        yield Sample("npy", copied, load_table)


def _episodes(folder: Path) -> Iterator[Sample]:
    from episodes.exchange.samples import LAYOUTS
    from navarena.episodes.dataset import EpisodeDataset, is_own_file, load_episode_file, save_episodes
    from navarena.episodes.episode import Episode, PointGoal
    from navarena.episodes.exchange import open_episode_file

    def read(path: Path) -> object:
        if is_own_file(path):
            return load_episode_file(path)
        opened = open_episode_file(path)
        return list(opened.episodes), list(opened.records()), opened.listed_objects(), opened.hash

    for name, (_, content) in LAYOUTS.items():
        for suffix in (".json", ".json.gz"):
            path = _put(folder / "episodes" / f"{name.replace(' ', '-')}{suffix}" / f"val{suffix}", content)
            yield Sample("episode files", path, read, is_json=True)
    own = folder / "episodes" / "own.json"
    save_episodes(
        EpisodeDataset(
            "pointnav-v1", "tiny", "val",
            tuple(Episode(k, "scene", (0.0, 0.0, 0.5), 0.5, PointGoal((1.0, 0.0, 2.0)), 1.5) for k in "abc"),
            7, 0,
        ),
        own,
    )  # fmt: skip
    yield Sample("own episodes", own, read, is_json=True)
    real = _real()
    for file in sorted(real.rglob("*.json.gz")) if real is not None else ():
        if file.parent.name != "r2r" and (
            file.parent.name != "calibration" or file.stem.endswith("1_1.json")
        ):
            path = _put(folder / "real" / file.relative_to(real), gzip.decompress(file.read_bytes()))
            yield Sample("real episodes", path, read, is_json=True)


def _datasets(folder: Path) -> Iterator[Sample]:
    from dataset_samples import (
        GIBSON_TABLE,
        HM3D_TABLE,
        MP3D_HOUSE,
        procthor_assets,
        procthor_house,
        replica_table,
        write_habitat,
    )

    from navarena.scenes.datasets import get_dataset
    from navarena.scenes.datasets.gibson import _object_records, _rooms
    from navarena.scenes.datasets.hm3d import read_annotations
    from navarena.scenes.datasets.mesh_reader import read_json
    from navarena.scenes.datasets.mp3d_house import read_house as read_mp3d
    from navarena.scenes.datasets.mp3d_house import region_outline
    from navarena.scenes.datasets.procthor import _house_of
    from navarena.scenes.datasets.procthor_house import read_assets, read_house
    from navarena.scenes.datasets.procthor_mesh import build_scene
    from navarena.scenes.datasets.replica import read_objects
    from navarena.scenes.houses.plan_file.reader import read_plan

    def mp3d(path: Path) -> None:
        house = read_mp3d(path)
        for region in house.regions.values():
            region_outline(house, region)

    def gibson(path: Path) -> None:
        content = read_json(path, "table")
        _object_records(content, path)
        _rooms(content, path)

    def procthor(path: Path) -> None:
        sizes = read_assets(procthor_assets(), path)
        build_scene(read_house(_house_of(path, 0), path), sizes, "t", path)

    def habitat(path: Path) -> None:
        dataset = get_dataset("habitat")
        dataset.build(dataset.locate(folder / "datasets" / "tiny", "one"), "t")

    datasets = folder / "datasets"
    yield Sample("hm3d table", _put(datasets / "table.semantic.txt", HM3D_TABLE.encode()), read_annotations)
    yield Sample("mp3d house", _put(datasets / "one.house", MP3D_HOUSE.encode()), mp3d)
    yield Sample("gibson", _put(datasets / "gibson.json", GIBSON_TABLE), gibson, is_json=True)
    yield Sample(
        "replica", _put(datasets / "info_semantic.json", replica_table()), read_objects, is_json=True
    )
    line = json.dumps(procthor_house()).encode() + b"\n"
    yield Sample("procthor", _put(datasets / "val.jsonl.gz", line), procthor, is_json=True)
    assets = _put(datasets / "assets.json", procthor_assets())
    yield Sample("assets", assets, lambda path: read_assets(read_json(path, "assets"), path), is_json=True)
    for path in sorted(write_habitat(datasets / "tiny").rglob("*.json")):
        yield Sample("habitat configuration", path, habitat, is_json=True)
    path = _put(
        datasets / "plan.json", (Path(__file__).parents[1] / "examples" / "floor_plan.json").read_bytes()
    )
    yield Sample("floor plan", path, read_plan, is_json=True)


def _graphs(folder: Path) -> Iterator[Sample]:
    from graph_world import SCAN, connectivity_items, r2r_items
    from navarena.episodes.exchange.r2r import load_r2r
    from navarena.episodes.exchange.r2r_ce import load_expert_places, load_tour_places
    from navarena.episodes.exchange.vocabulary import load_vocabulary
    from navarena.episodes.tours import load_tours, save_tours
    from navarena.scenes.graphs import Connectivity
    from navarena.scenes.graphs.features import load_features

    def graphs(path: Path) -> None:
        connectivity = Connectivity(path)
        for scan in connectivity.scans:
            connectivity.graph(scan)

    graph = folder / "graphs"
    path = _put(graph / "connectivity" / f"{SCAN}_connectivity.json", connectivity_items())
    yield Sample("connectivity", path, lambda path: graphs(path.parent), is_json=True)
    archive = graph / "connectivity.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(path, path.name)
    yield Sample("connectivity archive", archive, graphs)
    yield Sample("r2r", _put(graph / "R2R_val_seen.json", r2r_items()), load_r2r, is_json=True)
    yield Sample("r2r", _put(graph / "R2R_val.json.gz", r2r_items()), load_r2r, is_json=True)
    tours = graph / "tours.json"
    save_tours({"val": {SCAN: [["1_0", "2_0"], ["3_1", "1_1"]]}}, tours)
    yield Sample("tours", tours, load_tours, is_json=True)
    expert = {"1": {"locations": [[0, 1, 2.5], [1, 1, 2]], "actions": [1, 0], "forward_steps": 1}}
    yield Sample("expert", _put(graph / "val_gt.json.gz", expert), load_expert_places, is_json=True)
    steps = {"val": {"1": [{"position": [0, 1, 2.5], "episode_id": 3}]}}
    path = _put(graph / "gt_ndtw.json", steps)
    yield Sample("expert tours", path, lambda path: load_tour_places(path, "val"), is_json=True)
    path = _put(graph / "vocabulary.txt", b"<PAD>\n<UNK>\n<EOS>\nwalk\nleft\n")
    yield Sample("vocabulary", path, load_vocabulary)
    views = base64.b64encode(np.ones((36, 4), np.float32).tobytes())
    path = _put(graph / "features.tsv", b"scan1\ta\t640\t480\t60\t" + views + b"\n")
    yield Sample("features", path, load_features)
    real = _real()
    if real is not None:
        text = gzip.decompress((real / "r2r" / "R2R_val_seen.json.gz").read_bytes())
        path = _put(folder / "real" / "R2R_val_seen.json.gz", json.loads(text)[:60])
        yield Sample("real r2r", path, load_r2r, is_json=True)


def _runs(folder: Path) -> Iterator[Sample]:
    from evaluation import corridor
    from navarena.evaluation import evaluate, read_record, read_rows, read_summary
    from navarena.evaluation.analyses import describe_replay, read_analyses, save_analysis
    from navarena.evaluation.analyses.compare import compare
    from navarena.evaluation.analyses.contestants import read_contestant
    from navarena.evaluation.analyses.failures import classify_run, load_evaluation, read_failures
    from navarena.evaluation.records.episode_table import read_table
    from navarena.evaluation.records.times import read_times
    from navarena.evaluation.running.replay import replay_run

    benchmark = corridor.make_benchmark(count=4)
    run = folder / "run"
    evaluate(corridor.make_settings(run), benchmark)
    save_analysis(run, describe_replay(replay_run(run, benchmark)))
    classify_run(run, benchmark)

    def whole(path: Path) -> None:
        read_summary(run), read_times(run), read_analyses(run)
        read_failures(run, read_record(run), read_rows(run))
        compare([read_contestant("A", [run])])
        load_evaluation(run, benchmark)
        replay_run(run, benchmark)

    for path in sorted(run.rglob("*.json*")):
        yield Sample(f"run {path.name}", path, whole, is_json=True)
    yield Sample("run episodes.parquet", run / "episodes.parquet", read_table)
