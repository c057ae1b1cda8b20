"""Adaptation during deployment: what learns, what stays, and what is refused."""

import hashlib
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from navarena.agents.agent import Boundary, Start  # noqa: E402
from navarena.agents.loading import load_agent  # noqa: E402
from navarena.core.errors import FileError, InputError, UnknownNameError  # noqa: E402
from navarena.learning.agents.adaptation import Adapter  # noqa: E402
from navarena.learning.agents.policy_agent import find_checkpoint  # noqa: E402
from navarena.learning.auxiliaries.settings import INVERSE_DYNAMICS, ROTATION  # noqa: E402
from navarena.learning.checkpoints.exporting import export_checkpoint  # noqa: E402
from navarena.learning.checkpoints.policies import load_policy, read_heads, read_info  # noqa: E402
from navarena.tasks.batch import NavigationBatch  # noqa: E402
from navarena.tasks.calibration_env import CalibrationEnv  # noqa: E402
from navarena.tasks.catalog import get_body_task  # noqa: E402

from .test_training import TINY, make_episodes, make_training, make_worlds  # noqa: E402

pytestmark = pytest.mark.learn

TASK = "pointnav-v1+max_steps=40"


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained")
    method = replace(TINY.method, auxiliaries=(INVERSE_DYNAMICS, ROTATION))
    make_training(folder, replace(TINY, method=method, frames=128)).run()
    return folder


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plain")
    make_training(folder, replace(TINY, frames=64, seed=1)).run()
    return folder


def make_agent(folder, options):
    return load_agent(f"checkpoint:{folder}?{options}", get_body_task(TASK), 0)


def calibrate(agent, steps=4 * 8 * 3, corruptions=("depth_holes:3",)):
    task = get_body_task(TASK)
    batch = NavigationBatch(task, 4, 1, agent.sensors, make_worlds(task), corruptions)
    env = CalibrationEnv(batch, make_episodes(8), steps)
    agent.adapt(env)
    return env


def weights(agent):
    return {name: value.clone() for name, value in agent._policy.state_dict().items()}


def changed(agent, folder):
    source = load_policy(folder)[1].state_dict()
    return {name for name, value in weights(agent).items() if not torch.equal(value, source[name])}


@pytest.mark.parametrize("loss", ["ap", "rp"])
def test_only_what_reads_images_learns_and_the_checkpoint_stays(trained, loss):
    before = {path.name: path.read_bytes() for path in trained.iterdir() if path.is_file()}
    agent = make_agent(trained, f"adapt={loss}")
    env = calibrate(agent)
    assert env.is_over and env.steps_left == 0
    learned = changed(agent, trained)
    assert learned and all(name.startswith("encoder.image_encoder.") for name in learned), learned
    assert {path.name: path.read_bytes() for path in trained.iterdir() if path.is_file()} == before
    again = make_agent(trained, f"adapt={loss}")
    calibrate(again)
    assert all(torch.equal(value, weights(agent)[name]) for name, value in weights(again).items())


def test_an_exported_copy_has_the_heads_and_adapts(trained, tmp_path):
    copy = tmp_path / "small"
    export_checkpoint(trained, copy)
    own, small = (read_heads(read_info(folder), folder) for folder in (trained, copy))
    assert own.keys() == small.keys() and len(own) >= 4
    assert all(torch.equal(small[name], value.half()) for name, value in own.items())
    agent = make_agent(copy, "adapt=ap")
    calibrate(agent)
    assert changed(agent, copy)


def test_an_update_is_a_step_of_adam_on_the_loss(trained):
    """Of its first step Adam makes the rate in the direction of each gradient's sign."""
    agent = make_agent(trained, "adapt=ap&rate=0.01&steps=8")
    calibrate(agent, 4 * 8)
    source = load_policy(trained)[1].state_dict()
    moved = torch.cat([(weights(agent)[k] - source[k]).flatten() for k in changed(agent, trained)])
    moved = moved[moved != 0]
    assert (moved.abs() < 0.0101).all() and (moved.abs() > 0.009).float().mean() > 0.9


