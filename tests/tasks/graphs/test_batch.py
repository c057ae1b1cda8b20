"""Bodies on navigation graphs: moves, phases, what is seen, teachers."""

from dataclasses import replace

import numpy as np
import pytest

from graph_world import make_atlas, make_graph_episode
from navarena.core.errors import ActionError, FileError, InputError, UnknownNameError
from navarena.metrics.catalog import compute_metrics
from navarena.scenes.graphs import StoredFeatures
from navarena.tasks import (
    GraphBatch,
    GraphOracleRules,
    Phase,
    get_task,
    make_teacher,
    path_actions,
    remaining_distances,
    teacher_actions,
)
from navarena.tasks.graphs.oracle import plan_oracle
from navarena.tasks.graphs.task import IR2R
from tour_runs import TourRun

ATLAS = make_atlas()
STOP = 0
ALL_SENSORS = (*get_task("r2r-v1").sensors, "instruction_tokens", "view_angles")


def node(name):
    return int(ATLAS.nodes("scan1", [name])[0])


def name(number):
    return ATLAS.viewpoint(int(number))


def make_tour(*paths):
    return [make_graph_episode(f"e{k}", path, "t") for k, path in enumerate(paths)]


def run_tour(tour, protocol="ir2r-v1", oracle=None):
    task = get_task(protocol) if oracle is None else IR2R(oracle)
    return TourRun(GraphBatch(task, ATLAS, 1, ALL_SENSORS), [tour])


def action_to(batch, target, slot=0):
    places = ATLAS.candidates.places[batch.state.node[slot]]
    return 1 + int(np.flatnonzero(places == node(target))[0])


def go(run, *targets):
    """Walk to each neighbour by name ("!" stops); the last step."""
    for target in targets:
        step = run.step([STOP if target == "!" else action_to(run.batch, target)])
    return step


def follow(run, action=3):
    """Let the oracle lead until the agent acts again; [(node, phase) after each step]."""
    seen, state = [], run.batch.state
    while True:
        step = run.step([action])
        seen.append((name(state.node[0]), Phase(int(state.phase[0])).name))
        if run.began[0]:
            return seen, step


def test_an_episode_by_hand():
    run = run_tour(make_tour("abcd"), "r2r-v1")
    state = run.batch.state
    assert name(state.node[0]) == "a" and state.view[0] == 12
    step = go(run, "b")
    assert step.reward[0] == 2.0 and not (step.terminated | step.truncated).any()
    assert state.view[0] == 12 + 3, "b lies to the east"
    go(run, "a", "b", "c")
    step = go(run, "!")
    assert step.terminated[0] and step.reward[0] == 2.5, "d is 2 m away"
    track = run.tracks[0, "e0"]
    assert [name(k) for k in track.nodes] == list("ababcc") and track.stopped, "STOP stays"
    assert track.views.tolist() == [12, 15, 21, 15, 15, 15] and len(track.actions) == 5
    assert track.positions.tolist() == ATLAS.positions[track.nodes].tolist()
    assert track.distance_to_goal.tolist() == [6, 4, 6, 4, 2, 2] and track.start_distance == 6
    scores = compute_metrics(get_task("r2r-v1").metrics, track)
    assert (scores["length"], scores["navigation_error"], scores["success"]) == (8.0, 2.0, 1.0)
    assert scores["spl"] == 6 / 8 and scores["path_steps"] == 4


def test_three_metres_are_no_success():
    batch = run_tour(make_tour("abch"), "r2r-v1")
    go(batch, "b", "c")
    assert go(batch, "!").reward[0] == 0.0


def test_fifteen_actions_and_no_more():
    batch = run_tour(make_tour("abcd"), "r2r-v1")
    step = go(batch, *("ba" * 7), "b")
    assert step.truncated[0] and not step.terminated[0]
    assert len(batch.tracks[0, "e0"].nodes) == 16
    batch = run_tour(make_tour("abcd"), "r2r-v1")
    step = go(batch, *("ba" * 7), "!")
    assert step.terminated[0] and not step.truncated[0], "STOP as the 15th action terminates"


def test_a_neighbour_that_is_not_there_stays():
    batch = run_tour(make_tour("abcd"), "r2r-v1")
    step = batch.step([14])
    batch = batch.batch
    assert name(batch.state.node[0]) == "a" and step.reward[0] == 0 and batch.state.steps[0] == 1


