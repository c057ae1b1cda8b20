"""The agent `vlm`: what it asks on every task, and what becomes of each kind of answer, over real HTTP."""

import base64
import io
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from agents.chat_server import ChatServer, choose, say
from navarena.agents.agent import Boundary, Start
from navarena.agents.language.agent import make_schema, read_action_name
from navarena.agents.language.prompts import FILE, read_prompts
from navarena.agents.language.settings import LanguageModelSettings, read_settings
from navarena.agents.loading import load_agent
from navarena.cli.main import main
from navarena.core.errors import FileError, InputError, NavarenaError, ServiceUnreachableError, StorageError
from navarena.core.files import cache_folder
from navarena.evaluation import EvaluationSettings, evaluate, replay_run
from navarena.evaluation.records.times import read_times
from navarena.mapping.map_images import draw_map
from navarena.simulation.world import WorldCache
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.catalog import TASKS, get_task
from navarena.tasks.graphs.task import GraphTask
from tasks.small import episodes_for
from worlds import HALL, ROOMS, draw_world

WORLDS = [draw_world(HALL, scene_id="hall"), draw_world(ROOMS, scene_id="rooms")]

KEY = "sk-secret-0123456789"


@pytest.fixture
def server():
    one = ChatServer()
    yield one
    one.close()


