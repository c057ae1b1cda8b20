"""What holds for everything registered: each task, sensor and agent, whoever wrote it.

Tasks run in drawn worlds with small cameras, or on a small graph; the rules of a protocol do not depend on
either.
"""

import copy
import functools
import pickle
import tempfile
from dataclasses import replace
from pathlib import Path

import gymnasium
import numpy as np
import pytest

from graph_world import write_sources
from navarena.agents.agent import Boundary, Start
from navarena.agents.catalog import AGENTS, SHIPPED
from navarena.agents.declaration import read_declaration
from navarena.agents.loading import load_agent
from navarena.core.errors import ActionError, InputError
from navarena.episodes.catalog import get_recipe
from navarena.episodes.encoding.catalog import ENCODERS
from navarena.episodes.encoding.encoder import GoalEncoder, unit_rows
from navarena.evaluation.running.episode_loop import report_access
from navarena.mapping.labellers import LABELLERS
from navarena.metrics.catalog import METRICS
from navarena.simulation.body_catalog import BODIES
from navarena.simulation.sensors.catalog import SENSORS
from navarena.simulation.sensors.sensor import BodySensor, CameraSensor, ImageSensor
from navarena.simulation.simulator import Simulator
from navarena.simulation.world import WorldCache
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.catalog import TASKS, get_task
from navarena.tasks.env import NavigationEnv
from navarena.tasks.graphs.task import GraphTask
from navarena.tasks.protocols.object_goal_task import ObjectGoalTask
from navarena.tasks.sensors.catalog import GOAL_SENSORS
from navarena.tasks.vector_env import NavigationVectorEnv
from tasks.small import EPISODES, episodes_for
from worlds import HALL, ROOMS, draw_world

STEPS = 60

GRAPH_FILES = tempfile.TemporaryDirectory()
"""Of the protocols on graphs; goes when the tests end."""

ENDINGS = {"stop", "found", "subtask_stop"}

_ROBUSTNAV = ("robustnav-pointnav-rgb-small", "robustnav-pointnav-rgbd-small")

FOR_SOME = {
    "frontier": ("pointnav multion objectnav", "expected PointNav, ObjectNav or MultiON"),
    "frontier-adaptive": ("pointnav multion objectnav", "expected PointNav, ObjectNav or MultiON"),
    "frontier-expert": ("multion objectnav goat", "expected a protocol whose goals are objects"),
    "frontier-odometry": ("pointnav multion objectnav", "expected PointNav, ObjectNav or MultiON"),
    "frontier-rgb": ("multion", "expected MultiON with cylinders"),
    "frontier-segmenter": ("objectnav", "expected ObjectNav for this agent"),
    "reactive": (
        "multion objectnav-habitat objectnav-hm3d goat",
        "expected a (protocol whose goals are objects|camera that is level)",
    ),
    "reactive-rgb": ("multion", "expected MultiON with cylinders"),
    "topological": ("multion", "expected MultiON with cylinders"),
    "explorer": ("r2r ir2r-v1", "expected an agent for bodies in scenes"),
    "path": ("r2r ir2r-v1", "expected an agent for bodies in scenes"),
    "modular-cow": ("goat", "expected goat-v1 or one of its skills"),
    "vlm": ("none", r"expected vlm\?url=http://HOST:PORT/v1&model=NAME, got no url"),
    "modular-goat": ("goat", "expected goat-v1 or one of its skills"),
    "modular-goat-gt": ("goat", "expected goat-v1 or one of its skills"),
    **{
        name: ("multion", "expected a protocol with the actions found")
        if name.startswith("multion")
        else ("pointnav objectnav", "expected a protocol with the actions (stop|move_forward)")
        for name in SHIPPED
    },
    "objectnav-map-dagger-small": ("objectnav-habitat2020", "expected a protocol with "),
    # sees depth in metres
    _ROBUSTNAV[1]: ("robustnav", "expected a protocol with (depth in metres|the actions move_forward)"),
}
"""Agents that know only some kinds of goals -> which, and what they say of others."""

WITH_FILES = {
    "frontier-segmenter": "frontier-segmenter?segmenter=goals:",
    "modular-goat": "modular-goat?segmenter=floors:&encoder=brightness",
}
"""Agents that need trained parts -> how the tests name them, with parts made here."""

SIZES = dict.fromkeys(SHIPPED, (64, 64)) | dict.fromkeys(_ROBUSTNAV, (80, 60))
"""Agents that read images of one size at least -> its width and height; others get 20 x 12 pixels."""


