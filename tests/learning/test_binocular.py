"""Policies that read colours and the goal's image by a binocular network: effects, kept goals, errors."""

import re
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from navarena.agents.loading import load_agent  # noqa: E402
from navarena.cli.main import main  # noqa: E402
from navarena.core.errors import FileError, InputError  # noqa: E402
from navarena.learning.checkpoints.files import MODEL  # noqa: E402
from navarena.learning.checkpoints.fitted import save_fitted  # noqa: E402
from navarena.learning.checkpoints.policies import load_policy  # noqa: E402
from navarena.learning.cross_view.checkpoint import CrossViewInfo, load_binocular  # noqa: E402
from navarena.learning.cross_view.settings import ViewPairSettings  # noqa: E402
from navarena.learning.inputs import InputSpec, choose_inputs  # noqa: E402
from navarena.learning.networks.binocular import BinocularNetwork  # noqa: E402
from navarena.learning.networks.binocular_settings import BinocularSettings  # noqa: E402
from navarena.learning.networks.encoder_settings import EncoderSettings  # noqa: E402
from navarena.learning.recipes import goat as module  # noqa: E402
from navarena.learning.recipes.catalog import RECIPES  # noqa: E402
from navarena.learning.settings import PolicySettings  # noqa: E402
from navarena.learning.trainings.setup import FIRST  # noqa: E402
from navarena.learning.trainings.training import Training  # noqa: E402
from navarena.simulation.sensors.sensor import ObservationSpec  # noqa: E402
from navarena.tasks.catalog import get_body_task  # noqa: E402

from .made import draw_input, fill_rollout, make_policy, shorten  # noqa: E402

pytestmark = pytest.mark.learn

INPUTS = (
    InputSpec("rgb", (64, 36, 3), "uint8"),
    InputSpec("depth", (64, 36, 1), "float16"),
    InputSpec("image_goal", (64, 64, 3), "uint8"),
    InputSpec("compass", (1,), "float32"),
)
SIZES = BinocularSettings(width=24, layers=1, crossings=1, heads=2, expansion=2)
ENCODER = EncoderSettings(binocular="random", binocular_network=SIZES)
SETTINGS = PolicySettings(hidden=16, image_features=16, number_features=8, action_features=4, encoder=ENCODER)
FROZEN = replace(SETTINGS, encoder=replace(ENCODER, frozen_binocular=True))


def see(slots=8, seed=0):
    generator = np.random.default_rng(seed)
    return {one.name: torch.from_numpy(draw_input(one, slots, generator)) for one in INPUTS}


def count_encoded(policy, monkeypatch):
    """Sizes of the batches of goals that are encoded from now on."""
    found, encode = [], policy.encoder.binocular.encode

    def note(images, visible=None):
        if images.shape[2] == 64:
            found.append(len(images))
        return encode(images, visible)

    monkeypatch.setattr(policy.encoder.binocular, "encode", note)
    return found


@pytest.mark.parametrize("settings", [SETTINGS, FROZEN], ids=["learned", "frozen"])
def test_another_goal_changes_what_the_policy_does(settings):
    policy, seen = make_policy(inputs=INPUTS, settings=settings), see()
    state, mask = policy.initial_state(8), torch.zeros(8, dtype=torch.bool)
    with torch.inference_mode():
        first, same = (policy.act(seen, state, mask) for _ in range(2))
        flipped = policy.act(seen | {"image_goal": seen["image_goal"].flip(2)}, state, mask)
        one_more = seen | {"image_goal": seen["image_goal"].clone()}
        one_more["image_goal"][3, 0, 0, 0] ^= 128
        changed = policy.act(one_more, state, mask)
    assert torch.equal(first.values, same.values)
    assert (first.values != flipped.values).all()
    assert (first.values != changed.values).tolist() == [k == 3 for k in range(8)]


