"""Instructions and tours of them in a flat that was drawn by hand."""

from dataclasses import replace

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from navarena.episodes.route_tours import EpisodeTour
from navarena.evaluation.house_scores import geodesic_costs
from navarena.tasks.phase import Phase
from navarena.tasks.tour_batch import TourBatch
from navarena.tasks.tour_env import TourEnv
from navarena.tasks.tour_vector_env import TourVectorEnv
from navarena.tasks.vln_ce_tours import IR2RCE, OracleOptions

from flat import draw_flat
from navarena.agents.expert import ExpertAgent
from navarena.agents.loading import load_agent
from navarena.agents.simple import RandomAgent
from navarena.core.errors import ActionError, InputError
from navarena.episodes.episode import Episode, InstructionGoal, PointGoal
from navarena.episodes.exchange.r2r_ce import FollowedGoal
from navarena.evaluation import HouseTours, refer_records, run_tours, score_records
from navarena.evaluation.tour_coverage import measure_coverage, see_along
from navarena.metrics.catalog import compute_metrics
from navarena.metrics.tours import tour_ndtw
from navarena.simulation.body import Camera
from navarena.simulation.body_catalog import VLN_CE
from navarena.simulation.navmesh.queries.goal_fields import geodesic_table
from navarena.simulation.world import WorldCache
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.catalog import get_task, get_tour_task
from navarena.tasks.env import NavigationEnv
from navarena.tasks.teacher import Teacher
from navarena.tasks.vector_env import NavigationVectorEnv
from navarena.tasks.vln_ce import R2RCE

SMALL = replace(VLN_CE, cameras=(Camera(width_px=16, height_px=16, channels=("rgb", "depth")),))

TO_BED = ((1.0, 0.0, 2.0), (4.1, 0.0, 2.0), (6.5, 0.0, 3.0), (6.5, 0.0, 4.2), (8.0, 0.0, 6.8))
TO_SOFA = ((8.0, 0.0, 6.8), (6.5, 0.0, 4.2), (8.0, 0.0, 1.0))
TO_KITCHEN = ((8.0, 0.0, 2.0), (4.1, 0.0, 2.0), (1.0, 0.0, 3.0))


def follow(name, path, yaw=-np.pi / 2, text="Go on.", tokens=()):
    goal = InstructionGoal(text, path, name.rpartition("_")[0], tokens)
    return Episode(name, "flat", path[0], yaw, goal, 5.0)


BED, SOFA, KITCHEN = follow("a_0", TO_BED), follow("b_0", TO_SOFA, 0.5), follow("c_0", TO_KITCHEN, 2.0)
TOUR = EpisodeTour("0", (BED, SOFA, KITCHEN))


class SmallR2RCE(R2RCE):
    embodiment = SMALL


class SmallIR2RCE(IR2RCE):
    embodiment = SMALL


@pytest.fixture(scope="module")
def worlds():
    cache = WorldCache(SMALL)
    cache.add(draw_flat())
    return cache


def test_the_agent_hears_words_and_numbers(worlds):
    told = follow("t_0", TO_BED, text="Turn left.", tokens=(7, 8, 9))
    env = NavigationEnv(SmallR2RCE(), episodes=[told], worlds=worlds)
    seen, _ = env.reset(seed=0)
    assert seen["instruction"] == "Turn left." and isinstance(seen["instruction"], str)
    assert seen["instruction_tokens"].tolist() == [7, 8, 9] + [0] * 197
    assert env.observation_space.contains(seen)


def test_without_numbers_the_words_are_looked_up(worlds):
    env = NavigationEnv(SmallR2RCE(), episodes=[follow("t_0", TO_BED, text="the")], worlds=worlds)
    seen, _ = env.reset(seed=0)
    assert np.count_nonzero(seen["instruction_tokens"]) == 1 and seen["instruction_tokens"][0] > 1


