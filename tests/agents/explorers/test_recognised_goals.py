"""Goals that a segmenter predicts, and what is made of the evidence for them."""

import math

import numpy as np
import pytest

from navarena.agents.agent import Boundary, Start
from navarena.agents.explorers.recognised_goals import (
    RecognisedFinder,
    RecognisedVisibleFinder,
    SegmentingFrontierAgent,
)
from navarena.agents.explorers.sightings import DepthView
from navarena.agents.loading import declare_agent, load_agent
from navarena.core.errors import InputError, UnknownNameError
from navarena.mapping.labellers import LABELLERS, SEGMENTER_VARIABLE
from navarena.simulation.body import Camera
from navarena.tasks.catalog import get_task

CAMERA = Camera(width_px=60, height_px=60, hfov=math.pi / 2)
POSE = np.eye(4)
POSE[1, 3] = 0.88


class Named:
    """A labeller that knows words and is never asked."""

    classes = ("void", *get_task("objectnav-habitat2020-v1").categories)

    def label(self, rgb, depth):
        raise AssertionError("the tests label")


@pytest.fixture(autouse=True)
def labellers(monkeypatch):
    monkeypatch.setitem(LABELLERS._objects, "named", lambda text: Named())
    monkeypatch.delenv(SEGMENTER_VARIABLE, raising=False)


def view_at(metres):
    """A wall before the camera, by depth images of 0 to 10 m."""
    return DepthView(np.full((60, 60), metres / 10), 10.0, 0.0, (0.5, 10.0), CAMERA, POSE)


def look(finder, goal, called, metres=2.0, times=1):
    """The aim after images whose upper left quarter is called a class, `called`."""
    labels = np.zeros((60, 60, 1), np.int32)
    labels[:30, :30] = called
    seen = {"objectgoal": np.array([goal]), "semantic_predicted:named:": labels}
    for _ in range(times):
        finder.observe(0, seen, view_at(metres))
    return finder.find_aim(0, seen, view_at(metres), False), finder.find_aim(0, seen, view_at(metres), True)


def make_finder(kind=RecognisedFinder, protocol="objectnav-habitat2020-v1"):
    finder = kind(get_task(protocol), "named:")
    finder.begin(Start(0, "one", "rooms", Boundary.SCENE, 0))
    return finder


def test_goals_need_several_images_and_lose_them_again():
    finder = make_finder()
    goal, number = 3, 4  # void comes first
    sure, fallback = look(finder, goal, number)
    assert sure is None, "one image may err"
    assert fallback is not None and fallback.is_sure, "but is all there is where everything is explored"
    sure, _ = look(finder, goal, number, times=2)
    assert sure is not None and (sure.points[:, 0] < 0).all() and (sure.points[:, 1] > 0.88).all()
    assert np.allclose(sure.points[:, 2], -2.0, atol=0.01), "in the frame of the map, straight ahead"
    assert look(finder, goal, 0)[0] is None, "a look that says nothing is there takes it back"
    assert look(finder, goal, number, times=9)[0] is not None
    finder.begin(Start(0, "two", "rooms", Boundary.EPISODE, 0))
    assert look(finder, goal, 0) == (None, None), "forgotten"
    assert look(finder, goal, number + 1, times=9) == (None, None), "another class"
    assert look(finder, goal, number, metres=5.0, times=9) == (None, None), "too far to be believed"


def test_weights_of_the_segmenter_are_those_of_the_agent(monkeypatch):
    task, name = get_task("objectnav-habitat2020-v1"), "frontier-segmenter?segmenter=named:"
    assert declare_agent(name, task).model_sha256 == "", "a labeller without weights"
    monkeypatch.setattr(Named, "model_sha256", "ab" * 32, raising=False)
    for wrapped in (name, f"oracle-stop:{name}", f"compensating:{name}"):
        assert declare_agent(wrapped, task).model_sha256 == "ab" * 32


def test_agents_say_what_they_need(monkeypatch):
    task = get_task("objectnav-habitat2020-v1")
    agent = load_agent("frontier-segmenter?segmenter=named:", task)
    assert isinstance(agent, SegmentingFrontierAgent) and not declare_agent("frontier-segmenter").privileged
    assert set(agent.sensors) == {"depth", "gps", "compass", "objectgoal", "semantic_predicted:named:"}
    for name, kind, words in (
        ("frontier-segmenter?segmenter=", InputError, "option segmenter: expected a text"),
        ("frontier-segmenter?segmentor=x", UnknownNameError, "segmenter"),
        ("frontier-segmenter", InputError, SEGMENTER_VARIABLE),
    ):
        with pytest.raises(kind, match=words):
            load_agent(name, task)
    with pytest.raises(InputError, match="does not know AlarmClock"):
        load_agent("frontier-segmenter?segmenter=named:", get_task("objectnav-robothor2021-v1"))
    with pytest.raises(InputError, match="expected ObjectNav for this agent"):
        load_agent("frontier-segmenter?segmenter=named:", get_task("pointnav-v1"))


def test_near_goals_of_robothor_end_the_episode_once_they_are_believed(monkeypatch):
    task = get_task("objectnav-robothor2021-v1")
    monkeypatch.setattr(Named, "classes", ("void", *task.categories))
    finder = make_finder(RecognisedVisibleFinder, task.protocol_id)
    look(finder, 0, 1, metres=0.8)
    assert not finder.is_reached(0)
    look(finder, 0, 1, metres=0.8, times=2)
    assert finder.is_reached(0)
    look(finder, 0, 1, metres=3.0, times=9)
    assert not finder.is_reached(0), "too far"
