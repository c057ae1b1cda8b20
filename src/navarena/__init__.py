"""navarena: one arena for embodied indoor navigation.

The names below are loaded when first used, so that `import navarena` costs next to nothing:

    import navarena

    env = navarena.make_env("pointnav-v1", split="mini")
"""

import importlib
from typing import Any

__version__ = "0.1.0"

_PUBLIC = {
    "Agent": "navarena.agents",
    "Embodiment": "navarena.simulation",
    "Episode": "navarena.episodes",
    "EvaluationSettings": "navarena.evaluation",
    "NavigationBatch": "navarena.tasks",
    "NavigationEnv": "navarena.tasks",
    "NavigationVectorEnv": "navarena.tasks",
    "NavarenaError": "navarena.core.errors",
    "Scene": "navarena.scenes",
    "Simulator": "navarena.simulation",
    "SingleAgent": "navarena.agents",
    "Trajectory": "navarena.metrics",
    "build_house": "navarena.scenes.houses",
    "evaluate": "navarena.evaluation",
    "get_task": "navarena.tasks",
    "load_agent": "navarena.agents",
    "load_episodes": "navarena.episodes",
    "load_scene": "navarena.scenes",
    "open_world": "navarena.simulation",
}

__all__ = ["__version__", *sorted(_PUBLIC)]


def __getattr__(name: str) -> Any:
    """The public object `name`, imported from its package on first use."""
    if name not in _PUBLIC:
        raise AttributeError(f"module 'navarena' has no attribute {name!r}")
    value = getattr(importlib.import_module(_PUBLIC[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*globals(), *_PUBLIC]
