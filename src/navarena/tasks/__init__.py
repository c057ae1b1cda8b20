"""The meaning of steps: goals, rewards, ends; and the environments that run them."""

from navarena.tasks.batch import NavigationBatch
from navarena.tasks.catalog import TASKS, get_task
from navarena.tasks.env import NavigationEnv
from navarena.tasks.task import StepResult, Task, TaskState
from navarena.tasks.vector_env import NavigationVectorEnv

__all__ = [
    "TASKS",
    "NavigationBatch",
    "NavigationEnv",
    "NavigationVectorEnv",
    "StepResult",
    "Task",
    "TaskState",
    "get_task",
]
