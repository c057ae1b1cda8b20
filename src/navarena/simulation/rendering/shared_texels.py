"""The texels of the tiles that generated houses share, with all their mip levels, kept once.

The render pack of a house then holds no texels of its own; every house maps the same ones.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import UInt8, UInt32

from navarena.core.sources import source_fingerprint
from navarena.scenes.packs import Pack, content_hash, load_or_build
from navarena.scenes.shared_textures import load_tiles, material_key
from navarena.simulation.rendering.texel_store import TexelStore, pack_textures

_SOURCE = Path(__file__).with_name("texel_store.py")
_COLUMNS = ("offset", "log_stored", "size", "mean")
TILE_SIDES = (128, 256, 512)
"""Pixels of the shared tiles, all square; other textures need not be compared with them."""


@cache
def texel_key() -> str:
    """The key of the shared texels of this version."""
    return content_hash("texels", material_key(), source_fingerprint(_SOURCE))


def shared_texels() -> UInt32[np.ndarray, "k"]:
    """(K,) texels of all shared tiles, as `TexelStore.texels`; read-only, mapped from the cache folder."""
    return _open_texels().arrays["texels"]


def shared_store(textures: Sequence[UInt8[np.ndarray, "_ _ 3"]]) -> TexelStore | None:
    """The store of `textures`, (h, w, 3) sRGB bytes each, within the shared texels.

    None where there are no textures or one of them is no shared tile.
    """
    if not textures or any(texture.shape[0] not in TILE_SIDES for texture in textures):
        return None
    pack = _open_texels()
    rows = [pack.meta["rows"].get(content_hash(np.asarray(texture))) for texture in textures]
    if None in rows:
        return None
    chosen = [0, *rows]
    columns = {name: pack.arrays[name][chosen] for name in _COLUMNS}
    return TexelStore(texels=pack.arrays["texels"], **columns)


def _open_texels() -> Pack:
    """The pack of all tiles, made first when there is none."""

    def build() -> tuple[Mapping[str, np.ndarray], dict[str, Any]]:
        tiles = list(load_tiles().values())
        store = pack_textures(tiles)
        rows = {content_hash(np.asarray(tile)): row + 1 for row, tile in enumerate(tiles)}
        return {"texels": store.texels, **{name: getattr(store, name) for name in _COLUMNS}}, {"rows": rows}

    return load_or_build("texels", texel_key(), build)
