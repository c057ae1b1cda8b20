"""Packs: arrays compiled once, kept in the cache folder, mapped by every process.

`load_or_build` is the door for everything that derives from scenes: compiled scenes,
navmeshes, render meshes. The file format is in `pack_file`, the folder in `cache_store`.
"""

import logging
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from navarena.core.errors import FileError
from navarena.core.notices import announce
from navarena.scenes.cache_store import build_lock, make_room, mark_used, packs_folder
from navarena.scenes.pack_file import Pack, content_hash, open_pack, verify_pack, write_pack

__all__ = [
    "Pack",
    "content_hash",
    "load_or_build",
    "open_pack",
    "pack_path",
    "verify_pack",
    "write_pack",
]

WORK = {
    "episodes": "generating episodes of",
    "goat-goals": "finding goals in",
    "graph-views": "drawing the views of",
    "graphs": "scattering places over",
    "materials": "drawing materials",
    "navmesh": "building the navmesh of",
    "render": "preparing images of",
    "scene": "building",
    "texels": "drawing materials",
    "tours": "ordering tours",
    "view-points": "finding view points in",
}
"""Kind of pack -> how notices call the building of one."""

_FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_log = logging.getLogger(__name__)


def pack_path(kind: str, key: str) -> Path:
    """The path of the pack `key` of `kind` in the cache; both become parts of a file name."""
    for part in (kind, key):
        if not _FILE_NAME.fullmatch(part):
            raise ValueError(f"expected letters, digits, '_', '-' and '.' in a pack's name, got {part!r}")
    return packs_folder() / kind / f"{key}.pack"


def load_or_build(
    kind: str,
    key: str,
    build: Callable[[], tuple[Mapping[str, np.ndarray], dict[str, Any]]],
    name: str = "",
) -> Pack:
    """The pack `key` of `kind` from the cache, built first when it is missing or damaged.

    Args:
        kind: what it holds, such as "scene".
        key: a hash of everything that `build` depends on.
        build: returns (arrays, meta) as `write_pack` takes them. It runs once even when many
            processes ask at the same time; what it raises passes through.
        name: what it is made from, such as a scene id, for notices.

    Raises StorageError when the cache cannot be written; nothing is left behind.
    """
    path = pack_path(kind, key)
    pack = _open_good(path)
    if pack is not None:
        return pack
    with build_lock(kind, key):
        pack = _open_good(path, log=True)  # another process was faster
        if pack is None:
            with announce(WORK.get(kind, f"building {kind}"), name):
                arrays, meta = build()
                pack = _store(path, arrays, meta)
    make_room(path)
    return pack


def _store(path: Path, arrays: Mapping[str, np.ndarray], meta: dict[str, Any]) -> Pack:
    """Write a pack and open it, again where another process evicts it in between."""
    for _ in range(2):
        write_pack(path, arrays, meta)
        if path.exists():
            break
    return open_pack(path)


def _open_good(path: Path, log: bool = False) -> Pack | None:
    """The pack at `path`, or None when it must be built."""
    try:
        if not path.exists():
            return None
        pack = open_pack(path)
    except OSError:  # a cache that may not be looked into: building says so
        return None
    except FileError as error:
        if log:
            _log.warning("building again: %s", str(error).rpartition(";")[0])
        return None
    mark_used(path)
    return pack
