"""Changed instructions in every protocol of vision-and-language navigation: drawn by the episode alone."""

from dataclasses import replace

import numpy as np
import pytest

from flat import draw_flat
from graph_world import make_atlas, make_graph_episode
from navarena.core.errors import InputError
from navarena.core.seeding import make_generator
from navarena.corruptions.catalog import CORRUPTIONS, find_corruption
from navarena.corruptions.corruption import SEVERITIES, InstructionCorruption
from navarena.episodes.episode import Episode, InstructionGoal
from navarena.episodes.language.rewording import change_instruction
from navarena.episodes.language.vocabulary import route_vocabulary
from navarena.simulation.body_catalog import VLN_CE
from navarena.simulation.world import WorldCache
from navarena.tasks import GraphBatch, GraphOracleRules, Phase, get_task
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.corruption_checks import require_applicable
from navarena.tasks.graphs.task import IR2R
from tour_runs import TourRun

NAMES = [name for name in CORRUPTIONS.names() if name.startswith("instruction_")]
TEXT = (
    "Turn left, leave the bedroom and enter the kitchen. Go past the table on your right. Stop by the sofa."
)
SENSORS = ("instruction", "instruction_tokens")
PATH = ((1.0, 0.0, 2.0), (4.1, 0.0, 2.0), (6.5, 0.0, 3.0))


@pytest.fixture(scope="module")
def worlds():
    cache = WorldCache(VLN_CE)
    cache.add(draw_flat())
    return cache


def in_house(name, tokens=(), tour=""):
    return Episode(name, "flat", PATH[0], -1.0, InstructionGoal(TEXT, PATH, name, tokens), 5.0, tour_id=tour)


def on_graph(name, tokens=(), tour=""):
    episode = make_graph_episode(name, "abcd", tour)
    return replace(episode, goal=replace(episode.goal, instruction=TEXT, tokens=tokens))


def make_batch(kind, worlds, corruptions, slots=2, shows=False):
    if kind == "graph":
        task = IR2R(GraphOracleRules(shows_instruction=shows))
        return GraphBatch(task, make_atlas(), slots, SENSORS, corruptions=corruptions), on_graph
    task = get_task("ir2r-ce-v1" + ("+shows_instruction=true" if shows else ""))
    return NavigationBatch(task, slots, 1, SENSORS, worlds, corruptions), in_house


def expect(text, scene, episode_id, place=0, before=TEXT):
    corruption = find_corruption(text)
    generator = make_generator("corruption", text, place, "goal", scene, episode_id, 0)
    return change_instruction(corruption.change, before, corruption.share, generator)


@pytest.mark.parametrize("kind", ["house", "graph"])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("severity", SEVERITIES)
def test_every_severity_is_drawn_by_the_episode_in_any_slot(kind, name, severity, worlds):
    text = f"{name}:{severity}"
    batch, make = make_batch(kind, worlds, [text])
    episodes = [make("e0"), make("e1")]
    scene = episodes[0].scene_id
    for order in ((0, 1), (1, 0)):
        batch.start(order, episodes)
        for slot, episode in zip(order, episodes, strict=True):
            expected = expect(text, scene, episode.episode_id)
            assert batch.observations["instruction"][slot] == expected
            assert batch.episode(slot) is episode, "the record keeps the true words"
    assert expected != TEXT or severity < 3


def test_two_follow_one_another_and_tokens_follow_the_words(worlds):
    chosen = ["instruction_paraphrase:5", "instruction_word_drop:2"]
    batch, make = make_batch("house", worlds, chosen)
    own = tuple(range(2, 200))
    batch.start([0, 1], [make("e0"), make("e1", own)])
    once = expect(chosen[0], "flat", "e0")
    twice = expect(chosen[1], "flat", "e0", 1, once)
    seen = batch.observations
    assert seen["instruction"][0] == twice
    assert np.array_equal(seen["instruction_tokens"][0], route_vocabulary().encode(twice))
    numbers = seen["instruction_tokens"][1]
    assert {0, 1} <= set(numbers.tolist()) <= {0, 1, *own}, "new words are unknown to the file's vocabulary"


@pytest.mark.parametrize("kind", ["house", "graph"])
def test_the_oracle_shows_the_changed_words(kind, worlds):
    text = "instruction_landmark_swap:5"
    batch, make = make_batch(kind, worlds, [text], 1, shows=True)
    tour = [make("e0", tour="t"), make("e1", tour="t")]
    expected = {one.episode_id: expect(text, one.scene_id, one.episode_id) for one in tour}
    run, seen = TourRun(batch, [tour]), {}
    while run.running.any():
        phase = int(batch.state.phase[0])
        seen.setdefault(phase, set()).add(str(batch.observations["instruction"][0]))
        run.step([0])
    assert seen[Phase.AGENT] == set(expected.values()) and seen[Phase.ORACLE_START] == {expected["e1"]}
    assert seen[Phase.ORACLE_GOAL] == {expected["e0"]}


def test_all_are_of_the_kind_and_refused_where_nobody_reads():
    assert len(NAMES) == 3
    for name in NAMES:
        assert isinstance(find_corruption(name), InstructionCorruption)
        for protocol in ("r2r-v1", "ir2r-v1", "r2r-ce-v1", "ir2r-ce-v1"):
            require_applicable(get_task(protocol), [name])
        with pytest.raises(InputError, match="expected a sensor of the instruction"):
            require_applicable(get_task("goat-v1"), [name])
    with pytest.raises(InputError, match="corruptions of instructions alone of r2r-v1"):
        require_applicable(get_task("r2r-v1"), [NAMES[0], "motion_drift"])
