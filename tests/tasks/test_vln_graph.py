"""r2r-v1 and ir2r-v1: moves, phases, what is seen, teachers, and both Gymnasium environments."""

import pickle
from dataclasses import replace

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from navarena.episodes.graph_data import open_graph_data
from navarena.tasks.vln_graph import IR2R
from navarena.tasks.vln_graph_scoring import score_walk

from graph_world import make_atlas, r2r_items, write_files
from navarena.core.errors import ActionError, FileError, InputError, UnknownNameError
from navarena.episodes.graph_episodes import GraphEpisode, Tour
from navarena.episodes.tours import save_tours
from navarena.scenes.graphs import StoredFeatures
from navarena.tasks import (
    GraphBatch,
    GraphEnv,
    GraphVectorEnv,
    OracleRules,
    Phase,
    get_graph_task,
    get_task,
    path_actions,
    remaining_distances,
    teacher_actions,
)

ATLAS = make_atlas()
STOP = 0
ALL_SENSORS = (*get_graph_task("r2r-v1").sensors, "instruction_tokens", "view_angles")


def node(name):
    return int(ATLAS.nodes("scan1", [name])[0])


def name(number):
    return ATLAS.viewpoint(int(number))


def episode(episode_id, path, heading=0.0):
    return GraphEpisode(episode_id, "scan1", tuple(path), heading, f"Do {episode_id}.", (5, 6))


def make_tour(*paths):
    return Tour("t", "scan1", tuple(episode(f"e{k}", path) for k, path in enumerate(paths)))


def make_batch(tour, protocol="ir2r-v1", oracle=None, slots=1, sensors=ALL_SENSORS):
    task = get_graph_task(protocol) if oracle is None else IR2R(oracle)
    batch = GraphBatch(task, ATLAS, slots, sensors)
    batch.start(range(slots), [tour] * slots)
    return batch


def action_to(batch, target, slot=0):
    places = ATLAS.candidates.places[batch.state.node[slot]]
    return 1 + int(np.flatnonzero(places == node(target))[0])


def go(batch, *targets):
    """Walk to each neighbour by name ("!" stops); the last step."""
    for target in targets:
        step = batch.step(np.array([STOP if target == "!" else action_to(batch, target)]))
    return step


def follow(batch, action=3):
    """Let the oracle lead until the agent acts again; [(node, phase) after each step]."""
    seen = []
    while True:
        step = batch.step(np.array([action]))
        seen.append((name(batch.state.node[0]), Phase(int(batch.state.phase[0])).name))
        if step.began[0] or not batch.running[0]:
            return seen, step


def test_an_episode_by_hand():
    batch = make_batch(make_tour("abcd"), "r2r-v1")
    assert name(batch.state.node[0]) == "a" and batch.state.view[0] == 12
    step = go(batch, "b")
    assert step.reward[0] == 2.0 and not (step.terminated | step.truncated).any()
    assert batch.state.view[0] == 12 + 3, "b lies to the east"
    step = go(batch, "a", "b", "c")
    step = go(batch, "!")
    assert step.terminated[0] and step.stopped[0] and step.reward[0] == 2.5, "d is 2 m away"
    [walk] = batch.take_records()
    assert [name(k) for k in walk.nodes] == list("ababc") and walk.stopped and batch.take_records() == []
    assert walk.views.tolist() == [12, 15, 21, 15, 15]
    scores = score_walk(ATLAS, walk.nodes, episode("e0", "abcd")).scores
    assert (scores.length, scores.navigation_error, scores.success) == (8.0, 2.0, 1.0)
    assert scores.spl == 6 / 8 and scores.steps == 4


def test_three_metres_are_no_success():
    batch = make_batch(make_tour("abch"), "r2r-v1")
    go(batch, "b", "c")
    assert go(batch, "!").reward[0] == 0.0


