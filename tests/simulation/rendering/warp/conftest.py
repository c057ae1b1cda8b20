"""Warp's kernels run on its CPU device here, unless another is named: the same source as on a GPU."""

import pytest

from navarena.simulation.rendering import Frames, build_render_mesh
from render_device import DEVICE


@pytest.fixture(scope="session")
def device():
    pytest.importorskip("warp", reason="needs pip install 'navarena[gpu]'")
    from navarena.core.render_devices import find_device

    return find_device(DEVICE)


@pytest.fixture(scope="session")
def cast(device):
    """Draws as tests/simulation/rendering/images.draw does, by ray casting in Warp."""
    from navarena.simulation.rendering.warp.renderer import WarpRenderer
    from navarena.simulation.rendering.warp.residency import ResidentScenes

    def draw(scene, views, shading="textured", extras=None, outputs=("rgb", "depth", "instance", "semantic")):
        scenes = scene if isinstance(scene, list) else [scene]
        frames = Frames.allocate(len(views), views.camera, outputs)
        renderer = WarpRenderer([build_render_mesh(one) for one in scenes], ResidentScenes(device))
        renderer.render(views, frames, extras=extras, shading=shading)
        return frames

    return draw
