"""Instructions and tours of them in a flat that was drawn by hand."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from flat import draw_flat
from navarena.agents.expert import ExpertAgent
from navarena.agents.loading import load_agent
from navarena.agents.simple import RandomAgent, StopAgent
from navarena.core.errors import ActionError, InputError
from navarena.episodes.episode import Episode, InstructionGoal, PointGoal
from navarena.episodes.exchange.r2r_ce import FollowedGoal
from navarena.evaluation.analyses.tour_coverage import measure_coverage, replay_coverage, see_along
from navarena.evaluation.benchmark import Benchmark
from navarena.evaluation.identity import Identity
from navarena.evaluation.memory_groups import make_groups
from navarena.evaluation.records.results import summarize_tours
from navarena.evaluation.running.episode_loop import EpisodeLoop
from navarena.evaluation.settings import EpisodeRules
from navarena.metrics.catalog import compute_metrics
from navarena.metrics.tours import TourScoring
from navarena.simulation.body import Camera
from navarena.simulation.body_catalog import VLN_CE
from navarena.simulation.navmesh.queries.goal_fields import geodesic_table
from navarena.simulation.world import WorldCache
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.catalog import get_task
from navarena.tasks.env import NavigationEnv
from navarena.tasks.protocols.vln_ce import IR2RCE, R2RCE, TourOptions
from navarena.tasks.task import Phase
from navarena.tasks.teacher import BodyTeacher
from navarena.tasks.vector_env import NavigationVectorEnv
from tour_runs import TourRun

SMALL = replace(VLN_CE, cameras=(Camera(width_px=16, height_px=16, channels=("rgb", "depth")),))

TO_BED = ((1.0, 0.0, 2.0), (4.1, 0.0, 2.0), (6.5, 0.0, 3.0), (6.5, 0.0, 4.2), (8.0, 0.0, 6.8))
TO_SOFA = ((8.0, 0.0, 6.8), (6.5, 0.0, 4.2), (8.0, 0.0, 1.0))
TO_KITCHEN = ((8.0, 0.0, 2.0), (4.1, 0.0, 2.0), (1.0, 0.0, 3.0))


def follow(name, path, yaw=-np.pi / 2, text="Go on.", tokens=()):
    goal = InstructionGoal(text, path, name.rpartition("_")[0], tokens)
    return Episode(name, "flat", path[0], yaw, goal, 5.0)


BED, SOFA, KITCHEN = follow("a_0", TO_BED), follow("b_0", TO_SOFA, 0.5), follow("c_0", TO_KITCHEN, 2.0)
TOUR = tuple(replace(one, tour_id="0") for one in (BED, SOFA, KITCHEN))


SECOND = tuple(replace(one, tour_id="1") for one in (follow("d_0", TO_SOFA), follow("e_0", TO_BED)))


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
    episode = follow("t_0", TO_BED, text="Turn left.", tokens=(7, 8, 9))
    env = NavigationEnv(SmallR2RCE(), episodes=[episode], worlds=worlds, text=True)
    seen, _ = env.reset(seed=0)
    assert seen["instruction"] == "Turn left." and isinstance(seen["instruction"], str)
    assert seen["instruction_tokens"].tolist() == [7, 8, 9] + [0] * 197
    assert env.observation_space.contains(seen)


def test_without_numbers_the_words_are_looked_up(worlds):
    env = NavigationEnv(SmallR2RCE(), episodes=[follow("t_0", TO_BED, text="the")], worlds=worlds)
    seen, _ = env.reset(seed=0)
    assert np.count_nonzero(seen["instruction_tokens"]) == 1 and seen["instruction_tokens"][0] > 1


def test_texts_of_a_batch(worlds):
    env = NavigationVectorEnv(2, SmallR2RCE(), episodes=[BED], worlds=worlds, text=True)
    seen, _ = env.reset(seed=0)
    assert seen["instruction"] == ("Go on.", "Go on.")
    assert env.observation_space.contains(seen)


def test_an_instruction_that_is_too_long_is_refused(worlds):
    batch = NavigationBatch(SmallR2RCE(), 1, sensors=("instruction",), worlds=worlds)
    message = r"1024 letters, got 1026: 'Go x{77}' \.\.\.; shorten it, or drop its episode"
    with pytest.raises(InputError, match=message):
        batch.start([0], [follow("t_0", TO_BED, text="Go " + "x" * 1023)])


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


@dataclass
class Setup:
    """Batches of `task` in `worlds`; what each episode left behind lies in `tracks`."""

    task: IR2RCE
    make: Callable
    worlds: WorldCache
    tracks: dict

    def make_batch(self, slots, sensors, threads):
        batch = NavigationBatch(self.task, slots, sensors=sensors, worlds=self.worlds)
        self.batch, record = batch, batch.trajectory

        def keep(slot):
            self.tracks[batch.episode(slot).episode_id] = record(slot)
            return record(slot)

        batch.trajectory = keep
        return batch

    def make_agent(self):
        return self.make(self.task)


def make_benchmark(tours, agent, worlds, task=None):
    rules, episodes = task or SmallIR2RCE(), tuple(one for tour in tours for one in tour)
    identity = Identity("ir2r-ce-v1", "flat", "val", "0123456789abcdef")
    return Benchmark(identity, episodes, rules.actions, rules.metrics, Setup(rules, agent, worlds, {}))


def run(agent, tours, slots=2, task=None, worlds=None):
    """(rows, trajectories) of `tours`, by episode id in their order."""
    rules = task or SmallIR2RCE()
    episodes = [one for tour in tours for one in tour]
    rows = {}

    class Rows:
        def append(self, row):
            rows[row.episode_id] = row

    benchmark = make_benchmark(tours, agent, worlds, rules)
    setup = benchmark.setup
    loop = EpisodeLoop(benchmark, slots, EpisodeRules(), Rows(), lambda row: None)
    loop.run(iter(make_groups(episodes, set(), "tour")))
    names = [one.episode_id for one in episodes]
    return {name: rows[name] for name in names}, {name: setup.tracks[name] for name in names}


def test_phases_follow_one_another(worlds):
    sensors = ("phase", "tour_position", "instruction")
    tour = TourRun(NavigationBatch(SmallIR2RCE(), 1, sensors=sensors, worlds=worlds), [TOUR])

    def look():
        observed = tour.batch.observations
        return int(observed["phase"][0]), int(observed["tour_position"][0]), observed["instruction"][0]

    seen, hidden, began = [look()[:2]], set(), 0
    while tour.running.any():
        tour.step([0])  # stop at once, whatever the phase
        began += int(tour.began[0])
        *now, text = look()
        if tuple(now) != seen[-1]:
            seen.append(tuple(now))
        hidden.add((now[0] == Phase.AGENT, text))
    assert seen == [(0, 0), (1, 0), (2, 1), (0, 1), (1, 1), (2, 2), (0, 2)]
    assert hidden == {(True, "Go on."), (False, "")} and began == 2


def test_the_oracle_leads_near_goal_and_start(worlds):
    tour = TourRun(NavigationBatch(SmallIR2RCE(), 1, sensors=(), worlds=worlds), [TOUR])
    bodies, state = tour.batch.simulator.bodies, tour.batch.state
    ends = {}
    while tour.running.any():
        before = (int(state.phase[0]), int(state.tour_position[0]))
        tour.step([0])
        if int(state.phase[0]) != before[0]:
            ends[before] = (bodies.positions[0].copy(), float(bodies.yaws[0]))
    for position, (ended, following) in enumerate([(BED, SOFA), (SOFA, KITCHEN)]):
        assert np.hypot(*(ends[1, position][0] - ended.goal.path[-1])[[0, 2]]) < 0.25
        at, yaw = ends[2, position + 1]
        assert np.hypot(*(at - following.start_position)[[0, 2]]) < 0.25
        turn = (yaw - following.start_yaw + np.pi) % (2 * np.pi) - np.pi
        assert abs(turn) <= np.radians(7.5) + 1e-9
    assert all(sum(steps) > 0 for (_, name), steps in tour.oracle.items() if name != "a_0")


def test_agent_steps_alone_are_recorded(worlds):
    _, tracks = run(RandomAgent, [TOUR], worlds=worlds)
    assert list(tracks) == ["a_0", "b_0", "c_0"]
    assert all(1 <= len(track.actions) <= 500 for track in tracks.values())


def test_results_do_not_depend_on_the_slots(worlds):
    one, two = (run(RandomAgent, [TOUR, SECOND], slots=slots, worlds=worlds) for slots in (1, 2))
    assert one[0] == two[0]
    for name in one[1]:
        assert np.array_equal(one[1][name].positions, two[1][name].positions)


def test_the_expert_is_perfect_over_tours(worlds):
    rows, _ = run(ExpertAgent, [TOUR], worlds=worlds)
    tours = summarize_tours(list(rows.values()), TourScoring("paper", "changes")).metrics
    assert all(row.metric("success") == 1.0 for row in rows.values()) and tours["t_sr"].mean == 1.0
    assert tours["t_ndtw"].mean > 0.85


def test_one_who_stops_at_once_is_scored_by_hand(worlds):
    rows, tracks = run(StopAgent, [TOUR], task=SmallIR2RCE(TourOptions(precise_start=True)), worlds=worlds)
    tours = summarize_tours(list(rows.values()), TourScoring("paper", "changes")).metrics
    total, points = 0.0, 0
    for track in tracks.values():
        assert len(track.actions) == 1
        total += np.linalg.norm(track.reference - track.positions[0], axis=1).sum()
        points += len(track.reference)
    assert tours["t_ndtw"].mean == pytest.approx(np.exp(-total / (3.0 * points)))


def test_precise_starts(worlds):
    _, exact = run(ExpertAgent, [TOUR], task=SmallIR2RCE(TourOptions(precise_start=True)), worlds=worlds)
    assert np.array_equal(exact["b_0"].positions[0], SOFA.start_position)
    _, loose = run(ExpertAgent, [TOUR], worlds=worlds)
    assert not np.array_equal(loose["b_0"].positions[0], SOFA.start_position)


def test_what_is_refused(worlds):
    batch = NavigationBatch(SmallIR2RCE(), 1, sensors=(), worlds=worlds)
    with pytest.raises(ActionError, match="running episode"):
        batch.step(np.array([0]))
    with pytest.raises(InputError, match="one episode for each"):
        batch.start([0], [])
    with pytest.raises(InputError, match="oracle_radius"):
        IR2RCE(TourOptions(oracle_radius=0.0))


def test_ids():
    assert get_task("r2r-ce-v1").protocol_id == "r2r-ce-v1"
    assert get_task("ir2r-ce-v1").oracle == TourOptions()
    assert get_task("ir2r-ce-v1+oracle_radius=0.5").protocol_id == "ir2r-ce-v1+custom+oracle_radius=0.5"


AGAIN = tuple(replace(one, tour_id="0") for one in (BED, SOFA, follow("f_0", TO_BED)))


def test_coverage_grows_to_the_whole(worlds):
    (tour,) = measure_coverage([AGAIN], worlds)
    coverage = tour.coverage
    assert coverage.next_path[0] == coverage.whole_tour[0] == 0.0
    assert coverage.whole_tour[1] <= coverage.whole_tour[2] == 1.0
    assert coverage.next_path[2] == 1.0 and coverage.next_path[1] > 0


def test_coverage_of_a_run_is_that_of_its_poses(worlds):
    """One who follows sees nearly what the oracle sees; one who stops sees what the oracle phases show."""
    benchmark = make_benchmark([AGAIN], StopAgent, worlds)
    follower, stopper = (
        replay_coverage(list(run(agent, [AGAIN], worlds=worlds)[0].values()), benchmark)[0]
        for agent in (ExpertAgent, StopAgent)
    )
    for tour in (follower, stopper):
        assert tour.scene_id == "flat" and tour.coverage.next_path[0] == tour.coverage.whole_tour[0] == 0
        assert (np.diff(tour.coverage.whole_tour) >= 0).all() and tour.coverage.whole_tour[2] > 0.9
    assert follower.coverage.next_path[2] > 0.97
    assert stopper.coverage.whole_tour[1] <= follower.coverage.whole_tour[1] + 0.05


def test_a_body_sees_what_lies_before_it(worlds):
    """From the middle of the kitchen, looking east, cells of the east are seen and none of the west."""
    seen = see_along(worlds.get("flat"), ((1.0, 0.0, 2.0), (1.4, 0.0, 2.0)))
    assert seen[20, 30:38].any() and not seen[:, :9].any()


def test_peeking_shows_the_next_start_once(worlds):
    seen = []
    for rules in (TourOptions(peeks_at_start=True), TourOptions()):
        batch = NavigationBatch(SmallIR2RCE(rules), 1, sensors=("position",), worlds=worlds)
        tour = TourRun(batch, [TOUR])
        seen.append([])
        while tour.running.any():
            tour.step([0])
            seen[-1].append(batch.observations["position"][0].copy())
    differ = [k for k, (a, b) in enumerate(zip(*seen, strict=True)) if not np.allclose(a, b)]
    assert len(seen[0]) == len(seen[1]) and len(differ) == 2
    assert np.allclose(seen[0][differ[0]], SOFA.start_position, atol=1e-6)
    assert np.allclose(seen[0][differ[1]], KITCHEN.start_position, atol=1e-6)


@pytest.mark.parametrize(("corruptions", "error"), [((), (0.0, 0.0)), (("localisation_bias:5",), None)])
def test_peeking_leaves_the_frame_of_the_pose_and_its_error(worlds, corruptions, error):
    """Gps is that of the true pose in the frame of the first start, plus the same error all along."""
    batch = NavigationBatch(
        SmallIR2RCE(TourOptions(peeks_at_start=True)),
        1,
        sensors=("position", "gps"),
        worlds=worlds,
        corruptions=corruptions,
    )
    tour, errors = TourRun(batch, [TOUR[:2]]), []
    while batch.state.phase[0] != Phase.AGENT or len(tour.tracks) == 0:
        tour.step([0])
        away = batch.observations["position"][0] - np.array(BED.start_position)
        errors.append(batch.observations["gps"][0] - away[[0, 2]])  # yaw -90 degrees: ahead is +x, right +z
    errors = errors[:-1]  # the second episode has a frame of its own
    np.testing.assert_allclose(errors, np.tile(errors[0], (len(errors), 1)), atol=1e-5)
    assert (
        (np.linalg.norm(errors[0]) > 0.01) if error is None else errors[0] == pytest.approx(error, abs=1e-5)
    )


def test_a_teacher_leads_from_anywhere(worlds):
    task = SmallR2RCE()
    batch = NavigationBatch(task, 2, sensors=(), worlds=worlds)
    batch.start([0, 1], [BED, SOFA])
    teacher = BodyTeacher(batch)
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


def test_tours_with_the_interface_of_gymnasium(worlds):
    env = NavigationEnv(SmallIR2RCE(), episodes=TOUR, worlds=worlds)
    check_env(env, skip_render_check=True)
    seen, info = env.reset(seed=1)
    expected = {"episode_id": "a_0", "scene_id": "flat", "began": False, "tour_id": "0", "phase": "agent"}
    assert info == expected
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
    assert env.reset(options={"tour": SECOND})[1]["tour_id"] == "1"


def test_tours_side_by_side_are_those_of_single_environments(worlds):
    """Slot i does what an environment with seed + i does, and begins another tour after the last STOP."""
    episodes = (*TOUR, *SECOND)
    together = NavigationVectorEnv(
        2, SmallIR2RCE(), episodes=episodes, worlds=worlds, metrics=None, text=True
    )
    alone = [NavigationEnv(SmallIR2RCE(), episodes=episodes, worlds=worlds, text=True) for _ in range(2)]
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


def test_restored_tours_go_on_in_every_phase(worlds):
    sensors = ("instruction", "phase", "tour_position", "gps")
    given = {"sensors": sensors, "episodes": [*TOUR, *SECOND], "worlds": worlds}
    env, other = (NavigationEnv(SmallIR2RCE(), **given) for _ in range(2))
    env.reset(seed=0)
    phases = set()
    for _ in range(160):
        other.restore_state(env.save_state())
        phases.add(int(env.batch.state.phase[0]))
        mine, its = env.step(0), other.step(0)
        assert mine[1:] == its[1:]
        assert all(np.array_equal(value, its[0][name]) for name, value in mine[0].items())
        if mine[2]:
            assert env.reset()[1] == other.reset()[1]
    assert phases == {Phase.AGENT, Phase.ORACLE_GOAL, Phase.ORACLE_START}
