"""Small recipes of MultiON: numbers of parameters by hand, and comparisons that are fair."""

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from navarena.learning.recipes.catalog import RECIPES  # noqa: E402
from navarena.learning.settings import ImitationSettings, PPOSettings  # noqa: E402
from navarena.learning.trainings.setup import describe_policy, make_training_task  # noqa: E402
from navarena.learning.trainings.updates import make_optimiser, update_imitation, update_ppo  # noqa: E402
from navarena.tasks.batch import NavigationBatch  # noqa: E402

from .made import fill_rollout  # noqa: E402
from .papers import count_trained, paper_inputs, paper_policy  # noqa: E402

pytestmark = pytest.mark.learn

SMALL = [name for name in RECIPES.names() if name.startswith("multion-") and name.endswith("-small")]
NAMES = [name for name in SMALL if "reactive" not in name]
"""Those that are compared."""

SHOWN = ("oracle_map", "oracle_map_objects", "oracle_map_objects_dynamic")
"""Maps that show goals before they were seen."""

IMAGES = 4 * 64 * 32 + 32 + 32 * 16 * 64 + 64 + 64 * 9 * 32 + 32 + 32 * 4 * 4 * 256 + 256
REST = 8 * 32 + 5 * 32 + 257 * 5
"""Goals, previous actions, actor and critic."""


def gru(inputs):
    return 3 * 256 * (inputs + 256) + 6 * 256


def convolved(categories, side):
    places = ((((side - 4) // 2 + 1) - 3) // 2 + 1 - 2 + 1) ** 2
    tables, first = 16 * sum(categories), 16 * (16 * len(categories) + 1) * 16 + 16
    weighed = 8 * sum(categories)  # goals x categories: one channel more
    return tables + weighed + first + 16 * 9 * 32 + 32 + 32 * 4 * 32 + 32 + places * 32 * 256 + 256 + 512


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("nomap", IMAGES + REST + gru(320)),
        ("oracle-map", IMAGES + REST + convolved((9,), 50) + gru(576)),
        ("oracle-map-both", IMAGES + REST + convolved((3, 9), 50) + gru(576)),
        ("only-oracle-map", REST + convolved((3, 9), 50) + gru(320)),
        ("oracle-ego-map", IMAGES + REST + convolved((4, 10), 50) + gru(576)),
        ("occupancy-cnn", IMAGES + REST + convolved((3,), 64) + gru(576)),
    ],
)
def test_parameters_by_hand(name, count):
    assert count_trained(paper_policy(RECIPES.get(f"multion-{name}-small"))) == count


@pytest.mark.parametrize("name", NAMES)
def test_rows_of_a_comparison_differ_in_what_they_see_alone(name):
    recipe = RECIPES.get(name)
    has_ppo = isinstance(recipe.method, PPOSettings)
    plain = RECIPES.get("multion-nomap-small" if has_ppo else "multion-nomap-dagger-small")
    task = make_training_task(recipe)
    info = describe_policy(recipe, task, NavigationBatch(task, 1, 1, recipe.sensors))
    assert info.inputs == paper_inputs(recipe)
    assert bool(info.privileged_sensors) is any("oracle" in one for one in recipe.sensors)
    same = ("image_size", "slots", "steps", "evaluation", "precision", "masked", "split", "frames")
    assert all(getattr(recipe, one) == getattr(plain, one) for one in same)
    method = recipe.method
    if has_ppo:
        assert recipe.first == name.replace("-small", "-dagger-small")
        first = RECIPES.get(recipe.first)
        assert (recipe.sensors, recipe.policy) == (first.sensors, first.policy)
        assert replace(method, auxiliaries=()) == plain.method
    else:
        knows = bool(set(SHOWN) & set(recipe.sensors))
        assert method.teacher == ("" if knows else "frontier-rgb")
        assert replace(method, teacher=plain.method.teacher, auxiliaries=()) == plain.method


@pytest.mark.parametrize(
    "name", ["multion-oracle-ego-map-dagger-small", "multion-smt-dagger-small", "multion-frmqn-small"]
)
def test_an_update_moves_all_weights(name):
    recipe = RECIPES.get(name)
    policy = paper_policy(replace(recipe, policy=replace(recipe.policy, memory_steps=4)))
    inputs = paper_inputs(recipe)
    rollout = fill_rollout(policy, 3, 8, inputs=inputs)
    rollout.labels[:] = torch.from_numpy(np.random.default_rng(0).integers(0, 4, rollout.labels.shape))
    before = {key: value.clone() for key, value in policy.state_dict().items()}
    settings = replace(recipe.method, minibatches=2)
    update = update_imitation if isinstance(settings, ImitationSettings) else update_ppo
    done, generator = 0.5, np.random.default_rng(0)
    row = update(policy, make_optimiser(policy, settings.optimiser), rollout, settings, done, generator)
    assert np.isfinite(list(row.values())).all()
    weights = [key for key, value in policy.state_dict().items() if torch.equal(value, before[key])]
    stays = [key for key in weights if "bias" not in key and not key.startswith("critic")]
    assert not stays, f"these learned nothing: {stays}"