OBJECT_TASKS = [task for task in map(get_task, TASKS.names()) if isinstance(task, ObjectGoalTask)]


class Floors:
    """A labeller: what is bright is a bed."""

    classes = ("void", "bed")

    def label(self, rgb, depth):
        return (rgb.max(-1) > 128).astype(np.int32)


class BrightGoals(Floors):
    """A labeller: what is bright is the second of all goals of ObjectNav."""

    classes = ("void", *dict.fromkeys(name for task in OBJECT_TASKS for name in task.categories))


class Brightness(GoalEncoder):
    """A goal encoder: mean colours, and lengths of texts."""

    name, dimension, sees_images = "brightness", 3, True

    def encode_words(self, texts):
        return unit_rows(np.array([(len(one), 1, 1) for one in texts], float))

    def encode_images(self, images):
        return unit_rows(np.stack([one.reshape(-1, 3).mean(0) + 1 for one in images]))


@pytest.fixture(autouse=True)
def made_parts(monkeypatch):
    monkeypatch.setitem(LABELLERS._objects, "floors", lambda text: Floors())
    monkeypatch.setitem(LABELLERS._objects, "goals", lambda text: BrightGoals())
    monkeypatch.setitem(ENCODERS._objects, "brightness", Brightness)


WORLDS = [draw_world(HALL, scene_id="hall"), draw_world(ROOMS, scene_id="rooms")]


def small_task(protocol_id, size=(20, 12)):
    """The task; with cameras of `size` pixels, width and height."""
    task = get_task(protocol_id)
    if isinstance(task, GraphTask):
        return task
    width, height = size
    cameras = tuple(replace(camera, width_px=width, height_px=height) for camera in task.embodiment.cameras)
    task.embodiment = replace(task.embodiment, cameras=cameras)
    return task


def make_cache(task):
    cache = WorldCache(task.embodiment)
    for world in WORLDS:
        cache.add(world)
    return cache


@functools.cache
def graph_sources(tours):
    folder = Path(GRAPH_FILES.name, f"tours-{tours}")
    folder.mkdir()
    return write_sources(folder, tours)


def runs_on(task):
    """What environments of `task` draw from."""
    if isinstance(task, GraphTask):
        dataset, sources = graph_sources(task.protocol_id == "ir2r-v1")
        return {"dataset": dataset, "sources": sources}
    return {"episodes": episodes_for(task), "worlds": make_cache(task)}


def make_env(protocol_id, sensors=None, max_steps=None):
    task = small_task(protocol_id)
    task.max_steps = max_steps or task.max_steps
    return NavigationEnv(task, sensors=sensors, text=True, **runs_on(task))


@pytest.fixture(params=TASKS.names())
def protocol_id(request):
    return request.param


@pytest.fixture(params=SENSORS.names())
def sensor_name(request):
    return request.param


@pytest.fixture(params=AGENTS.names())
def agent_name(request):
    return request.param


def draw_move(task, generator):
    """A random action that does not end an episode."""
    if task.is_continuous:
        command = generator.uniform(-1, 1, len(task.actions)).astype(np.float32)
        command[task.actions.index(task.declaration)] = -1
        return command
    return int(generator.choice([k for k, name in enumerate(task.actions) if name not in ENDINGS]))


def rollout(env, seed, steps=STEPS):
    """Everything that comes out of `steps` random steps."""
    generator = np.random.default_rng(seed)
    observations, info = env.reset(seed=seed)
    out = [(observations, None, info)]
    for _ in range(steps):
        action = draw_move(env.task, generator)
        observations, reward, terminated, truncated, info = env.step(action)
        out.append((observations, (reward, terminated, truncated), info))
        if terminated or truncated:
            observations, info = env.reset()
            out.append((observations, None, info))
    return out


def test_gymnasium_accepts_every_task(protocol_id):
    from gymnasium.utils.env_checker import check_env

    check_env(make_env(protocol_id), skip_render_check=True)


def test_observations_lie_in_their_spaces_and_are_finite(protocol_id):
    env = make_env(protocol_id)
    for observations, outcome, _ in rollout(env, 1):
        assert env.observation_space.contains(observations)
        for value in observations.values():
            assert isinstance(value, str) or np.isfinite(value).all()
        if outcome is not None:
            assert np.isfinite(outcome[0])