def test_wrong_steps_are_refused():
    batch = GraphBatch(get_task("r2r-v1"), ATLAS, 2)
    with pytest.raises(ActionError, match=r"before reset \(start\)"):
        batch.step(np.zeros(2, np.int64))
    batch.start([0, 1], make_tour("abcd") * 2)
    for actions, message in (([15, 0], "within 0..14, got 15 in slot 0"), ([0, -1], "slot 1")):
        with pytest.raises(ActionError, match=message):
            batch.step(np.array(actions))
    with pytest.raises(ActionError, match="2 integer actions"):
        batch.step(np.zeros(3, np.int64))
    batch.step(np.array([0, 1]))
    with pytest.raises(ActionError, match="after its end"):
        batch.step(np.array([0, 1]))
    batch.step(np.array([99, 1]), np.array([False, True]))


def test_the_oracle_needs_goals_and_episodes_their_scan():
    run = run_tour(make_tour("ab", "b"))
    with pytest.raises(InputError, match="expected goals of all episodes of tour 't'"):
        go(run, "!")
    with pytest.raises(UnknownNameError, match="scan9"):
        run_tour([replace(make_tour("ab")[0], scene_id="scan9")])
    with pytest.raises(InputError, match="one episode for each of 2 slots, got 1"):
        run.batch.start([0, 1], make_tour("ab"))


def test_phases_of_a_tour():
    """Stops at b; the goal is d, the next start g: b c d, then d c h g, where the agent takes over."""
    batch = run_tour(make_tour("abcd", "gfa"))
    step = go(batch, "b", "!")
    state = batch.batch.state
    assert step.terminated[0] and not batch.began[0] and batch.batch.led[0]
    assert state.phase[0] == Phase.ORACLE_GOAL and name(state.node[0]) == "b"
    seen, step = follow(batch)
    assert seen == [
        ("c", "ORACLE_GOAL"),
        ("d", "ORACLE_START"),
        ("c", "ORACLE_START"),
        ("h", "ORACLE_START"),
        ("g", "AGENT"),
    ]
    assert step.arrived[0] and step.reward[0] == 0 and state.tour_position[0] == 1
    step = go(batch, "f", "a", "!")
    assert step.terminated[0] and not batch.running[0]
    first, second = batch.tracks[0, "e0"], batch.tracks[0, "e1"]
    assert [name(k) for k in first.nodes] == ["a", "b", "b"], "oracle steps are in no walk"
    assert [name(k) for k in second.nodes] == ["g", "f", "a", "a"]
    assert batch.oracle == {(0, "e0"): (0, 0), (0, "e1"): (2, 2)}, "b c d; d c h, and the arrival at g"


def test_the_oracle_is_skipped_where_nothing_is_left_to_do():
    batch = run_tour(make_tour("abc", "cde"))
    step = go(batch, "b", "c", "!")
    assert step.terminated[0] and batch.began[0] and batch.batch.state.phase[0] == Phase.AGENT
    assert batch.batch.observations["tour_position"][0] == 1


def test_the_goal_is_the_next_start():
    batch = run_tour(make_tour("abc", "cde"))
    go(batch, "b", "!")
    seen, _ = follow(batch)
    assert seen == [("c", "AGENT")], "one step, and the next episode begins there"


def test_neighbouring_goal_and_start():
    batch = run_tour(make_tour("abc", "de"))
    go(batch, "b", "c", "!")
    assert batch.batch.state.phase[0] == Phase.ORACLE_START
    assert follow(batch)[0] == [("d", "AGENT")]


def test_the_oracle_looks_along_its_steps():
    # e -> d and g -> f look along -x (nine steps of 30 degrees clockwise from -z), d -> h leaps over c
    # (-2, 0, -3: -33.7 degrees, eleven steps), and a body that stays keeps its view
    nodes = np.array([node(place) for place in "ddhgf"])
    plan = plan_oracle(
        ATLAS,
        node("e"),
        0,
        node("e"),
        np.concatenate([[node("e")], nodes]),
        GraphOracleRules(reveals_next_path=True),
    )
    assert plan.nodes.tolist() == nodes.tolist()
    assert (plan.views - 12).tolist() == [9, 9, 11, 9, 9]


