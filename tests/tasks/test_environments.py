import pickle
from copy import deepcopy
from dataclasses import replace
from functools import partial

import gymnasium
import numpy as np
import pytest
from gymnasium.utils import seeding
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

from navarena.core.errors import ActionError, InputError
from navarena.episodes.catalog import get_recipe, load_episodes
from navarena.episodes.episode import ObjectGoal, ObjectInstance, ViewPoint
from navarena.episodes.stream import EpisodeStream, Stay
from navarena.metrics.navigation import success
from navarena.simulation.planning import ActionPlanner, Query
from navarena.simulation.world import WorldCache
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.catalog import get_body_task, get_task
from navarena.tasks.env import NavigationEnv
from navarena.tasks.teacher import make_teacher
from navarena.tasks.vector_env import NavigationVectorEnv
from tasks.small import AHEAD, EPISODES, FAR, MULTI_GOALS, ROUND, SmallPointNav, make_cache, make_episode
from worlds import HALL, draw_world


def make_env(**options):
    return NavigationEnv(SmallPointNav(), episodes=EPISODES, worlds=make_cache(), **options)


def make_vector_env(count, **options):
    return NavigationVectorEnv(count, SmallPointNav(), episodes=EPISODES, worlds=make_cache(), **options)


def test_gymnasium_accepts_it():
    check_env(make_env(render_mode="rgb_array"), skip_render_check=True)


def test_a_seed_fixes_the_episodes_and_none_varies_them():
    env = make_env(sensors=("gps",))

    def episodes(seed):
        first = env.reset(seed=seed)[1]["episode_id"]
        return [first, *(env.reset()[1]["episode_id"] for _ in range(15))]

    assert episodes(7) == episodes(7)
    assert episodes(7) != episodes(8)
    assert len(set(episodes(7))) == len(EPISODES)


def test_an_episode_can_be_chosen():
    env = make_env(sensors=())
    assert env.reset(options={"episode": AHEAD})[1] == {
        "episode_id": "ahead",
        "scene_id": "hall",
        "began": False,
    }


def test_the_last_info_holds_the_metrics():
    env = make_env(sensors=())
    env.reset(options={"episode": AHEAD})
    for _ in range(4):
        *_, info = env.step(1)
        assert "metrics" not in info
    _, reward, terminated, truncated, info = env.step(0)
    assert terminated and not truncated and reward == pytest.approx(2.49)
    assert info["metrics"]["success"] == 1 and info["metrics"]["spl"] == pytest.approx(1)
    assert set(info["metrics"]) == set(SmallPointNav.metrics)


def test_bad_actions_and_times():
    env = make_env(sensors=())
    with pytest.raises(ActionError, match="before reset"):
        env.step(1)
    env.reset(seed=0)
    for wrong in (4, -1, 1.5, np.array([0, 1]), "stop"):
        with pytest.raises(ActionError, match=r"0\.\.3"):
            env.step(wrong)
    env.step(0)
    with pytest.raises(ActionError, match=r"after its end; call reset\(\) first"):
        env.step(1)


def test_images_and_cameras():
    env = make_env(sensors=("gps",), render_mode="rgb_array")
    observations, _ = env.reset(options={"episode": AHEAD})
    assert set(observations) == {"gps"}
    image = env.render()
    assert image.shape == (24, 32, 3) and image.any()
    assert env.intrinsics()[0, 2] == 16
    assert env.world_from_camera()[:3, 3] == pytest.approx([5, 0.88, 5])
    with pytest.raises(InputError, match="rgb_array"):
        make_env(render_mode="human")


def assert_equal_steps(first, second, actions):
    for action in actions:
        one, two = first.step(action), second.step(action)
        assert one[1:4] == two[1:4] and one[4] == two[4]
        assert all(np.array_equal(one[0][name], two[0][name]) for name in one[0])