def test_texts_of_a_batch(worlds):
    env = NavigationVectorEnv(2, SmallR2RCE(), episodes=[BED], worlds=worlds)
    seen, _ = env.reset(seed=0)
    assert seen["instruction"] == ("Go on.", "Go on.")
    assert env.observation_space.contains(seen)


def test_an_instruction_that_is_too_long_is_refused(worlds):
    batch = NavigationBatch(SmallR2RCE(), 1, sensors=("instruction",), worlds=worlds)
    with pytest.raises(InputError, match="1024 letters"):
        batch.start([0], [follow("t_0", TO_BED, text="x" * 1025)])


def test_other_episodes_are_refused(worlds):
    batch = NavigationBatch(SmallR2RCE(), 1, sensors=(), worlds=worlds)
    with pytest.raises(InputError, match="expected an instruction"):
        batch.start([0], [Episode("p", "flat", (1.0, 0.0, 2.0), 0.0, PointGoal((2.0, 0.0, 2.0)), 1.0)])


def test_a_way_whose_goal_is_hidden_is_refused(worlds):
    batch = NavigationBatch(SmallR2RCE(), 1, sensors=(), worlds=worlds)
    with pytest.raises(InputError, match="'t_0', got its start only"):
        batch.start([0], [follow("t_0", TO_BED[:1])])


def test_metrics_compare_with_the_places_of_an_expert(worlds):
    """Three places of which the body at rest is on the first: 0, 1 and 2 m away, so exp(-3 / (3 * 3))."""
    x, y, z = TO_BED[0]
    followed = (TO_BED[0], (x + 1, y, z), (x + 2, y, z))
    goal = FollowedGoal("Go on.", TO_BED, "t", (), followed)
    task = SmallR2RCE()
    batch = NavigationBatch(task, 1, sensors=(), worlds=worlds)
    batch.start([0], [replace(BED, goal=goal)])
    batch.step(np.array([0]))
    assert compute_metrics(task.metrics, batch.trajectory(0))["ndtw"] == pytest.approx(np.exp(-1 / 3))


def test_the_expert_follows_to_half_a_metre(worlds):
    task = SmallR2RCE()
    batch = NavigationBatch(task, 1, sensors=(), worlds=worlds)
    agent = ExpertAgent(task)
    agent.attach(batch)
    batch.start([0], [BED])
    agent._plan(np.array([0]))
    while batch.running.any():
        batch.step(agent.act({}, batch.running))
    track = batch.trajectory(0)
    values = compute_metrics(task.metrics, track)
    assert values["success"] == 1.0 and values["distance_to_goal"] < 0.5
    assert values["ndtw"] > 0.85
    assert np.allclose(track.reference[[0, -1]], [TO_BED[0], TO_BED[-1]])
    assert np.linalg.norm(np.diff(track.reference, axis=0), axis=1).max() <= 0.25 + 1e-9


def run(agent, tours, slots=2, task=None, worlds=None):
    rules = task or SmallIR2RCE()
    return rules, run_tours(agent(rules), HouseTours(rules, tours, worlds), slots)


def test_phases_follow_one_another(worlds):
    task = SmallIR2RCE()
    batch = TourBatch(task, 1, sensors=("phase", "tour_position", "instruction"), worlds=worlds)
    batch.start([0], [TOUR])
    seen = [(int(batch.observations["phase"][0]), int(batch.observations["tour_position"][0]))]
    hidden, began = set(), 0
    while batch.running.any():
        step = batch.step(np.array([0]))  # stop at once, whatever the phase
        began += int(step.began[0])
        now = (int(batch.observations["phase"][0]), int(batch.observations["tour_position"][0]))
        if now != seen[-1]:
            seen.append(now)
        hidden |= {(now[0] == Phase.AGENT, batch.observations["instruction"][0])}
    assert seen == [(0, 0), (1, 0), (2, 1), (0, 1), (1, 1), (2, 2), (0, 2)]
    assert hidden == {(True, "Go on."), (False, "")} and began == 2