def test_a_limit_ends_an_agent_phase_too():
    batch = run_tour(make_tour("ab", "bc"))
    step = go(batch, *("ba" * 7), "b")
    assert step.truncated[0] and batch.began[0], "it stands on goal and next start"
    step = go(batch, *("cb" * 7), "c")
    assert step.truncated[0] and not step.terminated[0], "the last episode was cut"


def test_actions_do_nothing_in_oracle_phases():
    tour = make_tour("abcd", "gfa")
    results = []
    for action in (0, 1, 7):
        batch = run_tour(tour)
        go(batch, "!")
        results.append(follow(batch, action)[0])
    assert results[0] == results[1] == results[2]


def test_instructions_are_hidden_in_oracle_phases():
    batch = run_tour(make_tour("abcd", "gfa"))
    assert batch.batch.observations["instruction"][0] == "Do e0."
    assert batch.batch.observations["instruction_tokens"][0, :3].tolist() == [5, 6, 0]
    go(batch, "!")
    assert batch.batch.observations["phase"][0] == Phase.ORACLE_GOAL
    assert (
        batch.batch.observations["instruction"][0] == ""
        and not batch.batch.observations["instruction_tokens"].any()
    )
    follow(batch)
    assert batch.batch.observations["instruction"][0] == "Do e1."


def test_the_leaks_of_the_reference_are_options():
    tour = make_tour("abc", "cde")
    shown = run_tour(tour, oracle=GraphOracleRules(shows_instruction=True))
    go(shown, "!")
    assert shown.batch.observations["instruction"][0] == "Do e0."
    shown.step([0])
    leak = run_tour(tour, oracle=GraphOracleRules(reveals_next_path=True))
    go(leak, "b", "c", "!")
    assert follow(leak)[0] == [("d", "ORACLE_START"), ("e", "ORACLE_START"), ("c", "AGENT")]
    short = run_tour(make_tour("abcd", "gfa"), oracle=GraphOracleRules(drops_last_node=True))
    go(short, "b", "!")
    assert [place for place, _ in follow(short)[0]] == ["c", "c", "h", "g"], "d is never seen, c twice"


def test_the_instruction_of_the_next_episode_is_shown_on_the_way_to_it():
    batch = run_tour(make_tour("ab", "gfa"), oracle=GraphOracleRules(shows_instruction=True))
    go(batch, "b", "!")
    state = batch.batch.state
    assert state.phase[0] == Phase.ORACLE_START and batch.batch.observations["instruction"][0] == "Do e1."


def test_observations_by_hand():
    batch = run_tour(make_tour("abcd"), "r2r-v1")
    seen = batch.batch.observations
    places = seen["candidate_viewpoints"][0]
    assert {name(k) for k in places[:2]} == {"b", "f"} and (places[2:] == -1).all()
    assert seen["action_mask"][0].tolist() == [True] * 3 + [False] * 12
    b = int(np.flatnonzero(places == node("b"))[0])
    assert np.allclose(seen["candidate_angles"][0, b], [1, 0, 0, 1], atol=1e-6), "to the right, level"
    assert seen["candidate_distances"][0, b] == 2.0 and seen["candidate_views"][0, b] == 15
    assert not seen["candidate_angles"][0, 2:].any() and (seen["candidate_views"][0, 2:] == -1).all()
    assert seen["view_angles"].shape == (1, 36, 4)
    go(batch, "b")
    ahead = batch.batch.observations["candidate_views"][0].tolist().index(15)
    angles = batch.batch.observations["candidate_angles"][0, ahead]
    assert np.allclose(angles, [0, 1, 0, 1], atol=1e-6), "c lies straight ahead"
    batch.batch.state.view[0] = 24 + 15 % 12  # the same heading, 30 degrees up
    angles = batch.batch.observations["candidate_angles"][0, ahead]
    assert np.allclose(angles, [0, 1, -0.5, np.sqrt(0.75)], atol=1e-6), "c lies below"


