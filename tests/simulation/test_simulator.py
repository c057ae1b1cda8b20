import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navarena.core.errors import ActionError, InputError, SceneError, UnknownNameError
from navarena.simulation.body import Camera
from navarena.simulation.body_catalog import LOCOBOT, LOCOBOT_ROBOTHOR, VLN_CE
from navarena.simulation.motion import ACTIONS
from navarena.simulation.rendering import ExtraObjects, make_cylinder
from navarena.simulation.sensors.images import Depth
from navarena.simulation.simulator import Simulator
from navarena.simulation.world import World, WorldCache
from worlds import HALL, ROOMS, draw_world

STOP, FORWARD, LEFT, RIGHT, UP, DOWN = range(6)
ROOMS_WORLD = draw_world(ROOMS, scene_id="rooms")
HALL_WORLD = draw_world(HALL, scene_id="hall")


def placed(world=HALL_WORLD, position=(5.0, 0.0, 5.0), yaw=0.0, body=LOCOBOT, sensors=()):
    simulator = Simulator(body, 1, sensors)
    simulator.place([0], [world], np.array([position], float), np.array([yaw]))
    return simulator


def walk(simulator, *actions):
    for action in actions:
        simulator.step(np.full(simulator.slots, action))


def test_a_square_ends_where_it_began():
    simulator = placed()
    for _ in range(4):
        walk(simulator, FORWARD, FORWARD, LEFT, LEFT, LEFT)
    assert simulator.positions[0] == pytest.approx([5, 0, 5], abs=1e-12)
    assert simulator.yaws[0] == pytest.approx(0, abs=1e-12)


def test_steps_by_hand():
    simulator = placed()
    walk(simulator, FORWARD)
    assert simulator.positions[0] == pytest.approx([5, 0, 4.75])
    walk(simulator, LEFT, FORWARD)
    assert simulator.positions[0] == pytest.approx([4.875, 0, 4.75 - 0.25 * math.cos(math.pi / 6)])
    walk(simulator, RIGHT, RIGHT, RIGHT, RIGHT, STOP)
    assert simulator.yaws[0] == pytest.approx(-math.pi / 2)
    assert not simulator.collided[0]


def test_a_wall_cuts_the_step_short():
    simulator = placed(position=(5.0, 0.0, 0.1))
    walk(simulator, FORWARD)
    assert simulator.collided[0]
    assert simulator.positions[0] == pytest.approx([5, 0, 0], abs=1e-3)
    walk(simulator, LEFT)
    assert not simulator.collided[0]


def test_only_bodies_that_slide_slide():
    for body, along in ((LOCOBOT, 0.0), (VLN_CE, 0.25 * math.sin(math.pi / 6))):
        simulator = placed(position=(5.0, 0.0, 0.001), yaw=math.pi / 6, body=body)
        walk(simulator, FORWARD)
        assert simulator.collided[0]
        assert 5.0 - simulator.positions[0, 0] == pytest.approx(along, abs=2e-3)


def test_tilt_has_the_limits_of_the_body():
    free, limited = placed(), placed(body=LOCOBOT_ROBOTHOR)
    for simulator in (free, limited):
        walk(simulator, DOWN, DOWN, DOWN, DOWN)
    assert free.tilts[0] == pytest.approx(-math.radians(120))
    assert limited.tilts[0] == pytest.approx(-math.radians(30))


def test_inactive_bodies_rest():
    simulator = Simulator(LOCOBOT, 2)
    simulator.place([0, 1], [HALL_WORLD] * 2, np.array([[5.0, 0, 5], [5, 0, 5]]), np.zeros(2))
    simulator.step(np.array([FORWARD, FORWARD]), np.array([True, False]))
    assert simulator.positions[:, 2].tolist() == [4.75, 5.0]


