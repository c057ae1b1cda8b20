"""Instruction followers: sizes of the papers, acting as learning, memory of tours, what controls hide."""

from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from navarena.agents.agent import Start  # noqa: E402
from navarena.core.errors import FileError, InputError  # noqa: E402
from navarena.episodes.language.vocabulary import route_vocabulary  # noqa: E402
from navarena.learning.agents.policy_agent import open_checkpoint  # noqa: E402
from navarena.learning.auxiliaries.settings import CPC_ACTION, INVERSE_DYNAMICS  # noqa: E402
from navarena.learning.checkpoints.policies import read_info  # noqa: E402
from navarena.learning.inputs import InputSpec  # noqa: E402
from navarena.learning.networks.follower_settings import PAPER, FollowerSettings  # noqa: E402
from navarena.learning.networks.instructions import (  # noqa: E402
    InstructionEncoder,
    Texts,
    attend_words,
    code_instructions,
)
from navarena.learning.networks.trunks import rename_torchvision  # noqa: E402
from navarena.learning.published.follower_trunks import load_follower_trunks  # noqa: E402
from navarena.learning.published.names import rename_resnet  # noqa: E402
from navarena.learning.recipes.catalog import RECIPES  # noqa: E402
from navarena.learning.settings import HABITAT_DDPPO, PolicySettings, constant  # noqa: E402
from navarena.learning.storage import NO_ACTION, NO_LABEL  # noqa: E402
from navarena.learning.trainings.training import Training  # noqa: E402
from navarena.tasks.catalog import get_body_task  # noqa: E402

from .made import draw_from, make_policy  # noqa: E402
from .test_recipes import mini  # noqa: E402

pytestmark = pytest.mark.learn

RGB, DEPTH = InputSpec("rgb", (64, 64, 3), "uint8"), InputSpec("depth", (64, 64, 1), "float16")
MAP = InputSpec("semantic_map_iterative", (14, 64, 64), "uint8")
TOKENS = InputSpec("instruction_tokens", (200,), "int32")
TINY = FollowerSettings(
    words=20, word_features=6, text_hidden=4, keys=8, depth_values=6, view_features=10, depth_features=7,
    positions=3, map_channels=(4, 6, 8),
)  # fmt: skip


def follower(inputs=(RGB, DEPTH, TOKENS), tour="none", **changes):
    settings = PolicySettings(
        memory="cma",
        hidden=12,
        action_features=5,
        remembers="episode" if tour == "none" else "tour",
        follower=replace(TINY, tour=tour, **changes),
    )
    return make_policy(inputs=inputs, settings=settings)


def instructions(generator, *shape):
    tokens = generator.integers(2, 20, (*shape, 200))
    tokens[np.arange(200) >= generator.integers(1, 9, shape)[..., None]] = 0
    return torch.from_numpy(tokens).int()


def observe(inputs, steps, slots, seed=0, every=3):
    """Random observations (T, N, ...) whose instruction changes every few steps, and is hidden at times."""
    generator = np.random.default_rng(seed)
    tokens = instructions(generator, steps, slots)
    for step in range(steps):
        tokens[step] = tokens[step - step % every]
    tokens[every : 2 * every, 0] = 0
    seen = {"instruction_tokens": tokens}
    for one in inputs:
        shape = (steps, slots, *one.shape)
        if one.dtype == "uint8":
            high = 2 if one.is_map else 256
            seen[one.name] = torch.from_numpy(generator.integers(0, high, shape).astype(np.uint8))
        elif one.dtype == "float16":
            seen[one.name] = torch.from_numpy(generator.random(shape).astype(np.float16))
    return seen


def learned(policy):
    return sum(one.numel() for one in policy.parameters() if one.requires_grad)


def test_paper_sizes_are_those_of_the_papers():
    settings = PolicySettings(memory="cma", hidden=512, follower=PAPER)
    big = {"rgb": (224, 224, 3), "depth": (256, 256, 1)}
    rgb, depth = (InputSpec(name, shape, "float32") for name, shape in big.items())
    critic, monitor = 513, 513
    with torch.device("meta"):
        latent = make_policy(inputs=(rgb, depth, TOKENS), settings=settings)
        mapped = make_policy(inputs=(depth, MAP, TOKENS), settings=settings)
    assert learned(latent) - critic + monitor == 6_153_381, "6.15 million: counted by hand from section 2.1"
    assert learned(mapped) - critic + monitor == 6_447_749, "6.45 million"


def test_small_sizes():
    settings = PolicySettings(memory="cma", hidden=256)
    assert learned(make_policy(inputs=(RGB, DEPTH, TOKENS), settings=settings)) == 1_336_167
    assert FollowerSettings().words == len(route_vocabulary().words)


