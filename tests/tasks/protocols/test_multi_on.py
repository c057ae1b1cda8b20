"""The rules of MultiON in drawn worlds: FOUND, rewards, ends, objects, options."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navarena.agents.agent import Boundary, Start
from navarena.agents.loading import load_agent
from navarena.core.errors import InputError, UnknownNameError
from navarena.core.protocol_ids import base_protocol, split_protocol
from navarena.episodes.episode import Episode, MultiGoal, ObjectInstance
from navarena.metrics import compute_metrics, progress, success
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.catalog import get_task
from navarena.tasks.protocols.multi_on import MultiOn3
from tasks.small import AHEAD, MULTI_GOALS, make_cache

FOUND, FORWARD, TURN_LEFT, TURN_RIGHT = range(4)
RED, GREEN, BLUE = range(3)

WALK = Episode(
    "walk",
    "hall",
    (5.0, 0.0, 9.0),
    0.0,
    MultiGoal(
        (
            ObjectInstance("0", "cylinder_red", (5.0, 0.0, 6.0)),
            ObjectInstance("1", "cylinder_green", (5.0, 0.0, 3.0)),
        )
    ),
    6.0,
)
"""Red 3 m straight ahead, green 3 m behind it."""


def begin(protocol_id="multion-2on-v1", episode=WALK, sensors=("multiobjectgoal",), size=(64, 48)):
    task = get_task(protocol_id)
    camera = replace(task.embodiment.cameras[0], width_px=size[0], height_px=size[1])
    task.embodiment = replace(task.embodiment, cameras=(camera,))
    batch = NavigationBatch(task, 1, sensors=sensors, worlds=make_cache())
    batch.start([0], [episode])
    return batch


def act(batch, *actions):
    return [batch.step(np.array([action])) for action in actions][-1]


def shown_class(batch):
    return int(batch.observations["multiobjectgoal"][0, 0])


def test_the_protocols():
    for goals in (1, 2, 3):
        task = get_task(f"multion-{goals}on-v1")
        assert (task.goals, task.max_steps, task.success_distance) == (goals, 2500, 1.5)
        assert task.actions == ("found", "move_forward", "turn_left", "turn_right")
        body, camera = task.embodiment, task.embodiment.cameras[0]
        assert (body.height, body.radius, body.slides) == (1.5, 0.1, False)
        assert (camera.width_px, camera.height_px, camera.mount[1]) == (256, 256, 0.88)


def test_an_episode_by_hand():
    """3 m to red: FOUND counts from 1.5 m on; then 4.5 m to green, and 1.5 m again."""
    batch = begin()
    assert shown_class(batch) == RED
    assert act(batch, *[FORWARD] * 6).reward[0] == pytest.approx(0.24)
    result = act(batch, FOUND)
    assert result.reward[0] == pytest.approx(2.99) and not result.terminated[0]
    assert shown_class(batch) == GREEN
    assert act(batch, FORWARD).reward[0] == pytest.approx(0.24)
    act(batch, *[FORWARD] * 11)
    result = act(batch, FOUND)
    assert result.reward[0] == pytest.approx(2.99) and result.terminated[0]
    track = batch.trajectory(0)
    assert track.legs == pytest.approx([3, 3]) and track.found_after.tolist() == [7, 20]
    assert track.distance_to_goal[[0, 6, 7, 20]] == pytest.approx([3, 1.5, 4.5, 1.5])
    scores = compute_metrics(batch.task.metrics, track)
    assert scores["success"] == scores["progress"] == scores["ppl"] == scores["spl"] == 1
    assert scores["path_length"] == pytest.approx(4.5) and scores["num_actions"] == 20


def test_a_wrong_found_ends_the_episode():
    batch = begin()
    act(batch, *[FORWARD] * 5)
    result = act(batch, FOUND)
    assert result.terminated[0] and not result.truncated[0]
    assert result.reward[0] == pytest.approx(-0.01)
    assert (success(batch.trajectory(0)), progress(batch.trajectory(0))) == (0, 0)


def test_half_of_the_goals():
    batch = begin()
    act(batch, *[FORWARD] * 6, FOUND, FOUND)
    scores = compute_metrics(batch.task.metrics, batch.trajectory(0))
    assert (scores["success"], scores["progress"], scores["spl"]) == (0, 0.5, 0)
    assert scores["ppl"] == pytest.approx(0.5) == scores["ppl_code"]
    assert scores["distance_left"] == pytest.approx(4.5)


def test_the_step_limit_truncates():
    batch = begin("multion-2on-v1+max_steps=3")
    result = act(batch, TURN_LEFT, TURN_LEFT, TURN_LEFT)
    assert result.truncated[0] and not result.terminated[0]
    assert not batch.trajectory(0).stopped


def test_the_found_budget():
    batch = begin("multion-2on-v1+found_budget=2+wrong_found_penalty=2.5")
    assert not act(batch, FOUND).terminated[0]
    assert act(batch, FOUND).reward[0] == pytest.approx(-2.51)
    assert act(batch, FOUND).terminated[0]


def test_steps_cost_what_the_option_says():
    for option, cost in (("", 0.01), ("+step_cost=0", 0.0), ("+step_cost=0.5", 0.5)):
        assert act(begin(f"multion-2on-v1{option}"), TURN_LEFT).reward[0] == pytest.approx(-cost)


def test_the_oracle_finds_by_itself():
    batch = begin("multion-2on-v1+oracle_found=true")
    assert not act(batch, FOUND).terminated[0]
    result = act(batch, *[FORWARD] * 6)
    assert result.reward[0] == pytest.approx(3.24) and shown_class(batch) == GREEN
    assert act(batch, *[FORWARD] * 12).terminated[0]
    assert batch.trajectory(0).found_after.tolist() == [7, 19]


def test_the_code_tells_the_new_goal_a_step_late():
    batch = begin("multion-2on-v1+late_goal=true")
    act(batch, *[FORWARD] * 6, FOUND)
    assert shown_class(batch) == RED
    act(batch, TURN_LEFT)
    assert shown_class(batch) == GREEN


def test_the_goal_as_one_hot():
    batch = begin("multion-2on-v1+goal=one_hot")
    act(batch, *[FORWARD] * 6, FOUND)
    assert batch.observations["multiobjectgoal"].tolist() == [[0, 1, 0, 0, 0, 0, 0, 0]]


def ahead(batch, name):
    """The pixel in the middle column that shows a cylinder straight ahead, below the camera's height."""
    return batch.observations[name][0, 32, 32]