def test_the_loss_falls_where_it_learns(trained):
    agent = make_agent(trained, "adapt=rp&rate=0.003")
    adapter = agent._make_adapter(agent._policy)
    task = get_body_task(TASK)
    batch = NavigationBatch(task, 4, 1, agent.sensors, make_worlds(task))
    env = CalibrationEnv(batch, make_episodes(8), 4 * 8 * 60)
    losses = adapter.run(env, agent._observe, agent._translate, np.random.default_rng(0))
    assert len(losses) == adapter.updates == 60
    assert np.mean(losses[-15:]) < 0.9 * np.mean(losses[:15])


def test_actions_are_made_as_the_protocol_numbers_them_and_learned_as_the_checkpoint_does(
    trained, monkeypatch
):
    agent = make_agent(trained, "adapt=ap&steps=8")
    agent._numbers = np.array([0, 3, 1, 2])  # as on a protocol of another order
    made, learned = [], []
    step, update = CalibrationEnv.step, Adapter.update

    def note_step(env, actions):
        made.append(np.array(actions))
        return step(env, actions)

    def note_update(adapter, frames, actions, mask, generator):
        learned.append(actions.numpy().copy())
        return update(adapter, frames, actions, mask, generator)

    monkeypatch.setattr(CalibrationEnv, "step", note_step)
    monkeypatch.setattr(Adapter, "update", note_update)
    calibrate(agent, 4 * 8)
    assert len(made) == 8 and len(np.unique(learned)) > 1
    np.testing.assert_array_equal(np.array(made), agent._numbers[learned[0][:-1]])


def test_changes_stay_within_the_bound(trained):
    source = load_policy(trained)[1].state_dict()
    for bound, expected in ((0.0, False), (0.01, True)):
        agent = make_agent(trained, f"adapt=ap&rate=0.05&bound={bound}")
        calibrate(agent)
        ratios = [
            float((value - source[name]).norm() / source[name].norm())
            for name, value in weights(agent).items()
            if name in changed(agent, trained)
        ]
        assert (max(ratios) <= 0.0101) is expected


def test_adapted_weights_are_kept_apart_and_act_without_calibration(trained, plain, tmp_path):
    file = tmp_path / "adapted.safetensors"
    agent = make_agent(trained, f"adapt=ap&keep={file}")
    calibrate(agent)
    later = make_agent(trained, f"weights={file}")
    assert later.trained_with == (*agent.trained_with, "calibration under unknown corruptions")
    later.attach(None)
    used = f"{read_info(trained).model_sha256} {hashlib.sha256(file.read_bytes()).hexdigest()}"
    assert later.model_sha256 == hashlib.sha256(used.encode()).hexdigest()
    assert all(torch.equal(value, weights(agent)[name]) for name, value in weights(later).items())
    with pytest.raises(InputError, match="were adapted from this checkpoint, got those of another one"):
        make_agent(plain, f"weights={file}")
    file.write_bytes(b"nonsense")
    with pytest.raises(FileError, match="holds no adapted weights"):
        make_agent(trained, f"weights={file}")


def run_episodes(folder, options, slots, count=4):
    """Actions of `count` episodes, `slots` at a time."""
    task, agent = get_body_task(TASK), make_agent(folder, options)
    batch = NavigationBatch(task, slots, 1, agent.sensors, make_worlds(task), ("depth_holes:3",))
    agent.attach(batch)
    done = {}
    episodes = make_episodes(count)
    for first in range(0, count, slots):
        part = episodes[first : first + slots]
        batch.start(range(slots), part)
        agent.reset([Start(k, one.episode_id, one.scene_id) for k, one in enumerate(part)])
        for _ in range(6):
            active = batch.running
            if not active.any():
                break
            actions = agent.act(batch.observations, active)
            for slot in np.flatnonzero(active).tolist():
                done.setdefault(part[slot].episode_id, []).append(int(actions[slot]))
            batch.step(actions, active)
    return done


def test_episodes_adapt_by_themselves_whatever_runs_beside_them(trained):
    options = "adapt=rp&per_episode=true&rate=0.01&sample=true"
    together, alone = (run_episodes(trained, options, slots) for slots in (4, 1))
    assert together == alone
    agent = make_agent(trained, options)
    assert not changed(agent, trained), "the common policy does not learn"