@pytest.mark.parametrize("copied", [lambda env: pickle.loads(pickle.dumps(env)), deepcopy])
def test_environments_can_be_copied_at_any_time(copied):
    """A copy goes on from where the environment stands, in the episode and in the order of episodes."""
    env = make_env(corruptions=("motion_drift",))
    for _ in range(2):
        twin = copied(env)
        assert env.reset(seed=5)[1] == twin.reset(seed=5)[1]
        env.step(1)
        twin = copied(env)
        assert_equal_steps(env, twin, (1, 2, 1, 0))
        assert env.reset()[1] == twin.reset()[1]
    vector = make_vector_env(3)
    vector.reset(seed=1)
    vector.step(np.array([1, 2, 1]))
    twin = copied(vector)
    for actions in ([1, 1, 0], [1, 1, 1], [2, 0, 1]):
        one, two = vector.step(np.array(actions)), twin.step(np.array(actions))
        assert all(np.array_equal(a, b) for a, b in zip(one[1:4], two[1:4], strict=True))
        assert all(np.array_equal(one[0][name], two[0][name]) for name in one[0])


@pytest.mark.parametrize(("task", "split"), [("pointnav-v1", "train"), ("ir2r-ce-v1", "mini")])
def test_environments_of_generated_episodes_can_be_pickled(task, split):
    """Streams that make their episodes when they are read, and tours of houses, travel by their names."""
    env = NavigationEnv(task, split, sensors=())
    assert len(pickle.dumps(env)) < 1 << 20
    if split == "mini":
        env.reset(seed=0)
        twin = pickle.loads(pickle.dumps(env))
        assert_equal_steps(env, twin, (1, 2, 1, 0, 1))


def test_specification_can_be_pickled_and_written_as_json():
    import navarena.gym  # noqa: F401 - registers

    spec = gymnasium.spec("navarena/PointNav-v1")
    assert pickle.loads(pickle.dumps(spec)) == spec
    assert "pointnav-v1" in spec.to_json()


def test_vector_env_equals_single_envs_bit_for_bit():
    count, steps = 4, 80
    envs = make_vector_env(count, metrics=None)
    singles = [make_env() for _ in range(count)]
    assert envs.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    seen, _ = envs.reset(seed=100)
    for k, env in enumerate(singles):
        own, _ = env.reset(seed=100 + k)
        assert all(np.array_equal(own[name], seen[name][k]) for name in own)
    generator = np.random.default_rng(3)
    ended = np.zeros(count, bool)
    ends = 0
    for _ in range(steps):
        actions = generator.choice(4, count, p=(0.02, 0.58, 0.2, 0.2))
        seen, rewards, terminated, truncated, infos = envs.step(actions)
        for k, env in enumerate(singles):
            if ended[k]:
                own, info = env.reset()
                expected = (0.0, False, False)
                assert infos["episode_id"][k] == info["episode_id"]
            else:
                own, *expected, info = env.step(int(actions[k]))
                if "metrics" in info:
                    ends += 1
                    assert {
                        name: value[k] for name, value in infos["metrics"].items() if name[0] != "_"
                    } == info["metrics"]
            assert (rewards[k], terminated[k], truncated[k]) == tuple(expected)
            for name, value in own.items():
                assert value.dtype == seen[name].dtype
                assert value.tobytes() == seen[name][k].tobytes(), name
        ended = terminated | truncated
    assert ends >= count


