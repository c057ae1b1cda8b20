"""What notebooks show: whole, escaped, and drawn by what reports draw with."""

import base64
import io
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from PIL import Image

import navarena
from navarena.core.display import DRAWERS, NotebookDisplay
from navarena.core.errors import InputError
from navarena.core.registry import load_target
from navarena.episodes.episode import Episode, PointGoal
from navarena.evaluation import EvaluationSettings
from navarena.metrics.trajectory import Trajectory
from navarena.reports.notebooks import View, show, view_observations
from navarena.tasks.env import NavigationEnv
from navarena.tasks.vector_env import NavigationVectorEnv
from tasks.small import AHEAD, SmallPointNav, make_cache
from worlds import HALL, draw_world

HOSTILE = '<img src=x onerror="alert(1)">&"\''


class Tags(HTMLParser):
    """The tags of a page, and whether each that opens is closed."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.open = [], []
        self.feed(text)
        assert not self.open, f"never closed: {self.open}"

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in ("img",):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def images_of(view):
    links = [attrs["src"] for tag, attrs in Tags(view._repr_html_()).tags if tag == "img"]
    data = [base64.b64decode(link.removeprefix("data:image/png;base64,")) for link in links]
    return [np.asarray(Image.open(io.BytesIO(one))) for one in data]


def walk(positions, collided=None):
    count = len(positions) - 1
    return Trajectory(
        np.array(positions, float),
        np.zeros(count + 1),
        np.ones(count, np.int64),
        np.zeros(count, bool) if collided is None else np.array(collided),
        np.arange(count, -1, -1.0) * 0.25,
        count * 0.25,
        True,
        0.2,
    )


def test_every_kind_has_a_drawer():
    kinds = {kind.display_kind for kind in all_shown(NotebookDisplay)}
    assert kinds == set(DRAWERS.targets())
    for target in DRAWERS.targets().values():
        assert callable(load_target(target))


def all_shown(kind):
    from navarena.evaluation import Evaluation
    from navarena.scenes import Scene
    from navarena.simulation.navmesh import NavMesh

    assert {Evaluation, Scene, NavMesh, Episode, Trajectory} <= set(kind.__subclasses__())
    return kind.__subclasses__()


def test_scenes_show_their_storeys_and_what_they_hold():
    scene = draw_world(HALL, scene_id="hall").scene
    view = show(scene)
    (image,) = images_of(view)
    assert image.shape == (440, 560, 3) and image.std() > 5
    assert "triangles</td><td" in scene._repr_html_() and f"{len(scene.triangles):,}" in scene._repr_html_()
    assert Image.open(io.BytesIO(scene._repr_png_())).size == (560, 440)
    assert repr(scene) == f"Scene(scene_id='hall', triangles={len(scene.triangles)}, objects=2, rooms=0)"


def test_navmeshes_show_their_floor_and_its_holes():
    world = draw_world(HALL, scene_id="hall")
    (image,) = images_of(show(world.navmesh))
    colors = {tuple(one) for one in image.reshape(-1, 3)}
    assert {(227, 232, 238), (246, 247, 249), (154, 165, 177)} <= colors, "floor, paper and border"
    assert f"{world.navmesh.navigable_area:.1f} m2" in world.navmesh._repr_html_()
    share = (image == (227, 232, 238)).all(-1).mean()
    low, high = world.navmesh.vertices.min(0), world.navmesh.vertices.max(0)
    scale = min(0.94 * 560 / (high[0] - low[0]), 0.94 * 440 / (high[2] - low[2]))
    assert share * 560 * 440 / scale**2 == pytest.approx(world.navmesh.navigable_area, rel=0.05)
    written = repr(world.navmesh)
    assert re.fullmatch(r"NavMesh\(triangles=\d+, islands=\d+, square_metres=[\d.]+\)", written)


def test_trajectories_show_where_they_went():
    track = walk([(0, 0, 0), (1, 0, 0), (1, 0, -2)], [True, False])
    view = show(track)
    facts = dict(view.facts)
    assert facts["path"] == "3.00 m, 1 collisions" and facts["success"] == "yes" and facts["actions"] == "2"
    (image,) = images_of(view)
    assert (image == (179, 38, 30)).all(-1).any(), "the collision"
    assert repr(track) == "Trajectory(steps=2, distance_to_goal=0.0, succeeded=True)"


def test_episodes_without_their_scene_still_show_what_they_are():
    episode = replace(AHEAD, scene_id="no-such-set/val/3")
    view = show(episode)
    assert not view.images and view._repr_png_() is None
    assert "no-such-set" in dict(view.facts)["no plan"] and dict(view.facts)["distance"] == "1.00 m"


def test_observations_show_images_and_numbers():
    rgb = np.zeros((6, 8, 3), np.uint8)
    rgb[2, 3] = 200, 10, 20
    seen = {
        "rgb": rgb,
        "depth": np.linspace(0, 1, 48, dtype=np.float32).reshape(6, 8, 1),
        "semantic": np.arange(48, dtype=np.int32).reshape(6, 8, 1),
        "pointgoal": np.array([1.5, -0.25], np.float32),
        "view_features": np.zeros((36, 4), np.float32),
        "instruction": HOSTILE,
    }
    view = show(seen)
    first, depth, classes = images_of(view)
    assert np.array_equal(first, rgb) and depth.shape == classes.shape == (6, 8, 3)
    assert depth[1].mean() > depth[5].mean(), "near is light"
    facts = dict(view.facts)
    assert facts["pointgoal"] == "[ 1.5  -0.25]" and facts["view_features"] == "(36, 4) float32"
    assert np.array_equal(images_of(view_observations({"rgb": rgb[None]}))[0], rgb), "the first of a batch"


def test_hostile_names_are_escaped():
    episode = Episode(HOSTILE, HOSTILE, (0.0, 0.0, 0.0), 0.0, PointGoal((1.0, 0.0, 0.0)), 1.0)
    scene = replace(draw_world(HALL, scene_id="hall").scene, scene_id=HOSTILE)
    for view in (show(episode), show(scene), show({"instruction": HOSTILE, HOSTILE: np.zeros(2)})):
        html = view._repr_html_()
        for tag, attrs in Tags(html).tags:
            assert "onerror" not in attrs and (tag != "img" or attrs["src"].startswith("data:")), html
        assert "<img src=x" not in html and "&lt;img src=x" in html


def test_environments_and_settings_are_readable():
    env = NavigationEnv(SmallPointNav(), episodes=[AHEAD], worlds=make_cache(), threads=1)
    expected = (
        f"NavigationEnv(task='{env.task.protocol_id}', actions=('stop', 'move_forward', 'turn_left', "
        "'turn_right'), observations=('rgb', 'depth', 'pointgoal_with_gps_compass'))"
    )
    assert repr(env) == str(env) == expected
    envs = NavigationVectorEnv(2, SmallPointNav(), episodes=[AHEAD], worlds=make_cache(), threads=1)
    assert repr(envs).startswith(f"NavigationVectorEnv(num_envs=2, task='{env.task.protocol_id}'")
    assert all("at most" in show(one)._repr_html_() for one in (env, envs))
    settings = EvaluationSettings("pointnav-v1", agent="expert", episodes=1200, corrupt=("dark",))
    assert repr(settings) == (
        "EvaluationSettings(protocol='pointnav-v1', agent='expert', episodes=1200, corrupt=('dark',))"
    )
    assert repr(EvaluationSettings("pointnav-v1")) == (
        "EvaluationSettings(protocol='pointnav-v1', agent='random')"
    )


def test_views_are_written(tmp_path):
    view = show(walk([(0, 0, 0), (1, 0, 0)]))
    view.write(tmp_path / "a.png")
    view.write(tmp_path / "a.html")
    with Image.open(tmp_path / "a.png") as image:
        assert image.size == (560, 440)
    assert "Trajectory" in (tmp_path / "a.html").read_text()
    for path, one in (("a.pdf", view), ("b.png", View("nothing"))):
        with pytest.raises(InputError, match=r"expected a file .html, or .png of a view with an image, got"):
            one.write(tmp_path / path)
        assert not (tmp_path / path).exists()


@pytest.mark.parametrize("thing", [3, [], [1], None])
def test_other_things_are_refused(thing):
    with pytest.raises(InputError, match="expected a scene, navmesh, .* to show, got"):
        navarena.show(thing)
