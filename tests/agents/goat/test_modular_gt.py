"""Goals found among painted objects: by name, in words, by image; and a whole life in a drawn hall."""

import math
from dataclasses import replace

import numpy as np
import pytest

from navarena.agents.agent import Boundary, Start
from navarena.agents.encoders import GoalQuery, ImageMatcher, make_encoder
from navarena.agents.goat.goal_matching import (
    Candidates,
    GoalMatcher,
    color_likeness,
    color_name,
    describe,
    gaps,
    neighbours,
)
from navarena.agents.goat.goal_query import described_colors, possible_categories, read_goal
from navarena.agents.goat.instance_aims import MAX_REACH, aim_at, reach_of, stay_at, towards
from navarena.agents.goat.search import Search, SearchSettings
from navarena.agents.loading import declare_agent, load_agent
from navarena.core.errors import InputError
from navarena.episodes.episode import Episode, LifelongGoal, ObjectInstance, ViewPoint
from navarena.episodes.goals import Subtask
from navarena.mapping import InstanceMemory, InstanceSettings, SegmentedImage
from navarena.scenes.houses.appearance.finishes import COLORS
from navarena.scenes.scene import Material, SceneObject
from navarena.simulation.world import World, WorldCache
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.catalog import get_task
from worlds import HALL, draw_navmesh, draw_scene

DARK = np.zeros((4, 4, 3), np.uint8)
RED, BLUE = (220, 20, 20), (20, 20, 220)
NOTHING = {"objectgoal": np.str_(""), "language_goal": np.str_(""), "image_goal": DARK}


def remember(*instances, textures=None):
    """What is remembered of an image, 10 m wide, of (category, column, colour): 20 pixels, a metre each."""
    segments = np.zeros((100, 200), np.int32)
    rgb = np.zeros((100, 200, 3), np.uint8)
    for number, (_, column, color) in enumerate(instances, 1):
        segments[40:60, column : column + 20] = number
        rgb[40:60, column : column + 20] = color
        if textures is not None and textures[number - 1] is not None:
            rgb[40:60, column : column + 20] = textures[number - 1]
    memory = InstanceMemory(1, InstanceSettings(stride=1, crop_px=200, margin=0.0))
    names = {number: category for number, (category, _, _) in enumerate(instances, 1)}
    depth = np.full((100, 200), 5.0, np.float32)
    memory.observe(0, SegmentedImage(segments, names, rgb, depth, np.eye(4), math.pi / 2, is_tracked=True))
    return memory.instances(0)


def make_matcher(goal):
    matcher = GoalMatcher(make_encoder("words"), ImageMatcher())
    matcher.face(goal)
    return matcher


def test_goals_are_read_as_they_are_told():
    assert read_goal(NOTHING) is None
    by_name = read_goal(NOTHING | {"objectgoal": np.array("couch")}, "sofa seat")
    assert (by_name.modality, by_name.category) == ("object", "couch"), "the given modality comes first"
    in_words = read_goal(NOTHING | {"language_goal": np.array("red couch.")}, "couch")
    assert (in_words.modality, in_words.text, in_words.category) == ("description", "red couch.", "couch")
    image = np.full((4, 4, 3), 9, np.uint8)
    shown = read_goal({"image_goal": image}, "couch")
    assert shown.modality == "image" and shown.image is not image


@pytest.mark.parametrize(
    ("words", "category"),
    [
        ("couch", "sofa"),
        ("white sofa seat in the study, next to the desk.", "sofa"),
        ("oven and stove", "oven"),
    ],
)
def test_names_mean_categories(words, category):
    assert category in possible_categories(words) and "desk" not in possible_categories(words)


def test_unknown_names_mean_themselves():
    assert possible_categories("flux capacitor") == {"flux capacitor", "flux_capacitor"}


