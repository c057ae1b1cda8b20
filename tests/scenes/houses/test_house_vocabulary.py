from pathlib import Path

import pytest

from house_samples import SEEDS, placements_of, sample_plan
from navarena.core.errors import UnknownNameError
from navarena.scenes.houses.furniture.catalog import CATEGORIES
from navarena.scenes.houses.generator import draw_house
from navarena.scenes.houses.house_sets import house_seed, house_settings
from navarena.scenes.houses.settings import HouseSettings
from navarena.scenes.houses.vocabulary import (
    BENCHMARKS,
    GOAT_SPLITS,
    UNSEEN_CATEGORIES,
    categories_of,
    find_named,
    goat_names,
    names_of,
    words_of,
)

SIZES = {"habitat2020": 21, "robothor": 12, "hm3d": 6, "gibson": 9, "ivln": 12}


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_every_word_stands_for_known_categories(benchmark):
    words = words_of(benchmark)
    assert len(words) == SIZES.get(benchmark, len(words))
    for word, found in words.items():
        assert found and set(found) <= set(CATEGORIES), word
        assert len(set(found)) == len(found)


@pytest.mark.parametrize(
    ("benchmark", "word", "expected"),
    [
        ("robothor", "GarbageCan", ("trash_can",)),
        ("robothor", "HousePlant", ("plant",)),
        ("robothor", "Television", ("television",)),
        ("habitat2020", "tv_monitor", ("television", "monitor")),
        ("gibson", "tv", ("television",)),
        ("ivln", "sink", ("sink", "washbasin")),
        ("goat", "power breaker box", ("fuse_box",)),
        ("goat", "bowl of fruit", ("fruit_bowl",)),
    ],
)
def test_words_of_benchmarks(benchmark, word, expected):
    assert categories_of(benchmark, word) == expected


def test_goat_splits_have_the_structure_of_the_paper():
    train, synonyms, unseen = (set(goat_names(s)) for s in ("train", "val_seen_synonyms", "val_unseen"))
    assert set(goat_names("val_seen")) < train
    assert not train & synonyms and not train & unseen and not synonyms & unseen
    assert (len(train), len(goat_names("val_seen")), len(synonyms), len(unseen)) == (162, 61, 37, 28)
    taught = {name for word in train | synonyms for name in categories_of("goat", word)}
    kept = {name for word in unseen for name in categories_of("goat", word)}
    assert kept == set(UNSEEN_CATEGORIES)
    assert not taught & kept


def test_no_closed_benchmark_needs_an_unseen_category_to_be_trained_on():
    for benchmark in SIZES:
        for word, found in words_of(benchmark).items():
            assert set(found) - set(UNSEEN_CATEGORIES), (benchmark, word)


def test_seen_houses_hold_no_unseen_category_and_others_do():
    settings = HouseSettings(without=UNSEEN_CATEGORIES)
    seen = {placed.category for seed in SEEDS[:2] for placed in placements_of(draw_house(seed, settings))}
    assert not seen & set(UNSEEN_CATEGORIES)
    found = {placed.category for seed in SEEDS[:8] for placed in placements_of(sample_plan(seed))}
    assert len(found & set(UNSEEN_CATEGORIES)) >= 20


def test_the_page_of_the_catalogue_lists_every_category():
    page = (Path(__file__).parents[3] / "docs" / "catalogue.md").read_text()
    rows = "".join(line for line in page.splitlines() if line.startswith("|"))
    assert [name for name in CATEGORIES if f"`{name}`" not in rows] == []
    assert f"from {len(CATEGORIES)} categories" in page
    for name in CATEGORIES:
        assert (f"`{name}`*" in rows) == (name in UNSEEN_CATEGORIES), name


def test_houses_to_train_in_are_built_without_unseen_categories():
    assert house_settings("train").without == UNSEEN_CATEGORIES
    assert house_settings("val").without == house_settings("test").without == ()
    house = draw_house(house_seed("train", 0), house_settings("train"))
    assert not {placed.category for placed in placements_of(house)} & set(UNSEEN_CATEGORIES)


def test_names_are_what_people_say():
    assert names_of("trash_can")[0] == "trash can" and "trashcan" in names_of("trash_can")
    assert names_of("sofa")[:2] == ("sofa", "couch")
    assert names_of("grandfather_clock")[0] == "grandfather clock"
    assert "antique clock" in names_of("grandfather_clock")
    for category in CATEGORIES:
        names = names_of(category)
        assert names and len(set(names)) == len(names)


def test_unknown_names_are_answered_with_the_nearest():
    with pytest.raises(UnknownNameError, match="GarbageCan"):
        categories_of("robothor", "GarbagCan")
    with pytest.raises(UnknownNameError, match="robothor"):
        categories_of("robothorr", "Mug")
    with pytest.raises(UnknownNameError, match="val_seen"):
        goat_names("val_sen")
    with pytest.raises(UnknownNameError, match="armchair"):
        names_of("armchir")
    assert set(GOAT_SPLITS) == {"train", "val_seen", "val_seen_synonyms", "val_unseen"}


@pytest.mark.parametrize(
    "text, found",
    [
        ("The grey couch by a bed.", ("sofa",)),
        ("white bath towels, beside the towel rail", ("towel",)),
        ("a wooden coffee table", ("coffee_table",)),
        ("the thing over there", ()),
        ("", ()),
    ],
)
def test_the_first_name_in_a_text_says_what_it_is_about(text, found):
    assert find_named(text) == found
