"""Agents as teachers: labels are what the agent would do, and it learns of what was done in its place."""

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from navarena.agents.agent import Agent, Boundary, Start  # noqa: E402
from navarena.agents.explorers.explorer import Explorer, ExplorerSettings  # noqa: E402
from navarena.agents.loading import load_agent  # noqa: E402
from navarena.core.errors import ActionError, InputError, UnknownNameError  # noqa: E402
from navarena.learning.auxiliaries.settings import AugmentationSettings  # noqa: E402
from navarena.learning.checkpoints.policies import load_policy  # noqa: E402
from navarena.learning.rollouts.teaching import AgentTeacher  # noqa: E402
from navarena.learning.settings import constant  # noqa: E402
from navarena.learning.trainings.setup import make_training_task  # noqa: E402
from navarena.mapping import SteeringSettings, TerrainSettings  # noqa: E402
from navarena.simulation.world import WorldCache  # noqa: E402
from navarena.tasks.batch import NavigationBatch  # noqa: E402
from navarena.tasks.catalog import get_task  # noqa: E402
from tasks.small import AHEAD, as_life  # noqa: E402
from worlds import HALL, draw_world  # noqa: E402

from .test_training import DAGGER, TINY, make_training, make_worlds  # noqa: E402

pytestmark = pytest.mark.learn


def taught_by(name, share=1.0, **more):
    method = replace(DAGGER, teacher=name, teacher_share=constant(share), veto=0.0)
    return replace(TINY, method=method, **more)


def play(recipe, episode, name):
    """The actions of the agent alone, in the episode from its start."""
    task = make_training_task(recipe)
    agent = load_agent(name, task)
    batch = NavigationBatch(task, 1, 1, agent.sensors, make_worlds(task))
    agent.attach(batch)
    batch.start([0], [episode])
    agent.reset([Start(0, episode.episode_id, episode.scene_id, Boundary.SCENE)])
    actions = []
    while batch.running[0]:
        actions.append(int(agent.act(batch.observations, batch.running)[0]))
        batch.step(np.array(actions[-1:]))
    return actions


def test_a_teacher_that_leads_does_what_it_does_alone(tmp_path):
    recipe = taught_by("frontier", steps=40, slots=4)
    training = make_training(tmp_path, recipe)
    training.advance()
    rollout = training._rollout
    first = {}
    compared = 0
    for end in rollout.ends:
        begin = first.get(end.slot, 0)
        done = rollout.actions[begin : end.step + 1, end.slot].tolist()
        assert done == play(recipe, end.episode, "frontier") and len(done) > 1
        first[end.slot], compared = end.step + 1, compared + 1
    assert compared >= 4
    assert torch.equal(rollout.actions, rollout.labels)


class Listener(Agent):
    """Always turns left; writes down what it is told."""

    sensors = ("compass",)

    def __init__(self):
        self.begun, self.overruled, self.asked = [], [], 0

    def reset(self, starts):
        self.begun += [(start.slot, start.episode_id) for start in starts]

    def act(self, observations, active):
        assert set(observations) >= {"compass", "depth"}
        self.asked += 1
        return np.full(len(active), 2)

    def overrule(self, actions):
        self.overruled.append(actions.copy())


def test_an_agent_is_asked_once_a_step_and_told_what_was_done(tmp_path):
    training = make_training(tmp_path, taught_by(f"{__name__}:Listener", 0.0, steps=48))
    training.advance()
    rollout, agent = training._rollout, training._collector._teacher._agent
    assert (rollout.labels == 2).all() and not (rollout.actions == 2).all()
    assert agent.asked == 48 and np.array_equal(np.array(agent.overruled), rollout.actions.numpy())
    first = {slot for slot, _ in agent.begun[:8]}
    assert first == set(range(8)), "all slots begin with the first step"
    in_last_step = sum(end.step == 47 for end in rollout.ends)
    assert len(agent.begun) == 8 + len(rollout.ends) - in_last_step


class Lost(Listener):
    """Chooses what no protocol has."""

    def act(self, observations, active):
        return np.full(len(active), 17)