@pytest.mark.parametrize("tour", ["none", "vision", "both", "pool", "pool_end"])
@pytest.mark.parametrize("inputs", [(RGB, DEPTH, TOKENS), (DEPTH, MAP, TOKENS)], ids=["images", "maps"])
def test_acting_and_evaluating_agree(tour, inputs):
    policy, steps, slots = follower(inputs, tour), 7, 4
    seen = observe(inputs, steps, slots)
    generator = np.random.default_rng(1)
    mask = torch.from_numpy(generator.random((steps, slots)) > 0.3)
    first = {
        name: torch.from_numpy(generator.random(value.shape)).to(value.dtype)
        for name, value in policy.initial_state(slots).items()
    }
    state, actions, log_probs, values = first, [], [], []
    with torch.no_grad():
        for step in range(steps):
            one = {name: value[step] for name, value in seen.items()}
            decision = policy.act(one, state, mask[step], draw_from(generator))
            state = decision.state
            actions.append(decision.actions)
            log_probs.append(decision.log_probs)
            values.append(decision.values)
    judged = policy.evaluate_sequence(seen, torch.stack(actions), first, mask)
    found = judged.distribution.log_prob(torch.stack(actions))
    torch.testing.assert_close(found, torch.stack(log_probs), atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(judged.values, torch.stack(values), atol=1e-5, rtol=1e-5)
    assert set(judged.state) == set(state)
    for name, value in state.items():
        torch.testing.assert_close(judged.state[name], value, atol=1e-5, rtol=1e-5)
    judged.values.sum().backward()
    assert all(
        one.grad is not None and bool(one.grad.isfinite().all())
        for name, one in policy.named_parameters()
        if one.requires_grad and not name.startswith("head")
    )


def run_tours(tour, change):
    """Outputs of a policy over two episodes of a tour, of which `change` alters the first one's images."""
    policy, inputs = follower(tour=tour), (RGB, DEPTH, TOKENS)
    seen = observe(inputs, 6, 1, every=3)
    seen["instruction_tokens"][3:] = seen["instruction_tokens"][0].flip(-1).roll(3, -1)
    if change:
        seen["rgb"][1] = 255 - seen["rgb"][1]
    mask = torch.tensor([[False], *[[True]] * 5])  # the second episode shows by its instruction alone
    policy.eval()
    with torch.no_grad():
        actions = torch.zeros(6, 1, dtype=torch.int64)
        judged = policy.evaluate_sequence(seen, actions, policy.initial_state(1), mask)
    return judged.values[3:], judged.state


@pytest.mark.parametrize("tour", ["none", "vision", "both", "pool", "pool_end"])
def test_what_outlasts_an_episode(tour):
    (before, state), (after, changed) = run_tours(tour, False), run_tours(tour, True)
    remembers = not torch.equal(before, after)
    assert remembers == (tour != "none")
    if "pool" in state:
        assert bool((state["pool"] >= 0).all()), "greatest values begin at 0"
        assert not torch.equal(state["pool"], changed["pool"])


@pytest.mark.parametrize("blank", [(), ("instruction",)], ids=["told", "blanked"])
@pytest.mark.parametrize("tour", ["none", "pool", "pool_end"])
def test_pools_hold_single_images_where_an_oracle_leads(tour, blank):
    """What the oracle saw before does not change the state at its next step, unless nobody is ever told."""
    policy = follower(tour=tour, blank=blank).eval()
    states = []
    for change in (False, True):
        seen = observe((RGB, DEPTH, TOKENS), 3, 1)
        seen["instruction_tokens"][:] = 0
        if change:
            seen["rgb"][1] = 255 - seen["rgb"][1]
        state = policy.initial_state(1)
        if "pool" in state:  # greater than all that is seen, so that the states alone can tell
            state["pool"] += 1
        with torch.no_grad():
            mask = torch.ones(3, 1, dtype=torch.bool)
            judged = policy.evaluate_sequence(seen, torch.zeros(3, 1, dtype=torch.int64), state, mask)
        states.append(judged.state["vision"])
    assert torch.equal(*states) == (tour != "none" and not blank)


def test_words_are_weighted_as_by_a_loop():
    generator = torch.Generator().manual_seed(0)
    words, keys = torch.randn(3, 5, 4, generator=generator), torch.randn(3, 5, 6, generator=generator)
    lengths, rows = torch.tensor([5, 2, 0]), torch.tensor([1, 0, 2, 1, 1])
    words = words * (torch.arange(5) < lengths[:, None])[..., None]
    queries = torch.randn(5, 6, generator=generator)
    found = attend_words(queries, keys, Texts(words, lengths, rows))
    for step, row in enumerate(rows.tolist()):
        length = int(lengths[row])
        weights = (keys[row, :length] @ queries[step] / 6**0.5).softmax(0)
        torch.testing.assert_close(found[step], weights @ words[row, :length])


def test_instructions_are_read_alike_alone_and_together():
    torch.manual_seed(0)
    encoder = InstructionEncoder(TINY)
    tokens = instructions(np.random.default_rng(0), 6).long()
    tokens[4], tokens[5] = tokens[1], 0
    codes = code_instructions(tokens)
    assert codes[4] == codes[1] and codes[5] == 0 and len(set(codes.tolist())) == 5
    together = encoder(tokens, codes)
    with torch.no_grad():
        alone = encoder(tokens, codes)
        again = encoder(tokens[:1], codes[:1])
    torch.testing.assert_close(together.words.detach(), alone.words)
    assert together.lengths.tolist() == alone.lengths.tolist()
    assert torch.equal(again.words[0], alone.words[alone.rows[0], : again.words.shape[1]])
    with torch.no_grad():
        encoder.embedding.weight.add_(1.0)
        changed = encoder(tokens[:1], codes[:1])
    assert not torch.allclose(again.words, changed.words), "new weights read anew"


@pytest.mark.parametrize(
    ("blank", "hidden", "seen"),
    [
        ("instruction", "instruction_tokens", "rgb"),
        ("vision", "rgb", "instruction_tokens"),
        ("occupancy", "occupied", "classes"),
        ("semantics", "classes", "occupied"),
    ],
)
def test_controls_do_not_see_what_is_blank(blank, hidden, seen):
    of_map = blank in ("occupancy", "semantics")
    inputs = (DEPTH, MAP, TOKENS) if of_map else (RGB, DEPTH, TOKENS)
    policy = follower(inputs, blank=(blank,))
    mask, actions = torch.zeros(1, 2, dtype=torch.bool), torch.zeros(1, 2, dtype=torch.int64)

    def judge(changed):
        given = observe(inputs, 1, 2)
        if changed == "instruction_tokens":
            given[changed] = (given[changed] + 1) % 20
        elif changed == "rgb":
            given[changed] = 255 - given[changed]
        elif changed:
            planes = slice(0, 1) if changed == "occupied" else slice(1, 14)
            given[MAP.name][:, :, planes] = 1 - given[MAP.name][:, :, planes]
        with torch.no_grad():
            return policy.evaluate_sequence(given, actions, policy.initial_state(2), mask).values

    assert torch.equal(judge(hidden), judge(""))
    assert not torch.equal(judge(seen), judge(""))


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: follower((RGB, DEPTH)), "expected instruction_tokens and images or maps"),
        (lambda: follower((TOKENS,)), "expected instruction_tokens and images or maps"),
        (lambda: follower((DEPTH, replace(MAP, shape=(14, 48, 48)), TOKENS)), "square map of 32 cells"),
        (lambda: follower((MAP, TOKENS), map_side=64), "as many map_channels as leave 4 x 4"),
        (lambda: FollowerSettings(map_side=48), "map_side of 32 or 64"),
        (lambda: PolicySettings(memory="cma", remembers="tour"), "remembers=tour with follower.tour"),
    ],
)
def test_bad_settings_are_refused(build, message):
    with pytest.raises(InputError, match=message):
        build()


