"""Recipes: sizes as documented, each started for an update; schedules by hand; measured inflections."""

import re
from contextlib import closing
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from navarena.cli.training.train import change_setting  # noqa: E402
from navarena.core.errors import InputError  # noqa: E402
from navarena.core.seeding import make_generator  # noqa: E402
from navarena.episodes.stream import Curriculum  # noqa: E402
from navarena.learning.checkpoints.selection import TrainingEvaluationSettings  # noqa: E402
from navarena.learning.recipes.catalog import RECIPES  # noqa: E402
from navarena.learning.settings import PPOSettings, Schedule, constant, powers  # noqa: E402
from navarena.learning.storage import NO_LABEL  # noqa: E402
from navarena.learning.trainings.inflections import count_inflections, measure_inflections  # noqa: E402
from navarena.learning.trainings.setup import FIRST  # noqa: E402
from navarena.learning.trainings.training import Training  # noqa: E402
from navarena.tasks.batch import NavigationBatch  # noqa: E402

pytestmark = pytest.mark.learn

SMALL = (
    "objectnav-stretch-small",
    "pointnav-bc-small",
    "pointnav-dagger-small",
    "pointnav-ppo-small",
    "pointnav-small",
)


def mini(recipe, slots=8, steps=4, updates=2):
    """The recipe, so short that only its parts are shown to fit together."""
    return replace(
        recipe,
        slots=slots,
        steps=steps,
        frames=slots * steps * updates,
        scenes=1,
        episodes=2,
        split="mini",
        evaluation=TrainingEvaluationSettings(updates=0),
    )


def count_parameters(policy):
    return sum(one.numel() for one in policy.parameters())


@pytest.mark.parametrize("name", SMALL)
def test_recipes_start_and_have_their_size(tmp_path, name):
    recipe = RECIPES.get(name)
    if recipe.first:
        first = mini(recipe.make_first()[1], updates=1)
        with closing(Training(first, tmp_path / FIRST)) as before:
            before.run()
    training = Training(mini(recipe), tmp_path)
    module = import_module(RECIPES.targets()[name].partition(":")[0])
    documented = re.search(r"([\d,]+) parameters", module.__doc__).group(1)
    assert count_parameters(training._policy) == int(documented.replace(",", ""))
    rows = []
    training.run(rows.append)
    training.close()
    assert np.isfinite(rows[-1]["gradient_norm"]) and rows[-1]["frames"] == 64
    if name == "objectnav-stretch-small":
        assert training._rollout.actions.shape == (4, 8, 4) and isinstance(recipe.method, PPOSettings)
        assert training._rollout.actions.abs().max() < 1


def test_declarations_are_rare_at_first(tmp_path):
    training = Training(mini(RECIPES.get("pointnav-ppo-small")), tmp_path)
    assert training._policy.head.linear.bias.tolist() == [-3.0, 0.0, 0.0, 0.0]
    training.close()


LONGER = {
    *("multion-smt-small", "segmenter-small"),
    *("instance-imagenav-binocular-dagger-small", "instance-imagenav-binocular-small"),
    *("robustnav-pointnav-rgb-mixture", "goat-ppo-small"),
}
"""Small recipes beyond 0.8 core-hours."""


def test_small_recipes_state_their_core_hours():
    stated = {name: RECIPES.get(name).core_hours for name in RECIPES.names()}
    small = {name for name in stated if "-small" in name or "-pointnav-rgb-" in name}
    assert all(stated[name] for name in small)
    assert {name for name in small if stated[name] > 0.8} == LONGER
    assert not any(hours for name, hours in stated.items() if name.endswith("-paper"))


def test_a_curriculum_begins_with_short_episodes(tmp_path):
    def begin(**settings):
        recipe = replace(mini(RECIPES.get("pointnav-dagger-small")), split="train", episodes=50, **settings)
        generator = make_generator("test")
        with closing(Training(recipe, tmp_path)) as training:
            drawn = [one for _ in range(6) for one in training._samplers[0].draw(generator)]
        return [one.geodesic_distance for one in drawn]

    assert max(begin(curriculum=Curriculum(2.5, 3.0, episodes=1000))) <= 2.5 + 0.5 * 6 / 1000
    assert max(begin()) > 3.0, "and there is none without"