def test_features():
    table = {("scan1", place): np.full((36, 5), node(place), np.float32) for place in "abcdefgh"}
    for place in table:
        table[place][:, 0] = np.arange(36)
    sensors = ("view_features", "candidate_features")
    task = get_task("r2r-v1")
    batch = GraphBatch(task, ATLAS, 1, sensors, StoredFeatures(table, "test"))
    batch.start([0], make_tour("abcd"))
    seen = batch.observations
    assert seen["view_features"].shape == (1, 36, 5) and (seen["view_features"][..., 1] == node("a")).all()
    views = ATLAS.candidates.views[node("a")][:2]
    assert seen["candidate_features"][0, :2, 0].tolist() == views.tolist()
    assert not seen["candidate_features"][0, 2:].any()
    with pytest.raises(InputError, match="expected features"):
        GraphBatch(task, ATLAS, 1, sensors)
    del table["scan1", "b"]
    with pytest.raises(FileError, match="viewpoint b in scan scan1"):
        batch.step(np.array([action_to(batch, "b")]))
        batch.observations["view_features"]
    with pytest.raises(UnknownNameError, match="Did you mean 'view_features'"):
        GraphBatch(task, ATLAS, 1, ["view_feature"])


def test_slots_do_not_touch_each_other():
    """A batch of tours at different places does what each does alone."""
    tours = [make_tour("abcd", "gfa"), make_tour("edc", "cde", "ab"), make_tour("hg", "gf")]
    actions = np.random.default_rng(0).integers(0, 4, (60, 3))
    task = get_task("ir2r-v1")
    together = TourRun(GraphBatch(task, ATLAS, 3), tours)
    alone = [TourRun(GraphBatch(task, ATLAS, 1), [tour]) for tour in tours]
    for row in actions:
        active = together.running
        step = together.step(row)
        for slot, run in enumerate(alone):
            if active[slot]:
                own = run.step(row[slot : slot + 1])
                assert own.reward[0] == step.reward[slot] and run.began[0] == together.began[slot]
                for key, value in run.batch.observations.items():
                    assert np.array_equal(value[0], together.batch.observations[key][slot])
        if not together.running.any():
            break
    assert not together.running.any() and len(together.tracks) == 7
    for slot, run in enumerate(alone):
        for (_, name_), track in run.tracks.items():
            assert track.nodes.tolist() == together.tracks[slot, name_].nodes.tolist()
            assert run.oracle[0, name_] == together.oracle[slot, name_]


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


def test_a_teacher_of_a_batch():
    """Along the shortest path to the goal; STOP on it, while the oracle leads, and without a goal."""
    run = run_tour(make_tour("abcd", "gfa"))
    teacher = make_teacher(run.batch)
    assert teacher.label().tolist() == [action_to(run.batch, "b")]
    go(run, "b", "!")
    assert teacher.label().tolist() == teacher.label(np.ones(1, bool)).tolist() == [STOP]
    follow(run)
    assert teacher.label().tolist() == [action_to(run.batch, "f")]
    assert make_teacher(run_tour(make_tour("b"), "r2r-v1").batch).label().tolist() == [STOP]


def test_options_stand_in_the_id():
    task = get_task("ir2r-v1+reveals_next_path=true")
    assert task.oracle == GraphOracleRules(reveals_next_path=True)
    assert task.protocol_id == "ir2r-v1+custom+reveals_next_path=true"
    assert get_task("ir2r-v1+reveals_next_path=false").protocol_id == "ir2r-v1"
    with pytest.raises(UnknownNameError, match="Did you mean 'reveals_next_path'"):
        get_task("ir2r-v1+reveal_next_path=true")
    with pytest.raises(InputError, match="no options of 'r2r-v1'"):
        get_task("r2r-v1+reveals_next_path=true")
    with pytest.raises(UnknownNameError, match="Did you mean 'ir2r-v1'"):
        get_task("ir2r-v2")


def test_observations_are_written_into_the_arrays_of_the_caller():
    task = get_task("ir2r-v1")
    own = GraphBatch(task, ATLAS, 2)
    buffers = {name: np.zeros((2, *spec.shape), spec.dtype) for name, spec in own.specs.items()}
    given = GraphBatch(task, ATLAS, 2, buffers=buffers)
    for batch in (own, given):
        batch.start([0, 1], [make_graph_episode("e0", "abc", "t"), make_graph_episode("e1", "bce", "t")])
        batch.step(np.array([1, STOP]))
    for name, array in own.observations.items():
        assert given.observations[name] is buffers[name] and np.array_equal(buffers[name], array), name
    with pytest.raises(InputError, match=r"expected a writable C-contiguous buffer \(2,\) of int64"):
        GraphBatch(task, ATLAS, 2, buffers={"phase": np.zeros(2, np.int32)})
    with pytest.raises(UnknownNameError, match="phase"):
        GraphBatch(task, ATLAS, 2, buffers={"phases": np.zeros(2, np.int64)})
