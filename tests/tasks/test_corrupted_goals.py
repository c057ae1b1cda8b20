"""Goals in other words and by noisy images: what counts stays, alike in every batch."""

from dataclasses import replace

import numpy as np
import pytest

from navarena.core.errors import InputError
from navarena.core.seeding import make_generator
from navarena.corruptions.noise import spread_noise
from navarena.corruptions.normals import draw_normals
from navarena.episodes.episode import LifelongGoal
from navarena.episodes.goat import GoalPool, find_synonyms, names_of_split
from navarena.simulation.body_catalog import STRETCH
from navarena.simulation.world import WorldCache, open_world
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.catalog import get_task
from navarena.tasks.corruption_checks import require_applicable
from tasks.small import AHEAD

HOUSE = "houses-v1/val/00000"
SENSORS = ("current_subtask", "objectgoal", "language_goal", "image_goal", "rgb")
STOP, DECLARE = 0, 6
SIGMA_2 = 0.12 * 255


@pytest.fixture(scope="module")
def world():
    return open_world(HOUSE, STRETCH)


@pytest.fixture(scope="module")
def episodes(world):
    """Two episodes: names with synonyms, words and images of the same objects, each twice."""
    pool = GoalPool(world, names_of_split("val_seen"))
    named = next(one for one in pool.choices("object") if find_synonyms(one.name))
    chosen = [named, pool.choices("description")[0], pool.choices("image")[0]]
    start = tuple(pool.places(named)[0].tolist())
    found = []
    for k in range(2):
        subtasks = [pool.subtask(one, make_generator("goal", 0)) for one in (*chosen, *chosen)]
        goal = LifelongGoal(tuple(subtasks))
        found.append(replace(AHEAD, episode_id=str(k), scene_id=HOUSE, start_position=start, goal=goal))
    return found


def look(world, episodes, corruptions=(), slots=2):
    """Episode -> what is observed of each of its goals; distances and successes come along."""
    seen = {}
    for first in range(0, len(episodes), slots):
        task = get_task("goat-v1")
        cache = WorldCache(task.embodiment)
        cache.add(world)
        batch = NavigationBatch(task, slots, sensors=SENSORS, worlds=cache, corruptions=corruptions)
        batch.start(range(slots), episodes[first : first + slots])
        for _ in range(6):
            for slot in range(slots):
                one = {name: batch.observations[name][slot].copy() for name in SENSORS}
                one["distance"] = float(batch.state.distance[slot])
                seen.setdefault(episodes[first + slot].episode_id, []).append(one)
            batch.step(np.full(slots, DECLARE))
        for slot in range(slots):
            assert batch.episode(slot) is episodes[first + slot], "the record keeps the true goals"
    return seen


@pytest.fixture(scope="module")
def clean(world, episodes):
    return look(world, episodes)


def test_only_what_a_corruption_is_named_for_changes(world, episodes, clean):
    corrupts = {
        "goal_synonyms": (0, "objectgoal"),
        "goal_paraphrase": (1, "language_goal"),
        "goal_image_noise:2": (2, "image_goal"),
    }
    for text, (modality, sensor) in corrupts.items():
        for key, goals in look(world, episodes, [text]).items():
            for corrupted, true in zip(goals, clean[key], strict=True):
                changed = [name for name in SENSORS if not np.array_equal(corrupted[name], true[name])]
                assert changed == ([sensor] if true["current_subtask"][0] == modality else []), text
                assert corrupted["distance"] == true["distance"]


def test_other_words_mean_the_same(world, episodes, clean):
    for key, goals in look(world, episodes, ["goal_synonyms", "goal_paraphrase"]).items():
        true = clean[key]
        assert str(goals[0]["objectgoal"]) in find_synonyms(str(true[0]["objectgoal"]))
        name = episodes[0].goal.subtasks[1].category
        assert name in str(goals[1]["language_goal"]) != str(true[1]["language_goal"])


def test_noise_is_named_by_episode_and_goal(world, episodes, clean):
    text = "goal_image_noise:2"
    seen = look(world, episodes, [text])
    for key in ("0", "1"):
        for number in (2, 5):
            generator = make_generator("corruption", text, 0, "goal", HOUSE, key, number)
            true = clean[key][number]["image_goal"]
            expected = spread_noise(true, draw_normals(generator, *true.shape), SIGMA_2, 0.0)
            np.testing.assert_array_equal(seen[key][number]["image_goal"], expected)


def test_one_slot_tells_what_two_tell(world, episodes):
    corruptions = ["goal_image_noise", "goal_synonyms", "goal_paraphrase"]
    together, alone = look(world, episodes, corruptions), look(world, episodes, corruptions, slots=1)
    for key, goals in together.items():
        for one, other in zip(goals, alone[key], strict=True):
            assert all(np.array_equal(one[name], other[name]) for name in SENSORS)


@pytest.mark.parametrize(
    ("protocol", "text", "missing"),
    [
        ("pointnav-v1", "goal_image_noise", "image"),
        ("objectnav-habitat2020-v1", "goal_synonyms", "object"),
        ("ovon-v1", "goal_paraphrase", "description"),
        ("languagenav-v1", "goal_synonyms", "object"),
        ("instance-imagenav-v1", "goal_paraphrase", "description"),
    ],
)
def test_protocols_without_such_goals_refuse(protocol, text, missing):
    with pytest.raises(InputError, match=f"expected goals given by {missing}, as in goat-v1"):
        require_applicable(get_task(protocol), [text])


def test_goals_of_every_kind_are_corrupted_where_they_are_told():
    for protocol, text in (
        ("goat-v1", "goal_paraphrase"),
        ("ovon-v1", "goal_synonyms"),
        ("languagenav-v1", "goal_paraphrase"),
        ("instance-imagenav-v1", "goal_image_noise:5"),
    ):
        require_applicable(get_task(protocol), [text])


def test_words_of_others_are_not_reworded(world, episodes):
    ours = episodes[0].goal.subtasks[1]
    strange = replace(ours, instances=(replace(ours.instances[0], object_id="900"),))
    episode = replace(episodes[0], goal=LifelongGoal((strange,)))
    with pytest.raises(InputError, match="only those are reworded"):
        look(world, [episode], ["goal_paraphrase"], slots=1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda subtask: {"object_id": "9999"},
            r"as goals of sub-task 1 .*got the unknown \['9999'\]; leave",
        ),
        (lambda subtask: {"rotation": (0.0, 0.0, 0.0, 0.0)}, "expected a rotation of the camera of .*; mend"),
        (lambda subtask: {"width_px": 64}, "got 64 x 512; mend the episode file"),
    ],
)
def test_goals_that_cannot_be_made_are_told(world, episodes, change, message):
    image = episodes[0].goal.subtasks[2]
    changed = change(image)
    if "object_id" in changed:
        corrupted = replace(image, instances=(*image.instances, replace(image.instances[0], **changed)))
    else:
        corrupted = replace(image, image=replace(image.image, **changed))
    with pytest.raises(InputError, match=message):
        look(world, [replace(episodes[0], goal=LifelongGoal((corrupted,)))], slots=1)