def test_what_cannot_adapt_says_so(trained, plain):
    with pytest.raises(InputError, match=r"write \?adapt=ap or \?adapt=rp behind it"):
        calibrate(make_agent(trained, "sample=true"))
    with pytest.raises(InputError, match="with the auxiliary loss inverse_dynamics and has its weights, got"):
        calibrate(make_agent(plain, "adapt=ap"))
    with pytest.raises(InputError, match="no calibration for .*, which adapts from its trained weights in"):
        calibrate(make_agent(trained, "adapt=ap&per_episode=true"))
    with pytest.raises(InputError, match="does not adapt itself behind compensating:, got CheckpointAgent"):
        calibrate(load_agent(f"compensating:checkpoint:{trained}?adapt=ap", get_body_task(TASK), 0))
    with pytest.raises(InputError, match="expected a calibration in which .* adapts, got none"):
        make_agent(trained, "adapt=ap").attach(None)
    for options, kind, words in (
        ("adapt=cpc", InputError, "expected adapt=ap or adapt=rp"),
        ("rate=0.1", InputError, "expected adapt=ap or adapt=rp"),
        ("adapt=ap&rate=fast", InputError, "option rate: expected a number, got 'fast'"),
        ("adapt=ap&rate=2", InputError, "expected a rate of 0 to 1"),
        ("adapt=ap&steps=0", InputError, "steps from 1"),
        ("adapt=rp&per_episode=true&keep=x", InputError, "no keep with per_episode"),
        (
            "adapt=rp&per_episode=true&source_policy=true&steps=1&seed=3",
            InputError,
            "no steps or source_policy or seed with per_episode",
        ),
        ("adapt=ap&adapt=rp", InputError, "of a checkpoint as name=value, each once, got 'adapt=rp'"),
        ("sample=true&temperature=0.5", InputError, "expected sample= or temperature=, got both in"),
        ("sample=maybe", InputError, "option sample: expected true or false, got 'maybe'"),
        ("temperature=warm", InputError, "option temperature: expected a number, got 'warm'"),
        ("temperature=inf", InputError, "option temperature: expected a finite number, got 'inf'"),
        ("temperature=-1", InputError, "expected a temperature of at least 0, got -1"),
        ("tempature=1", UnknownNameError, "option of a checkpoint 'tempature'. Did you mean 'temperature'"),
        ("weights=", InputError, "option weights: expected a text, got none"),
        ("map=", InputError, "option map: expected a text, got none"),
    ):
        with pytest.raises(kind, match=words):
            find_checkpoint(f"{trained}?{options}")
    (trained / "heads.safetensors").rename(trained / "moved")
    try:
        with pytest.raises(FileError, match="heads"):
            calibrate(make_agent(trained, "adapt=ap"))
    finally:
        (trained / "moved").rename(trained / "heads.safetensors")


def test_an_oracle_that_stops_lets_the_agent_adapt(trained):
    agent = load_agent(f"oracle-stop:checkpoint:{trained}?adapt=ap", get_body_task(TASK), 0)
    assert calibrate(agent).is_over


def test_nothing_is_learned_of_the_way_to_the_next_episode(trained, monkeypatch):
    """Where memory lasts, the next start is announced like a sub-task, but nobody walked there."""
    learned = []
    monkeypatch.setattr(Adapter, "update", lambda *given: learned.append(given))
    task, agent = get_body_task(TASK), make_agent(trained, "adapt=ap&per_episode=true")
    batch = NavigationBatch(task, 1, 1, agent.sensors, make_worlds(task))
    agent.attach(batch)
    for number, (episode, boundary) in enumerate(
        [("a", Boundary.SCENE), ("a", Boundary.SUBTASK), ("b", Boundary.SUBTASK)]
    ):
        batch.start([0], [make_episodes(3)[number]])
        agent.reset([Start(0, episode, "room", boundary)])
        agent.act(batch.observations, np.ones(1, bool))
    assert len(learned) == 1, "of the step before the sub-task"
