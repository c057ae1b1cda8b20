"""People at the real socket: a script plays, and what it played is a run like any other."""

import csv
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from navarena.agents import load_agent
from navarena.core.errors import InputError
from navarena.evaluation import EvaluationSettings, read_record, replay_run
from navarena.evaluation.analyses.compare import compare
from navarena.evaluation.analyses.contestants import read_contestant
from navarena.evaluation.records.journal import read_rows
from navarena.evaluation.running.runner import Evaluation, evaluate
from navarena.tasks.catalog import TASKS, get_task

pytestmark = pytest.mark.server
pytest.importorskip("fastapi")
pytest.importorskip("websockets")

from navarena.web.viewer.choice import choose_episodes  # noqa: E402
from navarena.web.viewer.messages import Begin  # noqa: E402
from navarena.web.viewer.people import Study, play_in_turn  # noqa: E402
from navarena.web.viewer.play import choose_views, open_human_benchmark, play_run  # noqa: E402

from .clients import AttentiveHub, Page, serve_hub, use_page  # noqa: E402

IN_TURNS = ("multion-shapes-2on-v1", "objectnav-stretch2023-v1", "pointnav-v1", "r2r-v1")
"""One protocol of each way to act, in every run of the server's tests; the others are slow."""

OWN_HEIGHTS = {"pointnav-habitat2020-v1": 360, "robustnav-pointnav-v1": 224, "robustnav-objectnav-v1": 224}
"""Pixels of the images of protocols that change them: a person sees those that agents get, in their size."""


def play(settings: EvaluationSettings, script: Any, views: tuple[str, ...] = ()) -> Evaluation:
    """What `script` plays."""
    benchmark, hub = open_human_benchmark(settings), AttentiveHub()
    with serve_hub("play", hub) as port:
        join = use_page(hub, port, script)
        evaluation = play_run(hub, settings, benchmark, choose_views(benchmark, views), {"people": 0})
        join()
        hub.close(3.0)
    return evaluation


def stop(page: Page) -> None:
    """Declare that the goal is reached, until the episode is over."""
    state = page.state
    while page.state["phase"] == "play" and page.state["number"] == state["number"]:
        if state["is_continuous"]:
            page.command(0.0, 0.0, 0.0, 1.0)
        else:
            page.act(state["actions"].index("stop" if "stop" in state["actions"] else state["declaration"]))


def act_once(page: Page) -> None:
    """Any action that does not end the episode."""
    state = page.state
    if state["is_continuous"]:
        page.command(1.0, 0.0, 0.0, -1.0)
    elif state["is_on_graphs"]:
        page.act(state["neighbours"][0]["action"])
    else:
        page.act(state["actions"].index("turn_left"))


@pytest.mark.parametrize(
    "protocol",
    [name if name in IN_TURNS else pytest.param(name, marks=pytest.mark.slow) for name in TASKS.names()],
)
def test_every_protocol_can_be_played(protocol: str, tmp_path: Path) -> None:
    told: dict[str, Any] = {}

    def script(page: Page) -> None:
        first = page.read_until(lambda state: state["phase"] == "play")
        told.update(goal=first["goal"]["text"], image=page.images["rgb"], goal_image=page.images.get("goal"))
        for _ in range(2):
            act_once(page)
        told["steps"] = page.state["step"]
        stop(page)
        if page.state["phase"] != "finished":
            page.read_until(lambda state: state["phase"] == "finished")
        told["score"], told["shown"] = page.state["score"], page.state["step"]

    evaluation = play(EvaluationSettings(protocol, episodes=1, out=tmp_path / "run"), script)
    assert told["image"].shape[0] == OWN_HEIGHTS.get(protocol, 480) and told["image"].std() > 1
    assert told["goal"]
    assert told["steps"] == 2
    (row,) = evaluation.rows
    assert row.status == "ok" and row.steps == told["score"]["steps"] == told["shown"] == 3
    record = read_record(evaluation.folder)
    assert (record.agent, record.privileged, record.privileged_inputs) == ("human", False, ())
    replayed = replay_run(evaluation.folder)
    assert replayed.episodes == 1 and not replayed.differences


