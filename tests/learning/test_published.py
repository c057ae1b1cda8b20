"""Published weights: files of the reference code act here as they did there, and wrong ones are named."""

import json
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from navarena.agents.agent import Boundary, Start  # noqa: E402
from navarena.agents.loading import load_agent  # noqa: E402
from navarena.cli.main import main  # noqa: E402
from navarena.core.errors import FileError, InputError, UnknownNameError  # noqa: E402
from navarena.episodes.encoding.catalog import make_encoder  # noqa: E402
from navarena.learning.checkpoints.policies import load_policy  # noqa: E402
from navarena.learning.published.importing import import_checkpoint  # noqa: E402
from navarena.tasks.catalog import get_body_task  # noqa: E402

from .papers import random_observations  # noqa: E402
from .reference_followers import goat_shapes, run_goat, run_vlnce, vlnce_shapes  # noqa: E402
from .reference_networks import (  # noqa: E402
    MULTION_SHAPES,
    habitat_shapes,
    make_weights,
    robustnav_shapes,
    run_habitat,
    run_multion,
    run_robustnav,
    trunk_shapes,
)

pytestmark = pytest.mark.learn


def save(path, weights, state="state_dict", prefix="actor_critic."):
    torch.save({state: {prefix + name: value for name, value in weights.items()}, "steps": 5}, path)
    return path


def compare(folder, reference, begins_with_token=True, stays=()):
    """Two steps of two slots: log-probabilities and values of the checkpoint are the reference's.

    What `stays` names is seen alike in both.
    """
    info, policy = load_policy(folder)
    state, mask = policy.initial_state(2), torch.zeros(2, dtype=torch.bool)
    previous, theirs = torch.zeros(2, dtype=torch.int64), None
    for step in range(2):
        seen = random_observations(info.inputs, 2, seed=step)
        seen |= {name: random_observations(info.inputs, 2)[name] for name in stays}
        with torch.no_grad():
            decision = policy.act(seen, state, mask)
            logits, values, theirs = reference(seen, previous, theirs)
        expected = logits.log_softmax(1).gather(1, decision.actions[:, None])[:, 0]
        torch.testing.assert_close(decision.log_probs, expected, rtol=0, atol=1e-4)
        torch.testing.assert_close(decision.values, values, rtol=1e-4, atol=1e-4)
        assert torch.equal(decision.actions, logits.argmax(1))
        state, mask = decision.state, torch.ones(2, dtype=torch.bool)
        previous = decision.actions + begins_with_token
    return info


def test_multion(tmp_path):
    weights = make_weights(MULTION_SHAPES)
    path = save(tmp_path / "ckpt.0.pth", weights)
    import_checkpoint(path, "multion", tmp_path / "out", "multion-1on-v1")
    info = compare(tmp_path / "out", lambda *seen: run_multion(weights, *seen), begins_with_token=False)
    assert info.recipe["published"]["layout"] == "multion" and info.frames == 0
    assert info.protocol == "multion-1on-v1"


@pytest.mark.parametrize(
    "depth, names, goal", [(50, ("rgb", "depth"), "objectnav"), (18, ("depth",), "pointnav")]
)
def test_habitat(tmp_path, depth, names, goal):
    channels = {"rgb": 3, "depth": 1}
    actions = 6 if goal == "objectnav" else 4
    weights = make_weights(habitat_shapes(depth, sum(channels[one] for one in names), goal, actions))
    import_checkpoint(save(tmp_path / "a.pth", weights), "habitat-ddppo", tmp_path / "out")
    compare(tmp_path / "out", lambda *seen: run_habitat(weights, *seen, names=names))


def test_habitat_with_depth_before_colours(tmp_path):
    weights = make_weights(habitat_shapes(18, 4, "objectnav", 6))
    path = save(tmp_path / "a.pth", weights)
    info = import_checkpoint(path, "habitat-ddppo", tmp_path / "out", is_depth_first=True)
    assert [one.name for one in info.inputs][:2] == ["depth", "rgb"]
    compare(tmp_path / "out", lambda *seen: run_habitat(weights, *seen, names=("depth", "rgb")))


