"""Whether a checkpoint fits a task: actions, observations, units and vocabulary."""

from pathlib import Path

from navarena.core.errors import InputError, NavarenaError, describe_choices
from navarena.core.protocol_ids import base_protocol
from navarena.episodes.catalog import RECIPES, get_recipe
from navarena.episodes.language.vocabulary import route_vocabulary
from navarena.learning.checkpoints.policies import CheckpointInfo
from navarena.learning.inputs import (
    GOAL_VECTOR,
    choose_inputs,
    describe_input,
    describe_unit,
    require_goal_images,
)
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.catalog import get_body_task
from navarena.tasks.sensors.instruction import InstructionState
from navarena.tasks.task import Task, TaskRules


def require_fitting(info: CheckpointInfo, task: TaskRules, folder: Path) -> None:
    """Raise InputError, which names both sides, where the checkpoint in `folder` does not fit `task`."""
    if not _has_actions(info, task):
        raise _refuse(info, task, folder, f"the actions {', '.join(info.actions)}", ", ".join(task.actions))
    if isinstance(task, Task):  # what is seen on graphs is known when the agent is attached
        require_inputs(info, task, folder)


def require_inputs(info: CheckpointInfo, task: Task, folder: Path) -> None:
    """Raise InputError if the observations of `task` differ from those of the checkpoint in `folder`."""

    def refuse(expected: str, got: str) -> InputError:
        return _refuse(info, task, folder, expected, got)

    try:
        specs = NavigationBatch(task, 1, 1, tuple(one.name for one in info.inputs)).specs
    except NavarenaError as error:
        names = ", ".join(one.name for one in info.inputs)
        raise refuse(f"the observations {names}", f"others ({error})") from error
    require_goal_images([one.name for one in info.inputs], task.protocol_id, task.sensors)
    units = _find_units(info)
    for one in info.inputs:
        spec, size = specs[one.name], one.shape[:2] if one.is_image else (1, 1)
        try:
            (now,) = choose_inputs(specs, (one.name,), (size[0], size[1]))
        except InputError as error:
            raise refuse(f"{one.name} of {one.shape}", f"{spec.shape} ({error})") from error
        if now != one and one.name.startswith(GOAL_VECTOR):
            raise InputError(
                f"expected {one.shape[0]} numbers of {one.name}, as {folder} has learned to read, got "
                f"{now.shape[0]}; restore the encoder's weights, or train the policy again"
            )
        if now != one:
            raise refuse(describe_input(one), describe_input(now))
        unit = describe_unit(task, one.name, spec)
        trained = units.get(one.name, unit)
        if unit != trained:
            raise refuse(f"{one.name} in {trained or 'no unit'}", f"{one.name} in {unit or 'no unit'}")
    words = find_vocabulary(task)
    if info.vocabulary and words != info.vocabulary:
        if set(words) == set(info.vocabulary):
            raise refuse(f"the {len(words)} categories in the order", "another order")
        ours, theirs = set(info.vocabulary) - set(words), set(words) - set(info.vocabulary)
        more = [f" ({describe_choices(names)} more)" if names else "" for names in (ours, theirs)]
        raise refuse(f"{len(info.vocabulary)} categories{more[0]}", f"{len(words)} categories{more[1]}")


def _refuse(info: CheckpointInfo, task: TaskRules, folder: Path, expected: str, got: str) -> InputError:
    return InputError(
        f"expected a protocol with {expected} of {folder}, trained on {info.protocol}, got {got} of "
        f"{task.protocol_id}"
    )


def _has_actions(info: CheckpointInfo, task: TaskRules) -> bool:
    """Whether the checkpoint's actions are those of `task` by name, or some of them with the declaration."""
    if task.is_continuous or info.is_continuous:
        return task.is_continuous == info.is_continuous and tuple(task.actions) == info.actions
    return set(info.actions) <= set(task.actions) and task.declaration in info.actions


def _find_units(info: CheckpointInfo) -> dict[str, str]:
    """Input -> unit, on the protocol that the checkpoint was trained on; none of a protocol not known here.

    A depth in metres, one in shares of 5 m and one in shares of 10 m have the same shape and type.
    """
    try:
        task = get_body_task(info.protocol)
        specs = NavigationBatch(task, 1, 1, tuple(one.name for one in info.inputs)).specs
    except NavarenaError:
        return {}
    return {one.name: describe_unit(task, one.name, specs[one.name]) for one in info.inputs}


def find_vocabulary(task: TaskRules) -> tuple[str, ...]:
    """The categories of goals of `task` by number, or the words of instructions; empty without."""
    if not isinstance(task, Task):
        return route_vocabulary().words
    if issubclass(task.state_type, InstructionState):
        return route_vocabulary().words
    return get_recipe(task.protocol_id).words if base_protocol(task.protocol_id) in RECIPES else ()