def test_many_scenes_at_once_equal_one_by_one():
    """Bit for bit, whatever stands beside it."""
    generator = np.random.default_rng(0)
    worlds = [HALL_WORLD, ROOMS_WORLD]
    chosen = [worlds[k % 2] for k in range(12)]
    starts = np.array([world.navmesh.random_point(generator, 1)[0] for world in chosen])
    yaws = generator.uniform(-np.pi, np.pi, 12)
    actions = generator.integers(0, 4, (40, 12))
    together = Simulator(LOCOBOT, 12)
    together.place(range(12), chosen, starts, yaws)
    alone = []
    for k in range(12):
        alone.append(placed(chosen[k], starts[k], yaws[k]))
    for row in actions:
        together.step(row)
        for k, simulator in enumerate(alone):
            simulator.step(row[k : k + 1])
            assert simulator.positions.tobytes() == together.positions[k].tobytes()
            assert simulator.yaws.tobytes() == together.yaws[k : k + 1].tobytes()
            assert simulator.collided[0] == together.collided[k]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([LOCOBOT, VLN_CE]))
def test_random_walks_stay_on_the_floor(seed, body):
    generator = np.random.default_rng(seed)
    simulator = Simulator(body, 8)
    navmesh = ROOMS_WORLD.navmesh
    starts = navmesh.random_point(generator, 8)
    simulator.place(range(8), [ROOMS_WORLD] * 8, starts, generator.uniform(-9, 9, 8))
    island = navmesh.island(simulator.positions)
    for _ in range(30):
        before = simulator.positions.copy()
        simulator.step(generator.integers(0, len(ACTIONS), 8))
        assert np.isfinite(simulator.positions).all()
        assert navmesh.is_navigable(simulator.positions).all()
        assert (navmesh.island(simulator.positions) == island).all()
        longest = 0.5 if body.slides else 0.25 + 1e-3  # sliding goes to the border point nearest to the end
        assert (np.linalg.norm(simulator.positions - before, axis=1) <= longest).all()
        assert (np.abs(simulator.yaws) <= np.pi).all()


class Drunk:
    """Steps aside and turns with every step ahead, and never goes up to an obstacle."""

    stays_when_blocked = True

    def change_movements(self, actions, movements, active, bodies, slot_worlds):
        moved = movements.copy()
        moved[actions == FORWARD, 1:3] = 0.1
        return moved

    def change_images(self, name, images, rows):
        images[rows] //= 2

    def find_image_corruptions(self, name=None):
        return []


def test_a_pipeline_changes_movements_unless_they_are_exact():
    simulator = Simulator(LOCOBOT, 1, pipeline=Drunk())
    simulator.place([0], [HALL_WORLD], np.array([[5.0, 0, 5]]), np.zeros(1))
    walk(simulator, FORWARD, LEFT)
    assert simulator.positions[0] == pytest.approx([5.1, 0, 4.75])
    assert simulator.yaws[0] == pytest.approx(0.1 + LOCOBOT.turn_angle)
    simulator.place([0], [HALL_WORLD], np.array([[5.0, 0, 0.2]]), np.zeros(1))
    walk(simulator, FORWARD)
    assert simulator.positions[0].tolist() == [5.0, 0, 0.2] and simulator.collided[0]
    assert simulator.yaws[0] == 0.0, "a movement that is not made does not turn, either"
    simulator.step(np.array([simulator.actions.index("move_forward")]), exact=True)
    assert simulator.positions[0, 0] == 5.0 and simulator.positions[0, 2] < 0.1


