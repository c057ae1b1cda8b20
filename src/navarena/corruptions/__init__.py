"""Corruptions of a robot's images, motion, estimated pose, goals and instructions, by name and severity."""

from navarena.corruptions.augmentations import Augmentation
from navarena.corruptions.catalog import (
    AUGMENTATIONS,
    CORRUPTIONS,
    find_corruption,
    find_corruptions,
    join_corruptions,
    redraw_corruption,
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
    InstructionCorruption,
    MotionCorruption,
    PoseCorruption,
    TimingCorruption,
)
from navarena.corruptions.one_by_one import EachDepth, EachImage

__all__ = [
    "AUGMENTATIONS",
    "CORRUPTIONS",
    "FLOORS",
    "SEVERITIES",
    "Augmentation",
    "CameraCorruption",
    "Corruption",
    "DepthCorruption",
    "EachDepth",
    "EachImage",
    "GoalCorruption",
    "GoalImageCorruption",
    "GoalWordsCorruption",
    "ImageCorruption",
    "InstructionCorruption",
    "MotionCorruption",
    "PoseCorruption",
    "TimingCorruption",
    "find_corruption",
    "find_corruptions",
    "join_corruptions",
    "redraw_corruption",
    "write_corruption",
]
