"""Formats of episode files, and one JSON file opened in its format.

A file is read piece by piece: `Content` takes it apart into episodes and goals that stay text,
`OpenDocument` turns single ones into records and episodes, `Document` is the whole of it, for writing.
"""

import math
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Raw

from navarena.core.errors import FileError, describe_choices
from navarena.core.files import DAMAGE, decode_json, describe_damage, translate_damage
from navarena.episodes.episode import Episode
from navarena.episodes.exchange.json_files import explain_bad_json, read_json_bytes, write_json_bytes
from navarena.episodes.exchange.records import (
    Quaternion,
    Record,
    decode_record,
    encode_record,
    raw_yaw_of,
    tilt_of,
    yaw_of,
)
from navarena.episodes.goals import ObjectInstance

UNIT_TOLERANCE = 1e-3
"""By which the length of a quaternion may differ from 1: files round to five decimals."""

MAX_TILT_DEGREES = 1.0
"""Between a start and the vertical; more is warned of, for bodies stand upright."""

_ROW_NUMBER = re.compile(r"/\d+(?=/|$)")


@dataclass(frozen=True)
class EpisodeFormat:
    """A layout of episode files.

    Attributes:
        name: such as "habitat-pointnav".
        title: for people.
        task: the word for it in ids of protocols, such as "pointnav" or "ovon".
        record: type of one episode.
        convert: an episode of ours from a record and its row.
        goals_key: top-level key of the map of goals; empty for none.
        goal: type of one goal in that map.
        goal_lists: whether the map holds lists of goals (else single ones).
        is_list: whether the file is a bare list of episodes.
        header: documented fields at the top level, beside episodes and goals.
        scene_field: field of an episode that names its scene.
        id_field: field of an episode that names it.
        make_id: the id of ours that `convert` makes of scene, id and row, if nothing else is needed for it;
            None where only `convert` knows.
        recognises: whether the fields of a file's first episode are those of this format; for formats
            that a package adds, as None is for those of navarena.
    """

    name: str
    title: str
    task: str
    record: type[Record]
    convert: Callable[[Any, "Row"], Episode]
    goals_key: str = ""
    goal: type[Record] | None = None
    goal_lists: bool = True
    is_list: bool = False
    header: tuple[str, ...] = ()
    scene_field: str = "scene_id"
    id_field: str = "episode_id"
    make_id: Callable[[str, str | int, int], str] | None = None
    recognises: Callable[[Mapping[str, Any]], bool] | None = None


