"""Recipes of GOAT-Bench and chains of skills: sizes, a few updates of each, who acts when, bad inputs."""

import re
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from navarena.agents.agent import Boundary, Start  # noqa: E402
from navarena.agents.loading import load_agent  # noqa: E402
from navarena.agents.oracles import OracleStopAgent  # noqa: E402
from navarena.core.errors import FileError, InputError, UnknownNameError  # noqa: E402
from navarena.core.seeding import make_generator  # noqa: E402
from navarena.episodes.encoding.catalog import ENCODERS, find_encoder  # noqa: E402
from navarena.episodes.encoding.encoder import GoalEncoder, unit_rows  # noqa: E402
from navarena.learning.auxiliaries.settings import AugmentationSettings  # noqa: E402
from navarena.learning.inputs import InputSpec  # noqa: E402
from navarena.learning.networks.encoders import scale_goals  # noqa: E402
from navarena.learning.networks.trunks import TRUNK, load_trunk  # noqa: E402
from navarena.learning.policy import RecurrentPolicy  # noqa: E402
from navarena.learning.recipes import goat as module  # noqa: E402
from navarena.learning.recipes.catalog import RECIPES  # noqa: E402
from navarena.learning.trainings.setup import FIRST  # noqa: E402
from navarena.learning.trainings.training import Training  # noqa: E402
from navarena.tasks.catalog import get_body_task  # noqa: E402

from .made import shorten  # noqa: E402

pytestmark = pytest.mark.learn

SKILLS = ("ovon", "languagenav", "instance-imagenav")
NAMES = ("goat-small", "goat-ppo-small", *(f"{one}-small" for one in SKILLS))


class Sketch(GoalEncoder):
    """Any goal as 256 numbers, without weights: letters of a text, colours of an image."""

    name, dimension, sees_images = "sketch", 256, True

    def encode_words(self, texts):
        rows = np.ones((len(texts), 256), np.float32)
        for row, text in zip(rows, texts, strict=True):
            np.add.at(row, np.frombuffer(text.encode(), np.uint8), 1)
        return unit_rows(rows)

    def encode_images(self, images):
        return unit_rows(np.stack([np.bincount(one.ravel(), minlength=256) + 1.0 for one in images]))


@pytest.fixture(autouse=True)
def sketch(monkeypatch):
    monkeypatch.setitem(ENCODERS._objects, "sketch", Sketch)
    find_encoder.cache_clear()
    yield
    find_encoder.cache_clear()


def mini(recipe, updates=2):
    """The recipe, shortened, with goals of Sketch."""
    sensors = tuple("goal_vector:sketch" if "goal_vector" in one else one for one in recipe.sensors)
    return replace(shorten(recipe, updates), sensors=sensors)


def train(folder, recipe):
    if recipe.first:
        with closing(Training(mini(recipe.make_first()[1], 1), folder / FIRST)) as first:
            first.run()
    rows = []
    with closing(Training(mini(recipe), folder)) as training:
        training.run(rows.append)
        known = training._policy.named_parameters()
        count = sum(one.numel() for name, one in known if not name.startswith("auxiliaries."))
    return rows[-1], count


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_recipes_start_and_have_their_size(tmp_path, name):
    row, count = train(tmp_path, RECIPES.get(name))
    assert np.isfinite(row["gradient_norm"]) and row["frames"] == 16
    documented = int(re.search(r"([\d,]+) parameters", module.__doc__).group(1).replace(",", ""))
    assert count == documented - (0 if name.startswith("goat") else 257 + 32)


def test_augmentation_moves_what_losses_predict_too(tmp_path):
    recipe = mini(RECIPES.get("ovon-dagger-small"), 1)
    recipe = replace(recipe, augmentation=AugmentationSettings(shift=0.2))
    with closing(Training(recipe, tmp_path)) as training:
        moved = {one.name for one in training._collector._augmenter._images}
        assert moved == {"rgb", "depth", "goal_mask", "semantic_classes"}
        assert np.isfinite(training.advance()["gradient_norm"])


def test_variable_collection_starts(tmp_path):
    recipe = replace(RECIPES.get("goat-ppo-small"), collection="variable")
    row, _ = train(tmp_path, recipe)
    assert row["frames"] >= 16 and np.isfinite(row["gradient_norm"])


