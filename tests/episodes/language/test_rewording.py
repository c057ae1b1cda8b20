"""Instructions in other words: what is replaced, how much of it, and what stays."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from navarena.core.seeding import make_generator
from navarena.episodes.exchange.vocabulary import encode_again
from navarena.episodes.language.rewording import CHANGES, OBJECTS, ROOMS, change_instruction
from navarena.episodes.language.vocabulary import route_vocabulary, split_words

TEXT = (
    "Turn left, leave the bedroom and walk into the corridor. Pass the coat rack on the left, then take a "
    "right and enter the kitchen. Walk up to the large red table and stop there."
)


def change(name, text=TEXT, share=1.0, seed=0):
    return change_instruction(name, text, share, make_generator("rewording", seed))


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("Turn left.", {"Take a left.", "Make a left turn.", "Go left."}),
        ("Go up the stairs", {"Walk up the stairs", "Climb the stairs to the next floor", "Head upstairs"}),
        (
            "keep the red sofa on your right",
            {
                "walk past the red sofa on your right",
                "pass the red sofa on the right",
                "go past the red sofa that is on your right",
            },
        ),
        ("Zig, zag", {"Zig, zag"}),
        ("", {""}),
    ],
)
def test_phrases_are_replaced_by_those_of_the_same_meaning(text, known):
    assert {change("paraphrase", text, seed=seed) for seed in range(40)} == known


def test_swapped_landmarks_are_wrong_ones_of_the_same_kind():
    text = "Leave the kitchen. Wait by the table of the kitchen."
    for seed in range(20):
        words = change("landmark_swap", text, seed=seed)
        room = words.removeprefix("Leave the ").partition(".")[0]
        assert room in ROOMS and room != "kitchen"
        assert words.endswith(f"of the {room}."), "one room has one replacement"
        found = words.partition("by the ")[2].partition(" of")[0]
        if found != "chest":
            assert found in OBJECTS and found != "table"


def test_as_many_words_are_missing_as_the_share_says():
    text = " ".join(f"word{k}" for k in range(2000))
    left = change("word_drop", text, 0.3).split()
    assert len(left) == pytest.approx(1400, abs=60)
    assert left == [one for one in text.split() if one in set(left)], "the order stays"
    assert len(change("word_drop", text, 1.0).split()) == 1, "one word is kept"


@given(share=st.floats(0, 1), seed=st.integers(0, 99), name=st.sampled_from(sorted(CHANGES)))
def test_equal_generators_change_alike_and_no_share_changes_nothing(share, seed, name):
    assert change(name, share=share, seed=seed) == change(name, share=share, seed=seed)
    assert change(name, share=0.0, seed=seed) == TEXT


@given(small=st.floats(0, 1), large=st.floats(0, 1), seed=st.integers(0, 99))
@example(small=0.5, large=0.96875, seed=27)
def test_a_larger_share_drops_what_a_smaller_one_drops_and_more(small, large, seed):
    few, many = sorted((small, large))
    kept = [split_words(change("word_drop", share=share, seed=seed)) for share in (few, many)]
    assert len(kept[0]) >= len(kept[1])
    rest = iter(kept[0])
    assert all(word in rest for word in kept[1] if word.isalpha())


def test_every_replacement_is_in_the_vocabulary_of_the_houses():
    words = set(route_vocabulary().words)
    for name in CHANGES:
        for seed in range(20):
            assert set(split_words(change(name, seed=seed))) <= words


def test_tokens_of_files_follow_the_words_that_are_known():
    assert encode_again("walk to the bed", (7, 8, 9, 5), "to the sofa") == (8, 9, 1)
    assert encode_again("walk", (), "go") == ()


def test_a_generator_is_used_alike_at_every_share():
    drawn = [np.random.default_rng(3) for _ in range(2)]
    for generator, share in zip(drawn, (0.1, 0.9), strict=True):
        change_instruction("paraphrase", TEXT, share, generator)
    assert drawn[0].random() == drawn[1].random(), "severities change nested sets of phrases"
