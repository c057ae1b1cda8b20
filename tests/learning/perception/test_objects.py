"""What segments get wrong about the objects of a house, with labellers whose errors are known."""

from dataclasses import replace

import pytest

pytest.importorskip("torch")

import numpy as np

from navarena.agents.goat.detection import PerceptionErrors
from navarena.core.errors import InputError
from navarena.learning.perception import objects
from navarena.scenes.scene import SceneObject
from navarena.simulation.world import World
from worlds import HALL, draw_navmesh, draw_scene

pytestmark = pytest.mark.learn


class Blind:
    """Calls everything `told`."""

    classes = ("void", "bed", "couch")

    def __init__(self, told):
        self.told = told

    def label(self, rgb, depth):
        return np.full(depth.shape, self.told, np.int32)


@pytest.fixture(autouse=True)
def hall(monkeypatch):
    """A hall in which all that is seen is one bed."""
    scene = draw_scene(HALL, scene_id="hall")
    numbers = np.unique(scene.triangle_object)
    beds = tuple(
        SceneObject(int(one), "bed", (5.0, 0.5, 5.0), (5.0, 1.0, 5.0)) for one in numbers[numbers > 0]
    )
    world = World.of(replace(scene, objects=beds), draw_navmesh(HALL))
    monkeypatch.setattr(objects, "open_world", lambda scene_id, body: world)


def test_errors_of_an_image_of_beds():
    missed = objects.count_scene_errors(Blind(0), "hall", 3)
    assert missed.objects == missed.missed > 0 and missed.segments == missed.wrong == 0
    right = objects.count_scene_errors(Blind(1), "hall", 3)
    assert right.objects == missed.objects and right.missed == 0 < right.segments
    wrong = objects.count_scene_errors(Blind(2), "hall", 3)
    assert right.wrong < wrong.wrong == wrong.segments == right.segments, "some segments show no object"
    assert objects.count_scene_errors(Blind(2), "hall", 3) == wrong, "the poses are the same again"
    assert isinstance(missed + wrong, PerceptionErrors)


def test_senseless_numbers_are_refused():
    with pytest.raises(InputError, match="at least one image"):
        objects.count_scene_errors(Blind(0), "hall", 0)
    with pytest.raises(InputError, match="1 to .* houses of houses-v1/val, got houses=0"):
        objects.score_objects(Blind(0), "val", 0, 3, None, ())