def paper_policy(recipe, **more):
    names = dict(zip(("rgb", "vector", "compass", "gps"), recipe.sensors, strict=True))
    inputs = (
        InputSpec("rgb", (*recipe.image_size, 3), "uint8"),
        InputSpec(names["vector"], (1024,), "float32"),
        InputSpec("compass", (1,), "float32"),
        InputSpec("gps", (2,), "float32"),
    )
    actions = len(get_body_task(recipe.protocol).actions)
    return RecurrentPolicy(inputs, actions, replace(recipe.policy, **more))


def recurrent(gates, inputs, hidden=512):
    return gates * hidden * (inputs + hidden) + 2 * gates * hidden


@pytest.mark.parametrize("memory, gates", [("lstm", 4), ("gru", 3)])
def test_parameters_of_the_paper_by_hand(memory, gates):
    """7.55 million for all goals: what learns beside CLIP's frozen network."""
    policy = paper_policy(RECIPES.get("goat-paper"), memory=memory)
    count = sum(one.numel() for one in policy.parameters() if one.requires_grad)
    ends = 2048 * 512 + 512 + 3 * 32 + 3 * 32 + 8 * 32 + 513 * 7 + 513
    assert count == ends + recurrent(gates, 512 + 1024 + 3 * 32) + recurrent(gates, 512)
    assert memory == "gru" or round(count / 1e6, 2) == 7.55


def test_clip_comes_from_a_local_file(tmp_path):
    recipe = RECIPES.get("goat-paper")
    policy = paper_policy(recipe)
    settings = recipe.policy.encoder
    with pytest.raises(InputError, match="for policy.encoder.trunk, got resnet50, which reads no file"):
        load_trunk(policy, replace(settings, images="resnet50", trunk=str(tmp_path / "none.pt")))
    with pytest.raises(InputError, match="CLIP's RN50, as open_clip stores them.*policy.encoder.trunk=FILE"):
        load_trunk(policy, settings)
    with pytest.raises(FileError, match="which is not there"):
        load_trunk(policy, replace(settings, trunk=str(tmp_path / "none.pt")))
    weights = {k: v for k, v in policy.state_dict().items() if k.startswith(TRUNK)}
    saved = {f"visual.{k.removeprefix(TRUNK)}": v + 1 for k, v in weights.items()}
    saved |= {"visual.attnpool.c_proj.bias": torch.zeros(4), "token_embedding.weight": torch.zeros(4, 2)}
    before = {k: v.clone() for k, v in weights.items()}
    torch.save(saved, tmp_path / "clip.pt")
    load_trunk(policy, replace(settings, trunk=str(tmp_path / "clip.pt")))
    assert all(torch.equal(policy.state_dict()[k], before[k] + 1) for k in before)
    del saved["visual.conv1.weight"]
    torch.save(saved, tmp_path / "clip.pt")
    with pytest.raises(FileError, match="conv1.weight of shape .* is missing"):
        load_trunk(policy, replace(settings, trunk=str(tmp_path / "clip.pt")))


def test_goals_of_one_length():
    vectors = torch.tensor([[3.0, 4.0], [0.0, 0.0]])
    assert scale_goals(vectors, False).tolist() == vectors.tolist()
    length = 2**0.5
    assert scale_goals(vectors, True)[0].tolist() == pytest.approx([0.6 * length, 0.8 * length])
    assert scale_goals(vectors, True)[1].tolist() == [0, 0], "no goal is left"


@pytest.fixture(scope="module")
def skills(tmp_path_factory):
    """Folders of three skills and of one policy for all goals, hardly trained."""
    folder = tmp_path_factory.mktemp("skills")
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(ENCODERS._objects, "sketch", Sketch)
        for name in (*SKILLS, "goat"):
            with closing(Training(mini(RECIPES.get(f"{name}-dagger-small"), 1), folder / name)) as one:
                one.run()
    return folder


def chain_of(skills, names=SKILLS, options="", protocol="goat-v1"):
    text = ",".join(str(skills / name) for name in names)
    return load_agent(f"skill-chain:{text}{options}", get_body_task(protocol))


