"""`modular-goat`: parts of images by hand, counted errors, names by rivals, options, and a life in a hall."""

import json
import math
from hashlib import sha256

import numpy as np
import pytest

from navarena.agents.agent import Boundary
from navarena.agents.declaration import join_hashes
from navarena.agents.encoders import ImageMatcher
from navarena.agents.goat.detection import DetectionSettings, PerceptionErrors, connect, count_errors, detect
from navarena.agents.goat.embedding_matching import EmbeddingMatcher, MatchingSettings
from navarena.agents.goat.modular_predicted import PAPER_SEARCH, choose_search, read_goat_options
from navarena.agents.goat.search import Search, SearchSettings
from navarena.agents.loading import declare_agent, load_agent
from navarena.core.errors import FileError, InputError, UnknownNameError
from navarena.episodes.encoding.catalog import ENCODERS
from navarena.episodes.encoding.encoder import GoalEncoder, GoalQuery, unit_rows
from navarena.mapping.labellers import LABELLERS
from navarena.tasks.catalog import get_task

from .test_modular_gt import SOFA, live, remember, subtask

RED, BLUE, GREEN = (200, 0, 0), (0, 0, 200), (0, 200, 0)
CLASSES = ("void", "bed", "couch")


class ByColour:
    """Red is a bed, blue a couch, all else void."""

    classes = CLASSES

    def label(self, rgb, depth):
        red, blue = (rgb[..., k] > 2.0 * rgb[..., 2 - k] + 20 for k in (0, 2))
        return np.where(red, 1, np.where(blue, 2, 0)).astype(np.int32)


class Coarse(ByColour):
    """Labels half as wide as the depth."""

    def label(self, rgb, depth):
        return super().label(rgb, depth)[:, ::2, ::2]


class Colours(GoalEncoder):
    """A bed is red, a couch blue, a plant green; images are their mean colours."""

    name, dimension, sees_images = "colours", 3, True

    def encode_words(self, texts):
        known = {"bed": RED, "couch": BLUE, "plant": GREEN}
        rows = [next((c for word, c in known.items() if word in text), (1, 1, 1)) for text in texts]
        return unit_rows(np.array(rows, float))

    def encode_images(self, images):
        return unit_rows(np.stack([one.reshape(-1, 3).mean(0) for one in images]) + 1e-6)


@pytest.fixture(autouse=True)
def fakes(monkeypatch):
    monkeypatch.setitem(LABELLERS._objects, "colour", lambda text: (Coarse if text else ByColour)())
    monkeypatch.setitem(ENCODERS._objects, "colours", Colours)


def test_parts_are_of_one_class_without_jumps_of_depth():
    """A bed, a couch beside it, and farther away, seen over the bed's edge, another bed."""
    classes = np.array([[1, 1, 2, 0, 1], [1, 1, 2, 0, 1], [1, 1, 2, 0, 1]], np.int32)
    metres = np.full((3, 5), 2.0, np.float32)
    metres[0] = 2.5
    ranks = np.unique(connect(classes, metres, 0.12), return_inverse=True)[1].reshape(3, 5)
    assert ranks.tolist() == [[1, 1, 2, 0, 3], [4, 4, 5, 0, 6], [4, 4, 5, 0, 6]]
    assert len(np.unique(connect(classes, metres, 0.3))) == 4, "0.6 m at a distance of 2 m are one object"
    metres[0] = np.nan
    assert len(np.unique(connect(classes, metres, 0.12))) == 4, "nothing is known of the depth"


def test_far_jumps_may_be_larger():
    classes = np.ones((1, 2), np.int32)
    for near, is_one in ((5.0, True), (0.5, False)):
        metres = np.array([[near, near + 0.5]], np.float32)
        assert (connect(classes, metres, 0.12)[0, 0] == connect(classes, metres, 0.12)[0, 1]) is np.bool_(
            is_one
        )


def draw(*boxes, side=40):
    """An image with boxes (first row, last row + 1, first column, last column + 1, colour)."""
    rgb = np.zeros((side, side, 3), np.uint8)
    for top, bottom, left, right, colour in boxes:
        rgb[top:bottom, left:right] = colour
    return rgb


