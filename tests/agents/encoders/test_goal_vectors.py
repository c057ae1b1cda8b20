"""Vectors of goals: as long as the network makes them, of what the goal is given by."""

import numpy as np
import pytest

from navarena.agents.encoders.encoder import GoalQuery
from navarena.agents.encoders.goal_vectors import GoalVectors, find_goal_vectors
from navarena.agents.encoders.weights import WeightsEncoder
from navarena.core.errors import InputError, UnknownNameError


class Counting(WeightsEncoder):
    """(letters, 4) of a text, (3, brightness) of an image."""

    name, dimension, sees_images = "counting", 2, True

    def _encode_text(self, text):
        return np.array([len(text), 4], np.float32)

    def _encode_image(self, image):
        return np.array([3, image.mean()], np.float32)


def test_networks_keep_their_lengths():
    vectors, image = GoalVectors(Counting()), np.full((2, 2, 3), 4, np.uint8)
    assert vectors.dimension == 2
    assert vectors.encode("object", "bed", "", None).tolist() == [3, 4]
    assert vectors.encode("description", "bed", "a wide bed", None).tolist() == [10, 4]
    assert vectors.encode("image", "", "", image).tolist() == [3, 4]
    assert Counting().encode(GoalQuery("object", "bed")) == pytest.approx([0.6, 0.8])


def test_encoders_without_networks_give_unit_vectors_of_what_they_read():
    vectors = find_goal_vectors("words")
    assert vectors is find_goal_vectors("words"), "loaded once"
    assert np.linalg.norm(vectors.encode("object", "bed", "", None)) == pytest.approx(1.0)
    with pytest.raises(InputError, match="cannot encode a goal given by 'image'"):
        vectors.encode("image", "", "", np.zeros((2, 2, 3), np.uint8))
    with pytest.raises(UnknownNameError, match="words"):
        find_goal_vectors("word")
