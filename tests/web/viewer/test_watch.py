"""Runs that are watched: the same journals, nothing drawn, and what the page is told."""

import threading
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from navarena.core.errors import InputError
from navarena.evaluation import EvaluationSettings, open_benchmark, read_record, replay_run
from navarena.evaluation.records.journal import journal_paths
from navarena.evaluation.running import runner
from navarena.evaluation.running.replay import open_recorded_benchmark
from navarena.evaluation.running.runner import open_run
from navarena.reports import open_plans
from navarena.tasks.batch import NavigationBatch

pytestmark = pytest.mark.server
pytest.importorskip("fastapi")
pytest.importorskip("websockets")

from navarena.web.viewer.hub import Hub  # noqa: E402
from navarena.web.viewer.watcher import Watcher  # noqa: E402

from .clients import AttentiveHub, Page, open_page, serve_hub, use_page  # noqa: E402

SETTINGS = {"protocol": "pointnav-v1", "episodes": 6, "batch_size": 3, "episode_steps": 25}


@pytest.fixture
def same_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs that begin at the same moment by the same command: their journals hold its hash."""
    make = runner.make_record

    def make_record(*arguments: Any) -> Any:
        return msgspec.structs.replace(make(*arguments), started="2026-01-01T00:00:00+00:00", command=())

    monkeypatch.setattr(runner, "make_record", make_record)


def run_watched(settings: EvaluationSettings, script: Any) -> Path:
    """The folder of a run at which a page looks."""
    hub = AttentiveHub()
    with serve_hub("watch", hub) as port, open_run(settings, open_benchmark(settings)) as run:
        begun = threading.Event()

        def look(page: Page) -> None:
            page.read()
            begun.set()
            script(page)

        join = use_page(hub, port, look)
        assert begun.wait(60)
        watcher = Watcher(hub, run.benchmark, open_plans(run.benchmark), "test", len(run.remaining))
        folder = run.finish(spectator=watcher).folder
        watcher.finish()
        hub.close(60.0)
        join()
    return folder


@pytest.mark.parametrize("agent", ["random", "expert", "frontier"])
def test_journals_are_the_same_with_and_without(
    agent: str, tmp_path: Path, same_moment: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    observed: list[tuple[str, ...]] = []
    make = NavigationBatch.__init__

    def make_noted(
        self: NavigationBatch, task: Any, slots: int, threads: Any, sensors: Any, *more: Any, **named: Any
    ) -> None:
        observed.append(tuple(sensors))
        make(self, task, slots, threads, sensors, *more, **named)

    monkeypatch.setattr(NavigationBatch, "__init__", make_noted)
    bare = EvaluationSettings(agent=agent, out=tmp_path / "bare", **SETTINGS)  # type: ignore[arg-type]
    with open_run(bare) as run:
        run.finish()
    states: list[dict[str, Any]] = []

    def script(page: Page) -> None:
        page.send(do="choose", number=1)
        states.append(page.read_until(lambda state: state["phase"] == "finished"))

    watched = EvaluationSettings(agent=agent, out=tmp_path / "watched", **SETTINGS)  # type: ignore[arg-type]
    folder = run_watched(watched, script)
    journals = [[path.read_bytes() for path in journal_paths(one)] for one in (tmp_path / "bare", folder)]
    assert journals[0] == journals[1] and b"episode_id" in journals[0][0]
    assert observed[0] == observed[1], "the batch observes what the agent asks for, and nothing else"
    assert states[0]["done"] == 6 and len(states[0]["rows"]) == 6
    success = next(one["value"] for one in states[0]["scores"] if one["title"] == "Success")
    assert success.endswith(" %"), "as rates read everywhere"


def test_the_page_shows_what_the_agent_sees(tmp_path: Path) -> None:
    seen: dict[str, Any] = {}

    def script(page: Page) -> None:
        page.read_until(lambda state: len(state.get("slots", ())) == 3)
        seen.update(page.state, shapes={name: one.shape for name, one in page.images.items()})

    settings = EvaluationSettings(agent="frontier", out=tmp_path / "run", **SETTINGS)  # type: ignore[arg-type]
    run_watched(settings, script)
    assert seen["sensors"] == ["depth"] and seen["sensor"] == "depth"
    assert set(seen["shapes"]) == {"slot-0", "slot-1", "slot-2", "chosen"}
    assert seen["shapes"]["slot-0"][0] <= 160 <= seen["shapes"]["chosen"][0]
    assert seen["goal"]["text"] == "the marked point" and 'class="body"' in seen["map"]
    assert seen["pace"] is None


class Rows(Hub):
    """Stands in for pages: somebody looks, and asks for nothing."""

    has_pages = True  # type: ignore[assignment]

    def __init__(self) -> None:
        super().__init__()
        self.shown: list[dict[str, Any]] = []

    def take(self, seconds: float) -> None:
        return None

    def show(self, state: Any, images: Any) -> None:
        self.shown.append(dict(state))


def test_a_replay_keeps_its_pace_and_finds_no_difference(tmp_path: Path) -> None:
    settings = EvaluationSettings("pointnav-v1", "forward", episodes=1, episode_steps=8, out=tmp_path / "run")
    with open_run(settings) as run:
        folder = run.finish().folder
    benchmark = open_recorded_benchmark(read_record(folder))
    now, slept = [0.0], []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        now[0] += seconds

    hub = Rows()
    plans = open_plans(benchmark)
    watcher = Watcher(hub, benchmark, plans, "replay", 1, 5.0, lambda: now[0], sleep)
    result = replay_run(folder, benchmark, sensors=("rgb",), spectator=watcher)
    assert not result.differences and result.episodes == 1
    assert np.allclose(slept[1:], 0.2) and len(slept) == 9  # the start and eight steps, five a second
    assert [state["step"] for state in hub.shown] == list(range(9))
    assert hub.shown[-1]["sensors"] == ["rgb"] and hub.shown[-1]["pace"] == 5.0


def test_a_replay_begins_when_a_page_is_open(tmp_path: Path) -> None:
    settings = EvaluationSettings("pointnav-v1", "forward", episodes=1, episode_steps=4, out=tmp_path / "run")
    with open_run(settings) as run:
        folder = run.finish().folder
    benchmark, hub = open_recorded_benchmark(read_record(folder)), Hub()
    watcher = Watcher(hub, benchmark, open_plans(benchmark), "replay", 1, 20.0)
    looks = threading.Thread(target=replay_run, args=(folder, benchmark), kwargs={"spectator": watcher})
    with serve_hub("watch", hub) as port:
        looks.start()
        looks.join(1.0)
        assert looks.is_alive(), "it has ended without a page"
        with open_page(port) as page:
            assert page.read_until(lambda state: state["phase"] == "watch")["step"] == 0
            looks.join(60.0)
        assert not looks.is_alive()


def test_worker_processes_are_refused(tmp_path: Path) -> None:
    settings = EvaluationSettings("pointnav-v1", "forward", episodes=4, workers=2, out=tmp_path / "run")
    benchmark = open_benchmark(settings)
    watcher = Watcher(Hub(), benchmark, open_plans(benchmark), "", 4)
    with pytest.raises(InputError, match="leave out --watch"), open_run(settings, benchmark) as run:
        run.finish(spectator=watcher)
    assert not (tmp_path / "run").exists()
