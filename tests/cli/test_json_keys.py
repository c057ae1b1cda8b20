"""What commands print with --json is documented in docs/json-keys.md, key by key, and no other keys come.

Documented paths have dots between keys, `[]` for the items of a list, and `*` for keys that are data
(such as names of metrics).
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from graph_world import write_files
from navarena.cli.listing import LISTINGS
from navarena.cli.main import COMMANDS, main

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTED = re.compile(r"^\| `([a-z -]+)` \| (.*) \|$", re.M)

RAW_METRICS = {
    "success": 1,
    "percentage_success": 1,
    "geodesic_distances": [4.0],
    "agent_path_length": 5.0,
    "subgoals_found": 1,
    "agent_distances": [5.0],
    "MSPL": 0.8,
    "PSPL": 0.8,
    "episode_lenth": 30,
}


def documented_keys() -> dict[str, set[str]]:
    text = (ROOT / "docs" / "json-keys.md").read_text()
    return {name: set(re.findall(r"`([^`]+)`", cell)) for name, cell in DOCUMENTED.findall(text)}


KEYS = documented_keys()


def paths(value: Any, prefix: str = "") -> Iterator[str]:
    """The path of every leaf; an empty list or mapping is a leaf."""
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from paths(item, f"{prefix}.{key}" if prefix else key)
    elif isinstance(value, list) and value and isinstance(value[0], dict | list):
        for item in value:
            yield from paths(item, prefix + "[]")
    else:
        yield prefix


def matches(pattern: str, path: str) -> bool:
    ours, theirs = pattern.split("."), path.split(".")
    return len(ours) == len(theirs) and all(a in (b, "*") for a, b in zip(ours, theirs, strict=True))


def check(command: str, document: Any) -> None:
    """Every leaf is documented, and every documented key occurs (or its list is empty, or null)."""
    leaves = set(paths(document))
    unknown = {leaf for leaf in leaves if not any(matches(key, leaf) for key in KEYS[command])}
    empty = {
        leaf for leaf in unknown if any(key.startswith((leaf + "[]", leaf + ".")) for key in KEYS[command])
    }
    assert unknown <= empty, f"not documented in docs/json-keys.md: {sorted(unknown - empty)}"
    absent = {
        key
        for key in KEYS[command]
        if not any(matches(key, leaf) for leaf in leaves)
        and not any(key.startswith((leaf + "[]", leaf + ".")) for leaf in empty)
    }
    assert not absent, f"documented, but not printed: {sorted(absent)}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cli")


def printed(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> Any:
    code = main([*map(str, arguments), "--json"])
    said = capsys.readouterr()
    assert code == 0, said.err
    return json.loads(said.out)


def test_every_command_is_documented() -> None:
    assert set(KEYS) == set(COMMANDS)


def test_rules() -> None:
    assert set(paths({"a": {"b": 1}, "c": [{"d": 1}], "e": [1, 2], "f": {}})) == {"a.b", "c[].d", "e", "f"}
    assert matches("metrics.*.mean", "metrics.spl.mean") and not matches("metrics.*", "metrics.spl.mean")


def test_evaluate_and_replay(folder: Path, dungeon_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mesh, out = dungeon_folder / "dungeon.obj", folder / "run"
    arguments = ("--dataset", mesh, "--agent", "forward", "--episodes", "2", "--out", out)
    check("evaluate", printed(capsys, "evaluate", "pointnav-v1", *arguments))
    check("replay", printed(capsys, "replay", out))
    check("export", printed(capsys, "export", out, "robustnav", "--out", folder / "tasks.json"))
    check("failures", printed(capsys, "failures", out))
    other = folder / "other"
    printed(capsys, "evaluate", "pointnav-v1", *arguments[:-1], other, "--seed", "1")
    compared = printed(capsys, "compare", out, f"{out},{other}", "--by", "band", "--by", "radius")
    check("compare", compared)
    arguments = ("--dataset", mesh, "--agent", "expert", "--episodes", "2", "--out")
    printed(capsys, "evaluate", "pointnav-v1", *arguments, folder / "suite" / "clean")
    printed(
        capsys, "evaluate", "pointnav-v1", *arguments, folder / "suite" / "drift", "--corrupt", "motion_drift"
    )
    check("robustness", printed(capsys, "robustness", folder / "suite", "--no-sheet"))
    raw = folder / "raw.json"
    raw.write_text(json.dumps({"a.0": RAW_METRICS}))
    check("import", printed(capsys, "import", "multion", raw, "--out", folder / "imported"))
    suite = (folder / "suite" / "clean", folder / "suite" / "drift")
    check("analyse", printed(capsys, "analyse", "degradation", *suite))
    check("analyse", printed(capsys, "analyse", "distance", out))
    videos = ("--videos", "1", "--video-height", "64", "--video-folder", folder / "videos")
    check("report", printed(capsys, "report", *suite, *videos))


def test_demos(folder: Path, dungeon_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mesh = dungeon_folder / "dungeon.obj"
    arguments = ("--dataset", mesh, "--episodes", "1", "--format", "parquet", "--sensors", "compass")
    check("demos", printed(capsys, "demos", "pointnav-v1", *arguments, "--out", folder / "demos"))


def test_episodes(folder: Path, dungeon_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = folder / "episodes.json"
    mesh = dungeon_folder / "dungeon.obj"
    made = printed(
        capsys, "episodes", "make", "pointnav-v1", "--scene", mesh, "--per-scene", "2", "--out", file
    )
    check("episodes make", made)
    check("episodes info", printed(capsys, "episodes", "info", file))
    check("episodes stats", printed(capsys, "episodes", "stats", file))
    check("episodes audit", printed(capsys, "episodes", "audit", file))


def test_scenes(folder: Path, dungeon_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mesh = dungeon_folder / "dungeon.obj"
    check("scene import", printed(capsys, "scene", "import", mesh))
    check("scene info", printed(capsys, "scene", "info", mesh))
    check("scene make", printed(capsys, "scene", "make", "houses-v0/val/00000"))
    check("scene preview", printed(capsys, "scene", "preview", mesh, "--out", folder / "p.png"))
    drawn = printed(
        capsys, "corruptions", "sheet", mesh, "--corruption", "spatter", "--out", folder / "s.png"
    )
    check("corruptions sheet", drawn)


def test_features(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("h5py")
    out = folder / "views.hdf5"
    check("features make", printed(capsys, "features", "make", "mini", "--limit", "1", "--out", out))


def test_tours(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """On a drawn scan: R2R's own data may not be copied into the project."""
    r2r, graphs = write_files(folder)
    sources = ("--r2r", r2r, "--connectivity", graphs)
    out = folder / "tours.json"
    check("tours make", printed(capsys, "tours", "make", *sources, "--out", out, "--iterations", "1"))
    check("tours stats", printed(capsys, "tours", "stats", out, *sources))
    run, results = folder / "tours", folder / "results.json"
    files = ("--dataset", r2r, "--scenes", graphs, "--tours", out)
    ran = printed(capsys, "evaluate", "ir2r-v1", "--agent", "random", *files, "--out", run)
    assert {leaf for leaf in paths(ran) if matches("tours.metrics.*.mean", leaf)}
    check("replay", printed(capsys, "replay", run))
    check("export", printed(capsys, "export", run, "r2r", "--out", results))
    check("tours draw", printed(capsys, "tours", "draw", run, "--out", folder / "drawings"))
    check("tours score", printed(capsys, "tours", "score", results, *sources, "--tours", out))
    check("tours houses", printed(capsys, "tours", "houses", "mini", "--out", folder / "houses"))
    check("tours coverage", printed(capsys, "tours", "coverage", "mini", "--limit", "2", "--keep", folder))
    assert (folder / "analyses" / "coverage.json").exists()