def test_a_teacher_that_chooses_what_does_not_exist_is_refused(tmp_path):
    training = make_training(tmp_path, taught_by(f"{__name__}:Lost"))
    with pytest.raises(ActionError, match=r"actions from 0 to 3 of the teacher \(method.teacher\), got 17"):
        training.advance()


def test_a_training_goes_on_with_what_its_teacher_remembers(tmp_path):
    recipe = taught_by("frontier", 0.5, frames=6 * 64)
    whole = make_training(tmp_path, recipe)
    for _ in range(2):
        whole.advance()
    whole._save()
    again = make_training(tmp_path, recipe)
    assert again.frames == 128
    ours, theirs = whole.advance(), again.advance()
    assert ours == theirs
    for name in ("labels", "actions", "led"):
        assert torch.equal(getattr(whole._rollout, name), getattr(again._rollout, name)), name
    of_both = [one._collector._teacher._agent for one in (whole, again)]
    assert all(len(one._explorers) == 8 for one in of_both) and of_both[0] is not of_both[1]


class Attached(Listener):
    """Remembers its batch."""

    def attach(self, batch):
        self.batch = batch


def test_a_saved_teacher_is_attached_to_the_batch_of_the_other(tmp_path):
    first, second = (make_training(tmp_path / name, taught_by(f"{__name__}:Attached")) for name in "ab")
    first.advance()
    saved = first._collector._teacher.save_state()
    assert len(saved) < 20_000, "the batch is saved by itself"
    second._collector._teacher.restore_state(saved)
    agent = second._collector._teacher._agent
    assert agent.batch is second._batch and agent.asked == 8


def lead(teacher, batch, steps):
    """Actions of the teacher in the next steps, which it leads."""
    actions = []
    for _ in range(steps):
        label = teacher.label()
        teacher.note(label)
        batch.step(label)
        actions.append(int(label[0]))
    return actions


def test_the_memory_of_a_modular_agent_is_saved(caplog):
    """modular-goat-gt, whose frozen settings hold mapping proxies, goes on as if nothing had been."""
    task = get_task("goat-v1")
    worlds = WorldCache(task.embodiment)
    worlds.add(draw_world(HALL, scene_id="hall"))
    pairs = []
    for _ in range(2):
        agent = load_agent("modular-goat-gt", task)
        batch = NavigationBatch(task, 1, 1, tuple(dict.fromkeys((*task.sensors, *agent.sensors))), worlds)
        batch.start([0], [as_life(AHEAD, 0, (3.0, 0.0, 1.0), (7.0, 0.0, 1.5))])
        pairs.append((AgentTeacher(batch, agent), batch))
    (first, own), (second, other) = pairs
    begun = lead(first, own, 6)
    saved = first.save_state()
    for action in begun:
        other.step(np.array([action]))
    second.restore_state(saved)
    assert "begin it anew" not in caplog.text
    assert lead(first, own, 6) == lead(second, other, 6)


class Watcher(Listener):
    """Turns to the side where it sees the goal; writes down what it sees."""

    def act(self, observations, active):
        self.seen = [*getattr(self, "seen", []), {k: np.array(v) for k, v in observations.items()}]
        return np.where(self.seen[-1]["pointgoal_with_gps_compass"][:, 1] > 0, 2, 3)


def test_a_teacher_sees_what_the_body_sees_and_not_what_the_policy_learns_from(tmp_path):
    """In a mirror, where the policy's goal is on the other side, and its label is the other turn."""
    seen = ("rgb", "depth", "pointgoal_with_gps_compass")
    recipe = taught_by(f"{__name__}:Watcher", sensors=seen, augmentation=AugmentationSettings(mirror=1.0))
    training = make_training(tmp_path, recipe)
    training.advance()
    rollout, agent = training._rollout, training._collector._teacher._agent
    for name in ("rgb", "depth"):
        shown = np.stack([one[name] for one in agent.seen]).astype(np.float16)
        np.testing.assert_array_equal(
            rollout.observations[name].numpy().astype(np.float16), shown[..., ::-1, :]
        )
    goals = np.stack([one["pointgoal_with_gps_compass"] for one in agent.seen])
    np.testing.assert_array_equal(rollout.observations["pointgoal_with_gps_compass"], goals * (1, -1))
    assert torch.equal(rollout.labels, torch.from_numpy(np.where(goals[..., 1] > 0, 3, 2)))


