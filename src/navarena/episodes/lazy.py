"""Episodes that are made scene by scene when they are read: kept in the cache, or streamed."""

import inspect
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import as_completed
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from navarena.core.memo import Memo
from navarena.core.processes import open_pool
from navarena.core.seeding import scene_name
from navarena.core.sources import source_fingerprint
from navarena.episodes.episode import Episode
from navarena.episodes.goals import decode_goal
from navarena.episodes.house_blocks import RecipeBlocks
from navarena.episodes.recipe import EpisodeRecipe, SceneBatch, Stream
from navarena.episodes.sequence import EpisodeSequence, SceneRows
from navarena.scenes.catalog import scene_hash
from navarena.scenes.packs import Pack, content_hash, load_or_build
from navarena.simulation.world import open_world

KEPT_BLOCKS = 64
"""Blocks of episodes that stay in memory."""


class SceneEpisodes(EpisodeSequence):
    """The episodes of many scenes, `per_scene` in each.

    Scenes follow one another in blocks of episodes: with `block` episodes of each scene, then the next
    `block` of each, and so on. Without `block`, all episodes of a scene come before the next scene, and
    are kept in the cache; blocks are made anew each time, since nobody would ever read all of them twice.

    Args:
        recipe: makes them.
        scenes: scene ids, or paths of mesh files such as "scan.ply?up=z".
        per_scene: episodes in each.
        stream: names their random draws.
        block: episodes of one scene in a row; a divisor of `per_scene`.
    """

    def __init__(
        self,
        recipe: EpisodeRecipe,
        scenes: Sequence[str],
        per_scene: int,
        stream: Stream,
        block: int | None = None,
    ) -> None:
        self._recipe, self._scenes, self._per_scene, self._stream = recipe, tuple(scenes), per_scene, stream
        self._block = per_scene if block is None else block
        self._batch = Memo(self._load if block is None else self._make, KEPT_BLOCKS)

    def __len__(self) -> int:
        return len(self._scenes) * self._per_scene

    def episode_at(self, row: int) -> Episode:
        place, row = divmod(row, self._block)
        turn, scene = divmod(place, len(self._scenes))
        return self.scene_batch(scene, turn).episodes[row]

    def __iter__(self) -> Iterator[Episode]:
        for turn in range(self._per_scene // self._block):
            for scene in range(len(self._scenes)):
                yield from self.scene_batch(scene, turn).episodes

    def scene_rows(self) -> dict[str, SceneRows]:
        """Scene id -> rows of its episodes; nothing is made."""
        stride, rows = self._block * len(self._scenes), range(self._block)
        return {
            scene: SceneRows(range(index * self._block, len(self), stride), rows)
            for index, scene in enumerate(self._scenes)
        }

    @property
    def blocks(self) -> RecipeBlocks | None:
        """Blocks for other processes to make; None if all episodes of a scene form one block."""
        if self._block == self._per_scene:
            return None
        return RecipeBlocks(self._recipe, self._scenes, self._stream, self._per_scene, self._block)

    def scene_batch(self, index: int, turn: int = 0) -> SceneBatch:
        """Block `turn` of the episodes of the scene `index`; made when nobody has made them before."""
        return self._batch(index, turn)

    def make_all(self, workers: int, progress: Callable[[int], None] = lambda done: None) -> None:
        """Make the missing episodes of all scenes in several processes and cache them.

        Args:
            workers: processes; 1 for this one alone. The episodes do not depend on it.
            progress: called with the number of scenes done since the last call.
        """
        if workers == 1:
            for index in range(len(self._scenes)):
                self.scene_batch(index)
                progress(1)
            return
        arguments = (self._recipe, self._per_scene, self._stream)
        with open_pool(workers) as pool:
            for done in as_completed([pool.submit(_fill, one, *arguments) for one in self._scenes]):
                done.result()
                progress(1)

    @property
    def dropped(self) -> int:
        """Candidates in the first block of all scenes that the planner could not solve."""
        return sum(self.scene_batch(index).dropped for index in range(len(self._scenes)))

    @property
    def recipe_hash(self) -> str:
        """16 hex digits that name what determines the episodes, without making them."""
        return content_hash(repr(self._recipe), repr(self._stream), *self._scenes, str(self._per_scene))[:16]

    def _load(self, index: int, turn: int) -> SceneBatch:
        """The batch of one scene from the cache, made first when it is not there."""
        scene_id = self._scenes[index]
        key = content_hash(
            scene_hash(scene_id),
            scene_name(scene_id),
            repr(self._recipe),
            repr(self._stream),
            str(self._per_scene),
            source_fingerprint(Path(inspect.getfile(type(self._recipe)))),
        )
        place = f"{scene_id}, scene {index + 1} of {len(self._scenes)}"
        pack = load_or_build("episodes", key, lambda: _to_arrays(self._make(index, turn)), place)
        return _from_pack(pack, scene_id)

    def _make(self, index: int, turn: int) -> SceneBatch:
        world = open_world(self._scenes[index], self._recipe.embodiment)
        return self._recipe.make(world, self._block, self._stream, turn * self._block)


def _fill(scene_id: str, recipe: EpisodeRecipe, per_scene: int, stream: Stream) -> None:
    """Leave the episodes of one scene in the cache."""
    SceneEpisodes(recipe, (scene_id,), per_scene, stream).scene_batch(0)


def _to_arrays(batch: SceneBatch) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    encoded = msgspec.json.encode(batch.episodes)
    return {"episodes": np.frombuffer(encoded, np.uint8)}, {"dropped": batch.dropped}


def _from_pack(pack: Pack, scene_id: str) -> SceneBatch:
    episodes = msgspec.json.decode(
        pack.arrays["episodes"].tobytes(), type=tuple[Episode, ...], dec_hook=decode_goal
    )
    # Equal files of one name share one pack, whatever their folders.
    return SceneBatch(
        tuple(replace(episode, scene_id=scene_id) for episode in episodes), int(pack.meta["dropped"])
    )
