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


def make_house_set(name: str, settings: HouseSettings, description: str) -> SceneSet:
    """The set `name` of splits.FIRST_SEED, every house of it drawn with `settings`."""

    def seed_of(scene_id: str) -> int:
        _, split, index = scene_id.split("/")
        return house_seed(split, int(index), name)

    def build(scene_id: str) -> Scene:
        from navarena.scenes.houses.generator import build_house  # compiles kernels: only when needed

        return build_house(seed_of(scene_id), settings, scene_id)

    def fingerprint(scene_id: str) -> str:
        return f"{source_fingerprint(_GENERATOR)} {seed_of(scene_id)} {settings}"

    def ids(split: str, count: int) -> tuple[str, ...]:
        return tuple(f"{name}/{split}/{index:05d}" for index in range(count))

    splits = {split: ids(split, count) for split, count in HOUSE_SPLITS.items()}
    return SceneSet(name, {**splits, "mini": ids("val", MINI_HOUSES)}, build, fingerprint, description)


HOUSES_V0 = make_house_set(
    "houses-v0",
    HouseSettings(storeys=1, area_m2=(0, 400)),
    "generated furnished houses of one storey, 1 to 12 rooms (provisional)",
)
HOUSES_V1 = make_house_set(
    "houses-v1", HouseSettings(), "generated furnished houses of 1 to 3 storeys and 40 to 400 m2"
)
