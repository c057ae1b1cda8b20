"""Which sensors show more than the observations of a protocol give."""

from collections.abc import Mapping, Sequence

from navarena.simulation.sensors.sensor import ImageSensor, Sensor
from navarena.tasks.sensors.goal_sensor import GoalSensor
from navarena.tasks.task import Task

POSE_SENSORS = ("gps", "compass", "odometry")
"""Sensors of the body that tell its pose, odometry by the sum of its motions."""

POSE_GIVEN_BY = frozenset((*POSE_SENSORS, "pointgoal_with_gps_compass"))
"""Observations of which one gives the pose."""


def find_privileged(
    task: Task, of_body: Mapping[str, Sequence[Sensor]], of_goals: Mapping[str, GoalSensor]
) -> set[str]:
    """Names of those sensors, of the body and of goals, that show what no observation of `task` gives."""
    found = {name for name, sensor in of_goals.items() if sensor.is_privileged(task.sensors)}
    found |= {name for name, sensors in of_body.items() if any(one.privileged for one in sensors)}
    beyond = {name for name, sensors in of_body.items() if any(_is_beyond(task, one) for one in sensors)}
    beyond |= {
        name
        for name, sensor in of_goals.items()
        if not all(offers_channel(task, channel) for channel in sensor.channels)
        or (sensor.is_map and task.images.poses != "odometry" and _hides_pose(task))
    }
    return found | (beyond - set(task.sensors))


def offers_channel(task: Task, channel: str) -> bool:
    """Whether `task` offers images of `channel`, of any camera."""
    return any(name == channel or name.endswith(f"_{channel}") for name in task.sensors)


def _is_beyond(task: Task, sensor: Sensor) -> bool:
    """Whether a sensor of the body measures what `task` does not offer: images, or its pose."""
    if isinstance(sensor, ImageSensor):
        return not offers_channel(task, sensor.channel)
    if sensor.name == "odometry" and task.images.poses == "odometry":  # which measures no motion
        return True
    return sensor.name in POSE_SENSORS and _hides_pose(task)


def _hides_pose(task: Task) -> bool:
    """Whether nothing that `task` offers tells the pose."""
    return POSE_GIVEN_BY.isdisjoint(task.sensors)
