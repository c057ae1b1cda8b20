"""Sensors of the pose and of the cameras of bodies."""

from navarena.simulation.sensors.catalog import SENSORS
from navarena.simulation.sensors.images import Depth
from navarena.simulation.sensors.sensor import (
    BodySensor,
    CameraSensor,
    ImageSensor,
    ObservationSpec,
    Sensor,
)

__all__ = [
    "SENSORS",
    "BodySensor",
    "CameraSensor",
    "Depth",
    "ImageSensor",
    "ObservationSpec",
    "Sensor",
]
