"""The set of apartments like RoboTHOR's, and that of their twins."""

from pathlib import Path

from navarena.core.sources import source_fingerprint
from navarena.scenes.apartments.splits import APARTMENT_SPLITS, SET_NAME, TWIN_CORRUPTIONS, TWIN_NAME
from navarena.scenes.scene import Scene
from navarena.scenes.scene_set import SceneSet

_GENERATOR = Path(__file__).parent / "apartments" / "generator.py"


def make_apartment_set(name: str, description: str, corruptions: tuple[str, ...] = ()) -> SceneSet:
    """The set `name`: of apartments, or of twins where it is TWIN_NAME."""

    def build(scene_id: str) -> Scene:
        from navarena.scenes.apartments.generator import build_apartment, build_twin  # compiles kernels

        _, split, index = scene_id.split("/")
        return (build_twin if name == TWIN_NAME else build_apartment)(split, int(index))

    def fingerprint(scene_id: str) -> str:
        return f"{source_fingerprint(_GENERATOR)} {scene_id}"

    splits = {
        split: tuple(f"{name}/{split}/{index:05d}" for index in range(count))
        for split, count in APARTMENT_SPLITS.items()
    }
    return SceneSet(name, splits, build, fingerprint, description, corruptions)


ROBOTHOR_LIKE_V1 = make_apartment_set(
    SET_NAME, "generated apartments of 8.8 m by 3.9 m with movable panels and the 12 targets of RoboTHOR"
)
ROBOTHOR_LIKE_V1_TWIN = make_apartment_set(
    TWIN_NAME,
    "the same apartments in other textures and light, as a robot's own camera sees them",
    TWIN_CORRUPTIONS,
)