def test_objects_are_seen_and_hide_what_is_behind_them():
    batch = begin(sensors=("rgb", "depth", "instance", "semantic"))
    assert ahead(batch, "rgb").tolist() == [255, 0, 6]
    assert ahead(batch, "depth")[0] == pytest.approx((2.9 - 0.5) / 4.5, abs=0.01)
    assert (int(ahead(batch, "instance")[0]), int(ahead(batch, "semantic")[0])) == (1_000_000, 1_000)
    act(batch, *[FORWARD] * 6, FOUND)
    assert ahead(batch, "rgb").tolist() == [255, 0, 6], "found objects stay"


def test_the_next_episode_shows_its_own_objects():
    batch = begin(sensors=("instance",))
    batch.start([0], [replace(WALK, goal=MultiGoal(WALK.goal.objects[1:]))])
    assert set(np.unique(batch.observations["instance"])) & {1_000_000, 1_000_001} == {1_000_001}


def test_hidden_objects_and_distractors():
    seen = np.unique(begin("multion-2on-v1+hidden=true", sensors=("instance",)).observations["instance"])
    assert seen.max() < 1_000_000
    batch = begin("multion-2on-v1+distractors=true", sensors=("instance",))
    assert batch.state.shown._present.sum() == 8
    again = begin("multion-2on-v1+distractors=true", sensors=())
    assert np.array_equal(again.state.shown._positions, batch.state.shown._positions)
    given = replace(WALK.goal, distractors=(ObjectInstance("2", "cylinder_blue", (1.0, 0.0, 1.0)),))
    batch = begin("multion-2on-v1+distractors=true", replace(WALK, goal=given), ())
    assert np.flatnonzero(batch.state.shown._present[0]).tolist() == [RED, GREEN, BLUE]


def test_depth_range_radius_and_sliding():
    far = begin("multion-2on-v1+depth=far+cylinder=paper", sensors=("depth",))
    assert ahead(far, "depth")[0] == pytest.approx(2.95 / 10, abs=0.002)
    assert get_task("multion-2on-v1+sliding=true").embodiment.slides
    assert get_task("multion-2on-v1+step_limit=proportional").max_steps == 1667
    assert get_task("multion-1on-v1+step_limit=proportional").max_steps == 833


