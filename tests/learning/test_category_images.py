"""Images of categories as inputs of policies, and RobustNav's small recipes that use them."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from navarena.core.errors import InputError  # noqa: E402
from navarena.corruptions.mixture import make_mixture  # noqa: E402
from navarena.learning.inputs import InputSpec, choose_inputs  # noqa: E402
from navarena.learning.networks.encoders import PIXEL_FEATURES, ObservationEncoder  # noqa: E402
from navarena.learning.recipes.catalog import RECIPES  # noqa: E402
from navarena.simulation.sensors.sensor import ObservationSpec  # noqa: E402
from navarena.tasks.catalog import get_body_task  # noqa: E402

pytestmark = pytest.mark.learn

INPUTS = (
    InputSpec("depth", (36, 48, 1), "float16"),
    InputSpec("semantic_predicted", (36, 48, 1), "int16", 5),
    InputSpec("objectgoal", (1,), "int64", 3),
)


def see(count=4):
    generator = np.random.default_rng(0)
    return {
        "depth": torch.from_numpy(generator.random((count, 36, 48, 1)).astype(np.float16)),
        "semantic_predicted": torch.from_numpy(generator.integers(0, 5, (count, 36, 48, 1)).astype(np.int16)),
        "objectgoal": torch.from_numpy(generator.integers(0, 3, (count, 1))),
    }


def test_the_goal_shows_where_its_category_is():
    encoder, seen = ObservationEncoder(INPUTS, 16, 8), see()
    depth, labels = encoder._read_images(seen)
    assert depth.shape == (4, 36, 48, 1) and labels.shape == (4, 36, 48, PIXEL_FEATURES + 1)
    pixels, goals = encoder.pixel_tables[0].weight, encoder.goal_table.weight
    for one in range(4):
        category = seen["semantic_predicted"][one, 3, 7, 0].long()
        expected = pixels[category] @ goals[seen["objectgoal"][one, 0]] / PIXEL_FEATURES**0.5
        assert torch.allclose(labels[one, 3, 7, -1], expected, atol=1e-6)
        assert torch.equal(labels[one, 3, 7, :-1], pixels[category])
    encoder(seen).sum().backward()
    assert (
        encoder.goal_table.weight.grad.abs().sum() > 0 and encoder.pixel_tables[0].weight.grad.abs().sum() > 0
    )


def test_images_of_categories_are_told_from_others():
    def spec(dtype, high):
        return ObservationSpec((60, 80, 1), dtype, 0, high)

    specs = {"semantic": spec(np.int32, 40), "rgb": spec(np.uint8, 255), "instance": spec(np.int32, 10**6)}
    semantic, rgb = choose_inputs(specs, ("semantic", "rgb"), (60, 80))
    assert (semantic.dtype, semantic.classes, rgb.dtype, rgb.classes) == ("int16", 41, "uint8", 0)
    with pytest.raises(InputError, match="expected categories 0 to 511 of instance"):
        choose_inputs(specs, ("instance",), (60, 80))


NAMES = [name for name in RECIPES.names() if name.startswith("robustnav-") and not name.endswith("-paper")]


@pytest.mark.parametrize("name", NAMES)
def test_small_recipes_of_robustnav_fit_together(name):
    recipe = RECIPES.get(name)
    task = get_body_task(recipe.protocol)
    height, width = recipe.image_size
    camera = task.embodiment.cameras[0]
    assert camera.width_px * height == camera.height_px * width and 60 <= height <= 96
    assert [one.kind for one in recipe.method.auxiliaries] == (
        [] if name.endswith("finetune") else ["inverse_dynamics"]
    )
    if recipe.mixture:
        held_out = {"spatter", "lower_fov", "camera_crack", "motor_failure"}
        mixed = make_mixture(task.corruptions, (), recipe.mixture).corruptions
        assert not held_out & {text.partition(":")[0] for text in mixed}
    assert recipe.training_view != name.endswith(("finetune", "mixture")), "corruptions count in pixels"
    start = RECIPES.get("robustnav-pointnav-rgb-small")
    if name.endswith(("finetune", "augmented", "mixture")):
        assert (recipe.policy, recipe.sensors, recipe.image_size) == (
            start.policy,
            start.sensors,
            start.image_size,
        )
