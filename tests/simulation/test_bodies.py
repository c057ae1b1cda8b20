import math

import pytest

from navarena.core.errors import UnknownNameError
from navarena.simulation.body_catalog import BODIES, get_body
from navarena.simulation.motion import ACTIONS, movement_table


@pytest.mark.parametrize(
    ("name", "radius", "height", "turn", "size", "hfov", "camera"),
    [
        ("multion", 0.1, 1.5, 30, (256, 256), 79, 0.88),
        ("locobot", 0.18, 0.88, 30, (640, 480), 79, 0.88),
        ("locobot-robothor", 0.175, 0.9, 30, (640, 480), 79, 0.88),
        ("stretch", 0.17, 1.41, 30, (360, 640), 42, 1.31),
        ("vln-ce", 0.1, 1.5, 15, (224, 224), 90, 1.25),
    ],
)
def test_presets_are_those_of_the_benchmarks(name, radius, height, turn, size, hfov, camera):
    body = get_body(name)
    first = body.cameras[0]
    assert (body.radius, body.height, body.forward_step) == (radius, height, 0.25)
    assert math.degrees(body.turn_angle) == pytest.approx(turn)
    assert (first.width_px, first.height_px) == size
    assert math.degrees(first.hfov) == pytest.approx(hfov)
    assert first.mount == (0.0, camera, 0.0)


def test_only_vln_ce_slides():
    assert [name for name, body in BODIES.items() if body.slides] == ["vln-ce"]


def test_vertical_view_of_robothor_is_the_published_one():
    camera = get_body("locobot-robothor").cameras[0]
    vertical = 2 * math.atan(math.tan(camera.hfov / 2) * camera.height_px / camera.width_px)
    assert math.degrees(vertical) == pytest.approx(63.453048, abs=1e-5)


def test_unknown_body_is_answered_with_the_nearest():
    with pytest.raises(UnknownNameError, match="Did you mean 'locobot'"):
        get_body("locobott")


def test_movement_table():
    table = movement_table(get_body("locobot"), ACTIONS)
    turn = math.pi / 6
    assert table.tolist() == [
        [0, 0, 0, 0],
        [0.25, 0, 0, 0],
        [0, 0, turn, 0],
        [0, 0, -turn, 0],
        [0, 0, 0, turn],
        [0, 0, 0, -turn],
        [-0.25, 0, 0, 0],
    ]


def test_unknown_action_is_refused():
    with pytest.raises(UnknownNameError, match="move_forward"):
        movement_table(get_body("locobot"), ("stop", "move_foward"))