def test_small_objects_are_gone_to_more_closely():
    """0.2 x 0.3 m fill two times 0.06 / (2 d)^2 = 0.05 of the images at d = 0.77 m."""
    assert reach_of(np.array([0.2, 0.3, 0.05])) == pytest.approx(0.5 * math.sqrt(2 * 0.06 / 0.05))
    assert reach_of(np.array([2.0, 1.0, 1.0])) == MAX_REACH
    assert 0.4 < reach_of(np.zeros(3)) < 0.5


def test_aims_lie_on_the_side_that_was_seen():
    (instance,) = remember(("sofa", 90, 9))
    aim = aim_at([instance])
    assert aim.is_sure and (aim.points[:, 2] > instance.points[:, 2] + 0.2).all(), "seen from +z"
    assert np.allclose(towards(np.zeros((1, 3)), np.array([[0.6, 0.8, 0.0]]), 0.5), [[0.5, 0.0, 0.0]])
    assert stay_at(np.eye(4)).arrival > 0 and aim_at([]) is None
    instance.beyond, instance._count = np.array([0.0, 1.0, -9.0]), 0
    far = aim_at([instance])
    assert not far.is_sure and far.points.tolist() == [[0.0, 1.0, -9.0]]


@pytest.mark.parametrize("name", sorted(COLORS))
def test_colours_are_called_by_their_names(name):
    assert color_name(np.array(COLORS[name], float)) == name


def test_colours_in_the_shade_are_like_their_words():
    """Half as bright, a colour is still more like its own word than like one of another hue."""
    for name, other in (("red", "blue"), ("green", "orange"), ("white", "yellow"), ("navy", "red")):
        seen = 0.5 * np.array(COLORS[name], float)
        assert color_likeness(name, seen) > color_likeness(other, seen)
        assert color_likeness(name, np.array(COLORS[name], float)) == pytest.approx(1.0)


def test_told_colours_are_those_of_the_thing_itself():
    assert described_colors("White leather sofa near the red rug.") == ("white",)
    assert described_colors("gray chair") == ("grey",) and described_colors("wooden chair") == ()


def test_of_two_greys_the_lighter_is_the_white_one():
    """What neither is called; both lie in the shade."""
    instances = remember(("sofa", 0, (170, 170, 168)), ("sofa", 90, (205, 205, 203)))
    scores = make_matcher(GoalQuery("description", "", "white sofa in the kitchen.")).rank(instances).scores
    assert scores[1] > scores[0]


def test_instances_are_described_by_colour_and_what_is_near():
    sofa, desk, bed = remember(("sofa", 0, COLORS["red"]), ("desk", 40, 9), ("tv_stand", 180, 9))
    assert describe(sofa, [sofa, desk, bed]) == "red sofa near the desk"
    assert neighbours(bed, [sofa, desk, bed]) == []
    assert gaps(sofa, [desk, sofa]) == pytest.approx([1.05, 0.0], abs=0.06)


def test_names_find_all_of_their_instances():
    instances = remember(("sofa", 0, 9), ("desk", 40, 9), ("sofa", 90, 9))
    found = make_matcher(GoalQuery("object", "couch")).rank(instances)
    assert [one.number for one in found.instances] == [0, 2] and found.scores.tolist() == [1.0, 1.0]


def test_words_find_the_thing_of_that_colour():
    instances = remember(("sofa", 0, COLORS["navy"]), ("sofa", 90, COLORS["red"]), ("desk", 150, 9))
    found = make_matcher(GoalQuery("description", "", "red sofa in the study.")).rank(instances)
    assert [one.number for one in found.instances] == [0, 1]
    assert found.scores[1] > found.scores[0] + 0.1


