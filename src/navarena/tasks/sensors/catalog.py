"""The goal sensors, by name."""

from navarena.core.registry import Registry

GOAL_SENSORS = Registry(
    "goal sensor",
    {
        "instruction": "navarena.tasks.sensors.instruction:Instruction",
        "instruction_tokens": "navarena.tasks.sensors.instruction:InstructionTokens",
        "multiobjectgoal": "navarena.tasks.sensors.class_goal:MultiObjectGoal",
        "objectgoal": "navarena.tasks.sensors.class_goal:ObjectGoalSensor",
        "pointgoal_with_gps_compass": "navarena.tasks.sensors.point_goal:PointGoalWithGpsCompass",
    },
    "navarena.goal_sensors",
)
"""Name -> class (called without arguments). Packages add theirs in the entry-point group."""
