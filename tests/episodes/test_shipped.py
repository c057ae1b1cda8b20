"""The lists that come with navarena are what their recipes make.

A list that differs must be made again by scripts/episode_lists.py, or the change that moved it undone.

All lists are compared in the scenes of mini. To make the rest again takes more than a quarter of an hour on
two cores: of it a share of the scenes is compared by turns.
"""

from collections import Counter

import pytest

from navarena.episodes.catalog import (
    RECIPES,
    SHIPPED_FOLDER,
    get_recipe,
    load_episodes,
    make_episodes,
    shipped_path,
    split_scenes,
    split_sizes,
)
from navarena.episodes.compact import read_list
from navarena.episodes.dataset import choose_stratified
from navarena.episodes.multi_on import MultiOnRecipe
from navarena.episodes.object_nav import ObjectNavRecipe
from navarena.episodes.object_nav_robothor import APARTMENTS
from navarena.episodes.point_nav import PointNavRecipe
from turns import TURN, share_of

SPLITS = ("mini", "lite", "val", "test")
MAX_BYTES = 2_000_000
OWN_LISTS = [name for name in RECIPES.names() if not get_recipe(name).shares]
SHIPPED = [name for name in OWN_LISTS if (SHIPPED_FOLDER / get_recipe(name).default_dataset / name).is_dir()]
QUICK = [name for name in SHIPPED if not isinstance(get_recipe(name), ObjectNavRecipe)]
RENDERED = [name for name in SHIPPED if name not in QUICK]

VAL_SHARES, SHARES, RENDERED_SHARES = 8, 16, 16
"""One scene of so many is compared by turns; where view points are rendered, a house takes two seconds."""

WORKERS = 2
"""Processes that make episodes; they check no types, which would take as long again."""


def test_every_protocol_has_its_lists():
    """Of points, objects and several objects, in the houses or the apartments that are its own."""
    recipes = {name: get_recipe(name) for name in OWN_LISTS}
    kinds = (PointNavRecipe, ObjectNavRecipe, MultiOnRecipe)
    assert set(SHIPPED) >= {name for name, recipe in recipes.items() if isinstance(recipe, kinds)}
    homes = {name: recipes[name].default_dataset for name in SHIPPED}
    in_apartments = {name for name, home in homes.items() if home == APARTMENTS}
    assert in_apartments == {
        "objectnav-robothor2020-v1",
        "objectnav-robothor2021-v1",
        "robustnav-objectnav-v1",
        "robustnav-pointnav-v1",
    }
    names = {path.relative_to(SHIPPED_FOLDER).as_posix() for path in SHIPPED_FOLDER.rglob("*.xz")}
    assert names == {
        f"{get_recipe(name).default_dataset}/{name}/{split}.list.xz" for name in SHIPPED for split in SPLITS
    }


def test_the_lists_are_small():
    assert sum(path.stat().st_size for path in SHIPPED_FOLDER.rglob("*.xz")) < MAX_BYTES


@pytest.mark.parametrize("protocol", SHIPPED)
def test_lists_are_complete_and_parts_of_one_another(protocol):
    dataset = get_recipe(protocol).default_dataset
    sizes = split_sizes(dataset)
    lists = {split: load_episodes(protocol, split, dataset) for split in SPLITS}
    for split, found in lists.items():
        assert (found.protocol_id, found.name, found.split) == (protocol, dataset, split)
        counts = Counter(episode.scene_id for episode in found.episodes)
        assert list(counts) == split_scenes(split, dataset)
        if sizes[split].sample is None:
            assert set(counts.values()) == {sizes[split].per_scene}
        assert len({episode.episode_id for episode in found.episodes}) == len(found)
    val = lists["val"].episodes
    assert tuple(val[row] for row in choose_stratified(val, 200)) == lists["lite"].episodes
    rows = range(sizes["mini"].per_scene)
    names = {f"{scene}-{row:04d}" for scene in split_scenes("mini", dataset) for row in rows}
    assert tuple(one for one in val if one.episode_id in names) == lists["mini"].episodes


@pytest.mark.parametrize("protocol", sorted(set(RECIPES.names()) - set(OWN_LISTS)))
def test_shared_lists_are_those_of_the_protocol_they_share(protocol):
    recipe = get_recipe(protocol)
    base = get_recipe(recipe.shares)
    assert (recipe.embodiment, recipe.default_dataset) == (base.embodiment, base.default_dataset)
    mini = load_episodes(protocol, "mini")
    assert mini.protocol_id == protocol
    assert mini.episodes == recipe.translate(load_episodes(recipe.shares, "mini").episodes)


def require_same(protocol, split, scenes, workers=1):
    """The list is what its recipe makes now, in these scenes."""
    dataset = get_recipe(protocol).default_dataset
    shipped = [
        one
        for one in read_list(shipped_path(get_recipe(protocol), split, dataset)).episodes
        if one.scene_id in scenes
    ]
    count = split_sizes(dataset)[split].per_scene
    made = make_episodes(protocol, scenes, count, name=dataset, split=split, workers=workers).episodes
    assert len(made) == len(shipped) == len(scenes) * count
    by_id = {one.episode_id: one for one in made}
    for old in shipped:
        assert old == by_id[old.episode_id]


@pytest.mark.parametrize("protocol", QUICK)
def test_a_list_begins_as_the_recipe_makes_it(protocol):
    require_same(protocol, "val", split_scenes("mini", get_recipe(protocol).default_dataset)[:2])


@pytest.mark.slow
@pytest.mark.parametrize("protocol", QUICK)
def test_a_share_of_val_is_what_the_recipe_makes(protocol):
    """All of mini, and some scenes of val, and so of lite, where nothing needs to be rendered."""
    dataset = get_recipe(protocol).default_dataset
    share = share_of(split_scenes("val", dataset), VAL_SHARES)
    require_same(protocol, "val", list(dict.fromkeys([*split_scenes("mini", dataset), *share])), WORKERS)


@pytest.mark.slow
@pytest.mark.parametrize("protocol", QUICK)
def test_a_share_of_test_is_what_the_recipe_makes(protocol):
    scenes = split_scenes("test", get_recipe(protocol).default_dataset)
    require_same(protocol, "test", share_of(scenes, SHARES), WORKERS)


@pytest.mark.slow
@pytest.mark.turns(4)
@pytest.mark.parametrize("protocol", RENDERED)
def test_a_share_of_a_rendered_list_is_what_the_recipe_makes(protocol):
    """All of mini, which is a tenth of val and lite or more, and some scenes of val and test."""
    dataset = get_recipe(protocol).default_dataset
    val, test = (split_scenes(split, dataset) for split in ("val", "test"))
    chosen = dict.fromkeys([*split_scenes("mini", dataset), *share_of(val, RENDERED_SHARES, TURN // 4)])
    require_same(protocol, "val", list(chosen), WORKERS)
    require_same(protocol, "test", share_of(test, RENDERED_SHARES, TURN // 4), WORKERS)