def test_the_oracle_leads_near_goal_and_start(worlds):
    task = SmallIR2RCE()
    batch = TourBatch(task, 1, sensors=(), worlds=worlds)
    batch.start([0], [TOUR])
    bodies = batch.batch.simulator.bodies
    ends = {}
    while batch.running.any():
        before = (int(batch.phase[0]), int(batch.position[0]))
        place, yaw = bodies.positions[0].copy(), float(bodies.yaws[0])
        batch.step(np.array([0]))
        if int(batch.phase[0]) != before[0]:
            ends[before] = (bodies.positions[0].copy(), float(bodies.yaws[0]), place, yaw)
    for position, (ended, following) in enumerate([(BED, SOFA), (SOFA, KITCHEN)]):
        assert np.hypot(*(ends[1, position][0] - ended.goal.path[-1])[[0, 2]]) < 0.25
        at, yaw, *_ = ends[2, position + 1]
        assert np.hypot(*(at - following.start_position)[[0, 2]]) < 0.25
        turn = (yaw - following.start_yaw + np.pi) % (2 * np.pi) - np.pi
        assert abs(turn) <= np.radians(7.5) + 1e-9


def test_agent_steps_alone_are_recorded(worlds):
    _, records = run(RandomAgent, [TOUR], worlds=worlds)
    assert list(records) == ["a_0", "b_0", "c_0"]
    for record in records.values():
        assert 1 <= len(record.trajectory.actions) <= 500


def test_results_do_not_depend_on_the_slots(worlds):
    tours = [TOUR, EpisodeTour("1", (follow("d_0", TO_SOFA), follow("e_0", TO_BED)))]
    _, one = run(RandomAgent, tours, slots=1, worlds=worlds)
    _, both = run(RandomAgent, tours, slots=2, worlds=worlds)
    assert list(one) == list(both)
    for name in one:
        assert np.array_equal(one[name].trajectory.positions, both[name].trajectory.positions)


def test_the_expert_is_perfect_over_tours(worlds):
    task, records = run(ExpertAgent, [TOUR], worlds=worlds)
    scores = score_records(task, [TOUR], records, "paper")
    assert scores.means["success"] == 1.0 and scores.tours.t_sr == 1.0
    assert scores.tours.t_ndtw > 0.85


def test_one_who_stops_at_once_is_scored_by_hand(worlds):
    class Stopper(RandomAgent):
        def act(self, observations, active):
            return np.zeros(len(active), np.int64)

    task = SmallIR2RCE(OracleOptions(precise_start=True))
    _, records = run(Stopper, [TOUR], task=task, worlds=worlds)
    scores = score_records(task, [TOUR], records, "paper")
    total, points = 0.0, 0
    for record in records.values():
        track = record.trajectory
        assert len(track.actions) == 1
        total += np.linalg.norm(track.reference - track.positions[0], axis=1).sum()
        points += len(track.reference)
    assert scores.tours.t_ndtw == pytest.approx(np.exp(-total / (3.0 * points)))


def test_precise_starts(worlds):
    task = SmallIR2RCE(OracleOptions(precise_start=True))
    _, records = run(ExpertAgent, [TOUR], task=task, worlds=worlds)
    assert np.array_equal(records["b_0"].trajectory.positions[0], SOFA.start_position)
    _, loose = run(ExpertAgent, [TOUR], worlds=worlds)
    assert not np.array_equal(loose["b_0"].trajectory.positions[0], SOFA.start_position)


