"""Hidden episodes of a phase: houses and starts from a seed that no other process ever sees.

Nothing that is shown is made from the seed: sets of hidden houses are called after their phase.
"""

from pathlib import Path

from navarena.core.errors import InputError
from navarena.core.seeding import derive_seed
from navarena.core.sources import source_fingerprint
from navarena.episodes.catalog import get_recipe, make_episodes, split_scenes, split_sizes
from navarena.episodes.dataset import EpisodeDataset
from navarena.scenes.catalog import SCENE_SETS, scene_ids
from navarena.scenes.scene import Scene
from navarena.scenes.scene_set import SceneSet
from navarena.web.challenge.settings import Part, Phase

HIDDEN = "hidden"
"""Split of hidden houses."""


def make_hidden_episodes(challenge: str, phase: Phase, part: Part, seed: int) -> EpisodeDataset:
    """The episodes of one part of a phase whose episodes are hidden.

    Args:
        challenge: its slug.
        phase: with `per_scene`, and `new_houses` where the houses are hidden, too.
        part: of it.
        seed: of the phase; see settings.read_private_seed.

    Raises InputError for a phase that hides nothing.
    """
    if not phase.is_hidden or phase.per_scene is None:
        raise InputError(f"expected a phase with hidden episodes, got {phase.name!r}; give it private_seed")
    name = f"{HIDDEN}-{challenge}-{phase.name}"
    dataset = part.dataset or get_recipe(phase.protocol).default_dataset
    if phase.new_houses is None:
        scenes = hidden_scenes(phase, dataset)
    else:
        scenes = list(hide_houses(name, phase.new_houses, seed).splits[HIDDEN])
    secret = derive_seed("hidden episodes", seed, dataset)
    return make_episodes(phase.protocol, scenes, phase.per_scene, secret, name=name, split=phase.split)


def hidden_scenes(phase: Phase, dataset: str) -> list[str]:
    """The scenes of hidden episodes: those of the protocol's split, else of the data set's.

    Raises UnknownNameError where neither has the phase's split.
    """
    recipe = get_recipe(phase.protocol)
    if phase.split in split_sizes(dataset, recipe):
        return split_scenes(phase.split, dataset, recipe)
    return scene_ids(dataset, phase.split)


def hide_houses(name: str, count: int, seed: int) -> SceneSet:
    """The set `name` of `count` houses made from `seed`, known to this process alone.

    They are drawn as those of the test split of houses-v1 are, each from a seed of 128 bits.
    """
    if name in SCENE_SETS:
        known: SceneSet = SCENE_SETS.get(name)
        return known
    from navarena.scenes.houses import generator
    from navarena.scenes.houses.building import build_house
    from navarena.scenes.houses.house_sets import house_settings

    settings = house_settings("test")

    def house_seed(scene_id: str) -> int:
        return derive_seed("hidden house", seed, int(scene_id.rpartition("/")[2]))

    def build(scene_id: str) -> Scene:
        return build_house(house_seed(scene_id), settings, scene_id)

    def fingerprint(scene_id: str) -> str:
        return f"{source_fingerprint(Path(generator.__file__))} {house_seed(scene_id)} {settings}"

    ids = tuple(f"{name}/{HIDDEN}/{index:05d}" for index in range(count))
    made = SceneSet(name, {HIDDEN: ids}, build, fingerprint, "hidden houses of a challenge")
    SCENE_SETS.register(name, made)
    return made
