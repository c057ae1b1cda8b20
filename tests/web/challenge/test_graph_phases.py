"""Phases on navigation graphs: their files, and logs that are executed on them again."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sqlalchemy")
pytest.importorskip("fastapi")

from fastapi.testclient import TestClient

from graph_world import r2r_items, write_sources
from navarena.core.errors import InputError
from navarena.evaluation import EvaluationSettings, evaluate, read_summary
from navarena.web.challenge.app import make_app
from navarena.web.challenge.challenge_file import load_challenge
from navarena.web.challenge.settings import hash_rules, hash_settings
from navarena.web.challenge.storage.engine import sqlite_address
from navarena.web.challenge.worker import Worker

from .log_files import Log, pack
from .servers import add_account, open_test_service

pytestmark = pytest.mark.server

GRAPHS = """
name = "Graphs"
[[phases]]
name = "paths"
protocol = "r2r-v1"
split = "val_seen"
datasets = ["R2R_val_seen.json.gz"]
scenes = "connectivity"
accepts = ["log"]
[[phases]]
name = "tours"
protocol = "ir2r-v1"
split = "val_seen"
datasets = ["R2R_val_seen.json.gz"]
scenes = "connectivity"
tours = "tours.json"
rank_by = "t_ndtw"
accepts = ["log"]
"""


def make_graph_run(folder: Path, tours: bool, agent: str = "random") -> Path:
    """A run of the files in `folder`, by other paths than those that the server takes."""
    return evaluate(
        EvaluationSettings(
            "ir2r-v1" if tours else "r2r-v1",
            agent=agent,
            dataset=str(folder / "R2R_val_seen.json.gz"),
            scenes=str(folder / "connectivity"),
            tours=str(folder / "tours.json") if tours else None,
            out=folder / f"run-{tours}-{agent}",
        )
    ).folder


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path]:
    """The folders of the participant and of the server, with the same files."""
    for name in ("mine", "server"):
        (tmp_path / name).mkdir()
        write_sources(tmp_path / name, tours=True)
    return tmp_path / "mine", tmp_path / "server"


@pytest.mark.parametrize("tours", [False, True], ids=["paths", "tours"])
def test_logs_are_executed_again_on_graphs(places: tuple[Path, Path], tours: bool) -> None:
    mine, server = places
    run = make_graph_run(mine, tours)
    service = open_test_service(server, GRAPHS)
    token, *_ = add_account(service.storage, "ann")
    client = TestClient(make_app(service), headers={"Authorization": f"Bearer {token}"})
    path = f"/api/v1/phases/{'tours' if tours else 'paths'}"
    edited = Log.of(pack(run)).edited(lambda log: log.rows[0]["actions"].insert(0, 1))
    sent = [client.post(f"{path}/submissions", content=one) for one in (pack(run), edited)]
    assert [one.status_code for one in sent] == [201, 201], sent[0].text
    while Worker(service).run_one():
        pass
    found, other = (client.get(f"/api/v1/submissions/{one.json()['id']}").json() for one in sent)
    assert found["state"] == "verified" and found["episodes"] == (7 if tours else 12)
    local = read_summary(run)
    (part,) = found["summary"]["parts"]
    assert {name: one["mean"] for name, one in part["metrics"].items()} == {
        name: one.mean for name, one in local.metrics.items()
    }
    rank = local.tours.metrics["t_ndtw"] if tours and local.tours else local.metrics["spl"]
    assert found["rank_mean"] == rank.mean
    assert (other["state"], other["error"]["code"]) == ("refused", "other_numbers")


def test_a_board_holds_scores_of_the_same_episodes(
    places: tuple[Path, Path], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Where a host puts another file in the place of a phase's, no submission is verified on it."""
    run = make_graph_run(places[0], tours=False)
    database = sqlite_address(tmp_path / "test.sqlite")
    service = open_test_service(places[1], GRAPHS, database)
    token, *_ = add_account(service.storage, "ann")
    states = []
    for folder, sent in ((places[1], run), (tmp_path / "changed", None)):
        if sent is None:
            folder.mkdir()
            write_sources(folder, tours=True)
            changed = [item | {"heading": 0.5} for item in r2r_items()]
            (folder / "R2R_val_seen.json.gz").write_bytes(gzip.compress(json.dumps(changed).encode()))
            sent = make_graph_run(folder, tours=False)
        service = open_test_service(folder, GRAPHS, database)
        client = TestClient(make_app(service), headers={"Authorization": f"Bearer {token}"})
        answer = client.post("/api/v1/phases/paths/submissions", content=pack(sent))
        assert answer.status_code == 201, answer.text
        while Worker(service).run_one():
            pass
        states.append(client.get(f"/api/v1/submissions/{answer.json()['id']}").json()["state"])
    assert states == ["verified", "failed"]
    assert "expected the episodes of the verified submissions, r2r-v1@" in caplog.text