def test_fifteen_actions_and_no_more():
    batch = make_batch(make_tour("abcd"), "r2r-v1")
    step = go(batch, *("ba" * 7), "b")
    assert step.truncated[0] and step.cut[0] and not step.terminated[0]
    assert len(batch.take_records()[0].nodes) == 16
    batch = make_batch(make_tour("abcd"), "r2r-v1")
    step = go(batch, *("ba" * 7), "!")
    assert step.terminated[0] and not step.truncated[0], "STOP as the 15th action terminates"


def test_a_neighbour_that_is_not_there_stays():
    batch = make_batch(make_tour("abcd"), "r2r-v1")
    step = batch.step(np.array([14]))
    assert name(batch.state.node[0]) == "a" and step.reward[0] == 0 and batch.state.steps[0] == 1


def test_wrong_steps_are_refused():
    batch = GraphBatch(get_graph_task("r2r-v1"), ATLAS, 2)
    with pytest.raises(ActionError, match=r"before reset \(start\)"):
        batch.step(np.zeros(2, np.int64))
    batch.start([0, 1], [make_tour("abcd")] * 2)
    for actions, message in (([15, 0], "within 0..14, got 15 in slot 0"), ([0, -1], "slot 1")):
        with pytest.raises(ActionError, match=message):
            batch.step(np.array(actions))
    with pytest.raises(ActionError, match="2 integer actions"):
        batch.step(np.zeros(3, np.int64))
    batch.step(np.array([0, 1]))
    with pytest.raises(ActionError, match="after its end"):
        batch.step(np.array([0, 1]))
    batch.step(np.array([99, 1]), np.array([False, True]))


def test_tours_need_an_iterative_protocol_and_goals():
    with pytest.raises(InputError, match="use an iterative protocol"):
        make_batch(make_tour("ab", "bc"), "r2r-v1")
    with pytest.raises(InputError, match="expected goals of all episodes"):
        make_batch(make_tour("ab", "b"))
    with pytest.raises(UnknownNameError, match="scan9"):
        make_batch(Tour("t", "scan9", (replace(episode("e", "ab"), scan="scan9"),)))
    with pytest.raises(InputError, match="at least one episode"):
        Tour("t", "scan1", ())


def test_phases_of_a_tour():
    """Stops at b; the goal is d, the next start g: b c d, then d c h g, where the agent takes over."""
    batch = make_batch(make_tour("abcd", "gfa"))
    step = go(batch, "b", "!")
    assert step.stopped[0] and not step.terminated[0] and not step.began[0]
    assert batch.state.phase[0] == Phase.ORACLE_GOAL and name(batch.state.node[0]) == "b"
    seen, step = follow(batch)
    assert seen == [
        ("c", "ORACLE_GOAL"),
        ("d", "ORACLE_START"),
        ("c", "ORACLE_START"),
        ("h", "ORACLE_START"),
        ("g", "AGENT"),
    ]
    assert step.began[0] and step.reward[0] == 0 and batch.state.position[0] == 1
    step = go(batch, "f", "a", "!")
    assert step.terminated[0] and not batch.running[0]
    first, second = batch.take_records()
    assert [name(k) for k in first.nodes] == ["a", "b"], "oracle steps are in no walk"
    assert [name(k) for k in second.nodes] == ["g", "f", "a"] and second.episode_id == "e1"


def test_the_oracle_is_skipped_where_nothing_is_left_to_do():
    batch = make_batch(make_tour("abc", "cde"))
    step = go(batch, "b", "c", "!")
    assert step.stopped[0] and step.began[0] and batch.state.phase[0] == Phase.AGENT
    assert batch.observations["tour_position"][0] == 1


def test_the_goal_is_the_next_start():
    batch = make_batch(make_tour("abc", "cde"))
    go(batch, "b", "!")
    seen, _ = follow(batch)
    assert seen == [("c", "AGENT")], "one step, and the next episode begins there"


def test_neighbouring_goal_and_start():
    batch = make_batch(make_tour("abc", "de"))
    go(batch, "b", "c", "!")
    assert batch.state.phase[0] == Phase.ORACLE_START
    assert follow(batch)[0] == [("d", "AGENT")]


