"""Import of published weights: a file of the reference code becomes a checkpoint that acts here."""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from navarena.core.errors import FileError, InputError, require_name
from navarena.learning.checkpoints.policies import CheckpointInfo, save_policy
from navarena.learning.inputs import GOAL_VECTOR, choose_inputs
from navarena.learning.networks.trunks import TRUNK, read_weights, require_keys, take_trunk
from navarena.learning.published.layouts import LAYOUTS, Layout
from navarena.learning.published.names import Shapes
from navarena.learning.recipes.recipe import Recipe
from navarena.learning.tensors import Tensor, torch
from navarena.learning.trainings.setup import describe_policy, make_training_task
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.catalog import require_body_task

ACTION_TABLES = ("head.linear.weight", "head.linear.bias", "action_encoder.weight")
"""Weights with a row for each action."""

VALUE = "critic."
"""How the names of the layer of values begin, which stays 0 where a file has none."""


def import_checkpoint(
    path: Path,
    layout: str,
    folder: Path,
    protocol: str | None = None,
    trunk: Path | None = None,
    is_depth_first: bool = False,
    goals: str | None = None,
) -> CheckpointInfo:
    """Write the weights of the file `path` as a checkpoint into `folder`; returns its description.

    Args:
        path: as the reference code saved it.
        layout: a name of LAYOUTS.
        folder: that becomes the checkpoint.
        protocol: on which it acts; None for the one of its recipe.
        trunk: torchvision's file of ImageNet's ResNet-18, for layouts whose file leaves it out.
        is_depth_first: whether the network saw the depth before the colours, as later versions of habitat-lab
            sort them.
        goals: encoder of goals, such as "open-clip:FOLDER", for layouts that know goals as vectors.

    Raises InputError for an unknown layout, for is_depth_first where there are no colours and depth to
    order, for goals that are missing or too much, and for a protocol with other actions, FileError that names
    each key which is missing, too many, or of another shape.
    """
    chosen = LAYOUTS[require_name("layout of weights", layout, LAYOUTS)]
    if chosen.needs_trunk and trunk is None:
        raise InputError(
            f"expected --trunk FILE, torchvision's weights of ImageNet's ResNet-18, which files of {layout} "
            "leave out"
        )
    found = _find_weights(path, chosen)
    shapes = {name: tuple(value.shape) for name, value in found.items()}
    recipe = chosen.choose(shapes)
    recipe = replace(recipe, protocol=protocol or recipe.protocol, training_view=False)
    if is_depth_first:
        if layout != "habitat-ddppo" or not {"rgb", "depth"} <= set(recipe.sensors):
            raise InputError("expected --depth-first for weights of habitat-ddppo that see colour and depth")
        numbers = tuple(one for one in recipe.sensors if one not in ("rgb", "depth"))
        recipe = replace(recipe, sensors=("depth", "rgb", *numbers))
    if (GOAL_VECTOR in recipe.sensors) != (goals is not None):
        raise InputError(
            f"expected --goals ENCODER, such as open-clip:FOLDER, for the layout goat alone, got {goals} for "
            f"{layout}"
        )
    sensors = (f"{one}:{goals}" if one == GOAL_VECTOR else one for one in recipe.sensors)
    info = _describe(replace(recipe, sensors=tuple(sensors)), path, layout)
    policy = info.build()
    weights = policy.state_dict()
    left = (*([TRUNK] if trunk else []), *([] if chosen.has_value else [VALUE]))
    own = {name: value for name, value in weights.items() if not name.startswith(tuple(left))}
    mapped = _map_weights(own, found, shapes, chosen, info.actions, path)
    if trunk is not None:
        frozen = {name: value for name, value in weights.items() if name.startswith(TRUNK)}
        mapped |= take_trunk(read_weights(trunk), frozen, str(trunk))
    mapped |= {name: torch.zeros_like(value) for name, value in weights.items() if name not in mapped}
    policy.load_state_dict(mapped)
    save_policy(folder, info, policy)
    return info


def _find_weights(path: Path, layout: Layout) -> dict[str, Tensor]:
    """Key without prefix -> tensor; raises FileError for a file that holds something else."""
    saved = read_weights(path)
    inner = saved.get(layout.state, saved)
    if not isinstance(inner, Mapping):
        raise FileError(f"expected weights by name as {layout.state} in {path}, got {type(inner).__name__}")
    found = {
        str(name).removeprefix(layout.prefix): value
        for name, value in inner.items()
        if not str(name).removeprefix(layout.prefix).startswith(layout.ignored or ("\0",))
    }
    for name, value in found.items():
        if not isinstance(value, torch.Tensor):
            raise FileError(f"expected a tensor as {name} in {path}, got {type(value).__name__}")
    return found


def _describe(recipe: Recipe, path: Path, layout: str) -> CheckpointInfo:
    """Description of the checkpoint, from a batch of shapes without a scene."""
    task = require_body_task(make_training_task(recipe))
    batch = NavigationBatch(task, 1, 1, recipe.sensors)
    shapes = {one: batch.specs[one].shape for one in recipe.sensors if one in ("rgb", "depth")}
    sizes = {name: (shape[0], shape[1]) for name, shape in shapes.items()}
    encoder = recipe.policy.encoder
    takes_own = bool(encoder.resize) or encoder.images == "clip_resnet50" or recipe.policy.memory == "cma"
    if takes_own:  # the network takes the protocol's own images, of any size
        recipe = replace(recipe, image_size=min(sizes.values()))
    info = describe_policy(recipe, task, batch)
    if takes_own:
        inputs = tuple(
            choose_inputs(batch.specs, (one.name,), sizes[one.name])[0] if one.name in sizes else one
            for one in info.inputs
        )
        info = replace(info, inputs=inputs)
    if recipe.policy.memory == "cma":  # the words that its numbers stand for are not in the file
        info = replace(info, vocabulary=())
    source = {
        "layout": layout,
        "file": path.name,
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
    }
    return replace(info, recipe=info.recipe | {"published": source})


def _map_weights(
    own: Mapping[str, Tensor],
    found: Mapping[str, Tensor],
    shapes: Shapes,
    layout: Layout,
    actions: tuple[str, ...],
    path: Path,
) -> dict[str, Tensor]:
    """Our name -> tensor of the file, rows of actions in our order; raises FileError as import_checkpoint."""
    count = (shapes.get(layout.rename("head.linear.bias", shapes)) or (len(actions),))[0]
    theirs = layout.actions[:count]
    if sorted(theirs) != sorted(actions):
        raise InputError(
            f"expected a protocol with the actions {', '.join(theirs)} of these weights, got "
            f"{', '.join(actions)}; choose another by --protocol"
        )
    names = {name: layout.rename(name, shapes) for name in own}
    expected = {names[name]: layout.reshape(names[name], tuple(one.shape)) for name, one in own.items()}
    require_keys(found, expected, str(path))
    mapped = {name: found[names[name]].to(one.dtype).reshape(one.shape) for name, one in own.items()}
    rows = [theirs.index(name) for name in actions]
    for name in ACTION_TABLES:
        if name in mapped:
            mapped[name] = _reorder(mapped[name], rows)
    return mapped


def _reorder(table: Tensor, rows: list[int]) -> Tensor:
    """The `rows` of actions of `table`; a row before them, of the start of an episode, stays the first."""
    more = len(table) - len(rows)
    return torch.cat((table[:more], table[more:][rows]))
