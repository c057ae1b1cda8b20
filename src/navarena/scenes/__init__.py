"""Scenes: static geometry with meaning, imported or generated, compiled into packs."""

from navarena.scenes.catalog import SCENE_SETS, load_scene, scene_hash, scene_ids, scene_sets
from navarena.scenes.packs import Pack, content_hash, load_or_build, open_pack, write_pack
from navarena.scenes.scene import (
    Footprint,
    Material,
    Room,
    Scene,
    SceneObject,
    WalkableSurface,
)
from navarena.scenes.scene_set import SceneSet
from navarena.scenes.validation import validate_scene

__all__ = [
    "SCENE_SETS",
    "Footprint",
    "Material",
    "Pack",
    "Room",
    "Scene",
    "SceneObject",
    "SceneSet",
    "WalkableSurface",
    "content_hash",
    "load_or_build",
    "load_scene",
    "open_pack",
    "scene_hash",
    "scene_ids",
    "scene_sets",
    "validate_scene",
    "write_pack",
]
