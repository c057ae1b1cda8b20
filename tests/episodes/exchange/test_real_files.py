"""Files that the community publishes: they load, come back and are summarised."""

import gzip
import json

import numpy as np
import pytest

from navarena.cli.main import main
from navarena.core.geometry import forward_from_yaw
from navarena.episodes.exchange import encode_document, open_episode_file
from navarena.episodes.statistics import compute_statistics

from .samples import exact

pytestmark = pytest.mark.real_data

FILES = {
    "hm3d/objectnav_v2_minival": ("habitat-objectnav-hm3d", 1, 15),
    "robothor/2021/train": ("robothor-2021", 1, 1800),
    "robothor/2021/test": ("robothor-2021", 1, 204),
    "robustnav/pointnav/calibration": ("robustnav-pointnav", 15, 700),
    "robustnav/objectnav/calibration": ("robustnav-objectnav", 15, 705),
}
"""Folder -> format, scenes, episodes; the counts of RobustNav are those of its paper's data."""


@pytest.mark.parametrize("folder", FILES)
def test_published_files(real_data, folder, capsys):
    layout, scenes, episodes = FILES[folder]
    file = open_episode_file(real_data / folder)
    found = list(file.episodes)
    assert (file.format.name, len(file.scene_names), len(found)) == (layout, scenes, episodes)
    assert not file.notices.unknown_fields and not file.notices.mended
    for part, path in enumerate(file.parts):
        written = encode_document(file.document(part).read())
        assert exact(json.loads(written)) == exact(json.loads(gzip.decompress(path.read_bytes())))
    assert main(["episodes", "info", str(real_data / folder), "--json"]) == 0
    output = json.loads(capsys.readouterr().out)
    assert (output["format"], output["scenes"], output["episodes"]) == (layout, scenes, episodes)


def test_view_points_of_hm3d_look_at_their_object(real_data):
    file = open_episode_file(real_data / "hm3d/objectnav_v2_minival")
    numbers = compute_statistics(file.episodes, file.listed_objects())
    assert numbers.instances_by_category == {
        "bed": 2, "chair": 12, "plant": 11, "sofa": 3, "toilet": 2, "tv_monitor": 1
    }  # fmt: skip
    for episode in file.episodes:
        for instance in episode.goal.instances:
            for point in instance.view_points[:5]:
                way = np.subtract(instance.position, point.position)[[0, 2]]
                forward = forward_from_yaw(point.yaw)[[0, 2]]
                if np.linalg.norm(way) > 0.1:  # above or below, every direction is one
                    assert forward @ way / np.linalg.norm(way) > 0.99
        nearest = min(
            np.linalg.norm(np.subtract(point.position, episode.start_position))
            for instance in episode.goal.instances
            for point in instance.view_points
        )
        assert nearest <= episode.geodesic_distance + 1e-4


def test_paths_of_robothor_are_as_long_as_they_say(real_data):
    for folder in ("robothor/2021/train", "robustnav/pointnav/calibration"):
        for record in open_episode_file(real_data / folder).records():
            corners = np.array([(point.x, point.y, point.z) for point in record.shortest_path])
            length = np.linalg.norm(np.diff(corners, axis=0), axis=1).sum()
            assert length == pytest.approx(record.shortest_path_length, abs=1e-3)


def test_robustnav_starts_and_goals_lie_on_the_paths(real_data):
    file = open_episode_file(real_data / "robustnav/pointnav/calibration")
    for record, episode in zip(file.records(), file.episodes, strict=True):
        first, last = record.shortest_path[0], record.shortest_path[-1]
        assert np.allclose(episode.start_position, (first.x, first.y, -first.z), atol=0.3)
        assert np.allclose(episode.goal.position, (last.x, last.y, -last.z), atol=0.3)
