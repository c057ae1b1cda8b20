"""Images of the usual size from fixed places, pixel by pixel against two plain renderers.

No image is stored: what a pixel must show is computed, so that no machine's rounding is taken for the truth.
"""

from dataclasses import replace

import numpy as np
import pytest

from navarena.core.geometry import rotation_from_yaw_pitch
from navarena.scenes.scene import Material
from navarena.simulation.body import Camera
from navarena.simulation.rendering import Frames, ReferenceRenderer, Views

from .images import draw, plain_image, room_scene

CAMERA = Camera()
PLACES = (((1.2, 1.3, -0.5), 0.4, -0.3), ((-1.6, 0.9, -0.4), -0.6, 0.0), ((0.0, 1.8, -2.6), 0.1, -0.8),
          ((1.7, 0.4, -4.7), 2.5, 0.2))  # fmt: skip
"""Position in metres, yaw and pitch in radians."""


def fixed_views() -> Views:
    """A view from each of PLACES."""
    rotation = np.array([rotation_from_yaw_pitch(yaw, pitch) for _, yaw, pitch in PLACES])
    position = np.array([place for place, _, _ in PLACES])
    return Views(CAMERA, np.zeros(len(PLACES), np.int32), position, rotation)


def painted_room():
    """The room with a texture on its walls and light from 0.2 to 1.2 at random in its corners."""
    scene, generator = room_scene(), np.random.default_rng(0)
    count = len(scene.triangles)
    texture = generator.integers(0, 256, (8, 8, 3)).astype(np.uint8).repeat(8, 0).repeat(8, 1)
    return replace(
        scene,
        materials=(Material("wall", (255, 240, 220), 0), *scene.materials[1:]),
        textures=(texture,),
        triangle_uv=generator.uniform(0, 2, (count, 3, 2)).astype(np.float32),
        vertex_light=generator.uniform(0.2, 1.2, len(scene.vertices)).astype(np.float32),
    )


def around(images: np.ndarray) -> np.ndarray:
    """(H, W, 9) each pixel of an image (H, W) with its neighbours."""
    padded = np.pad(images, 1, mode="edge")
    height, width = images.shape
    return np.stack([padded[i : i + height, j : j + width] for i in range(3) for j in range(3)], -1)


def test_what_each_pixel_shows() -> None:
    """Ids and colours equal those of float64 arithmetic, depth up to the rounding of float32."""
    scene, views = room_scene(), fixed_views()
    frames = draw(scene, views)
    colors = np.array([material.color for material in scene.materials], np.uint8)
    for k, (position, rotation) in enumerate(zip(views.position, views.rotation, strict=True)):
        image = plain_image(scene.vertices[scene.triangles], CAMERA, position, rotation, slack_px=0.01)
        assert image.clear.mean() > 0.97 and (image.triangle >= 0).all()
        objects = scene.triangle_object[image.triangle]
        assert len(np.unique(objects)) >= 3
        assert np.array_equal(frames.instance[k][image.clear], objects[image.clear])
        shown = colors[scene.triangle_material[image.triangle]]
        assert np.array_equal(frames.rgb[k][image.clear], shown[image.clear])
        error = np.abs(frames.depth[k] / image.depth - 1)[image.clear]
        assert error.max() < 2e-5
        # where an edge passes through the middle of a pixel, it shows one side of it
        assert (around(objects) == frames.instance[k][:, :, None]).any(-1).all()


@pytest.mark.parametrize("shading", ["vertex", "textured"])
def test_colours_of_textures_and_light(shading: str) -> None:
    """Against ray casting in float64: off by one at most, but where a ray is at an edge."""
    scene, views = painted_room(), fixed_views()
    ours, theirs = draw(scene, views, shading), Frames.allocate(len(PLACES), CAMERA)
    ReferenceRenderer([scene]).render(views, theirs, shading=shading)
    off = np.abs(ours.rgb.astype(int) - theirs.rgb).max(-1)
    assert (ours.instance == theirs.instance).mean() > 0.999
    assert (off > 1).mean() < 2e-4
    assert theirs.rgb.std() > 30
