"""Seeded mutation of files, and the readers that must refuse what comes out by one clear error.

Run this file to try more inputs than the tests do, and to repeat one of them:

    python tests/fuzzing.py COUNT [SEED] [ONLY]

It prints what each reader made of its inputs, and every input that was not refused by one clear line.
"""

import gzip
import json
import logging
import os
import re
import resource
import signal
import sys
import tarfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

sys.path += [str(Path(__file__).parent), str(Path(__file__).parent / "scenes")]

SECONDS = 8.0
"""That one input may take, on a busy machine and with types checked at run time; good ones take 0.5 s."""

MEGABYTES = 768
"""By which one input may raise the memory of the process."""

ADDRESS_SPACE = 8 << 30
"""Bytes that the process may ask for at all, so that a miss does not take the machine down."""

NUMBERS = (
    b"-1", b"0", b"nan", b"1e308", b"-1e308", b"1e9", b"18446744073709551616", b"9223372036854775807",
    b"2147483648", b"65536", b"1" + b"0" * 400, b"1" + b"0" * 5000, b"0.5", b"1e-320",
)  # fmt: skip

ODD = (
    None, True, -1, 10**400, 2.0**64, 1e308, "", "x", "\ud7ff", [], {}, [1, 2, 3], [[]], [None], {"x": 1},
    {"x": 1, "y": 2, "z": 3}, 1e9, 0, -(10**18), "9" * 3000,
)  # fmt: skip


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


@dataclass(frozen=True)
class Finding:
    """An input that was not refused as it should be."""

    sample: str
    number: int
    problem: str


def _how_many(rng: np.random.Generator) -> int:
    """Changes of one input: mostly one, so that some get past the first check."""
    return int(rng.choice((1, 1, 1, 2, 4)))


def mutate_bytes(data: bytes, rng: np.random.Generator) -> bytes:
    """`data` with one to four places changed."""
    for _ in range(_how_many(rng)):
        at = int(rng.integers(0, max(1, len(data))))
        size = int(min(rng.integers(1, 64), max(1, len(data) - at)))
        kind = int(rng.integers(0, 8))
        if kind == 0 and data:
            data = data[:at] + bytes([data[at] ^ (1 << int(rng.integers(0, 8)))]) + data[at + 1 :]
        elif kind == 1:
            data = data[:at]
        elif kind == 2:
            data = data[:at] + data[at + size :]
        elif kind == 3:
            data = data[: at + size] + data[at : at + size] * int(rng.integers(1, 2000)) + data[at + size :]
        elif kind == 4:
            data = data[:at] + rng.bytes(size) + data[at:]
        elif kind == 5:
            data = (
                data[:at] + (b"\xff\xfe", b"[" * 3000, b"\0", b'{"a":' * 3000)[rng.integers(0, 4)] + data[at:]
            )
        else:
            found = list(re.finditer(rb"-?\d[\d.]*", data[at : at + 4096]))
            if found:
                one = found[int(rng.integers(0, len(found)))]
                other = NUMBERS[int(rng.integers(0, len(NUMBERS)))]
                data = data[: at + one.start()] + other + data[at + one.end() :]
    return data


def mutate_json(data: bytes, rng: np.random.Generator) -> bytes:
    """`data`, JSON or lines of it, with one to four values swapped, dropped or doubled."""
    lines = data.split(b"\n")
    chosen = int(rng.integers(0, len(lines)))
    try:
        whole = len(lines) == 1 or not lines[0].endswith(b"}")
        document = json.loads(data if whole else lines[chosen])
    except ValueError:
        return mutate_bytes(data, rng)
    for _ in range(_how_many(rng)):
        places = [(None, None), *_places(document)]
        holder, key = places[int(rng.integers(0, len(places)))]
        odd = ODD[int(rng.integers(0, len(ODD)))]
        if holder is None:
            continue
        if rng.random() < 0.2:
            del holder[key]
        elif isinstance(holder, list) and rng.random() < 0.2:
            holder.extend([holder[key]] * int(rng.integers(1, 300)))
        else:
            holder[key] = odd
    with np.errstate(all="ignore"):
        text = json.dumps(document).encode()
    if not whole:
        lines[chosen] = text
        return b"\n".join(lines)
    return text


def _places(document: object) -> Iterator[tuple[object, object]]:
    """(list or dictionary, key) of every value in a document."""
    pending = [document]
    while pending:
        holder = pending.pop()
        if not isinstance(holder, dict | list):
            continue
        for key in list(holder) if isinstance(holder, dict) else range(len(holder)):
            yield holder, key
            pending.append(holder[key])


def mutate(sample: Sample, rng: np.random.Generator) -> bytes:
    """Another content for the file of `sample`; compressed files change inside or outside."""
    data = sample.file.read_bytes()
    is_packed = data[:2] == b"\x1f\x8b"
    if is_packed and rng.random() < 0.02:
        return BOMB
    inside = is_packed and rng.random() < 0.7
    if inside:
        data = gzip.decompress(data)
    swap = sample.is_json and (inside or not is_packed) and rng.random() < 0.6
    data = mutate_json(data, rng) if swap else mutate_bytes(data, rng)
    return gzip.compress(data, 1) if inside else data