@pytest.mark.parametrize("settings", [SETTINGS, FROZEN], ids=["learned", "frozen"])
def test_acting_is_evaluating(settings):
    policy = make_policy(inputs=INPUTS, settings=settings)
    rollout = fill_rollout(policy, steps=4, slots=8, inputs=INPUTS)
    judged = policy.evaluate_sequence(rollout.observations, rollout.actions, rollout.state, rollout.mask)
    torch.testing.assert_close(judged.values, rollout.values, rtol=1e-5, atol=1e-5)
    log_probs = judged.distribution.log_prob(rollout.actions)
    torch.testing.assert_close(log_probs, rollout.log_probs, rtol=1e-5, atol=1e-5)
    (log_probs.mean() + judged.values.mean()).backward()
    crossing = policy.encoder.binocular.crossings[0].attentions[1].memory.weight
    learns = settings is SETTINGS
    assert crossing.requires_grad == learns
    assert (crossing.grad is not None and crossing.grad.abs().max() > 0) == learns
    assert policy.encoder.compression[0].weight.grad.abs().max() > 0


def test_frozen_tokens_are_computed_once():
    policy, seen = make_policy(inputs=INPUTS, settings=FROZEN), see()
    (spec,) = policy.frozen
    stored = policy.see_frozen(seen)
    assert spec.name == "rgb.frozen" and stored[spec.name].shape == (8, *spec.shape)
    with torch.inference_mode():
        whole = policy.encoder(seen)
        without = policy.encoder({k: v for k, v in (seen | stored).items() if k not in ("image_goal",)})
    assert torch.equal(whole, without)
    assert make_policy(inputs=INPUTS, settings=SETTINGS).frozen == ()


def test_a_goal_is_encoded_once_while_the_weights_stay(monkeypatch):
    policy, seen = make_policy(inputs=INPUTS, settings=SETTINGS), see()
    encoded = count_encoded(policy, monkeypatch)
    seen["image_goal"][4:] = seen["image_goal"][:4]
    with torch.inference_mode():
        first, again = policy.encoder(seen), policy.encoder(seen)
    assert encoded == [4] and torch.equal(first, again)
    other = seen | {"image_goal": see(seed=1)["image_goal"]}
    other["image_goal"][:6] = seen["image_goal"][:6]
    with torch.inference_mode():
        mixed = policy.encoder(other)
    assert encoded == [4, 2] and torch.equal(mixed[:6], first[:6])
    same = make_policy(inputs=INPUTS, settings=SETTINGS)
    with torch.inference_mode():
        fresh = same.encoder(other)
    assert torch.equal(fresh, mixed), "the same bits, whatever else is encoded beside"
    optimiser = torch.optim.Adam(policy.parameters(), 0.01)
    policy.encoder(seen).sum().backward()
    assert encoded == [4, 2, 4], "learning encodes equal goals once"
    optimiser.step()
    with torch.inference_mode():
        assert not torch.equal(policy.encoder(seen), first)
    assert encoded == [4, 2, 4, 4]


def test_a_narrow_image_is_the_middle_of_a_square():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        network = BinocularNetwork(SIZES)
    square = see()["image_goal"]
    narrow = square[:, :, 14:50]
    middle = torch.tensor([8 * row + column for row in range(8) for column in range(2, 6)])
    with torch.inference_mode():
        alone = network.encode(narrow)
        among = network.encode(square, middle.expand(8, -1))
        assert alone.shape == (8, 32, 24) and network.encode(square[:, :, 10:54]).shape == (8, 48, 24)
        margin = square[:, :, 8:56].clone()
        margin[:, :, :2] = margin[:, :, 46:] = 127
        assert torch.equal(network.encode(square[:, :, 10:54]), network.encode(margin))
    torch.testing.assert_close(alone, among)


