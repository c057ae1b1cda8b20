"""Houses on a device with room for a few: those drawn longest ago leave, and leave nothing behind."""

import weakref

import numpy as np
import pytest

from navarena.cli.benchmarks.render_scenes import sample_views
from navarena.core.errors import InputError
from navarena.scenes.catalog import load_scene
from navarena.simulation.body import Camera
from navarena.simulation.rendering import Frames, Views, build_render_mesh

pytestmark = [pytest.mark.learn, pytest.mark.slow]
HOUSES, BATCH, TURNS = 18, 4, 3
CAMERA = Camera(width_px=12, height_px=12)


@pytest.fixture(scope="module")
def houses():
    """Meshes of HOUSES houses and a view in each."""
    scenes = [load_scene(f"houses-v1/train/{k:05d}") for k in range(HOUSES)]
    views = [sample_views(scene, CAMERA, 1) for scene in scenes]
    return [build_render_mesh(scene, share_texels=True) for scene in scenes], views


def join(views, chosen):
    """One batch: view k of it looks at scene k."""
    position, rotation = (
        np.concatenate([getattr(views[k], name) for k in chosen]) for name in ("position", "rotation")
    )
    return Views(CAMERA, np.arange(len(chosen), dtype=np.int32), position, rotation)


def images(meshes, views, chosen, store):
    from navarena.simulation.rendering.warp.renderer import WarpRenderer

    frames = Frames.allocate(len(chosen), CAMERA)
    WarpRenderer([meshes[k] for k in chosen], store).render(join(views, chosen), frames)
    return frames.arrays()


@pytest.mark.turns(4)
def test_houses_come_and_go_within_the_limit(device, houses):
    from navarena.simulation.rendering.warp.residency import ResidentScenes

    meshes, views = houses
    roomy, sizes = ResidentScenes(device), []
    for mesh in meshes:
        before = roomy.nbytes
        roomy.table([mesh])
        sizes.append(roomy.nbytes - before)
    assert len(roomy) == HOUSES, "the default limit holds them all"
    texels, sizes[0] = meshes[0].texel.nbytes, sizes[0] - meshes[0].texel.nbytes
    assert min(sizes) / 2**20 > 1 and max(sizes) / 2**20 < 20

    store = ResidentScenes(device, texels + sum(sizes) // 3)
    number = {id(mesh): k for k, mesh in enumerate(meshes)}
    drawn_last: dict[int, int] = {}
    seen, clock, come_back = [], 0, 0
    generator = np.random.default_rng(0)
    for turn in range(TURNS):
        order = generator.permutation(HOUSES)
        for first in range(0, HOUSES - BATCH + 1, BATCH):
            chosen = order[first : first + BATCH].tolist()
            come_back += sum(k in drawn_last and id(meshes[k]) not in store._scenes for k in chosen)
            ours = images(meshes, views, chosen, store)
            for k in chosen:
                clock += 1
                drawn_last[k] = clock
            held = {number[key] for key in store._scenes}
            seen += [weakref.ref(scene) for scene in store._scenes.values()]
            assert store.nbytes <= store.limit_bytes
            assert store.nbytes == texels + sum(sizes[k] for k in held)
            assert held >= set(chosen)
            gone = [drawn_last[k] for k in drawn_last.keys() - held]
            assert max(gone, default=0) < min(drawn_last[k] for k in held), "not the oldest left"
            alive = {id(scene) for scene in (ref() for ref in seen) if scene is not None}
            assert len(alive) == len(store), "what left is still in memory"
            if turn == TURNS - 1:
                for one, right in zip(ours, images(meshes, views, chosen, roomy), strict=True):
                    assert np.array_equal(one, right)
    assert come_back > HOUSES and store.nbytes > 0.7 * store.limit_bytes


def test_the_error_says_how_many_houses_fit(device, houses):
    from navarena.simulation.rendering.warp.residency import ResidentScenes

    meshes, views = houses
    store = ResidentScenes(device, 1 << 40)
    fits = []
    for mesh in meshes[:10]:
        store.table([mesh])
        fits.append(store.nbytes)
    small = ResidentScenes(device, fits[6])
    with pytest.raises(InputError, match=f"got {HOUSES} scenes of .* of which the first 7 fit"):
        images(meshes, views, range(HOUSES), small)
    images(meshes, views, range(7), small)
    assert len(small) == 7 and small.nbytes == small.limit_bytes
