"""What is written is what was read: every number, every null, every field nobody knows."""

import copy
import gzip
import json
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navarena.episodes.exchange import EPISODE_FORMATS, EpisodeFileWarning, encode_document, open_episode_file
from navarena.episodes.exchange.records import decode_record, encode_record

from .samples import HM3D, LAYOUTS, OVON, POINTNAV, episodes_of, exact, store


def read_back(path):
    """The content of what is written from what is read at `path`."""
    return json.loads(encode_document(open_episode_file(path).document(0).read()))


def list_episodes(file):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EpisodeFileWarning)
        return list(file.episodes)


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("suffix", [".json", ".json.gz"])
def test_every_layout_is_told_by_its_content_and_comes_back(tmp_path, name, suffix):
    layout, content = LAYOUTS[name]
    path = store(tmp_path / f"whatever{suffix}", content)
    file = open_episode_file(path)
    assert file.format is EPISODE_FORMATS.get(layout)
    copied = tmp_path / f"copy{suffix}"
    file.write(copied)
    written = copied.read_bytes()
    assert exact(json.loads(gzip.decompress(written) if suffix.endswith("gz") else written)) == exact(content)
    assert exact(read_back(path)) == exact(content)
    file.write(copied)
    assert copied.read_bytes() == written
    assert len(list_episodes(file)) == len(episodes_of(content)) == len(file.episodes)
    assert not file.notices.unknown_fields


@pytest.mark.parametrize("name", LAYOUTS)
def test_unknown_fields_are_kept_and_named(tmp_path, name):
    content = copy.deepcopy(LAYOUTS[name][1])
    wanted = {"author", "deep"}
    first = episodes_of(content)[0]
    first["author"] = {"a/b": [1, 2.0, {"~": None}]}
    first["deep"] = "x"
    if isinstance(first.get("info"), dict):
        first["info"]["per/cent"] = 1e-7
        wanted.add("info.per~1cent")
    if isinstance(content, dict):
        content["version"] = 3
        wanted.add("(top level) version")
    for key in ("goals", "goals_by_category"):
        for goals in content.get(key, {}).values() if isinstance(content, dict) else ():
            one = goals if isinstance(goals, dict) else goals[0]
            one["colour"] = "red"
            one["view_points"][1]["agent_state"]["tilt"] = 0
            wanted |= {f"{key}[].colour", f"{key}[].view_points[].agent_state.tilt"}
    path = store(tmp_path / "file.json", content)
    assert exact(read_back(path)) == exact(content)
    file = open_episode_file(path)
    list_episodes(file)
    assert set(file.notices.unknown_fields) == wanted
    assert all(str(path) in place for place in file.notices.unknown_fields.values())


def test_a_stub_and_its_folder_come_back(tmp_path):
    stub = {**HM3D, "episodes": [], "goals_by_category": {}}
    path = store(tmp_path / "val" / "val.json.gz", stub)
    for scene in ("b", "a"):
        content = copy.deepcopy(HM3D)
        for episode in content["episodes"]:
            episode["scene_id"] = f"hm3d/val/{scene}/{scene}.glb"
        content["goals_by_category"] = {
            f"{scene}.glb_bed": HM3D["goals_by_category"]["TEEsavR23oF.basis.glb_bed"]
        }
        store(tmp_path / "val" / "content" / f"{scene}.json.gz", content)
    file = open_episode_file(path)
    assert file.scene_names == ("a", "b") and file.split == "val"
    assert open_episode_file(tmp_path / "val").scene_names == ("a", "b")
    assert open_episode_file(tmp_path / "val" / "content").split == "val"
    file.write(tmp_path / "copy" / "val.json.gz")
    again = open_episode_file(tmp_path / "copy" / "val.json.gz")
    assert [part.name for part in again.parts] == ["val.json.gz", "a.json.gz", "b.json.gz"]
    assert again.hash == open_episode_file(tmp_path / "copy" / "val.json.gz").hash
    assert list(again.episodes) == list(file.episodes)
    assert exact(read_back(tmp_path / "copy" / "content" / "a.json.gz")) == exact(
        read_back(tmp_path / "val" / "content" / "a.json.gz")
    )


