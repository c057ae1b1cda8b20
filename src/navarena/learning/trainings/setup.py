"""Set-up of a training: its task, its policy, and their description for checkpoints.

The description names the commit of the code that made the checkpoint.
"""

import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from navarena import __version__
from navarena.agents.catalog import SHIPPED
from navarena.core.errors import InputError, require_name
from navarena.corruptions.catalog import write_corruption
from navarena.corruptions.mixture import JOIN
from navarena.corruptions.suites import CLEAN_NAME
from navarena.episodes.graph_routes import R2R_GRAPH_V1
from navarena.episodes.house_blocks import HouseBlocks
from navarena.episodes.stream import EpisodeStream, Stay
from navarena.learning.agents.fit import find_vocabulary, require_inputs
from navarena.learning.auxiliaries.heads import AuxiliaryHeads
from navarena.learning.auxiliaries.proxies import DISTANCES
from navarena.learning.checkpoints.policies import (
    ActingPolicy,
    CheckpointInfo,
    continue_heads,
    load_policy,
)
from navarena.learning.cross_view.checkpoint import load_binocular
from navarena.learning.distributed import Processes
from navarena.learning.graph_policy import GraphPolicy
from navarena.learning.inputs import InputSpec, choose_inputs, choose_targets, require_goal_images
from navarena.learning.networks.encoder_settings import RANDOM_TRUNK
from navarena.learning.networks.hamt_proxies import ProxyHeads
from navarena.learning.networks.trunks import load_trunk
from navarena.learning.policy import RecurrentPolicy
from navarena.learning.published.follower_trunks import load_follower_trunks
from navarena.learning.recipes.recipe import Recipe
from navarena.learning.rollouts.collection import METRICS
from navarena.learning.rollouts.teaching import find_teacher_sensors
from navarena.learning.settings import ImitationSettings, PolicySettings
from navarena.learning.shipped import find_folder
from navarena.learning.tensors import torch
from navarena.simulation.world import WorldCache
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.catalog import get_task, require_body_task
from navarena.tasks.corruption_checks import require_applicable
from navarena.tasks.graphs.batch import GraphBatch
from navarena.tasks.graphs.task import GraphTask
from navarena.tasks.slot_episodes import SlotEpisodes
from navarena.tasks.sources import Batch, make_batch
from navarena.tasks.task import Task
from navarena.tasks.user_files import Sources

PACKAGE = Path(__file__).resolve().parents[2]
"""Folder of the package navarena."""


def find_commit(package: Path = PACKAGE) -> str:
    """The commit of the repository that `package` runs from, with "+" behind it where files were changed.

    Empty where it runs from an installed package, or where there is no git.
    """
    if package.parent.name != "src" or not (package.parents[1] / ".git").exists():
        return ""
    commit = _ask_git(package, "rev-parse", "HEAD")
    return commit + "+" if commit and _ask_git(package, "status", "--porcelain", "--", ".") else commit


def _ask_git(folder: Path, *arguments: str) -> str:
    """Output of a git command in `folder`; empty if it fails."""
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments], capture_output=True, text=True, timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def make_training_task(recipe: Recipe) -> Task | GraphTask:
    """The recipe's task; with a training view its cameras render the size that the policy sees.

    Raises InputError for a size of another aspect ratio than the camera's, for a network that does not act
    where the task runs, and for masked actions on graphs.
    """
    found = get_task(recipe.protocol)
    if isinstance(found, GraphTask) != (recipe.policy.memory == "hamt"):
        raise InputError(
            f"expected policy.memory=hamt on navigation graphs and there alone, got {recipe.policy.memory} "
            f"on {recipe.protocol}"
        )
    if isinstance(found, GraphTask):
        if recipe.masked:
            raise InputError(f"expected no masked actions of memory=hamt, got {', '.join(recipe.masked)}")
        return found
    task = require_body_task(found)
    if not recipe.training_view:
        return task
    height, width = recipe.image_size
    for camera in task.embodiment.cameras:
        if camera.width_px * height != camera.height_px * width:
            raise InputError(
                f"expected an image_size as wide for its height as the {camera.width_px} x "
                f"{camera.height_px} pixels of {recipe.protocol}, got {width} x {height}; give --set "
                f"image_size={height},{round(height * camera.width_px / camera.height_px)}"
            )
    cameras = tuple(replace(one, width_px=width, height_px=height) for one in task.embodiment.cameras)
    task.embodiment = replace(task.embodiment, cameras=cameras)
    # where a protocol resizes images, enlarging these for the policy to shrink them took half of the time
    task.images = replace(task.images, rgb=(width, height), depth=(width, height))
    return task


def make_worlds(task: Task | GraphTask) -> WorldCache:
    """A store of scenes for the body of `task`; of graphs that of the houses that they are in."""
    return WorldCache(R2R_GRAPH_V1.embodiment if isinstance(task, GraphTask) else task.embodiment)


