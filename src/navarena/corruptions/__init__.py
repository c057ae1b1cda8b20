"""What spoils a robot's sight, motion, knowledge of its pose and goals, by name and severity."""

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
    GoalCorruption,
    GoalImageCorruption,
    GoalWordsCorruption,
    ImageCorruption,
    MotionCorruption,
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
    "GoalCorruption",
    "GoalImageCorruption",
    "GoalWordsCorruption",
    "ImageCorruption",
    "MotionCorruption",
    "PoseCorruption",
    "find_corruption",
    "find_corruptions",
    "join_corruptions",
    "write_corruption",
]
