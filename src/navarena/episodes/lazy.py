"""Episodes that are made scene by scene when they are read, and kept in the cache."""

import inspect
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, overload

import msgspec
import numpy as np

from navarena.core.sources import source_fingerprint
from navarena.episodes.episode import Episode
from navarena.episodes.goals import decode_goal
from navarena.episodes.recipe import EpisodeRecipe, SceneBatch, Stream
from navarena.scenes.catalog import scene_hash
from navarena.scenes.packs import Pack, content_hash, load_or_build
from navarena.simulation.world import open_world

KEPT_SCENES = 64
"""Scenes whose episodes stay in memory."""


class SceneEpisodes(Sequence[Episode]):
    """The episodes of many scenes, `per_scene` in each, in the order of the scenes.

    Args:
        recipe: makes them.
        scenes: scene ids, or paths of mesh files such as "scan.ply?up=z".
        per_scene: episodes in each.
        stream: names their random draws.
    """

    def __init__(
        self,
        recipe: EpisodeRecipe,
        scenes: Sequence[str],
        per_scene: int,
        stream: Stream,
    ) -> None:
        self._recipe, self._scenes, self._per_scene, self._stream = recipe, tuple(scenes), per_scene, stream
        self._batch = lru_cache(KEPT_SCENES)(self._load)

    def __len__(self) -> int:
        return len(self._scenes) * self._per_scene

    @overload
    def __getitem__(self, index: int) -> Episode: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Episode, ...]: ...
    def __getitem__(self, index: int | slice) -> Episode | tuple[Episode, ...]:
        if isinstance(index, slice):
            return tuple(self[i] for i in range(*index.indices(len(self))))
        if not -len(self) <= index < len(self):
            raise IndexError(f"expected an index below {len(self)}, got {index}")
        scene, row = divmod(int(index) % len(self), self._per_scene)
        return self.scene_batch(scene).episodes[row]

    def __iter__(self) -> Iterator[Episode]:
        for scene in range(len(self._scenes)):
            yield from self.scene_batch(scene).episodes

    def scene_batch(self, index: int) -> SceneBatch:
        """The episodes of the scene `index`; made when nobody has made them before."""
        return self._batch(index)

    @property
    def dropped(self) -> int:
        """Candidates in all scenes that the planner could not solve."""
        return sum(self.scene_batch(index).dropped for index in range(len(self._scenes)))

    @property
    def recipe_hash(self) -> str:
        """16 hex digits that name what determines the episodes, without making them."""
        return content_hash(repr(self._recipe), repr(self._stream), *self._scenes, str(self._per_scene))[:16]

    def _load(self, index: int) -> SceneBatch:
        """The batch of one scene from the cache, made first when it is not there."""
        scene_id = self._scenes[index]
        key = content_hash(
            scene_hash(scene_id),
            repr(self._recipe),
            repr(self._stream),
            str(self._per_scene),
            source_fingerprint(Path(inspect.getfile(type(self._recipe)))),
        )
        pack = load_or_build("episodes", key, lambda: _to_arrays(self._make(scene_id)))
        return _from_pack(pack, scene_id)

    def _make(self, scene_id: str) -> SceneBatch:
        world = open_world(scene_id, self._recipe.embodiment)
        return self._recipe.make(world, self._per_scene, self._stream)


def _to_arrays(batch: SceneBatch) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    encoded = msgspec.json.encode(batch.episodes)
    return {"episodes": np.frombuffer(encoded, np.uint8)}, {"dropped": batch.dropped}


def _from_pack(pack: Pack, scene_id: str) -> SceneBatch:
    episodes = msgspec.json.decode(
        pack.arrays["episodes"].tobytes(), type=tuple[Episode, ...], dec_hook=decode_goal
    )
    # Equal files share one pack, whatever their paths.
    return SceneBatch(
        tuple(replace(episode, scene_id=scene_id) for episode in episodes), int(pack.meta["dropped"])
    )
