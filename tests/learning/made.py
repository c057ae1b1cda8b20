"""Small policies and rollouts for tests of learning."""

from dataclasses import replace

import numpy as np

from navarena.learning.checkpoints.selection import TrainingEvaluationSettings
from navarena.learning.inputs import TOKENS, InputSpec
from navarena.learning.policy import RecurrentPolicy
from navarena.learning.settings import PolicySettings
from navarena.learning.storage import Rollout
from navarena.learning.tensors import torch

INPUTS = (
    InputSpec("depth", (36, 36, 1), "float16"),
    InputSpec("pointgoal_with_gps_compass", (2,), "float32"),
)
SMALL = PolicySettings(hidden=16, image_features=16, number_features=8, action_features=4)


def make_policy(actions=4, seed=0, inputs=INPUTS, settings=SMALL, **more):
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return RecurrentPolicy(inputs, actions, settings, **more)


def shorten(recipe, updates=2):
    """A recipe of GOAT-Bench, so short that only its parts are shown to fit together."""
    return replace(
        recipe,
        slots=2,
        steps=4,
        frames=8 * updates,
        scenes=1,
        episodes=2,
        split="val_seen_mini",
        evaluation=TrainingEvaluationSettings(updates=0),
        method=replace(recipe.method, minibatches=1),
    )


def draw_from(generator):
    return lambda rows, columns: torch.from_numpy(generator.random((rows, columns)))


def draw_input(one, slots, generator):
    """(N, ...) random observations of an input, in the dtype of a protocol."""
    shape = (slots, *one.shape)
    if one.classes:
        return generator.integers(0, one.classes, shape)
    if one.is_map:
        return generator.integers(0, one.categories, shape).astype(one.dtype)
    if one.name == TOKENS:
        is_word = np.arange(one.shape[0]) < generator.integers(1, 30, (slots, 1))
        return generator.integers(1, 200, shape) * is_word
    if one.dtype == "uint8":
        return generator.integers(0, 256, shape).astype(np.uint8)
    return generator.random(shape).astype(np.float32)


def fill_rollout(policy, steps=6, slots=16, seed=0, inputs=INPUTS, numbers=0):
    """A rollout of random observations, rewards and ends, acted on by `policy`."""
    generator = np.random.default_rng(seed)
    rollout = Rollout(inputs, steps, slots, numbers)
    state = policy.initial_state(slots)
    state = {k: torch.from_numpy(generator.random(v.shape)).to(v.dtype) for k, v in state.items()}
    mask = torch.from_numpy(generator.random(slots) > 0.3)
    rollout.state = state

    def see():
        return {one.name: draw_input(one, slots, generator) for one in inputs}

    with torch.inference_mode():
        for step in range(steps):
            rollout.mask[step] = mask
            decision = policy.act(rollout.observe(step, see()), state, mask, draw_from(generator))
            state = decision.state
            rollout.actions[step], rollout.values[step] = decision.actions, decision.values
            rollout.log_probs[step] = decision.log_probs
            rollout.rewards[step] = torch.from_numpy(generator.normal(size=slots))
            rollout.terminated[step] = torch.from_numpy(generator.random(slots) < 0.2)
            rollout.truncated[step] = (
                torch.from_numpy(generator.random(slots) < 0.1) & ~rollout.terminated[step]
            )
            mask = ~(rollout.terminated[step] | rollout.truncated[step])
        rollout.next_values = torch.from_numpy(generator.normal(size=slots)).float()
    rollout.state = {name: value.clone() for name, value in rollout.state.items()}
    return rollout
