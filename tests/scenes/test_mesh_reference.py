"""Mesh files named with the options they are read with."""

from pathlib import Path

import numpy as np
import pytest

from navarena.core.errors import InputError, UnknownNameError
from navarena.episodes.catalog import make_episodes
from navarena.scenes.catalog import load_scene, scene_hash
from navarena.scenes.mesh_reference import join_reference, split_reference
from navarena.simulation.body_catalog import LOCOBOT
from navarena.simulation.world import open_world

UPRIGHT = "v 0 0 0\nv 900 0 0\nv 900 900 0\nv 0 900 0\nf 1 2 3\nf 1 3 4\n"


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a.ply", ("a.ply", "y", 1.0, "front", "")),
        ("a.ply?up=z", ("a.ply", "z", 1.0, "front", "")),
        ("a.ply?scale=0.01", ("a.ply", "y", 0.01, "front", "")),
        ("a.ply?up=-z&scale=0.01", ("a.ply", "-z", 0.01, "front", "")),
        ("a.ply?sides=both&categories=map.json", ("a.ply", "y", 1.0, "both", "map.json")),
    ],
)
def test_both_directions(text: str, parts: tuple[str, str, float, str, str]) -> None:
    assert split_reference(text) == parts and join_reference(*parts) == text


def test_wrong_options() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'scale'"):
        split_reference("a.ply?scal=1")
    with pytest.raises(InputError, match="expected a number"):
        split_reference("a.ply?scale=big")


def test_episodes_remember_how_their_mesh_is_read(tmp_path: Path) -> None:
    """A floor in centimetres that stands upright in its file."""
    path = tmp_path / "floor.obj"
    path.write_text(UPRIGHT)
    named = f"{path}?up=z&scale=0.01"
    assert scene_hash(named) == scene_hash(path, "z", 0.01) != scene_hash(path)
    assert load_scene(named).scene_id == named
    (episode,) = make_episodes("pointnav-v1", [str(path)], 1, up_axis="z", scale=0.01).episodes
    assert episode.scene_id == named
    world = open_world(episode.scene_id, LOCOBOT)
    assert world.navmesh.is_navigable(np.array([episode.start_position]))[0]