@pytest.fixture(autouse=True)
def own_answers(monkeypatch, tmp_path):
    """Answers of other tests are not at hand; scenes and kernels are."""
    (tmp_path / "cache").mkdir()
    for kind in ("kernels", "packs", "fingerprints"):
        (cache_folder() / kind).mkdir(parents=True, exist_ok=True)
        (tmp_path / "cache" / kind).symlink_to(cache_folder() / kind)
    monkeypatch.setenv("NAVARENA_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("NAVARENA_API_KEY", raising=False)


def name_agent(server, options=""):
    return f"vlm?url={server.url}&model=seeing/small&pause=0{options}"


def play(server, protocol_id, steps, options="", prefix=""):
    """(agent, batch) after so many steps of two episodes with small cameras in drawn worlds."""
    task = get_task(protocol_id)
    cameras = tuple(replace(camera, width_px=20, height_px=12) for camera in task.embodiment.cameras)
    task.embodiment = replace(task.embodiment, cameras=cameras)
    agent = load_agent(prefix + name_agent(server, options), task, 3)
    worlds = WorldCache(task.embodiment)
    for world in WORLDS:
        worlds.add(world)
    episodes = episodes_for(task)[:2]
    batch = NavigationBatch(task, 2, 1, agent.sensors, worlds)
    agent.attach(batch)
    batch.start(range(2), episodes)
    agent.reset([Start(k, one.episode_id, one.scene_id, Boundary.SCENE) for k, one in enumerate(episodes)])
    for _ in range(steps):
        batch.step(agent.act(batch.observations, batch.running), batch.running)
    return agent, batch


def texts(body):
    return [part["text"] for part in body["messages"][1]["content"] if part["type"] == "text"]


def images(body):
    links = [p["image_url"]["url"] for p in body["messages"][1]["content"] if p["type"] == "image_url"]
    assert all(link.startswith("data:image/png;base64,") for link in links)
    return [np.asarray(Image.open(io.BytesIO(base64.b64decode(one.partition(",")[2])))) for one in links]


DISCRETE = [
    name
    for name in TASKS.names()
    if not isinstance(get_task(name), GraphTask) and not get_task(name).is_continuous
]


@pytest.mark.parametrize("protocol_id", DISCRETE)
def test_every_task_with_images_is_asked_for_an_action(server, protocol_id):
    _, batch = play(server, protocol_id, 2)
    task = batch.task
    forward = task.actions.index("move_forward")
    assert [batch.trajectory(k).actions.tolist() for k in range(2)] == [[forward, forward]] * 2
    body = server.asked[0]
    assert body["model"] == "seeing/small" and body["temperature"] == 0 and "seed" not in body
    schema = body["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["action"]["enum"] == list(task.actions)
    system = body["messages"][0]["content"]
    assert all(f"\n{name}: " in system for name in task.actions), "each action is described"
    assert task.declaration in read_prompts().find_task(task.protocol_id).rules.format(
        declaration=task.declaration, success_cm=1, success_m=1, max_steps=1
    )
    seen = batch.observations["rgb"]
    assert images(body)[-1].shape == seen.shape[1:]


@pytest.mark.parametrize(
    ("protocol_id", "expected"),
    [
        ("objectnav-habitat2020-v1", r"Find: \w"),
        ("multion-2on-v1", r"The object to find now: cylinder \w"),
        ("r2r-ce-v1", r"Follow this instruction: \w"),
        ("languagenav-v1", r"Find: \w"),
        ("ovon-v1", r"Find: \w"),
        ("instance-imagenav-v1", r"Find what this image shows"),
        ("pointnav-habitat2020-v1", r"When you began, the goal was \d+\.\d m away, \d+ degrees to your"),
    ],
)
def test_goals_are_told(server, protocol_id, expected):
    play(server, protocol_id, 1)
    assert re.match(expected, texts(server.asked[0])[0])


def test_a_point_goal_is_told_as_it_is_observed(server):
    _, batch = play(server, "pointnav-v1", 0)
    agent = load_agent(name_agent(server), batch.task)
    agent.reset([Start(0, "a", "s"), Start(1, "b", "s")])
    observations = dict(batch.observations)
    for goal, expected in (
        ((2.345, 0.5), "The goal is 2.3 m away, 29 degrees to your left."),
        ((0.04, -3.0), "The goal is 0.0 m away, 172 degrees to your right."),
    ):
        observations["pointgoal_with_gps_compass"] = np.array([goal, goal], np.float32)
        agent.act(observations, np.array([True, False]))
        assert texts(server.asked[-1])[0] == expected
    assert "tasks.pointnav" in FILE.read_text() and "less than 20 cm away" in str(
        server.asked[0]["messages"][0]
    )


def test_earlier_images_come_in_order_with_what_was_done(server):
    server.reply = lambda body, number: choose(("turn_left", "move_forward", "turn_right")[number // 2 % 3])
    play(server, "pointnav-v1", 4, "&history=2")
    mine = [body for body in server.asked if texts(body)[0] == texts(server.asked[0])[0]]
    last = server.asked[-1]
    assert len(mine) >= 1 and [len(images(body)) for body in server.asked[::2]] == [1, 2, 3, 3]
    earlier = [text for text in texts(last) if text.startswith("What you saw")]
    assert earlier == [
        "What you saw at step 1, before you chose move_forward:",
        "What you saw at step 2, before you chose turn_right:",
    ]
    assert "newest at the end: turn_left, move_forward, turn_right." in texts(last)[-1]
    assert texts(last)[-2].startswith("What you see now, at step 3 of at most 500:")


def test_a_map_is_shown_on_request(server):
    play(server, "multion-2on-v1", 1, "&map=true&history=0")
    first = server.asked[0]
    drawn, view = images(first)
    assert drawn.shape == (256, 256, 3) and view.shape == (12, 20, 3)
    cells = np.zeros((4, 4, 1), np.uint8)
    cells[0, 0], cells[0, 3] = 1, 2
    small = draw_map(cells)
    assert small.shape == (16, 16, 3)
    assert (small[3, 3] == 255).all() and (small[0, 15] == 0).all() and (small[12, 0] == 128).all()
    assert small[8, 8].tolist() == [220, 0, 0]


def test_an_oracle_leaves_the_declaration_out(server):
    play(server, "pointnav-v1", 1, prefix="oracle-stop:")
    named = server.asked[0]["response_format"]["json_schema"]["schema"]["properties"]["action"]["enum"]
    assert named == ["move_forward", "turn_left", "turn_right"]


def test_it_is_told_what_was_done_in_place_of_its_actions(server):
    server.reply = lambda body, number: choose("move_forward")
    agent, batch = play(server, "pointnav-v1", 1)
    agent.overrule(np.array([2, 1]))
    agent.act(batch.observations, batch.running)
    told = [texts(body)[-1] for body in server.asked[-2:]]
    for name in ("turn_left", "move_forward"):
        assert sum(f"newest at the end: {name}." in text for text in told) == 1


def test_options_change_the_request(server):
    play(server, "pointnav-v1", 1, "&reason=true&temperature=0.5&max_tokens=99")
    body = server.asked[0]
    schema = body["response_format"]["json_schema"]["schema"]
    assert schema == make_schema(get_task("pointnav-v1").actions, True)
    assert list(schema["properties"]) == ["reason", "action"]
    assert (body["temperature"], body["max_tokens"], body["seed"]) == (0.5, 99, 3)
    play(server, "pointnav-v1", 1, "&structured=false")
    assert "response_format" not in server.asked[-1]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('{"action": "turn_left"}', "turn_left"),
        ('```json\n{"action" : "Turn_Left"}\n```', "turn_left"),
        ('<think>"action": "stop" would end it</think> {"action": "turn_left"}', "turn_left"),
        ("turn_left.", "turn_left"),
        ('"stop"', "stop"),
        ('{"action": "fly"}', None),
        ("I would turn_left", None),
        ('{"action": "turn\\xleft"}', None),
        ('{"action": 2}', None),
        ("", None),
    ],
)
def test_answers_are_read(text, name):
    assert read_action_name(text, ("stop", "turn_left")) == name


def run(server, tmp_path, options="", name="run", **settings):
    given = {"split": "mini", "episodes": 2, "episode_steps": 3, "out": tmp_path / name} | settings
    return evaluate(EvaluationSettings("pointnav-v1", agent=name_agent(server, options), **given))


def test_the_next_episode_begins_anew_where_memory_is_never_forgotten(server, tmp_path):
    found = run(server, tmp_path, forget="never", batch_size=1)
    assert len(server.asked) == 6
    assert {one.costs["answers"] for one in read_times(found.folder).values()} == {3}
    said = str(server.asked[3]["messages"][1])
    assert "at step 0 of at most" in said and "none yet" in said


def test_a_run_counts_costs_replays_and_needs_no_second_answer(server, tmp_path):
    first = run(server, tmp_path)
    assert [row.status for row in first.rows] == ["step_limit"] * 2 and len(server.asked) == 6
    assert first.costs["prompt_tokens"] == 6000 and first.costs["completion_tokens"] == 42
    times = read_times(first.folder)
    assert {one.costs["answers"] for one in times.values()} == {3}
    assert all(one.costs["model_seconds"] > 0 and one.costs["kept_answers"] == 0 for one in times.values())
    assert b"tokens" not in (first.folder / "journal-0.jsonl").read_bytes()
    replay_run(first.folder).require_equal()
    server.close()
    again = run(server, tmp_path, name="again", batch_size=1)
    assert again.costs == first.costs | {"kept_answers": 6}
    assert again.rows == first.rows


def test_answers_that_name_nothing_are_followed_by_reminders(server, tmp_path):
    def reply(body, number):
        return choose("turn_left") if len(body["messages"]) > 3 else say("Hello <world>")

    server.reply = reply
    found = run(server, tmp_path, episodes=1, episode_steps=1)
    assert found.rows[0].actions == [2] and len(server.asked) == 2
    said, reminder = server.asked[1]["messages"][2:]
    assert said == {"role": "assistant", "content": "Hello <world>"}
    assert "'Hello <world>'" in reminder["content"] and "move_forward" in reminder["content"]


@pytest.mark.parametrize("said", ["Hello", "", None])
def test_who_never_names_an_action_gets_a_row(server, tmp_path, said):
    server.reply = lambda body, number: say(said)
    found = run(server, tmp_path, "&retries=2")
    assert [row.status for row in found.rows] == ["illegal_action"] * 2
    assert f"from seeing/small, got {said or ''!r} after 2 reminders" in found.rows[0].traceback
    assert len(server.asked) == 6, "the failures are told apart from kept answers"
    assert found.costs["answers"] == 6


def test_who_takes_too_long_gets_a_row(server, tmp_path):
    server.reply = lambda body, number: "hang"
    found = run(server, tmp_path, "&timeout=0.2&retries=1", episodes=1)
    assert found.rows[0].status == "timed_out" and len(server.asked) == 2
    assert "to answer within 0.2 s, got no whole answer (2 attempts)" in found.rows[0].traceback


@pytest.mark.parametrize(
    "fault",
    [
        (429, {"Retry-After": "0"}, b"slow down"),
        (500, {}, b""),
        (503, {"Retry-After": "never"}, b"{}"),
        (200, {}, b"<html>"),
        (200, {}, b'{"choices": []}'),
        (200, {}, b'{"choices": [{"message": {"content": 3}}]}'),
        (200, {"Content-Length": "900"}, b"{"),
        "drop",
    ],
)
def test_passing_faults_are_tried_again(server, tmp_path, fault):
    server.reply = lambda body, number: choose("turn_right") if number == 2 else fault
    if isinstance(fault, tuple) and "Content-Length" in fault[1]:
        server.reply = lambda body, number: choose("turn_right") if number == 2 else (*fault[:2], b"{" * 899)
        options = "&retries=2&timeout=0.5"  # the last byte never comes
    else:
        options = "&retries=2"
    found = run(server, tmp_path, options, episodes=1, episode_steps=1)
    assert found.rows[0].actions == [3] and len(server.asked) == 3


@pytest.mark.parametrize(
    ("fault", "expected", "attempts"),
    [
        ((401, {}, f"bad key {KEY}".encode()), r"status 401 Unauthorized bad key \*\*\*; check", 1),
        ((400, {}, b"no response_format\nhere"), "status 400 Bad Request no response_format here", 1),
        ((302, {"Location": "http://127.0.0.1:9/"}, b""), "status 302 Found", 1),
        ((503, {}, b"loading"), r"status 503 Service Unavailable loading \(2 attempts\)", 2),
        ((200, {}, b"<html>"), "expected JSON, got b'<html>'", 2),
        ("drop", r"no answer from http://127.0.0.1:\d+/v1/chat/completions: .*\(2 attempts\)", 2),
    ],
)
def test_servers_that_refuse_end_the_run_with_one_line(
    server, tmp_path, monkeypatch, capsys, fault, expected, attempts
):
    monkeypatch.setenv("MY_KEY", KEY)
    server.reply = lambda body, number: fault
    words = ["evaluate", "pointnav-v1", "--agent", name_agent(server, "&retries=1&key=MY_KEY")]
    words += ["--episodes", "1", "--out", str(tmp_path / "refused")]
    for _ in range(3):  # however often: the episode is not to blame
        assert main(words) == 2
    lines = [line for line in capsys.readouterr().err.splitlines() if "error" in line.lower()]
    assert len(lines) == 3 and re.search(expected, lines[0]) and lines[0] == lines[2]
    assert len(server.asked) == 3 * attempts
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"


def test_the_key_is_written_nowhere(server, tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("NAVARENA_API_KEY", KEY)
    run(server, tmp_path)
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    answers = list((tmp_path / "cache" / "answers").rglob("*.json"))
    assert len(answers) == 6 and len(files) > 8
    assert not [path for path in files if KEY.encode() in path.read_bytes()]
    assert KEY not in "".join(capfd.readouterr())
    assert KEY not in json.dumps(server.asked)


def test_without_a_key_none_is_sent(server, tmp_path):
    run(server, tmp_path, episodes=1, episode_steps=1)
    assert "Authorization" not in server.headers[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "got no url"),
        ("url=http://h/v1", "got no model"),
        ("url=ftp://h/v1&model=m", "expected a server as http"),
        ("url=http://h:99999/v1&model=m", "expected a server as http"),
        ("url=http://u:p@h/v1&model=m", "without a password, got one for h; put the key"),
        ("url=http://h/v1&model=m&histroy=2", "Did you mean 'history'"),
        ("url=http://h/v1&model=m&history=many", "expected a whole number, got 'many'"),
        ("url=http://h/v1&model=m&history=-1", "expected a history of 0 to 64"),
        ("url=http://h/v1&model=m&history", "expected options of vlm as name=value"),
        ("url=http://h/v1&model=m&model=n", "each once, got 'model=n'"),
        ("url=http://h/v1&model=m&timeout=0", "expected positive timeout"),
        (
            "url=http://h/v1&model=m&timeout=1e10",
            "expected positive timeout of at most 1,000,000,000, got 1e",
        ),
        ("url=http://h/v1&model=m&temperature=-1", "expected a temperature of at least 0"),
        ("url=http://h/v1&model=m&key=NOT_SET_HERE", "environment variable NOT_SET_HERE, got none"),
    ],
)
def test_bad_options_are_told_before_anything_runs(text, message):
    with pytest.raises(InputError, match=message) as caught:
        read_settings(text)
    assert "u:p" not in str(caught.value)


def test_options_are_read():
    found = read_settings("url=https://h/v1/&model=org/m%26m&map=true&timeout=2.5")
    assert found == LanguageModelSettings("https://h/v1/", "org/m&m", map=True, timeout=2.5)
    assert found.server.address == "https://h/v1/chat/completions"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{declaration}", "{delcaration}", r"expected in tasks\.\w+.rules of .*, got {delcaration}"),
        ("{said!r}", "{said!r", "expected in again of the prompts .*no braces but of said, names"),
        ("[tasks.default]", "[tasks.other]", r"expected a section \[tasks.default\]"),
        ("[readings]", "[redings]", "prompts .* are damaged"),
        ("gps = ", "gsp = ", r"expected the lines gps, compass in \[readings\]"),
    ],
)
def test_damaged_prompts_are_told(tmp_path, old, new, message):
    path = tmp_path / "own.toml"
    path.write_text(FILE.read_text().replace(old, new))
    with pytest.raises(FileError, match=message):
        read_prompts(path)
    with pytest.raises(FileError):
        read_prompts(tmp_path / "missing.toml")


