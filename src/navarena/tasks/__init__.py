"""The meaning of steps: goals, rewards, ends; and the environments that run them."""

from navarena.tasks.batch import NavigationBatch
from navarena.tasks.calibration_env import CalibrationEnv
from navarena.tasks.catalog import GRAPH_TASKS, TASKS, TOUR_TASKS, get_graph_task, get_task, get_tour_task
from navarena.tasks.env import NavigationEnv
from navarena.tasks.phase import Phase
from navarena.tasks.rendered_features import RenderedFeatures
from navarena.tasks.task import StepResult, Task, TaskState
from navarena.tasks.teacher import Teacher
from navarena.tasks.tour_batch import TourBatch, TourRecord, TourStep
from navarena.tasks.tour_env import TourEnv
from navarena.tasks.tour_vector_env import TourVectorEnv
from navarena.tasks.vector_env import NavigationVectorEnv
from navarena.tasks.vln_graph import GraphTask, OracleRules
from navarena.tasks.vln_graph_batch import GraphBatch, GraphStep, Walk
from navarena.tasks.vln_graph_env import GraphEnv
from navarena.tasks.vln_graph_teacher import path_actions, remaining_distances, teacher_actions
from navarena.tasks.vln_graph_vector_env import GraphVectorEnv

__all__ = [
    "GRAPH_TASKS",
    "TASKS",
    "TOUR_TASKS",
    "CalibrationEnv",
    "GraphBatch",
    "GraphEnv",
    "GraphStep",
    "GraphTask",
    "GraphVectorEnv",
    "NavigationBatch",
    "NavigationEnv",
    "NavigationVectorEnv",
    "OracleRules",
    "Phase",
    "RenderedFeatures",
    "StepResult",
    "Task",
    "TaskState",
    "Teacher",
    "TourBatch",
    "TourEnv",
    "TourRecord",
    "TourStep",
    "TourVectorEnv",
    "Walk",
    "get_graph_task",
    "get_task",
    "get_tour_task",
    "path_actions",
    "remaining_distances",
    "teacher_actions",
]
