"""Corruptions corrupt what they are named for and nothing else, alike in every batch."""

import math
from dataclasses import replace

import numpy as np
import pytest

from navarena.core.errors import InputError, SceneError
from navarena.core.seeding import make_generator
from navarena.corruptions import (
    CORRUPTIONS,
    CameraCorruption,
    DepthCorruption,
    ImageCorruption,
    find_corruption,
)
from navarena.corruptions.noise import SpeckleNoise
from navarena.scenes.scene import Room
from navarena.simulation.body import Camera
from navarena.simulation.world import World, WorldCache
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.catalog import get_task
from navarena.tasks.corruption_checks import require_applicable, require_observed
from navarena.tasks.env import NavigationEnv
from navarena.tasks.protocols.object_nav import ObjectNavHabitat2020
from navarena.tasks.vector_env import NavigationVectorEnv
from tasks.small import EPISODES, SMALL_BODY, SmallPointNav, make_cache, make_episode
from worlds import HALL, draw_navmesh, draw_scene

SENSORS = (
    "rgb",
    "depth",
    "gps",
    "compass",
    "odometry",
    "semantic",
    "pointgoal_with_gps_compass",
    "pointgoal",
)
FORWARD, TURN_LEFT, TURN_RIGHT = 1, 2, 3
STEP, TURN = 0.25, math.radians(30)
WALK = (FORWARD, TURN_LEFT, FORWARD, FORWARD, TURN_RIGHT, FORWARD)


class Metres(DepthCorruption):
    """Adds 3 metres to what was hit."""

    severities = ()

    def corrupt(self, depths, generators):
        assert depths.ndim == 4 and depths.shape[3] == 1 and depths.dtype == np.float32
        return depths + np.float32(3) * (depths > 0)