def test_a_seed_repeats_everything(protocol_id):
    first, second = rollout(make_env(protocol_id), 5), rollout(make_env(protocol_id), 5)
    for (seen, outcome, info), (seen_again, outcome_again, info_again) in zip(first, second, strict=True):
        assert (outcome, info) == (outcome_again, info_again)
        assert all(np.array_equal(seen[name], seen_again[name]) for name in seen)


def test_a_restored_environment_goes_on_with_the_same_bytes(protocol_id):
    env, other = make_env(protocol_id), make_env(protocol_id)
    generator = np.random.default_rng(2)
    env.reset(seed=9)
    for step in range(12):
        if step == 4:
            other.restore_state(env.save_state())
        action = draw_move(env.task, generator)
        mine = env.step(action)
        if step >= 4:
            its = other.step(action)
            assert mine[1:] == its[1:]
            assert all(np.array_equal(value, its[0][name]) for name, value in mine[0].items())
    assert [env.reset()[1] for _ in range(3)] == [other.reset()[1] for _ in range(3)]


def test_without_a_seed_starts_differ(protocol_id):
    env = make_env(protocol_id, sensors=())
    assert len({env.reset()[1]["episode_id"] for _ in range(40)}) > 1


def test_observations_share_no_memory(protocol_id):
    env = make_env(protocol_id)
    first, _ = env.reset(seed=0)
    kept = copy.deepcopy(first)
    generator = np.random.default_rng(0)
    second, *_ = env.step(draw_move(env.task, generator))
    third, *_ = env.step(draw_move(env.task, generator))
    for name in first:
        assert not np.shares_memory(first[name], second[name])
        assert not np.shares_memory(second[name], third[name])
        assert np.array_equal(first[name], kept[name]), f"{name} changed after it was returned"
    values = list(third.values())
    assert not any(np.shares_memory(a, b) for i, a in enumerate(values) for b in values[:i])


def test_no_sensor_of_a_protocol_is_dead(protocol_id):
    env = make_env(protocol_id)
    of_tours = () if "tour_id" in env.reset()[1] else ("phase", "tour_position")
    seen = [observations for seed in range(6) for observations, *_ in rollout(env, seed)]
    for name in {*seen[0]} - {*of_tours}:
        assert any(not np.array_equal(seen[0][name], later[name]) for later in seen[1:]), name


def test_a_batch_equals_single_environments_bit_for_bit(protocol_id):
    count = 3
    task = small_task(protocol_id)
    task.max_steps = max(task.max_steps, 2 * STEPS)
    envs = NavigationVectorEnv(count, task, text=True, **runs_on(task))
    singles = [make_env(protocol_id, max_steps=task.max_steps) for _ in range(count)]
    seen, _ = envs.reset(seed=9)
    own = [env.reset(seed=9 + k)[0] for k, env in enumerate(singles)]
    generator = np.random.default_rng(1)
    for _ in range(STEPS):
        for name in seen:
            if isinstance(seen[name], tuple):  # texts
                assert seen[name] == tuple(one[name] for one in own)
                continue
            assert seen[name].tobytes() == b"".join(one[name].tobytes() for one in own)
        actions = np.array([draw_move(task, generator) for _ in range(count)])
        seen, rewards, terminated, truncated, _ = envs.step(actions)
        assert not terminated.any() and not truncated.any()
        results = [env.step(action) for env, action in zip(singles, actions, strict=True)]
        own = [result[0] for result in results]
        assert rewards.tolist() == [result[1] for result in results]


def test_closing_is_final(protocol_id):
    task = small_task(protocol_id)
    for env in (make_env(protocol_id), NavigationVectorEnv(2, task, **runs_on(task))):
        env.reset(seed=0)
        env.close()
        env.close()
        for call in (env.reset, lambda env=env: env.step(env.action_space.sample())):
            with pytest.raises(ActionError, match=r"got a closed one; make another$"):
                call()


def test_no_text_unless_asked_for(protocol_id):
    task = small_task(protocol_id)
    for options in ({}, {"text": True}):
        one = NavigationEnv(task, **runs_on(task), **options).observation_space
        many = NavigationVectorEnv(2, task, **runs_on(task), **options).single_observation_space
        assert one == many
        texts = [name for name, space in one.items() if isinstance(space, gymnasium.spaces.Text)]
        known = {"candidate_viewpoints", "instruction", "language_goal", "objectgoal", "viewpoint"}
        assert set(texts) <= known and (options or not texts)
        if "instruction" in task.sensors and options:
            assert "instruction" in texts


