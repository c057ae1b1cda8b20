"""Videos of chosen episodes as a page shows them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class FilmCard:
    """A video with what it shows.

    Attributes:
        run: label of the run.
        episode_id, scene_id: of the episode.
        kind: why it was chosen, such as "best".
        status: "success", "failure", or how the agent broke it.
        seconds: that it plays.
        source: what the page loads: the video itself as a data address, or the name of a file beside it.
        poster: a picture as a data address, for paper and until it plays.
    """

    run: str
    episode_id: str
    scene_id: str
    kind: str
    status: str
    seconds: float
    source: str
    poster: str