def see(agent, modality):
    """What N environments observe whose goals have these modalities."""
    generator = make_generator("chain")
    rows = len(modality)
    seen = {
        one.name: generator.integers(0, 3 if one.is_map else 200, (rows, *one.shape)).astype(one.dtype)
        for one in agent._agents[0].info.inputs
    }
    return seen | {"current_subtask": np.array(modality)[:, None]}


def start(agent, slots, boundary=Boundary.SCENE):
    agent.reset([Start(slot, f"episode {slot}", "scene", boundary) for slot in slots])


def test_each_skill_acts_for_its_modality(skills):
    chain = chain_of(skills)
    assert chain.sensors[-1] == "current_subtask" and len(chain.model_sha256) == 64
    start(chain, range(4))
    for agent, action in zip(chain._agents, (0, 1, 2), strict=True):  # stop, move_forward, turn_left
        agent._policy.head.linear.bias.data[action] = 1e4
    seen = see(chain, [0, 1, 2, 0])
    active = np.array([True, True, True, False])
    assert chain.act(seen, active)[:3].tolist() == [6, 1, 2], "a skill's stop ends the sub-task"


def states(agent, slot):
    return {name: value[slot].clone() for name, value in agent._state.items()}


@pytest.mark.parametrize("memory", ["dropped", "carried"])
def test_states_are_dropped_or_carried_at_a_goal(skills, memory):
    chain = chain_of(skills, options=f"?memory={memory}")
    start(chain, [0])
    active = np.ones(1, bool)
    for modality in (0, 0):
        chain.act(see(chain, [modality]), active)
    first, second = chain._agents[:2]
    before = states(first, 0)
    start(chain, [0], Boundary.SUBTASK)
    calls, act = [], second.act

    def watch(observations, active):
        calls.append((bool(second._begun[0]), states(second, 0)))
        return act(observations, active)

    second.act = watch
    chain.act(see(chain, [1]), active)
    begun, found = calls[0]
    assert begun is (memory == "carried")
    if begun:
        assert all(torch.equal(found[name], before[name]) for name in before)
    start(chain, [0], Boundary.EPISODE)
    chain.act(see(chain, [1]), active)
    assert calls[1][0] is False, "nothing outlasts an episode"


def test_an_oracle_stops_in_the_place_of_every_skill(skills):
    chain = chain_of(skills)
    OracleStopAgent(chain, get_body_task("goat-v1"))
    start(chain, range(2))
    for agent in chain._agents:
        agent._policy.head.linear.bias.data[:3] = torch.tensor([2e4, 1e4, 0.0])  # stop, move_forward
    assert chain.act(see(chain, [0, 2]), np.ones(2, bool)).tolist() == [1, 1]
    chain.overrule(np.array([6, 2]))
    first, second, third = (agent._state.get("previous_action") for agent in chain._agents)
    assert (int(first[0]), int(third[1])) == (0 + 1, 2 + 1), "the end of the sub-task is the skill's stop"
    assert second is None or not second.any()


def test_one_policy_may_act_for_all(skills):
    chain = chain_of(skills, ("goat",))
    start(chain, [0])
    assert chain.act(see(chain, [2]), np.ones(1, bool))[0] in range(1, 7)


def test_bad_chains_are_one_error_with_the_remedy(skills, monkeypatch):
    with pytest.raises(InputError, match="expected skill-chain:OBJECT,DESCRIPTION,IMAGE"):
        chain_of(skills, SKILLS[:2])
    with pytest.raises(UnknownNameError, match="value of memory '.*'. Known: carried, dropped"):
        chain_of(skills, options="?memory=kept")
    with pytest.raises(FileError, match="none"):
        chain_of(skills, ("ovon", "none", "ovon"))
    with pytest.raises(InputError, match="expected goat-v1 or one of its skills"):
        chain_of(skills, protocol="pointnav-v1")
    with pytest.raises(InputError, match="policies of one size for memory=carried"):
        chain_of(skills, ("ovon", "goat", "ovon"), "?memory=carried")
    monkeypatch.setattr(Sketch, "dimension", 128)
    find_encoder.cache_clear()
    with pytest.raises(
        InputError, match="expected 256 numbers of goal_vector:sketch, as .* got 128; restore"
    ):
        chain_of(skills)