def test_options_make_the_id_custom():
    task = get_task("multion-3on-v1+goal=one_hot+found_budget=5")
    assert task.protocol_id == "multion-3on-v1+custom+found_budget=5+goal=one_hot"
    assert get_task(task.protocol_id).protocol_id == task.protocol_id
    assert base_protocol(task.protocol_id) == "multion-3on-v1"
    assert get_task("multion-3on-v1+found_budget=0").protocol_id == "multion-3on-v1", "that is the protocol"
    assert split_protocol("a+b=1+custom") == ("a", {"b": "1"})


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("multion-3on-v1+found_buget=5", UnknownNameError, "Did you mean 'found_budget'"),
        ("multion-3on-v1+found_budget=many", InputError, "expected a whole number, got .many."),
        ("multion-3on-v1+found_budget=-1", InputError, "expected found_budget of at least 0"),
        ("multion-3on-v1+goal", InputError, r"expected options as multion-3on-v1\+name=value"),
        ("multion-3on-v1+goal=id+goal=id", InputError, "each once"),
        ("pointnav-v1+goal=id", UnknownNameError, "unknown option 'goal'"),
        ("multion-4on-v1", UnknownNameError, "Did you mean 'multion-"),
    ],
)
def test_bad_options(text, kind, message):
    with pytest.raises(kind, match=message):
        get_task(text)


def test_episodes_of_another_kind_and_unknown_classes():
    with pytest.raises(
        InputError, match="expected objects in order as the goal of episode 'ahead', got PointG"
    ):
        begin(episode=AHEAD)
    strange = MultiGoal((ObjectInstance("0", "cylinder_rad", (5.0, 0.0, 6.0)),))
    with pytest.raises(UnknownNameError, match="Did you mean 'cylinder_red'"):
        begin(episode=replace(WALK, goal=strange))


def test_progress_is_that_of_episodes_of_one_goal():
    with pytest.raises(InputError, match="expected episodes of one goal for 'progress', got one of 2"):
        begin(sensors=("progress",))


def test_an_unreachable_goal_is_a_failure_without_nan():
    cut_off = Episode(
        "cut-off",
        "rooms",
        (5.0, 0.0, 1.0),
        0.0,
        MultiGoal((ObjectInstance("0", "cylinder_red", (5.0, 0.0, 9.0)),)),
        None,
    )
    batch = begin("multion-1on-v1", cut_off)
    assert np.isfinite(act(batch, FORWARD, FORWARD).reward[0])
    act(batch, FOUND)
    scores = compute_metrics(batch.task.metrics, batch.trajectory(0))
    assert scores["success"] == scores["ppl"] == 0 and scores["distance_left"] == np.inf


def run(agent_name, protocol_id, episodes, steps=400):
    task = get_task(protocol_id)
    agent = load_agent(agent_name, task, 0)
    batch = NavigationBatch(task, len(episodes), sensors=agent.sensors, worlds=make_cache())
    agent.attach(batch)
    batch.start(range(len(episodes)), episodes)
    agent.reset([Start(k, one.episode_id, one.scene_id, Boundary.SCENE, 0) for k, one in enumerate(episodes)])
    while (active := batch.running).any() and steps:
        batch.step(agent.act(batch.observations, active), active)
        steps -= 1
    return [batch.trajectory(k) for k in range(len(episodes))]


@pytest.mark.parametrize("goals", [1, 2, 3])
def test_the_expert_finds_everything(goals):
    tracks = run("expert", f"multion-{goals}on-v1", MULTI_GOALS[goals])
    assert [success(track) for track in tracks] == [1] * len(tracks)


def test_random_walks_with_an_oracle_never_declare_wrongly():
    tracks = run("random-oracle-found", "multion-2on-v1+max_steps=300", MULTI_GOALS[2])
    assert any(len(track.found_after) for track in tracks)
    for track in tracks:
        calls = np.flatnonzero(track.actions == FOUND) + 1
        assert calls.tolist() == track.found_after.tolist()


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32))
def test_rewards_add_up(seed):
    """Sum = way gained towards each goal - 0.01 a step + 3 for each goal."""
    generator = np.random.default_rng(seed)
    batch = NavigationBatch(
        MultiOn3(type(MultiOn3().options)(found_budget=9, max_steps=200)), 4, sensors=(), worlds=make_cache()
    )
    batch.start(range(4), MULTI_GOALS[3])
    total, jumps = np.zeros(4), np.zeros(4)
    while (active := batch.running).any():
        before, index = batch.state.distance.copy(), [len(found) for found in batch.state.found_after]
        result = batch.step(generator.choice(4, 4, p=(0.1, 0.5, 0.2, 0.2)), active)
        for slot in range(4):
            if len(batch.state.found_after[slot]) > index[slot]:
                jumps[slot] += batch.state.distance[slot] - before[slot]
        total += result.reward
        assert not (result.terminated & result.truncated).any()
    for slot in range(4):
        track = batch.trajectory(slot)
        gained = track.distance_to_goal[0] + jumps[slot] - track.distance_to_goal[-1]
        expected = gained - 0.01 * len(track.actions) + 3 * len(track.found_after)
        assert total[slot] == pytest.approx(expected, abs=1e-9)
