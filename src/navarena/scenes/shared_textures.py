"""Textures that many scenes show, kept once: the material pack.

Generated houses draw on one set of tiles. A scene's pack names the tiles it shows; the tiles
themselves lie in one pack of the cache folder that every house maps.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import UInt8

from navarena.core.errors import FileError
from navarena.core.sources import source_fingerprint
from navarena.scenes.packs import Pack, content_hash, load_or_build

_TEXTURES = Path(__file__).parent / "houses" / "appearance" / "finish_tiles.py"


@cache
def material_key() -> str:
    """The key of the tiles of this version; stored with a scene that shows some."""
    return content_hash("materials", source_fingerprint(_TEXTURES))


def _open_materials() -> Pack:
    """The material pack, made if missing."""

    def build() -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        from navarena.scenes.houses.appearance.finish_tiles import base_tile, tile_names

        return {name: np.asarray(base_tile(name)) for name in tile_names()}, {}

    return load_or_build("materials", material_key(), build)


def load_tiles() -> Mapping[str, UInt8[np.ndarray, "_ _ 3"]]:
    """All shared tiles by name, (n, n, 3) sRGB bytes each; read-only, they lie in the material pack."""
    return _open_materials().arrays


def shared_names(textures: Sequence[UInt8[np.ndarray, "_ _ 3"]]) -> list[str | None]:
    """For each texture, (h, w, 3) sRGB bytes, the name of the tile that it is; None for a scene's own."""
    from navarena.scenes.houses.appearance.finish_tiles import drawn_tile_name

    return [drawn_tile_name(texture) for texture in textures]


def load_shared(names: Sequence[str], key: str) -> list[UInt8[np.ndarray, "_ _ 3"]]:
    """The tiles called `names`, (n, n, 3) sRGB bytes each, as they were when `material_key` gave `key`.

    They are read-only and lie in the material pack.

    Raises FileError when the tiles have changed since.
    """
    if key != material_key():
        raise FileError(
            "expected a scene stored with the tiles of this version, got one of another; load the scene by "
            "its id, which compiles it again"
        )
    materials = _open_materials()
    return [materials.arrays[name] for name in names]
