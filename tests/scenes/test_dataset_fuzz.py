"""Whatever is cut off, changed or swapped in a dataset's text files: our errors, and no others."""

import copy
import json
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from dataset_samples import (
    GIBSON_TABLE,
    HM3D_TABLE,
    MP3D_HOUSE,
    procthor_assets,
    procthor_house,
    replica_table,
    write_habitat,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from navarena.core.errors import NavarenaError
from navarena.scenes.datasets import get_dataset
from navarena.scenes.datasets.gibson import _object_records, _rooms
from navarena.scenes.datasets.hm3d import read_annotations
from navarena.scenes.datasets.mp3d_house import read_house as read_mp3d
from navarena.scenes.datasets.mp3d_house import region_outline
from navarena.scenes.datasets.procthor_house import read_assets, read_house
from navarena.scenes.datasets.procthor_mesh import build_scene
from navarena.scenes.datasets.replica import read_objects

ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 10**12),
    st.floats(allow_nan=True, allow_infinity=True),
    st.text(max_size=4),
    st.just([]),
    st.just({}),
    st.just([1, 2, 3]),
    st.just({"x": 1, "y": 2, "z": 3}),
)


def _places(value, path=()):
    """Every place in a JSON document."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from _places(item, (*path, key))


def _changed(document, place, value):
    if not place:
        return value
    document = copy.deepcopy(document)
    inner = document
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    return document


def _text_survives(read, text, data):
    """Reads `text` cut off, and with one word swapped."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        cut = data.draw(st.integers(1, len(text)))
        words = text.split(" ")
        words[data.draw(st.integers(0, len(words) - 1))] = data.draw(st.sampled_from(["", "-1", "x", "9e99"]))
        for broken in (text[:cut], " ".join(words)):
            path.write_text(broken or " ")
            with suppress(NavarenaError):
                read(path)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_lists_of_hm3d(data):
    _text_survives(read_annotations, HM3D_TABLE, data)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_houses_of_mp3d(data):
    def read(path):
        house = read_mp3d(path)
        for region in house.regions.values():
            region_outline(house, region)

    _text_survives(read, MP3D_HOUSE, data)


@cache
def _all_places(name):
    return tuple(_places(DOCUMENTS[name]))


DOCUMENTS = {
    "gibson": GIBSON_TABLE,
    "replica": replica_table(),
    "procthor": procthor_house(),
    "assets": procthor_assets(),
}


@pytest.mark.parametrize("name", sorted(DOCUMENTS))
@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_json_documents(name, data):
    place = data.draw(st.sampled_from(_all_places(name)))
    broken = _changed(DOCUMENTS[name], place, data.draw(ODD))
    path = Path("file")
    with suppress(NavarenaError):
        if name == "gibson":
            _object_records(broken, path)
            _rooms(broken, path)
        elif name == "replica":
            with TemporaryDirectory() as folder:
                file = Path(folder) / "info.json"
                file.write_text(json.dumps(broken))
                read_objects(file)
        elif name == "assets":
            read_assets(broken, path)
        else:
            build_scene(read_house(broken, path), read_assets(procthor_assets(), path), "t", path)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_habitat_configurations(data):
    with TemporaryDirectory() as folder:
        root = write_habitat(Path(folder) / "tiny")
        name = data.draw(st.sampled_from(sorted(path.name for path in root.rglob("*.json"))))
        file = next(root.rglob(name))
        content = json.loads(file.read_text())
        place = data.draw(st.sampled_from(list(_places(content))))
        file.write_text(json.dumps(_changed(content, place, data.draw(ODD))))
        dataset = get_dataset("habitat")
        with suppress(NavarenaError):
            dataset.build(dataset.locate(root, "one"), "t")