def test_schedules_by_hand():
    assert [Schedule(1.0, 0.0, stairs=3).at(k / 6) for k in range(7)] == [1, 1, 0.5, 0.5, 0, 0, 0]
    assert Schedule(1.0, 0.01, "exponential").at(0.5) == pytest.approx(0.1)
    late = Schedule(1.0, 0.0, "sigmoid")
    assert (late.at(0.0), late.at(0.5), late.at(1.0)) == (1.0, pytest.approx(0.5), 0.0)
    assert late.at(0.25) == pytest.approx(1 - (1 / (1 + np.exp(2.5)) - 1 / (1 + np.exp(5))) / np.tanh(2.5))
    of_vlnce = powers(0.5, 10)
    assert [of_vlnce.at(k / 10) for k in range(10)] == pytest.approx([0.5 ** (k + 1) for k in range(10)])
    assert constant(0.3).at(0.7) == 0.3
    with pytest.raises(InputError, match="positive numbers of an exponential"):
        Schedule(1.0, 0.0, "exponential")
    with pytest.raises(InputError, match="at least 2"):
        Schedule(1.0, 0.0, stairs=1)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("policy.hidden=0", "expected hidden of at least 1, got 0"),
        ("policy.image_features=0", "expected image_features of at least 1"),
        ("policy.number_features=0", "expected number_features of at least 1"),
        ("policy.action_features=-1", "expected action_features of at least 0"),
        ("policy.heads=0", "expected heads of at least 1"),
        ("policy.temperature=nan", "expected a temperature of at least 0, got nan"),
        ("policy.encoder.resize=32", "for resize, got numbers=joined and images=small"),
        ("method.optimiser.rate.first=nan", "expected a positive rate"),
        ("method.optimiser.rate.last=-0.001", "expected a rate that ends at 0 or above, got -0.001"),
        ("method.clip.first=-1", "expected clip, entropy_weight and value_weight of at least 0"),
        ("method.value_weight=nan", "expected clip, entropy_weight and value_weight of at least 0"),
        ("sensors=", "expected at least one of the sensors"),
        ("preemption=-1", "expected a preemption of 0 to 1, got -1"),
    ],
)
def test_settings_out_of_range_are_refused(setting, message):
    """Where they would blind the policy, climb the loss, or end in a message of PyTorch's."""
    with pytest.raises(InputError, match=message):
        change_setting(RECIPES.get("pointnav-ppo-small"), setting)


def test_images_are_not_resized_in_silence_by_networks_that_do_not():
    with pytest.raises(
        InputError, match="no encoder.resize with memory=neural_map, whose network ignores it"
    ):
        change_setting(RECIPES.get("multion-ego-map-small"), "policy.encoder.resize=32")


def test_inflections_by_hand():
    labels = np.array([[1, 1], [1, 2], [3, 2], [3, 2]])
    first = np.array([[False, True], [False, False], [False, False], [True, False]])
    found = count_inflections(labels, first)
    assert found == (8, 4) and found.weight == 2.0
    assert count_inflections(labels[:1], first[:1] & False).weight == 2.0, "no inflection at all"
    of_tour = np.array([[1], [1], [NO_LABEL], [NO_LABEL], [1], [2]])  # an oracle leads in the middle
    assert count_inflections(of_tour, np.arange(6)[:, None] == 0) == (4, 3)


def test_inflections_of_tours_leave_out_where_an_oracle_leads(monkeypatch):
    step, led, steps = NavigationBatch.step, [], []

    def note(batch, actions, active=None):
        led.append(int(batch.led.sum()))
        steps.append(batch.slots)
        return step(batch, actions, active)

    monkeypatch.setattr(NavigationBatch, "step", note)
    found = measure_inflections(mini(RECIPES.get("tour-cma-small"), slots=1), 1)
    assert sum(led) > 10 and found.steps == sum(steps) - sum(led)


def test_inflections_are_measured():
    recipe = mini(RECIPES.get("pointnav-bc-small"), slots=4)
    found = measure_inflections(recipe, 4)
    assert found == measure_inflections(recipe, 4)

    assert found.steps > 20 and 1.0 < found.weight < 5.0
    with pytest.raises(InputError, match="discrete actions"):
        measure_inflections(RECIPES.get("objectnav-stretch-small"), 1)


def test_inflections_are_those_of_the_teacher_of_the_recipe():
    """One that walks ahead all the time changes its label nowhere; where it is masked, nothing counts."""
    recipe = mini(RECIPES.get("pointnav-bc-small"), slots=2)
    recipe = replace(
        recipe, protocol="pointnav-v1+max_steps=20", method=replace(recipe.method, teacher="forward")
    )
    found = measure_inflections(recipe, 4)
    assert found.inflections >= 4 and found.steps > 10 * found.inflections
    assert measure_inflections(replace(recipe, masked=("move_forward",)), 4).steps == 0
