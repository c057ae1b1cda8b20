import numpy as np
import pytest

from navarena.scenes.scene import Material
from navarena.simulation.body import Camera

from .images import draw, look, make_scene

QUAD = np.array([[-1, 0, 0], [1, 0, 0], [1, 2, 0], [-1, 0, 0], [1, 2, 0], [-1, 2, 0]], float)
QUAD_UV = np.array([[0, 0], [1, 0], [1, 1], [0, 0], [1, 1], [0, 1]], np.float32).reshape(2, 3, 2)
TEXTURED = (Material("m", texture=0),)
CAMERA = Camera(width_px=64, height_px=64, hfov=float(np.pi / 2))


def facing_quad(**fields):
    """A 2 x 2 m wall that fills the image exactly."""
    return draw(make_scene(QUAD, **fields), look(CAMERA, (0, 1, 1)))


def test_texture_stands_upright():
    texture = np.zeros((64, 64, 3), np.uint8)
    texture[:32, :32] = (255, 0, 0)  # top left, v above one half
    texture[:32, 32:] = (0, 255, 0)
    texture[32:, :32] = (0, 0, 255)
    texture[32:, 32:] = (250, 240, 230)
    rgb = facing_quad(triangle_uv=QUAD_UV, textures=(texture,), materials=TEXTURED).rgb[0]
    assert np.array_equal(rgb, texture)


def test_each_pixel_shows_its_texel_times_the_colour():
    texture = np.random.default_rng(0).integers(0, 256, (64, 64, 3)).astype(np.uint8)
    material = Material("m", (255, 128, 10), 0)
    rgb = facing_quad(triangle_uv=QUAD_UV, textures=(texture,), materials=(material,)).rgb[0]
    expected = texture * np.array(material.color) / 255
    assert np.abs(rgb - expected).max() <= 1


def test_textures_repeat():
    texture = np.random.default_rng(1).integers(0, 256, (16, 32, 3)).astype(np.uint8)
    fields = {"textures": (texture,), "materials": TEXTURED}
    rgb = facing_quad(triangle_uv=QUAD_UV * np.float32([2, 4]) - 3, **fields).rgb[0]
    assert np.array_equal(rgb, np.tile(texture, (4, 2, 1)))


def test_textures_of_different_sizes_and_odd_proportions():
    generator = np.random.default_rng(9)
    images = tuple(
        generator.integers(0, 256, (h, w, 3)).astype(np.uint8) for h, w in ((8, 64), (64, 16), (2, 1))
    )
    for index, image in enumerate(images):
        fields = {"textures": images, "materials": (Material("m", texture=index),)}
        rgb = facing_quad(triangle_uv=QUAD_UV, **fields).rgb[0]
        rows, columns = 64 // image.shape[0], 64 // image.shape[1]
        assert np.array_equal(rgb, image.repeat(rows, 0).repeat(columns, 1))


def test_far_textures_show_their_mean():
    texture = np.random.default_rng(2).integers(0, 256, (256, 256, 3)).astype(np.uint8)
    scene = make_scene(QUAD, triangle_uv=QUAD_UV * 20, textures=(texture,), materials=TEXTURED)
    rgb = draw(scene, look(CAMERA, (0, 1, 20))).rgb[0]
    seen = rgb[rgb.any(2)]
    assert len(seen) > 4
    assert np.abs(seen - texture.mean((0, 1))).max() < 12


def test_floors_seen_at_a_slant_do_not_shimmer():
    texture = np.zeros((64, 64, 3), np.uint8)
    texture[::2, ::2] = texture[1::2, 1::2] = 255
    floor = QUAD[:, [0, 2, 1]] * [20, 0, -20] + [0, 0, 0]
    fields = {"textures": (texture,), "materials": TEXTURED}
    scene = make_scene(floor, triangle_uv=QUAD_UV * 40, **fields)
    rgb = draw(scene, look(CAMERA, (0, 0.5, 0))).rgb[0].astype(int)
    far = rgb[34:38]
    assert far.std() < 10 and abs(far.mean() - 128) < 10


def test_untextured_materials_of_a_textured_scene_keep_their_colour():
    texture = np.full((4, 4, 3), 100, np.uint8)
    materials = (Material("plain", (10, 200, 30)), Material("m", (255, 255, 255), 0))
    rgb = facing_quad(
        triangle_uv=QUAD_UV,
        textures=(texture,),
        materials=materials,
        triangle_material=np.array([0, 1], np.int32),
    ).rgb[0]
    assert rgb[60, 40].tolist() == [10, 200, 30]
    assert rgb[4, 20].tolist() == [100, 100, 100]


