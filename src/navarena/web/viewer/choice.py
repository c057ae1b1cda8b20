"""Choice of single episodes, or of those of one scene, in a form that a run can be replayed from."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from navarena.core.errors import InputError, unknown_name
from navarena.episodes.dataset import EpisodeDataset, save_episodes
from navarena.episodes.episode import Episode
from navarena.evaluation.benchmark import absolute_dataset, is_scene
from navarena.evaluation.settings import RUNS_FOLDER, EvaluationSettings
from navarena.tasks.catalog import get_task
from navarena.tasks.graphs.task import GraphTask
from navarena.tasks.sources import load_task_episodes

FOLDER = "chosen-episodes"
"""Below the folder of the run, or of all runs: lists of chosen episodes, named by what is in them."""


def choose_episodes(
    settings: EvaluationSettings, scene: str | None = None, episode: str | None = None
) -> EvaluationSettings:
    """`settings` for the episodes of one scene, or for one episode; the same where neither is given.

    A scene whose episodes are not in the split gets generated ones. The choice is kept as an episode file, so
    that the run can be replayed.

    Raises UnknownNameError for an episode that is not there, InputError where a choice cannot be made.
    """
    if scene is None and episode is None:
        return settings
    task = get_task(settings.protocol)
    if isinstance(task, GraphTask) or task.tour_scoring is not None:
        raise InputError(
            f"expected episodes that stand alone for --scene and --episode, got {settings.protocol}; "
            "play its split, or the first --episodes of it"
        )
    if scene is not None and (
        Path(scene).exists() or (settings.dataset is None and not _has(settings, scene))
    ):
        if not is_scene(scene):
            raise InputError(
                f"expected the id of a scene or a mesh file, got {scene!r}; `navarena list scenes`"
            )
        if episode is not None:
            raise InputError(f"expected --episode in a scene of the split, got {scene!r}, which is not in it")
        return replace(settings, dataset=absolute_dataset(scene))
    dataset = load_task_episodes(task, settings.split, settings.dataset, settings.sources)
    found = [one for one in dataset.episodes if scene in (None, one.scene_id)]
    if not found:
        raise unknown_name("scene of the episodes", str(scene), {one.scene_id for one in dataset.episodes})
    if episode is not None:
        ids = [one.episode_id for one in found]
        if episode not in ids:
            raise unknown_name("episode", episode, ids)
        found = [found[ids.index(episode)]]
    return replace(settings, dataset=str(_keep(settings.out or RUNS_FOLDER, dataset, found)))


def _has(settings: EvaluationSettings, scene: str) -> bool:
    """Whether a split has episodes in `scene`."""
    task = get_task(settings.protocol)
    dataset = load_task_episodes(task, settings.split, settings.dataset, settings.sources)
    if dataset.is_stream:
        raise InputError(f"expected a split that is a list for --scene, got {settings.split!r}")
    return any(one.scene_id == scene for one in dataset.episodes)


def _keep(folder: Path, dataset: EpisodeDataset, episodes: Sequence[Episode]) -> Path:
    """An episode file with `episodes` below `folder`, in a place that their hash names."""
    chosen = replace(dataset, episodes=tuple(episodes), recipe_hash="")
    name = hashlib.sha256(chosen.hash.encode()).hexdigest()[:12]
    path = (folder / FOLDER / f"{dataset.protocol_id}-{name}.json").absolute()
    path.parent.mkdir(parents=True, exist_ok=True)
    save_episodes(chosen, path)
    return path