class Content:
    """One JSON file, split into the texts of its episodes and goals, which are decoded when they are read.

    Attributes:
        path: of the file.
        is_list: whether it is a bare list of episodes.
        top: the top level, each value as text, in order; empty for a list.
        episodes: each as text.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        data = read_json_bytes(path)
        self.is_list = data.lstrip()[:1] == b"["
        with translate_damage(f"episode file {path}"):
            try:
                if self.is_list:
                    self.top: dict[str, Raw] = {}
                    self.episodes = msgspec.json.decode(data, type=list[Raw])
                    return
                self.top = msgspec.json.decode(data, type=dict[str, Raw])
                self.episodes = msgspec.json.decode(self.top.get("episodes", b"[]"), type=list[Raw])
            except msgspec.ValidationError as error:
                raise FileError(
                    f"expected a list of episodes, or an object that holds one, in {path}: {error}"
                ) from error
            except msgspec.DecodeError as error:
                raise explain_bad_json(path, data, error) from error

    def first_episode(self) -> dict[str, Any]:
        """The fields of the first episode, empty without one; raises FileError when it is no object."""
        if not self.episodes:
            return {}
        episode = decode_json(self.episodes[0], f"episode file {self.path}, episode 0")
        if not isinstance(episode, dict):
            raise FileError(
                f"expected episodes that are JSON objects, got {type(episode).__name__} in {self.path}"
            )
        return episode


class Notices:
    """Notices about the content of a data set, collected while it is read.

    Attributes:
        unknown_fields: name, such as "goals[].colour" -> where it was first seen, for every field
            met up to now that the format does not document. All of them are kept.
        mended: what was mended, one text for each JSON file.
    """

    def __init__(self) -> None:
        self.unknown_fields: dict[str, str] = {}
        self.mended: dict[Path, str] = {}
        self._reported: set[tuple[Path, str]] = set()

    def add_unknown(self, record: Record, prefix: str, where: Callable[[], str]) -> None:
        """Remember the unknown fields of a record."""
        for place in record.unknown:
            name = prefix + _ROW_NUMBER.sub("[]", place)[1:].replace("/", ".")
            if name not in self.unknown_fields:
                self.unknown_fields[name] = where()

    def mend(self, path: Path, kind: str, text: str) -> None:
        """Warn, once of each kind for each JSON file."""
        if (path, kind) not in self._reported:
            self._reported.add((path, kind))
            self.mended[path] = f"{self.mended[path]}; {text}" if path in self.mended else text
            warnings.warn(text, EpisodeFileWarning, stacklevel=2)


class EpisodeFileWarning(UserWarning):
    """Something in an episode file was mended while it was read."""


@dataclass(frozen=True)
class Document:
    """The whole content of one JSON file, typed.

    Attributes:
        format: its layout.
        episodes: records of the format.
        goals: key -> goals of that key; empty for formats without a map of goals.
        header: other top-level fields, in order, with None in the place of episodes and goals.
    """

    format: EpisodeFormat
    episodes: Sequence[Record]
    goals: Mapping[str, Sequence[Record]] = field(default_factory=dict)
    header: Mapping[str, Any] = field(default_factory=dict)


def encode_document(document: Document) -> bytes:
    """The JSON text of a document: equal values to the file it was read from, in their order."""
    layout = document.format
    episodes = Raw(b"[" + b",".join(encode_record(record) for record in document.episodes) + b"]")
    if layout.is_list:
        return bytes(episodes)
    content: dict[str, Any] = dict(document.header)
    content["episodes"] = episodes
    if document.goals or layout.goals_key in content:
        content[layout.goals_key] = {
            key: _encode_goals(layout, goals) for key, goals in document.goals.items()
        }
    return msgspec.json.encode(content)


def _encode_goals(layout: EpisodeFormat, goals: Sequence[Record]) -> Raw:
    encoded = b",".join(encode_record(goal) for goal in goals)
    return Raw(b"[" + encoded + b"]") if layout.goal_lists else Raw(encoded)


def write_document(document: Document, path: Path) -> None:
    """Write a document as JSON (gzip when `path` ends in .gz); raises StorageError."""
    write_json_bytes(path, encode_document(document))


class Row:
    """One episode of an open file, as the `convert` of its format sees it.

    Attributes:
        index: row in the JSON file.
    """

    def __init__(self, document: "OpenDocument", index: int) -> None:
        self._document, self.index = document, index

    @property
    def header(self) -> Mapping[str, Any]:
        """The top level of the file, with None in the place of episodes and goals."""
        return self._document.header

    def header_numbers(self, key: str) -> Mapping[str, int]:
        """Category name -> number, from the top level of the file; empty where it has no such map."""
        return self._document.header_numbers(key)

    def goals(self, key: str) -> tuple[Record, ...]:
        """The goals under `key` of the file's map of goals; raises FileError when there are none."""
        keys = self._document.goal_keys
        if key not in keys:
            name = self._document.format.goals_key
            got = describe_choices(keys) if keys else "no goals at all"
            raise self.error(name, f"expected goals under {key!r}, got {got}; download the file again")
        return self._document.goals(key)

    def has_goals(self, key: str) -> bool:
        """Whether the file's map of goals has `key`."""
        return key in self._document.goal_keys

    def instances(
        self, key: str, make: Callable[[], tuple[ObjectInstance, ...]]
    ) -> tuple[ObjectInstance, ...]:
        """The objects of `key`, made by `make` at the first call: episodes share them."""
        known = self._document.instances
        if key not in known:
            known[key] = make()
        return known[key]

    def yaw(self, rotation: Quaternion) -> float:
        """Yaw in radians; a rotation that is not of unit length is normalised, with one warning per file.

        Raises FileError for a rotation of length zero.
        """
        x, y, z, w = rotation
        length = (x * x + y * y + z * z + w * w) ** 0.5
        if length < 1e-9:
            raise self.error("start_rotation", f"expected a rotation, got {list(rotation)} of length zero")
        if self._document.is_raw:
            return raw_yaw_of(rotation)
        if abs(length - 1) > UNIT_TOLERANCE:
            self._mend(
                "length", f"are not of unit length (episode {self.index}: {length:.3g}); they are normalised"
            )
        tilt = math.degrees(tilt_of(rotation))
        if tilt > MAX_TILT_DEGREES:
            self._mend("tilt", f"tilt the body (episode {self.index}: {tilt:.0f} degrees); it stands upright")
        return yaw_of(rotation)

    def _mend(self, kind: str, text: str) -> None:
        path = self._document.path
        self._document.notices.mend(path, kind, f"rotations in {path} {text}")

    def error(self, field: str, problem: str) -> FileError:
        """The error that names file, episode and `field`; `problem` is "expected ..., got ...; ..."."""
        return FileError(f"{self._document.where(self.index)}, field {field}: {problem}")


