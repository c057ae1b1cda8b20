"""The sensors of the body, by name."""

from navarena.core.errors import InputError
from navarena.core.registry import Registry
from navarena.simulation.sensors.sensor import Sensor

SENSORS = Registry(
    "sensor",
    {
        "K": "navarena.simulation.sensors.cameras:IntrinsicMatrix",
        "collided": "navarena.simulation.sensors.pose:Collided",
        "compass": "navarena.simulation.sensors.pose:Compass",
        "depth": "navarena.simulation.sensors.images:Depth",
        "gps": "navarena.simulation.sensors.pose:Gps",
        "heading": "navarena.simulation.sensors.pose:Heading",
        "instance": "navarena.simulation.sensors.images:Instance",
        "odometry": "navarena.simulation.sensors.pose:Odometry",
        "position": "navarena.simulation.sensors.pose:Position",
        "rgb": "navarena.simulation.sensors.images:Rgb",
        "semantic": "navarena.simulation.sensors.images:Semantic",
        "world_from_camera": "navarena.simulation.sensors.cameras:WorldFromCamera",
    },
    "navarena.sensors",
)
"""Name -> class (called without arguments). Packages add theirs in the entry-point group."""


def make_sensor(registry: Registry, name: str) -> Sensor:
    """The sensor `name` of a `registry`; raises InputError where it would be observed under another name."""
    sensor: Sensor = registry.get(name)()
    own = getattr(sensor, "name", None)
    if own != name:
        raise InputError(f"expected a sensor called {name!r}, got {own!r}; give both the same name")
    return sensor