def save_network(folder, sizes=SIZES, seed=5):
    info = CrossViewInfo(
        protocol="instance-imagenav-v1", recipe={}, pairs=ViewPairSettings(), network=sizes, masked=0.9
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        network = info.build()
    save_fitted(folder, info, network)
    return network.binocular


def test_weights_come_from_a_folder(tmp_path):
    network = save_network(tmp_path / "good")
    policy = make_policy(inputs=INPUTS, settings=SETTINGS)
    own = policy.encoder.others.state_dict()
    load_binocular(policy, replace(ENCODER, binocular=str(tmp_path / "good")))
    for name, value in network.state_dict().items():
        assert torch.equal(policy.encoder.binocular.state_dict()[name], value)
    assert all(torch.equal(value, own[name]) for name, value in policy.encoder.others.state_dict().items())
    with pytest.raises(
        FileError, match=r"a cross-view completion in .*none.*navarena train cross-view-small"
    ):
        load_binocular(policy, replace(ENCODER, binocular=str(tmp_path / "none")))
    save_network(tmp_path / "small", replace(SIZES, side=48))
    with pytest.raises(
        InputError, match=r"side=64 in .*small, got side=48; --set policy.encoder.binocular_n"
    ):
        load_binocular(policy, replace(ENCODER, binocular=str(tmp_path / "small")))
    (tmp_path / "good" / MODEL).unlink()
    with pytest.raises(FileError, match=MODEL):
        load_binocular(policy, replace(ENCODER, binocular=str(tmp_path / "good")))


def test_bad_inputs_are_one_line(tmp_path, capsys):
    def refuse(match, inputs):
        with pytest.raises(InputError, match=match):
            make_policy(inputs=inputs, settings=SETTINGS)

    refuse("rgb and image_goal among the sensors of a binocular encoder, got rgb, depth", INPUTS[:2])
    small = tuple(replace(one, shape=(32, 32, 3)) for one in (INPUTS[0], INPUTS[2]))
    refuse("longer side has the 64 pixels .* got 32 x 32; .* --set network.side=32", small)
    with pytest.raises(InputError, match="images=small and numbers=joined beside binocular"):
        replace(ENCODER, images="multion", numbers="embedded")
    command = ["train", "instance-imagenav-binocular-dagger-small", "--out", str(tmp_path), "--quiet"]
    assert main([*command, "--protocol", "ovon-v1+max_steps=300"]) == 2
    told = capsys.readouterr().err.strip()
    assert "got ovon-v1" in told and told.endswith("choose it by --protocol, or other sensors")
    assert len(told.splitlines()) == 1


def test_images_of_goals_stay_square():
    specs = {
        "rgb": ObservationSpec((640, 360, 3), np.uint8, 0, 255),
        "image_goal": ObservationSpec((512, 512, 3), np.uint8, 0, 255),
    }
    rgb, goal = choose_inputs(specs, ("rgb", "image_goal"), (64, 36))
    assert rgb.shape == (64, 36, 3) and goal.shape == (64, 64, 3)
    with pytest.raises(InputError, match="image_goal of at least 640 x 640"):
        choose_inputs(specs, ("image_goal",), (640, 360))


def mini(recipe, folder, updates=2):
    encoder = replace(recipe.policy.encoder, binocular=str(folder))
    return replace(shorten(recipe, updates), policy=replace(recipe.policy, encoder=encoder))


@pytest.mark.slow
def test_recipes_start_from_it_and_act(tmp_path):
    network = save_network(tmp_path / "network", BinocularSettings())
    recipe = mini(RECIPES.get("instance-imagenav-binocular-small"), tmp_path / "network")
    first = mini(recipe.make_first()[1], tmp_path / "network", 1)
    with closing(Training(first, tmp_path / "run" / FIRST)) as before:
        begun = before._policy.encoder.binocular.state_dict()
        assert all(torch.equal(begun[name], value) for name, value in network.state_dict().items())
        before.run()
    rows = []
    with closing(Training(recipe, tmp_path / "run")) as training:
        count = sum(one.numel() for one in training._policy.parameters())
        training.run(rows.append)
    documented = re.search(r"goal's image itself.*?([\d,]+) parameters", module.__doc__, re.DOTALL).group(1)
    assert count == int(documented.replace(",", ""))
    assert f"{sum(one.numel() for one in network.parameters()):,}" in module.__doc__
    assert np.isfinite(rows[-1]["gradient_norm"]) and rows[-1]["frames"] == 16
    _, policy = load_policy(tmp_path / "run")
    assert any(
        not torch.equal(policy.encoder.binocular.state_dict()[name], value)
        for name, value in network.state_dict().items()
    ), "it learns"
    task = get_body_task("instance-imagenav-v1")
    agent = load_agent(f"checkpoint:{tmp_path / 'run'}", task)
    assert not agent.privileged and {"rgb", "image_goal"} <= set(agent.sensors)
    with pytest.raises(InputError, match="whose goals are images for image_goal, .* got ovon-v1"):
        load_agent(f"checkpoint:{tmp_path / 'run'}", get_body_task("ovon-v1"))
