"""Basis Universal images (.basis, .ktx2), through the optional library that decodes them."""

from importlib.util import find_spec

import numpy as np
from jaxtyping import UInt8

from navarena.core.errors import FileError, MissingExtraError
from navarena.core.extras import require_extra

_SIGNATURES = (b"sB", b"\xabKTX 20\xbb\r\n\x1a\n")

REMEDY = (
    "run: pip install 'navarena[hm3d]', or use the same scenes without this compression (HM3D: the .glb "
    "files of the archives hm3d-<split>-glb-v0.2.tar, beside the -habitat- ones on the owner's page)"
)


def is_basis(data: bytes) -> bool:
    """Whether `data` begins like a .basis or a KTX 2 file."""
    return data.startswith(_SIGNATURES)


def require_basis_decoder() -> None:
    """Raise MissingExtraError unless Basis images can be decoded here."""
    if find_spec("opengl_basisu") is None:
        raise MissingExtraError(f"its textures are compressed by Basis Universal; {REMEDY}")


def decode_basis(data: bytes, name: str) -> UInt8[np.ndarray, "h w 3"]:
    """The pixels (H, W, 3) uint8 sRGB of the largest level, row 0 on top; transparency is dropped.

    Args:
        data: a .basis file, or a KTX 2 file with ETC1S or UASTC blocks.
        name: of the image, for errors.

    Raises FileError for anything else, MissingExtraError without the extra `hm3d`.
    """
    require_basis_decoder()
    library = require_extra("opengl_basisu", "hm3d")
    try:
        texture = library.open(data)
        pixels = np.asarray(texture.transcode("rgba8").data)[..., :3]
    except (ValueError, IndexError) as error:
        raise FileError(f"the Basis image {name!r} cannot be decoded: {error}") from error
    return np.ascontiguousarray(pixels[::-1] if texture.y_flipped else pixels)