def test_a_policy_that_teaches_is_told_what_was_done(tmp_path):
    """Its labels are the likeliest actions after those that the learner took, not after its own."""
    made = make_training(tmp_path / "made", replace(TINY, frames=64))
    torch.nn.init.normal_(made._policy.head.linear.weight)  # decisions that depend on the action before
    torch.nn.init.normal_(made._policy.action_encoder.weight, std=5.0)
    made._save()
    training = make_training(tmp_path / "own", taught_by(f"checkpoint:{tmp_path / 'made'}", 0.0, steps=24))
    training.advance()
    rollout = training._rollout
    _, policy = load_policy(tmp_path / "made")
    seen, start = rollout.observations, policy.initial_state(rollout.slots)
    with torch.no_grad():
        judged = policy.evaluate_sequence(seen, rollout.actions, start, rollout.mask)
    assert torch.equal(rollout.labels, judged.distribution.mode())
    assert not torch.equal(rollout.labels, rollout.actions)


class Unsaved(Listener):
    """Holds what has no pickle."""

    def __init__(self):
        super().__init__()
        self.rule = lambda: None


def test_a_teacher_without_a_pickle_begins_anew_and_says_so(tmp_path, caplog):
    recipe = taught_by(f"{__name__}:Unsaved", frames=6 * 64)
    training = make_training(tmp_path, recipe)
    training.advance()
    training._save()
    assert "begin it anew" in caplog.text
    again = make_training(tmp_path, recipe)
    again.advance()
    assert again._collector._teacher._agent.asked == 8


class Informed(Listener):
    """Writes down which boundary was before a start."""

    def reset(self, starts):
        self.begun += [(start.slot, start.boundary) for start in starts]


def test_a_teacher_is_told_of_new_goals():
    """Of the second and the third goal of an episode, each once; a new episode is none of them."""
    task = get_task("goat-v1")
    worlds = WorldCache(task.embodiment)
    worlds.add(draw_world(HALL, scene_id="hall"))
    batch, agent = NavigationBatch(task, 1, 1, ("compass", "depth"), worlds), Informed()
    episode = as_life(AHEAD, 0, (3.0, 0.0, 1.0), (7.0, 0.0, 1.5))
    batch.start([0], [episode])
    teacher = AgentTeacher(batch, agent)
    for action in (2, 6, 2, 2, 6, 2):
        teacher.label()
        batch.step(np.array([action]))
    assert [boundary for _, boundary in agent.begun] == [Boundary.SCENE, Boundary.SUBTASK, Boundary.SUBTASK]
    batch.start([0], [episode])
    teacher.label()
    assert agent.begun[-1] == (0, Boundary.SCENE)


def test_a_step_that_was_not_tried_has_not_failed():
    settings = ExplorerSettings(TerrainSettings(0.1), SteeringSettings(0.25, np.pi / 6))
    here = np.zeros(3)
    for move, bumps in (("forward", 1), ("left", 0)):
        explorer = Explorer(settings, np.random.default_rng(0))
        explorer._last = (here, "forward")
        explorer.overrule(move)
        explorer._notice_collision(here, 0.0)
        assert len(explorer._bumps) == bumps
    Explorer(settings, np.random.default_rng(0)).overrule("left")


def test_wrong_teachers_are_refused(tmp_path):
    with pytest.raises(UnknownNameError, match="frontier"):
        make_training(tmp_path, taught_by("fronteir"))
    from navarena.learning.recipes.objectnav import OBJECTNAV_STRETCH_SMALL

    recipe = replace(OBJECTNAV_STRETCH_SMALL, method=DAGGER)
    with pytest.raises(InputError, match="discrete actions for imitation"):
        make_training(tmp_path, recipe)