def test_vertex_colours_and_light_are_interpolated():
    left_right = np.array([0, 255, 255, 0, 255, 0], np.uint8)
    color = np.stack([left_right, 255 - left_right, np.full(6, 255, np.uint8)], 1)
    light = np.array([0.5, 0.5, 1, 0.5, 1, 1], np.float32)
    rgb = facing_quad(vertex_color=color).rgb[0]
    across = (np.arange(64) + 0.5) / 64 * 255
    assert np.abs(rgb - np.stack([across, 255 - across, np.full(64, 255)], 1)).max() <= 1
    rgb = facing_quad(vertex_light=light).rgb[0]
    down = (1 - 0.5 * (np.arange(64) + 0.5) / 64) * 255
    assert np.abs(rgb - down[:, None, None]).max() <= 1


def test_full_white_stays_white():
    for fields in (
        {},
        {"vertex_light": np.ones(6, np.float32)},
        {"vertex_color": np.full((6, 3), 255, np.uint8)},
        {
            "triangle_uv": QUAD_UV,
            "textures": (np.full((8, 8, 3), 255, np.uint8),),
            "materials": TEXTURED,
        },
    ):
        assert (facing_quad(**fields).rgb == 255).all()


def test_shading_is_a_ceiling():
    texture = np.zeros((4, 4, 3), np.uint8)
    texture[:, :2] = 200
    fields = {"triangle_uv": QUAD_UV, "textures": (texture,), "materials": TEXTURED}
    light = np.linspace(0, 1, 6).astype(np.float32)
    colors = {
        shading: draw(make_scene(QUAD, vertex_light=light, **fields), look(CAMERA, (0, 1, 1)), shading).rgb[0]
        for shading in ("flat", "vertex", "textured")
    }
    assert len(np.unique(colors["flat"].reshape(-1, 3), axis=0)) == 2
    assert colors["flat"][60, 40].tolist() == [round(100 * light[:3].mean())] * 3
    assert colors["vertex"].max() == pytest.approx(100 * light.max(), abs=3)
    assert colors["textured"].max() == pytest.approx(200 * light.max(), abs=6)
    plain = make_scene(QUAD)
    assert (draw(plain, look(CAMERA, (0, 1, 1)), "textured").rgb == 255).all()


@pytest.mark.parametrize("fields", [{}, {"vertex_light": True}, {"vertex_color": True}, {"texture": True}])
def test_blocks_of_many_triangles_look_like_blocks_of_few(fields):
    """The two ways of finding what a pixel shows meet at RUNS_ONE_BY_ONE runs a block."""
    steps = np.linspace(0, 1, 60)
    grid = np.stack([np.repeat(steps[:-1], 59), np.tile(steps[:-1], 59)], 1)
    pair = np.array([[0, 0], [1, 0], [1, 1], [0, 0], [1, 1], [0, 1]]) / 59
    flat = (grid[:, None] + pair).reshape(-1, 2)
    fine = np.stack([flat[:, 0] * 2 - 1, flat[:, 1] * 2, np.zeros(len(flat))], 1)
    values = {}
    for name, points in (("coarse", QUAD), ("fine", fine)):
        along = ((points[:, 0] + 1) / 2, points[:, 1] / 2)
        more = {}
        if "vertex_light" in fields:
            more["vertex_light"] = (0.2 + 0.5 * along[0] + 0.3 * along[1]).astype(np.float32)
        if "vertex_color" in fields:
            more["vertex_color"] = np.stack([255 * along[0], 255 * along[1], 100 + 0 * along[0]], 1).astype(
                np.uint8
            )
        if "texture" in fields:
            image = np.random.default_rng(5).integers(0, 256, (64, 64, 3)).astype(np.uint8)
            uv = np.stack(along, 1).reshape(-1, 3, 2).astype(np.float32)
            more |= {"triangle_uv": uv, "textures": (image,), "materials": TEXTURED}
        values[name] = draw(make_scene(points, **more), look(CAMERA, (0, 1, 1))).rgb[0].astype(int)
    assert np.abs(values["coarse"] - values["fine"]).max() <= 2
