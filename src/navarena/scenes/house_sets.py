"""The sets of generated houses."""

from pathlib import Path

from navarena.core.sources import source_fingerprint
from navarena.scenes.houses.building import build_house
from navarena.scenes.houses.settings import HouseSettings
from navarena.scenes.houses.splits import HOUSE_SPLITS, house_seed, house_settings
from navarena.scenes.scene import Scene
from navarena.scenes.scene_set import SceneSet

MINI_HOUSES = 10
"""The split `mini` holds this many of the first houses of `val`, for runs that take seconds."""

_GENERATOR = Path(__file__).parent / "houses" / "generator.py"


def make_house_set(name: str, description: str) -> SceneSet:
    """The set `name`, its houses drawn with the seeds and settings of splits.py."""

    def recipe_of(scene_id: str) -> tuple[int, HouseSettings]:
        _, split, index = scene_id.split("/")
        return house_seed(split, int(index), name), house_settings(split, name)

    def build(scene_id: str) -> Scene:
        return build_house(*recipe_of(scene_id), scene_id)

    def fingerprint(scene_id: str) -> str:
        seed, settings = recipe_of(scene_id)
        return f"{source_fingerprint(_GENERATOR)} {seed} {settings}"

    def ids(split: str, count: int) -> tuple[str, ...]:
        return tuple(f"{name}/{split}/{index:05d}" for index in range(count))

    splits = {split: ids(split, count) for split, count in HOUSE_SPLITS.items()}
    return SceneSet(name, {**splits, "mini": ids("val", MINI_HOUSES)}, build, fingerprint, description)


HOUSES_V0 = make_house_set(
    "houses-v0", "generated furnished houses of one storey, 1 to 12 rooms (provisional)"
)
HOUSES_V1 = make_house_set("houses-v1", "generated furnished houses of 1 to 3 storeys and 40 to 400 m2")
