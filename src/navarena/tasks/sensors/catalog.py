"""The goal sensors, by name."""

from collections.abc import Sequence

from navarena.core.errors import UnknownNameError, unknown_name
from navarena.core.registry import Registry
from navarena.simulation.observation_sources import OwnSensor, find_sources
from navarena.simulation.sensors.catalog import SENSORS, make_sensor
from navarena.simulation.sensors.sensor import Sensor
from navarena.tasks.sensors.goal_sensor import GoalSensor
from navarena.tasks.sensors.privileged import find_privileged
from navarena.tasks.task import Task, TaskRules

GOAL_SENSORS = Registry(
    "goal sensor",
    {
        "current_subtask": "navarena.tasks.sensors.lifelong_goal:CurrentSubtask",
        "frontier_direction": "navarena.tasks.sensors.frontier_direction:FrontierDirection",
        "goal_distance": "navarena.tasks.sensors.progress:GoalDistance",
        "goal_map": "navarena.tasks.sensors.goal_map:GoalMap",
        "goal_map_predicted": "navarena.tasks.sensors.goal_map:PredictedGoalMap",
        "goal_map_similar": "navarena.tasks.sensors.goal_map_similar:SimilarGoalMap",
        "goal_mask": "navarena.tasks.sensors.goal_mask:GoalMask",
        "goal_vector": "navarena.tasks.sensors.goal_vector:GoalVector",
        "image_goal": "navarena.tasks.sensors.lifelong_goal:ImageGoalSensor",
        "instruction": "navarena.tasks.sensors.instruction:Instruction",
        "instruction_tokens": "navarena.tasks.sensors.instruction:InstructionTokens",
        "language_goal": "navarena.tasks.sensors.lifelong_goal:LanguageGoal",
        "multiobjectgoal": "navarena.tasks.sensors.class_goal:MultiObjectGoal",
        "nearest_seen_class": "navarena.tasks.sensors.seen_goals:NearestSeenClass",
        "nearest_seen_class_5m": "navarena.tasks.sensors.seen_goals:NearestSeenClassOfAppendix",
        "objectgoal": "navarena.tasks.sensors.class_goal:ObjectGoalSensor",
        "occupancy_map": "navarena.tasks.sensors.seen_maps:OccupancyMapSensor",
        "occupancy_map_iterative": "navarena.tasks.sensors.seen_maps:IterativeOccupancyMap",
        "occupancy_map_known": "navarena.tasks.sensors.seen_maps:KnownOccupancyMap",
        "oracle_ego_map": "navarena.tasks.sensors.oracle_maps:OracleEgoMap",
        "oracle_ego_map_code": "navarena.tasks.sensors.oracle_maps:OracleEgoMapOfCode",
        "oracle_ego_map_dynamic": "navarena.tasks.sensors.oracle_map_variants:DynamicOracleEgoMap",
        "oracle_map": "navarena.tasks.sensors.oracle_maps:OracleMap",
        "oracle_map_150": "navarena.tasks.sensors.oracle_map_variants:CoarseOracleMap",
        "oracle_map_600": "navarena.tasks.sensors.oracle_map_variants:FineOracleMap",
        "oracle_map_dynamic": "navarena.tasks.sensors.oracle_map_variants:DynamicOracleMap",
        "oracle_map_objects": "navarena.tasks.sensors.oracle_map_variants:OracleObjectMap",
        "oracle_map_objects_dynamic": "navarena.tasks.sensors.oracle_map_variants:DynamicOracleObjectMap",
        "oracle_map_occupancy": "navarena.tasks.sensors.oracle_map_variants:OracleOccupancyMap",
        "oracle_map_paper": "navarena.tasks.sensors.oracle_map_variants:OracleMapOfPaper",
        "oracle_map_stacked": "navarena.tasks.sensors.oracle_map_variants:StackedOracleMap",
        "phase": "navarena.tasks.sensors.tour:PhaseSensor",
        "pointgoal": "navarena.tasks.sensors.point_goal:PointGoal",
        "pointgoal_with_gps_compass": "navarena.tasks.sensors.point_goal:PointGoalWithGpsCompass",
        "progress": "navarena.tasks.sensors.progress:Progress",
        "seen_goals": "navarena.tasks.sensors.seen_goals:SeenGoals",
        "semantic_classes": "navarena.tasks.sensors.semantic_classes:SemanticClasses",
        "semantic_map": "navarena.tasks.sensors.seen_maps:SemanticMapSensor",
        "semantic_map_iterative": "navarena.tasks.sensors.seen_maps:IterativeSemanticMap",
        "semantic_map_known": "navarena.tasks.sensors.seen_maps:KnownSemanticMap",
        "semantic_map_predicted": "navarena.tasks.sensors.predicted:PredictedSemanticMap",
        "semantic_map_predicted_iterative": "navarena.tasks.sensors.predicted:IterativePredictedSemanticMap",
        "semantic_predicted": "navarena.tasks.sensors.predicted:SemanticPredicted",
        "tour_position": "navarena.tasks.sensors.tour:TourPosition",
    },
    "navarena.goal_sensors",
)
"""Name -> class (called without arguments). Packages add theirs in the entry-point group."""


def find_goal_sensor(name: str, own: OwnSensor) -> GoalSensor | None:
    """The goal sensor `name`, the `own` version if there is one; None for sensors of the body.

    A sensor that takes an argument is also called NAME:ARGUMENT. Where both have a name, it is the body's.

    Raises InputError for a sensor that calls itself otherwise.
    """
    found = own(name)
    if found is None and name in GOAL_SENSORS and name not in SENSORS:
        found = make_sensor(GOAL_SENSORS, name)
    kind, mark, argument = name.partition(":")
    if found is None and mark and kind in GOAL_SENSORS and GOAL_SENSORS.get(kind).takes_argument:
        sensor = GOAL_SENSORS.get(kind)
        found = sensor(**{sensor.takes_argument: argument})
    return found if isinstance(found, GoalSensor) else None


def shows_no_more(task: TaskRules, name: str) -> bool:
    """Whether the sensor `name` exists for `task` and shows no more than the protocol's own."""
    if name in task.sensors or not isinstance(task, Task):
        return name in task.sensors
    goal = find_goal_sensor(name, task.find_sensor)
    try:
        of_body = find_body_sensors(task, () if goal else (name,))
    except UnknownNameError:
        return False
    return not find_privileged(task, of_body, {name: goal} if goal else {})


def find_body_sensors(task: Task, names: Sequence[str]) -> dict[str, list[Sensor]]:
    """Name -> sensors of the body; raises UnknownNameError, with the nearest of all, where none answers."""
    found = {}
    for name in names:
        try:
            found[name] = [one.sensor for one in find_sources(task.camera_body, name, task.find_sensor)]
        except UnknownNameError as error:
            raise unknown_name("sensor", name, [*SENSORS.names(), *GOAL_SENSORS.names()]) from error
    return found