def test_prompts_of_ones_own(server, tmp_path):
    path = tmp_path / "own.toml"
    path.write_text(FILE.read_text().replace("Go to a point on the floor.", "Kindly go to the point."))
    play(server, "pointnav-v1", 1, f"&prompts={path}")
    assert "Kindly go to the point." in server.asked[0]["messages"][0]["content"]


def test_a_run_does_not_go_on_with_other_prompts(server, tmp_path):
    path = tmp_path / "own.toml"
    path.write_text(FILE.read_text())
    given = {"split": "mini", "episodes": 1, "episode_steps": 2, "out": tmp_path / "run"}
    settings = EvaluationSettings("pointnav-v1", name_agent(server, f"&prompts={path}"), **given)
    evaluate(settings)
    path.write_text(FILE.read_text().replace("Go to a point on the floor.", "Kindly go to the point."))
    with pytest.raises(InputError, match="holds another run: the hashes of the agent's weights and files"):
        evaluate(settings)
    evaluate(replace(settings, fresh=True))
    assert "Kindly go to the point." in server.asked[-1]["messages"][0]["content"]


def test_answers_that_cannot_be_kept_end_the_run(server, tmp_path):
    (cache_folder() / "answers").write_text("a file in the place of the folder")
    given = {"split": "mini", "episodes": 2, "episode_steps": 2, "out": tmp_path / "run"}
    settings = EvaluationSettings("pointnav-v1", name_agent(server), **given)
    with pytest.raises(StorageError, match="cannot write .*answers"):
        evaluate(settings)
    (cache_folder() / "answers").unlink()
    assert [row.status for row in evaluate(settings).rows] == ["step_limit"] * 2


