"""Vectors of goals as long as the network makes them, also from the cache on disk."""

import numpy as np
import pytest

from navarena.agents.encoders.weights import WeightsEncoder
from navarena.core.errors import InputError, UnknownNameError
from navarena.episodes.encoding.cached import CachedEncoder
from navarena.episodes.encoding.catalog import find_encoder
from navarena.episodes.encoding.encoder import GoalQuery
from navarena.tasks.sensors.goal_vector import GoalVector


class Counting(WeightsEncoder):
    """(letters, 4) of a text, (3, brightness) of an image."""

    name, dimension, sees_images = "counting", 2, True

    def _encode_text(self, text):
        return np.array([len(text), 4], np.float32)

    def _encode_image(self, image):
        return np.array([3, image.mean()], np.float32)


IMAGE = np.full((2, 2, 3), 4, np.uint8)
GOALS = (
    GoalQuery("object", "bed"),
    GoalQuery("description", "bed", "a wide bed"),
    GoalQuery("image", image=IMAGE),
)
RAW = [[3, 4], [10, 4], [3, 4]]


def test_networks_keep_their_lengths(tmp_path):
    assert [Counting().encode_raw(goal).tolist() for goal in GOALS] == RAW
    assert Counting().encode(GOALS[0]) == pytest.approx([0.6, 0.8])
    kept = CachedEncoder(Counting(), tmp_path)
    for computed in (3, 3):
        assert [kept.encode_raw(goal).tolist() for goal in GOALS] == RAW and kept.computed == computed
    assert kept.encode(GOALS[0]) == pytest.approx([0.6, 0.8]), "vectors of length 1 are others"
    assert kept.computed == 4
    again = CachedEncoder(Counting(), tmp_path)
    assert [again.encode_raw(goal).tolist() for goal in GOALS] == RAW and again.computed == 0


def test_sensors_of_goal_vectors_have_the_weights_of_their_encoder(tmp_path, monkeypatch):
    assert GoalVector(CachedEncoder(Counting(), tmp_path)).model_sha256 == ""
    monkeypatch.setattr(Counting, "model_sha256", "ab" * 32)
    assert GoalVector(CachedEncoder(Counting(), tmp_path)).model_sha256 == "ab" * 32


def test_only_files_of_weights_make_vectors_others(tmp_path, monkeypatch):
    """An encoder that names no folder does not look at the one in which it runs."""
    monkeypatch.chdir(tmp_path)
    CachedEncoder(Counting(), tmp_path / "cache").encode_raw(GOALS[0])
    (tmp_path / "notes.txt").write_text("of somebody else")
    again = CachedEncoder(Counting(), tmp_path / "cache")
    assert again.encode_raw(GOALS[0]).tolist() == RAW[0] and again.computed == 0


def test_encoders_without_networks_give_unit_vectors_of_what_they_read():
    words = find_encoder("words")
    assert words is find_encoder("words"), "loaded once"
    assert np.linalg.norm(words.encode_raw(GoalQuery("object", "bed"))) == pytest.approx(1.0)
    with pytest.raises(InputError, match="cannot encode a goal given by 'image'"):
        words.encode_raw(GOALS[2])
    with pytest.raises(UnknownNameError, match="words"):
        find_encoder("word")
