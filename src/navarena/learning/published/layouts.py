"""Layouts of the reference code's files of weights: where they stand, and what each is called here."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from navarena.learning.published.goat import choose_goat, rename_goat
from navarena.learning.published.names import Shapes, begins, measure_memory, rename_resnet
from navarena.learning.published.vlnce import choose_vlnce, rename_vlnce, reshape_vlnce
from navarena.learning.recipes.habitat import OBJECTNAV_DDPPO, POINTNAV_DDPPO
from navarena.learning.recipes.multion import MULTION_NOMAP
from navarena.learning.recipes.recipe import Recipe
from navarena.learning.recipes.robustnav import ROBUSTNAV_OBJECTNAV, ROBUSTNAV_POINTNAV


@dataclass(frozen=True)
class Layout:
    """A layout of weights.

    Attributes:
        state: key of the weights within the file; a file that holds the weights alone will do, too.
        prefix: with which all keys may begin.
        actions: the reference code's, in its order, by our names; as many of the first as the agent has.
        choose: the recipe whose policy the weights are, of their keys and shapes.
        rename: our name of a weight, and the keys of the file -> their name of it.
        ignored: beginnings of keys that the policy does not use.
        needs_trunk: whether the frozen trunk comes from a file of its own.
        reshape: the file's name and our shape of a weight -> its shape there, of as many numbers.
        has_value: whether the file holds the layer of values, which imitation does not learn.
    """

    state: str
    prefix: str
    actions: tuple[str, ...]
    choose: Callable[[Shapes], Recipe]
    rename: Callable[[str, Shapes], str]
    ignored: tuple[str, ...] = ()
    needs_trunk: bool = False
    reshape: Callable[[str, tuple[int, ...]], tuple[int, ...]] = lambda name, shape: shape
    has_value: bool = True


_HEADS = {
    "head.linear.": "action_distribution.linear.",
    "critic.": "critic.fc.",
    "memory.cells.": "net.state_encoder.rnn.",
}
"""Heads and recurrent cells of habitat-lab and of multiON, its fork."""


def _choose_multion(shapes: Shapes) -> Recipe:
    return MULTION_NOMAP


def _rename_multion(name: str, shapes: Shapes) -> str:
    layer = "encoder.images.layers."
    numbers = {f"{layer}{ours}.": f"net.visual_encoder.cnn.{theirs}." for ours, theirs in
               (("0", "0"), ("2", "2"), ("4", "4"), ("7", "6"))}  # fmt: skip
    tables = {
        "encoder.numbers.multiobjectgoal.": "net.goal_embedding.",
        "action_encoder.": "net.action_embedding.",
    }
    return begins(name, _HEADS | tables | numbers)


_VISUAL = "net.visual_encoder."


def _choose_habitat(shapes: Shapes) -> Recipe:
    """The recipe of the goal that is embedded, with the images, the depth and the memory of the weights."""
    recipe = OBJECTNAV_DDPPO if "net.obj_categories_embedding.weight" in shapes else POINTNAV_DDPPO
    numbers = [one for one in recipe.sensors if one not in ("rgb", "depth")]
    first = shapes.get(f"{_VISUAL}backbone.conv1.0.weight", ())
    images = {1: ["depth"], 3: ["rgb"]}.get(first[1] if len(first) > 1 else 1, ["rgb", "depth"])
    is_deep = f"{_VISUAL}backbone.layer1.0.convs.6.weight" in shapes
    memory, hidden, layers = measure_memory(shapes)
    policy = replace(
        recipe.policy,
        memory=memory,
        hidden=hidden,
        layers=layers,
        image_features=(shapes.get("net.visual_fc.1.weight") or (hidden,))[0],
        encoder=replace(
            recipe.policy.encoder,
            images="resnet50" if is_deep else "resnet18",
            normalise=f"{_VISUAL}running_mean_and_var._mean" in shapes,
        ),
    )
    return replace(recipe, sensors=(*images, *numbers), policy=policy)


def _rename_habitat(name: str, shapes: Shapes) -> str:
    images = "encoder.images."
    if name.startswith(f"{images}trunk."):
        return f"{_VISUAL}backbone.{rename_resnet(name.removeprefix(f'{images}trunk.'))}"
    pairs = {
        f"{images}normaliser.mean": f"{_VISUAL}running_mean_and_var._mean",
        f"{images}normaliser.variance": f"{_VISUAL}running_mean_and_var._var",
        f"{images}normaliser.count": f"{_VISUAL}running_mean_and_var._count",
        f"{images}compression.4.": "net.visual_fc.1.",
        f"{images}compression.": f"{_VISUAL}compression.",
        "encoder.numbers.objectgoal.": "net.obj_categories_embedding.",
        "encoder.numbers.pointgoal_with_gps_compass.": "net.tgt_embeding.",  # spelt so
        "encoder.numbers.compass.": "net.compass_embedding.",
        "encoder.numbers.gps.": "net.gps_embedding.",
        "action_encoder.": "net.prev_action_embedding.",
    }
    return begins(name, _HEADS | pairs)


_GOAL = "goal_visual_encoder."


def _choose_allenact(shapes: Shapes) -> Recipe:
    recipe = ROBUSTNAV_OBJECTNAV if f"{_GOAL}embed_class.weight" in shapes else ROBUSTNAV_POINTNAV
    if f"{_GOAL}depth_resnet_compressor.0.weight" in shapes:
        return replace(recipe, sensors=("rgb", "depth", *recipe.sensors[1:]))
    return recipe


def _rename_allenact(name: str, shapes: Shapes) -> str:
    is_dual = f"{_GOAL}depth_resnet_compressor.0.weight" in shapes
    goal = "embed_class." if f"{_GOAL}embed_class.weight" in shapes else "embed_goal."
    pairs = {
        "encoder.goal_layer.": _GOAL + goal,
        "head.linear.": "actor.linear.",
        "critic.": "critic.fc.",
        "memory.cells.": "state_encoder.rnn.",
    }
    for one in ("rgb", "depth"):
        own = f"{one}_" if is_dual else ""
        pairs[f"encoder.compressors.{one}."] = f"{_GOAL}{own}resnet_compressor."
        pairs[f"encoder.combiners.{one}."] = f"{_GOAL}{own}target_obs_combiner."
    return begins(name, pairs)


HABITAT_ACTIONS = ("stop", "move_forward", "turn_left", "turn_right", "look_up", "look_down")

LAYOUTS: Mapping[str, Layout] = {
    "multion": Layout(
        "state_dict",
        "actor_critic.",
        ("found", "move_forward", "turn_left", "turn_right"),
        _choose_multion,
        _rename_multion,
    ),
    "habitat-ddppo": Layout("state_dict", "actor_critic.", HABITAT_ACTIONS, _choose_habitat, _rename_habitat),
    "allenact": Layout(
        "model_state_dict",
        "",
        ("move_forward", "turn_left", "turn_right", "stop", "look_up", "look_down"),
        _choose_allenact,
        _rename_allenact,
        ("inverse_model.", "rotation_model."),
        needs_trunk=True,
    ),
    "goat": Layout(
        "state_dict",
        "actor_critic.",
        (*HABITAT_ACTIONS, "subtask_stop"),
        choose_goat,
        rename_goat,
    ),
    "vlnce": Layout(
        "state_dict",
        "",
        HABITAT_ACTIONS[:4],
        choose_vlnce,
        rename_vlnce,
        ("net._scale", "net.progress_monitor."),
        reshape=reshape_vlnce,
        has_value=False,
    ),
}
"""Name -> layout: of multiON's agent without a map, of habitat-lab's DD-PPO, of RobustNav's agents, of
GOAT-Bench's, and of the cross-modal attention (CMA) of VLN-CE and IVLN-CE."""
