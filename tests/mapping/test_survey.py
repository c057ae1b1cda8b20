"""Maps that are made beforehand: kept, bounded, and refused where there is nothing to map."""

from dataclasses import replace

import numpy as np
import pytest

from navarena.core.errors import InputError, SceneError
from navarena.mapping import survey
from navarena.mapping.occupancy import OccupancySettings
from navarena.mapping.semantic_map import SemanticMapSettings
from navarena.mapping.survey import choose_places, survey_occupancy, survey_semantics
from navarena.simulation.body_catalog import LOCOBOT
from navarena.simulation.world import World
from worlds import ROOMS, draw_world

SETTINGS = OccupancySettings(cell=0.2)
BODY = replace(LOCOBOT, cameras=tuple(replace(one, width_px=64, height_px=48) for one in LOCOBOT.cameras))


def test_places_lie_apart_and_everywhere():
    world = draw_world(ROOMS)
    places = choose_places(world)
    apart = np.linalg.norm(places[:, None] - places, axis=-1) + 9 * np.eye(len(places))
    assert apart.min() >= survey.SPACING
    floor = world.navmesh.random_point(np.random.default_rng(1), 500)
    assert np.linalg.norm(floor[:, None] - places, axis=-1).min(1).max() < 1.3 * survey.SPACING


def test_a_map_is_made_once_and_read_from_the_cache_afterwards(tmp_path, monkeypatch):
    monkeypatch.setenv("NAVARENA_CACHE", str(tmp_path))
    made = survey_occupancy(draw_world(ROOMS), BODY, SETTINGS)
    monkeypatch.setattr(survey, "look_everywhere", None)
    kept = survey_occupancy(draw_world(ROOMS), BODY, SETTINGS)
    assert np.array_equal(made.scores, kept.scores) and np.array_equal(made.floors, kept.floors)
    with pytest.raises(TypeError):  # other settings need another survey
        survey_occupancy(draw_world(ROOMS), BODY, replace(SETTINGS, cell=0.25))


def test_a_map_larger_than_its_bound_is_refused():
    with pytest.raises(InputError, match="expected occupancy maps of at most 1,000 bytes"):
        survey_occupancy(draw_world(ROOMS), BODY, replace(SETTINGS, limit_bytes=1000))
    with pytest.raises(InputError, match="expected semantic maps of at most 1,000 bytes"):
        survey_semantics(draw_world(ROOMS), BODY, SemanticMapSettings(limit_bytes=1000))


def test_a_scene_without_labels_has_no_semantic_map():
    drawn = draw_world(ROOMS)
    bare = replace(drawn.scene, objects=(), triangle_object=np.zeros_like(drawn.scene.triangle_object))
    with pytest.raises(SceneError, match="labelled objects for a semantic map"):
        survey_semantics(World.of(bare, drawn.navmesh), BODY, SemanticMapSettings())
