"""Results files of earlier challenges: R2R's paths and RoboTHOR's poses, whose scores the server computes."""

import gzip
import json
import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sqlalchemy")
pytest.importorskip("fastapi")

from fastapi.testclient import TestClient
from sqlalchemy import func, select

from fuzzing import mutate_bytes, mutate_json
from graph_world import PATHS, r2r_items, write_sources
from navarena.cli.main import main
from navarena.core.errors import FileError, InputError
from navarena.core.seeding import make_generator
from navarena.evaluation import EvaluationSettings, evaluate, read_summary
from navarena.evaluation.exchange.exports import export_run
from navarena.web.challenge import trajectories
from navarena.web.challenge.app import make_app
from navarena.web.challenge.challenge_file import load_challenge
from navarena.web.challenge.client import Client
from navarena.web.challenge.log_format import LIMITS
from navarena.web.challenge.storage.models import Job, Submission, UploadChunk
from navarena.web.challenge.trajectory_files import FileClaim, pack_trajectories, read_results_file
from navarena.web.challenge.worker import Worker

from .log_files import about, pack
from .servers import add_account, open_test_service, write_challenge

pytestmark = pytest.mark.server

PHASES = """
name = "Old interfaces"
[[tracks]]
name = "all"
privileged = true
[[tracks]]
name = "plain"
[[phases]]
name = "paths"
protocol = "r2r-v1"
split = "val_seen"
datasets = ["R2R_val_seen.json.gz"]
scenes = "connectivity"
accepts = ["log", "trajectory"]
[[phases]]
name = "tours"
protocol = "ir2r-v1"
split = "val_seen"
datasets = ["R2R_val_seen.json.gz"]
scenes = "connectivity"
tours = "tours.json"
rank_by = "t_ndtw"
accepts = ["trajectory"]
[[phases]]
name = "poses"
protocol = "objectnav-robothor2021-v1"
split = "mini"
episodes = 3
accepts = ["log", "trajectory"]
"""

GRAPH = {"dataset": "R2R_val_seen.json.gz", "scenes": "connectivity"}
RUNS: dict[str, dict[str, Any]] = {
    "paths": {"protocol": "r2r-v1", "agent": "random", **GRAPH},
    "tours": {"protocol": "ir2r-v1", "agent": "random", **GRAPH, "tours": "tours.json"},
    "poses": {"protocol": "objectnav-robothor2021-v1", "agent": "expert", "episodes": 3},
    "bumps": {"protocol": "objectnav-robothor2021-v1", "agent": "forward", "episodes": 3},
}
LAYOUTS = {"paths": "r2r", "tours": "r2r", "poses": "robothor2021", "bumps": "robothor2021"}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Path]]:
    """Name -> (run, results file) of RUNS."""
    folder = tmp_path_factory.mktemp("made")
    write_sources(folder, tours=True)
    found = {}
    for name, named in RUNS.items():
        given = {
            key: str(folder / one) if key in ("dataset", "scenes", "tours") else one
            for key, one in named.items()
        }
        run = evaluate(EvaluationSettings(**given, out=folder / name)).folder
        export_run(run, LAYOUTS[name], folder / f"{name}.json")
        found[name] = run, folder / f"{name}.json"
    return found


class Sender:
    """A team that submits results files to a server of its own."""

    def __init__(self, folder: Path) -> None:
        write_sources(folder, tours=True)
        self.service = open_test_service(folder, PHASES)
        self.token, *_ = add_account(self.service.storage, "ann")
        self.client = TestClient(
            make_app(self.service),
            headers={"Authorization": f"Bearer {self.token}"},
            raise_server_exceptions=False,
        )

    def send(self, phase: str, packed: bytes) -> tuple[int, Any]:
        """(status, JSON) of a submission."""
        response = self.client.post(f"/api/v1/phases/{phase}/trajectories", content=packed)
        return response.status_code, response.json()

    def follow(self, phase: str, packed: bytes) -> Any:
        """What has become of a submission in the end."""
        status, said = self.send(phase, packed)
        assert status == 201, said
        while Worker(self.service).run_one():
            pass
        return self.client.get(f"/api/v1/submissions/{said['id']}").json()


@pytest.fixture
def sender(tmp_path: Path) -> Sender:
    return Sender(tmp_path)


def read(file: Path) -> list[dict[str, Any]]:
    return read_results_file(file, "mini")[1]


