import numpy as np
import pytest

from navarena.agents.agent import Agent, Boundary, EpisodeStarts, SingleAgent, Start, wrap
from navarena.agents.expert import DeadReckoning
from navarena.agents.loading import load_agent
from navarena.core.errors import InputError, UnknownNameError
from navarena.tasks.batch import NavigationBatch
from tasks.small import AHEAD, CUT_OFF, EPISODES, FAR, SmallPointNav, make_cache

TASK = SmallPointNav()


class Counter(SingleAgent):
    """Acts by the number of steps since its last reset."""

    sensors = ("gps",)
    made = 0

    def __init__(self):
        type(self).made += 1
        self.steps = -1

    def reset(self):
        self.steps = 0

    def act(self, observations):
        assert observations["gps"].shape == (2,)
        self.steps += 1
        return self.steps


class Recording(SingleAgent):
    def __init__(self, task, seed):
        self.made_with = (task, seed)

    def reset(self):
        pass

    def act(self, observations):
        task, seed = self.made_with
        return seed % len(task.actions)


class Batched(Agent):
    def reset(self, starts):
        pass

    def act(self, observations, active):
        return np.zeros(len(active), np.int64)


def needs_more(task, seed, config):
    return Batched()


NOT_AN_AGENT = 3


def starts(*slots, boundary=Boundary.EPISODE, seed=0):
    return [Start(slot, f"episode-{slot}", "hall", boundary, seed) for slot in slots]


def test_boundaries_are_ordered():
    assert Boundary.SUBTASK < Boundary.EPISODE < Boundary.TOUR < Boundary.SCENE


def test_wrapped_agents_have_one_mind_per_slot_and_forget_at_episodes():
    agent = wrap(Counter)
    assert agent.sensors == ("gps",)
    seen = {"gps": np.zeros((3, 2), np.float32)}
    agent.reset(starts(0, 1, 2))
    assert agent.act(seen, np.array([True, True, True])).tolist() == [1, 1, 1]
    assert agent.act(seen, np.array([True, False, True])).tolist() == [2, 0, 2]
    agent.reset(starts(0, boundary=Boundary.SUBTASK))
    agent.reset(starts(2))
    assert agent.act(seen, np.array([True, True, True])).tolist() == [3, 2, 1]


def test_random_agent_depends_on_names_only():
    def actions(slots, order, seed=0):
        agent = load_agent("random", TASK, seed)
        agent.reset([Start(slot, f"e{slot}", "hall", Boundary.SCENE, seed) for slot in order])
        active = np.zeros(slots, bool)
        active[list(order)] = True
        return np.array([agent.act({}, active) for _ in range(50)])[:, list(order)]

    one, many = actions(1, [0]), actions(4, [3, 2, 1, 0])
    assert one[:, 0].tolist() == many[:, 3].tolist()
    assert set(many.ravel()) == {0, 1, 2, 3}
    assert len({tuple(column) for column in many.T}) == 4
    assert one.tolist() != actions(1, [0], seed=1).tolist()


def test_forward_agent():
    agent = load_agent("forward", TASK)
    agent.reset(starts(0, 1))
    assert agent.act({}, np.ones(2, bool)).tolist() == [1, 1]


def test_loading():
    assert isinstance(load_agent("agents.test_agents:Batched", TASK), Batched)
    for seed, action in ((11, 3), (6, 2)):
        agent = load_agent("agents.test_agents:Recording", TASK, seed)
        agent.reset(starts(0))
        assert agent.act({}, np.ones(1, bool)).tolist() == [action]
    assert load_agent("agents.test_agents:Counter", TASK).sensors == ("gps",)


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("expertt", UnknownNameError, "Did you mean 'expert'"),
        ("no_such_module:Agent", InputError, "cannot import 'no_such_module'"),
        ("agents.test_agents:Batchd", UnknownNameError, "Did you mean 'Batched'"),
        ("agents.test_agents:NOT_AN_AGENT", InputError, "Agent or SingleAgent"),
        ("agents.test_agents:needs_more", InputError, r"take \(task, seed\) or nothing"),
        ("builtins:dict", InputError, "got <class 'dict'>"),
    ],
)
def test_bad_agent_names(name, error, message):
    with pytest.raises(error, match=message):
        load_agent(name, TASK)


def walked(track):
    return np.linalg.norm(np.diff(track.positions, axis=0), axis=1).sum()


