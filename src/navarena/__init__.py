"""navarena: one arena for embodied indoor navigation.

The names below are loaded when first used, so that `import navarena` costs next to nothing:

    import navarena

    settings = navarena.EvaluationSettings("pointnav-v1", agent="expert", split="mini")
    evaluation = navarena.evaluate(settings)
"""

from typing import TYPE_CHECKING

from navarena.core.lazy import lazy_names

if TYPE_CHECKING:
    from navarena.agents import Agent, Boundary, SingleAgent, load_agent
    from navarena.core.errors import NavarenaError
    from navarena.core.seeding import make_generator
    from navarena.episodes import Episode, EpisodeDataset, load_episodes, make_episodes, save_episodes
    from navarena.evaluation import Evaluation, EvaluationSettings, evaluate, replay_run
    from navarena.metrics import Trajectory
    from navarena.reports.notebooks import show
    from navarena.scenes import Scene, load_scene
    from navarena.scenes.houses import build_house
    from navarena.simulation import Camera, Embodiment, Simulator, World, get_body, open_world
    from navarena.simulation.navmesh import NavMesh
    from navarena.tasks import NavigationBatch, NavigationEnv, NavigationVectorEnv, Task, get_task

__version__ = "0.2.0"

__all__ = [
    "Agent",
    "Boundary",
    "Camera",
    "Embodiment",
    "Episode",
    "EpisodeDataset",
    "Evaluation",
    "EvaluationSettings",
    "NavMesh",
    "NavarenaError",
    "NavigationBatch",
    "NavigationEnv",
    "NavigationVectorEnv",
    "Scene",
    "Simulator",
    "SingleAgent",
    "Task",
    "Trajectory",
    "World",
    "__version__",
    "build_house",
    "evaluate",
    "get_body",
    "get_task",
    "load_agent",
    "load_episodes",
    "load_scene",
    "make_episodes",
    "make_generator",
    "open_world",
    "replay_run",
    "save_episodes",
    "show",
]

__getattr__, __dir__ = lazy_names(__name__)