def test_what_is_refused(worlds):
    batch = TourBatch(SmallIR2RCE(), 1, sensors=(), worlds=worlds)
    with pytest.raises(ActionError, match="running tour"):
        batch.step(np.array([0]))
    with pytest.raises(InputError, match="one tour"):
        batch.start([0], [])
    with pytest.raises(InputError, match="'a_0' twice"):
        run_tours(RandomAgent(batch.task), HouseTours(batch.task, [TOUR, TOUR], worlds))
    with pytest.raises(InputError, match="score of every episode"):
        score_records(batch.task, [TOUR], {})
    with pytest.raises(InputError, match="oracle_radius"):
        IR2RCE(OracleOptions(oracle_radius=0.0))


def test_ids():
    assert get_task("r2r-ce-v1").protocol_id == "r2r-ce-v1"
    with pytest.raises(InputError, match="tours evaluate ir2r-ce-v1"):
        get_task("ir2r-ce-v1")
    assert get_tour_task("ir2r-ce-v1+oracle_radius=0.5").protocol_id == "ir2r-ce-v1+custom+oracle_radius=0.5"


def test_coverage_grows_to_the_whole(worlds):
    again = follow("f_0", TO_BED)
    coverage = measure_coverage([EpisodeTour("0", (BED, SOFA, again))], worlds)
    assert coverage.next_path[0] == coverage.whole_tour[0] == 0.0
    assert coverage.whole_tour[1] <= coverage.whole_tour[2] == 1.0
    assert coverage.next_path[2] >= coverage.next_path[1] > 0
    assert coverage.tours.tolist() == [1, 1, 1]


def test_a_body_sees_what_lies_before_it(worlds):
    """From the middle of the kitchen, looking east, cells of the east are seen and none of the west."""
    seen = see_along(worlds.get("flat"), ((1.0, 0.0, 2.0), (1.4, 0.0, 2.0)))
    assert seen[20, 30:38].any() and not seen[:, :9].any()


def test_peeking_shows_the_next_start_once(worlds):
    task = SmallIR2RCE(OracleOptions(peeks_at_start=True))
    batch = TourBatch(task, 1, sensors=("position",), worlds=worlds)
    plain = TourBatch(SmallIR2RCE(), 1, sensors=("position",), worlds=worlds)
    for one in (batch, plain):
        one.start([0], [TOUR])
    seen: dict[int, list[np.ndarray]] = {0: [], 1: []}
    for number, one in enumerate((batch, plain)):
        while one.running.any():
            one.step(np.array([0]))
            seen[number].append(one.observations["position"][0].copy())
    differ = [k for k, (a, b) in enumerate(zip(seen[0], seen[1])) if not np.allclose(a, b)]
    assert len(seen[0]) == len(seen[1]) and len(differ) == 2
    assert np.allclose(seen[0][differ[0]], SOFA.start_position, atol=1e-6)
    assert np.allclose(seen[0][differ[1]], KITCHEN.start_position, atol=1e-6)


def test_other_references(worlds):
    task, records = run(ExpertAgent, [TOUR], worlds=worlds)
    own = {name: record.trajectory.positions for name, record in records.items()}
    scores = score_records(task, [TOUR], refer_records(records, own), "paper")
    assert scores.means["ndtw"] == 1.0 and scores.tours.t_ndtw == 1.0
    with pytest.raises(InputError, match="reference path of every episode"):
        refer_records(records, {})


def test_a_teacher_leads_from_anywhere(worlds):
    task = SmallR2RCE()
    batch = NavigationBatch(task, 2, sensors=(), worlds=worlds)
    batch.start([0, 1], [BED, SOFA])
    teacher = Teacher(batch)
    generator = np.random.default_rng(0)
    for _ in range(30):  # somewhere off the way
        batch.step(generator.integers(1, 4, 2))
    while batch.running.any():
        batch.step(teacher.label(), batch.running)
    for slot in (0, 1):
        assert batch.trajectory(slot).distance_to_goal[-1] < 0.5
    assert teacher.label().tolist() == [0, 0]


def test_stopping_at_once(worlds):
    agent = load_agent("stop", SmallR2RCE())
    assert agent.act({}, np.ones(2, bool)).tolist() == [0, 0]


