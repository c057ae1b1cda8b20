"""Episodes of GOAT-Bench keep its rules, and its splits their names."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from navarena.core.errors import SceneError, UnknownNameError
from navarena.episodes.audit import audit_episodes
from navarena.episodes.catalog import get_recipe, load_episodes, split_scenes, split_sizes
from navarena.episodes.goals import GoalImage, as_subtasks
from navarena.episodes.goat import GoalPool, names_of_split, objects_named
from navarena.episodes.goat.descriptions import Describer
from navarena.episodes.goat.names import is_called
from navarena.episodes.goat.recipe import GOAT_V1
from navarena.episodes.goat.settings import GOAT_EPISODE_SPLITS, VAL_SPLITS
from navarena.episodes.listed_objects import with_objects
from navarena.episodes.recipe import Stream
from navarena.episodes.statistics import compute_statistics
from navarena.scenes.houses.house_sets import house_settings
from navarena.scenes.houses.vocabulary import GOAT
from navarena.simulation.body_catalog import STRETCH
from navarena.simulation.world import open_world

HOUSE = "houses-v1/val/00000"


@pytest.fixture(scope="module")
def world():
    return open_world(HOUSE, STRETCH)


@pytest.fixture(scope="module")
def episodes(world):
    return GOAT_V1.make(world, 10, Stream("houses-v1", "val_seen")).episodes


def test_rules_of_episodes(world, episodes):
    pool = GoalPool(world, names_of_split("val_seen"))
    lengths = [len(as_subtasks(one.goal)) for one in episodes]
    assert min(lengths) >= 5 and max(lengths) <= 10 and len(set(lengths)) > 2
    modalities = [subtask.modality for one in episodes for subtask in as_subtasks(one.goal)]
    assert {modalities.count(kind) > len(modalities) / 6 for kind in ("object", "description", "image")} == {
        True
    }
    for episode in episodes:
        before: set[str] = set()
        start = np.array(episode.start_position)[None]
        for number, subtask in enumerate(as_subtasks(episode.goal)):
            ids = {one.object_id for one in subtask.instances}
            rows = pool.views.rows_of_objects([int(one) for one in ids])
            places = pool.views.positions[rows]
            distance = float(world.navmesh.geodesic_to_nearest(start, places)[0])
            assert np.isfinite(distance) and not ids & before
            assert number > 0 or 1.0 <= distance <= 30.0
            assert subtask.category in names_of_split("val_seen")
            before = ids


def test_long_episodes(world):
    """As many goals as were asked for, none twice in a row; those of the protocol's own start alike."""
    recipe = get_recipe("goat-v1+subtasks=40")
    found = recipe.make(world, 2, Stream("houses-v1", "val_seen")).episodes
    for episode in found:
        subtasks = as_subtasks(episode.goal)
        ids = [{one.object_id for one in subtask.instances} for subtask in subtasks]
        assert len(subtasks) == 40 and all(not a & b for a, b in itertools.pairwise(ids))
        assert len({min(one) for one in ids}) > 10, "goals differ"
    assert get_recipe("goat-v1+subtasks=0") == GOAT_V1


def test_goals_are_told_as_their_modality_says(world, episodes):
    describer = Describer(world.scene, GoalPool(world, ()).goals)
    objects = {str(obj.object_id): obj for obj in world.scene.objects}
    offered = set(describer._goals.objects.tolist())
    for subtask in (one for episode in episodes for one in as_subtasks(episode.goal)):
        assert all(is_called(objects[one.object_id], subtask.category) for one in subtask.instances)
        if subtask.modality == "object":
            called = {obj.object_id for obj in objects_named(world.scene, subtask.category)}
            assert {int(one.object_id) for one in subtask.instances} == called & offered
            continue
        (instance,) = subtask.instances
        if subtask.modality == "image":
            assert isinstance(subtask.image, GoalImage) and subtask.image.width_px == 512
        else:
            assert subtask.category in subtask.description
            assert describer.describe(int(instance.object_id), subtask.category) is not None


