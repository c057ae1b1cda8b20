"""Frozen layers run once for each image of a rollout: the same numbers, in every update and in the store."""

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from navarena.learning.auxiliaries.settings import ROTATION  # noqa: E402
from navarena.learning.inputs import InputSpec  # noqa: E402
from navarena.learning.networks.encoder_settings import RANDOM_TRUNK, EncoderSettings  # noqa: E402
from navarena.learning.settings import AggregationSettings, PolicySettings  # noqa: E402
from navarena.learning.trainings.training import STORE  # noqa: E402

from .made import make_policy  # noqa: E402
from .test_followers import RGB, TOKENS, observe  # noqa: E402
from .test_followers import TINY as SMALL_FOLLOWER  # noqa: E402
from .test_training import PPO, TINY, make_training  # noqa: E402

pytestmark = pytest.mark.learn

ENCODER = EncoderSettings(images="frozen_resnet18", numbers="embedded", trunk=RANDOM_TRUNK)
TRUNK = replace(PPO, policy=replace(TINY.policy, encoder=ENCODER), slots=4, steps=4, frames=32)
PLACES = (512, 2, 2)  # of 36 x 48 pixels, halved five times


class Counted:
    """Images that went through a module since it was emptied."""

    def __init__(self, module):
        self.images = 0
        module.register_forward_hook(self.note)

    def note(self, module, given, output):
        self.images += len(given[0])


def test_a_trunk_runs_once_for_each_image_whatever_the_epochs(tmp_path):
    """Steps x slots, and the images behind the last step and at cut-off ends, whose values are asked for."""
    recipe = replace(TRUNK, method=replace(TRUNK.method, epochs=5, auxiliaries=()))
    training = make_training(tmp_path, recipe)
    counted = Counted(training._policy.encoder.trunk)
    row = training.advance()
    cut = int(training._rollout.truncated.any(1).sum())
    assert counted.images == 4 * 4 + 4 * (1 + cut)
    assert row["ratio_error"] == 0.0 and row["gradient_norm"] > 0


def test_what_is_kept_is_what_the_images_give(tmp_path):
    training = make_training(tmp_path, TRUNK)
    part = training._collector.collect(training._rollout, 0.0).fragment()
    assert part.observations["depth.frozen"].shape == (4, 4, *PLACES)
    assert part.observations["depth.frozen"].std() > 0
    given = {name: value for name, value in part.observations.items() if name != "depth.frozen"}
    judge = training._policy.evaluate_sequence
    kept, anew = (judge(seen, part.actions, part.state, part.mask) for seen in (part.observations, given))
    torch.testing.assert_close(kept.values, anew.values, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(kept.distribution.log_probs, anew.distribution.log_probs, rtol=1e-5, atol=1e-6)
    wrong = part.observations | {"depth.frozen": torch.zeros_like(part.observations["depth.frozen"])}
    other = judge(wrong, part.actions, part.state, part.mask)
    assert (other.values - kept.values).abs().max() > 1e-3, "what is kept is read"


def test_turned_images_are_read_anew(tmp_path):
    method = replace(TRUNK.method, auxiliaries=(ROTATION,))
    training = make_training(tmp_path, replace(TRUNK, method=method))
    part = training._collector.collect(training._rollout, 0.0).fragment()
    part.observations["depth.frozen"][:] = torch.nan
    heads, places = training._policy.auxiliaries, torch.arange(4)
    loss = heads._compute_rotation(training._policy, part, np.random.default_rng(0), places)
    assert torch.isfinite(loss)


def test_the_store_of_episodes_holds_features_in_the_place_of_images(tmp_path):
    method = replace(TINY.method, aggregation=AggregationSettings(1, 2, 4))
    recipe = replace(TRUNK, method=method, protocol="pointnav-v1+max_steps=4", frames=32)
    training = make_training(tmp_path, recipe)
    counted = Counted(training._policy.encoder.trunk)
    rows = [training.advance(), training.advance()]
    assert counted.images == 2 * (4 * 4 + 4), "epochs over the store read no image"
    assert rows[1]["stored_episodes"] >= 8 and np.isfinite(rows[1]["imitation_loss"])
    store = training._aggregator._store
    arrays = store.read(store.entries[0].key)
    assert "depth" not in arrays and arrays["depth.frozen"].shape[1:] == PLACES
    assert (tmp_path / STORE).is_dir()


def test_followers_keep_what_their_frozen_networks_see():
    follower = replace(SMALL_FOLLOWER, images="resnet50", positions=3)
    settings = PolicySettings(memory="cma", hidden=12, action_features=5, follower=follower)
    depth = InputSpec("depth", (64, 64, 1), "float16")
    policy = make_policy(inputs=(RGB, depth, TOKENS), settings=settings)
    assert [(one.name, one.shape) for one in policy.frozen] == [
        ("rgb.frozen", (2048, 4, 4)),
        ("depth.frozen", (128, 4, 4)),
    ]
    seen = {name: value[0] for name, value in observe((RGB, depth, TOKENS), 1, 2).items()}
    with torch.no_grad():
        kept = policy.see_frozen(seen)
        whole = policy.encoder(seen)
        assert torch.equal(policy.encoder({"instruction_tokens": seen["instruction_tokens"]} | kept), whole)