@pytest.mark.parametrize("goal, modalities", [("pointnav", ("rgb",)), ("objectnav", ("rgb", "depth"))])
def test_robustnav(tmp_path, goal, modalities):
    weights = make_weights(robustnav_shapes(goal, 4 if goal == "pointnav" else 6, modalities))
    trunk = make_weights(trunk_shapes(), seed=1)
    torch.save(trunk, tmp_path / "resnet18.pth")
    extra = {"inverse_model.action_predictor.weight": torch.zeros(3, 3136)}
    path = save(tmp_path / "a.pt", weights | extra, "model_state_dict", "")
    import_checkpoint(path, "allenact", tmp_path / "out", trunk=tmp_path / "resnet18.pth")
    compare(tmp_path / "out", lambda seen, _, state: run_robustnav(weights, trunk, seen, modalities, state))
    with pytest.raises(InputError, match="expected --trunk FILE"):
        import_checkpoint(path, "allenact", tmp_path / "out")


@pytest.mark.parametrize("pool, at_end", [(False, False), (True, False), (True, True)])
def test_vlnce(tmp_path, pool, at_end):
    weights = make_weights(vlnce_shapes(pool, at_end))
    import_checkpoint(save(tmp_path / "a.pth", weights, prefix=""), "vlnce", tmp_path / "out")
    info = compare(tmp_path / "out", lambda *seen: run_vlnce(weights, *seen), stays=("instruction_tokens",))
    assert [one.shape for one in info.inputs] == [(224, 224, 3), (256, 256, 1), (200,)]
    assert info.policy.remembers == ("tour" if pool else "episode")
    assert info.policy.follower.tour == ("pool_end" if at_end else "pool" if pool else "none")


WORDS = "goal_vector:words"
DIMENSION = make_encoder("words").dimension


@pytest.mark.parametrize("actions, protocol", [(7, None), (6, "ovon-v1")])
def test_goat(tmp_path, actions, protocol):
    weights = make_weights(goat_shapes(DIMENSION, actions))
    path = save(tmp_path / "a.pth", weights)
    import_checkpoint(path, "goat", tmp_path / "out", protocol, goals="words")
    info = compare(tmp_path / "out", lambda *seen: run_goat(weights, *seen, WORDS))
    assert [(one.name, one.shape) for one in info.inputs] == [
        ("rgb", (640, 360, 3)), (WORDS, (DIMENSION,)), ("compass", (1,)), ("gps", (2,)),
    ]  # fmt: skip
    assert info.policy.temperature == 1 and info.protocol == (protocol or "goat-v1")
    agent = load_agent(f"checkpoint:{tmp_path / 'out'}", get_body_task(info.protocol))
    agent.reset([Start(0, "a", "scene", Boundary.SCENE)])
    seen = {name: value.numpy() for name, value in random_observations(info.inputs, 1).items()}
    assert agent.act(seen, np.ones(1, bool))[0] in range(actions)