def test_a_limit_ends_an_agent_phase_too():
    batch = make_batch(make_tour("ab", "bc"))
    step = go(batch, *("ba" * 7), "b")
    assert step.cut[0] and not step.truncated[0] and step.began[0], "it stands on goal and next start"
    step = go(batch, *("cb" * 7), "c")
    assert step.truncated[0] and not step.terminated[0], "the last episode was cut"


def test_actions_do_nothing_in_oracle_phases():
    tour = make_tour("abcd", "gfa")
    results = []
    for action in (0, 1, 7):
        batch = make_batch(tour)
        go(batch, "!")
        results.append(follow(batch, action)[0])
    assert results[0] == results[1] == results[2]


def test_instructions_are_hidden_in_oracle_phases():
    batch = make_batch(make_tour("abcd", "gfa"))
    assert batch.observations["instruction"][0] == "Do e0."
    assert batch.observations["instruction_tokens"][0, :3].tolist() == [5, 6, 0]
    go(batch, "!")
    assert batch.observations["phase"][0] == Phase.ORACLE_GOAL
    assert batch.observations["instruction"][0] == "" and not batch.observations["instruction_tokens"].any()
    follow(batch)
    assert batch.observations["instruction"][0] == "Do e1."


def test_the_leaks_of_the_reference_are_options():
    tour = make_tour("abc", "cde")
    shown = make_batch(tour, oracle=OracleRules(shows_instruction=True))
    go(shown, "!")
    assert shown.observations["instruction"][0] == "Do e0."
    shown.step(np.array([0]))
    leak = make_batch(tour, oracle=OracleRules(reveals_next_path=True))
    go(leak, "b", "c", "!")
    assert follow(leak)[0] == [("d", "ORACLE_START"), ("e", "ORACLE_START"), ("c", "AGENT")]
    short = make_batch(make_tour("abcd", "gfa"), oracle=OracleRules(drops_last_node=True))
    go(short, "b", "!")
    assert [place for place, _ in follow(short)[0]] == ["c", "c", "h", "g"], "d is never seen, c twice"


def test_the_instruction_of_the_next_episode_is_shown_on_the_way_to_it():
    batch = make_batch(make_tour("ab", "gfa"), oracle=OracleRules(shows_instruction=True))
    go(batch, "b", "!")
    assert batch.state.phase[0] == Phase.ORACLE_START and batch.observations["instruction"][0] == "Do e1."


def test_observations_by_hand():
    batch = make_batch(make_tour("abcd"), "r2r-v1")
    seen = batch.observations
    places = seen["candidate_viewpoints"][0]
    assert {name(k) for k in places[:2]} == {"b", "f"} and (places[2:] == -1).all()
    assert seen["action_mask"][0].tolist() == [True] * 3 + [False] * 12
    b = int(np.flatnonzero(places == node("b"))[0])
    assert np.allclose(seen["candidate_angles"][0, b], [1, 0, 0, 1], atol=1e-6), "to the right, level"
    assert seen["candidate_distances"][0, b] == 2.0 and seen["candidate_views"][0, b] == 15
    assert not seen["candidate_angles"][0, 2:].any() and (seen["candidate_views"][0, 2:] == -1).all()
    assert seen["view_angles"].shape == (1, 36, 4)
    go(batch, "b")
    ahead = batch.observations["candidate_views"][0].tolist().index(15)
    angles = batch.observations["candidate_angles"][0, ahead]
    assert np.allclose(angles, [0, 1, 0, 1], atol=1e-6), "c lies straight ahead"
    batch.state.view[0] = 24 + 15 % 12  # the same heading, 30 degrees up
    angles = batch.observations["candidate_angles"][0, ahead]
    assert np.allclose(angles, [0, 1, -0.5, np.sqrt(0.75)], atol=1e-6), "c lies below"


