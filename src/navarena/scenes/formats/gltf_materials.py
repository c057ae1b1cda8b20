"""The parts of glTF materials that trimesh drops: names, double sides, Basis Universal images."""

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import UInt8

from navarena.core.errors import FileError, MissingExtraError, require_extra
from navarena.scenes.formats.gltf_geometry import dictionaries, uri_bytes, view_bytes

UNNAMED = "material"

BASIS_EXTENSIONS = ("KHR_texture_basisu", "GOOGLE_texture_basis", "MSFT_texture_basis")
"""The official extension holds KTX 2 images; the older ones hold .basis files (HM3D among them)."""

_GLB_JSON_TYPE = 0x4E4F534A

_GLOSS = "KHR_materials_pbrSpecularGlossiness"


@dataclass(frozen=True)
class GltfMaterial:
    """Properties of a material that trimesh does not read.

    Attributes:
        name: as the file calls it.
        double_sided: whether its surfaces are seen from behind.
        textured: whether it names a base colour image.
        image: (h, w, 3) uint8, the base colour image when it is Basis-compressed; else None.
    """

    name: str
    double_sided: bool = False
    textured: bool = False
    image: UInt8[np.ndarray, "h w 3"] | None = None


def plain_materials(header: Mapping[str, Any]) -> dict[str, Any]:
    """The header of a file in which diffuse colours of KHR_materials_pbrSpecularGlossiness are base colours.

    Trimesh mixes them with the specular ones, of which nothing is drawn here.
    """
    materials = [_with_base_color(one) for one in dictionaries(header, "materials")]
    return {**header, "materials": materials} if materials else dict(header)


def _with_base_color(material: Mapping[str, Any]) -> Mapping[str, Any]:
    extensions = material.get("extensions")
    gloss = extensions.get(_GLOSS) if isinstance(extensions, Mapping) else None
    if not isinstance(extensions, Mapping) or not isinstance(gloss, Mapping):
        return material
    names = {"diffuseFactor": "baseColorFactor", "diffuseTexture": "baseColorTexture"}
    return {
        **material,
        "extensions": {name: value for name, value in extensions.items() if name != _GLOSS},
        "pbrMetallicRoughness": {ours: gloss[theirs] for theirs, ours in names.items() if theirs in gloss},
    }


def read_gltf_materials(data: bytes, header: Mapping[str, Any], path: Path) -> list[GltfMaterial]:
    """The materials in order; raises FileError and MissingExtraError for Basis images."""
    materials = dictionaries(header, "materials")
    sources = [_basis_source(header, material) for material in materials]
    if any(source is not None for source in sources):
        require_basis_decoder()

    @cache  # materials share images
    def image(index: int) -> UInt8[np.ndarray, "h w 3"]:
        entry = dictionaries(header, "images")[index]
        return decode_basis(_image_bytes(data, header, entry, path), str(entry.get("name") or index))

    return [
        GltfMaterial(
            str(material.get("name") or UNNAMED),
            material.get("doubleSided") is True,
            "baseColorTexture" in material.get("pbrMetallicRoughness", {}),
            None if source is None else image(source),
        )
        for material, source in zip(materials, sources)
    ]


def number_materials(data: bytes, header: Mapping[str, Any]) -> bytes:
    """The file with this header and materials named "0", "1", ..., by which trimesh's are known."""
    materials = [
        {**material, "name": str(index)} for index, material in enumerate(dictionaries(header, "materials"))
    ]
    text = json.dumps({**header, "materials": materials} if materials else header).encode()
    if data[:4] != b"glTF":
        return text
    text += b" " * (-len(text) % 4)
    rest = data[20 + struct.unpack_from("<I", data, 12)[0] :]
    size = 20 + len(text) + len(rest)
    return b"".join((struct.pack("<4s4I", b"glTF", 2, size, len(text), _GLB_JSON_TYPE), text, rest))


def _basis_source(header: Mapping[str, Any], material: Mapping[str, Any]) -> int | None:
    """The image of the material's base colour if only its Basis version is there."""
    looks = material.get("pbrMetallicRoughness", {}).get("baseColorTexture")
    if not isinstance(looks, Mapping) or "index" not in looks:
        return None
    texture = dictionaries(header, "textures")[looks["index"]]
    if "source" in texture and not _is_basis_image(header, texture["source"]):
        return None
    extensions = texture.get("extensions", {})
    found = [extensions[name].get("source") for name in BASIS_EXTENSIONS if name in extensions]
    found += [texture["source"]] if "source" in texture else []
    return int(found[0]) if found and found[0] is not None else None


def _is_basis_image(header: Mapping[str, Any], index: int) -> bool:
    image = dictionaries(header, "images")[index]
    kind, uri = str(image.get("mimeType", "")), str(image.get("uri", ""))
    return kind in ("image/x-basis", "image/ktx2") or uri.lower().endswith((".basis", ".ktx2"))


def _image_bytes(data: bytes, header: Mapping[str, Any], image: Mapping[str, Any], path: Path) -> bytes:
    """The content of an image: in the binary chunk, in a data URI or in a file beside `path`."""
    if "bufferView" in image:
        return view_bytes(data, header, image["bufferView"], path)
    return uri_bytes(str(image["uri"]), path)


REMEDY = (
    "run: pip install 'navarena[hm3d]', or use the same scenes without this compression (HM3D: the .glb "
    "files of the archives hm3d-<split>-glb-v0.2.tar, beside the -habitat- ones on the owner's page)"
)


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