def test_a_pipeline_changes_the_images_that_were_just_taken():
    clean, halved = (Simulator(LOCOBOT, 2, ("rgb",), pipeline=one) for one in (None, Drunk()))
    for simulator in (clean, halved):
        simulator.place(range(2), [HALL_WORLD] * 2, np.array([[5.0, 0, 5], [4, 0, 4]]), np.zeros(2))
    first = halved.observations["rgb"].copy()
    assert np.array_equal(first, clean.observations["rgb"] // 2)
    halved.step(np.full(2, FORWARD), np.array([True, False]))
    assert np.array_equal(halved.observations["rgb"][1], first[1])


def test_bad_actions():
    simulator = Simulator(LOCOBOT, 2)
    with pytest.raises(ActionError, match="before any placement"):
        simulator.step(np.array([0, 0]))
    simulator.place([0, 1], [HALL_WORLD] * 2, np.array([[5.0, 0, 5], [5, 0, 5]]), np.zeros(2))
    for wrong in (7, -1, 1000):
        with pytest.raises(ActionError, match=rf"0\.\.6 .*move_forward.* got {wrong} in slot 1"):
            simulator.step(np.array([0, wrong]))
    with pytest.raises(ActionError, match=r"\(2,\) integers"):
        simulator.step(np.array([0, 0, 0]))
    simulator.step(np.array([0, 99]), np.array([True, False]))  # the row of an inactive slot is free


@pytest.mark.parametrize(
    "position", [(50.0, 0.0, 5.0), (5.0, 3.0, 5.0), (math.nan, 0.0, 5.0), (math.inf, 0.0, 5.0)]
)
def test_a_start_off_the_floor_changes_nothing(position):
    simulator = placed()
    with pytest.raises(InputError, match=r"on the floor of 'hall'.* slot 0"):
        simulator.place([0], [HALL_WORLD], np.array([position], float), np.zeros(1))
    assert simulator.positions[0].tolist() == [5, 0, 5]


def test_slots_must_be_distinct_rows():
    simulator = Simulator(LOCOBOT, 2)
    for slots in ([0, 0], [0, 2], [-1, 0]):
        with pytest.raises(InputError, match=r"distinct slots within 0\.\.1"):
            simulator.place(slots, [HALL_WORLD] * 2, np.zeros((2, 3)) + 5.0, np.zeros(2))


def test_images_show_the_wall_ahead():
    """From (5, 0, 1.5) along +z, the boxes of the second row of walls begin 0.5 m away."""
    sensors = ("rgb", "depth", "semantic", "instance", "K", "world_from_camera")
    simulator = placed(ROOMS_WORLD, (5.0, 0.0, 1.5), math.pi, VLN_CE, sensors)
    seen = simulator.observations
    assert seen["rgb"].shape == (1, 224, 224, 3) and seen["depth"].shape == (1, 256, 256, 1)
    assert seen["depth"][0, 128, 128, 0] == pytest.approx(0.05, abs=1e-3)  # 0.5 of 10 m
    assert seen["instance"][0, 128, 128, 0] == 2
    assert seen["semantic"][0, 128, 128, 0] == 1 + ROOMS_WORLD.scene.categories.index("wall")
    assert seen["rgb"][0, 112, 112].tolist() == [160, 80, 60]
    assert seen["K"][0] == pytest.approx(simulator.intrinsics(), abs=1e-3)
    assert seen["world_from_camera"][0] == pytest.approx(simulator.world_from_camera()[0], abs=1e-6)
    walk(simulator, LEFT)
    assert simulator.observations["depth"][0, 128, 128, 0] == pytest.approx(
        0.05 / math.cos(math.radians(15)), abs=1e-3
    )


def test_two_cameras_look_where_they_point():
    eyes = tuple(
        Camera(name, 33, 33, math.radians(60), (0.0, 1.0, 0.0), yaw=yaw)
        for name, yaw in (("front", 0.0), ("back", math.pi))
    )
    body = replace(LOCOBOT, cameras=eyes)
    sensors = ("back_depth", Depth(0.0, 20.0, normalize=False))
    simulator = placed(ROOMS_WORLD, (5.0, 0.0, 0.5), math.pi, body, sensors)
    seen = simulator.observations
    assert list(seen) == ["back_depth", "front_depth"]
    assert seen["front_depth"][0, 16, 16, 0] == pytest.approx(1.5, abs=1e-3)
    assert simulator.world_from_camera("back")[0, :3, 2] == pytest.approx([0, 0, 1], abs=1e-9)
    with pytest.raises(UnknownNameError, match="Known: back, front"):
        simulator.intrinsics("left")


def test_extra_things_show_in_their_own_slot_only():
    simulator = Simulator(VLN_CE, 2, ("instance", "semantic", "rgb"))
    simulator.place([0, 1], [HALL_WORLD] * 2, np.array([[5.0, 0, 5], [5, 0, 5]]), np.zeros(2))
    before = simulator.observations["rgb"].copy()
    cylinder = ExtraObjects(
        (make_cylinder(1.5, 0.1),),
        view_index=np.array([1]),
        template_index=np.array([0]),
        position=np.array([[5.0, 0.0, 3.0]]),
        yaw=np.zeros(1),
        color=np.array([[255, 0, 6]], np.uint8),
        instance=np.array([77], np.int32),
        semantic=np.array([9], np.int32),
    )
    simulator.show(cylinder)
    seen = simulator.observations
    assert seen["instance"][:, 128, 128, 0].tolist() == [0, 77]
    assert seen["semantic"][1, 128, 128, 0] == 9
    assert np.array_equal(seen["rgb"][0], before[0]) and not np.array_equal(seen["rgb"][1], before[1])
    simulator.show(None)
    assert np.array_equal(simulator.observations["rgb"], before)


def test_images_are_taken_of_those_that_acted():
    simulator = Simulator(LOCOBOT, 3, ("rgb", "depth"))
    simulator.place([0, 2], [HALL_WORLD] * 2, np.array([[5.0, 0, 5], [5, 0, 6]]), np.zeros(2))
    alone = placed(sensors=("rgb", "depth"))
    seen = simulator.observations
    assert not seen["rgb"][1].any()  # nobody stands there
    for name in ("rgb", "depth"):
        seen[name][2] = 0
    simulator.step(np.array([FORWARD, 0, 0]), np.array([True, False, False]))
    walk(alone, FORWARD)
    for name, images in simulator.observations.items():
        assert np.array_equal(images[0], alone.observations[name][0])
        assert not images[2].any()
    simulator.place([2], [HALL_WORLD], np.array([[5.0, 0, 4.75]]), np.zeros(1))
    for name, images in simulator.observations.items():
        assert np.array_equal(images[2], alone.observations[name][0])


def test_a_step_of_nobody_is_nothing():
    simulator = Simulator(LOCOBOT, 2)
    simulator.step(np.array([0, 0]), np.zeros(2, bool))
    assert not simulator.positions.any()


def test_observations_are_lazy_and_reused():
    simulator = placed(sensors=("gps", "collided"))
    first = simulator.observations["gps"]
    walk(simulator, FORWARD)
    second = simulator.observations["gps"]
    assert np.shares_memory(first, second)
    assert second[0] == pytest.approx([0.25, 0])


def test_a_scene_without_meaning_cannot_be_asked_for_it():
    bare = draw_world(HALL).scene
    world = World.of(replace(bare, objects=()), HALL_WORLD.navmesh)
    simulator = placed(world, sensors=("semantic",))
    with pytest.raises(SceneError, match="without semantics"):
        _ = simulator.observations
    pieces = placed(world, sensors=("instance",)).observations["instance"]
    assert pieces.max() >= 1, "the floor is a piece of the mesh"


def test_world_cache_is_bounded_and_keeps_what_was_used_last():
    opened = []

    def open_drawn(scene_id, body):
        opened.append(scene_id)
        return draw_world(HALL, scene_id=scene_id)

    size = HALL_WORLD.nbytes
    cache = WorldCache(LOCOBOT, open_drawn, limit_bytes=2 * size)
    for scene_id in ("a", "b", "a", "c", "a", "b"):
        assert cache.get(scene_id).scene_id == scene_id
    assert opened == ["a", "b", "c", "b"]
    assert len(cache) == 2 and cache.nbytes <= 2 * size


def test_a_cache_that_thrashes_says_so_once(caplog):
    def run(scenes):
        cache = WorldCache(LOCOBOT, lambda scene, body: draw_world(HALL, scene_id=scene), 2 * size)
        caplog.clear()
        for scene in scenes:
            cache.get(scene)
        return [record.getMessage() for record in caplog.records]

    size = HALL_WORLD.nbytes
    said = run("abc" * 20)
    assert len(said) == 1 and said[0].startswith("10 of the last 13 scenes were opened again")
    assert "2 scenes fill the limit" in said[0] and "limit_bytes" in said[0]
    assert run("ab" * 30) == []
    assert run([str(k) for k in range(40)] * 2) == [], "a turn through all houses opens each once"