def test_images_find_the_thing_that_looks_so():
    generator = np.random.default_rng(4)
    first, second = (np.kron(generator.integers(0, 255, (10, 10, 3)), np.ones((2, 2, 1))) for _ in range(2))
    instances = remember(("sofa", 0, 9), ("sofa", 90, 9), textures=[first, second])
    goal = np.kron(second, np.ones((6, 6, 1))).astype(np.uint8)
    matcher = make_matcher(GoalQuery("image", "couch", image=goal))
    scores = matcher.rank(instances).scores
    assert scores[1] > scores[0]
    assert matcher.rank(instances).scores.tolist() == scores.tolist(), "kept"
    nameless = make_matcher(GoalQuery("image", image=goal)).rank(remember(("sofa", 0, 9), ("desk", 90, 9)))
    assert len(nameless.instances) == 2, "without a category everything may be meant"


class Scripted(GoalMatcher):
    """A matcher that gives fixed scores."""

    def __init__(self, scores):
        self.scores = scores

    def face(self, goal):
        pass

    def rank(self, instances):
        return Candidates(list(instances), np.array(self.scores[: len(instances)], np.float32))


FAR, NEAR = np.array([9.0, 0.0, 9.0]), np.array([-4.0, 0.0, -5.0])
TEXT = GoalQuery("description", "", "red sofa")


def search_for(goal, scores, **settings):
    search = Search(Scripted(scores), SearchSettings(**settings))
    search.begin(goal)
    return search


def test_a_sure_candidate_is_gone_to_at_once():
    instances = remember(("sofa", 0, 9), ("sofa", 90, 9))
    named = search_for(GoalQuery("object", "sofa"), [1.0, 1.0]).choose(instances, FAR, False)
    assert named.instances == instances
    choice = search_for(TEXT, [0.5, 0.9]).choose(instances, FAR, False)
    assert choice.instances == [instances[1]] and choice.is_sure


def test_a_doubtful_candidate_is_looked_at_and_taken_when_patience_ends():
    instances = remember(("sofa", 0, 9), ("sofa", 90, 9))
    search = search_for(TEXT, [0.5, 0.4], patience={"description": 2})
    first = search.choose(instances, FAR, False)
    assert first.instances == instances and not first.is_sure
    assert search.choose(instances, NEAR, False).instances == [instances[1]], "the first was seen from near"
    late = search.choose(instances, NEAR, False)
    assert late.instances == [instances[0]] and late.is_sure
    explored = search_for(TEXT, [0.5, 0.4]).choose(instances, FAR, True)
    assert explored.instances == [instances[0]] and explored.is_sure


def test_what_an_old_memory_holds_is_taken_at_once():
    """Both searches doubt; the second begins with a memory that has lasted for long enough."""
    instances = remember(("sofa", 0, 9), ("sofa", 90, 9))
    for age, is_sure in ((8, False), (10, True)):
        search = Search(Scripted([0.5, 0.4]), SearchSettings(settled={"description": 10}), age)
        search.begin(TEXT)
        assert search.choose(instances, FAR, False).is_sure == is_sure
        assert search.age == age + 1


def test_a_bad_image_is_looked_past_for_longer_however_old_the_memory():
    instances = remember(("sofa", 0, 9))
    shown = GoalQuery("image", "sofa", image=DARK)
    search = Search(Scripted([0.2]), SearchSettings(patience={"image": 3}), 10_000)
    search.begin(shown)
    assert [search.choose(instances, NEAR, False).is_sure for _ in range(4)] == [False, False, False, True]
    sure = Search(Scripted([0.4]))
    sure.begin(shown)
    assert sure.choose(instances, FAR, False).is_sure


def test_a_search_explores_until_something_is_known_and_gives_up_in_the_end():
    search = search_for(TEXT, [], budget=2, last=1)
    for expected in (False, False, False, True):
        assert search.choose([], FAR, False).instances == []
        assert search.is_hopeless == expected