def test_help_is_recorded_when_it_is_asked_for(tmp_path: Path) -> None:
    seen: dict[str, Any] = {}

    def script(page: Page) -> None:
        page.read_until(lambda state: state["phase"] == "play")
        assert not page.state["map"] and "semantic" not in page.images
        stop(page)
        assert page.state["phase"] == "score" and page.state["score"]["verdict"] == "failure"
        page.send(do="next")
        page.read_until(lambda state: state["phase"] == "play")
        page.send(do="show", name="depth", on=True)
        page.read_until(lambda state: "depth" in state["images"])
        seen["without"] = page.state["help"]
        page.send(do="show", name="map", on=True)
        page.read_until(lambda state: bool(state["map"]))
        seen["map"], seen["with"] = page.state["map"], page.state["help"]
        page.send(do="show", name="map", on=False)
        page.read_until(lambda state: not state["map"])
        stop(page)

    evaluation = play(EvaluationSettings("pointnav-v1", episodes=2, out=tmp_path / "run"), script)
    assert seen["without"] == [] and seen["with"] == ["top-down map"]  # depth is what agents get, too
    assert 'class="body"' in seen["map"] and 'class="goal"' in seen["map"]
    record = read_record(evaluation.folder)
    assert record.privileged and record.privileged_inputs == ("top-down map",)
    noticed = [row.noticed for row in read_rows(evaluation.folder)]
    assert sorted(map(list, noticed)) == [[], ["top-down map"]]


def test_actions_of_earlier_steps_and_unknown_ones_are_ignored(tmp_path: Path) -> None:
    def script(page: Page) -> None:
        page.read_until(lambda state: state["phase"] == "play")
        page.act(2)
        page.send(do="act", step=0, action=0)  # late: a key that was pressed twice
        page.send(do="act", step=1, action=99)
        page.send(do="act", step=1, command=[0.5, 0.5])
        page.send(do="look", left=1)  # no eyes to turn, but an answer
        page.read()
        assert (page.state["step"], page.state["phase"]) == (1, "play")
        stop(page)

    (row,) = play(EvaluationSettings("pointnav-v1", episodes=1, out=tmp_path / "run"), script).rows
    assert row.actions == [2, 0]


def test_an_interrupted_person_goes_on(tmp_path: Path) -> None:
    settings = EvaluationSettings("pointnav-v1", episodes=2, out=tmp_path / "run")
    numbers: list[int] = []

    class Leaver(AttentiveHub):
        def take(self, seconds: float) -> Any:
            if numbers and numbers[-1] == 2:
                raise KeyboardInterrupt
            return super().take(seconds)

    def first(page: Page) -> None:
        page.read_until(lambda state: state["phase"] == "play")
        stop(page)
        page.send(do="next")
        numbers.append(page.read_until(lambda state: state["phase"] == "play")["number"])

    benchmark, hub = open_human_benchmark(settings), Leaver()
    with serve_hub("play", hub) as port:
        join = use_page(hub, port, first)
        with pytest.raises(KeyboardInterrupt):
            play_run(hub, settings, benchmark, choose_views(benchmark), {"people": 0})
        join()
        hub.close(3.0)

    def second(page: Page) -> None:
        numbers.append(page.read_until(lambda state: state["phase"] == "play")["number"])
        stop(page)

    evaluation = play(settings, second)
    assert numbers == [2, 2] and evaluation.resumed == 1 and len(evaluation.rows) == 2


def test_a_person_is_compared_with_an_agent(tmp_path: Path) -> None:
    def script(page: Page) -> None:
        page.read_until(lambda state: state["phase"] == "play")
        stop(page)

    human = play(EvaluationSettings("pointnav-v1", episodes=1, out=tmp_path / "human"), script)
    agent = evaluate(EvaluationSettings("pointnav-v1", "expert", episodes=1, out=tmp_path / "expert"))
    compared = compare([read_contestant("me", [human.folder]), read_contestant("expert", [agent.folder])])
    difference = next(one for one in compared.differences if one.metric == "success")
    assert difference.result.difference.mean == 1.0  # the expert finds what STOP at the start does not


def test_people_have_orders_of_their_own_and_one_table(tmp_path: Path) -> None:
    settings = EvaluationSettings("pointnav-v1", agent="human", episodes=5, seed=3, out=tmp_path / "study")
    benchmark = open_human_benchmark(settings)
    study = Study(settings, benchmark, choose_views(benchmark, ("rgb",)), "I agree.")
    seen: list[Any] = []

    def script(page: Page) -> None:
        for name in ("ada", "bob"):
            state = page.read_until(lambda state: state["phase"] == "welcome")
            assert state["consent"] == "I agree."
            page.send(do="begin", name=name, consent=False)
            seen.append(page.read_until(lambda state: bool(state.get("error")))["error"])
            page.send(do="begin", name=name, consent=True)
            page.read_until(lambda state: state["phase"] == "play")
            while page.state["phase"] != "finished":
                stop(page)
                if page.state["phase"] == "score":
                    page.send(do="next")
                    page.read_until(lambda state: state["phase"] == "play")
            page.send(do="next")

    hub, played = AttentiveHub(), []
    with serve_hub("play", hub) as port:
        join = use_page(hub, port, script)
        play_in_turn(hub, study, 2, {}, lambda person, evaluation: played.append((person, evaluation)))
        join()
        hub.close(3.0)
    assert all("consent" in text for text in seen)
    assert [(one.name, one.seed) for one, _ in played] == [("ada", 3), ("bob", 4)]
    table = list(csv.DictReader((tmp_path / "study" / "people.csv").read_text().splitlines()))
    orders = {name: [row["episode"] for row in table if row["person"] == name] for name in ("ada", "bob")}
    assert (
        sorted(orders["ada"]) == sorted(orders["bob"]) == sorted(one.episode_id for one in benchmark.episodes)
    )
    assert orders["ada"] != orders["bob"] and len(set(orders["ada"])) == 5
    assert {row["success"] for row in table} == {"0.0"} and {row["steps"] for row in table} == {"1"}
    again = [one.episode_id for one in replay_order(study, played[0][1])]
    assert again == orders["ada"], "the order follows from the seed"


