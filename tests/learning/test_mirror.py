"""Mirrored episodes: images, goals and turns change sides together, when learning as when acting."""

import math
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from navarena.core.errors import InputError  # noqa: E402
from navarena.learning.auxiliaries.settings import AugmentationSettings  # noqa: E402
from navarena.learning.inputs import InputSpec  # noqa: E402
from navarena.learning.rollouts.augmentation import Augmenter, mirror_actions  # noqa: E402

from .test_training import TINY, make_training, same, stop_after  # noqa: E402

pytestmark = pytest.mark.learn

INPUTS = (
    InputSpec("depth", (4, 6, 1), "float16"),
    InputSpec("pointgoal_with_gps_compass", (2,), "float32"),
    InputSpec("objectgoal", (1,), "int64", 12),
)
ACTIONS = ("move_forward", "turn_left", "turn_right", "stop", "look_up", "look_down")
MIRROR = replace(TINY, augmentation=AugmentationSettings(mirror=0.5))


def test_a_mirror_exchanges_sides_and_nothing_else():
    assert mirror_actions(ACTIONS).tolist() == [0, 2, 1, 3, 4, 5]
    augmenter = Augmenter(AugmentationSettings(mirror=0.5), INPUTS, 200, np.random.default_rng(0), ACTIONS)
    generator = np.random.default_rng(1)
    seen = {
        "depth": generator.random((200, 4, 6, 1)).astype(np.float16),
        "pointgoal_with_gps_compass": generator.random((200, 2)).astype(np.float32),
        "objectgoal": generator.integers(0, 12, (200, 1)),
    }
    before = {name: value.copy() for name, value in seen.items()}
    augmenter.augment(seen, np.zeros(200, bool))
    turned = augmenter.exchange(np.ones(200, np.int64)) == 2
    assert 70 < turned.sum() < 130
    assert np.array_equal(seen["depth"][turned], before["depth"][turned, :, ::-1])
    goals = seen["pointgoal_with_gps_compass"]
    assert np.allclose(goals[turned], before["pointgoal_with_gps_compass"][turned] * (1, -1))
    for name, value in before.items():
        assert np.array_equal(seen[name][~turned], value[~turned])
    assert np.array_equal(seen["objectgoal"], before["objectgoal"])
    again = {name: value.copy() for name, value in before.items()}
    augmenter.augment(again, np.ones(200, bool))
    assert np.array_equal(again["depth"], seen["depth"]), "the mirror lasts for the episode"


def test_labels_and_goals_agree_in_the_mirror(tmp_path):
    """A teacher turns to the side where the goal is, in the mirror as well."""
    training = make_training(tmp_path, replace(MIRROR, augmentation=AugmentationSettings(mirror=1.0)))
    for _ in range(3):
        training.advance()
        rollout = training._rollout
        bearing = rollout.observations["pointgoal_with_gps_compass"][..., 1]
        far = (bearing.abs() > math.radians(40)) & (bearing.abs() < math.radians(170))
        label = rollout.labels[far]
        assert far.any() and (label[label >= 2] == torch.where(bearing[far] > 0, 2, 3)[label >= 2]).all()


def test_training_in_a_mirror_goes_on_bit_for_bit(tmp_path):
    whole = make_training(tmp_path / "whole", MIRROR)
    whole.run()
    with pytest.raises(KeyboardInterrupt):
        make_training(tmp_path / "cut", MIRROR).run(stop_after(2))
    resumed = make_training(tmp_path / "cut", MIRROR)
    resumed.run()
    assert same(whole._policy.state_dict(), resumed._policy.state_dict())
    assert whole._info.augmentations == ("mirror=0.5",)


def test_what_has_no_mirror_is_refused():
    speed = InputSpec("speed", (1,), "float32")
    for inputs, actions in ((INPUTS, ()), ((*INPUTS, speed), ACTIONS)):
        with pytest.raises(InputError, match="for mirrored episodes"):
            Augmenter(AugmentationSettings(mirror=0.5), inputs, 2, np.random.default_rng(0), actions)
    with pytest.raises(InputError, match="mirror of 0 to 1"):
        AugmentationSettings(mirror=2.0)
