from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navarena.core.errors import InputError, UnknownNameError
from navarena.scenes.houses import HOUSE_SPLITS, HouseSettings, house_seed
from navarena.scenes.houses.random_draws import Draws


def test_equal_names_draw_equal_numbers_and_others_do_not():
    first = [Draws("a", 1).integer(0, 10**6) for _ in range(2)]
    assert first[0] == first[1]
    assert Draws("a", 2).integer(0, 10**6) != first[0]
    assert Draws("a").branch(1).integer(0, 10**6) == first[0]


def test_branches_do_not_depend_on_what_was_drawn_before():
    draws = Draws("a")
    before = draws.branch("x").integer(0, 10**6)
    draws.integer(0, 5)
    assert draws.branch("x").integer(0, 10**6) == before


@settings(max_examples=50, deadline=None)
@given(st.integers(-1000, 1000), st.integers(0, 1000), st.integers(1, 60))
def test_integers_are_steps_from_the_low_end(low, span, step):
    value = Draws("i", low, span, step).integer(low, low + span, step)
    assert low <= value <= low + span
    assert (value - low) % step == 0


def test_a_replaced_seed_is_no_other_houses():
    assert house_seed("val", 8) == 1_100_100 and house_seed("val", 9) == 1_100_009
    assert house_seed("train", 283, "houses-v0") == 283
    seeds = [house_seed(split, index) for split, size in HOUSE_SPLITS.items() for index in range(size)]
    assert len(set(seeds)) == len(seeds)


def test_weights_decide_how_often():
    draws = Draws("w")
    counts = Counter(draws.weighted("abc", (1, 0, 3)) for _ in range(2000))
    assert counts["b"] == 0
    assert 0.2 < counts["a"] / 2000 < 0.3


def test_shuffling_keeps_all_items():
    assert sorted(Draws("s").shuffled(range(20))) == list(range(20))


def test_splits_have_disjoint_seeds():
    seeds = [
        house_seed(split, index, name)
        for name in ("houses-v0", "houses-v1")
        for split, size in HOUSE_SPLITS.items()
        for index in range(size)
    ]
    assert dict(HOUSE_SPLITS) == {"train": 800, "val": 100, "test": 100}
    assert len(set(seeds)) == len(seeds) == 2000


def test_seeds_outside_a_split_are_refused():
    with pytest.raises(UnknownNameError, match="Did you mean 'train'"):
        house_seed("tran", 0)
    with pytest.raises(UnknownNameError, match="Did you mean 'houses-v1'"):
        house_seed("train", 0, "house-v1")
    with pytest.raises(InputError, match=r"\[0, 99\] of split 'val', got 100"):
        house_seed("val", 100)
    with pytest.raises(InputError, match="got -1"):
        house_seed("val", -1)


@pytest.mark.parametrize(
    "wrong", [{"rooms": 0}, {"rooms": 13}, {"clutter_percent": 101}, {"light_spacing_mm": 10}]
)
def test_settings_out_of_range_are_refused(wrong):
    with pytest.raises(InputError, match="expected"):
        HouseSettings(**wrong)