def wrap(phase: str, members: list[dict[str, Any]], track: str = "all", **more: Any) -> bytes:
    claim = FileClaim(layout=LAYOUTS[phase], agent="theirs", **more)  # type: ignore[arg-type]
    return b"".join(pack_trajectories(about(track=track), claim, [members]))


@pytest.mark.parametrize("name", RUNS)
def test_scores_are_those_of_the_run_that_wrote_the_file(
    sender: Sender, made: dict[str, tuple[Path, Path]], name: str
) -> None:
    """Poses are followed without the noise that led to them, and say the same."""
    run, file = made[name]
    phase = "poses" if name == "bumps" else name
    found = sender.follow(phase, wrap(phase, read(file), trained_with=("spatter",)))
    assert (found["state"], found["error"], found["kind"]) == ("verified", None, "trajectory")
    assert found["checked"] == "trajectory uploaded, inputs declared"
    assert (found["agent"], found["trained_with"], found["privileged"]) == ("theirs", ["spatter"], False)
    local = read_summary(run)
    (part,) = found["summary"]["parts"]
    assert found["finished_episodes"] == part["episodes"] == local.episodes
    for metric, one in part["metrics"].items():
        assert one["mean"] == pytest.approx(local.metrics[metric].mean, abs=1e-6), metric
    if name == "poses":
        assert local.metrics["success"].mean == 1.0, "nothing would be seen of what is seen"
    if name == "bumps":
        assert local.metrics["collisions"].mean > 10, "nothing would be seen of obstacles"
    if local.tours is not None:
        assert part["tours"]["metrics"]["t_ndtw"]["mean"] == local.tours.metrics["t_ndtw"].mean


def test_uploads_stand_apart_from_logs(sender: Sender, made: dict[str, tuple[Path, Path]]) -> None:
    run, file = made["paths"]
    sender.follow("paths", wrap("paths", read(file)))
    assert sender.client.post("/api/v1/phases/paths/submissions", content=pack(run)).status_code == 201
    Worker(sender.service).run_one()
    page = sender.client.get("/phases/paths").text
    sections = ["Actions verified, inputs declared", "Trajectory uploaded, inputs declared"]
    assert 0 < page.index(sections[0]) < page.index(sections[1])
    assert "a log or a file of trajectories" in sender.client.get("/").text


def test_what_is_sent_again_counts_once_and_privileged_agents_keep_to_their_track(
    sender: Sender, made: dict[str, tuple[Path, Path]]
) -> None:
    members = read(made["paths"][1])
    first = sender.send("paths", wrap("paths", members))
    turned = [
        {**one, "trajectory": [[place, 1.0, 0.5] for place, *_ in one["trajectory"]]} for one in members
    ]
    again = sender.send("paths", wrap("paths", turned[::-1], track="plain"))
    assert (first[0], again[0]) == (201, 200) and first[1]["id"] == again[1]["id"]
    status, said = sender.send("paths", wrap("paths", members, "plain", privileged_inputs=("the goal",)))
    assert (status, said["error"]["code"]) == (422, "privileged_agent")
    with sender.service.storage.read() as session:
        assert session.scalar(select(func.count()).select_from(Job)) == 1


Edit = Callable[[list[dict[str, Any]]], Any]

INTAKE: dict[str, tuple[str, Edit, str]] = {
    "no members": ("paths", lambda all_: all_.clear(), "empty_log"),
    "an instruction less": ("paths", lambda all_: all_.pop(), "incomplete_run"),
    "an instruction twice": ("paths", lambda all_: all_.append(all_[0]), "doubled_episode"),
    "an instruction of nobody": ("paths", lambda all_: all_[0].update(instr_id="9_9"), "other_episodes"),
    "a number as its id": ("paths", lambda all_: all_[0].update(instr_id=9), "damaged_log"),
    "no trajectory": ("paths", lambda all_: all_[0].pop("trajectory"), "damaged_log"),
    "a zero byte": ("paths", lambda all_: all_[0]["trajectory"].append(["a\0"]), "damaged_log"),
    "an episode less": ("poses", lambda all_: all_.pop(), "incomplete_run"),
    "a place as text": ("poses", lambda all_: all_[0]["trajectory"][0].update(x="1"), "damaged_log"),
}  # fmt: skip


@pytest.mark.parametrize("name", INTAKE)
def test_files_that_do_not_answer_the_phase_are_refused_by_code(
    sender: Sender, made: dict[str, tuple[Path, Path]], name: str
) -> None:
    phase, edit, code = INTAKE[name]
    members = json.loads(json.dumps(read(made[phase][1])))
    edit(members)
    status, said = sender.send(phase, wrap(phase, members))
    assert (status, said["error"]["code"]) == (422, code)
    assert "\n" not in said["error"]["message"]
    with sender.service.storage.read() as session:
        for table in (Submission, UploadChunk):
            assert session.scalar(select(func.count()).select_from(table)) == 0


