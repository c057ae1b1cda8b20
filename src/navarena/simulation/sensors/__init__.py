"""What bodies sense of themselves and through their cameras."""

from navarena.simulation.sensors.catalog import SENSORS
from navarena.simulation.sensors.pictures import Depth
from navarena.simulation.sensors.sensor import (
    BodySensor,
    CameraSensor,
    ObservationSpec,
    PictureSensor,
    Sensor,
)

__all__ = [
    "SENSORS",
    "BodySensor",
    "CameraSensor",
    "Depth",
    "ObservationSpec",
    "PictureSensor",
    "Sensor",
]
