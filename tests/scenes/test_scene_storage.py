"""Scenes survive the way through a pack bit for bit."""

from dataclasses import replace

import numpy as np
import pytest
from scene_samples import assert_scenes_equal, full_scene, plain_scene

from navarena.scenes.packs import open_pack, write_pack
from navarena.scenes.storage import scene_from_pack, scene_to_arrays
from navarena.scenes.validation import validate_scene


@pytest.mark.parametrize("make", [full_scene, plain_scene])
def test_round_trip_of_everything(tmp_path, make):
    scene = make()
    write_pack(tmp_path / "scene.pack", *scene_to_arrays(scene))
    restored = scene_from_pack(open_pack(tmp_path / "scene.pack"))
    assert_scenes_equal(scene, restored)
    assert not restored.vertices.flags.writeable
    validate_scene(restored)


def test_records_must_hold_plain_values():
    scene = full_scene()
    thing = replace(scene.objects[0])
    object.__setattr__(thing, "attributes", {"color": np.zeros(3)})  # past the run-time type checks
    bad = replace(scene, objects=(thing,))
    with pytest.raises(TypeError, match="expected a number, text"):
        scene_to_arrays(bad)
