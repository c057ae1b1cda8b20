"""Walks through a generated house: where feet can be, what is picked, and what overlays cover."""

import itertools

import numpy as np
import pytest

from navarena.simulation.body_catalog import get_body
from navarena.simulation.world import open_world

pytestmark = pytest.mark.server
pytest.importorskip("fastapi")
pytest.importorskip("websockets")

from navarena.web.viewer.messages import Choose, Move, Pick, Show  # noqa: E402
from navarena.web.viewer.scene_overlays import project  # noqa: E402
from navarena.web.viewer.scene_walk import ALL_STOREYS, WALKING, SceneWalk  # noqa: E402

from .clients import AttentiveHub, Page, serve_hub, use_page  # noqa: E402

HOUSE = "houses-v1/val/00003"


def walk_in(scene_id: str = HOUSE) -> SceneWalk:
    body = get_body("locobot")
    return SceneWalk(open_world(scene_id, body), body)


def test_points_are_projected_to_where_the_camera_shows_them() -> None:
    turned = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])  # looks along -x
    points = np.array([[-2.0, 1.0, 0.0], [-2.0, 2.0, 0.0], [-2.0, 1.0, -1.0], [2.0, 1.0, 0.0]])
    pixels, depths = project(points, WALKING, np.array([0.0, 1.0, 0.0]), turned)
    focal = 320 / np.tan(np.deg2rad(40))
    assert np.allclose(depths, [2, 2, 2, -2])
    assert np.allclose(pixels[0], (319.5, 239.5))
    assert np.allclose(pixels[1], (319.5, 239.5 - focal / 2))  # upwards
    assert np.allclose(pixels[2], (319.5 + focal / 2, 239.5))  # -z lies to the right of -x


def test_the_walk_begins_with_a_view_into_the_depth() -> None:
    walk = walk_in("houses-v1/val/00015")
    walk.draw()
    assert np.asarray(walk._frames.depth)[0, 240, 320] > 3.0  # metres, in the middle of the image
    mesh = walk._world.navmesh
    assert mesh.island(walk._foot[None])[0] == mesh.largest_island


def test_feet_stay_on_the_floor() -> None:
    walk = walk_in()
    mesh = open_world(HOUSE, get_body("locobot")).navmesh
    generator = np.random.Generator(np.random.PCG64(3))
    places = []
    for _ in range(60):
        forward, side, turn = generator.uniform(-1, 1, 3).tolist()
        walk.handle(Move(forward=forward, side=side, turn=turn))
        places.append(walk.describe()["place"])
    assert mesh.is_navigable(np.array(places, float), 0.1).mean() > 0.9  # places are rounded to centimetres
    assert len({tuple(place) for place in places}) > 20


def test_what_the_image_shows_can_be_picked() -> None:
    walk = walk_in()
    world = open_world(HOUSE, get_body("locobot"))
    found = set()
    for _ in range(8):
        walk.handle(Move(turn=0.8))
        walk.draw()
        instance = np.asarray(walk._frames.instance)[0]
        for row, column in ((240, 320), (400, 100)):
            walk.handle(Pick((column + 0.5) / 640, (row + 0.5) / 480))
            picked, number = walk.describe()["picked"], int(instance[row, column])
            one = next((one for one in world.scene.objects if one.object_id == number), None)
            assert (picked is None) == (one is None)
            if one is not None:
                assert picked["name"] == f"{one.category}_{number}" and picked["attributes"] == dict(
                    one.attributes
                )
                found.add(picked["category"])
    assert len(found) >= 3
    walk.handle(Pick(1.0, 1.0))  # the last pixel, not one beyond it


def test_the_navmesh_is_drawn_on_floors_alone() -> None:
    walk = walk_in()
    bare = walk.draw().astype(int)
    semantic = np.asarray(walk._frames.instance)[0].copy()
    walk.handle(Show("navmesh"))
    covered = (walk.draw().astype(int) != bare).any(2)
    scene = open_world(HOUSE, get_body("locobot")).scene
    flat = [one.object_id for one in scene.objects if one.category in ("floor", "rug", "carpet", "mat")]
    assert 0.01 < covered.mean() < 0.6
    assert np.isin(semantic[covered], flat).mean() > 0.9
    walk.handle(Show("navmesh", False))
    assert np.array_equal(walk.draw(), bare)


def test_view_points_are_those_of_the_picked_object() -> None:
    walk = walk_in()
    walk.handle(Show("view points"))
    nothing = walk.draw()
    for _ in range(16):
        walk.handle(Move(turn=0.4))
        walk.draw()
        walk.handle(Pick(0.5, 0.6))
        picked = walk.describe()["picked"]
        if picked and picked["category"] not in ("wall", "floor", "ceiling", "window", "door"):
            break
    points = walk._find_points()
    centre = np.array(picked["center"])
    reach = 1.0 + float(np.hypot(*np.array(picked["size"])[[0, 2]])) / 2
    assert len(points) and (np.linalg.norm((points - centre)[:, [0, 2]], axis=1) <= reach + 0.1).all()
    walk.handle(Show("view points", False))
    before = walk.draw()
    walk.handle(Show("view points", True))
    assert (walk.draw() != before).any() and nothing.shape == before.shape


def test_storeys_are_seen_from_above_one_by_one() -> None:
    walk = walk_in("houses-v1/val/00015")
    levels = walk.describe()["storeys"]
    assert levels == 2
    walk.handle(Choose(1))
    assert walk.describe()["place"][1] > 2.0  # the camera walks on in that storey
    walk.handle(Choose(2))
    walk.handle(Show("orbit"))
    whole = walk.draw()
    walk.handle(Choose(0))
    assert walk.describe()["storey"] == 0 and (walk.draw() != whole).mean() > 0.01
    walk.handle(Choose(levels))
    assert walk.describe()["storey"] == ALL_STOREYS
    near = walk._distance
    walk.handle(Move(forward=1.0, turn=0.3, tilt=9.0))
    assert walk._distance < near and walk._above == -0.05  # never from below the floor
    walk.draw()


def test_a_scene_without_labels_has_nothing_to_pick(dungeon_folder) -> None:  # type: ignore[no-untyped-def]
    walk = walk_in(str(dungeon_folder / "dungeon.obj"))
    walk.handle(Show("view points"))
    walk.draw()
    walk.handle(Pick(0.5, 0.5))
    told = walk.describe()
    assert (told["picked"], told["labelled"], told["storeys"], told["problem"]) == (None, False, 0, "")
    walk.handle(Show("orbit"))
    walk.handle(Choose(0))
    assert walk.draw().std() > 1


def test_pages_move_the_camera() -> None:
    hub, walk = AttentiveHub(), walk_in()
    seen: list[np.ndarray] = []

    def script(page: Page) -> None:
        page.read_until(lambda state: state["phase"] == "scene")
        seen.append(page.images["view"])
        for _ in range(3):
            page.send(do="move", turn=0.5)
            page.read()
            seen.append(page.images["view"])

    with serve_hub("scene", hub) as port:
        join = use_page(hub, port, script)
        walk.run(hub, 3)
        join()
        hub.close(3.0)
    assert len(seen) == 4 and all(one.shape == (480, 640, 3) for one in seen)
    assert all(np.abs(a.astype(int) - b).mean() > 3 for a, b in itertools.pairwise(seen))
