"""The options path_actions and objects draw episodes anew, and change nothing else."""

import pytest

from navarena.agents.agent import Start
from navarena.agents.loading import load_agent
from navarena.cli.main import main
from navarena.core.errors import InputError, SceneError
from navarena.episodes import sampling
from navarena.episodes.catalog import get_recipe, load_episodes
from navarena.episodes.multi_on import make_recipe
from navarena.episodes.recipe import Stream
from navarena.simulation.world import WorldCache
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.catalog import get_task
from worlds import ROOMS, draw_world

STREAM = Stream("drawn", "test")
FEW = 40


def count_actions(task, world, episodes):
    """How many actions the expert takes, by a run."""
    agent = load_agent("expert", task)
    worlds = WorldCache(task.embodiment)
    worlds.add(world)
    batch = NavigationBatch(task, len(episodes), sensors=agent.sensors, worlds=worlds)
    agent.attach(batch)
    batch.start(range(len(episodes)), episodes)
    agent.reset([Start(k, one.episode_id, one.scene_id) for k, one in enumerate(episodes)])
    while (active := batch.running).any():
        batch.step(agent.act(batch.observations, active), active)
    tracks = [batch.trajectory(k) for k in range(len(episodes))]
    assert all(track.distance_to_goal[-1] <= 1.5 for track in tracks)
    return [len(track.actions) for track in tracks]


def test_episodes_take_at_most_so_many_actions():
    world = draw_world(ROOMS, scene_id="rooms")
    task = get_task("multion-2on-v1")
    plain = get_recipe("multion-2on-v1").make(world, 20, STREAM)
    short = get_recipe(f"multion-2on-v1+path_actions={FEW}").make(world, 20, STREAM)
    lengths = count_actions(task, world, plain.episodes)
    assert max(lengths) > FEW and plain.dropped == 0
    assert max(count_actions(task, world, short.episodes)) <= FEW and short.dropped > 0
    for old, new, length in zip(plain.episodes, short.episodes, lengths, strict=True):
        assert (old == new) == (length <= FEW)


def test_the_protocols_own_limit_changes_nothing():
    for protocol, own in (("multion-3on-v1", 2500), ("objectnav-hm3d2022-v1", 500)):
        assert get_recipe(f"{protocol}+path_actions={own}") == get_recipe(protocol)
        assert get_task(f"{protocol}+path_actions={own}").protocol_id == protocol
    assert get_task("objectnav-stretch2023-v1").options.path_actions == 80


def test_more_objects_are_drawn():
    """As many distinct ones as asked for, in as many legs, as the recipe of that number draws them."""
    world = draw_world(ROOMS, scene_id="rooms")
    five = get_recipe("multion-3on-v1+objects=5").make(world, 3, STREAM).episodes
    assert [len({one.category for one in episode.goal.objects}) for episode in five] == [5, 5, 5]
    assert five == make_recipe(5).make(world, 3, STREAM).episodes
    assert get_recipe("multion-3on-v1+objects=3") == get_recipe("multion-3on-v1+objects=0")
    shapes = get_recipe("multion-shapes-1on-v1+objects=5").make(world, 3, STREAM).episodes
    assert [one.start_position for one in shapes] == [one.start_position for one in five]
    task = get_task("multion-3on-v1+objects=5+step_limit=proportional")
    assert (task.goals, task.max_steps) == (5, 4167)
    assert task.protocol_id == "multion-3on-v1+custom+objects=5+step_limit=proportional"


def test_a_limit_shows_as_custom():
    task = get_task("objectnav-habitat2020-v1+path_actions=750")
    assert task.protocol_id == "objectnav-habitat2020-v1+custom+path_actions=750"
    assert task.max_steps == 500


@pytest.mark.parametrize(
    ("protocol", "message"),
    [
        ("multion-1on-v1+path_actions=0", "expected a path of at least 1 planned action, got 0"),
        (
            "multion-1on-v1+path_actions=many",
            "expected a number as path_actions of 'multion-1on-v1', got 'many'",
        ),
        ("multion-1on-v1+objects=9", "expected 1 to 8 goals of distinct classes, got 9"),
        ("pointnav-v1+objects=2", "expected a protocol of several goals for episodes with 2"),
        ("pointnav-v1+path_actions=9", "expected a protocol of objects for a limit of 9 planned actions"),
    ],
)
def test_bad_limits(protocol, message):
    with pytest.raises(InputError, match=message):
        get_recipe(protocol)


def test_files_are_what_they_are(tmp_path, capsys):
    path = tmp_path / "two.json"
    assert main(["episodes", "make", "multion-1on-v1", "--scene", "houses-v1/val/00000", "--per-scene", "2",
                 "--out", str(path)]) == 0  # fmt: skip
    assert len(load_episodes("multion-1on-v1", dataset=path)) == 2
    with pytest.raises(InputError, match="for .*path_actions=9.* leave out objects and path_actions"):
        load_episodes("multion-1on-v1+path_actions=9", dataset=path)


def test_no_episode_is_short_enough(monkeypatch):
    monkeypatch.setattr(sampling, "MAX_DROPPED", 3)
    world = draw_world(ROOMS, scene_id="rooms")
    with pytest.raises(SceneError, match="got 3 candidates in a row that it cannot; allow more actions"):
        get_recipe("multion-1on-v1+path_actions=1").make(world, 1, STREAM)