class OpenDocument:
    """One JSON file whose episodes and goals are read on demand.

    Args:
        content: the file, taken apart.
        layout: its format.
        notices: takes note of what is mended and what is unknown.
        is_raw: whether rotations that are not of unit length are read by `raw_yaw_of`.

    Attributes:
        instances: objects that episodes share, by a key that the format chooses.
    """

    def __init__(
        self, content: Content, layout: EpisodeFormat, notices: Notices, is_raw: bool = False
    ) -> None:
        self.is_raw = is_raw
        self.path, self.format, self.notices = content.path, layout, notices
        self._content = content
        self._goals: dict[str, tuple[Record, ...]] = {}
        self._header_numbers: dict[str, dict[str, int]] = {}
        self.instances: dict[str, tuple[ObjectInstance, ...]] = {}
        known = {"episodes", layout.goals_key, *layout.header}
        for key in content.top:
            if key not in known:
                notices.unknown_fields.setdefault(f"(top level) {key}", f"episode file {self.path}")

    def __len__(self) -> int:
        return len(self._content.episodes)

    @cached_property
    def header(self) -> dict[str, Any]:
        """Top-level fields in order; None in the place of episodes and goals."""
        large = {"episodes", self.format.goals_key}
        return {
            key: None if key in large else decode_json(text, f"episode file {self.path}, field {key}")
            for key, text in self._content.top.items()
        }

    def header_numbers(self, key: str) -> dict[str, int]:
        """A map of category names to numbers from the top level; empty where the file has none."""
        if key not in self._header_numbers:
            try:
                found = msgspec.convert(self.header.get(key) or {}, dict[str, int])
            except msgspec.ValidationError:
                found = {}
            self._header_numbers[key] = found
        return self._header_numbers[key]

    @cached_property
    def scene_ids(self) -> tuple[str, ...]:
        """The scene of each episode, as written; read without the rest of the episodes."""
        return tuple(scene for scene, _ in self._read_names())

    def _read_names(self) -> list[tuple[str, str | int]]:
        """Scene and id of each episode, as written."""
        names = self.format.scene_field, self.format.id_field
        decoder = msgspec.json.Decoder(msgspec.defstruct("Names", [(names[0], str), (names[1], str | int)]))
        try:
            return [msgspec.structs.astuple(decoder.decode(text)) for text in self._content.episodes]  # type: ignore[misc]
        except (msgspec.ValidationError, RecursionError):
            return [(str(getattr(one, names[0])), getattr(one, names[1])) for one in self.records()]

    @property
    def ids(self) -> Iterator[str]:
        """The id of each of our episodes, read without the rest of them where the format allows it."""
        make_id = self.format.make_id
        if make_id is None:
            return (self.episode(index).episode_id for index in range(len(self)))
        return (make_id(scene, name, index) for index, (scene, name) in enumerate(self._read_names()))

    @cached_property
    def goal_keys(self) -> dict[str, Raw]:
        """Keys of the map of goals, with their text."""
        text = self._content.top.get(self.format.goals_key) if self.format.goals_key else None
        if text is None:
            return {}
        name = f"episode file {self.path}, field {self.format.goals_key}"
        return decode_json(text, name, dict[str, Raw])  # type: ignore[no-any-return]

    def where(self, index: int) -> str:
        """Names an episode in messages: file, row and id."""
        try:
            name = msgspec.json.decode(self._content.episodes[index]).get(self.format.id_field)
        except (msgspec.DecodeError, AttributeError, RecursionError):
            name = None
        known = "" if name is None else f" (id {name!r})"
        return f"episode file {self.path}, episode {index}{known}"

    def record(self, index: int) -> Record:
        """The typed record of row `index`; raises FileError naming file, episode and field."""
        try:
            record = decode_record(self._content.episodes[index], self.format.record, "")
        except FileError:  # naming the episode costs time that good ones need not pay
            return decode_record(self._content.episodes[index], self.format.record, self.where(index))
        if record.unknown:
            self.notices.add_unknown(record, "", lambda: self.where(index))
        return record

    def records(self) -> Iterator[Record]:
        """All typed records, in order."""
        return (self.record(index) for index in range(len(self)))

    def goals(self, key: str) -> tuple[Record, ...]:
        """The typed goals of one key; raises FileError naming file, key and field."""
        if key not in self._goals:
            kind = self.format.goal or Record
            where = f"episode file {self.path}, {self.format.goals_key}[{key!r}]"
            text = self.goal_keys[key]
            if not self.format.goal_lists:
                self._goals[key] = (decode_record(text, kind, where),)
            else:
                texts = decode_json(text, where, list[Raw], "mend the file or download it again")
                self._goals[key] = tuple(
                    decode_record(one, kind, f"{where}[{k}]") for k, one in enumerate(texts)
                )
            for goal in self._goals[key]:
                self.notices.add_unknown(goal, f"{self.format.goals_key}[].", lambda: where)
        return self._goals[key]

    def read(self) -> Document:
        """The whole file, typed."""
        goals = {key: self.goals(key) for key in self.goal_keys}
        return Document(self.format, tuple(self.records()), goals, self.header)

    def episode(self, index: int) -> Episode:
        """Our episode of row `index`; raises FileError naming file, episode and field."""
        record = self.record(index)
        try:
            return self.format.convert(record, Row(self, index))
        except DAMAGE as error:  # naming the episode costs time that good ones need not pay
            raise describe_damage(self.where(index), error) from error