def replay_order(study: Study, evaluation: Evaluation) -> list[Any]:
    """The episodes of a person in the order that its seed draws."""
    from navarena.evaluation.memory_groups import make_groups, shuffle_groups

    seed = read_record(evaluation.folder).settings["seed"]
    assert isinstance(seed, int)
    groups = make_groups(study.benchmark.episodes, set(), "tour")
    return [group.episodes[0] for group in shuffle_groups(groups, seed)]


@pytest.mark.parametrize("name", ["", "a b", "../x", "x" * 33, "-x"])
def test_what_is_no_pseudonym_is_refused(name: str, tmp_path: Path) -> None:
    settings = EvaluationSettings("pointnav-v1", episodes=1, out=tmp_path / "study")
    study = Study(settings, open_human_benchmark(settings), ())
    with pytest.raises(InputError, match="expected a pseudonym"):
        study.admit(Begin(name, True))
    assert not (tmp_path / "study").exists()


def test_a_study_of_other_episodes_is_refused(tmp_path: Path) -> None:
    settings = EvaluationSettings("pointnav-v1", episodes=1, out=tmp_path / "study")
    study = Study(settings, open_human_benchmark(settings), ())
    assert study.admit(Begin("ada", True)) == study.admit(Begin("Ada", True))
    other = replace(settings, episodes=2)
    with pytest.raises(InputError, match="choose another --out"):
        Study(other, open_human_benchmark(other), ()).read_people()


def test_one_episode_and_one_scene(tmp_path: Path) -> None:
    settings = EvaluationSettings("pointnav-v1", agent="human", out=tmp_path / "run")
    whole = open_human_benchmark(settings)
    wanted = whole.episodes[3]
    one = open_human_benchmark(choose_episodes(settings, None, wanted.episode_id))
    assert one.episodes == (wanted,) and one.identity != whole.identity
    scene = open_human_benchmark(choose_episodes(settings, wanted.scene_id))
    assert {each.scene_id for each in scene.episodes} == {wanted.scene_id}
    assert set(scene.episodes) == {each for each in whole.episodes if each.scene_id == wanted.scene_id}
    with pytest.raises(InputError, match="episode"):
        choose_episodes(settings, None, "nothing")
    with pytest.raises(InputError, match="stand alone"):
        choose_episodes(EvaluationSettings("r2r-v1"), None, "nothing")


def test_labels_of_a_scene_without_any_are_refused(dungeon_folder: Path, tmp_path: Path) -> None:
    mesh = str(dungeon_folder / "dungeon.obj")
    settings = EvaluationSettings("pointnav-v1", dataset=mesh, episodes=1, out=tmp_path / "run")
    benchmark = open_human_benchmark(settings)
    names = [view.name for view in choose_views(benchmark)]
    assert names == ["rgb", "depth", "map"]
    with pytest.raises(InputError, match="labels for semantic images"):
        choose_views(benchmark, ("semantic",))
    with pytest.raises(InputError, match="image"):
        choose_views(benchmark, ("colour",))


def test_nobody_loads_a_person() -> None:
    with pytest.raises(InputError, match="navarena play"):
        load_agent("human", get_task("pointnav-v1"), 0)


def test_corrupted_images_are_shown_as_agents_get_them(tmp_path: Path) -> None:
    images: list[np.ndarray] = []

    def script(page: Page) -> None:
        page.read_until(lambda state: state["phase"] == "play")
        images.append(page.images["rgb"])
        stop(page)

    for corrupt in ((), ("speckle_noise:5",)):
        play(
            EvaluationSettings("pointnav-v1", episodes=1, corrupt=corrupt, out=tmp_path / str(len(corrupt))),
            script,
        )
    clean, noisy = images
    size = get_task("pointnav-v1").embodiment.cameras[0]  # type: ignore[attr-defined]
    assert clean.shape == (480, 480 * size.width_px // size.height_px, 3)
    assert noisy.shape == (size.height_px, size.width_px, 3)
    assert (
        np.abs(np.diff(noisy.astype(float), axis=1)).mean()
        > 3 * np.abs(np.diff(clean.astype(float), axis=1)).mean()
    )
