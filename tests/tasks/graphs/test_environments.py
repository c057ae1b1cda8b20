"""Navigation graphs with the interfaces of Gymnasium."""

import pickle

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from graph_world import TOURS, r2r_items, write_sources
from navarena.core.errors import ActionError, InputError, UnknownNameError
from navarena.tasks import NavigationEnv, NavigationVectorEnv, get_task, load_task_episodes


@pytest.fixture(params=["r2r-v1", "ir2r-v1"])
def protocol_id(request):
    return request.param


@pytest.fixture
def options(tmp_path, protocol_id):
    dataset, sources = write_sources(tmp_path, protocol_id == "ir2r-v1")
    return {"dataset": dataset, "sources": sources}


def test_gymnasium_accepts_the_environments(options, protocol_id):
    env = NavigationEnv(protocol_id, **options)
    check_env(env, skip_render_check=True)
    gym_name = {"r2r-v1": "R2R", "ir2r-v1": "IR2R"}[protocol_id]
    made = gymnasium.make(f"navarena.gym:navarena/{gym_name}-v1", **options)
    observation, info = made.reset(seed=3)
    assert made.observation_space.contains(observation)
    assert info.get("phase") == ("agent" if protocol_id == "ir2r-v1" else None)


def test_the_vector_environment_is_the_single_one(options, protocol_id):
    envs = NavigationVectorEnv(3, protocol_id, **options, metrics=None)
    singles = [NavigationEnv(protocol_id, **options) for _ in range(3)]
    seen, infos = envs.reset(seed=7)
    own = [env.reset(seed=7 + k) for k, env in enumerate(singles)]
    assert infos["episode_id"].tolist() == [info["episode_id"] for _, info in own]
    own = [one for one, _ in own]
    ended = [False] * 3
    generator = np.random.default_rng(1)
    finished = 0
    for _ in range(80):
        for k in range(3):
            for key, value in own[k].items():
                assert np.array_equal(value, seen[key][k]), key
        assert all(env.observation_space.contains(one) for env, one in zip(singles, own, strict=True))
        actions = generator.integers(0, 4, 3)
        seen, reward, terminated, truncated, infos = envs.step(actions)
        for k, env in enumerate(singles):
            if ended[k]:
                own[k], _ = env.reset()
                assert reward[k] == 0
                ended[k] = False
                continue
            own[k], single_reward, *ends, info = env.step(int(actions[k]))
            assert (reward[k], terminated[k], truncated[k]) == (single_reward, *ends)
            ended[k] = any(ends)
            if "metrics" in info:
                finished += 1
                assert infos["metrics"]["ndtw"][k] == info["metrics"]["ndtw"]
                assert ("ended" in info) == (protocol_id == "ir2r-v1")
                if "ended" in info:
                    assert infos["ended"][k] == info["ended"]
    assert finished > 10


def test_a_given_tour_and_a_given_episode(tmp_path):
    dataset, sources = write_sources(tmp_path, tours=True)
    episodes = load_task_episodes(
        NavigationEnv("ir2r-v1", dataset=dataset, sources=sources).task, "", dataset, sources
    )
    tour = [one for one in episodes.episodes if one.tour_id == "1"]
    assert tuple(one.episode_id for one in tour) == TOURS[1]
    env = NavigationEnv("ir2r-v1", dataset=dataset, sources=sources)
    _, info = env.reset(options={"tour": tour})
    expected = {"episode_id": "4_1", "scene_id": "scan1", "began": False, "tour_id": "1", "phase": "agent"}
    assert info == expected
    ended, terminated = [], False
    while not terminated:
        _, reward, terminated, truncated, info = env.step(0)
        assert not truncated
        if info["phase"] != "agent":
            assert "metrics" in info or reward == 0
        ended += [info["ended"]] if "ended" in info else []
    assert tuple(ended) == TOURS[1]
    _, info = env.reset(options={"episode": tour[1]})
    assert info["episode_id"] == "1_1" and env.step(0)[2], "a single episode is a tour of its own"
    with pytest.raises(ActionError, match=r"after its end; call reset\(\) first"):
        env.step(0)


