"""Messages of text and images for one step of a language-model agent."""

import math
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from navarena.agents.language.prompts import GOALS, READINGS, Prompts, fill
from navarena.agents.language.settings import LanguageModelSettings
from navarena.core.chat import image_part, text_part
from navarena.core.errors import InputError
from navarena.mapping.map_images import draw_map
from navarena.tasks.protocols.multi_on import MultiOn
from navarena.tasks.protocols.object_goal_task import ObjectGoalTask
from navarena.tasks.sensors.seen_maps import OccupancyMapSensor
from navarena.tasks.task import Task

MAP = OccupancyMapSensor.name
LAST_ACTIONS = 12
"""That a question names."""

POLAR = ("pointgoal", "pointgoal_with_gps_compass")


@dataclass
class Memory:
    """History of one slot that is repeated to the model.

    Attributes:
        views: (step, parts of the images then), the newest last.
        actions: names of all that were taken.
    """

    views: deque[tuple[int, list[dict[str, Any]]]]
    actions: list[str] = field(default_factory=list)


class Interviewer:
    """Turns observations of one task into messages.

    Args:
        task: of discrete actions, with images.
        prompts: what is said.
        settings: how much is shown.

    Attributes:
        sensors: names of the observations that messages need.

    Raises InputError for a task without images.
    """

    def __init__(self, task: Task, prompts: Prompts, settings: LanguageModelSettings) -> None:
        self._cameras = [name for name in task.sensors if name == "rgb" or name.endswith("_rgb")]
        if not self._cameras:
            raise InputError(
                f"expected a protocol with colour images for the agent vlm, got {task.protocol_id!r}"
            )
        self._goals = [name for name in task.sensors if name in GOALS]
        self._readings = [name for name in task.sensors if name in READINGS]
        shown = [*self._cameras, *self._goals, *self._readings, *([MAP] if settings.map else [])]
        self.sensors = tuple(shown)
        self._task, self._prompts, self._settings = task, prompts, settings
        self._names = _goal_names(task)

    def system_message(self, actions: Sequence[str]) -> dict[str, Any]:
        """The first message: rules of the task, and what each of the legal `actions` does."""
        task, prompts, body = self._task, self._prompts, self._task.embodiment
        numbers = {
            "step_cm": 100 * body.forward_step,
            "turn_deg": math.degrees(body.turn_angle),
            "tilt_deg": math.degrees(body.tilt_angle),
        }
        lines = [f"{name}: {fill(prompts.actions.get(name, ''), numbers)}".rstrip(": ") for name in actions]
        rules = {
            "declaration": task.declaration,
            "success_cm": 100 * task.success_distance,
            "success_m": task.success_distance,
            "max_steps": task.max_steps,
        }
        form = prompts.reasoned_format if self._settings.reason else prompts.format
        # an example that declares would invite to do so
        example = next((name for name in actions if name != task.declaration), actions[0])
        said = {
            "camera_height": body.cameras[0].mount[1],
            "rules": fill(prompts.find_task(task.protocol_id).rules, rules),
            "actions": "\n".join(lines),
            "format": fill(form, {"example": example}),
        }
        return {"role": "system", "content": fill(prompts.system, said)}

    def make_memory(self) -> Memory:
        """An empty memory for the start of an episode."""
        return Memory(deque(maxlen=self._settings.history + 1))

    def look(self, memory: Memory, own: Mapping[str, np.ndarray]) -> None:
        """Remember the images (H, W, 3) uint8 among `own`, the observations of one slot without the N."""
        memory.views.append((len(memory.actions), [image_part(own[name]) for name in self._cameras]))

    def question(self, memory: Memory, own: Mapping[str, np.ndarray]) -> dict[str, Any]:
        """The message that asks for the next action, after `look` at `own` with images (H, W, 3) uint8."""
        prompts, parts = self._prompts, self._describe_goal(own)
        *earlier, (step, images) = memory.views
        for before, seen in earlier:
            said = {"step": before, "action": memory.actions[before]}
            parts += [text_part(fill(prompts.earlier, said)), *seen]
        if self._settings.map:
            sensor = OccupancyMapSensor()
            metres = sensor.window * sensor.settings.cell
            parts += [text_part(fill(prompts.map, {"map_metres": metres})), image_part(draw_map(own[MAP]))]
        parts += [text_part(fill(prompts.now, {"step": step, "max_steps": self._task.max_steps})), *images]
        said = {
            "readings": "\n".join(self._describe_reading(name, own[name]) for name in self._readings),
            "last": ", ".join(memory.actions[-LAST_ACTIONS:]) or "none yet",
        }
        return {"role": "user", "content": [*parts, text_part(fill(prompts.question, said))]}

    def _describe_goal(self, own: Mapping[str, np.ndarray]) -> list[dict[str, Any]]:
        """The current goal; of several goal sensors only the non-empty ones."""
        parts = []
        for name in self._goals:
            value, line = own[name], self._prompts.goals[name]
            if name in POLAR:
                metres, bearing = value.tolist()
                parts.append(text_part(fill(line, {"metres": metres, **_turn(bearing)})))
            elif name == "image_goal":
                if value.any():
                    parts += [text_part(fill(line, {})), image_part(value)]
            elif value.dtype.kind == "U":
                if text := str(value):
                    parts.append(text_part(fill(line, {"value": text})))
            else:
                parts.append(text_part(fill(line, {"value": self._names[int(value.item())]})))
        return parts

    def _describe_reading(self, name: str, value: np.ndarray) -> str:
        if name == "compass":
            return fill(self._prompts.readings[name], _turn(value.item()))
        ahead, right = value.tolist()
        return fill(self._prompts.readings[name], {"ahead": ahead, "right": right})


def _goal_names(task: Task) -> Sequence[str]:
    """Names of goals whose observation is a number."""
    names: Sequence[str] = ()
    if isinstance(task, ObjectGoalTask):
        names = task.categories
    elif isinstance(task, MultiOn):
        names = task.kind.classes
    return [name.replace("_", " ") for name in names]


def _turn(radians: float) -> dict[str, Any]:
    """An angle that grows to the left, as words."""
    return {"degrees": abs(math.degrees(radians)), "side": "left" if radians > 0 else "right"}