def test_files_of_another_kind_are_refused(sender: Sender, made: dict[str, tuple[Path, Path]]) -> None:
    run, file = made["paths"]
    for packed, code in ((wrap("poses", read(file)), "other_format"), (pack(run), "damaged_log")):
        status, said = sender.send("paths", packed)
        assert (status, said["error"]["code"]) == (422, code)
    double = b"".join(
        pack_trajectories(about(), FileClaim(layout="r2r", agent="x"), [read(file), read(file)])
    )
    assert sender.send("paths", double)[1]["error"]["code"] == "doubled_run"
    assert sender.send("paths", b"")[1]["error"]["code"] == "damaged_log"
    assert sender.send("paths", gzip.compress(b""))[1]["error"]["code"] == "empty_log"
    assert sender.send("tours", wrap("tours", read(made["tours"][1])))[0] == 201
    log = sender.client.post("/api/v1/phases/tours/submissions", content=pack(made["tours"][0]))
    assert log.json()["error"]["code"] == "wrong_kind"


def longest(members: list[dict[str, Any]]) -> dict[str, Any]:
    """The episode with most actions, which walks."""
    return max(members, key=lambda one: len(one["actions_taken"]))


def first_walk(one: dict[str, Any]) -> int:
    return next(k for k, taken in enumerate(one["actions_taken"]) if taken["action"] == "MoveAhead")


def shift(members: list[dict[str, Any]], metres: float) -> None:
    one = longest(members)
    for pose in one["trajectory"][first_walk(one) + 1 :]:
        pose["x"] += metres


def walk_on(members: list[dict[str, Any]]) -> None:
    """Leave through whatever stands ahead, by steps of the right length."""
    one = longest(members)
    pose = dict(one["trajectory"][0])
    poses = [dict(pose)]
    for _ in range(200):
        pose["x"] += 0.25 * math.sin(math.radians(pose["rotation"]))
        pose["z"] += 0.25 * math.cos(math.radians(pose["rotation"]))
        poses.append(dict(pose))
    taken = [{"action": "MoveAhead", "success": True}] * 200
    one.update(trajectory=poses, actions_taken=taken)


def turn_after_stop(members: list[dict[str, Any]]) -> None:
    one = longest(members)
    one["actions_taken"].append({"action": "LookUp", "success": False})
    one["trajectory"].append(one["trajectory"][-1])


def drop_end(members: list[dict[str, Any]]) -> None:
    one = longest(members)
    one["actions_taken"].pop()
    one["trajectory"].pop()


