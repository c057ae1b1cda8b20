"""Goals that a segmenter predicts: evidence by hand and against a plain loop, and what is made of it."""

import math
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from navarena.agents.agent import Boundary, Start
from navarena.agents.explorers.recognised_goals import (
    Evidence,
    EvidenceSettings,
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

PLAIN = EvidenceSettings(cell=1.0, gain=1.0, loss=0.5, bound=2.0, accept=2.0, cells=1)


def test_evidence_by_hand():
    """Two cells, x in 0 to 1 and 1 to 2: pixels called the goal, then none of the first, then half of it."""
    evidence = Evidence(PLAIN)
    first, second = [[0.2, 0, 0], [0.4, 0, 0]], [[1.5, 0, 0]]
    evidence.add(np.array(first + second), np.array([True, True, False]))
    assert evidence.scores.tolist() == [1.0], "a cell that was never called the goal has none"
    assert np.allclose(evidence.points, [[0.3, 0, 0]])
    evidence.add(np.array(first + second), np.array([False, False, True]))
    assert evidence.scores.tolist() == [0.5, 1.0]
    evidence.add(np.array([[0.6, 0, 0], [0.9, 0, 0]]), np.array([True, False]))
    assert evidence.scores.tolist() == [1.5, 1.0], "half of the pixels are enough"
    assert np.allclose(evidence.points, [[0.4, 0, 0], [1.5, 0, 0]]), "the mean of the called pixels alone"
    for _ in range(4):
        evidence.add(np.array(second), np.array([True]))
    assert evidence.scores.tolist() == [1.5, 2.0], "bounded"
    assert np.allclose(evidence.goals(2.0), [[1.5, 0, 0]]) and len(evidence.goals(1.5)) == 2
    assert evidence.holds(np.array([[1.1, 0, 0], [0.1, 0, 0], [-0.1, 0, 0]]), 2.0).tolist() == [
        True,
        False,
        False,
    ]
    few = Evidence(EvidenceSettings(cell=1.0, cells=2))
    few.add(np.array(second), np.array([True]))
    assert few.goals(1.0).shape == (0, 3), "a goal has two cells"


def plain_scores(images):
    """The scores of cells, cell by cell and image by image."""
    scores = {}
    for points, called in images:
        cells = defaultdict(list)
        for point, one in zip(points.tolist(), called.tolist(), strict=True):
            cells[tuple(math.floor(x / PLAIN.cell) for x in point)].append(one)
        for cell, ones in cells.items():
            if cell in scores or any(ones):
                gain = PLAIN.gain if 2 * sum(ones) >= len(ones) else -PLAIN.loss
                scores[cell] = min(max(scores.get(cell, 0.0) + gain, -PLAIN.bound), PLAIN.bound)
    return scores


PIXELS = st.integers(1, 12).flatmap(
    lambda n: st.tuples(arrays(float, (n, 3), elements=st.floats(-3, 3)), arrays(bool, n))
)


@given(st.lists(PIXELS, min_size=1, max_size=6))
def test_evidence_is_that_of_a_plain_loop(images):
    evidence = Evidence(PLAIN)
    for points, called in images:
        evidence.add(points, called)
    expected = plain_scores(images)
    cells = np.array(sorted(expected), float).reshape(-1, 3) + 0.5
    for least in (-1.0, 0.5, 2.0):
        wanted = [expected[cell] >= least for cell in sorted(expected)]
        assert evidence.holds(cells, least).tolist() == wanted
    assert sorted(evidence.scores) == pytest.approx(sorted(expected.values()))


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
        ("frontier-segmenter?segmenter=", InputError, "expected segmenter=DIR"),
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
