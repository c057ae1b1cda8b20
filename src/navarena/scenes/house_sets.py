"""The sets of generated houses."""

from pathlib import Path

from navarena.core.sources import source_fingerprint
from navarena.scenes.houses.settings import HouseSettings
from navarena.scenes.houses.splits import HOUSE_SPLITS, house_seed
from navarena.scenes.scene import Scene
from navarena.scenes.scene_set import SceneSet

MINI_HOUSES = 10
"""The split `mini` holds this many of the first houses of `val`, for runs that take seconds."""

_GENERATOR = Path(__file__).parent / "houses" / "generator.py"


def _house_ids(split: str, count: int) -> tuple[str, ...]:
    return tuple(f"houses-v0/{split}/{index:05d}" for index in range(count))


def _seed_of(scene_id: str) -> int:
    _, split, index = scene_id.split("/")
    return house_seed(split, int(index))


def _build(scene_id: str) -> Scene:
    from navarena.scenes.houses.generator import build_house  # compiles kernels: only when needed

    return build_house(_seed_of(scene_id), HouseSettings(), scene_id)


def _fingerprint(scene_id: str) -> str:
    return f"{source_fingerprint(_GENERATOR)} {_seed_of(scene_id)} {HouseSettings()}"


HOUSES_V0 = SceneSet(
    name="houses-v0",
    splits={
        **{split: _house_ids(split, count) for split, count in HOUSE_SPLITS.items()},
        "mini": _house_ids("val", MINI_HOUSES),
    },
    build=_build,
    fingerprint=_fingerprint,
    description="generated furnished houses of 1 to 12 rooms (provisional)",
)
