"""navarena: one arena for embodied indoor navigation.

The names in `__all__` are loaded when first used, so that `import navarena` costs next to nothing:

    import navarena

    settings = navarena.EvaluationSettings("pointnav-v1", agent="expert", split="mini")
    evaluation = navarena.evaluate(settings)
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from navarena.agents import Agent as Agent
    from navarena.agents import Boundary as Boundary
    from navarena.agents import SingleAgent as SingleAgent
    from navarena.agents import load_agent as load_agent
    from navarena.core.errors import NavarenaError as NavarenaError
    from navarena.core.seeding import make_generator as make_generator
    from navarena.episodes import Episode as Episode
    from navarena.episodes import EpisodeDataset as EpisodeDataset
    from navarena.episodes import load_episodes as load_episodes
    from navarena.episodes import make_episodes as make_episodes
    from navarena.episodes import save_episodes as save_episodes
    from navarena.evaluation import Evaluation as Evaluation
    from navarena.evaluation import EvaluationSettings as EvaluationSettings
    from navarena.evaluation import evaluate as evaluate
    from navarena.evaluation import replay_run as replay_run
    from navarena.metrics import Trajectory as Trajectory
    from navarena.scenes import Scene as Scene
    from navarena.scenes import load_scene as load_scene
    from navarena.scenes.houses import build_house as build_house
    from navarena.simulation import Camera as Camera
    from navarena.simulation import Embodiment as Embodiment
    from navarena.simulation import Simulator as Simulator
    from navarena.simulation import World as World
    from navarena.simulation import get_body as get_body
    from navarena.simulation import open_world as open_world
    from navarena.simulation.navmesh import NavMesh as NavMesh
    from navarena.tasks import NavigationBatch as NavigationBatch
    from navarena.tasks import NavigationEnv as NavigationEnv
    from navarena.tasks import NavigationVectorEnv as NavigationVectorEnv
    from navarena.tasks import Task as Task
    from navarena.tasks import get_task as get_task

__version__ = "0.1.0"

_PUBLIC = {
    "Agent": "navarena.agents",
    "Boundary": "navarena.agents",
    "Camera": "navarena.simulation",
    "Embodiment": "navarena.simulation",
    "Episode": "navarena.episodes",
    "EpisodeDataset": "navarena.episodes",
    "Evaluation": "navarena.evaluation",
    "EvaluationSettings": "navarena.evaluation",
    "NavMesh": "navarena.simulation.navmesh",
    "NavarenaError": "navarena.core.errors",
    "NavigationBatch": "navarena.tasks",
    "NavigationEnv": "navarena.tasks",
    "NavigationVectorEnv": "navarena.tasks",
    "Scene": "navarena.scenes",
    "Simulator": "navarena.simulation",
    "SingleAgent": "navarena.agents",
    "Task": "navarena.tasks",
    "Trajectory": "navarena.metrics",
    "World": "navarena.simulation",
    "build_house": "navarena.scenes.houses",
    "evaluate": "navarena.evaluation",
    "get_body": "navarena.simulation",
    "get_task": "navarena.tasks",
    "load_agent": "navarena.agents",
    "load_episodes": "navarena.episodes",
    "load_scene": "navarena.scenes",
    "make_episodes": "navarena.episodes",
    "make_generator": "navarena.core.seeding",
    "open_world": "navarena.simulation",
    "replay_run": "navarena.evaluation",
    "save_episodes": "navarena.episodes",
}

__all__ = sorted(["__version__", *_PUBLIC])


def __getattr__(name: str) -> Any:
    """The public object `name`, imported from its package on first use."""
    if name not in _PUBLIC:
        raise AttributeError(f"module 'navarena' has no attribute {name!r}")
    value = getattr(importlib.import_module(_PUBLIC[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*globals(), *_PUBLIC]