class Dark(ImageCorruption):
    """Divides by a number that is drawn once per scene or per episode."""

    severities = ()

    def corrupt(self, images, generators):
        return np.array(
            [image // one.integers(2, 200) for image, one in zip(images, generators, strict=True)]
        )


class DarkScene(Dark):
    per = "scene"


class DarkEpisode(Dark):
    per = "episode"


class Narrow(CameraCorruption):
    """Halves the view."""

    severities = ()

    def change(self, hfov):
        return hfov / 2


class Cropped(Dark):
    def corrupt(self, images, generators):
        return images[:, ::2]


class Brighter(Dark):
    def corrupt(self, images, generators):
        return images + 256.0


@pytest.fixture(autouse=True)
def names(monkeypatch):
    own = {"metres": Metres, "dark_scene": DarkScene, "dark_episode": DarkEpisode, "narrow": Narrow}
    for name, kind in {**own, "again": SpeckleNoise, "cropped": Cropped, "brighter": Brighter}.items():
        monkeypatch.setitem(CORRUPTIONS._objects, name, kind)


def walk(slots, corruptions, read=None, task=None, episodes=EPISODES, cache=None, actions=WALK):
    """Observations and pose of each of `episodes` after each step in `read`, run `slots` at a time."""
    cache, seen, task = cache or make_cache(), {}, task or SmallPointNav()
    for first in range(0, len(episodes), slots):
        batch = NavigationBatch(task, slots, None, SENSORS, cache, corruptions)
        batch.start(range(slots), episodes[first : first + slots])
        for step in range(len(actions) + 1):
            if step:
                batch.step(np.full(slots, actions[step - 1]))
            if read is None or step in read:
                observed = batch.observations
                for slot in range(slots):
                    arrays = {name: observed[name][slot].copy() for name in observed}
                    arrays["pose"] = np.append(batch.simulator.positions[slot], batch.simulator.yaws[slot])
                    seen[episodes[first + slot].episode_id, step] = arrays
    return seen


def changed(clean, corrupted):
    """Names of the observations that differ somewhere."""
    return {
        name
        for key, arrays in corrupted.items()
        for name, value in arrays.items()
        if not np.array_equal(value, clean[key][name])
    }


POSE = {"gps", "compass", "pointgoal_with_gps_compass"}
EVERYTHING = {"rgb", "depth", "semantic", "pose", "odometry", *POSE}


@pytest.mark.parametrize(
    ("corruption", "expected"),
    [
        ("speckle_noise:5", {"rgb"}),
        ("metres", {"depth"}),
        ("narrow", {"rgb", "depth", "semantic"}),
        ("narrow:rgb_only", {"rgb"}),
        ("localisation_noise", POSE),
        ("localisation_bias", POSE),
        ("localisation_drift", POSE),
        ("localisation_quantisation", POSE),
        ("localisation_dropout", POSE),
        ("localisation_noise:gps", {"gps", "pointgoal_with_gps_compass"}),
        ("localisation_noise:compass", {"compass", "pointgoal_with_gps_compass"}),
        ("odometry_noise", {"odometry"}),
        ("latency:2", {"rgb", "depth", "semantic"}),
        ("frame_drop:70", {"rgb", "depth", "semantic"}),
        ("native_noise", EVERYTHING),
        ("pyrobot:half", EVERYTHING),
        ("pyrobot:teleport", EVERYTHING),
        ("motion_bias_constant", EVERYTHING),
        ("motion_bias_stochastic", EVERYTHING),
        ("motion_drift", EVERYTHING),
        ("motor_failure", EVERYTHING),
    ],
)
def test_each_corrupts_what_it_should_alike_in_every_batch(corruption, expected):
    clean, corrupted = walk(4, ()), walk(4, (corruption,))
    assert changed(clean, corrupted) == expected
    alone = walk(1, (corruption,), read=(3, 6))
    for key, arrays in alone.items():
        for name, value in arrays.items():
            assert value.tobytes() == corrupted[key][name].tobytes(), (key, name)


@pytest.mark.parametrize(
    ("corruption", "got"), [("cropped", r"\(2, 12, 32, 3\) of uint8"), ("brighter", r"of float64")]
)
def test_images_of_another_shape_or_range_are_refused(corruption, got):
    batch = NavigationBatch(SmallPointNav(), 2, None, ("rgb",), make_cache(), (corruption,))
    batch.start(range(2), EPISODES[:2])
    with pytest.raises(InputError, match=f"uint8 from the corruption '{corruption}', got .*{got}"):
        batch.observations["rgb"]


def test_an_image_is_corrupted_once_while_its_body_rests():
    batch = NavigationBatch(SmallPointNav(), 2, None, SENSORS, make_cache(), ("speckle_noise:5", "metres"))
    batch.start(range(2), EPISODES[:2])
    first = {name: batch.observations[name].copy() for name in ("rgb", "depth")}
    batch.step(np.full(2, FORWARD), np.array([True, False]))
    for name, before in first.items():
        assert not np.array_equal(batch.observations[name][0], before[0])
        assert np.array_equal(batch.observations[name][1], before[1])


def test_images_follow_one_another_with_their_own_draws():
    twice, clean = walk(4, ("speckle_noise:1", "again:1")), walk(4, ())
    image = clean["left", 1]["rgb"]
    scene = next(one.scene_id for one in EPISODES if one.episode_id == "left")
    for place, text in enumerate(("speckle_noise:1", "again:1")):
        generator = make_generator("corruption", text, place, "rgb", scene, "left", 1)
        image = find_corruption(text).corrupt(image[None], [generator])[0]
    assert np.array_equal(twice["left", 1]["rgb"], image)


def test_draws_last_for_a_scene_or_an_episode():
    clean = walk(4, ())
    by_scene, by_episode = walk(4, ("dark_scene",)), walk(4, ("dark_episode",))
    for seen, name in ((by_scene, ("hall",)), (by_episode, ("hall", "left"))):
        text = "dark_scene" if seen is by_scene else "dark_episode"
        divisor = make_generator("corruption", text, 0, "rgb", *name).integers(2, 200)
        for step in range(3):
            assert np.array_equal(seen["left", step]["rgb"], clean["left", step]["rgb"] // divisor)


@pytest.mark.parametrize(
    ("text", "name"), [("speckle_noise:5", "rgb"), ("pyrobot:half", "pose"), ("localisation_noise", "gps")]
)
def test_a_word_draws_other_numbers_for_the_same_episode(text, name):
    first, second, third = (walk(4, (one,)) for one in (text, f"{text}:draw-1", f"{text}:draw-2"))
    assert name in changed(first, second) and name in changed(second, third)
    assert not changed(second, walk(1, (f"{text}:draw-1",)))


def test_depth_is_corrupted_in_metres_before_it_is_clipped_and_scaled():
    clean, corrupted = walk(4, ()), walk(4, ("metres",))
    metres = clean["ahead", 0]["depth"] * 4.5 + 0.5
    inside = (metres > 0.5) & (metres < 2.0)
    assert inside.any()
    assert np.allclose(corrupted["ahead", 0]["depth"][inside] * 4.5 + 0.5, metres[inside] + 3, atol=1e-5)
    assert (corrupted["ahead", 0]["depth"][metres >= 2.0] >= clean["ahead", 0]["depth"][metres >= 2.0]).all()


def test_a_changed_camera_is_exactly_another_camera():
    class NarrowBody(SmallPointNav):
        embodiment = replace(
            SMALL_BODY, cameras=(Camera(width_px=32, height_px=24, hfov=math.radians(39.5)),)
        )

    corrupted, other, clean = walk(4, ("narrow",)), walk(4, (), task=NarrowBody()), walk(4, ())
    assert not changed(other, corrupted)
    colours = walk(4, ("narrow:rgb_only",))
    assert np.array_equal(colours["far", 2]["rgb"], other["far", 2]["rgb"])
    assert np.array_equal(colours["far", 2]["depth"], clean["far", 2]["depth"])


def test_the_goal_is_where_the_corrupted_pose_puts_it():
    seen = walk(4, ("localisation_noise:5",))
    for episode in EPISODES:
        for step in range(1, 5):
            arrays = seen[episode.episode_id, step]
            gps, compass = arrays["gps"].astype(float), float(arrays["compass"][0])
            distance, bearing = arrays["pointgoal"].astype(float)
            goal = distance * np.array([math.cos(bearing), -math.sin(bearing)])
            ahead, right = goal - gps
            expected = math.atan2(-right, ahead) - compass
            assert math.hypot(ahead, right) == pytest.approx(
                arrays["pointgoal_with_gps_compass"][0], abs=1e-4
            )
            difference = (expected - arrays["pointgoal_with_gps_compass"][1] + math.pi) % (2 * math.pi)
            assert difference == pytest.approx(math.pi, abs=1e-4)


def test_static_goal_is_that_of_the_start():
    seen = walk(4, ())
    for episode in EPISODES:
        start = seen[episode.episode_id, 0]
        assert np.array_equal(start["pointgoal"], start["pointgoal_with_gps_compass"])
        assert np.array_equal(seen[episode.episode_id, 6]["pointgoal"], start["pointgoal"])


def test_odometry_adds_up_to_the_pose():
    seen = walk(4, ("native_noise",))
    for episode in EPISODES:
        x = z = yaw = 0.0
        for step in range(len(WALK) + 1):
            arrays = seen[episode.episode_id, step]
            ahead, right, turn = arrays["odometry"].astype(float)
            x, z = (
                x + ahead * math.cos(yaw) + right * math.sin(yaw),
                z + right * math.cos(yaw) - ahead * math.sin(yaw),
            )
            yaw += turn
            assert (x, z) == pytest.approx(tuple(arrays["gps"].astype(float)), abs=1e-5)
            assert yaw == pytest.approx(float(arrays["compass"][0]), abs=1e-5)
    assert not seen["ahead", 0]["odometry"].any()


def test_dropout_repeats_readings_that_nobody_looked_at():
    """Readings are taken at every step, so what is repeated does not depend on when one looks."""
    often = walk(4, ("localisation_dropout:5",))
    seldom = walk(4, ("localisation_dropout:5",), read=(6,))
    for key, arrays in seldom.items():
        assert np.array_equal(arrays["gps"], often[key]["gps"])
    assert any(np.array_equal(often["ahead", t]["gps"], often["ahead", t - 1]["gps"]) for t in (1, 3, 4, 6))


def test_a_teleport_that_meets_a_wall_is_not_made():
    near = make_episode("near", (5.0, 0.0, 0.1), (5.0, 0.0, 4.0))  # 0.1 m from the border
    cut = walk(1, ("pyrobot",), episodes=(near,), actions=(FORWARD,))["near", 1]["pose"]
    kept = walk(1, ("pyrobot:teleport",), episodes=(near,), actions=(FORWARD,))["near", 1]["pose"]
    assert cut[2] < 0.1, "goes up to the border"
    assert kept.tolist() == [5.0, 0.0, 0.1, 0.0], "neither the walk nor the turn with which it strays"


def test_motor_failure_fixes_a_side():
    seen = walk(4, ("motor_failure:left",), actions=(TURN_LEFT, TURN_RIGHT, TURN_LEFT))
    for episode in EPISODES:
        readings = [float(seen[episode.episode_id, step]["compass"][0]) for step in range(4)]
        assert readings == pytest.approx([0.0, 0.0, -TURN, -TURN], abs=1e-6)


def tiled_hall():
    """The hall with tiles in its west half, carpet in its east half; the floor of the middle is unknown."""
    scene = draw_scene(HALL, scene_id="floors")
    west = Room(
        1, "kitchen", ((0.0, 0.0), (0.0, 20.0), (4.0, 20.0), (4.0, 0.0)), attributes={"floor": "tiles"}
    )
    east = Room(
        2, "bedroom", ((6.0, 0.0), (20.0, 0.0), (20.0, 20.0), (6.0, 20.0)), attributes={"floor": "carpet"}
    )
    cache = WorldCache(SMALL_BODY)
    cache.add(World.of(replace(scene, rooms=(west, east)), draw_navmesh(HALL)))
    return cache


def test_friction_depends_on_the_room_under_the_body():
    starts = {"west": 3.0, "middle": 5.0, "east": 7.0}
    episodes = tuple(
        make_episode(k, (x, 0.0, 6.0), (5.0, 0.0, 5.0), scene="floors") for k, x in starts.items()
    )
    seen = walk(3, ("friction_zones:2",), episodes=episodes, cache=tiled_hall(), actions=(FORWARD,))
    walked = [6.0 - seen[name, 1]["pose"][2] for name in starts]
    assert walked == pytest.approx([STEP * 1.2, STEP, STEP * 0.8])


def test_friction_needs_floors():
    batch = NavigationBatch(SmallPointNav(), 1, None, (), make_cache(), ("friction_zones",))
    with pytest.raises(SceneError, match="material of their floor, got none in 'hall'"):
        batch.start([0], EPISODES[:1])


def test_noise_of_the_protocol_comes_first():
    class Noisy(SmallPointNav):
        corruptions = ("native_noise",)

    own, chosen = walk(4, (), task=Noisy()), walk(4, ("native_noise",))
    assert not changed(own, chosen)
    both = walk(4, ("motion_drift",), task=Noisy())
    assert not changed(walk(4, ("native_noise", "motion_drift")), both)
    for replacing in ("native_noise:paper", "pyrobot", "motion_bias_stochastic"):
        assert not changed(walk(4, (replacing,)), walk(4, (replacing,), task=Noisy()))


def test_environments_take_corruptions():
    settings = {"episodes": EPISODES, "worlds": make_cache(), "sensors": SENSORS}
    settings["corruptions"] = ("speckle_noise:5",)
    env = NavigationEnv(SmallPointNav(), **settings)
    many = NavigationVectorEnv(2, SmallPointNav(), **settings)
    alone, _ = env.reset(seed=3)
    together, _ = many.reset(seed=3)
    assert np.array_equal(alone["rgb"], together["rgb"][0])
    episode = env.batch.episode(0).episode_id
    assert not np.array_equal(alone["rgb"], walk(4, (), read=(0,))[episode, 0]["rgb"])


class Blind(SmallPointNav):
    protocol_id = "blind-v1"
    sensors = ("pointgoal",)
    actions = ("stop", "move_forward", "look_up")


@pytest.mark.parametrize(
    ("corruption", "needed"),
    [
        ("speckle_noise", "a sensor of colour images"),
        ("metres", "a sensor of depth"),
        ("narrow", "a sensor of images"),
        ("localisation_noise", "a sensor of gps or compass"),
        ("odometry_noise", "a sensor of odometry"),
        ("motor_failure", "a turn that is commanded as one step"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_starts(corruption, needed):
    with pytest.raises(InputError, match=f"expected {needed} for the corruption '{corruption}"):
        require_applicable(Blind(), (corruption,))
    with pytest.raises(InputError, match="blind-v1 with the actions stop, move_forward, look_up and the"):
        NavigationEnv(Blind(), episodes=EPISODES, worlds=make_cache(), corruptions=(corruption,))


def test_what_makes_sense_is_let_through():
    require_applicable(Blind(), ("motion_drift", "native_noise"))
    require_applicable(Blind(), ("odometry_noise", "speckle_noise"), ("odometry", "rgb"))
    require_applicable(SmallPointNav(), ("localisation_noise",))  # the goal derives from the pose
    require_applicable(ObjectNavHabitat2020(), ("localisation_noise", "motor_failure", "metres"))


@pytest.mark.parametrize(
    ("protocol", "corruption", "sensors", "needed"),
    [
        ("pointnav-v1", "spatter:5", ("depth", "pointgoal_with_gps_compass"), "a sensor of colour images"),
        ("pointnav-v1", "redwood_depth", ("rgb", "pointgoal_with_gps_compass"), "a sensor of depth"),
        ("pointnav-v1", "latency:2", ("pointgoal_with_gps_compass",), "a sensor of images"),
        ("objectnav-habitat2020-v1", "spatter:5", ("occupancy_map", "objectgoal"), "a sensor of colour"),
        ("objectnav-habitat2020-v1", "localisation_noise:2", ("depth", "objectgoal"), "a sensor of gps"),
        ("objectnav-habitat2020-v1", "localisation_noise:2", ("occupancy_map",), "a sensor of gps"),
        ("goat-v1", "goal_image_noise:2", ("rgb", "objectgoal"), "goals given by image"),
    ],
)
def test_agents_must_observe_what_is_corrupted(protocol, corruption, sensors, needed):
    """The protocol offers what is corrupted, but the agent does not use it."""
    task = get_task(protocol)
    require_applicable(task, (corruption,))
    with pytest.raises(
        InputError, match=f"expected an agent with {needed}.* got mole, which observes {sensors[0]}"
    ):
        require_observed(task, "mole", (corruption,), sensors)


@pytest.mark.parametrize(
    ("protocol", "corruption", "sensors"),
    [
        ("pointnav-v1", "motion_drift", ("depth",)),  # how it moves, it notices
        ("pointnav-v1", "spatter:5", ()),  # all of the protocol
        ("pointnav-v1", "localisation_noise:2", ("pointgoal_with_gps_compass",)),
        ("objectnav-habitat2020-v1", "redwood_depth", ("occupancy_map",)),  # drawn from depth
        ("objectnav-habitat2020-v1+poses=estimated", "localisation_noise:2", ("occupancy_map",)),
        ("objectnav-habitat2020-v1+poses=odometry", "redwood_depth", ("gps", "objectgoal")),
    ],
)
def test_what_agents_notice_is_let_through(protocol, corruption, sensors):
    require_observed(get_task(protocol), "mole", (corruption,), sensors)
