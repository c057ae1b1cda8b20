"""Augmentation: windows and shifts beside loops, colours beside those of corruptions; frames and episodes."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from navarena.core.errors import InputError  # noqa: E402
from navarena.core.seeding import make_generator  # noqa: E402
from navarena.corruptions.augmentations import change_colors  # noqa: E402
from navarena.learning.auxiliaries.settings import AugmentationSettings  # noqa: E402
from navarena.learning.inputs import InputSpec  # noqa: E402
from navarena.learning.rollouts.augmentation import Augmenter, draw_changes, jitter_images, move_images  # noqa: E402

pytestmark = pytest.mark.learn

INPUTS = (
    InputSpec("rgb", (8, 10, 3), "uint8"),
    InputSpec("depth", (8, 10, 1), "float16"),
    InputSpec("gps", (2,), "float32"),
)


def move_by_loops(image, top, left, size, down, across):
    height, width = image.shape[:2]
    out = np.zeros_like(image)
    for i in range(height):
        for j in range(width):
            y = (top * (1 - size) + size * (i + 0.5) / height - down) * height
            x = (left * (1 - size) + size * (j + 0.5) / width - across) * width
            y, x = (int(min(max(np.floor(v + 1e-9), 0), side - 1)) for v, side in ((y, height), (x, width)))
            out[i, j] = image[y, x]
    return out


def test_moved_images_equal_loops_and_tables():
    generator = np.random.default_rng(0)
    images = generator.integers(256, size=(20, 8, 10, 3)).astype(np.uint8)
    changes = draw_changes(AugmentationSettings(crop=0.5, shift=0.3), generator, 20)
    moved = move_images(images, changes)
    for image, one, row in zip(images, moved, changes, strict=True):
        np.testing.assert_array_equal(one, move_by_loops(image, *row[:5]))
    row = np.arange(4.0).reshape(1, 1, 4, 1)

    def move(left, size, across):
        return move_images(row, np.array([[0, left, size, 0, across, 0, 0, 0, 0]]))[0, 0, :, 0].tolist()

    assert move(0.0, 1.0, 0.0) == [0, 1, 2, 3]
    assert move(0.0, 1.0, 0.25) == [0, 0, 1, 2], "to the right, the border goes on"
    assert move(0.0, 1.0, -0.5) == [2, 3, 3, 3]
    assert move(1.0, 0.5, 0.0) == [2, 2, 3, 3], "the right half, enlarged"


def test_draws_lie_within_the_settings():
    settings = AugmentationSettings(crop=0.4, shift=0.1, jitter=0.2)
    drawn = draw_changes(settings, np.random.default_rng(0), 5000)
    assert drawn[:, 2].min() >= 0.6 and drawn[:, 2].max() <= 1.0
    for columns, bound in ((drawn[:, 3:5], 0.1), (drawn[:, 5:], 0.2)):
        assert np.abs(columns).max() <= bound and np.abs(columns).max() > 0.95 * bound
        assert np.abs(columns.mean(0)).max() < 0.01


def test_colours_change_by_the_formulas_of_corruptions():
    images = np.random.default_rng(0).integers(256, size=(3, 4, 5, 3)).astype(np.uint8)
    changes = draw_changes(AugmentationSettings(jitter=0.4), np.random.default_rng(1), 3)
    expected = images.copy()
    for image, row in zip(expected, changes, strict=True):
        for number in range(4):
            change_colors(image.reshape(-1, 3), number, row[5 + number])
    jitter_images(images, changes)
    np.testing.assert_array_equal(images, expected)


def make(per="frame", slots=6, seed=0):
    settings = AugmentationSettings(crop=0.3, shift=0.2, jitter=0.3, per=per)
    return Augmenter(settings, INPUTS, slots, make_generator("learning", seed, "augmentation"))


def see(slots=6):
    generator = np.random.default_rng(5)
    depth = np.broadcast_to(np.arange(80.0).reshape(1, 8, 10, 1), (slots, 8, 10, 1)).astype(np.float16)
    rgb = np.broadcast_to(generator.integers(256, size=(8, 10, 3)), (slots, 8, 10, 3)).astype(np.uint8)
    return {"rgb": rgb.copy(), "depth": depth.copy(), "gps": np.ones((slots, 2), np.float32)}


def test_frames_differ_and_episodes_stay():
    going_on, begun = np.ones(6, bool), np.array([True, True, False, True, True, True])
    shown = {}
    for per in ("frame", "episode"):
        augmenter, shown[per] = make(per), []
        for mask in (~going_on, going_on, begun):
            seen = see()
            augmenter.augment(seen, mask)
            shown[per].append(seen)
        assert (shown[per][0]["gps"] == 1).all() and not np.array_equal(shown[per][0]["rgb"], see()["rgb"])
    first, second, third = (one["depth"] for one in shown["frame"])
    assert not np.array_equal(first, second) and not np.array_equal(second, third)
    first, second, third = (one["depth"] for one in shown["episode"])
    np.testing.assert_array_equal(first, second)
    assert [np.array_equal(a, b) for a, b in zip(second, third, strict=True)] == begun.tolist()


@pytest.mark.parametrize("given", [{"crop": 0.3, "shift": 0.2, "jitter": 0.3}, {"mirror": 1.0}])
def test_images_that_losses_predict_move_alike_and_keep_their_numbers(given):
    target = InputSpec("goal_mask", (8, 10, 1), "uint8", 2)
    generator = make_generator("learning", 0, "augmentation")
    settings = AugmentationSettings(**given)
    augmenter = Augmenter(settings, INPUTS, 6, generator, ("turn_left", "turn_right"), (target,))
    seen = see()
    seen["goal_mask"] = (seen["depth"] > 42).astype(np.uint8)
    before = seen["goal_mask"].copy()
    augmenter.augment(seen, np.zeros(6, bool))
    np.testing.assert_array_equal(seen["goal_mask"], seen["depth"] > 42)
    assert not np.array_equal(seen["goal_mask"], before)


def test_state_goes_on_and_seeds_decide():
    one, other = make("episode"), make("episode", seed=1)
    one.augment(see(), np.zeros(6, bool))
    other.restore_state(one.save_state())
    images = see(), see()
    one.augment(images[0], np.ones(6, bool))
    other.augment(images[1], np.ones(6, bool))
    np.testing.assert_array_equal(images[0]["depth"], images[1]["depth"])
    assert one.save_state() != make("episode", seed=1).save_state()


def test_settings_out_of_range_are_refused():
    with pytest.raises(InputError, match="jitter of 0 to 0.5"):
        AugmentationSettings(jitter=0.6)
    assert not AugmentationSettings().is_on and AugmentationSettings(shift=0.1).is_on


@pytest.mark.parametrize(
    ("given", "inputs", "message"),
    [
        ({"jitter": 0.1}, INPUTS[1:], "sees colours for augmentation.jitter, got depth, gps"),
        ({"crop": 0.1}, INPUTS[2:], "sees images for augmentation.crop, got gps"),
        ({"shift": 0.1}, INPUTS[2:], "sees images for augmentation.shift, got gps"),
    ],
)
def test_changes_of_what_the_policy_does_not_see_are_refused(given, inputs, message):
    """Results would name them among what the agent was trained with."""
    generator = np.random.default_rng(0)
    Augmenter(AugmentationSettings(**given), INPUTS, 2, generator)
    with pytest.raises(InputError, match=message):
        Augmenter(AugmentationSettings(**given), inputs, 2, generator, (), INPUTS[:2])


@pytest.mark.parametrize("per", ["frame", "episode"])
def test_training_with_augmented_images_goes_on_bit_for_bit(tmp_path, per):
    from dataclasses import replace

    from .test_training import PPO, make_training, same

    recipe = replace(
        PPO,
        sensors=("rgb", *PPO.sensors),
        augmentation=AugmentationSettings(0.2, 0.1, 0.1, per),
        frames=3 * 64,
    )
    whole = make_training(tmp_path / "a", recipe)
    rows = []
    whole.run(rows.append)
    assert all(row["ratio_error"] == 0.0 for row in rows), "acting and learning see the same images"
    part = make_training(tmp_path / "b", recipe)
    part.advance()
    part._save()
    again = make_training(tmp_path / "b", recipe)
    again.run()
    assert same(whole._policy.state_dict(), again._policy.state_dict())