def test_graphs_have_no_images_to_render():
    with pytest.raises(InputError, match="expected render_mode None of r2r-v1 on graphs, got 'rgb_array'"):
        NavigationEnv("r2r-v1", split="mini", render_mode="rgb_array")


def test_environments_can_be_copied_at_any_time(tmp_path):
    dataset, sources = write_sources(tmp_path, tours=True)
    env = NavigationEnv("ir2r-v1", dataset=dataset, sources=sources)
    env.reset(seed=1)
    env.step(1)
    twin = pickle.loads(pickle.dumps(env))
    for action in (1, 0, 2, 2, 0, 1, 1):
        first, second = env.step(action), twin.step(action)
        assert first[1:4] == second[1:4] and first[4] == second[4]
        assert all(np.array_equal(first[0][key], second[0][key]) for key in first[0])
        if first[2] or first[3]:
            break


def test_environments_refuse_the_wrong_files(tmp_path):
    dataset, sources = write_sources(tmp_path, tours=True)
    bare = type(sources)(scenes=sources.scenes)
    with pytest.raises(InputError, match="navarena tours make"):
        NavigationEnv("ir2r-v1", dataset=dataset, sources=bare)
    with pytest.raises(InputError, match="use ir2r-v1"):
        NavigationEnv("r2r-v1", dataset=dataset, sources=sources)
    with pytest.raises(InputError, match="--dataset FILE --scenes FOLDER"):
        NavigationEnv("r2r-v1", dataset=dataset)
    with pytest.raises(InputError, match="expected no references for r2r-v1"):
        NavigationEnv(
            "r2r-v1", "", dataset, sources=type(sources)(scenes=sources.scenes, references="gt.json")
        )
    with pytest.raises(InputError, match="without cameras or motion"):
        NavigationEnv("r2r-v1", dataset=dataset, sources=bare, corruptions=("speckle_noise:3",))
    with pytest.raises(UnknownNameError, match="Did you mean 'ir2r-v1'"):
        NavigationEnv("ir2r-v2")
    env = NavigationEnv("r2r-v1", dataset=dataset, sources=bare)
    env.reset(seed=0)
    with pytest.raises(ActionError, match="integer action"):
        env.step(0.5)
    with pytest.raises(InputError, match="a protocol with cameras"):
        env.intrinsics()


def test_a_test_split_runs_but_is_not_scored(tmp_path):
    items = [{**item, "path": item["path"][:1]} for item in r2r_items()]
    dataset, sources = write_sources(tmp_path, items=items)
    env = NavigationEnv("r2r-v1", dataset=dataset, sources=sources)
    env.reset(seed=0)
    _, reward, terminated, _, info = env.step(0)
    assert terminated and reward == 0 and info["metrics"] == {"length": 0.0, "path_steps": 0.0}


@pytest.mark.parametrize("split", ["", "mini", "val", "val_seen"])
def test_the_split_is_that_of_the_files_name(tmp_path, split):
    dataset, sources = write_sources(tmp_path, tours=True)
    found = load_task_episodes(get_task("ir2r-v1"), split, dataset, sources)
    assert found.split == "val_seen" and len(found) == 7


def test_restored_environments_go_on_with_the_same_episodes(options, protocol_id):
    envs, others = (NavigationVectorEnv(3, protocol_id, **options) for _ in range(2))
    envs.reset(seed=1)
    generator = np.random.default_rng(0)
    for _ in range(12):
        envs.step(generator.integers(0, 3, 3))
    others.restore_state(envs.save_state())
    for _ in range(60):
        actions = generator.integers(0, 3, 3)
        mine, its = envs.step(actions), others.step(actions)
        for name, array in mine[0].items():
            assert np.array_equal(array, its[0][name]), name
        assert [one.tolist() for one in mine[1:4]] == [one.tolist() for one in its[1:4]]
        assert repr(mine[4]) == repr(its[4])