def test_a_copy_keeps_the_order_of_fields_and_so_its_hash(tmp_path):
    """As a script may have written them: fields backwards, numbers and spaces in its own fashion."""
    turned = {key: POINTNAV[key] for key in reversed(POINTNAV)}
    turned["episodes"] = [{key: one[key] for key in reversed(one)} for one in POINTNAV["episodes"]]
    path = tmp_path / "one.json"
    path.write_text(json.dumps(turned, indent=3).replace(": 0.0,", ": 0.00e0,"))
    file = open_episode_file(path)
    file.write(tmp_path / "two.json.gz")
    copied = open_episode_file(tmp_path / "two.json.gz")
    assert copied.hash == file.hash
    assert gzip.decompress((tmp_path / "two.json.gz").read_bytes()) == path.read_bytes()


def test_the_hash_knows_the_text_and_not_the_file(tmp_path):
    plain = open_episode_file(store(tmp_path / "one.json", POINTNAV))
    packed = open_episode_file(store(tmp_path / "two.json.gz", POINTNAV))
    other = open_episode_file(store(tmp_path / "three.json", {**POINTNAV, "more": 1}))
    assert plain.hash == packed.hash != other.hash


FINITE = st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | FINITE | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
NUMBER = st.integers(-1000, 1000) | st.floats(-1e6, 1e6)


@settings(max_examples=40, deadline=None)
@given(more=st.dictionaries(st.text(min_size=1), JSON, max_size=3), place=st.tuples(NUMBER, NUMBER, NUMBER))
def test_any_number_and_any_unknown_field_survives(more, place):
    kind = EPISODE_FORMATS.get("habitat-pointnav").record
    known = POINTNAV["episodes"][0]
    content = {**more, **known, "start_position": list(place), "info": {**more, **known["info"]}}
    record = decode_record(json.dumps(content).encode(), kind, "here")
    assert exact(json.loads(encode_record(record))) == exact(content)


def without(content, *names, first=()):
    """`content` without some fields at the top, and without others in its first episode."""
    episodes = [dict(one) for one in content["episodes"]]
    for name in first:
        del episodes[0][name]
    return {**{key: value for key, value in content.items() if key not in names}, "episodes": episodes}


NO_EPISODES = {"episodes": [], "goals_by_category": {}}
MAPS = {key: HM3D[key] for key in HM3D if key.startswith("category_to")}
BARE = without(HM3D, *MAPS)
ELSEWHERE = {**BARE, "episodes": [{**one, "scene_id": "s/TEEsavR23oF.basis.glb"} for one in BARE["episodes"]]}
TWO = {**OVON, "episodes": [OVON["episodes"][0]] * 2}
CHILDLESS = without(TWO, first=("children_object_categories",))
"""Of the first episode alone."""
NONE_AT_ALL = {**HM3D, "goals_by_category": OVON["goals_by_category"]}
"""A part of OVON of whose episodes none has children."""


@pytest.mark.parametrize(
    ("stub", "parts", "layout", "counts"),
    [
        ({"episodes": []}, (NO_EPISODES, OVON), "ovon", (0, 1)),
        ({"episodes": []}, (OVON, NO_EPISODES), "ovon", (1, 0)),
        ({"episodes": []}, (OVON, CHILDLESS), "ovon", (1, 2)),
        ({"episodes": []}, (CHILDLESS, OVON), "ovon", (2, 1)),
        ({"episodes": []}, (OVON, NONE_AT_ALL), "ovon", (1, 2)),
        ({"episodes": [], **MAPS}, (OVON, NO_EPISODES), "ovon", (1, 0)),
        ({"episodes": [], **MAPS}, (NO_EPISODES, BARE), "habitat-objectnav-hm3d", (0, 2)),
        ({"episodes": [], **MAPS}, (ELSEWHERE, NO_EPISODES), "habitat-objectnav-hm3d", (2, 0)),
        ({"episodes": []}, (ELSEWHERE, HM3D), "habitat-objectnav-hm3d", (2, 2)),
        ({"episodes": []}, (BARE, NO_EPISODES), "habitat-objectnav-hm3d", (2, 0)),
        ({"episodes": []}, (ELSEWHERE, NO_EPISODES), "habitat-objectnav-mp3d", (2, 0)),
    ],
)
def test_parts_of_objectnav_have_the_format_of_the_first_that_shows_it(tmp_path, stub, parts, layout, counts):
    path = store(tmp_path / "val.json", stub)
    for name, content in zip("ab", parts, strict=True):
        store(tmp_path / "content" / f"{name}.json", content)
    file = open_episode_file(path)
    assert file.format.name == layout
    assert [len(document) for document in file.documents()] == [0, *counts]
    assert len(list(file.episodes)) == sum(counts)