@pytest.mark.parametrize("times", [1, 2, 4])
def test_maps_are_shrunk_and_halved_as_by_torch(times):
    spec = replace(MAP, shape=(14, 32 * times, 32 * times))
    network = follower((DEPTH, spec, TOKENS)).encoder.networks[MAP.name]
    maps = (torch.rand(3, *spec.shape) < 0.2).to(torch.uint8)
    values = torch.nn.functional.max_pool2d(maps.float(), times)
    for layer in network.layers:
        if isinstance(layer, torch.nn.Conv2d | torch.nn.GroupNorm | torch.nn.ReLU):
            values = layer(values)
        else:
            values = torch.nn.functional.avg_pool2d(values, 2)
    torch.testing.assert_close(network(maps), values)


def test_words_of_a_larger_vocabulary_are_refused():
    policy, given = follower(), observe((RGB, DEPTH, TOKENS), 1, 2)
    given["instruction_tokens"][0, 1, 0] = 20
    one = {name: value[0] for name, value in given.items()}
    with pytest.raises(InputError, match="below 20, got 20: the instruction is of another vocabulary"):
        policy.act(one, policy.initial_state(2), torch.zeros(2, dtype=torch.bool))


@pytest.mark.parametrize(
    "name",
    [
        "cma-small",
        "map-cma-small",
        "map-cma-64-small",
        "tour-cma-small",
        "pool-cma-small",
        "pool-end-cma-small",
    ],
)
def test_recipes_start(tmp_path, name):
    training = Training(mini(RECIPES.get(name), slots=4, steps=4), tmp_path)
    rows = []
    training.run(rows.append)
    training.close()
    assert np.isfinite(rows[-1]["gradient_norm"]) and rows[-1]["frames"] == 32
    assert 0.0 <= rows[-1]["agreement"] <= 1.0 and np.isfinite(rows[-1]["progress_loss"])
    info = read_info(tmp_path)
    assert info.privileged_sensors == (("semantic_map_iterative",) if name.startswith("map") else ())
    assert info.vocabulary == route_vocabulary().words


