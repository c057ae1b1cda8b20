"""Opening what the protocols on navigation graphs need: graphs, and tours or single episodes."""

from dataclasses import dataclass, replace
from pathlib import Path

from navarena.core.errors import InputError
from navarena.episodes.exchange.r2r import R2RFile, load_r2r
from navarena.episodes.exchange.vocabulary import load_vocabulary
from navarena.episodes.graph_episodes import GraphEpisode, Tour, list_episodes, open_atlas, single_tours
from navarena.episodes.tours import build_tours, load_tours, pick_split
from navarena.scenes.graphs.atlas import GraphAtlas
from navarena.scenes.graphs.matterport import Connectivity


@dataclass(frozen=True)
class GraphData:
    """A split of R2R with its graphs, checked against each other.

    Attributes:
        file: paths and instructions.
        atlas: graphs of the scans that the file names.
        episodes: by instruction id, in the file's order.
        tours: of the iterative protocols, or one for each episode.
        iterative: whether `tours` come from a tour file.
    """

    file: R2RFile
    atlas: GraphAtlas
    episodes: dict[str, GraphEpisode]
    tours: tuple[Tour, ...]
    iterative: bool

    @property
    def split(self) -> str:
        """Name of the split."""
        return self.file.split


def open_graph_data(
    r2r: Path,
    connectivity: Path,
    tours: Path | None = None,
    split: str | None = None,
    vocabulary: Path | None = None,
) -> GraphData:
    """Read and check a split.

    Args:
        r2r: R2R file, .json or .json.gz, raw or encoded.
        connectivity: folder or tarball of connectivity files.
        tours: tour file; None for single episodes.
        split: None for the one in the R2R file's name.
        vocabulary: file of words by which instructions without encodings are encoded.

    Raises FileError naming file, id and reason.
    """
    file = load_r2r(Path(r2r), split)
    if vocabulary is not None:
        file = replace(file, paths=load_vocabulary(Path(vocabulary)).encode_paths(file.paths))
    atlas = open_atlas(file, Connectivity(Path(connectivity)))
    episodes = list_episodes(file)
    if tours is None:
        return GraphData(file, atlas, episodes, single_tours(episodes), False)
    _, lists = pick_split(load_tours(Path(tours)), file.split, Path(tours))
    return GraphData(file, atlas, episodes, build_tours(lists, episodes, str(tours)), True)


def require_kind(data: GraphData, iterative: bool, protocol_id: str) -> None:
    """Raise InputError when an iterative protocol has no tours, or an episodic one has some."""
    if iterative and not data.iterative:
        raise InputError(
            f"expected a tour file for {protocol_id}, got none; make one with: navarena tours make"
        )
    if data.iterative and not iterative:
        raise InputError(f"expected no tour file for {protocol_id}, got one; use ir2r-v1, or leave it out")
