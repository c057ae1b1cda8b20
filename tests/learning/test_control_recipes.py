"""Controls of instruction followers, by the settings that the documentation names: each starts to learn."""

from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from navarena.cli.training.train import change_setting  # noqa: E402
from navarena.learning.checkpoints.policies import read_info  # noqa: E402
from navarena.learning.recipes.catalog import RECIPES  # noqa: E402
from navarena.learning.trainings.training import Training  # noqa: E402

from .test_recipes import mini  # noqa: E402

pytestmark = pytest.mark.learn

FORCED = ("method.teacher_share.first=1", "method.teacher_share.last=1", "method.veto=0")


def start(name, settings, folder):
    recipe = RECIPES.get(name)
    for one in settings:
        recipe = change_setting(recipe, one)
    if recipe.policy.memory == "hamt":
        tiny = replace(recipe.policy.hamt, width=16, inner=16, heads=2, text_layers=1, cross_layers=1)
        recipe = replace(recipe, policy=replace(recipe.policy, hamt=tiny))
    recipe = mini(recipe, slots=4, steps=4)
    training, rows = Training(replace(recipe, log_updates=1), folder), []
    with closing(training):
        training.run(rows.append)
        led = training._rollout.led.clone()
    assert [row["frames"] for row in rows] == [16, 32]
    assert all(np.isfinite([row["imitation_loss"], row["gradient_norm"]]).all() for row in rows)
    return read_info(folder), rows, led


@pytest.mark.parametrize(
    ("name", "setting"),
    [
        ("cma-small", "policy.follower.blank=instruction"),
        ("cma-small", "policy.follower.blank=vision"),
        ("map-cma-small", "policy.follower.blank=occupancy"),
        ("map-cma-small", "policy.follower.blank=semantics"),
        ("hamt-small", "policy.hamt.blank=instruction"),
        ("hamt-small", "policy.hamt.blank=vision"),
    ],
)
def test_what_is_blank_is_part_of_the_checkpoint(name, setting, tmp_path):
    info, _, _ = start(name, (setting,), tmp_path)
    settings = info.policy.hamt if name.startswith("hamt") else info.policy.follower
    assert settings.blank == (setting.partition("=")[2],)


def test_maps_by_teacher_forcing_alone(tmp_path):
    _, rows, led = start("map-cma-small", FORCED, tmp_path)
    assert led.all() and "progress_loss" in rows[-1]


def test_images_without_the_progress_monitor(tmp_path):
    _, rows, _ = start("cma-small", ("method.auxiliaries=",), tmp_path)
    assert not [name for name in rows[-1] if name.startswith("progress")]


@pytest.mark.parametrize("shown", ["semantic_map", "semantic_map_known"])
def test_maps_of_other_lifetimes(shown, tmp_path):
    info, _, _ = start("map-cma-small", (f"sensors=depth,{shown},instruction_tokens",), tmp_path)
    assert info.privileged_sensors == (shown,)