def test_episodes_do_not_depend_on_how_many_are_made(world, episodes):
    stream = Stream("houses-v1", "val_seen")
    assert GOAT_V1.make(world, 3, stream, first=4).episodes == episodes[4:7]


@pytest.mark.parametrize(
    ("protocol", "modality"),
    [("ovon-v1", "object"), ("instance-imagenav-v1", "image"), ("languagenav-v1", "description")],
)
def test_single_skills_have_one_goal(world, protocol, modality):
    made = get_recipe(protocol).make(world, 4, Stream("houses-v1", "val_seen_synonyms")).episodes
    assert [[subtask.modality for subtask in as_subtasks(one.goal)] for one in made] == [[modality]] * 4
    assert all(1.0 <= one.geodesic_distance <= 30.0 for one in made)


def test_a_house_without_such_goals_has_no_episodes_in_val_and_is_refused_elsewhere(world, monkeypatch):
    monkeypatch.setattr("navarena.episodes.goat.recipe.names_of_split", lambda split: ("piano",))
    recipe = get_recipe("languagenav-v1")
    assert recipe.make(world, 10, Stream("houses-v1", "val_unseen")).episodes == ()
    with pytest.raises(SceneError, match="navarena goals make"):
        recipe.make(world, 1, Stream("custom", "custom"))


def test_sizes_of_the_splits():
    """Spec ivln_goat 4.1: 145 scenes of 5,000 episodes, and 36 of 10 in each split to validate on."""
    assert GOAT_EPISODE_SPLITS["train"].per_scene == 5000
    assert len(split_scenes("train", "houses-v1", GOAT_V1)) == 145
    for split in VAL_SPLITS:
        scenes = split_scenes(split, "houses-v1", GOAT_V1)
        assert (GOAT_EPISODE_SPLITS[split].per_scene, len(scenes)) == (10, 36)
        assert split_scenes(f"{split}_lite", "houses-v1", GOAT_V1) == scenes
        assert split_scenes(f"{split}_mini", "houses-v1", GOAT_V1) == scenes[:4]
    assert split_sizes("houses-v1", GOAT_V1) != split_sizes("houses-v1")
    with pytest.raises(UnknownNameError, match="val_seen"):
        load_episodes("goat-v1", "val_sen")


def test_names_of_splits_keep_to_their_kind():
    """Synonyms are of seen objects; what unseen names mean never occurs in train houses."""
    train = {category for name in names_of_split("train") for category in GOAT[name]}
    unseen = {category for name in names_of_split("val_unseen") for category in GOAT[name]}
    assert not unseen & train
    assert unseen <= set(house_settings("train").without)
    assert set(names_of_split("val_seen")) <= set(names_of_split("train"))
    assert not set(names_of_split("val_seen_synonyms")) & set(names_of_split("train"))


def test_mini_are_the_first_episodes_of_the_split(episodes):
    """The whole split is not made for it."""
    stream = Stream("houses-v1", GOAT_EPISODE_SPLITS["mini"].part_of)
    made = GOAT_V1.make(open_world(HOUSE, STRETCH), GOAT_EPISODE_SPLITS["mini"].per_scene, stream)
    assert made.episodes == episodes[:2]


def test_the_audit_finds_nothing_wrong(world, episodes):
    filled = with_objects(episodes, lambda scene_id: world, GOAT_V1.view_points)
    report = audit_episodes(filled, lambda scene_id: world)
    assert report.findings == ()
    wrong = replace(filled[0], geodesic_distance=filled[0].geodesic_distance + 1.0)
    assert [one.check for one in audit_episodes([wrong], lambda scene_id: world).findings] == ["distance"]


def test_statistics_count_sub_tasks(episodes):
    numbers = compute_statistics(episodes)
    subtasks = sum(len(as_subtasks(one.goal)) for one in episodes)
    assert sum(count * number for number, count in numbers.goals.items()) == subtasks
    assert sum(numbers.categories.values()) == subtasks