def test_same_step_resets_equal_next_step_ones_without_the_pause():
    """The same episodes and steps; what the other mode returns at an end is final_obs and final_info here."""
    count, steps = 3, 60
    modes = (AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP)
    sensors = ("rgb", "gps", "pointgoal")
    same, late = (
        [
            make_vector_env(1, sensors=sensors, metrics=("spl", "success"), autoreset_mode=mode)
            for _ in range(count)
        ]
        for mode in modes
    )
    together = make_vector_env(count, sensors=sensors, metrics=("spl", "success"), autoreset_mode=modes[0])
    assert together.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    seen, infos = together.reset(seed=40)
    assert infos["episode_start"].tolist() == [True] * count
    for k in range(count):
        same[k].reset(seed=40 + k), late[k].reset(seed=40 + k)
    generator, ends = np.random.default_rng(1), 0
    for _ in range(steps):
        actions = generator.choice(4, count, p=(0.15, 0.45, 0.2, 0.2))
        seen, rewards, terminated, truncated, infos = together.step(actions)
        assert infos["episode_start"].tolist() == (terminated | truncated).tolist()
        for k in range(count):
            own, reward, ended, cut, info = late[k].step(actions[k : k + 1])
            assert (rewards[k], terminated[k], truncated[k]) == (reward[0], ended[0], cut[0])
            if ended[0] or cut[0]:
                ends += 1
                last, final = infos["final_obs"][k], infos["final_info"]
                assert all(np.array_equal(last[name], own[name][0]) for name in sensors)
                assert final["episode_id"][k] == info["episode_id"][0]
                assert final["metrics"]["spl"][k] == info["metrics"]["spl"][0]
                assert set(final["metrics"]) == {"spl", "success", "_spl", "_success"}
                own, reward, *_, info = late[k].step(np.array([1]))
                assert info["episode_start"][0] and infos["episode_id"][k] == info["episode_id"][0]
                assert reward[0] == 0 and not infos["began"][k] and "metrics" not in infos
            else:
                assert not info["episode_start"][0] and not infos.get("_final_obs", np.zeros(count))[k]
            assert all(np.array_equal(seen[name][k], own[name][0]) for name in sensors)
    assert ends > 5


def test_metrics_are_computed_on_request():
    for wanted, expected in ((), None), (("spl",), {"spl"}), (None, set(SmallPointNav.metrics)):
        envs = make_vector_env(1, sensors=(), metrics=wanted)
        envs.reset(seed=0)
        infos = envs.step(np.array([0]))[-1]
        found = {name for name in infos["metrics"] if name[0] != "_"} if "metrics" in infos else None
        assert found == expected
    with pytest.raises(InputError, match="spll"):
        make_vector_env(1, sensors=(), metrics=("spll",))
    with pytest.raises(InputError, match="NEXT_STEP or SAME_STEP"):
        make_vector_env(1, sensors=(), autoreset_mode=AutoresetMode.DISABLED)


def test_metrics_that_need_the_shortest_path_have_it():
    env = make_env(sensors=(), metrics=("spl", "action_spl", "time_spl"))
    env.reset(options={"episode": AHEAD})
    for action in (1, 1, 1, 1, 0):
        info = env.step(action)[-1]
    assert info["metrics"] == pytest.approx({"spl": 1.0, "action_spl": 1.0, "time_spl": 1.0})


def test_vector_observations_are_fresh_unless_asked_otherwise():
    for copy in (True, False):
        envs = make_vector_env(2, sensors=("gps",), copy=copy)
        first, _ = envs.reset(seed=0)
        second, *_ = envs.step(np.array([1, 1]))
        assert np.shares_memory(first["gps"], second["gps"]) is not copy
        assert envs.observation_space.contains(second)


def test_vector_env_asks_for_a_reset_and_for_one_seed_each():
    envs = make_vector_env(2, sensors=())
    with pytest.raises(ActionError, match="before reset"):
        envs.step(np.array([1, 1]))
    with pytest.raises(InputError, match="2 seeds"):
        envs.reset(seed=[1, 2, 3])
    envs.reset(seed=[5, None])
    with pytest.raises(ActionError, match="in slot 1"):
        envs.step(np.array([1, 4]))


def test_vector_wrappers_of_gymnasium_work():
    envs = gymnasium.wrappers.vector.RecordEpisodeStatistics(make_vector_env(2, sensors=("gps",)))
    envs.reset(seed=0)
    for action in (1, 2, 0):
        *_, infos = envs.step(np.array([action, 1]))
    returned = infos["episode"]["r"][0]
    assert np.isfinite(returned) and infos["episode"]["l"][0] == 3


def test_empty_episode_lists_are_refused():
    with pytest.raises(InputError, match="at least one episode"):
        NavigationEnv(SmallPointNav(), episodes=(), worlds=make_cache())


ONE_SCENE = partial(EpisodeStream, stay=Stay(episodes=2, houses=1))


