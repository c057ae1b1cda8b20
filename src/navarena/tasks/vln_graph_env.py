"""One environment of a protocol on navigation graphs, with Gymnasium's interface."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from navarena.core.errors import ActionError, InputError
from navarena.episodes.graph_data import GraphData, open_graph_data, require_kind
from navarena.episodes.graph_episodes import Tour
from navarena.scenes.graphs.features import ViewFeatures
from navarena.tasks.catalog import get_graph_task
from navarena.tasks.phase import Phase
from navarena.tasks.vln_graph import GraphTask
from navarena.tasks.vln_graph_batch import GraphBatch, GraphStep, Walk
from navarena.tasks.vln_graph_observer import GraphSpec
from navarena.tasks.vln_graph_scoring import score_walk


def find_data(
    task: GraphTask,
    data: GraphData | None,
    r2r: str | Path | None,
    connectivity: str | Path | None,
    tours: str | Path | None,
    split: str | None,
) -> GraphData:
    """The given data, else those in the files; raises InputError when neither is there."""
    if data is None:
        if r2r is None or connectivity is None:
            raise InputError(
                f"expected r2r=FILE and connectivity=FOLDER for {task.protocol_id}, got {r2r} and "
                f"{connectivity}"
            )
        tour_file = None if tours is None else Path(tours)
        data = open_graph_data(Path(r2r), Path(connectivity), tour_file, split)
    require_kind(data, task.iterative, task.protocol_id)
    return data


def draw_tour(data: GraphData, generator: np.random.Generator) -> Tour:
    """One of the tours, each with equal probability."""
    return data.tours[int(generator.integers(len(data.tours)))]


def graph_observation_space(specs: Mapping[str, GraphSpec], tours: Sequence[Tour]) -> spaces.Dict:
    """A Dict of a Box for each array and a Text for the instruction, by name."""
    texts = [episode.instruction for tour in tours for episode in tour.episodes]
    letters = "".join(sorted({letter for text in texts for letter in text})) or " "
    longest = max((len(text) for text in texts), default=1)
    boxes: dict[str, spaces.Space[Any]] = {}
    for name, spec in sorted(specs.items()):
        if spec.shape is None:
            boxes[name] = spaces.Text(max_length=max(longest, 1), min_length=0, charset=letters)
        else:
            dtype: Any = np.dtype(spec.dtype).type
            boxes[name] = spaces.Box(
                np.full(spec.shape, spec.low, dtype), np.full(spec.shape, spec.high, dtype), dtype=dtype
            )
    return spaces.Dict(boxes)


def describe_step(
    batch: GraphBatch, slot: int, step: GraphStep | None = None, walk: Walk | None = None
) -> dict[str, Any]:
    """The info of one slot: who it is, and how an agent phase that has just ended scored."""
    tour, episode = batch.tour(slot), batch.episode(slot)
    info: dict[str, Any] = {
        "episode_id": episode.episode_id,
        "tour_id": tour.tour_id,
        "scene_id": tour.scan,
        "viewpoint": batch.atlas.viewpoint(int(batch.state.node[slot])),
        "phase": Phase(int(batch.state.phase[slot])).name.lower(),
    }
    if step is not None and walk is not None:
        ended = tour.episodes[int(batch.state.position[slot]) - int(step.began[slot])]
        info["ended"] = ended.episode_id
        info["stopped"] = walk.stopped
        if ended.has_goal:
            scored = score_walk(batch.atlas, walk.nodes, ended, batch.task.spl_reference)
            info["metrics"] = asdict(scored.scores)
    return info


class GraphEnv(gymnasium.Env[dict[str, Any], np.int64]):
    """One body on navigation graphs: episodes of `r2r-v1`, tours of `ir2r-v1`.

    `reset` draws a tour with the environment's generator, or begins the one given by
    `options={"tour": tour}`. `step` goes on through the oracle phases of a tour; what the agent does
    there is ignored.

    The info holds "episode_id", "tour_id", "scene_id", "viewpoint" and "phase"; that of the step
    which ends an agent phase also "ended" (its episode id), "stopped" and "metrics".

    Args:
        task: protocol id or task.
        r2r, connectivity, tours, split: files, see `open_graph_data`.
        data: in their place.
        sensors: names of the observations; None for all that the protocol offers.
        features: of the views, for the sensors that need them.
    """

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(
        self,
        task: str | GraphTask = "r2r-v1",
        r2r: str | Path | None = None,
        connectivity: str | Path | None = None,
        tours: str | Path | None = None,
        split: str | None = None,
        data: GraphData | None = None,
        sensors: Sequence[str] | None = None,
        features: ViewFeatures | None = None,
    ) -> None:
        self.task = get_graph_task(task) if isinstance(task, str) else task
        self._data = find_data(self.task, data, r2r, connectivity, tours, split)
        self.batch = GraphBatch(self.task, self._data.atlas, 1, sensors, features)
        self.observation_space: gymnasium.Space[Any] = graph_observation_space(
            self.batch.observer.specs, self._data.tours
        )
        self.action_space = spaces.Discrete(len(self.task.actions))

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin a tour; (observations, info). Equal seeds give equal sequences of tours."""
        super().reset(seed=seed)
        tour = (options or {}).get("tour")
        if tour is None:
            tour = draw_tour(self._data, self.np_random)
        self.batch.start([0], [tour])
        return self._observe(), describe_step(self.batch, 0)

    def step(self, action: Any) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Carry out one action; (observations, reward, terminated, truncated, info).

        Raises ActionError for an action that is no index into `task.actions`, before the first
        reset and after the end of a tour.
        """
        if not np.issubdtype(np.asarray(action).dtype, np.integer) or np.asarray(action).size != 1:
            raise ActionError(
                f"expected one integer action within 0..{len(self.task.actions) - 1}, got {action!r}"
            )
        step = self.batch.step(np.asarray(action, np.int64).reshape(1))
        walk = next(iter(self.batch.take_records()), None)
        info = describe_step(self.batch, 0, step, walk)
        return self._observe(), float(step.reward[0]), bool(step.terminated[0]), bool(step.truncated[0]), info

    def _observe(self) -> dict[str, Any]:
        return {name: _unwrap(values[0]) for name, values in self.batch.observations.items()}


def _unwrap(value: Any) -> Any:
    """A text as it is, a number as an array without axes, an array as a copy."""
    return value if isinstance(value, str) else np.array(value)