def test_unfit_tasks_are_refused(server):
    with pytest.raises(InputError, match="expected a protocol of discrete actions for the agent 'vlm'"):
        load_agent(name_agent(server), get_task("objectnav-stretch2023-v1"))
    with pytest.raises(InputError, match="expected an agent for navigation graphs"):
        load_agent(name_agent(server), get_task("r2r-v1"))
    with pytest.raises(NavarenaError, match="got no url"):
        load_agent("vlm", get_task("pointnav-v1"))


def test_equal_questions_are_asked_once(server):
    _, batch = play(server, "pointnav-v1", 0)
    agent = load_agent(name_agent(server, "&cache=false"), batch.task)
    agent.reset([Start(0, "a", "s"), Start(1, "b", "s")])
    observations = {name: value[[0, 0]] for name, value in batch.observations.items()}
    assert agent.act(observations, np.ones(2, bool)).tolist() == [1, 1] and len(server.asked) == 1
    assert agent.episode_costs(0) == agent.episode_costs(1) and agent.episode_costs(0)["answers"] == 1


def test_one_problem_does_not_waste_the_other_answer(server):
    agent, batch = play(server, "pointnav-v1", 0)
    server.reply = lambda body, number: choose("turn_left") if number else (404, {}, b"")
    with pytest.raises(ServiceUnreachableError, match="status 404"):
        agent.act(batch.observations, np.ones(2, bool))
    assert len(list((cache_folder() / "answers").rglob("*.json"))) == 1
