"""Tasks: goals, rewards and ends of episodes, and the environments that run them."""

from typing import TYPE_CHECKING

from navarena.core.lazy import lazy_names

if TYPE_CHECKING:
    from navarena.tasks.batch import NavigationBatch
    from navarena.tasks.calibration_env import CalibrationEnv
    from navarena.tasks.catalog import TASKS, change_images, get_body_task, get_task
    from navarena.tasks.env import NavigationEnv
    from navarena.tasks.graphs.batch import GraphBatch
    from navarena.tasks.graphs.oracle import GraphOracleRules
    from navarena.tasks.graphs.rendered_features import RenderedFeatures
    from navarena.tasks.graphs.task import GraphTask
    from navarena.tasks.graphs.teacher import GraphTeacher, path_actions, remaining_distances, teacher_actions
    from navarena.tasks.image_options import ImageOptions
    from navarena.tasks.sources import load_task_episodes, make_batch
    from navarena.tasks.task import OracleRules, Phase, StepResult, Task, TaskRules, TaskState
    from navarena.tasks.teacher import BodyTeacher, Teacher, make_teacher
    from navarena.tasks.user_files import Sources
    from navarena.tasks.vector_env import NavigationVectorEnv

__all__ = [
    "TASKS",
    "BodyTeacher",
    "CalibrationEnv",
    "GraphBatch",
    "GraphOracleRules",
    "GraphTask",
    "GraphTeacher",
    "ImageOptions",
    "NavigationBatch",
    "NavigationEnv",
    "NavigationVectorEnv",
    "OracleRules",
    "Phase",
    "RenderedFeatures",
    "Sources",
    "StepResult",
    "Task",
    "TaskRules",
    "TaskState",
    "Teacher",
    "change_images",
    "get_body_task",
    "get_task",
    "load_task_episodes",
    "make_batch",
    "make_teacher",
    "path_actions",
    "remaining_distances",
    "teacher_actions",
]

__getattr__, __dir__ = lazy_names(__name__)
