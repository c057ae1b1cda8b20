"""Sensors of goals and tasks."""

from navarena.tasks.sensors.catalog import GOAL_SENSORS
from navarena.tasks.sensors.goal_sensor import GoalSensor

__all__ = ["GOAL_SENSORS", "GoalSensor"]