def test_segments_have_the_size_of_the_image_and_small_ones_are_overlooked():
    rgb = draw((0, 8, 0, 8, RED), (20, 40, 20, 40, BLUE), (0, 2, 30, 32, RED))
    metres = np.full((40, 40), 2.0, np.float32)
    for side in (40, 20):
        segments, names = detect(ByColour(), rgb, metres, DetectionSettings(side=side, min_pixels=5))
        assert names == {1: "bed", 2: "couch"} and segments.shape == (40, 40)
        assert (segments[:8, :8] == 1).all() and (segments[20:, 20:] == 2).all()
        assert segments[0, 31] == 0 and segments[10, 10] == 0
    nothing, names = detect(ByColour(), draw(), metres)
    assert not nothing.any() and names == {}
    with pytest.raises(InputError, match="labels of 40 x 40 pixels, as the depth .* got 20 x 20; bring them"):
        detect(Coarse(), rgb, metres)


def test_errors_of_perception_by_hand():
    """Of four objects one is missed and one split; of four segments one is merged and one is misnamed."""
    truth, segments = np.zeros((20, 80), np.int32), np.zeros((20, 80), np.int32)
    for number in range(4):
        truth[:, 20 * number : 20 * number + 20] = number + 1
    segments[:, :10], segments[:, 10:20] = 1, 2
    segments[:, 20:55] = 3
    segments[:, 70:72] = 4
    categories = {1: "bed", 2: "sofa", 3: "sofa", 4: "plant"}
    names = {1: ("bed",), 2: ("sofa",), 3: ("sofa", "armchair"), 4: ("plant",)}
    found = count_errors(segments, names, truth, categories)
    assert found == PerceptionErrors(objects=4, missed=1, wrong=1, merged=1, split=1, segments=4)
    assert count_errors(segments, names, truth, categories, min_pixels=401).objects == 0
    assert found + found == PerceptionErrors(8, 2, 2, 2, 2, 8)
    alone = count_errors(segments, {4: ("plant",)}, truth, {1: "bed"})
    assert (alone.wrong, alone.missed) == (1, 1), "floor that is called a plant"


SEEN = (("bed", 0, RED), ("couch", 60, BLUE), ("couch", 120, GREEN))
"""What a segmenter calls three painted objects; the last one is wrong."""


def match(goal, **settings):
    meanings = {"bed": frozenset({"bed"}), "couch": frozenset({"sofa"})}
    settings = MatchingSettings(**({"names": ("bed", "couch", "plant")} | settings))
    matcher = EmbeddingMatcher(Colours(), ImageMatcher(), settings, meanings)
    matcher.face(goal)
    return matcher.rank(remember(*SEEN))


def test_instances_are_named_by_their_crops_or_as_the_segmenter_calls_them():
    couch = GoalQuery("object", "couch")
    named = match(couch)
    assert [one.number for one in named.instances] == [remember(*SEEN)[1].number]
    assert named.scores == pytest.approx([1.0])
    assert [one.category for one in match(couch, naming="closed").instances] == ["couch", "couch"]
    plant = match(GoalQuery("object", "plant"))
    assert len(plant.instances) == 1, "a name that no class has"
    with pytest.raises(InputError, match="a class for the goal 'plant'.*naming=open"):
        match(GoalQuery("object", "plant"), naming="closed")


def test_other_names_of_the_goal_are_no_rivals():
    found = match(GoalQuery("object", "couch"), names=("sofa", "bed"))
    assert len(found.instances) == 2, "what is neither red nor blue may be one, too"


def test_described_and_shown_goals_are_compared_without_a_category():
    scores = match(GoalQuery("description", text="a blue couch.")).scores
    assert scores.tolist() == pytest.approx([0, 1, 0], abs=1e-3)
    image = np.full((20, 20, 3), GREEN, np.uint8)
    assert match(GoalQuery("image", image=image), images="joint").scores.argmax() == 2
    assert match(GoalQuery("image", image=image), images="count").scores.tolist() == [0, 0, 0]


def test_names_below_the_threshold_are_looked_at_and_not_taken():
    instances = remember(*SEEN)
    for least, is_sure in ((0.3, True), (1.1, False)):
        settings = SearchSettings(
            accept={"object": least, "description": 1, "image": 1},
            patience={"object": 9, "description": 9, "image": 9},
            settled={"object": math.inf, "description": math.inf, "image": math.inf},
        )
        matcher = EmbeddingMatcher(Colours(), ImageMatcher(), MatchingSettings(names=("bed",)), {})
        search = Search(matcher, settings)
        search.begin(GoalQuery("object", "couch"))
        choice = search.choose(instances, np.array([50.0, 0.0, 0.0]), False)
        assert choice.is_sure is is_sure and len(choice.instances) >= 1


