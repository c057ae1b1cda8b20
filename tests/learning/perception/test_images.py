"""Which images are learned from: classes, and the choice among candidates. No PyTorch."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from navarena.cli.training.train import change_setting
from navarena.core.errors import InputError, UnknownNameError
from navarena.core.seeding import make_generator
from navarena.learning.perception.choosing import choose_images, count_classes
from navarena.learning.perception.images import camera_body, depth_image, draw_images
from navarena.learning.perception.settings import ImageSettings, SegmenterRecipe
from navarena.learning.recipes.catalog import RECIPES
from navarena.mapping.semantic_map import CLASSES, label_table
from navarena.mapping.vocabularies import class_names, class_table, vocabularies
from navarena.scenes.houses.vocabulary import BENCHMARKS
from navarena.simulation.world import World
from worlds import ROOMS, draw_navmesh, draw_scene


def test_the_classes_of_maps_are_those_of_their_vocabulary():
    names = ("chair", "armchair", "couch", "desk", "lamp", "bookshelf", "wall")
    assert class_names("ivln") == CLASSES
    assert class_table("ivln", names).tolist() == label_table(names).tolist()
    told = [class_names("ivln")[number] for number in class_table("ivln", names)]
    assert told == ["void", "chair", "chair", "sofa", "table", "void", "shelving", "void"]


def test_a_category_belongs_to_the_first_word_that_stands_for_it():
    for vocabulary in vocabularies():
        names = class_names(vocabulary)
        assert names[0] == "void" and len(set(names)) == len(names)
        words = BENCHMARKS.get(vocabulary, {})
        for number, name in enumerate(names[1:], 1):
            own = words.get(name, (name,))
            assert number in class_table(vocabulary, own), f"{name} of {vocabulary} labels nothing"
    assert class_names("categories")[1 + class_table("categories", ("mug",))[1] - 1] == "mug"
    with pytest.raises(UnknownNameError, match="hm3d"):
        class_names("hm3dd")


def test_counts_are_those_of_a_loop():
    classes = make_generator("counts").integers(0, 5, (3, 4, 6)).astype(np.uint8)
    slow = [[int((image == number).sum()) for number in range(5)] for image in classes]
    assert count_classes(classes, 5).tolist() == slow


def test_rare_classes_are_taken_first_and_the_rest_fills_up():
    shares = np.zeros((8, 3))
    shares[:, 0] = 1.0
    shares[2, 1] = 0.3  # the only one with class 1
    shares[5, 2], shares[6, 2] = 0.2, 0.005  # 0.5 % is too little to count
    for seed in range(5):
        assert {2, 5} <= set(choose_images(shares, 2, 0.01, make_generator("choice", seed)).tolist())
    assert choose_images(shares, 8, 0.01, make_generator("all")).tolist() == list(range(8))


def test_classes_take_turns():
    shares = np.zeros((100, 3))
    shares[:90, 1], shares[90:, 2] = 0.5, 0.5
    kept = choose_images(shares, 20, 0.01, make_generator("turns"))
    assert (kept < 90).sum() == (kept >= 90).sum() == 10


@given(st.integers(1, 30), st.integers(1, 6), st.integers(0, 1000))
def test_so_many_are_kept_each_once(candidates, classes, seed):
    generator = make_generator("hypothesis", seed)
    shares = generator.dirichlet(np.full(classes, 0.3), candidates)
    count = int(generator.integers(1, candidates + 1))
    kept = choose_images(shares, count, 0.05, generator)
    assert len(kept) == count and (np.diff(kept) > 0).all() and kept.max() < candidates


def test_images_repeat_and_show_what_is_labelled():
    settings = ImageSettings(vocabulary="categories", size=(32, 48), images=6, cameras=("pointnav-v1",))
    body = camera_body("pointnav-v1", settings.size)
    scene = draw_scene(ROOMS, scene_id="rooms")
    floor, boxes = scene.objects
    scene = replace(scene, objects=(floor, replace(boxes, category="chair")))
    world = World.of(scene, draw_navmesh(ROOMS))
    one, again = (draw_images(world, body, settings, 0) for _ in range(2))
    other = draw_images(world, body, settings, 1)
    assert one.rgb.shape == (6, 32, 48, 3) and one.depth.shape == one.classes.shape == (6, 32, 48)
    for name in ("rgb", "depth", "classes"):
        assert np.array_equal(getattr(one, name), getattr(again, name))
        assert not np.array_equal(getattr(one, name), getattr(other, name))
    assert (one.depth > 0).any() and np.isfinite(one.depth).all()
    chair = class_names("categories").index("chair")
    assert set(np.unique(one.classes)) == {0, chair} and (one.classes == chair).any((1, 2)).all()


def test_depth_is_clipped_to_ten_metres():
    assert depth_image(np.array([[0.0, 2.5, 10.0, 60.0]], np.float16)).tolist() == [[0, 0.25, 1, 1]]


def test_settings_refuse_what_cannot_be():
    with pytest.raises(InputError, match="multiples of 16"):
        ImageSettings(size=(100, 128))
    with pytest.raises(InputError, match="batch of at least 1"):
        SegmenterRecipe("none", batch=0)
    with pytest.raises(InputError, match="unknown value of precision 'half'"):
        change_setting(SegmenterRecipe("none"), "precision=half")


@pytest.mark.parametrize("name", [name for name in RECIPES.names() if name.startswith("segmenter")])
def test_recipes_name_what_exists(name):
    recipe = RECIPES.get(name)
    assert class_names(recipe.images.vocabulary)
    for protocol in (*recipe.images.cameras, recipe.protocol):
        assert len(camera_body(protocol, recipe.images.size).cameras) == 1