def test_goals_of_another_length_and_keys_of_goat_are_named(tmp_path):
    weights = {name: torch.zeros(shape) for name, shape in goat_shapes(1024).items()}
    path = save(tmp_path / "a.pth", weights)
    with pytest.raises(FileError, match=rf"shape \(2048, 1632\) instead of \(2048, {608 + DIMENSION}\)"):
        import_checkpoint(path, "goat", tmp_path / "out", goals="words")
    for layout, goals in (("goat", None), ("multion", "words")):
        with pytest.raises((InputError, FileError), match="expected --goals ENCODER"):
            import_checkpoint(path, layout, tmp_path / "out", goals=goals)
    del weights["net.visual_encoder.backbone.layer4.0.downsample.0.weight"]
    weights["net.visual_encoder.backbone.attnpool.k_proj.bias"] = torch.zeros(2048)
    with pytest.raises(
        FileError, match="downsample.0.weight of shape .* is missing.*attnpool.k_proj.bias is not"
    ):
        import_checkpoint(save(path, weights), "goat", tmp_path / "out", goals="words")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "key, shape, message",
    [
        ("net.text_k.weight", None, r"net.text_k.weight of shape \(256, 256, 1\) is missing"),
        ("net.rgb_kv.weight", (512, 2112), r"net.rgb_kv.weight has shape .* instead of \(512, 2112, 1\)"),
        ("net.rgb_encoder.spatial_embeddings.weight", (64, 64), r"shape \(64, 64\) instead of \(16, 64\)"),
        ("net.waypoint.weight", (3,), "net.waypoint.weight is not known"),
    ],
)
def test_wrong_keys_of_vlnce_are_named(tmp_path, key, shape, message):
    shapes = vlnce_shapes() | {key: shape}
    weights = {name: torch.zeros(one) for name, one in shapes.items() if one is not None}
    with pytest.raises(FileError, match=message):
        import_checkpoint(save(tmp_path / "a.pth", weights, prefix=""), "vlnce", tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "change, message",
    [
        ({"critic.fc.bias": None}, r"critic.fc.bias of shape \(1,\) is missing"),
        ({"net.extra.weight": torch.zeros(3)}, "net.extra.weight is not known"),
        ({"net.goal_embedding.weight": torch.zeros(9, 32)},
         r"net.goal_embedding.weight has shape \(9, 32\) instead of \(8, 32\)"),
        ({"net.goal_embedding.weight": [1.0]}, "expected a tensor as net.goal_embedding.weight"),
    ],
)  # fmt: skip
def test_wrong_keys_are_named(tmp_path, change, message):
    weights = {name: torch.zeros(shape) for name, shape in MULTION_SHAPES.items()} | change
    path = save(tmp_path / "a.pth", {name: value for name, value in weights.items() if value is not None})
    with pytest.raises(FileError, match=message):
        import_checkpoint(path, "multion", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_another_layout_and_another_protocol_are_refused(tmp_path):
    path = save(tmp_path / "a.pth", {name: torch.zeros(shape) for name, shape in MULTION_SHAPES.items()})
    with pytest.raises(
        FileError, match=r"backbone.conv1.0.weight of shape \(32, 1, 7, 7\) is missing.* more"
    ):
        import_checkpoint(path, "habitat-ddppo", tmp_path / "out")
    with pytest.raises(UnknownNameError, match="multion"):
        import_checkpoint(path, "multiom", tmp_path / "out")
    with pytest.raises(InputError, match="got pointnav-v1; choose another protocol"):
        import_checkpoint(path, "multion", tmp_path / "out", "pointnav-v1")
    with pytest.raises(InputError, match="--depth-first for weights of habitat-ddppo"):
        import_checkpoint(path, "multion", tmp_path / "out", is_depth_first=True)


def test_rows_of_actions_follow_the_protocol(tmp_path):
    weights = make_weights(habitat_shapes(18, 1, "pointnav", 4))
    path = save(tmp_path / "a.pth", weights)
    import_checkpoint(path, "habitat-ddppo", tmp_path / "out", "robustnav-pointnav-v1")
    info, policy = load_policy(tmp_path / "out")
    assert info.actions == ("move_forward", "turn_left", "turn_right", "stop")
    ours = policy.state_dict()
    head, table = weights["action_distribution.linear.bias"], weights["net.prev_action_embedding.weight"]
    assert torch.equal(ours["head.linear.bias"], head[[1, 2, 3, 0]])
    assert torch.equal(ours["action_encoder.weight"], table[[0, 2, 3, 4, 1]]), "the start comes first"
    weights = make_weights(habitat_shapes(18, 4, "objectnav", 6))
    with pytest.raises(InputError, match="turn_right, look_up, look_down of these weights, got"):
        import_checkpoint(save(path, weights), "habitat-ddppo", tmp_path / "b", "objectnav-stretch2023-v1")


class Unknown:
    """Something that is no tensor."""


def test_files_with_code_are_not_run(tmp_path):
    torch.save({"state_dict": {}, "config": Unknown()}, tmp_path / "a.pth")
    with pytest.raises(FileError, match=r"save the weights alone: torch.save"):
        import_checkpoint(tmp_path / "a.pth", "multion", tmp_path / "out")


def test_the_command_makes_an_agent(tmp_path, capsys):
    weights = make_weights(MULTION_SHAPES)
    path, out = save(tmp_path / "a.pth", weights, prefix=""), tmp_path / "out"
    arguments = ["checkpoint", "import", "--layout", "multion", str(path), "--out", str(out)]
    assert main([*arguments, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["parameters"] == 14_582_277 and document["inputs"] == ["rgb", "depth", "multiobjectgoal"]
    agent = load_agent(f"checkpoint:{out}", get_body_task("multion-3on-v1"))
    agent.reset([Start(0, "a", "scene", Boundary.SCENE)])
    info, _ = load_policy(out)
    seen = {name: value.numpy() for name, value in random_observations(info.inputs, 1).items()}
    tensors = {name: torch.from_numpy(value) for name, value in seen.items()}
    logits, _, _ = run_multion(weights, tensors, torch.zeros(1, dtype=torch.int64), None)
    assert agent.act(seen, np.ones(1, bool)).tolist() == logits.argmax(1).tolist()
    assert main(["checkpoint", "import", str(path), "--layout", "multiom", "--out", str(out)]) == 2
    assert (
        main(["checkpoint", "import", str(Path("none.pth")), "--layout", "multion", "--out", str(out)]) == 2
    )
    assert "none.pth, which is not there" in capsys.readouterr().err