def test_options_are_read(tmp_path):
    options = read_goat_options("segmenter=runs/s&naming=closed&images=joint")
    assert (options.segmenter, options.naming, options.images) == ("runs/s", "closed", "joint")
    paper = read_goat_options("preset=paper")
    assert paper.images == "count" and choose_search(paper) is PAPER_SEARCH
    assert (PAPER_SEARCH.accept["image"], PAPER_SEARCH.accept["description"]) == (24.5, 0.24)
    path = tmp_path / "thresholds.json"
    path.write_text(json.dumps({"image": 0.7}))
    assert read_goat_options("images=joint&preset=paper").images == "joint", "as it was asked for"
    with pytest.raises(InputError, match="modular-goat as name=value, each once, got 'naming=open'"):
        read_goat_options("naming=closed&naming=open")
    search = choose_search(read_goat_options(f"thresholds={path}"))
    assert search.accept["image"] == 0.7 and search.accept["object"] == 0.3
    with pytest.raises(UnknownNameError, match="naming"):
        read_goat_options("name=open")
    with pytest.raises(UnknownNameError, match="value of naming 'all'.*closed, open"):
        read_goat_options("naming=all")
    with pytest.raises(FileError, match="thresholds"):
        choose_search(read_goat_options(f"thresholds={tmp_path / 'none.json'}"))


AGENT = "modular-goat?segmenter=colour:&encoder=colours"


def test_its_weights_are_those_of_segmenter_encoder_and_thresholds(monkeypatch, tmp_path):
    assert declare_agent(AGENT, get_task("goat-v1")).model_sha256 == ""
    monkeypatch.setattr(ByColour, "model_sha256", "ab" * 32, raising=False)
    assert declare_agent(AGENT, get_task("goat-v1")).model_sha256 == "ab" * 32
    monkeypatch.setattr(GoalEncoder, "model_sha256", "cd" * 32)
    both = join_hashes("ab" * 32, "cd" * 32)
    assert declare_agent(AGENT, get_task("goat-v1")).model_sha256 == both not in ("ab" * 32, "cd" * 32)
    path = tmp_path / "thresholds.json"
    path.write_text('{"image": 0.7}')
    joined = declare_agent(f"{AGENT}&thresholds={path}", get_task("goat-v1")).model_sha256
    assert joined == join_hashes("ab" * 32, "cd" * 32, sha256(b'{"image": 0.7}').hexdigest())
    cow = declare_agent("modular-cow?encoder=colours", get_task("goat-v1"))
    assert cow.model_sha256 == "cd" * 32


def test_it_declares_no_privilege():
    assert not declare_agent(AGENT, get_task("goat-v1")).privileged
    agent = load_agent(AGENT, get_task("goat-v1"))
    assert not agent.privileged and set(agent.sensors) >= {"rgb", "depth", "image_goal"}
    assert "instance" not in agent.sensors and "semantic" not in agent.sensors


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        pytest.param("segmenter=none&encoder=colours", FileError, "none", marks=pytest.mark.learn),
        ("segmenter=colour:&encoder=words", InputError, "texts and images in one space, got 'words'"),
        ("encoder=colours", InputError, "NAVARENA_SEGMENTER"),
    ],
)
def test_missing_parts_are_one_error_with_the_remedy(monkeypatch, options, error, match):
    monkeypatch.delenv("NAVARENA_SEGMENTER", raising=False)
    with pytest.raises(error, match=match):
        load_agent(f"modular-goat?{options}", get_task("goat-v1"))


@pytest.mark.slow
@pytest.mark.parametrize("naming", ["open", "closed"])
def test_a_whole_life_without_privilege(naming):
    told = subtask(3, "couch", 2.25, "description", "blue couch in the study.")
    kept, known = live([SOFA, told], Boundary.SUBTASK, f"{AGENT}&naming={naming}")
    assert kept.succeeded and list(kept.modalities) == ["object", "description"]
    assert known == [{"couch"}], "the bed is too far away behind it"
