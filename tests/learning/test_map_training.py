"""Agents with neural maps: parameters, updates, trainings that go on bit for bit, play alike in any batch."""

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from navarena.agents.agent import Boundary, Start  # noqa: E402
from navarena.agents.loading import load_agent  # noqa: E402
from navarena.core.errors import InputError  # noqa: E402
from navarena.episodes.episode import Episode  # noqa: E402
from navarena.episodes.goals import MultiGoal, ObjectInstance  # noqa: E402
from navarena.learning.auxiliaries.heads import AuxiliaryHeads, judge_fragment  # noqa: E402
from navarena.learning.auxiliaries.settings import SEEN_CLASS  # noqa: E402
from navarena.learning.checkpoints.files import MODEL  # noqa: E402
from navarena.learning.checkpoints.selection import TrainingEvaluationSettings  # noqa: E402
from navarena.learning.inputs import InputSpec  # noqa: E402
from navarena.learning.trainings.setup import make_training_task  # noqa: E402
from navarena.learning.trainings.training import Training  # noqa: E402
from navarena.learning.trainings.updates import make_optimiser, update_ppo  # noqa: E402
from navarena.simulation.world import World, WorldCache  # noqa: E402
from navarena.tasks.catalog import get_body_task  # noqa: E402
from worlds import HALL, draw_navmesh, draw_scene  # noqa: E402

from .made import fill_rollout, make_policy  # noqa: E402
from .papers import count_trained, get_recipe, paper_inputs, paper_policy  # noqa: E402
from .test_map_memories import INPUTS, settings_of  # noqa: E402
from .test_training import same, stop_after  # noqa: E402

pytestmark = pytest.mark.learn

TARGET = InputSpec("nearest_seen_class", (1,), "int32")
TINY = {"slots": 4, "steps": 4, "scenes": 1, "frames": 64, "save_updates": 2, "log_updates": 1}


@pytest.mark.parametrize(
    "name, count",
    [
        ("multion-proj-neural-map-paper", 15_348_613),
        # a query of 33 numbers of memory and window, and heads that see 34 more
        ("multion-ego-map-paper", 15_348_613 + (512 + 256 + 1) * 33 + 34 * 5),
        # OracleEgoMap of the code, a table of 9 for 10 and the classifier
        ("multion-obj-recog-map-paper", 20_248_389 - 16 + (512 + 1) * 9),
    ],
)
def test_parameters_are_as_many_as_the_papers(name, count):
    assert count_trained(paper_policy(get_recipe(name))) == count


@pytest.mark.parametrize("name", ["multion-proj-neural-map-paper", "multion-ego-map-paper"])
def test_first_update_at_the_papers_sizes(name):
    recipe = get_recipe(name)
    small = replace(recipe.policy, neural_map=replace(recipe.policy.neural_map, cells=61))
    recipe = replace(recipe, policy=small)  # the map's extent changes no weight
    policy = paper_policy(recipe)
    rollout = fill_rollout(policy, 2, 2, inputs=paper_inputs(recipe))
    before = {key: value.clone() for key, value in policy.state_dict().items()}
    settings = replace(recipe.method, epochs=1, minibatches=1)
    optimiser = make_optimiser(policy, settings.optimiser)
    row = update_ppo(policy, optimiser, rollout, settings, 0.0, np.random.default_rng(0))
    assert row["ratio_error"] < 1e-5 and np.isfinite(list(row.values())).all()
    unmoved = [key for key, value in policy.state_dict().items() if torch.equal(value, before[key])]
    assert all("bias" in key for key in unmoved), f"these learned nothing: {unmoved}"


def test_the_classifier_learns_what_is_seen_and_nothing_else_does_it():
    """Its loss is the cross-entropy over all steps; without the loss it gets no gradient."""
    policy = make_policy(inputs=INPUTS, settings=settings_of("recognised"))
    rollout = fill_rollout(policy, 3, 4, inputs=(*INPUTS, TARGET))
    rollout.observations["nearest_seen_class"].copy_(torch.arange(12).reshape(3, 4, 1) % 9)
    judge = policy.encoder.classifier
    part, generator = rollout.fragment(), np.random.default_rng(0)
    judged, beside, noted = judge_fragment(policy, part, generator)
    (judged.values.sum() + judged.distribution.entropy().sum()).backward()
    assert float(beside) == 0.0 and not noted and judge.weight.grad is None
    policy.auxiliaries = AuxiliaryHeads(policy, (SEEN_CLASS,), INPUTS, (TARGET,), 4, 0)
    assert not list(policy.auxiliaries.parameters()), "the classifier is the policy's own"
    _, beside, noted = judge_fragment(policy, part, generator)
    with torch.no_grad():
        seen = {name: value.flatten(0, 1) for name, value in part.observations.items()}
        images = torch.cat((seen["rgb"].float() / 255, seen["depth"].float()), 3)
        shares = torch.log_softmax(judge(policy.encoder.image_encoder([images])), 1).numpy()
    expected = -np.mean([shares[k, k % 9] for k in range(12)])
    assert noted["seen_class_loss"] == pytest.approx(expected, rel=1e-4)
    assert float(beside.detach()) == pytest.approx(0.25 * expected, rel=1e-4)
    beside.backward()
    assert judge.weight.grad.any()
    plain = make_policy(inputs=INPUTS, settings=settings_of("projected"))
    with pytest.raises(InputError, match=r"neural_map\.kind=recognised for seen_class"):
        AuxiliaryHeads(plain, (SEEN_CLASS,), INPUTS, (TARGET,), 4, 0)


