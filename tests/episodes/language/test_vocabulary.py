import numpy as np
import pytest

from navarena.episodes.language.vocabulary import PAD, UNKNOWN, Vocabulary, route_vocabulary, split_words


def test_words_and_marks():
    assert split_words("Go left, then STOP. It's 2 m!") == [
        "go", "left", ",", "then", "stop", ".", "it", "'", "s", "2", "m", "!",
    ]  # fmt: skip


def test_the_most_frequent_come_first_and_ties_by_name():
    assert Vocabulary.of(["b a b", "c a b"]).words == ("<pad>", "<unk>", "b", "a", "c")
    assert Vocabulary.of(["b a b", "c a b"], min_count=2).words == ("<pad>", "<unk>", "b", "a")


def test_encoding_pads_cuts_and_knows_what_it_does_not_know():
    vocabulary = Vocabulary.of(["go left"])
    assert vocabulary.encode("Left go home", 5).tolist() == [3, 2, UNKNOWN, PAD, PAD]
    assert vocabulary.encode("go go go", 2).tolist() == [2, 2]
    assert vocabulary.decode(np.array([3, 2, 0, 2], np.int32)) == "left go"


def test_the_vocabulary_of_the_houses_knows_the_grammar():
    words = route_vocabulary().encode("Turn left and walk into the kitchen. Stop next to the red sofa.", 14)
    assert UNKNOWN not in words.tolist()


@pytest.mark.parametrize("length", [1, 200])
def test_length(length):
    assert route_vocabulary().encode("go", length).shape == (length,)