def test_settings_can_be_pickled(protocol_id):
    task = get_task(protocol_id)
    again = pickle.loads(pickle.dumps(task))
    assert vars(again) == vars(task) and again.protocol_id == protocol_id
    recipe = () if isinstance(task, GraphTask) else (get_recipe(protocol_id), task.embodiment)
    for obj in (*recipe, *BODIES.values(), EPISODES):
        assert pickle.loads(pickle.dumps(obj)) == obj


def test_a_protocol_names_what_exists(protocol_id):
    task = get_task(protocol_id)
    assert task.protocol_id == protocol_id
    assert set(task.metrics) <= set(METRICS.names())
    assert task.max_steps > 0 and task.actions
    headings = ["Versions"]
    if not isinstance(task, GraphTask):
        assert set(task.sensors) <= {*SENSORS.names(), *GOAL_SENSORS.names()}
        assert get_recipe(protocol_id).default_dataset == task.default_dataset
        headings += ["Body", "Actions", "Observations", "Reward", "Start", "End"]
    card = "".join(kind.__doc__ or "" for kind in type(task).__mro__)
    for heading in headings:
        assert f"## {heading}" in card, f"the card of {protocol_id} lacks {heading}"
    space = make_env(protocol_id).observation_space
    assert isinstance(space, gymnasium.spaces.Dict) and set(space) == set(task.sensors)


def test_every_sensor_on_every_body(sensor_name):
    """In its bounds, of its type, finite, and alive somewhere on a walk."""
    for body in BODIES.values():
        small = replace(
            body, cameras=tuple(replace(camera, width_px=20, height_px=12) for camera in body.cameras)
        )
        simulator = Simulator(small, 2, (sensor_name,))
        simulator.place([0, 1], WORLDS, np.array([[5.0, 0, 5], [3.5, 0, 2.5]]), np.array([0.1, 2.0]))
        (name,) = simulator.observations
        spec = simulator.observer.specs[name]
        seen = []
        for action in (1, 2, 1, 4, 1, 3, 5, *[1] * 30):
            simulator.step(np.array([action, action]))
            value = simulator.observations[name].copy()
            assert value.shape == (2, *spec.shape) and value.dtype == spec.dtype
            assert np.isfinite(value).all()
            assert (value >= spec.low).all() and (value <= spec.high).all()
            seen.append(value)
        fixed = name == "K"
        assert fixed or any(not np.array_equal(seen[0], later) for later in seen), f"{name} never changes"


def test_every_sensor_is_of_a_known_kind(sensor_name):
    assert isinstance(SENSORS.get(sensor_name)(), BodySensor | ImageSensor | CameraSensor)
    assert SENSORS.get(sensor_name).name == sensor_name


def run_agent(name, task, episodes, seed):
    """The actions in each episode, of an agent that declares it as privileged if it reads the batch."""
    agent = load_agent(name, task, seed)
    batch = NavigationBatch(task, len(episodes), sensors=agent.sensors, worlds=make_cache(task))
    looks = []
    agent.attach(report_access(batch, lambda: looks.append(name)))
    batch.start(range(len(episodes)), episodes)
    agent.reset(
        [Start(k, one.episode_id, one.scene_id, Boundary.SCENE, seed) for k, one in enumerate(episodes)]
    )
    for _ in range(STEPS):
        active = batch.running
        if not active.any():
            break
        actions = agent.act(batch.observations, active)
        assert actions.shape == (len(episodes),) and actions.dtype == np.int64
        assert ((actions >= 0) & (actions < len(task.actions)))[active].all()
        batch.step(actions, active)
    assert not looks or read_declaration(agent).privileged
    return [batch.trajectory(k).actions.tolist() for k in range(len(episodes))]


@pytest.mark.parametrize("protocol_id", ["pointnav-v1", "multion-2on-v1", "objectnav-hm3d2022-v1", "goat-v1"])
def test_every_agent_repeats_itself_in_any_batch(agent_name, protocol_id):
    task = small_task(protocol_id, SIZES.get(agent_name, (20, 12)))
    kinds, refusal = FOR_SOME.get(agent_name, (protocol_id, ""))
    if not protocol_id.startswith(tuple(kinds.split())):
        with pytest.raises(InputError, match=refusal):
            load_agent(agent_name, task)
        return
    episodes, agent_name = episodes_for(task), WITH_FILES.get(agent_name, agent_name)
    together = run_agent(agent_name, task, episodes, 4)
    assert together == [run_agent(agent_name, task, [episode], 4)[0] for episode in episodes]
    backwards = run_agent(agent_name, task, episodes[::-1], 4)
    assert together == backwards[::-1]
