"""ProcTHOR's houses: walls, doors and windows as they are, objects as boxes.

A folder holds `train.jsonl.gz`, `val.jsonl.gz` and `test.jsonl.gz` (a house to a line, as ProcTHOR-10K
comes), or single houses `NAME.json`, and beside them `asset-database.json`, which says how large each asset
is. The assets themselves belong to their simulator: here they are boxes in the colour of their category.
"""

import gzip
import json
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from io import BufferedIOBase
from itertools import count, islice
from pathlib import Path
from typing import Any, ClassVar, final

from navarena.core.errors import FileError
from navarena.core.files import LIMITS
from navarena.scenes.datasets.dataset import SceneDataset, SceneFiles
from navarena.scenes.datasets.mesh_reader import read_json
from navarena.scenes.datasets.procthor_house import read_assets, read_house
from navarena.scenes.datasets.procthor_mesh import build_scene
from navarena.scenes.scene import Scene

ASSETS = "asset-database.json"

_CHUNK = 500
"""Houses read at once: a file of ten thousand does not fit into memory comfortably."""

_NAME = re.compile(r"[\w +-]+")
_LISTED = re.compile(r"([A-Za-z0-9_-]+)(?:\.jsonl(?:\.gz)?)?/(\d+)")


@final
class ProcTHOR(SceneDataset):
    """ProcTHOR-10K: 12,000 generated houses; objects are boxes here."""

    name: ClassVar[str] = "procthor"
    title: ClassVar[str] = "ProcTHOR"
    offer: ClassVar[str] = (
        "its owner offers the houses at https://github.com/allenai/procthor-10k and asset-database.json at "
        "https://github.com/allenai/procthor/tree/main/procthor/databases"
    )
    layout: ClassVar[str] = "{train,val,test}.jsonl.gz (or NAME.json) and asset-database.json"

    def scene_name(self, rest: str) -> str | None:
        rest = rest.rstrip("/")
        listed = _LISTED.fullmatch(rest)
        if listed:
            return f"{listed[1]}/{int(listed[2])}"
        name = rest.removesuffix(".json")
        return name if _NAME.fullmatch(name) and name != ASSETS.removesuffix(".json") else None

    def list_scenes(self, root: Path) -> list[str]:
        single = sorted(path.stem for path in root.glob("*.json") if path.name != ASSETS)
        listed = [
            f"{path.name.partition('.jsonl')[0]}/{index}"
            for path in sorted([*root.glob("*.jsonl"), *root.glob("*.jsonl.gz")])
            for index in range(_count_lines(path))
        ]
        return single + listed

    def locate(self, root: Path, name: str) -> SceneFiles:
        split, _, index = name.rpartition("/")
        if split:
            plain, packed = root / f"{split}.jsonl", root / f"{split}.jsonl.gz"
            houses = plain if plain.is_file() else packed
        else:
            houses = root / f"{name}.json"
        paths = {
            "houses": self.require_file(houses, "file of houses"),
            "assets": self.require_file(root / ASSETS, "sizes of assets"),
        }
        return SceneFiles(name, paths, index if split else "")

    def build(self, files: SceneFiles, scene_id: str) -> Scene:
        houses = files.paths["houses"]
        content = _house_of(houses, int(files.entry)) if files.entry else read_json(houses, "house")
        assets = files.paths["assets"]
        sizes = read_assets(read_json(assets, "asset database"), assets)
        return build_scene(read_house(content, houses), sizes, scene_id, houses)


def _house_of(path: Path, index: int) -> Any:
    """The house in line `index`, counted from 0, of a file of houses."""
    start = index - index % _CHUNK
    lines = _some_lines(path, path.stat().st_mtime_ns, start)
    if index - start >= len(lines):
        raise FileError(f"{path}: expected a house from 0 to {_count_lines(path) - 1}, got {index}")
    number, line = lines[index - start]
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise FileError(f"{path}:{number}: this line is no JSON, or only a part of it: {error}") from error


@lru_cache(maxsize=2)
def _some_lines(path: Path, modified_ns: int, start: int) -> tuple[tuple[int, bytes], ...]:
    """(number, line) of up to _CHUNK houses from `start` on, kept while neighbouring ones are read."""
    with _opened(path) as file:
        return tuple(islice(_house_lines(file), start, start + _CHUNK))


def _count_lines(path: Path) -> int:
    with _opened(path) as file:
        return sum(1 for _ in _house_lines(file))


def _house_lines(file: BufferedIOBase) -> Iterator[tuple[int, bytes]]:
    """(number from 1, line) of the lines that are not blank."""
    for number in count(1):
        line = file.readline(LIMITS.unpacked_bytes + 1)
        if len(line) > LIMITS.unpacked_bytes:
            raise FileError(
                f"line {number}: expected a house of at most {LIMITS.unpacked_bytes} bytes, got more"
            )
        if not line:
            return
        if not line.isspace():
            yield number, line


@contextmanager
def _opened(path: Path) -> Iterator[BufferedIOBase]:
    """The lines of a file, unpacked; a damaged archive becomes FileError."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            yield file
    except (OSError, EOFError, zlib.error) as error:
        raise FileError(f"{path} cannot be read, or is only a part of an archive: {error}") from error
