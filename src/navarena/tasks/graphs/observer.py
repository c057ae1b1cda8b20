"""Observations of bodies on navigation graphs."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float32

from navarena.core.errors import InputError, unknown_name
from navarena.episodes.episode import Episode
from navarena.episodes.graph_episodes import require_graph_goal
from navarena.episodes.language.vocabulary import MAX_TOKENS
from navarena.scenes.graphs.atlas import GraphAtlas
from navarena.scenes.graphs.features import ViewFeatures
from navarena.scenes.graphs.panorama import (
    HEADINGS,
    VIEW_ELEVATIONS,
    VIEW_HEADINGS,
    VIEWS,
    angle_feature,
    panorama_angles,
    relative_angle,
)
from navarena.simulation.sensors.sensor import ObservationSpec
from navarena.tasks.graphs.state import GraphState
from navarena.tasks.sensors.instruction import MAX_LETTERS, TEXT
from navarena.tasks.task import Phase

KEPT_PLACES = 512
"""Places whose features stay in memory."""

FEATURE_SENSORS = ("view_features", "candidate_features")
"""Sensors that show features of views."""

LONGEST_EDGE = 1e3
"""Metres, an upper bound for observation spaces."""


class GraphObserver:
    """Computes the observations of N bodies.

    Args:
        atlas: of the scans.
        state: of the bodies.
        names: of the observations.
        features: of the views, if any.
        shows_instruction: also in oracle phases.

    Raises UnknownNameError for an unknown name, InputError where features are missing.
    """

    def __init__(
        self,
        atlas: GraphAtlas,
        state: GraphState,
        names: Sequence[str],
        features: ViewFeatures | None = None,
        shows_instruction: bool = False,
    ) -> None:
        self._atlas, self._state, self._features = atlas, state, features
        self._shows = shows_instruction
        self._panoramas = np.stack([panorama_angles(view) for view in range(HEADINGS)])
        self._texts = np.zeros(len(state.node), TEXT)
        self._next_texts = np.zeros(len(state.node), TEXT)
        self._tokens = np.zeros((len(state.node), MAX_TOKENS), np.int32)
        self._next_tokens = np.zeros((len(state.node), MAX_TOKENS), np.int32)
        self._kept: dict[int, Float32[np.ndarray, "36 d"]] = {}
        known = self._known_specs()
        for name in names:
            if name not in known:
                raise unknown_name("graph sensor", name, known)
            if name in FEATURE_SENSORS and features is None:
                raise InputError(f"expected features of the views for the sensor {name!r}, got none")
        self.specs = {name: known[name] for name in names}

    def begin(self, slot: int, episode: Episode) -> None:
        """Take over the instruction of the episode that begins in `slot`."""
        self._write(slot, episode, self._texts, self._tokens)

    def announce(self, slot: int, following: Episode) -> None:
        """Take over the instruction of the episode to which the oracle leads the body in `slot`."""
        self._write(slot, following, self._next_texts, self._next_tokens)

    def save_state(self) -> tuple[np.ndarray, ...]:
        """Texts (N,) of the current and the next episodes and their token ids (N, T), for `restore_state`."""
        return self._texts, self._next_texts, self._tokens, self._next_tokens

    def restore_state(self, saved: tuple[np.ndarray, ...]) -> None:
        """Restore the texts (N,) and token ids (N, T) of `save_state`, which are not copied."""
        self._texts, self._next_texts, self._tokens, self._next_tokens = saved

    def _write(self, slot: int, episode: Episode, texts: np.ndarray, tokens: np.ndarray) -> None:
        goal = require_graph_goal(episode)
        if len(goal.instruction) > MAX_LETTERS:
            raise InputError(
                f"expected an instruction of at most {MAX_LETTERS} letters, got {len(goal.instruction)} in "
                f"episode {episode.episode_id!r}"
            )
        texts[slot] = goal.instruction
        kept = goal.tokens[:MAX_TOKENS]
        tokens[slot] = 0
        tokens[slot, : len(kept)] = kept

    def observe(self) -> dict[str, np.ndarray]:
        """Name -> (N, ...) current values."""
        return {name: getattr(self, f"_see_{name}")() for name in self.specs}

    def _known_specs(self) -> dict[str, ObservationSpec]:
        """Every observation; the method `_see_{name}` computes it."""
        columns, most = self._atlas.candidates.places.shape[1], len(self._atlas)
        size = 0 if self._features is None else self._features.size
        wide, large = float(np.finfo(np.float32).max), float(np.iinfo(np.int32).max)
        return {
            "instruction": ObservationSpec((), TEXT, 0, 0, "letters"),
            "instruction_tokens": ObservationSpec((MAX_TOKENS,), np.int32, 0, large),
            "viewpoint": ObservationSpec((), np.int64, 0, most - 1),
            "view_index": ObservationSpec((), np.int64, 0, VIEWS - 1),
            "action_mask": ObservationSpec((columns + 1,), np.bool_, 0, 1),
            "candidate_viewpoints": ObservationSpec((columns,), np.int64, -1, most - 1),
            "candidate_views": ObservationSpec((columns,), np.int64, -1, VIEWS - 1),
            "candidate_angles": ObservationSpec((columns, 4), np.float32, -1, 1),
            "candidate_distances": ObservationSpec((columns,), np.float32, 0, LONGEST_EDGE),
            "candidate_features": ObservationSpec((columns, size), np.float32, -wide, wide),
            "view_angles": ObservationSpec((VIEWS, 4), np.float32, -1, 1),
            "view_features": ObservationSpec((VIEWS, size), np.float32, -wide, wide),
            "phase": ObservationSpec((), np.int64, 0, max(Phase)),
            "tour_position": ObservationSpec((), np.int64, 0, large),
        }

    def _see_instruction(self) -> np.ndarray:
        return self._shown(self._texts, self._next_texts, "")

    def _see_instruction_tokens(self) -> np.ndarray:
        return self._shown(self._tokens, self._next_tokens, 0)

    def _see_viewpoint(self) -> np.ndarray:
        return self._state.node.copy()

    def _see_view_index(self) -> np.ndarray:
        return self._state.view.copy()

    def _see_phase(self) -> np.ndarray:
        return self._state.phase.copy()

    def _see_tour_position(self) -> np.ndarray:
        return self._state.tour_position.copy()

    def _see_candidate_viewpoints(self) -> np.ndarray:
        return self._atlas.candidates.places[self._state.node].astype(np.int64)

    def _see_candidate_distances(self) -> np.ndarray:
        return self._atlas.candidates.distances[self._state.node]

    def _see_view_angles(self) -> Float32[np.ndarray, "n 36 4"]:
        return self._panoramas[self._state.view % HEADINGS]

    def _shown(self, current: np.ndarray, following: np.ndarray, hidden: str | int) -> np.ndarray:
        phase = self._state.phase
        shape = (-1, *([1] * (current.ndim - 1)))
        if self._shows:
            return np.where((phase == Phase.ORACLE_START).reshape(shape), following, current)
        shown = np.full_like(current, hidden)
        mine = phase == Phase.AGENT
        shown[mine] = current[mine]
        return shown

    def _see_action_mask(self) -> np.ndarray:
        there = self._atlas.candidates.places[self._state.node] >= 0
        return np.concatenate([np.ones((len(there), 1), bool), there], 1)

    def _see_candidate_views(self) -> np.ndarray:
        node = self._state.node
        candidates = self._atlas.candidates
        return np.where(candidates.places[node] >= 0, candidates.views[node].astype(np.int64), -1)

    def _see_candidate_angles(self) -> Float32[np.ndarray, "n c 4"]:
        """Angles to the neighbours relative to the view along which the body looks; zeros beyond the last."""
        state, candidates = self._state, self._atlas.candidates
        heading = relative_angle(candidates.headings[state.node], VIEW_HEADINGS[state.view][:, None])
        elevation = candidates.elevations[state.node] - VIEW_ELEVATIONS[state.view][:, None]
        angles = angle_feature(heading, elevation)
        angles[candidates.places[state.node] < 0] = 0.0
        return angles

    def _views_of(self, node: int) -> Float32[np.ndarray, "36 d"]:
        """The features of a node; the last KEPT_PLACES that were loaded stay in memory."""
        if node not in self._kept:
            if len(self._kept) >= KEPT_PLACES:
                del self._kept[next(iter(self._kept))]
            self._kept[node] = self._load_views(node)
        return self._kept[node]

    def _load_views(self, node: int) -> Float32[np.ndarray, "36 d"]:
        if self._features is None:
            raise InputError("expected features of the views, got none")
        scan = self._atlas.scans[int(self._atlas.scan_of_node[node])]
        viewpoint = self._atlas.viewpoint(node)
        values = self._features.views(scan, viewpoint)
        if values.shape != (VIEWS, self._features.size):
            raise InputError(
                f"expected features of shape ({VIEWS}, {self._features.size}) for viewpoint {viewpoint} of "
                f"scan {scan}, got {values.shape}"
            )
        return values

    def _see_view_features(self) -> Float32[np.ndarray, "n 36 d"]:
        return np.stack([self._views_of(int(node)) for node in self._state.node])

    def _see_candidate_features(self) -> Float32[np.ndarray, "n c d"]:
        """Features of the view nearest to each neighbour's direction; zeros beyond the last."""
        state, candidates = self._state, self._atlas.candidates
        views = candidates.views[state.node].astype(np.int64)
        seen = self._see_view_features()[np.arange(len(views))[:, None], views]
        seen[candidates.places[state.node] < 0] = 0.0
        return seen