class Slots(NamedTuple):
    """Slots that step together.

    Attributes:
        batch: which runs them.
        episodes: that follow each other in them.
    """

    batch: Batch
    episodes: SlotEpisodes


def require_small_state(recipe: Recipe, processes: Processes) -> None:
    """Raise InputError for a state too large to be stored before each step, where old steps are kept."""
    is_stored = recipe.collection == "variable" and processes.can_end(recipe.preemption)
    if is_stored and recipe.policy.memory not in ("gru", "lstm"):
        raise InputError(
            "expected policy.memory=gru or lstm for collection=variable in several processes, got "
            f"{recipe.policy.memory}; --set preemption=1 goes with every memory"
        )


def make_samplers(
    recipe: Recipe,
    blocks: HouseBlocks,
    houses: Sequence[str],
    processes: Processes,
    prefetchers: int,
) -> list[EpisodeStream]:
    """The stream of episodes of each group of slots: `houses` are dealt to processes and groups.

    Raises InputError for fewer houses.
    """
    count = recipe.groups if recipe.collection == "variable" else 1
    stay = Stay(episodes=recipe.episodes, houses=max(recipe.scenes // count, 1))
    return [
        EpisodeStream(
            blocks,
            houses,
            stay,
            rank=processes.rank * count + group,
            world_size=processes.count * count,
            curriculum=recipe.curriculum,
            seed=recipe.seed,
            prefetchers=prefetchers,
        )
        for group in range(count)
    ]


def make_slots(
    recipe: Recipe,
    task: Task | GraphTask,
    samplers: Sequence[EpisodeStream],
    worlds: WorldCache,
    threads: int,
) -> list[Slots]:
    """The recipe's slots in equal groups, one per sampler.

    The first has its scenes from `worlds`, the others open theirs alike into stores of their own.

    Raises InputError for a corruption that has nothing to act on, and for a mixture on graphs.
    """
    corruptions = tuple(write_corruption(text) for text in recipe.corruptions)
    shown = (*recipe.sensors, *recipe.all_targets)
    for text in _list_corruptions(recipe):
        require_applicable(task, (text,), shown)
    if isinstance(task, GraphTask):
        if recipe.mixture:
            raise InputError(
                f"expected no mixture on navigation graphs, got {', '.join(recipe.mixture)}; give "
                "corruptions of instructions by --set corruptions=NAME:SEVERITY"
            )
        sources = Sources(features=recipe.features or None)
        on_graphs = [
            make_batch(task, recipe.slots, threads, shown, worlds, corruptions, sources, one.houses)
            for one in samplers
        ]
        return [Slots(one, SlotEpisodes(one, samplers[0], worlds, METRICS)) for one in on_graphs]
    if recipe.features:
        raise InputError(
            f"expected features={recipe.features} on navigation graphs alone, got {recipe.protocol}; leave "
            "it out"
        )
    if isinstance(recipe.method, ImitationSettings):
        shown += find_teacher_sensors(recipe.method.teacher, task)
    made = []
    for group, sampler in enumerate(samplers):
        own = WorldCache(task.embodiment, worlds.open) if group else worlds
        batch = NavigationBatch(
            task, recipe.slots // len(samplers), threads, shown, own, corruptions, mixture=recipe.mixture
        )
        made.append(Slots(batch, SlotEpisodes(batch, sampler, own, METRICS)))
    return made


def build_policy(
    recipe: Recipe, info: CheckpointInfo, task: Task | GraphTask, batch: Batch
) -> tuple[ActingPolicy, tuple[InputSpec, ...]]:
    """A policy with random weights and the heads of auxiliary losses, and the targets that these predict."""
    policy, targets = info.build(), choose_targets(batch.specs, recipe.all_targets)
    if isinstance(recipe.method, ImitationSettings) and recipe.method.proxies is not None:
        if not isinstance(policy, GraphPolicy) or recipe.policy.hamt.tour or DISTANCES not in recipe.targets:
            raise InputError(
                f"expected memory=hamt, no tours and the target {DISTANCES} for proxies, got "
                f"memory={recipe.policy.memory} and targets={','.join(recipe.targets)}"
            )
        policy.auxiliaries = ProxyHeads(recipe.policy.hamt, recipe.policy.hamt.features)
    of_graphs = isinstance(recipe.method, ImitationSettings) and recipe.method.actor_critic is not None
    if of_graphs and not isinstance(policy, GraphPolicy):
        raise InputError(f"expected memory=hamt for actor_critic, got {recipe.policy.memory}")
    if recipe.method.auxiliaries:
        if not isinstance(policy, RecurrentPolicy):
            raise InputError(f"expected no auxiliaries of memory=hamt, got {recipe.method.auxiliaries}")
        policy.auxiliaries = AuxiliaryHeads(
            policy,
            recipe.method.auxiliaries,
            info.inputs,
            targets,
            len(task.actions),
            task.actions.index(task.declaration),
            task.is_continuous,
        )
    return policy, targets


FIRST = "first"
"""Folder, within that of a training, of the training that comes first."""


def load_first_weights(
    policy: ActingPolicy, info: CheckpointInfo, recipe: Recipe, own: Path, task: Task | GraphTask
) -> None:
    """Give a policy of random weights those with which its training begins; arguments as of `load_start`.

    First come networks that were trained before, from the files its settings name, then what the recipe
    starts from, then the bias of the declaration. Raises as `load_start` and `bias_declaration`, InputError
    where no file is named or its network has other sizes, and FileError for a missing or damaged file.
    """
    load_trunk(policy, recipe.policy.encoder)
    load_binocular(policy, recipe.policy.encoder)
    load_follower_trunks(policy, recipe.policy)
    load_start(policy, info, recipe, own, task)
    bias_declaration(policy, task, recipe.declaration_bias)


def load_start(
    policy: ActingPolicy, info: CheckpointInfo, recipe: Recipe, own: Path, task: Task | GraphTask
) -> None:
    """Copy the weights that `recipe` starts from into `policy`, frozen ones and heads of losses, too.

    Args:
        policy: to be trained.
        info: what it is.
        recipe: with the name of a checkpoint or of a first recipe; without one nothing is copied.
        own: folder of the training.
        task: of the recipe.

    Raises InputError for a checkpoint of other inputs, units, categories, actions or networks, FileError for
    a damaged one.
    """
    start = recipe.start
    if recipe.first:
        folder = own / FIRST
    elif start:
        folder = (find_folder(start) if start in SHIPPED else None) or Path(start)
    else:
        return
    theirs, found = load_policy(folder)
    for name in ("inputs", "actions", "is_continuous", "policy"):
        ours, other = getattr(info, name), getattr(theirs, name)
        if name == "policy":
            ours, other = map(_drop_habits, (ours, other))
        if ours != other:
            raise InputError(f"expected {name} of {ours} in {folder}, to start from, got {other}")
    if isinstance(task, Task):
        require_inputs(theirs, task, folder)
    policy.load_state_dict(found.state_dict(), strict=False)
    heads = dict(policy.named_children()).get("auxiliaries")
    if heads is not None:
        continue_heads(heads, theirs, folder)


def _drop_habits(policy: PolicySettings) -> PolicySettings:
    """`policy` without what weights do not depend on: how it samples, and what it remembers and freezes."""
    source = RANDOM_TRUNK if policy.encoder.binocular else ""
    encoder = replace(policy.encoder, binocular=source, frozen_binocular=False)
    plain = replace(policy, temperature=0.0, encoder=encoder)
    if policy.memory != "hamt":
        return plain
    flags = ("tour", "parts_tour", "frozen_text", "frozen_history", "weighs_turns")
    forgets: dict[str, Any] = dict.fromkeys(flags, False)
    hamt = replace(policy.hamt, **forgets)
    return replace(plain, hamt=hamt, remembers="episode")


def bias_declaration(policy: ActingPolicy, task: Task | GraphTask, bias: float) -> None:
    """Add `bias` to the logit of the task's declaration, or to the mean of its number where it is one.

    Raises InputError for a bias on graphs, where STOP is judged as a place.
    """
    if not isinstance(policy, RecurrentPolicy):
        if bias:
            raise InputError(f"expected no declaration_bias of memory=hamt, got {bias}")
        return
    with torch.no_grad():
        policy.head.linear.bias[task.actions.index(task.declaration)] += bias


def describe_policy(recipe: Recipe, task: Task | GraphTask, batch: Batch) -> CheckpointInfo:
    """Description of a checkpoint of `recipe`; raises InputError for inputs that its protocol lacks."""
    for name in recipe.masked:
        require_name("action", name, task.actions)
    require_goal_images(recipe.sensors, task.protocol_id, task.sensors)
    return CheckpointInfo(
        protocol=task.protocol_id,
        actions=tuple(task.actions),
        is_continuous=task.is_continuous,
        masked=recipe.masked,
        inputs=choose_inputs(batch.specs, recipe.sensors, recipe.image_size),
        policy=recipe.policy,
        act_rows=recipe.act_rows,
        recipe=msgspec.to_builtins(recipe),
        frames=0,
        updates=0,
        version=__version__,
        privileged_sensors=tuple(name for name in batch.privileged_sensors if name in recipe.sensors),
        commit=find_commit(),
        seeds={"training": recipe.seed},
        selection=recipe.evaluation.selection,
        corruptions=_list_corruptions(recipe),
        augmentations=recipe.augmentation.names,
        vocabulary=find_vocabulary(task),
        features=batch.features if isinstance(batch, GraphBatch) else "",
    )


def _list_corruptions(recipe: Recipe) -> tuple[str, ...]:
    """The corruptions of `recipe` in their canonical form: those of every episode, and then of some."""
    mixed = [text for row in recipe.mixture if row != CLEAN_NAME for text in row.split(JOIN)]
    return tuple(dict.fromkeys(write_corruption(text) for text in (*recipe.corruptions, *mixed)))