def make_training(folder, name, **changes):
    """The recipe `name`, tiny, in a hall where two cylinders stand."""
    recipe = get_recipe(name)
    policy = replace(recipe.policy, hidden=16, image_features=16)
    recipe = replace(
        recipe,
        protocol=recipe.protocol.replace("3on", "2on").replace("max_steps=500", "max_steps=7"),
        policy=policy,
        method=replace(recipe.method, minibatches=2, epochs=1),
        precision="float32",
        image_size=(36, 36),
        evaluation=TrainingEvaluationSettings(updates=0),
        **TINY | changes,
    )
    worlds = WorldCache(make_training_task(recipe).embodiment)
    worlds.add(World.of(draw_scene(HALL, scene_id="hall"), draw_navmesh(HALL)))
    generator, episodes = np.random.default_rng(1), []
    for number in range(12):
        x, z, *places = generator.uniform(1, 9, 6).tolist()
        goals = tuple(
            ObjectInstance(str(k), f"cylinder_{color}", (places[2 * k], 0.0, places[2 * k + 1]))
            for k, color in enumerate(("red", "green"))
        )
        yaw = float(generator.uniform(-3, 3))
        episodes.append(Episode(str(number), "hall", (x, 0.0, z), yaw, MultiGoal(goals), None))
    return Training(replace(recipe, first=""), folder, episodes=episodes, worlds=worlds)


@pytest.mark.parametrize(
    "name",
    ["multion-proj-neural-map-small", "multion-ego-map-small", "multion-obj-recog-map-small"],
)
def test_resumed_training_goes_on_bit_for_bit(tmp_path, name):
    whole, rows = make_training(tmp_path / "whole", name), []
    whole.run(rows.append)
    assert rows[1]["ratio_error"] < 1e-4 and rows[-1]["frames"] == 64
    assert ("seen_class_loss" in rows[0]) == ("recog" in name)
    stopped = make_training(tmp_path / "stopped", name)
    with pytest.raises(KeyboardInterrupt):
        stopped.run(stop_after(3))  # the checkpoint is of the second update
    again = make_training(tmp_path / "stopped", name)
    assert again.frames == 32
    again.run()
    assert same(whole._policy.state_dict(), again._policy.state_dict())
    assert (tmp_path / "whole" / MODEL).read_bytes() == (tmp_path / "stopped" / MODEL).read_bytes()


@pytest.mark.parametrize("name", ["multion-proj-neural-map-small", "multion-obj-recog-map-small"])
def test_actions_are_equal_in_any_batch(tmp_path, name):
    """Each episode shows what its number says; slots, order and neighbours must not matter."""
    training = make_training(tmp_path, name, frames=16)
    training.run()
    task = get_body_task(get_recipe(name).protocol.replace("3on", "2on").replace("=500", "=7"))
    count, steps, generator = 20, 4, np.random.default_rng(0)
    seen = {
        "rgb": generator.integers(0, 256, (steps, count, 36, 36, 3)).astype(np.uint8),
        "depth": generator.random((steps, count, 36, 36, 1), np.float32),
        "multiobjectgoal": generator.integers(0, 8, (steps, count, 1)),
        "gps": generator.uniform(-5, 5, (steps, count, 2)).astype(np.float32),
        "compass": generator.uniform(-3, 3, (steps, count, 1)).astype(np.float32),
    }

    def play(slots, order):
        agent = load_agent(f"checkpoint:{tmp_path}?sample=true", task)
        actions = np.full((count, steps), -1)
        for first in range(0, count, slots):
            part = order[first : first + slots]
            agent.reset([Start(slot, str(one), "hall", Boundary.SCENE) for slot, one in enumerate(part)])
            for step in range(steps):
                now = {key: value[step, part] for key, value in seen.items()}
                actions[part, step] = agent.act(now, np.ones(len(part), bool))
        return actions

    expected = play(32, np.arange(count))
    assert len(np.unique(expected)) > 1
    for slots, order in ((3, np.arange(count)[::-1]), (7, generator.permutation(count))):
        np.testing.assert_array_equal(play(slots, order), expected)