def run_vector(envs, steps, seed):
    """Observations, rewards and infos of so many random steps."""
    generator, seen = np.random.default_rng(seed), []
    for _ in range(steps):
        observed, rewards, *_, infos = envs.step(generator.choice(4, envs.num_envs, p=(0.3, 0.3, 0.2, 0.2)))
        seen += [array.tobytes() for _, array in sorted(observed.items())]
        seen += [rewards.tobytes(), repr(infos)]
    return seen


def test_without_a_sampler_each_environment_draws_by_one_integer():
    envs, env = make_vector_env(2, sensors=()), make_env(sensors=())
    for k in range(2):
        generator = seeding.np_random(11 + k)[0]
        rows = generator.integers(len(EPISODES), size=6)
        first = env.reset(seed=11 + k)[1]["episode_id"]
        drawn = [first, *(env.reset()[1]["episode_id"] for _ in range(5))]
        assert drawn == [EPISODES[row].episode_id for row in rows]
        first = envs.reset(seed=11)[1]["episode_id"][k]
        assert [first, *(envs.reset()[1]["episode_id"][k] for _ in range(5))] == drawn


def test_environments_keep_to_the_scenes_of_their_sampler():
    envs = make_vector_env(3, sensors=(), sampler=ONE_SCENE)
    scenes = envs.reset(seed=3)[1]["scene_id"].tolist()
    ended = np.zeros(3, bool)
    while len(scenes) < 24:
        *_, terminated, truncated, infos = envs.step(np.array([0, 1, 0]))
        scenes += [infos["scene_id"][slot] for slot in np.flatnonzero(ended)]
        ended = terminated | truncated
    visits = [scenes[k : k + 2] for k in range(0, 24, 2)]
    assert all(one == other for one, other in visits)
    turns = [{visits[k][0], visits[k + 1][0]} for k in range(0, 12, 2)]
    assert turns == [{"hall", "rooms"}] * 6


def test_steps_of_episodes_that_were_given_up_count_for_their_scene():
    env = make_env(sensors=(), sampler=partial(EpisodeStream, stay=Stay(steps=3, houses=1)))

    def scenes(steps):
        seen = [env.reset(seed=2)[1]["scene_id"]]
        for _ in range(7):
            for _ in range(steps):
                env.step(1)
            seen.append(env.reset()[1]["scene_id"])
        return seen

    first, *_, last = scenes(3)[:4]
    assert scenes(3)[:4] == [first, first, last, last] and first != last, "two episodes are a block"
    assert len({*scenes(0)}) == 1


@pytest.mark.slow
def test_train_splits_are_streamed_by_default():
    """Few houses for many environments; what is drawn is what a stream with the first integer draws."""
    env = NavigationEnv("pointnav-v1", sensors=())
    drawn = [env.reset(seed=5)[1]["episode_id"], *(env.reset()[1]["episode_id"] for _ in range(5))]
    generator = seeding.np_random(5)[0]
    stream = EpisodeStream(get_recipe("pointnav-v1"), stay=Stay(50, 10_000, 4), prefetchers=0)
    stream.restart(generator)
    assert drawn == [stream.draw(generator)[0].episode_id for _ in range(6)]
    assert len({name.rpartition("-")[0] for name in drawn}) <= 4
    given = NavigationEnv("pointnav-v1", "mini", sensors=())
    listed = load_episodes("pointnav-v1", "mini").episodes
    rows = seeding.np_random(5)[0].integers(len(listed), size=1)
    assert given.reset(seed=5)[1]["episode_id"] == listed[rows[0]].episode_id


@pytest.mark.parametrize("sampler", [None, ONE_SCENE])
def test_equal_seeds_give_equal_episodes_whatever_ran_before(sampler):
    env = make_env(sensors=(), sampler=sampler)

    def drawn(seed):
        return [env.reset(seed=seed)[1]["episode_id"], *(env.reset()[1]["episode_id"] for _ in range(9))]

    assert drawn(5) == drawn(5) != drawn(6)
    envs = [make_env(sensors=(), sampler=sampler) for _ in range(3)]
    fresh = {tuple(env.reset()[1]["episode_id"] for _ in range(60)) for env in envs}
    assert len(fresh) == 3, "without a seed nobody can foresee them"