def test_distances_along_the_floor_are_those_of_single_searches(worlds):
    navmesh = worlds.get("flat").navmesh
    points, goals = np.array(TO_BED), np.array(TO_KITCHEN[:2])
    table = geodesic_table(navmesh, points, goals)
    for column, goal in enumerate(goals):
        ends = np.repeat(goal[None], len(points), 0)
        assert table[:, column] == pytest.approx(navmesh.geodesic_distance(points, ends))


def test_alignment_along_the_floor_is_never_better_than_straight(worlds):
    """From the start of each episode to its goal the floor leads around walls."""
    task = SmallIR2RCE()
    records = run_tours(load_agent("stop", task), HouseTours(task, [TOUR], worlds))
    navmesh = worlds.get("flat").navmesh
    geodesics = {name: geodesic_costs(record, navmesh) for name, record in records.items()}
    for name, record in records.items():
        assert (geodesics[name] >= record.trajectory.costs - 0.01).all()
    straight = score_records(task, [TOUR], records).tours
    along = score_records(task, [TOUR], records, geodesics=geodesics).tours
    assert (straight.distance, along.distance) == ("euclidean", "geodesic")
    assert along.t_ndtw < straight.t_ndtw
    aligned = [geodesics[one.episode_id] for one in TOUR.episodes]
    assert along.t_ndtw == pytest.approx(tour_ndtw(aligned)) and along.t_sr == straight.t_sr


def test_tours_with_the_interface_of_gymnasium(worlds):
    env = TourEnv([TOUR], SmallIR2RCE(), worlds=worlds)
    check_env(env, skip_render_check=True)
    seen, info = env.reset(seed=1)
    assert info == {"episode_id": "a_0", "tour_id": "0", "scene_id": "flat", "phase": "agent"}
    ended, over = [], False
    while not over:
        seen, _, terminated, truncated, info = env.step(0)
        over = terminated or truncated
        assert env.observation_space.contains(seen)
        if "ended" in info:
            ended.append(info["ended"])
            assert set(info["metrics"]) == set(env.task.metrics)
    assert ended == ["a_0", "b_0", "c_0"] and terminated
    with pytest.raises(ActionError):
        env.step(0)
    with pytest.raises(InputError, match="at least one tour"):
        TourEnv([])


def test_tours_side_by_side_are_those_of_single_environments(worlds):
    """Slot i does what a TourEnv with seed + i does, and begins another tour after the last STOP."""
    tours = [TOUR, EpisodeTour("1", (follow("d_0", TO_SOFA), follow("e_0", TO_BED)))]
    together = TourVectorEnv(2, tours, SmallIR2RCE(), worlds=worlds)
    alone = [TourEnv(tours, SmallIR2RCE(), worlds=worlds) for _ in range(2)]
    seen, infos = together.reset(seed=5)
    single = [env.reset(seed=5 + k) for k, env in enumerate(alone)]
    assert infos["tour_id"].tolist() == [info["tour_id"] for _, info in single]
    over, ended = [False, False], 0
    for _ in range(300):
        seen, reward, terminated, truncated, infos = together.step(np.zeros(2, np.int64))
        assert together.observation_space.contains(seen)
        for k, env in enumerate(alone):
            if over[k]:
                own, info = env.reset()
                over[k] = False
            else:
                own, gained, *over_now, info = env.step(0)
                assert gained == reward[k] and over_now == [terminated[k], truncated[k]]
                over[k] = any(over_now)
            assert np.array_equal(own["rgb"], seen["rgb"][k]) and own["instruction"] == seen["instruction"][k]
            if "ended" in info:
                ended += 1
                assert infos["ended"][k] == info["ended"]
                assert infos["metrics"]["ndtw"][k] == info["metrics"]["ndtw"]
    assert ended > 6 and not np.shares_memory(seen["rgb"], together.step(np.zeros(2, np.int64))[0]["rgb"])