def test_files_lie_beside_the_challenge_file(places: tuple[Path, Path]) -> None:
    """Its phases name no folder of the machine, and keep their hashes where it is moved to."""
    loaded = []
    for folder in places:
        (folder / "challenge.toml").write_text(GRAPHS)
        loaded.append(load_challenge(folder / "challenge.toml"))
    assert hash_settings(loaded[0]) == hash_settings(loaded[1])
    assert hash_settings(loaded[0].phases[0]) == hash_settings(loaded[1].phases[0])
    rules = [hash_rules(one) for one in (*loaded[0].phases, *loaded[1].phases)]
    assert rules[:2] == rules[2:] and rules[0] != rules[1]
    for challenge, folder in zip(loaded, places, strict=True):
        (part,) = challenge.phases[1].parts
        settings = challenge.phases[1].evaluation(part)
        assert settings.tours == str(folder / "tours.json") and part.dataset == "R2R_val_seen.json.gz"


def hide_goals(folder: Path) -> None:
    items = [item | {"path": item["path"][:1]} for item in r2r_items()]
    (folder / "R2R_val_seen.json.gz").unlink()
    (folder / "R2R_val_seen.json").write_text(json.dumps(items))


BAD: dict[str, tuple[Callable[[str], str], Callable[[Path], Any], str]] = {
    "no dataset": (
        lambda text: text.replace('datasets = ["R2R_val_seen.json.gz"]\n', ""),
        lambda folder: None,
        "phase 'paths': expected R2R files (datasets) and their connectivity files (scenes) for r2r-v1, got "
        "no datasets",
    ),
    "no scenes": (
        lambda text: text.replace('scenes = "connectivity"\n', ""),
        lambda folder: None,
        "got no scenes; name files beside",
    ),
    "no tours": (
        lambda text: text.replace('tours = "tours.json"\n', ""),
        lambda folder: None,
        "phase 'tours': expected a tour file (tours) for ir2r-v1, got none",
    ),
    "tours of nobody": (
        lambda text: text.replace("ir2r-v1", "r2r-v1").replace("t_ndtw", "spl"),
        lambda folder: None,
        "expected no tours for r2r-v1, got tours.json",
    ),
    "another split": (
        lambda text: text.replace('"val_seen"', '"val_unseen"'),
        lambda folder: None,
        "expected the split of R2R_val_seen.json.gz, 'val_seen', got split = 'val_unseen'",
    ),
    "a missing file": (
        lambda text: text,
        lambda folder: (folder / "R2R_val_seen.json.gz").unlink(),
        "R2R_val_seen.json.gz",
    ),
    "a scan without a graph": (
        lambda text: text,
        lambda folder: (folder / "connectivity/scan1_connectivity.json").rename(
            folder / "connectivity/scan2_connectivity.json"
        ),
        "unknown scan in connectivity 'scan1'",
    ),
    "a test split": (
        lambda text: text.replace(".json.gz", ".json"),
        hide_goals,
        "expected paths up to their goals in R2R_val_seen.json, got starts only",
    ),
    "live agents": (
        lambda text: text.replace('["log"]', '["log", "live"]'),
        lambda folder: None,
        "expected no live agents for r2r-v1, which runs on navigation graphs, got accepts",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files_are_refused_in_one_line(places: tuple[Path, Path], name: str) -> None:
    edit, damage, message = BAD[name]
    folder = places[1]
    (folder / "challenge.toml").write_text(edit(GRAPHS))
    damage(folder)
    with pytest.raises(InputError) as caught:
        load_challenge(folder / "challenge.toml")
    assert message in str(caught.value) and "\n" not in str(caught.value)
