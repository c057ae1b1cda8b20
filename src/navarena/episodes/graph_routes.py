"""`r2r-graph-houses-v1`: instructions along paths on the floor graphs of generated houses.

What R2R is to Matterport3D's scans, without a download: shortest paths of 5 to 7 places, each described by
three instructions that were checked by a reader. Splits are those of `r2r-houses-v1` (see `route_sets`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from jaxtyping import Float, Int

from navarena.core.errors import SceneError
from navarena.core.seeding import make_generator, scene_name
from navarena.episodes.episode import Episode
from navarena.episodes.floor_graph import house_graph
from navarena.episodes.goals import GraphGoal
from navarena.episodes.language.surroundings import Surroundings
from navarena.episodes.language.vocabulary import route_vocabulary
from navarena.episodes.recipe import EpisodeRecipe, SceneBatch, Stream
from navarena.episodes.routes import find_wordings
from navarena.episodes.sampling import as_tuple, round_distance
from navarena.metrics.instruction import SUCCESS_DISTANCE
from navarena.scenes.graphs.graph import NavGraph
from navarena.scenes.graphs.panorama import HEADINGS, STEP
from navarena.simulation.body import Embodiment
from navarena.simulation.body_catalog import VLN_CE
from navarena.simulation.world import World

GRAPH_ROUTE_SET = "r2r-graph-houses-v1"
"""The data set of instructions on the graphs of generated houses."""

MAX_TRIES = 2000
"""Paths drawn for one that can be described, after which a house counts as unfit."""

SEEN, PARTS = "val_seen", 8
"""The split in houses of another one, and its share of their pairs of places: one of so many."""


@dataclass(frozen=True)
class GraphRouteRecipe(EpisodeRecipe):
    """Paths on floor graphs, after those of R2R (Anderson et al. 2018).

    Start and goal are drawn from all pairs of places whose shortest path has the right number of places;
    the body looks along one of the 12 headings of views. Pairs of places in either order that `val_seen`
    may draw are left out of all other splits. Small houses have fewer pairs than paths: these differ then in
    heading and words alone; houses without paths of 5 places have their longest ones.

    Attributes:
        protocol_id: whose episodes they are.
        embodiment: the body that stands at the places.
        places: fewest and most along a path, both ends included.
        wordings: instructions of each path.
        success_distance: metres, geodesic, from the goal to where each instruction leads a reader.
        default_dataset: see EpisodeRecipe.
    """

    protocol_id: str
    embodiment: Embodiment
    places: tuple[int, int] = (5, 7)
    wordings: int = 3
    success_distance: float = SUCCESS_DISTANCE
    default_dataset: str = GRAPH_ROUTE_SET

    def make(self, world: World, count: int, stream: Stream, first: int = 0) -> SceneBatch:
        """Episodes `first` to `first + count - 1`, `wordings` of each path next to each other.

        `dropped` counts paths that could not be described. Raises SceneError when the house is too small.
        """
        graph, scene = house_graph(world), scene_name(world.scene_id)
        surroundings = Surroundings(world)
        pairs = self.find_pairs(graph, stream)
        episodes: list[Episode] = []
        dropped, first_path = 0, first // self.wordings
        for index in range(first_path, -(-(first + count) // self.wordings)):
            generator = make_generator(
                self.protocol_id, stream.dataset, stream.split, stream.seed, scene, index, "way"
            )
            for row in generator.integers(len(pairs), size=MAX_TRIES).tolist():
                path = graph.shortest_path(*pairs[row].tolist())
                made = self._describe(surroundings, graph, path, generator, f"{scene}-{index:04d}")
                if made:
                    episodes += made
                    break
                dropped += 1
            else:
                raise SceneError(f"expected paths of {scene!r} that can be described, got none")
        skipped = first - first_path * self.wordings
        return SceneBatch(tuple(episodes[skipped : skipped + count]), dropped)

    def find_pairs(self, graph: NavGraph, stream: Stream) -> Int[np.ndarray, "p 2"]:
        """(P, 2) start and goal of every path of the right length that the split of `stream` may draw.

        Raises SceneError when there is none.
        """
        fewest, most = self.places
        size = len(graph)
        lengths = np.array(
            [[len(graph.shortest_path(a, b)) for b in range(size)] for a in range(size)], np.int64
        )
        fits = np.triu((lengths >= min(fewest, lengths.max())) & (lengths <= most), 1)
        pairs = np.argwhere(fits)
        if len(pairs) < 2:
            raise SceneError(
                f"expected paths of up to {most} places in {graph.scan!r}, got too few; choose a larger house"
            )
        generator = make_generator(self.protocol_id, self.default_dataset, scene_name(graph.scan), "parts")
        dealt = pairs[generator.permutation(len(pairs))]
        held = max(len(pairs) // PARTS, 1)
        chosen = dealt[:held] if stream.split == SEEN else dealt[held:]
        return np.concatenate([chosen, chosen[:, ::-1]])

    def _describe(
        self,
        surroundings: Surroundings,
        graph: NavGraph,
        path: Int[np.ndarray, "k"],
        generator: np.random.Generator,
        path_id: str,
    ) -> list[Episode]:
        """One episode for each instruction, with ids as R2R's: "{path_id}_{k}"; none without instructions."""
        floor = graph.positions[path] - np.array([0.0, 1.0, 0.0]) * graph.camera_heights[path, None]
        legs = [surroundings.navmesh.shortest_path(a, b) for a, b in pairwise(floor)]
        corners = np.concatenate([legs[0], *(leg[1:] for leg in legs[1:])])
        heading = float(generator.integers(HEADINGS) * STEP)
        texts = find_wordings(
            surroundings, corners, -heading, generator, self.wordings, self.success_distance
        )
        words = route_vocabulary()
        points = tuple(as_tuple(point) for point in graph.positions[path])
        names = tuple(graph.viewpoints[place] for place in path.tolist())
        length = round_distance(float(graph.distances[path[0], path[-1]]))
        return [
            Episode(
                f"{path_id}_{k}",
                graph.scan,
                points[0],
                -heading,
                GraphGoal(text, points, path_id, _tokens(words.encode(text)), viewpoints=names),
                length,
            )
            for k, text in enumerate(texts or ())
        ]

    def measure_gaps(self, world: World, paths: Sequence[Episode]) -> Float[np.ndarray, "p p"]:
        """(P, P) metres along the graph from the end of each path to the start of each."""
        graph = house_graph(world)
        goals = [path.goal for path in paths if isinstance(path.goal, GraphGoal)]
        ends, starts = (graph.indices([goal.viewpoints[place] for goal in goals]) for place in (-1, 0))
        return np.ascontiguousarray(graph.distances[np.ix_(ends, starts)])


def _tokens(encoded: Int[np.ndarray, "t"]) -> tuple[int, ...]:
    """The numbers of words without the padding behind them."""
    return tuple(encoded[: int(np.count_nonzero(encoded))].tolist())


R2R_GRAPH_V1 = GraphRouteRecipe("r2r-v1", VLN_CE)
