"""Random generators derived from names.

A name is a path of strings and integers, such as
("pointnav-v1", "val", "houses-v1/val/00017", 3, "start"). Equal names give equal streams
on every machine; different names give independent ones. Nothing depends on the order in
which generators are made.
"""

import hashlib
from pathlib import PurePath

import numpy as np


def derive_seed(*name: str | int) -> int:
    """A 128-bit seed for `name`: SHA-256 over its length-prefixed parts.

    `"1"` and `1` are different parts.
    """
    digest = hashlib.sha256()
    for part in name:
        if isinstance(part, bool) or not isinstance(part, str | int | np.integer):
            raise TypeError(
                f"expected str or int in a generator's name, got {part!r} ({type(part).__name__})"
            )
        text = part if isinstance(part, str) else f"#{int(part)}"
        data = text.encode()
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return int.from_bytes(digest.digest()[:16], "little")


def make_generator(*name: str | int) -> np.random.Generator:
    """The generator (PCG64) of `name`."""
    return np.random.Generator(np.random.PCG64(derive_seed(*name)))


def scene_name(scene_id: str) -> str:
    """The name of a scene in random streams and episode ids: its id, or the name of its file.

    So a mesh gives the same episodes, corruptions and choices wherever its file lies.
    """
    path = PurePath(scene_id)
    return path.name if path.suffix else scene_id