def test_features():
    table = {("scan1", place): np.full((36, 5), node(place), np.float32) for place in "abcdefgh"}
    for place in table:
        table[place][:, 0] = np.arange(36)
    sensors = ("view_features", "candidate_features")
    task = get_graph_task("r2r-v1")
    batch = GraphBatch(task, ATLAS, 1, sensors, StoredFeatures(table, "test"))
    batch.start([0], [make_tour("abcd")])
    seen = batch.observations
    assert seen["view_features"].shape == (1, 36, 5) and (seen["view_features"][..., 1] == node("a")).all()
    views = ATLAS.candidates.views[node("a")][:2]
    assert seen["candidate_features"][0, :2, 0].tolist() == views.tolist()
    assert not seen["candidate_features"][0, 2:].any()
    with pytest.raises(InputError, match="expected features"):
        GraphBatch(task, ATLAS, 1, sensors)
    del table["scan1", "b"]
    with pytest.raises(FileError, match="viewpoint b in scan scan1"):
        go(batch, "b")
        batch.observations["view_features"]
    with pytest.raises(UnknownNameError, match="Did you mean 'view_features'"):
        GraphBatch(task, ATLAS, 1, ["view_feature"])


def test_slots_do_not_touch_each_other():
    """A batch of tours at different places does what each does alone."""
    tours = [make_tour("abcd", "gfa"), make_tour("edc", "cde", "ab"), make_tour("hg", "gf")]
    generator = np.random.default_rng(0)
    actions = generator.integers(0, 4, (60, 3))
    task = get_graph_task("ir2r-v1")
    together = GraphBatch(task, ATLAS, 3)
    together.start([0, 1, 2], tours)
    alone = [GraphBatch(task, ATLAS, 1) for _ in tours]
    for batch, tour in zip(alone, tours):
        batch.start([0], [tour])
    for row in actions:
        active = together.running
        step = together.step(row, active)
        for slot, batch in enumerate(alone):
            if active[slot]:
                own = batch.step(row[slot : slot + 1])
                assert own.reward[0] == step.reward[slot] and own.began[0] == step.began[slot]
                for key, value in batch.observations.items():
                    assert np.array_equal(value[0], together.observations[key][slot])
        if not together.running.any():
            break
    assert not together.running.any()
    walks = {(walk.slot, walk.episode_id): walk.nodes.tolist() for walk in together.take_records()}
    for slot, batch in enumerate(alone):
        for walk in batch.take_records():
            assert walks.pop((slot, walk.episode_id)) == walk.nodes.tolist()
    assert not walks


def test_teachers():
    nodes, goals = ATLAS.nodes("scan1", "abcdg"), np.full(5, node("d"))
    actions = teacher_actions(ATLAS, nodes, goals)
    places = ATLAS.candidates.places[nodes, actions - 1]
    assert [name(k) for k in places[[0, 1, 2, 4]]] == ["b", "c", "d", "h"] and actions[3] == STOP
    left = remaining_distances(ATLAS, nodes, goals)
    assert left.shape == (5, 15) and left[:, 0].tolist() == [6, 4, 2, 0, 7]
    assert (left[np.arange(5), actions] == [4, 2, 0, 0, 5]).all() and np.isinf(left[0, 3:]).all()
    detour = ATLAS.nodes("scan1", "afghc")
    walked = [path_actions(ATLAS, detour[k : k + 1], np.array([k]), detour)[0] for k in range(5)]
    assert [name(ATLAS.candidates.places[detour[k], walked[k] - 1]) for k in range(4)] == list("fghc")
    assert walked[4] == STOP
    off = path_actions(ATLAS, ATLAS.nodes("scan1", "b"), np.array([1]), detour)
    assert name(ATLAS.candidates.places[node("b"), off[0] - 1]) == "c", "back to the end by the shortest path"


@pytest.fixture
def files(tmp_path):
    r2r, graphs = write_files(tmp_path)
    tours = tmp_path / "tours.json"
    save_tours({"val_seen": {"scan1": [["1_0", "2_0", "3_0", "4_0"], ["4_1", "1_1"]]}}, tours)
    return {"r2r": r2r, "connectivity": graphs, "tours": tours}


def env_options(files, protocol):
    return files if protocol == "ir2r-v1" else {k: v for k, v in files.items() if k != "tours"}