def run_expert(episodes, task=TASK):
    agent = load_agent("expert", task)
    batch = NavigationBatch(task, len(episodes), sensors=agent.sensors, worlds=make_cache())
    agent.attach(batch)
    batch.start(range(len(episodes)), episodes)
    agent.reset([Start(k, episode.episode_id, episode.scene_id) for k, episode in enumerate(episodes)])
    active = batch.running
    while active.any():
        batch.step(agent.act(batch.observations, active), active)
        active = batch.running
    return [batch.trajectory(k) for k in range(len(episodes))]


def test_expert_solves_what_can_be_solved():
    for track in run_expert(EPISODES):
        assert track.stopped and track.distance_to_goal[-1] < 0.2
        assert not track.collided.any()


def test_expert_is_the_same_alone_and_in_a_batch():
    together = run_expert(EPISODES)
    assert len({tuple(track.actions.tolist()) for track in together}) == len(EPISODES) > 2
    for episode, track in zip(EPISODES, together, strict=True):
        (alone,) = run_expert([episode])
        assert alone.actions.tolist() == track.actions.tolist()


def test_expert_stops_where_there_is_no_way():
    (track,) = run_expert([CUT_OFF])
    assert track.actions.tolist() == [0]


def test_expert_plans_again_when_its_actions_miscarry():
    class Drunk(SmallPointNav):
        """Every step forward drifts to the right."""

        @staticmethod
        def actuation(actions, movements):
            movements = movements.copy()
            movements[actions == 1, 1] = 0.03
            return movements

    drunk = Drunk()
    drunk.max_steps = 300
    for track in run_expert([AHEAD, FAR], drunk):
        assert track.stopped and track.distance_to_goal[-1] < 0.2


def test_expert_plans_again_as_soon_as_it_is_off_its_course():
    """A plan that is followed blindly ends far away; each of its steps forward is one of 0.2 m."""

    class Short(SmallPointNav):
        """Every step forward is 5 cm too short."""

        @staticmethod
        def actuation(actions, movements):
            movements = movements.copy()
            movements[actions == 1, 0] -= 0.05
            return movements

    task = Short()
    task.max_steps = 100
    (exact,), (short,) = run_expert([FAR]), run_expert([FAR], task)
    assert short.stopped and short.distance_to_goal[-1] < 0.2
    assert walked(short) < 1.1 * walked(exact)


def test_reckoning_follows_the_actions_alone():
    batch = NavigationBatch(TASK, 1, sensors=(), worlds=make_cache())
    batch.start([0], [AHEAD])
    dead_reckoning = DeadReckoning(batch.simulator)
    slot = np.array([0])
    dead_reckoning.begin(slot)
    for name in ("turn_left", "move_forward", "turn_right", "move_forward"):
        actions = np.array([TASK.actions.index(name)])
        batch.step(actions, batch.running)
        dead_reckoning.advance(actions)
        assert dead_reckoning.errors(slot) == [0.0]
    batch.step(np.array([1]), batch.running)  # one step that it does not hear of
    assert dead_reckoning.errors(slot)[0] == pytest.approx(TASK.embodiment.forward_step)
    dead_reckoning.begin(slot)
    assert dead_reckoning.errors(slot) == [0.0]


def test_expert_must_be_attached():
    with pytest.raises(InputError, match="before attach"):
        load_agent("expert", TASK).reset(starts(0))


def test_starts_of_other_episodes_are_told_from_sub_tasks():
    episodes = EpisodeStarts()
    for episode, slot, boundary, expected in (
        ("a", 0, Boundary.SCENE, Boundary.SCENE),
        ("a", 0, Boundary.SUBTASK, Boundary.SUBTASK),
        ("b", 0, Boundary.SUBTASK, Boundary.EPISODE),
        ("b", 1, Boundary.SUBTASK, Boundary.EPISODE),
        ("b", 0, Boundary.SUBTASK, Boundary.SUBTASK),
        ("a", 0, Boundary.TOUR, Boundary.TOUR),
    ):
        marked = episodes.mark(Start(slot, episode, "hall", boundary, 3))
        assert marked == Start(slot, episode, "hall", expected, 3)


def make_counter():
    return Counter()


def make_batched():
    return Batched()


def test_sensors_behind_agents_of_one_environment():
    for name in ("Counter", "make_counter"):
        assert load_agent(f"agents.test_agents:{name}?sensors=gps,depth", TASK).sensors == ("gps", "depth")
        with pytest.raises(InputError, match=r"expected \?sensors=rgb,depth,... behind an agent, got"):
            load_agent(f"agents.test_agents:{name}?steps=3", TASK)
    with pytest.raises(InputError, match="no options behind a function that makes an Agent, got"):
        load_agent("agents.test_agents:make_batched?sensors=gps", TASK)