def test_goals(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    house = "houses-v1/val/00000"
    check("goals make", printed(capsys, "goals", "make", house))
    check("goals stats", printed(capsys, "goals", "stats", "val_seen_mini", "--limit", "1"))
    sheet = ("--out", folder / "goals.png", "--limit", "4")
    check("goals preview", printed(capsys, "goals", "preview", house, *sheet))
    names = folder / "names.json"  # without a description the writer is not asked
    kind = ("ovon-v1", "--scene", house, "--per-scene", "1", "--out", names)
    printed(capsys, "episodes", "make", *kind)
    writer = ("--protocol", "ovon-v1", "--writer", "http://127.0.0.1:9/v1", "--out", folder / "words.json")
    check("goals reword", printed(capsys, "goals", "reword", names, *writer))


def test_cache(
    folder: Path, dungeon_folder: Path, empty_cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["scene", "import", str(dungeon_folder / "dungeon.obj")])
    capsys.readouterr()
    check("cache info", printed(capsys, "cache", "info"))
    check("cache clear", printed(capsys, "cache", "clear"))


@pytest.mark.parametrize("kind", LISTINGS)
def test_list(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    document = printed(capsys, "list", kind)
    unknown = {leaf for leaf in paths(document) if not any(matches(key, leaf) for key in KEYS["list"])}
    assert not unknown, f"not documented in docs/json-keys.md: {sorted(unknown)}"


def test_doctor(capsys: pytest.CaptureFixture[str]) -> None:
    check("doctor", printed(capsys, "doctor"))


def test_bench(capsys: pytest.CaptureFixture[str]) -> None:
    check("bench", printed(capsys, "bench", "geodesic", "--quick"))


def test_completion(capsys: pytest.CaptureFixture[str]) -> None:
    check("completion", printed(capsys, "completion"))
