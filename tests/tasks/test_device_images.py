"""Environments whose images stay on a device; Warp's CPU device stands in for a GPU."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from navarena.core.errors import InputError, UnknownNameError
from navarena.episodes.catalog import make_episodes
from navarena.simulation.body import Camera
from navarena.simulation.device_images import RenderDevice
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.catalog import get_task
from navarena.tasks.sources import Sources, make_batch
from navarena.tasks.vector_env import NavigationVectorEnv
from render_device import DEVICE, as_numpy
from tasks.small import EPISODES, SmallPointNav, make_cache

SENSORS = ("rgb", "depth", "instance", "semantic", "pointgoal_with_gps_compass")
IMAGES = SENSORS[:4]


@pytest.fixture
def warp():
    return pytest.importorskip("warp", reason="needs pip install 'navarena[gpu]'")


def make_env(device=DEVICE, count=3, **options):
    chosen = {"sensors": SENSORS, "episodes": EPISODES, "worlds": make_cache()} | options
    return NavigationVectorEnv(count, SmallPointNav(), device=device, **chosen)


def all_as_numpy(observations):
    return {name: as_numpy(one) for name, one in observations.items()}


def require_alike(ours, theirs):
    """Both engines see the same, but for single pixels at edges."""
    for name, image in theirs.items():
        assert ours[name].shape == image.shape and ours[name].dtype == image.dtype
        different = np.abs(ours[name].astype(float) - image) > {"rgb": 2, "depth": 1e-3}.get(name, 0)
        assert different.mean() < (0.01 if name in IMAGES else 1e-9), name


@pytest.mark.learn
@pytest.mark.parametrize(("kind", "step"), [("uint8", 1), ("float16", 1e-3)])
def test_depth_in_bytes_and_halves_is_that_of_the_cpu(warp, kind, step):
    options = {"sensors": ("depth",), "depth_dtype": kind, "image_size": (32, 24)}
    mine, _ = make_env(**options).reset(seed=5)
    right, _ = make_env("cpu", **options).reset(seed=5)
    depth = as_numpy(mine["depth"])
    assert depth.dtype == right["depth"].dtype == np.dtype(kind) and depth.max() > depth.min()
    assert (np.abs(depth.astype(float) - right["depth"]) > step).mean() < 0.01


@pytest.mark.learn
def test_vector_env_sees_the_same_as_on_the_cpu(warp):
    ours, theirs = make_env(), make_env("cpu")
    mine, _ = ours.reset(seed=5)
    right, _ = theirs.reset(seed=5)
    generator = np.random.default_rng(0)
    for _ in range(25):
        assert all(isinstance(mine[name], warp.array) for name in IMAGES)
        assert isinstance(mine[SENSORS[4]], np.ndarray)
        require_alike(all_as_numpy(mine), right)
        actions = generator.integers(1, 4, 3)
        mine, reward, terminated, truncated, _ = ours.step(actions)
        right, *expected, _ = theirs.step(actions)
        for got, wanted in zip((reward, terminated, truncated), expected, strict=True):
            assert np.array_equal(got, wanted)


@pytest.mark.learn
@pytest.mark.parametrize("copied", [True, False])
def test_device_observations_are_fresh_unless_asked_otherwise(warp, copied):
    env = make_env(copy=copied)
    first, _ = env.reset(seed=0)
    before = {name: first[name].numpy().copy() for name in IMAGES}
    second = env.step(np.full(3, 2))[0]
    assert not np.array_equal(second["depth"].numpy(), before["depth"])
    for name in IMAGES:
        assert (first[name].ptr == second[name].ptr) != copied
        assert np.array_equal(first[name].numpy(), before[name] if copied else second[name].numpy())


@pytest.mark.learn
def test_torch_takes_observations_without_a_copy(warp):
    torch = pytest.importorskip("torch")
    seen, _ = make_env(copy=False).reset(seed=0)
    for name in IMAGES:
        taken = torch.from_dlpack(seen[name])
        assert taken.data_ptr() == seen[name].ptr and tuple(taken.shape) == seen[name].shape


@pytest.mark.learn
@pytest.mark.parametrize("corruption", ["lighting:4", "depth_range:5", "depth_range:5:lost"])
def test_corruptions_on_the_device_are_those_of_the_cpu(warp, corruption):
    ours, theirs, clean = (
        make_env(device, corruptions=chosen)
        for device, chosen in ((DEVICE, [corruption]), ("cpu", [corruption]), ("cpu", []))
    )
    mine, right = all_as_numpy(ours.reset(seed=1)[0]), theirs.reset(seed=1)[0]
    require_alike(mine, right)
    name = "rgb" if corruption.startswith("light") else "depth"
    assert not np.array_equal(right[name], clean.reset(seed=1)[0][name])


def test_corruptions_without_a_kernel_are_refused():
    with pytest.raises(InputError, match="Lighting and DepthRange.*got SpeckleNoise; use device='cpu'"):
        make_env(corruptions=["speckle_noise"])


def test_sensors_without_a_kernel_are_refused():
    with pytest.raises(InputError, match="got ResizedRgb for 'rgb'; choose other sensors"):
        NavigationVectorEnv(1, "robustnav-pointnav-v1", sensors=["rgb"], episodes=EPISODES, device=DEVICE)


def test_buffers_of_numpy_hold_no_device_images():
    buffers = {"rgb": np.zeros((1, 24, 32, 3), np.uint8)}
    with pytest.raises(InputError, match="expected no buffer for 'rgb', which stays on the device"):
        make_batch(SmallPointNav(), 1, None, ["rgb"], buffers=buffers, device=RenderDevice(DEVICE, True))


def test_unknown_devices_are_refused():
    with pytest.raises(UnknownNameError, match="Did you mean 'warp-cpu'"):
        make_env("wrap-cpu")


def test_graphs_have_no_device():
    with pytest.raises(InputError, match="expected device 'cpu' for r2r-v1"):
        make_batch(get_task("r2r-v1"), 1, sources=Sources(scenes="x"), device=RenderDevice(DEVICE))


@pytest.mark.learn
def test_states_are_restored(warp):
    env = make_env()
    env.reset(seed=3)
    env.step(np.full(3, 1))
    saved, actions = env.save_state(), np.full(3, 2)
    expected = all_as_numpy(env.step(actions)[0])
    other = make_env()
    other.restore_state(saved)
    for name, image in all_as_numpy(other.step(actions)[0]).items():
        assert np.array_equal(image, expected[name])


@pytest.mark.learn
def test_batches_are_copied_with_their_device(warp):
    batch = make_batch(
        SmallPointNav(), 2, None, SENSORS, make_cache(), device=RenderDevice(DEVICE, keeps_images=True)
    )
    batch.start([0, 1], EPISODES[:2])
    copied = pickle.loads(pickle.dumps(batch))
    assert np.array_equal(copied.observations["rgb"].numpy(), batch.observations["rgb"].numpy())


@pytest.mark.learn
@pytest.mark.parametrize("keeps", [True, False])
def test_maps_of_what_was_seen_work_on_a_device(warp, keeps):
    """Such sensors read depth images on the host; the goals of MultiON are objects beside the scene."""
    task = get_task("multion-3on-v1")
    episodes = make_episodes(task.protocol_id, ["houses-v1/val/00000"], 2).episodes
    seen = []
    for device in (RenderDevice(DEVICE, keeps), RenderDevice()):
        sensors = ("depth", "occupancy_map")
        batch = NavigationBatch(task, 2, sensors=sensors, device=device)
        batch.start([0, 1], list(episodes))
        batch.step(np.full(2, 2))
        seen.append({name: as_numpy(one) for name, one in batch.observations.items()})
    for name, wanted in seen[1].items():
        assert (seen[0][name] != wanted).mean() < 0.02 if name != "depth" else True
    assert (np.abs(seen[0]["depth"] - seen[1]["depth"]) < 1e-3).mean() > 0.99


@pytest.mark.learn
def test_image_sizes_that_fit_no_device(warp):
    class Wide(SmallPointNav):
        embodiment = replace(SmallPointNav.embodiment, cameras=(Camera(width_px=100_000, height_px=100_000),))

    with pytest.raises(InputError, match="choose another image size or fewer environments"):
        NavigationVectorEnv(1, Wide(), sensors=["rgb"], episodes=EPISODES, device=DEVICE)