@pytest.mark.parametrize("sampler", [None, ONE_SCENE])
def test_restored_vector_environments_go_on_with_the_same_bytes(sampler):
    sensors = ("rgb", "gps", "pointgoal")
    envs, others = (make_vector_env(3, sensors=sensors, sampler=sampler) for _ in range(2))
    envs.reset(seed=4)
    run_vector(envs, 7, 0)
    saved = envs.save_state()
    others.restore_state(saved)
    expected = run_vector(envs, 30, 1)
    assert run_vector(others, 30, 1) == expected
    envs.restore_state(saved)
    assert run_vector(envs, 30, 1) == expected


@pytest.mark.parametrize("sampler", [None, ONE_SCENE])
def test_a_restored_environment_goes_on_with_the_same_episodes(sampler):
    env, other = (make_env(sensors=("gps",), sampler=sampler) for _ in range(2))
    env.reset(seed=8)
    env.step(1)
    other.restore_state(env.save_state())
    for _ in range(3):
        for action in (1, 2, 0):
            mine, its = env.step(action), other.step(action)
            assert mine[0]["gps"].tobytes() == its[0]["gps"].tobytes() and mine[1:] == its[1:]
        assert [env.reset()[1] for _ in range(4)] == [other.reset()[1] for _ in range(4)]


def test_a_state_of_another_sampler_is_refused():
    env = make_env(sensors=(), sampler=ONE_SCENE)
    env.reset(seed=8)
    with pytest.raises(InputError, match="choose the sampler of the run"):
        make_env(sensors=()).restore_state(env.save_state())


def test_infos_say_when_a_subtask_begins():
    task = get_task("multion-2on-v1")
    worlds = WorldCache(task.embodiment)
    worlds.add(draw_world(HALL, scene_id="hall"))
    given = {"sensors": (), "episodes": MULTI_GOALS[2][:1], "worlds": worlds}
    env, envs = NavigationEnv(task, **given), NavigationVectorEnv(2, task, **given)
    found, forward = task.actions.index("found"), task.actions.index("move_forward")
    assert env.reset(seed=0)[1]["began"] is False
    envs.reset(seed=0)
    assert env.step(found)[-1]["began"] is True
    assert envs.step(np.array([found, forward]))[-1]["began"].tolist() == [True, False]
    assert env.step(forward)[-1]["began"] is False


@pytest.mark.parametrize("options", [{"episode": None}, {"tour": []}, {"tour": None}, {"tour": ["a"]}])
def test_resets_to_nothing_are_refused(options):
    with pytest.raises(InputError, match="expected an episode, or a tour of at least one, in the options of"):
        make_env(sensors=("gps",)).reset(seed=0, options=options)


@pytest.mark.parametrize("options", [{"episodes": AHEAD}, {"episode": AHEAD, "tour": [AHEAD]}])
def test_options_of_a_reset_without_effect_are_refused(options):
    with pytest.raises(
        InputError, match="expected 'episode' or 'tour' in the options of reset, got 'episode"
    ):
        make_env(sensors=("gps",)).reset(seed=0, options=options)
    with pytest.raises(InputError, match="expected no options in the reset of a vector environment, got 'ep"):
        make_vector_env(2, sensors=("gps",)).reset(seed=0, options=options)
    make_vector_env(2, sensors=("gps",)).reset(seed=0, options={})


def test_numbers_below_one_are_refused():
    for count in (0, -1):
        with pytest.raises(InputError, match=f"expected at least one environment, got {count}"):
            make_vector_env(count)
        with pytest.raises(InputError, match=f"at least one thread, or None for all processors, got {count}"):
            make_env(threads=count)


