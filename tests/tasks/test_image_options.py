"""Image sizes and types of depth of a run."""

from dataclasses import replace

import numpy as np
import pytest

from navarena.core.errors import InputError, UnknownNameError
from navarena.core.protocol_ids import join_protocol, split_protocol
from navarena.simulation.body import Camera
from navarena.simulation.sensors.images import Depth
from navarena.tasks import NavigationEnv, NavigationVectorEnv
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.catalog import TASKS, change_images, get_task
from navarena.tasks.image_options import ImageOptions
from navarena.tasks.task import Task
from tasks.small import AHEAD, SmallPointNav, make_cache

BODIES = [name for name in TASKS.names() if isinstance(get_task(name), Task)]


@pytest.mark.parametrize("protocol_id", BODIES)
def test_any_protocol_takes_sizes(protocol_id):
    plain = get_task(protocol_id)
    task = get_task(f"{protocol_id}+rgb=48x40+depth=32x24+depth_dtype=uint8")
    assert task.protocol_id == f"{protocol_id}+custom+depth=32x24+depth_dtype=uint8+rgb=48x40"
    assert task.embodiment == plain.embodiment, "the rules look through the protocol's cameras"
    specs = NavigationBatch(task, 1, 1, ("rgb", "depth", "semantic")).specs
    assert specs["rgb"].shape == (40, 48, 3)
    assert specs["depth"].shape == (24, 32, 1) and specs["depth"].dtype == np.uint8


def test_a_size_stands_beside_another_option_of_its_name():
    task = get_task("multion-1on-v1+depth=far+depth=64x48")
    assert task.protocol_id == "multion-1on-v1+custom+depth=far+depth=64x48"
    assert get_task(task.protocol_id).protocol_id == task.protocol_id
    assert task.make_sensor("depth") == Depth(0.0, 10.0, normalize=True)
    assert NavigationBatch(task, 1, 1, ("rgb", "depth")).specs["depth"].shape == (48, 64, 1)
    base, options = split_protocol(task.protocol_id)
    assert join_protocol(base, options) == task.protocol_id


def test_cameras_of_one_size_stay_one():
    task = change_images("pointnav-v1", ImageOptions(rgb=(64, 64), depth=(64, 64)))
    assert [(one.width_px, one.height_px) for one in task.camera_body.cameras] == [(64, 64)]
    assert len(change_images("pointnav-v1", ImageOptions(depth=(64, 64))).camera_body.cameras) == 2
    assert change_images("pointnav-v1", ImageOptions()).protocol_id == "pointnav-v1"


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("pointnav-v1+rgb=0x64", InputError, "expected an image size of rgb of 1 to 4096 pixels .* got 0x64"),
        ("pointnav-v1+depth=100000x8", InputError, "image size of depth of 1 to 4096 .* got 100000x8"),
        ("pointnav-v1+depth_dtype=uint9", UnknownNameError, "uint8"),
        ("pointnav-v1+rgb=64", UnknownNameError, "option 'rgb'"),
        ("r2r-v1+rgb=64x64", InputError, "on graphs"),
    ],
)
def test_bad_values(text, kind, message):
    with pytest.raises(kind, match=message):
        get_task(text)


def test_other_types_of_depth_are_refused():
    """Shares of the range would all be cut down to 0 in whole numbers of another type."""
    with pytest.raises(UnknownNameError, match="unknown depth_dtype 'int8'.*Known: float16, float32, uint8"):
        ImageOptions(depth_dtype="int8")
    with pytest.raises(UnknownNameError, match="unknown poses 'true'"):
        ImageOptions(poses="true")


@pytest.mark.parametrize("kind", ["float16", "uint8"])
def test_types_of_depth(kind):
    """By hand: range 0.5 to 5 m."""
    metres = np.array([0.0, 0.5, 0.51, 2.75, 4.999, 5.0, 9.0], np.float32).reshape(1, 1, -1)
    shares = [0.0, 0.0, 0.01 / 4.5, 0.5, 4.499 / 4.5, 1.0, 1.0]
    sensor = Depth(0.5, 5.0, normalize=True, dtype=kind)
    spec = sensor.spec(Camera(width_px=metres.size, height_px=1))
    out = spec.make_array(1)
    sensor.develop(metres, out)
    assert out.dtype == np.dtype(kind)
    if kind == "uint8":
        assert out.ravel().tolist() == [0, 0, 1, 128, 255, 255, 255] and (spec.low, spec.high) == (0, 255)
    else:
        assert out.ravel() == pytest.approx(shares, abs=5e-4)
    metric = replace(sensor, normalize=False)
    metric.develop(metres, out)
    if kind == "float16":
        assert out.ravel() == pytest.approx(np.clip(metres.ravel(), 0.5, 5.0), abs=2e-3)
    else:
        assert out.ravel().tolist() == [0, 0, 1, 128, 255, 255, 255]


def test_environments_take_them():
    given = {"episodes": [AHEAD], "worlds": make_cache(), "image_size": (20, 16), "depth_dtype": "uint8"}
    env = NavigationEnv(SmallPointNav(), **given)
    seen, _ = env.reset(seed=1)
    assert env.observation_space.contains(seen)
    assert seen["rgb"].shape == (16, 20, 3) and seen["depth"].shape == (16, 20, 1)
    assert seen["depth"].dtype == np.uint8 and seen["depth"].any()
    assert "custom" in env.task.protocol_id
    many = NavigationVectorEnv(2, SmallPointNav(), **given)
    both, _ = many.reset(seed=1)
    assert many.observation_space.contains(both)
    assert np.array_equal(both["depth"][0], seen["depth"])
    exact = NavigationEnv(SmallPointNav(), **{**given, "depth_dtype": None})
    metres, _ = exact.reset(seed=1)
    assert np.array_equal(seen["depth"], np.floor(metres["depth"] * 255 + 0.5).astype(np.uint8))