BOMB = gzip.compress(b"[" + b" " * (300 << 20), 1)
"""300 MiB of nothing in 1.3 MiB."""


class _Late(BaseException):
    """The input took too long."""


@contextmanager
def _limits() -> Iterator[None]:
    """End what takes longer than SECONDS by _Late."""

    def late(*_: object) -> None:
        raise _Late

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _peak_mib() -> int:
    """Largest resident size of this process since `_forget_peak`, MiB."""
    text = Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", text)[1]) >> 10


def _forget_peak() -> int:
    Path("/proc/self/clear_refs").write_text("5")
    return _peak_mib()


def try_input(sample: Sample, data: bytes) -> tuple[str, str]:
    """(outcome, problem) of reading `data` in the place of the sample's file; no problem is "".

    Outcomes are "read", "refused" and "found".
    """
    from navarena.cli.main import REFUSALS
    from navarena.core.errors import NavarenaError

    good = sample.file.read_bytes()
    sample.file.write_bytes(data)
    before, began = _forget_peak(), time.perf_counter()
    outcome, problem = "read", ""
    try:
        with _limits(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sample.read(sample.file)
    except NavarenaError as error:
        outcome = "refused"
        if not str(error).strip() or len(str(error)) > 4000:
            problem = f"message of {len(str(error))} letters: {str(error)[:200]}"
    except _Late:
        problem = f"took longer than {SECONDS:g} s"
    except OSError as error:
        outcome = "refused"
        problem = "" if error.errno in REFUSALS else _shorten(error)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        problem = _shorten(error)
    finally:
        sample.file.write_bytes(good)
    taken = time.perf_counter() - began
    grown = _peak_mib() - before
    if not problem and taken > SECONDS:
        problem = f"took {taken:.1f} s"
    if not problem and grown > MEGABYTES:
        problem = f"took {grown} MiB"
    return ("found" if problem else outcome), problem


def _shorten(error: BaseException) -> str:
    lines = "".join(traceback.format_exception(error, limit=-4)).splitlines()
    return "\n".join(line[:200] for line in lines)


def fuzz(folder: Path, seed: int, count: int, only: str = "") -> tuple[Counter, list[Finding]]:
    """((sample, outcome) -> how many, findings) of `count` inputs; the i-th depends on `seed` and i alone."""
    samples = [one for one in make_samples(folder) if only in one.name]
    for sample in samples:
        sample.read(sample.file)  # good as it is, and all that is compiled on first use is there
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, hard))
    counts: Counter = Counter()
    findings = []
    try:
        for number in range(count):
            rng = np.random.default_rng([seed, number])
            sample = samples[int(rng.integers(0, len(samples)))]
            data = mutate(sample, rng)
            outcome, problem = try_input(sample, data)
            counts[sample.name, outcome] += 1
            if problem:
                findings.append(Finding(sample.name, number, problem))
                kept = os.environ.get("NAVARENA_FUZZ_KEEP")
                if kept:
                    (Path(kept) / f"{seed}-{number}-{sample.file.name}").write_bytes(data)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    return counts, findings


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
    from navarena.scenes.datasets.mesh_reading import read_json
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
    import base64

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
    from navarena.evaluation.compare import compare, read_contestant
    from navarena.evaluation.episode_table import read_table
    from navarena.evaluation.failures import load_evaluation, read_failures
    from navarena.evaluation.replay import replay_run
    from navarena.evaluation.times import read_times

    benchmark = corridor.make_benchmark(count=4)
    run = folder / "run"
    evaluate(corridor.make_settings(run), benchmark)
    save_analysis(run, describe_replay(replay_run(run, benchmark)))
    (run / "failures.json").write_text("{}")

    def whole(path: Path) -> None:
        read_record(run), read_summary(run), read_times(run), read_failures(run), read_analyses(run)
        compare([read_contestant("A", [run])])
        load_evaluation(run, benchmark)
        replay_run(run, benchmark)

    for path in sorted(run.rglob("*.json*")):
        yield Sample(f"run {path.name}", path, whole, is_json=True)
    yield Sample("run episodes.parquet", run / "episodes.parquet", read_table)
    assert read_rows(run)


def main() -> int:
    """Try inputs as the command line says."""
    count, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else time.time_ns() % 10**9
    print(f"seed {seed}", flush=True)
    logging.disable()
    warnings.simplefilter("ignore")
    with TemporaryDirectory() as folder:
        os.environ.setdefault("NAVARENA_CACHE", str(Path(folder) / "cache"))
        counts, findings = fuzz(
            Path(folder) / "samples", seed, count, sys.argv[3] if len(sys.argv) > 3 else ""
        )
    for name in sorted({name for name, _ in counts}):
        cells = ", ".join(f"{counts[name, one]} {one}" for one in ("read", "refused", "found"))
        print(f"{name:28} {cells}")
    for finding in findings:
        print(f"--- {finding.sample}, input {finding.number}\n{finding.problem}")
    print(f"{count} inputs, seed {seed}: {len(findings)} found")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