FOLLOWED: dict[str, tuple[str, Edit, str]] = {
    "another start": ("paths", lambda all_: all_[0]["trajectory"].insert(0, ["h"]), "expected to begin at"),
    "an empty path": ("paths", lambda all_: all_[0].update(trajectory=[]), "an empty trajectory"),
    "along no edge": ("paths", lambda all_: all_[0].update(trajectory=[["a"], ["h"]]), "which no edge joins"),
    "no viewpoint": ("paths", lambda all_: all_[0]["trajectory"].append(["q", 0, 0]), "is not in the graph"),
    "a long name": ("paths", lambda all_: all_[0]["trajectory"].append(["q" * 9000]), "qqqq"),
    "no place": ("paths", lambda all_: all_[0]["trajectory"].append(None), "[viewpoint, heading, elevation]"),
    "a jump": ("poses", lambda all_: shift(all_, 0.6), "expected poses that MoveAhead can lead to"),
    "through walls": ("poses", walk_on, "floor"),
    "a place beyond": ("poses", lambda all_: all_[0]["trajectory"][-1].update(x=1e300), "beyond 1e+06"),
    "elsewhere": ("poses", lambda all_: all_[0]["trajectory"][0].update(x=9.0), "to begin at the start"),
    "a heading less": ("poses", lambda all_: all_[0]["trajectory"][0].pop("rotation"), "with a rotation"),
    "another horizon": ("poses", lambda all_: all_[0]["trajectory"][1].update(horizon=-3.0), "a horizon of"),
    "poses less": ("poses", lambda all_: all_[0].update(trajectory=[]), "expected a pose before the first"),
    "an action of nobody": (
        "poses", lambda all_: all_[0]["actions_taken"][0].update(action="Teleport"), "got 'Teleport'"
    ),
    "after the end": ("poses", turn_after_stop, "the rules end it"),
    "no end": ("poses", drop_end, "got no end"),
    "no actions": (
        "poses",
        lambda all_: all_[0].update(trajectory=all_[0]["trajectory"][:1], actions_taken=[]),
        "got no end",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FOLLOWED)
def test_what_cannot_have_been_walked_is_refused_in_one_line(
    sender: Sender, made: dict[str, tuple[Path, Path]], name: str
) -> None:
    phase, edit, message = FOLLOWED[name]
    members = json.loads(json.dumps(read(made[phase][1])))
    edit(members)
    found = sender.follow(phase, wrap(phase, members))
    assert (found["state"], found["error"]["code"]) == ("refused", "impossible_move"), found
    text = found["error"]["message"]
    assert message in text and "\n" not in text and len(text) < 500


def test_success_is_what_the_server_sees(sender: Sender, made: dict[str, tuple[Path, Path]]) -> None:
    """The file's own word counts for nothing."""
    members = read(made["poses"][1])
    lies = [{**one, "success": False} for one in members]
    followed = sender.follow("poses", wrap("poses", lies))
    assert followed["summary"]["parts"][0]["metrics"]["success"]["mean"] == 1.0
    start = [
        {
            "id": one["id"],
            "trajectory": one["trajectory"][:1],
            "actions_taken": [{"action": "Stop", "success": True}],
            "success": True,
        }
        for one in members
    ]
    found = sender.follow("poses", wrap("poses", start))
    assert found["summary"]["parts"][0]["metrics"]["success"]["mean"] == 0.0
    assert found["rank_mean"] == 0.0


def test_a_phase_of_several_runs_has_a_file_for_each(tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    write_sources(tmp_path)
    write_sources(tmp_path / "more", items=r2r_items({1: PATHS[1]}))
    text = PHASES[: PHASES.index('[[phases]]\nname = "tours"')].replace(
        'datasets = ["', 'datasets = ["more/R2R_val_seen.json.gz", "'
    )
    service = open_test_service(tmp_path, text)
    token, *_ = add_account(service.storage, "ann")
    client = TestClient(make_app(service), headers={"Authorization": f"Bearer {token}"})
    perfect = [
        {"instr_id": f"{path}_{k}", "trajectory": [[one, 0, 0] for one in PATHS[path]]}
        for path in PATHS
        for k in range(3)
    ]
    stay = [{"instr_id": f"1_{k}", "trajectory": [["a", 0, 0]]} for k in range(3)]
    claim = FileClaim(layout="r2r", agent="x")
    path = "/api/v1/phases/paths/trajectories"
    for files, code in (([perfect, stay], "other_episodes"), ([stay], "empty_log")):
        answer = client.post(path, content=b"".join(pack_trajectories(about(), claim, files)))
        assert answer.json()["error"]["code"] == code
    sent = client.post(path, content=b"".join(pack_trajectories(about(), claim, [stay, perfect]))).json()
    assert Worker(service).run_one()
    found = client.get(f"/api/v1/submissions/{sent['id']}").json()
    assert [part["metrics"]["success"]["mean"] for part in found["summary"]["parts"]] == [0.0, 1.0]
    assert found["episodes"] == 15 and found["rank_mean"] == pytest.approx(12 / 15)


def test_teams_of_others_and_nobody(sender: Sender, made: dict[str, tuple[Path, Path]]) -> None:
    packed = wrap("paths", read(made["paths"][1]))
    add_account(sender.service.storage, "bob")
    path = "/api/v1/phases/paths/trajectories"
    assert sender.client.post(path, content=packed, params={"team": "team bob"}).status_code == 403
    assert sender.client.post(path, content=packed, headers={"Authorization": ""}).status_code == 401
    assert sender.client.post(path, content=b"x" * (LIMITS.packed + 1)).status_code == 413


def test_following_goes_on_where_a_worker_was_lost(
    sender: Sender, made: dict[str, tuple[Path, Path]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("navarena.web.challenge.verification.COMMIT_SECONDS", 0.0)
    make, scored = trajectories.make_score_function, []

    def make_counting(*given: Any) -> Any:
        score = make(*given)

        def count(answer: Any) -> Any:
            if len(scored) == 5:
                scored.append("lost")
                raise KeyboardInterrupt
            scored.append(answer.episode_id)
            return score(answer)

        return count

    monkeypatch.setattr(trajectories, "make_score_function", make_counting)
    status, said = sender.send("paths", wrap("paths", read(made["paths"][1])))
    assert status == 201
    with pytest.raises(KeyboardInterrupt):
        Worker(sender.service).run_one()
    assert sender.client.get(f"/api/v1/submissions/{said['id']}").json()["finished_episodes"] == 5
    assert Worker(sender.service).run_one()
    assert len(scored) == 13 and len(set(scored)) == 13, "episodes are followed once"
    found = sender.client.get(f"/api/v1/submissions/{said['id']}").json()
    assert found["rank_mean"] == pytest.approx(read_summary(made["paths"][0]).metrics["spl"].mean)


MUTANTS = 120


def test_mutants_are_refused_or_followed_but_never_break_the_server(
    sender: Sender, made: dict[str, tuple[Path, Path]]
) -> None:
    rng = make_generator("mutants of trajectories")
    statuses: Counter[int] = Counter()
    for number in range(MUTANTS):
        phase = ("paths", "poses")[number % 2]
        members = read(made[phase][1])
        packed = wrap(phase, members)
        kind = number // 2 % 4
        if kind == 0:
            mutant = mutate_bytes(packed, rng)
        elif kind == 1:
            mutant = gzip.compress(mutate_json(gzip.decompress(packed), rng), 1)
        else:
            place = int(rng.integers(0, len(members)))
            try:
                members[place] = json.loads(mutate_json(json.dumps(members[place]).encode(), rng))
                mutant = wrap(phase, members)
            except (TypeError, ValueError, OverflowError):
                mutant = gzip.compress(mutate_bytes(gzip.decompress(packed), rng), 1)
        status, said = sender.send(phase, mutant)
        statuses[status] += 1
        assert status in (200, 201) or said["error"]["code"], said
    assert max(statuses) < 500, statuses
    assert statuses[201] > 5 and statuses[422] > 30, f"neither all fatal nor all harmless: {statuses}"
    while Worker(sender.service).run_one():
        pass
    with sender.service.storage.read() as session:
        ends = Counter(map(tuple, session.execute(select(Submission.state, Submission.error_code))))
    assert {state for state, _ in ends} <= {"verified", "refused"}, ends


def test_phases_without_such_files(tmp_path: Path) -> None:
    poses = PHASES[PHASES.rindex("[[phases]]") :]
    for edit, message in (
        (("objectnav-robothor2021-v1", "pointnav-v1"), "phase 'poses': expected a protocol on navigation"),
        (("episodes = 3", 'corruptions = ["spatter:5"]'), "expected a phase without corruptions"),
    ):  # fmt: skip
        path = write_challenge(tmp_path, 'name = "x"\n' + poses.replace(*edit))
        with pytest.raises(InputError, match=message):
            load_challenge(path)


def test_the_command_recognises_files(
    sender: Sender,
    made: dict[str, tuple[Path, Path]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def send(self: Client, method: str, path: str, body: Callable[[], Any], headers: Any) -> Any:
        content = body()
        data = None if content is None else content.read()
        return sender.client.request(method, path, content=data, headers=dict(headers)).json()

    monkeypatch.setattr(Client, "_send", send)
    monkeypatch.setenv("NAVARENA_TOKEN", sender.token)
    packed = tmp_path / "packed.json.gz"
    packed.write_bytes(gzip.compress(made["poses"][1].read_bytes()))
    words = ("--track", "all", "--no-wait", "--json", "--trained-with", "spatter")
    for phase, file in (("paths", made["paths"][1]), ("poses", packed)):
        assert main(["submit", "http://x", str(file), "--phase", phase, *words]) == 0
        found = json.loads(capsys.readouterr().out)
        agent = file.name.partition(".")[0]
        assert (found["kind"], found["state"], found["agent"]) == ("trajectory", "queued", agent)
        assert found["trained_with"] == ["spatter"]
    run = made["paths"][0]
    assert main(["submit", "http://x", str(run), "--phase", "paths", *words]) == 2
    assert "for results files alone" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1, 2]", "expected a results file"),
        ('{"val": 3}', "expected a results file"),
        ('{"a": {"episodes": {}}, "b": {"episodes": {}}}', "expected results of the split 'mini'"),
        ('{"mini": {"episodes": {"x": {}, "x": {}}}}', "got 'x' twice"),
        ("[" * 100_000, "damaged"),
        ("nothing", "damaged"),
    ],
)
def test_files_that_are_none_are_not_sent(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises((InputError, FileError), match=message):
        read_results_file(path, "mini")