def test_where_an_oracle_leads_nothing_is_learned(tmp_path):
    recipe = mini(RECIPES.get("map-cma-small"), slots=4, steps=48, updates=1)
    recipe = replace(recipe, method=replace(recipe.method, veto=0.0, teacher_share=constant(0.0)))
    recipe = replace(recipe, declaration_bias=9.0)  # every episode ends at once
    training = Training(recipe, tmp_path)
    training.run()
    rollout, hidden = training._rollout, 0
    for step in range(1, 48):
        led = ~rollout.observations["instruction_tokens"][step].any(-1)
        hidden += int(led.sum())
        assert torch.equal(led, rollout.labels[step] == NO_LABEL)
    training.close()
    assert hidden > 10


def test_choices_that_an_oracle_overrules_are_neither_learned_nor_remembered(tmp_path):
    """By PPO, with losses that predict actions; the agent of the checkpoint remembers none either."""
    recipe = mini(RECIPES.get("tour-cma-small"), slots=4, steps=48, updates=1)
    method = replace(HABITAT_DDPPO, minibatches=1, epochs=1, auxiliaries=(INVERSE_DYNAMICS, CPC_ACTION))
    recipe = replace(recipe, method=method, targets=(), declaration_bias=9.0)  # every episode ends at once
    with closing(Training(recipe, tmp_path)) as training:
        rows = []
        training.run(rows.append)
        rollout = training._rollout
    led = ~rollout.observations["instruction_tokens"].any(-1)
    assert led.sum() > 10 and torch.equal(rollout.actions == NO_ACTION, led)
    assert torch.equal(rollout.counted, ~led) and rows[-1]["frames"] == 4 * 48
    assert rows[-1]["ratio_error"] < 1e-3, "acting and learning have the same previous actions"
    agent = open_checkpoint(tmp_path)(get_body_task("ir2r-ce-v1"), 0)
    agent.reset([Start(slot, str(slot), "house") for slot in range(2)])
    seen = {one.name: np.zeros((2, *one.shape), one.dtype) for one in agent.info.inputs}
    actions = agent.act(seen | {"phase": np.array([0, 1])}, np.ones(2, bool))
    assert agent._state["previous_action"].tolist() == [actions[0] + 1, 0]


def test_frozen_networks_come_from_files(tmp_path):
    big = (InputSpec("rgb", (224, 224, 3), "uint8"), InputSpec("depth", (256, 256, 1), "float16"), TOKENS)
    settings = PolicySettings(memory="cma", hidden=8, follower=replace(TINY, images="resnet50"))
    ours, theirs = (make_policy(inputs=big, settings=settings, seed=seed) for seed in (0, 1))
    rgb, depth = (theirs.encoder.networks[name].state_dict() for name in ("rgb", "depth"))
    names = {key: rename_torchvision(key.removeprefix("trunk.")) for key in rgb}
    assert {"conv1.weight", "layer4.2.conv3.weight", "layer2.0.downsample.1.running_var"} <= set(
        names.values()
    )
    torch.save(
        {names[key]: value for key, value in rgb.items()} | {"fc.bias": torch.zeros(3)}, tmp_path / "rgb"
    )
    named = {}
    for key, value in depth.items():
        inner = f"backbone.{rename_resnet(key[6:])}" if key.startswith("trunk.") else key
        named[f"actor_critic.net.visual_encoder.{inner}"] = value
    torch.save({"state_dict": named | {"actor_critic.critic.fc.bias": torch.zeros(1)}}, tmp_path / "depth")
    files = replace(settings.follower, rgb_trunk=str(tmp_path / "rgb"), depth_trunk=str(tmp_path / "depth"))
    load_follower_trunks(ours, replace(settings, follower=files))
    for name in ("rgb", "depth"):
        found = ours.encoder.networks[name].state_dict()
        expected = theirs.encoder.networks[name].state_dict()
        assert all(torch.equal(found[key], expected[key]) for key in expected)
    with pytest.raises(InputError, match="got memory=cma with images=small, which reads no file"):
        load_follower_trunks(ours, replace(settings, follower=FollowerSettings(rgb_trunk="file")))
    with pytest.raises(InputError, match=r"policy.follower.rgb_trunk=FILE"):
        load_follower_trunks(ours, settings)
    with pytest.raises(FileError, match="is missing"):
        load_follower_trunks(ours, replace(settings, follower=replace(files, depth_trunk=files.rgb_trunk)))