def test_observations_may_be_rewritten_by_the_next_step():
    fresh, shared = make_env(sensors=("rgb", "gps")), make_env(sensors=("rgb", "gps"), copy=False)
    first, first_shared = fresh.reset(seed=0)[0], shared.reset(seed=0)[0]
    kept = {name: array.copy() for name, array in first_shared.items()}
    for name, array in first.items():
        np.testing.assert_array_equal(array, kept[name])
    second, second_shared = fresh.step(1)[0], shared.step(1)[0]
    assert np.shares_memory(first_shared["rgb"], second_shared["rgb"])
    assert not np.shares_memory(first["rgb"], second["rgb"])
    for name, array in second.items():
        np.testing.assert_array_equal(array, second_shared[name])


def test_the_teacher_of_bodies_leads_to_success():
    batch = NavigationBatch(SmallPointNav(), 2, sensors=(), worlds=make_cache())
    batch.start([0, 1], [ROUND, FAR])
    teacher = make_teacher(batch)
    while batch.running.any():
        running = batch.running
        batch.step(teacher.label(), running)
    assert [success(batch.trajectory(slot)) for slot in range(2)] == [1, 1]
    assert teacher.label().tolist() == [0, 0], "idle slots are told to stop"


def test_labels_begin_the_plans_of_the_planner():
    """From any pose on the floor; and where every step leads away, a search finds the way."""
    batch = NavigationBatch(SmallPointNav(), 4, sensors=(), worlds=make_cache())
    batch.start(range(4), [make_episode("round", (5, 0, 1), (3.5, 0, 4.1), scene="rooms", distance=5.0)] * 4)
    teacher, task, simulator = make_teacher(batch), batch.task, batch.simulator
    planner = ActionPlanner(task.embodiment, task.success_distance, task.max_steps)
    navmesh, world = simulator.navmesh(0), simulator.slot_worlds.world(0)
    generator = np.random.default_rng(0)
    for _ in range(25):
        places, yaws = navmesh.random_point(generator, 4), generator.uniform(-3, 3, 4)
        places[0], yaws[0] = (2.964, 0, 3), -0.689
        simulator.place(range(4), [world] * 4, places, yaws)
        labels = teacher.label()
        query = Query([navmesh] * 4, places, yaws, batch.state.goal_places)
        first = [plan[0] if plan else "stop" for plan in planner.plan(query)]
        assert [task.actions[label] for label in labels] == first
        assert teacher.stuck[0] and labels[0] != 0
        assert teacher.label().tolist() == labels.tolist(), "what a search found is remembered"
    assert teacher.label(np.zeros(4, bool)).tolist() == [0] * 4 and not teacher.stuck.any()


def test_a_teacher_goes_to_another_place_where_the_first_does_not_help():
    """Nothing finishes an episode a metre ahead; the other place is two metres behind that one."""
    task = get_body_task("objectnav-hm3d2022-v1")
    task.final_actions = lambda simulator, state, slot: None if simulator.positions[slot, 2] < 4.5 else ()
    worlds = WorldCache(task.embodiment)
    worlds.add(draw_world(HALL, scene_id="hall"))
    views = ViewPoint((5.0, 0.0, 4.0), 0.0), ViewPoint((5.0, 0.0, 6.1), 0.0)
    goal = ObjectGoal("chair", (ObjectInstance("2", "chair", (5.0, 0.0, 5.0), views),), "2")
    batch = NavigationBatch(task, 1, sensors=(), worlds=worlds)
    batch.start([0], [replace(AHEAD, goal=goal)])
    teacher, nearest = make_teacher(batch), 5.0
    while batch.running[0]:
        batch.step(teacher.label())
        nearest = min(nearest, float(batch.simulator.positions[0, 2]))
    assert nearest < 4.2 and abs(batch.simulator.positions[0, 2] - 6.1) < 0.2
    assert batch.state.stopped[0]


def test_a_teacher_follows_the_goals_of_several():
    task = get_body_task("multion-2on-v1")
    worlds = WorldCache(task.embodiment)
    worlds.add(draw_world(HALL, scene_id="hall"))
    batch = NavigationBatch(task, 1, sensors=(), worlds=worlds)
    batch.start([0], MULTI_GOALS[2][:1])
    teacher = make_teacher(batch)
    while batch.running.any():
        batch.step(teacher.label())
    assert success(batch.trajectory(0)) == 1
