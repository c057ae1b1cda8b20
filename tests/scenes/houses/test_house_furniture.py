import pytest

from navarena.scenes.houses.draws import Draws
from navarena.scenes.houses.furniture.catalog import CATEGORIES, FAMILIES
from navarena.scenes.houses.furniture.taste import Taste
from navarena.scenes.houses.looks import COLORS, FINISHES, STYLES
from navarena.scenes.houses.recipes import KITCHEN_RUN, MISSING_ROOM, RECIPES

HABITAT_GOALS = (
    "chair",
    "table",
    "picture",
    "cabinet",
    "cushion",
    "sofa",
    "bed",
    "chest_of_drawers",
    "plant",
    "sink",
    "toilet",
    "stool",
    "towel",
    "tv_monitor",
    "shower",
    "bathtub",
    "counter",
    "fireplace",
    "gym_equipment",
    "seating",
    "clothes",
)
"""The goal categories of the Habitat 2020 challenge."""


def some_taste(seed: int) -> Taste:
    draws = Draws("taste", seed)
    style = STYLES[draws.choose(tuple(STYLES))]
    return Taste(
        draws,
        style,
        style.woods[0],
        style.textiles[0],
        style.accents[0],
        style.metals[0],
        draws.integer(1500, 6000),
    )


def test_the_catalogue_covers_the_goals_of_habitat():
    assert len(CATEGORIES) >= 35
    assert set(HABITAT_GOALS) <= set(CATEGORIES)


def test_recipes_and_carriers_name_known_families():
    for groups in [*RECIPES.values(), *MISSING_ROOM.values()]:
        for group in groups:
            names = {*group.families, *group.unless, *(f.family for f in group.followers)} - {KITCHEN_RUN}
            assert names <= set(FAMILIES)
            members = {*group.families, *(f.family for f in group.followers)}
            assert all(f.of in members or not f.of for f in group.followers)
    for family in FAMILIES.values():
        if family.carries is not None:
            assert all(FAMILIES[name].stands == "top" for name in family.carries.families)


@pytest.mark.parametrize("name", FAMILIES)
def test_instances_are_whole_and_of_human_size(name):
    family = FAMILIES[name]
    attributes = set()
    for seed in range(5):
        model = family.build(some_taste(seed))
        rect = model.rect
        assert 20 <= max(rect.width, rect.depth) <= 2600
        assert 5 <= model.high - model.low <= 2350
        assert model.low >= -50
        assert family.stands in ("wall", "corner", "floor", "hung", "top", "ceiling")
        for part in model.parts:
            assert part.look.finish in FINISHES and part.look.color in COLORS
            assert min(part.size) > 0
        for surface in model.surfaces:
            assert model.low < surface.at[1] <= model.high + 60
            assert (
                rect.x0 <= surface.at[0] - surface.width // 2
                and surface.at[0] + surface.width // 2 <= rect.x1
            )
        assert {"color", "material", "size"} <= set(model.attributes)
        attributes.add(tuple(sorted(model.attributes.items())))
    assert attributes


def test_most_families_come_in_several_looks():
    varied = 0
    for family in FAMILIES.values():
        looks = {tuple(sorted(family.build(some_taste(seed)).attributes.items())) for seed in range(6)}
        varied += len(looks) >= 3
    assert varied > 0.7 * len(FAMILIES)
