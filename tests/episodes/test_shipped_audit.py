"""The lists that come with navarena pass the audit, and the expert succeeds on all of their episodes.

Slow tests look at a share of the scenes by turns, as those of test_shipped do.
"""

from collections.abc import Sequence

import pytest

from navarena.episodes.audit import audit_episodes
from navarena.episodes.catalog import RECIPES, SHIPPED_FOLDER, get_recipe, load_episodes, split_scenes
from navarena.episodes.episode import Episode
from navarena.episodes.errata import find_errata
from navarena.episodes.listed_objects import with_objects
from navarena.episodes.object_nav import ObjectNavRecipe
from navarena.episodes.recipe import DEFAULT_DATASET
from navarena.evaluation.running.expert_audit import find_expert_failures
from navarena.simulation.world import WorldCache
from navarena.tasks.catalog import get_task
from turns import share_of

LISTS = {path.name for path in SHIPPED_FOLDER.glob("*/*")}
SHIPPED = [name for name in RECIPES.names() if get_recipe(name).stream_protocol in LISTS]
POINTS = [name for name in SHIPPED if not isinstance(get_recipe(name), ObjectNavRecipe)]
OBJECTS = [name for name in SHIPPED if name not in POINTS]
QUICK_SCENES = 2
EVERY_SO_MANY, APARTMENTS_SO_MANY = 64, 12
"""One house, or apartment, of so many is looked at by turns."""

HOUSES_TO_RENDER = 5


def require_good(protocol: str, episodes: Sequence[Episode]) -> None:
    """No check of the audit finds anything."""
    task, recipe = get_task(protocol), get_recipe(protocol)
    worlds, view_points = WorldCache(task.embodiment), None
    if isinstance(recipe, ObjectNavRecipe):
        view_points = recipe.view_points
        episodes = with_objects(episodes, worlds.get, view_points)
    report = audit_episodes(episodes, worlds.get, view_points=view_points)
    assert not report.findings and report.episodes == len(episodes) > 0
    failed = {one.episode_id for one in find_expert_failures(task, episodes, worlds)}
    known = {name for one in find_errata(recipe.default_dataset, protocol=protocol) for name in one.episodes}
    assert failed <= known


def choose(protocol: str, split: str, count: int) -> list[Episode]:
    """The episodes of the first `count` scenes of a split."""
    scenes = split_scenes(split, get_recipe(protocol).default_dataset)[:count]
    return [one for one in load_episodes(protocol, split).episodes if one.scene_id in scenes]


@pytest.mark.parametrize("protocol", POINTS)
def test_the_first_episodes_are_good(protocol):
    require_good(protocol, choose(protocol, "mini", QUICK_SCENES))


@pytest.mark.slow
@pytest.mark.parametrize("split", ["val", "test"])
@pytest.mark.parametrize("protocol", POINTS)
def test_episodes_of_large_lists_are_good(protocol, split):
    """In some houses of val and test by turns; all 2,000 take too long with checked types."""
    chosen = share_of(split_scenes(split, get_recipe(protocol).default_dataset), EVERY_SO_MANY)
    require_good(protocol, [one for one in load_episodes(protocol, split).episodes if one.scene_id in chosen])


@pytest.mark.slow
@pytest.mark.parametrize("protocol", OBJECTS)
def test_episodes_with_objects_are_good(protocol):
    """In some houses of mini: view points take three seconds for each house. In some apartments of lite."""
    if get_recipe(protocol).default_dataset == DEFAULT_DATASET:
        require_good(protocol, choose(protocol, "val", HOUSES_TO_RENDER))
        return
    lite = load_episodes(protocol, "lite").episodes
    chosen = share_of(list(dict.fromkeys(one.scene_id for one in lite)), APARTMENTS_SO_MANY)
    require_good(protocol, [one for one in lite if one.scene_id in chosen])
