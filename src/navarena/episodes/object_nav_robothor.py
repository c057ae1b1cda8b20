"""Episodes of RoboTHOR's ObjectNav: success needs a visible goal object near the stopped body."""

import math
from dataclasses import dataclass, replace

from navarena.episodes.object_nav import ObjectNavRecipe
from navarena.episodes.recipe import SceneBatch, Stream
from navarena.episodes.view_points import ViewPointSettings
from navarena.scenes.houses.vocabulary import ROBOTHOR
from navarena.simulation.body import Embodiment
from navarena.simulation.body_catalog import LOCOBOT_ROBOTHOR, LOCOBOT_ROBOTHOR_2020
from navarena.simulation.instance_images import Nearness
from navarena.simulation.world import World

ROBOTHOR_CATEGORIES = tuple(sorted(ROBOTHOR))
"""Task category id -> object type (spec 2.6: alphabetical)."""

APARTMENTS = "robothor-like-v1"
"""Scenes of the protocols of RoboTHOR and RobustNav."""

VISIBLE_WITHIN = 1.0
"""Metres: AI2-THOR's visibilityDistance in both challenges (spec 2.6, "Visible")."""

AGENT_CENTRE = 0.9
"""Metres from the floor to the point of the body above which AI2-THOR measures heights."""

ARRIVAL = 0.1
"""Metres within which a body that plans its path stands at a view point."""

START_HORIZON = math.radians(30)
"""Radians downwards, `initial_horizon` of every episode of 2021 and of RobustNav (spec 2.6, 3.4)."""


FOOTNOTE_LIMITS = (1.5, 3.78)
"""Metres up to which episodes are easy, and medium, as RobustNav's paper has it; the labels in its files are
quantiles of each scene (spec 3.4)."""


def visible_nearness(distance: float) -> Nearness:
    """Surfaces that AI2-THOR counts as visible when a ray meets them, for a visibilityDistance in metres."""
    return Nearness(distance, AGENT_CENTRE + distance)


def robothor_view_points(embodiment: Embodiment, visible_within: float = VISIBLE_WITHIN) -> ViewPointSettings:
    """Places from which an object is visible, for bodies that stop up to 0.1 m beside them.

    The camera looks level, and up and down as far as it tilts; only pixels count whose surface is near.
    """
    low, high = embodiment.tilt_range
    return ViewPointSettings(
        ROBOTHOR_CATEGORIES,
        embodiment,
        reach=visible_within,
        tilts=(low, 0.0, high),
        nearness=visible_nearness(visible_within - ARRIVAL),
    )


@dataclass(frozen=True)
class RobothorRecipe(ObjectNavRecipe):
    """Rules of ObjectNavRecipe, with RoboTHOR's places, and with the camera tilted at the start.

    Attributes:
        start_tilt: radians, upwards.
        default_dataset: see EpisodeRecipe; apartments like those of RoboTHOR.
    """

    difficulty: tuple[float, float] = FOOTNOTE_LIMITS
    start_tilt: float = 0.0
    default_dataset: str = APARTMENTS

    @property
    def view_points(self) -> ViewPointSettings:
        """View points from which the object is visible."""
        return robothor_view_points(self.embodiment)

    def make(self, world: World, count: int, stream: Stream, first: int = 0) -> SceneBatch:
        """Make episodes; arguments and errors as in ObjectNavRecipe."""
        batch = super().make(world, count, stream, first)
        tilted = tuple(replace(episode, start_tilt=self.start_tilt) for episode in batch.episodes)
        return replace(batch, episodes=tilted)


OBJECTNAV_ROBOTHOR2020_V1 = RobothorRecipe(
    "objectnav-robothor2020-v1", LOCOBOT_ROBOTHOR_2020, ROBOTHOR_CATEGORIES
)
OBJECTNAV_ROBOTHOR2021_V1 = RobothorRecipe(
    "objectnav-robothor2021-v1", LOCOBOT_ROBOTHOR, ROBOTHOR_CATEGORIES, start_tilt=-START_HORIZON
)
