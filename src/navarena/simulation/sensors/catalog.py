"""The sensors of the body, by name."""

from navarena.core.registry import Registry

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
