"""Sensors of predicted classes, by a labeller that is known exactly: their contract, what they look at."""

import pickle

import numpy as np
import pytest

from navarena.core.errors import InputError, UnknownNameError
from navarena.mapping.labellers import LABELLERS, SEGMENTER_VARIABLE, find_labeller
from navarena.mapping.semantic_map import CLASSES
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.sensors.catalog import GOAL_SENSORS, find_goal_sensor
from navarena.tasks.sensors.predicted import SemanticPredicted
from navarena.tasks.sensors.tour import PhaseSensor
from tasks.small import AHEAD, LEFT, SmallPointNav, make_cache

CHAIR = CLASSES.index("chair")


class NearIsChair:
    """Calls what is nearer than 4 m a chair, all else void."""

    classes = CLASSES

    def __init__(self, text):
        self.seen = []

    def label(self, rgb, depth):
        self.seen.append((rgb.copy(), depth.copy()))
        return np.where((depth > 0) & (depth < 4), CHAIR, 0).astype(np.int32)


class OfOthers(NearIsChair):
    classes = ("void", "lamp")

    def label(self, rgb, depth):
        return np.ones(depth.shape, np.int32)


@pytest.fixture(autouse=True)
def labellers(monkeypatch):
    made = {"near": NearIsChair("near"), "others": OfOthers("others")}
    monkeypatch.setitem(LABELLERS._objects, "fake", lambda text: made[text])
    monkeypatch.delenv(SEGMENTER_VARIABLE, raising=False)
    return made


NAMES = ("semantic_predicted", "semantic_map_predicted", "semantic_map_predicted_iterative")
NEAR = tuple(f"{name}:fake:near" for name in NAMES)


def run(episodes, sensors, corruptions=(), actions=(1, 2, 2, 2, 1)):
    batch = NavigationBatch(SmallPointNav(), len(episodes), 1, sensors, make_cache(), corruptions=corruptions)
    batch.start(range(len(episodes)), episodes)
    seen = [{name: np.array(value) for name, value in batch.observations.items()}]
    for action in actions:
        batch.step(np.full(len(episodes), action))
        seen.append({name: np.array(value) for name, value in batch.observations.items()})
    return batch, seen


def test_they_keep_to_their_specs_and_are_alive():
    batch, seen = run([AHEAD, LEFT], (*NEAR, "depth"))
    assert set(seen[0]) == {*NEAR, "depth"}, "the observation is called as it was asked for"
    for name in NEAR:
        spec = batch.specs[name]
        for one in seen:
            assert one[name].shape == (2, *spec.shape) and one[name].dtype == spec.dtype
            assert (one[name] >= spec.low).all() and (one[name] <= spec.high).all()
        assert any(not np.array_equal(seen[0][name], one[name]) for one in seen[1:]), name
    assert batch.specs[NEAR[0]].shape == (24, 32, 1) and batch.specs[NEAR[0]].high == len(CLASSES) - 1


@pytest.mark.parametrize("name", NEAR)
def test_their_weights_are_those_of_the_labeller(name, labellers):
    assert find_goal_sensor(name, lambda own: None).model_sha256 == ""
    labellers["near"].model_sha256 = "ab" * 32
    assert find_goal_sensor(name, lambda own: None).model_sha256 == "ab" * 32


def test_a_goal_sensor_does_not_replace_one_of_the_body(monkeypatch):
    monkeypatch.setitem(GOAL_SENSORS._objects, "gps", PhaseSensor)
    assert find_goal_sensor("gps", lambda own: None) is None
    monkeypatch.setitem(GOAL_SENSORS._objects, "another", PhaseSensor)
    with pytest.raises(InputError, match="expected a sensor called 'another', got 'phase'"):
        find_goal_sensor("another", lambda own: None)


def test_they_are_what_the_labeller_tells():
    _, seen = run([AHEAD, LEFT], (NEAR[0], "rgb"), actions=(2,))
    colours, depths = find_labeller("fake:near").seen[-1]
    assert np.array_equal(colours, seen[-1]["rgb"])
    assert depths.shape == (2, 24, 32) and depths.dtype == np.float32
    near = (depths > 0) & (depths < 4)
    assert near.any() and np.array_equal(seen[-1][NEAR[0]][..., 0] == CHAIR, near)


def test_a_map_of_them_shows_the_told_class_and_no_true_one():
    _, seen = run([AHEAD], (NEAR[1], "semantic_map"), actions=(1, 2, 2, 2, 3))
    planes = seen[-1][NEAR[1]][0, 1:].any((1, 2))
    assert planes[CHAIR] and planes.sum() == 1
    true = seen[-1]["semantic_map"][0]
    assert not true[1 + CHAIR].any(), "the drawn world has no chairs"
    assert np.array_equal(seen[-1][NEAR[1]][0, 0], true[0]), "the same columns are filled"


def test_batches_equal_single_slots():
    _, together = run([AHEAD, LEFT], NEAR)
    for row, episode in enumerate((AHEAD, LEFT)):
        _, alone = run([episode], NEAR)
        for one, both in zip(alone, together, strict=True):
            assert all(np.array_equal(one[name][0], both[name][row]) for name in NEAR)


def test_they_are_not_privileged_and_slots_without_a_body_are_void():
    batch = NavigationBatch(SmallPointNav(), 2, 1, NEAR, make_cache())
    assert batch.privileged_sensors == ()
    batch.start([1], [AHEAD])
    seen = batch.observations[NEAR[0]]
    assert not seen[0].any() and seen[1].any()
    assert len(find_labeller("fake:near").seen[-1][0]) == 1, "no empty slot is labelled"


def test_corrupted_images_are_labelled():
    run([AHEAD], (NEAR[0],), actions=())
    clean = find_labeller("fake:near").seen[-1][0]
    run([AHEAD], (NEAR[0],), ("lighting:5",), actions=())
    assert find_labeller("fake:near").seen[-1][0].mean() < 0.8 * clean.mean()


def test_the_variable_names_the_labeller_of_plain_names(monkeypatch):
    with pytest.raises(InputError, match=r"semantic_predicted:DIR, or set NAVARENA_SEGMENTER"):
        run([AHEAD], NAMES)
    monkeypatch.setenv(SEGMENTER_VARIABLE, "fake:near")
    _, plain = run([AHEAD], NAMES)
    _, named = run([AHEAD], NEAR)
    for one, other in zip(plain, named, strict=True):
        assert all(np.array_equal(one[a], other[b]) for a, b in zip(NAMES, NEAR, strict=True))


def test_what_does_not_fit_is_refused():
    with pytest.raises(InputError, match=r"segmenter of the classes void, shelving.*got one of void, lamp"):
        run([AHEAD], ("semantic_map_predicted:fake:others",))
    assert (
        run([AHEAD], ("semantic_predicted:fake:others",))[0].specs["semantic_predicted:fake:others"].high == 1
    )
    with pytest.raises(UnknownNameError, match="gps:fake"):
        run([AHEAD], ("gps:fake",))
    with pytest.raises(UnknownNameError, match="oracle_map:fake"):
        run([AHEAD], ("oracle_map:fake",))


def test_they_can_be_pickled():
    sensor = SemanticPredicted("fake:near")
    again = pickle.loads(pickle.dumps(sensor))
    assert again == sensor and again.name == NEAR[0]
