"""Checks that the corruptions chosen for a protocol have anything to act on."""

from collections.abc import Iterable, Sequence

from navarena.core.errors import InputError
from navarena.core.geometry import TURN, has_translation
from navarena.corruptions.catalog import find_corruption, join_corruptions
from navarena.corruptions.corruption import (
    CameraCorruption,
    Corruption,
    DepthCorruption,
    GoalCorruption,
    ImageCorruption,
    InstructionCorruption,
    MotionCorruption,
    PoseCorruption,
    TimingCorruption,
)
from navarena.simulation.motion import movement_table
from navarena.simulation.observation_sources import find_sources
from navarena.simulation.sensors.sensor import ImageSensor
from navarena.tasks.sensors.catalog import find_goal_sensor
from navarena.tasks.sensors.lifelong_goal import ImageGoalSensor, LanguageGoal, ObjectNameGoal
from navarena.tasks.task import Task, TaskRules

GOAL_SENSORS = {"object": ObjectNameGoal, "description": LanguageGoal, "image": ImageGoalSensor}
"""Modality of goals -> the sensor that gives them."""


def require_applicable(task: TaskRules, corruptions: Sequence[str], sensors: Iterable[str] = ()) -> None:
    """Check that there is something for each of `corruptions` to act on.

    Args:
        task: the protocol, with its actions and sensors.
        corruptions: each as find_corruption reads it.
        sensors: that are observed beside those of the protocol.

    Raises UnknownNameError for unknown corruptions, and InputError for one without effect.
    """
    if not isinstance(task, Task):
        for text, corruption in join_corruptions((), corruptions).items():
            if not isinstance(corruption, InstructionCorruption):
                raise InputError(
                    f"expected corruptions of instructions alone of {task.protocol_id}, which runs on "
                    f"navigation graphs without cameras or motion, got {text!r}; choose r2r-ce-v1, or in "
                    "Python RenderedFeatures(..., corruptions=[...])"
                )
        return
    found = join_corruptions(task.corruptions, corruptions)
    names = dict.fromkeys((*task.sensors, *sensors))
    for text, corruption in found.items():
        needed = _missing(task, corruption, list(names))
        if needed:
            raise InputError(
                f"expected {needed} for the corruption {text!r}, got {task.protocol_id} with the actions "
                f"{', '.join(task.actions)} and the sensors {', '.join(names)}; leave it out"
            )


def require_observed(task: TaskRules, agent: str, corruptions: Sequence[str], sensors: Sequence[str]) -> None:
    """Check that an agent notices each of `corruptions`, in its observations or in how its body moves.

    Args:
        task: the protocol.
        agent: its name.
        corruptions: each as find_corruption reads it; those of the protocol are not asked for.
        sensors: names of the observations that it uses; none for all of the protocol.

    Raises UnknownNameError for unknown corruptions, and InputError for one that it cannot notice.
    """
    if not isinstance(task, Task) or not sensors:
        return
    for text, corruption in join_corruptions((), corruptions).items():
        needed = _missing(task, corruption, sensors)
        if needed:
            raise InputError(
                f"expected an agent with {needed} for the corruption {text!r}, got {agent}, which observes "
                f"{', '.join(sensors)}; leave it out, or run a --suite, which marks such rows"
            )


def keep_applicable(task: Task, corruptions: Iterable[str], sensors: Iterable[str] = ()) -> tuple[str, ...]:
    """The applicable ones of `corruptions`; arguments as in require_applicable."""
    names = list(dict.fromkeys((*task.sensors, *sensors)))
    return tuple(text for text in corruptions if not _missing(task, find_corruption(text), names))


def _missing(task: Task, corruption: Corruption, names: Sequence[str]) -> str:
    """Missing requirements in words; empty if there are none."""
    channels, senses = _channels(task, names), _senses(task, names)
    if isinstance(corruption, ImageCorruption):
        return "" if "rgb" in channels else "a sensor of colour images"
    if isinstance(corruption, DepthCorruption):
        return "" if "depth" in channels else "a sensor of depth"
    if isinstance(corruption, CameraCorruption):
        return "" if channels and (not corruption.rgb_only or "rgb" in channels) else "a sensor of images"
    if isinstance(corruption, TimingCorruption):
        return "" if channels else "a sensor of images"
    if isinstance(corruption, PoseCorruption):
        if task.images.poses == "odometry" and "gps" in corruption.sensors:
            return "poses that gps and compass estimate, not odometry,"
        return "" if senses & set(corruption.sensors) else f"a sensor of {' or '.join(corruption.sensors)}"
    if isinstance(corruption, MotionCorruption):
        done = " or ".join(corruption.acts_on)
        return "" if _movements(task) & set(corruption.acts_on) else f"a {done} that is commanded as one step"
    if isinstance(corruption, InstructionCorruption):
        return "" if {"instruction", "instruction_tokens"} & set(names) else "a sensor of the instruction"
    if isinstance(corruption, GoalCorruption):
        sensor = GOAL_SENSORS[corruption.modality]
        is_given = any(isinstance(find_goal_sensor(name, task.make_sensor), sensor) for name in names)
        return "" if is_given else f"goals given by {corruption.modality}, as in goat-v1,"
    raise InputError(f"expected a corruption of one of the known kinds, got {type(corruption).__name__}")


def _channels(task: Task, names: Sequence[str]) -> set[str]:
    """Channels of the cameras that sensors read, or that maps are drawn from."""
    found: set[str] = set()
    for name in names:
        sensor = find_goal_sensor(name, task.make_sensor)
        if sensor is not None:
            found.update(sensor.channels)
            continue
        sources = find_sources(task.embodiment, name, task.make_sensor)
        found.update(one.sensor.channel for one in sources if isinstance(one.sensor, ImageSensor))
    if task.images.poses == "odometry" and {"gps", "compass"} & _senses(task, names):
        found.add("depth")
    return found


def _senses(task: Task, names: Sequence[str]) -> set[str]:
    """Sensors of the pose that are read, or from which others derive, as maps at estimated poses do."""
    goals = [one for name in names if (one := find_goal_sensor(name, task.make_sensor)) is not None]
    found = {source for sensor in goals for source in sensor.follows} | set(names)
    is_mapped = task.images.poses is not None and any(sensor.is_map for sensor in goals)
    return found | {"gps", "compass"} if is_mapped else found


def _movements(task: Task) -> set[str]:
    """Movements of the actions that corruptions of motion act on: "walk", "turn"."""
    if task.drives:
        return set()
    table = movement_table(task.embodiment, task.actions)
    done = {"walk": bool(has_translation(table).any()), "turn": bool(table[:, TURN].any())}
    return {name for name, does in done.items() if does}
