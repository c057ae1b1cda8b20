"""Descriptions by a writer: a local server that this test starts, and the checks of what it says."""

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import numpy as np
import pytest

from navarena.core.errors import FileError, InputError
from navarena.core.seeding import make_generator
from navarena.episodes.goals import Subtask
from navarena.episodes.goat import Description, GoalPool, Relation, names_of_split
from navarena.episodes.goat.generated_descriptions import (
    NOT_NAMED,
    NOT_UNIQUE,
    TOO_LONG,
    ask_for_words,
    find_stated_facts,
    strip_beginning,
    take_portrait,
    write_description,
)
from navarena.episodes.goat.writers import HttpWriter, make_writer
from navarena.episodes.language import Landmark
from navarena.simulation.body_catalog import STRETCH
from navarena.simulation.world import open_world

KNOWN = Description(
    "couch",
    (("color", "white"), ("material", "leather")),
    "living room",
    (Relation("left of", (Landmark("tv_stand"),)), Relation("near", (Landmark("plant"),))),
)


@pytest.fixture
def server():
    """A server that answers what `said` holds, and keeps what it was asked."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            one.asked.append((self.path, asked))
            content = asked["messages"][0]["content"]
            text = "a soft thing" if isinstance(content, list) else one.said
            body = one.body or json.dumps({"choices": [{"message": {"content": text}}]}).encode()
            self.send_response(one.status)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *parts):
            pass

    one = HTTPServer(("127.0.0.1", 0), Handler)
    one.asked, one.said, one.body, one.status = [], "", b"", 200
    one.url = f"http://127.0.0.1:{one.server_address[1]}/v1#tiny"
    thread = threading.Thread(target=one.serve_forever, daemon=True)
    thread.start()
    yield one
    one.shutdown()
    thread.join()
    one.server_close()


@pytest.fixture(scope="module")
def world():
    return open_world("houses-v1/val/00000", STRETCH)


@pytest.fixture(scope="module")
def subtask(world):
    """Of an object whose name fits others, too, so that words must tell it apart."""
    pool = GoalPool(world, names_of_split(""))
    for choice in pool.choices("description"):
        bare = Description(choice.name, ())
        known = pool.describer.describe(choice.object_id, choice.name)
        if len(pool.describer.matches(bare)) > 1 and known.relations:
            return pool.subtask(choice, make_generator("written"))
    raise AssertionError("expected such a thing")


def test_unique_words_take_the_place_of_the_grammars(server, world, subtask):
    server.said = f'Instruction: Find the {subtask.description}"\nInstruction: Find the other.'
    found = write_description(world, subtask, make_writer(server.url), make_writer(server.url))
    assert (found.text, found.refused) == (subtask.description, "")
    (path, captioned), (_, asked) = server.asked
    assert path == "/v1/chat/completions" and asked["model"] == "tiny" and asked["temperature"] == 0
    question, image = captioned["messages"][0]["content"]
    assert subtask.category in question["text"]
    assert image["image_url"]["url"].startswith("data:image/png;base64,")
    assert "a soft thing" in asked["messages"][0]["content"], "the caption is given to the model of language"


@pytest.mark.parametrize(
    ("said", "refused"),
    [
        ("Find the {name}.", NOT_UNIQUE),
        ("Find the thing beside the wall.", NOT_NAMED),
        ("", NOT_NAMED),
        ("Find the {name}" + " very" * 60 + " far away.", TOO_LONG),
    ],
)
def test_words_that_tell_nothing_apart_are_refused(server, world, subtask, said, refused):
    server.said = said.format(name=subtask.category)
    found = write_description(world, subtask, HttpWriter(server.url))
    assert (found.text, found.answer, found.refused) == (subtask.description, server.said, refused)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Instruction: Find the white couch.", "white couch."),
        ("\n 'Go to the desk near the plant.'\nmore", "desk near the plant."),
        ("Please navigate to a chair in the study", "chair in the study"),
        ("Instruction:\nLocate the sink.", "sink."),
        ("armchair by the window", "armchair by the window"),
    ],
)
def test_beginnings_are_taken_off(answer, expected):
    assert strip_beginning(answer) == expected


def test_only_facts_that_are_told_count():
    text = "white couch to the left of the TV stand in the living room, with a plant"
    stated = find_stated_facts(text, KNOWN)
    assert stated.attributes == (("color", "white"),) and stated.room == "living room"
    assert [one.kind for one in stated.relations] == ["left of"], "nothing says how it lies to the plant"
    assert find_stated_facts("couch", KNOWN) == Description("couch", ())


def test_the_question_holds_all_facts():
    question = ask_for_words(KNOWN, "it is soft")
    for part in ("couch", "white, leather", "living room", "left of the tv stand", "near the plant", "55"):
        assert part in question, part
    assert question.endswith("Instruction:") and "it is soft" in question


def test_portraits_show_the_thing_in_the_middle(world, subtask):
    number = int(subtask.instances[0].object_id)
    image = take_portrait(world, number)
    assert image.shape == (512, 512, 3) and image.std() > 5


def test_goals_of_others_are_refused(server, world, subtask):
    with pytest.raises(InputError, match="expected a description that navarena made"):
        write_description(
            world, Subtask("object", subtask.category, subtask.instances), HttpWriter(server.url)
        )


@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        (500, b"", "no answer from .*Internal Server Error.*leave --writer out"),
        (200, b"not json", "no answer from"),
        (200, b'{"choices": []}', r"expected choices\[0\]"),
        (200, b'{"choices": [{"message": {"content": 3}}]}', "expected a text .* got int"),
    ],
)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_servers_that_fail_are_told(server, status, body, message):
    server.status, server.body = status, body
    with pytest.raises(InputError, match=message):
        HttpWriter(server.url).answer("?", np.zeros((2, 2, 3), np.uint8))


def test_servers_that_are_not_there_are_told(tmp_path):
    with pytest.raises(InputError, match="no answer from http://127.0.0.1:9/v1"):
        make_writer("http://127.0.0.1:9/v1").answer("?")
    with pytest.raises(InputError, match="expected http://HOST"):
        make_writer("gpt")
    with pytest.raises(FileError, match="navarena downloads none"):
        make_writer(f"transformers:{tmp_path}")