@pytest.mark.parametrize("protocol", ["r2r-v1", "ir2r-v1"])
def test_gymnasium_accepts_the_environments(files, protocol):
    env = GraphEnv(protocol, **env_options(files, protocol))
    check_env(env, skip_render_check=True)
    gym_name = {"r2r-v1": "R2R", "ir2r-v1": "IR2R"}[protocol]
    made = gymnasium.make(f"navarena.gym:navarena/{gym_name}-v1", **env_options(files, protocol))
    observation, info = made.reset(seed=3)
    assert made.observation_space.contains(observation) and info["phase"] == "agent"


@pytest.mark.parametrize("protocol", ["r2r-v1", "ir2r-v1"])
def test_the_vector_environment_is_the_single_one(files, protocol):
    options = env_options(files, protocol)
    envs = GraphVectorEnv(3, protocol, **options)
    singles = [GraphEnv(protocol, **options) for _ in range(3)]
    seen, _ = envs.reset(seed=7)
    own = [env.reset(seed=7 + k)[0] for k, env in enumerate(singles)]
    ended = [False] * 3
    generator = np.random.default_rng(1)
    finished = 0
    for _ in range(80):
        for k in range(3):
            for key, value in own[k].items():
                assert np.array_equal(value, seen[key][k]), key
        assert all(env.observation_space.contains(one) for env, one in zip(singles, own))
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
                assert infos["ended"][k] == info["ended"]
    assert finished > 10


def test_environments_can_be_copied_at_any_time(files):
    env = GraphEnv("ir2r-v1", **files)
    env.reset(seed=1)
    env.step(1)
    twin = pickle.loads(pickle.dumps(env))
    for action in (1, 0, 2, 2, 0, 1, 1):
        first, second = env.step(action), twin.step(action)
        assert first[1:4] == second[1:4] and first[4] == second[4]
        assert all(np.array_equal(first[0][key], second[0][key]) for key in first[0])
        if first[2] or first[3]:
            break


def test_environments_refuse_the_wrong_files(files):
    with pytest.raises(InputError, match="navarena tours make"):
        GraphEnv("ir2r-v1", **env_options(files, "r2r-v1"))
    with pytest.raises(InputError, match="use ir2r-v1"):
        GraphEnv("r2r-v1", **files)
    with pytest.raises(InputError, match="r2r=FILE"):
        GraphEnv("r2r-v1")
    with pytest.raises(ActionError, match="integer action"):
        env = GraphEnv("r2r-v1", **env_options(files, "r2r-v1"))
        env.reset(seed=0)
        env.step(0.5)
    with pytest.raises(UnknownNameError, match="Did you mean 'ir2r-v1'"):
        GraphEnv("ir2r-v2")
    with pytest.raises(InputError, match="navarena tours evaluate ir2r-v1"):
        get_task("ir2r-v1")


def test_options_stand_in_the_id():
    task = get_graph_task("ir2r-v1+reveals_next_path=true")
    assert task.oracle == OracleRules(reveals_next_path=True)
    assert task.protocol_id == "ir2r-v1+custom+reveals_next_path=true"
    assert get_graph_task("ir2r-v1+reveals_next_path=false").protocol_id == "ir2r-v1"
    with pytest.raises(UnknownNameError, match="Did you mean 'reveals_next_path'"):
        get_graph_task("ir2r-v1+reveal_next_path=true")
    with pytest.raises(InputError, match="no options of 'r2r-v1'"):
        get_graph_task("r2r-v1+reveals_next_path=true")


def test_a_test_split_runs_but_is_not_scored(tmp_path):
    items = [{**item, "path": item["path"][:1]} for item in r2r_items()]
    r2r, graphs = write_files(tmp_path, items)
    data = open_graph_data(r2r, graphs)
    env = GraphEnv("r2r-v1", data=data)
    env.reset(seed=0)
    _, reward, terminated, _, info = env.step(0)
    assert terminated and reward == 0 and "metrics" not in info
    with pytest.raises(InputError, match="test split"):
        score_walk(data.atlas, data.atlas.nodes("scan1", "a"), data.episodes["1_0"])
