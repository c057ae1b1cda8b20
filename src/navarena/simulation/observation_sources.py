"""Finds the sensors, and their cameras, that a list of observation names asks for."""

from collections.abc import Callable
from dataclasses import dataclass

from navarena.core.errors import InputError, unknown_name
from navarena.simulation.body import Embodiment
from navarena.simulation.sensors.catalog import SENSORS, make_sensor
from navarena.simulation.sensors.sensor import (
    BodySensor,
    CameraSensor,
    ImageSensor,
    ObservationSpec,
    Sensor,
)

OwnSensor = Callable[[str], Sensor | None]
"""A protocol's own version of the sensor of a name (such as its depth range); None for the registered one."""


@dataclass(frozen=True)
class ObservationSource:
    """One observation: its sensor and its camera.

    Attributes:
        name: key among the observations, with the camera's prefix.
        sensor: what fills it.
        camera: index into Embodiment.cameras; -1 for sensors without a camera.
    """

    name: str
    sensor: Sensor
    camera: int = -1


def find_sources(
    embodiment: Embodiment, sensor: str | Sensor, own: OwnSensor = lambda kind: None
) -> list[ObservationSource]:
    """The observations that `sensor` stands for on a body.

    A sensor object stands for all cameras that can serve it; a name such as "left_rgb" for one.
    `own` versions take the place of registered sensors.
    Raises UnknownNameError for a name that no sensor (and camera) answers to.
    """
    if isinstance(sensor, Sensor):
        return (
            [ObservationSource(sensor.name, sensor)]
            if isinstance(sensor, BodySensor)
            else _seen(embodiment, sensor)
        )
    for name in dict.fromkeys(camera.name for camera in embodiment.cameras):
        kind = sensor.removeprefix(f"{name}_") if name else sensor
        found = None if name and kind == sensor else _make_sensor(kind, own)
        if found is not None and not isinstance(found, BodySensor):
            return _seen(embodiment, found, name)
    found = _make_sensor(sensor, own)
    if isinstance(found, BodySensor):
        return [ObservationSource(sensor, found)]
    raise unknown_name("sensor", sensor, SENSORS.names())


def _make_sensor(kind: str, own: OwnSensor) -> Sensor | None:
    found: Sensor | None = own(kind)
    if found is None and kind in SENSORS.names():
        found = make_sensor(SENSORS, kind)
    return found


def _seen(embodiment: Embodiment, sensor: Sensor, only: str | None = None) -> list[ObservationSource]:
    """Observations of an image or camera sensor: by the first camera of each name that can serve it."""
    channel = sensor.channel if isinstance(sensor, ImageSensor) else None
    sources: dict[str, ObservationSource] = {}
    for index, camera in enumerate(embodiment.cameras):
        serves = channel is None or channel in camera.channels
        if serves and only in (None, camera.name):
            name = f"{camera.name}_{sensor.name}" if camera.name else sensor.name
            sources.setdefault(name, ObservationSource(name, sensor, index))
    if not sources:
        raise InputError(
            f"expected a camera of {embodiment.name!r} that takes {channel!r}, got none; leave the sensor "
            f"{sensor.name!r} out"
        )
    return list(sources.values())


def spec_of(source: ObservationSource, embodiment: Embodiment) -> ObservationSpec:
    """Shape, type and bounds of one observation."""
    if isinstance(source.sensor, ImageSensor | CameraSensor):
        return source.sensor.spec(embodiment.cameras[source.camera])
    if isinstance(source.sensor, BodySensor):
        return source.sensor.spec()
    raise InputError(
        f"expected a BodySensor, ImageSensor or CameraSensor, got {type(source.sensor).__name__}"
    )
