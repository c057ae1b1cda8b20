"""PointNav in drawn worlds, with a small camera so that tests are quick."""

from dataclasses import replace

from navarena.episodes.episode import Episode, PointGoal
from navarena.simulation.body import Camera
from navarena.simulation.body_catalog import LOCOBOT
from navarena.simulation.world import WorldCache
from navarena.tasks.point_nav import PointNav
from worlds import HALL, ROOMS, draw_world

SMALL_BODY = replace(LOCOBOT, name="small", cameras=(Camera(width_px=32, height_px=24),))


class SmallPointNav(PointNav):
    """pointnav-v1 with a picture of 32 x 24 pixels."""

    embodiment = SMALL_BODY
    max_steps = 60


def make_cache():
    """Holds the worlds "hall" and "rooms"."""
    cache = WorldCache(SMALL_BODY)
    cache.add(draw_world(HALL, scene_id="hall"))
    cache.add(draw_world(ROOMS, scene_id="rooms"))
    return cache


def make_episode(name, start, goal, yaw=0.0, scene="hall", distance=1.0):
    return Episode(name, scene, start, yaw, PointGoal(goal), distance)


AHEAD = make_episode("ahead", (5.0, 0.0, 5.0), (5.0, 0.0, 4.0))
"""The goal is one metre straight ahead."""

LEFT = make_episode("left", (5.0, 0.0, 5.0), (3.0, 0.0, 5.0), distance=2.0)
ROUND = make_episode("round", (3.5, 0.0, 2.5), (3.5, 0.0, 4.5), scene="rooms", distance=2.5)
FAR = make_episode("far", (2.0, 0.0, 1.0), (8.0, 0.0, 6.0), yaw=2.0, scene="rooms", distance=8.0)
CUT_OFF = make_episode("cut-off", (5.0, 0.0, 1.0), (5.0, 0.0, 9.0), scene="rooms", distance=8.0)
EPISODES = (AHEAD, LEFT, ROUND, FAR)