def hall():
    """A hall with a blue sofa in the north and a red bed in the south, each a box of a metre."""
    scene = draw_scene(HALL, scene_id="hall")
    vertices, triangles, owners = list(scene.vertices), list(scene.triangles), list(scene.triangle_object)
    objects = [scene.objects[0]]
    for number, category, x, z in ((3, "sofa", 5.0, 1.0), (4, "bed", 5.0, 9.0)):
        first = len(vertices)
        vertices += [
            (x + i - 0.5, y, z + j - 0.5) for y in (0.0, 1.0) for i, j in ((0, 0), (0, 1), (1, 1), (1, 0))
        ]
        for a, b, c, d in ((4, 5, 6, 7), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7), (0, 1, 5, 4)):
            triangles += [(first + a, first + b, first + c), (first + a, first + c, first + d)]
            owners += [number, number]
        objects.append(SceneObject(number, category, (x, 0.5, z), (0.5, 0.5, 0.5)))
    scene = replace(
        scene,
        vertices=np.array(vertices, np.float32),
        triangles=np.array(triangles, np.int32),
        triangle_object=np.array(owners, np.int32),
        triangle_material=np.select([np.array(owners) == 3, np.array(owners) == 4], [1, 2]).astype(np.int32),
        materials=(Material("grey", (120, 120, 120)), Material("blue", BLUE), Material("red", RED)),
        objects=tuple(objects),
    )
    floor = [row if 2 <= z <= 7 else row[:4] + "##" + row[6:] for z, row in enumerate(HALL)]
    return World.of(scene, draw_navmesh(floor))


def subtask(number, category, z, modality="object", text=""):
    views = tuple(ViewPoint((x, 0.0, z), 0.0) for x in np.arange(4.0, 6.01, 0.25).tolist())
    instances = (ObjectInstance(str(number), category, (5.0, 0.5, z), views),)
    return Subtask(modality, category, instances, text)


def live(subtasks, boundary, name="modular-goat-gt"):
    """The trajectory of the agent `name` in the hall, with a small camera, and what it knew at each start."""
    task = get_task("goat-v1")
    (camera,) = task.embodiment.cameras
    task.embodiment = replace(task.embodiment, cameras=(replace(camera, width_px=90, height_px=160),))
    worlds = WorldCache(task.embodiment)
    worlds.add(hall())
    agent = load_agent(name, task, 0)
    batch = NavigationBatch(task, 1, 1, agent.sensors, worlds)
    agent.attach(batch)
    batch.start([0], [Episode("one", "hall", (5.0, 0.0, 5.0), 0.0, LifelongGoal(tuple(subtasks)), None)])
    agent.reset([Start(0, "one", "hall", Boundary.SCENE, 0)])
    known = []
    for _ in range(400):
        if not batch.running[0]:
            break
        if batch.step(agent.act(batch.observations, np.ones(1, bool))).began[0]:
            agent.reset([Start(0, "one", "hall", boundary, 0)])
            known.append({one.category for one in agent.finder.memory.instances(0)})
    return batch.trajectory(0), known


SOFA, BED = subtask(3, "couch", 2.25), subtask(4, "bed", 7.75, "description", "bed in the bedroom.")


@pytest.mark.slow
def test_a_whole_life_and_its_forgetting():
    kept, known = live([BED, SOFA, BED], Boundary.SUBTASK)
    assert kept.succeeded and list(kept.modalities) == ["description", "object", "description"]
    assert known == [{"bed", "sofa"}] * 2, "both were seen when it looked around"
    assert live([BED, SOFA], Boundary.EPISODE)[1] == [set()]


def test_other_tasks_are_refused_and_inputs_declared():
    assert "instance images" in declare_agent("modular-goat-gt").privileged_inputs
    with pytest.raises(InputError, match=r"expected goat-v1 .* got 'pointnav-v1'; use frontier"):
        load_agent("modular-goat-gt", get_task("pointnav-v1"), 0)
    agent = load_agent("modular-goat-gt", get_task("ovon-v1"), 0)
    assert "image_goal" not in agent.sensors
    with pytest.raises(InputError, match="attached to a batch"):
        agent.reset([Start(0, "one", "hall", Boundary.SCENE, 0)])
