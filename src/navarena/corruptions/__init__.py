"""What spoils a robot's sight, motion and knowledge of its pose, by name and severity."""

from navarena.corruptions.catalog import (
    AUGMENTATIONS,
    CORRUPTIONS,
    find_corruption,
    find_corruptions,
    join_corruptions,
    write_corruption,
)
from navarena.corruptions.corruption import (
    FLOORS,
    SEVERITIES,
    CameraCorruption,
    Corruption,
    DepthCorruption,
    MotionCorruption,
    PictureCorruption,
    PoseCorruption,
)

__all__ = [
    "AUGMENTATIONS",
    "CORRUPTIONS",
    "FLOORS",
    "SEVERITIES",
    "CameraCorruption",
    "Corruption",
    "DepthCorruption",
    "MotionCorruption",
    "PictureCorruption",
    "PoseCorruption",
    "find_corruption",
    "find_corruptions",
    "join_corruptions",
    "write_corruption",
]
