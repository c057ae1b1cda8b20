"""Equal draws from lists."""

import numpy as np
import pytest

from navarena.core.errors import InputError
from navarena.episodes import lazy
from navarena.episodes.lazy import SceneEpisodes
from navarena.episodes.recipe import Stream
from navarena.episodes.sampler import UniformSampler

from .counting import Counting
from .test_stream import make_list


def test_uniform_draws_rows_by_one_integer_each():
    episodes, generator = make_list("abcab"), np.random.default_rng(3)
    rows = np.random.default_rng(3).integers(5, size=40)
    sampler = UniformSampler(episodes)
    drawn = [sampler.draw(generator)[0].episode_id for _ in range(40)]
    assert drawn == [episodes[row].episode_id for row in rows]


def test_rows_of_a_stream_name_their_scenes(monkeypatch):
    monkeypatch.setattr(lazy, "open_world", lambda scene, body: scene)
    stream = SceneEpisodes(Counting(), list("abcde"), 60, Stream("set", "train"), block=6)
    for scene, found in stream.scene_rows().items():
        rows = [start + row for start in found.starts for row in found.rows]
        assert {stream[row].scene_id for row in rows} == {scene} and len(rows) == 60


def test_nothing_to_draw_from_is_refused():
    with pytest.raises(InputError, match="expected at least one episode"):
        UniformSampler(())


def test_a_state_of_another_sampler_is_refused():
    uniform = UniformSampler(make_list("ab"))
    uniform.restore(uniform.state())
    with pytest.raises(InputError, match="expected the empty state of UniformSampler, got seed"):
        uniform.restore({"seed": [1]})
