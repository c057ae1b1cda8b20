"""Compact episode lists: compressed columns of whole numbers.

A file is an xz stream. Its first line is a JSON header (`_Header`), the rest are its columns in order, each
of N unsigned 32-bit numbers, stored byte by byte: all lowest bytes first, then the next, and so on. What
a column holds is the number plus the column's `low`: millimetres, milliradians, or rows of the header's
lists. So 1,000 episodes of PointNav take 11 kB.
"""

import lzma
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import numpy as np
from jaxtyping import Int64

from navarena.core.errors import FileError, InputError
from navarena.core.files import read_bytes, translate_damage, write_atomic
from navarena.core.seeding import scene_name
from navarena.episodes.dataset import EpisodeDataset
from navarena.episodes.episode import Episode
from navarena.episodes.goals import Goal, MultiGoal, ObjectGoal, ObjectInstance, PointGoal, Position
from navarena.episodes.sampling import PER_METRE, PER_RADIAN

FORMAT = "navarena-list-v1"
SUFFIX = ".list.xz"

_PLANES = 4
"""Bytes of a number."""


class _Header(msgspec.Struct, forbid_unknown_fields=True):
    """Header of a list: its identity and the vocabulary of its columns.

    Attributes:
        goal: kind of all goals: "point", "category" or "several".
        words: categories; of "several", by class id.
        labels: of difficulty.
        tilts: radians, of the camera at the start.
        low: column -> its least number, in the order of the columns.
    """

    format: str
    protocol_id: str
    name: str
    split: str
    seed: int
    dropped: int
    hash: str
    episodes: int
    goal: str
    words: list[str]
    labels: list[str]
    tilts: list[float]
    scenes: list[str]
    low: dict[str, int]


_Columns = dict[str, Int64[np.ndarray, "n"]]


def write_list(dataset: EpisodeDataset, path: Path, words: Sequence[str] = ()) -> None:
    """Write a list whose places are whole millimetres; equal lists give equal bytes.

    Args:
        dataset: its goals are points, categories without their objects, or several objects of known
            classes, the same number in each episode.
        path: ends in ".list.xz".
        words: categories by class id; those of the goals when none are given.

    Raises InputError for episodes that the format cannot hold without loss.
    """
    text = _encode(dataset, words)
    if _decode(text)[1].hash != dataset.hash:
        raise InputError(
            f"expected episodes that whole millimetres and known words can hold, got others in "
            f"{dataset.name}/{dataset.split}; save them as JSON"
        )
    write_atomic(path, lzma.compress(text, preset=9 | lzma.PRESET_EXTREME))


def read_list(path: Path) -> EpisodeDataset:
    """Read what `write_list` wrote; raises FileError for a damaged file."""
    data = read_bytes(path, "episode list")
    with translate_damage(f"episode list {path}", "install navarena again"):
        header, dataset = _decode(lzma.decompress(data))
    if header.format != FORMAT or dataset.hash != header.hash:
        raise FileError(
            f"episode list {path}: expected format {FORMAT} and hash {header.hash}, got {header.format} and "
            f"{dataset.hash}; install navarena again"
        )
    return dataset


def _encode(dataset: EpisodeDataset, words: Sequence[str]) -> bytes:
    """The text of a list, before it is compressed."""
    episodes = tuple(dataset.episodes)
    kind = _kind_of(episodes)
    found = dict.fromkeys(word for one in episodes for word in _words_of(one.goal))
    header = _Header(
        FORMAT,
        dataset.protocol_id,
        dataset.name,
        dataset.split,
        dataset.seed,
        dataset.dropped,
        dataset.hash,
        len(episodes),
        kind,
        list(words or sorted(found)),
        list(dict.fromkeys(one.difficulty for one in episodes)),
        list(dict.fromkeys(one.start_tilt for one in episodes)),
        list(dict.fromkeys(one.scene_id for one in episodes)),
        {},
    )
    columns = _columns_of(episodes, header)
    header.low = {name: int(column.min()) for name, column in columns.items()}
    data = b"".join(_planes(column - header.low[name]) for name, column in columns.items())
    return msgspec.json.encode(header) + b"\n" + data


def _decode(text: bytes) -> tuple[_Header, EpisodeDataset]:
    """Header and episodes; raises ValueError, LookupError or msgspec's errors for another text."""
    line, _, data = text.partition(b"\n")
    header = msgspec.json.decode(line, type=_Header)
    episodes = _episodes_of(header, _read_columns(header, data))
    return header, EpisodeDataset(
        header.protocol_id, header.name, header.split, episodes, header.seed, header.dropped
    )


def _planes(column: Int64[np.ndarray, "n"]) -> bytes:
    return column.astype("<u4").view(np.uint8).reshape(-1, _PLANES).T.tobytes()


def _read_columns(header: _Header, data: bytes) -> _Columns:
    count = len(header.low) * header.episodes * _PLANES
    if len(data) != count:
        raise ValueError(f"expected {count} bytes of columns, got {len(data)}")
    planes = np.frombuffer(data, np.uint8).reshape(len(header.low), _PLANES, header.episodes)
    numbers = np.ascontiguousarray(planes.transpose(0, 2, 1)).view("<u4")[:, :, 0].astype(np.int64)
    return {name: row + low for (name, low), row in zip(header.low.items(), numbers)}


def _kind_of(episodes: Sequence[Episode]) -> str:
    for kind, goal in (("point", PointGoal), ("category", ObjectGoal), ("several", MultiGoal)):
        if all(isinstance(one.goal, goal) for one in episodes):
            return kind
    raise InputError("expected points, categories or several objects as goals, got others, or a mixture")


def _words_of(goal: Goal) -> tuple[str, ...]:
    if isinstance(goal, ObjectGoal):
        return (goal.category,)
    return tuple(one.category for one in goal.objects) if isinstance(goal, MultiGoal) else ()


def _columns_of(episodes: Sequence[Episode], header: _Header) -> _Columns:
    """The columns of episodes; losslessness is checked by the hash of the decoded list."""

    def whole(values: Sequence[float], unit: int = PER_METRE) -> Int64[np.ndarray, "n"]:
        return np.round(np.array(values, float) * unit).astype(np.int64)

    columns = {
        "scene": whole([header.scenes.index(one.scene_id) for one in episodes], 1),
        "row": whole([int(one.episode_id.rpartition("-")[2]) for one in episodes], 1),
        "difficulty": whole([header.labels.index(one.difficulty) for one in episodes], 1),
        "tilt": whole([header.tilts.index(one.start_tilt) for one in episodes], 1),
        "yaw": whole([one.start_yaw for one in episodes], PER_RADIAN),
        "distance": whole([one.geodesic_distance or 0.0 for one in episodes]),
    }
    _add_places(columns, "start", whole, [one.start_position for one in episodes])
    if header.goal == "category":
        columns["closest"] = whole([int(one.goal.closest) for one in episodes], 1)  # type: ignore[attr-defined]
    for k in range(max(len(one.goal.places) for one in episodes)):
        _add_places(columns, f"goal{k}", whole, [one.goal.places[k] for one in episodes])
        if header.goal != "point":
            numbers = [header.words.index(_words_of(one.goal)[k]) for one in episodes]
            columns[f"goal{k}_word"] = whole(numbers, 1)
    return columns


def _add_places(
    columns: _Columns, name: str, whole: Callable[..., np.ndarray], places: Sequence[Position]
) -> None:
    for axis, letter in enumerate("xyz"):
        columns[f"{name}_{letter}"] = whole([place[axis] for place in places])


def _episodes_of(header: _Header, columns: _Columns) -> tuple[Episode, ...]:
    scenes = [header.scenes[k] for k in columns["scene"].tolist()]
    return tuple(
        Episode(f"{scene_name(scene)}-{row:04d}", scene, start, yaw, goal, distance, tilt, label)
        for scene, row, start, yaw, goal, distance, tilt, label in zip(
            scenes,
            columns["row"].tolist(),
            _places(columns, "start"),
            (columns["yaw"] / PER_RADIAN).tolist(),
            _goals_of(header, columns),
            (columns["distance"] / PER_METRE).tolist(),
            [header.tilts[k] for k in columns["tilt"].tolist()],
            [header.labels[k] for k in columns["difficulty"].tolist()],
        )
    )


def _places(columns: _Columns, name: str) -> list[tuple[float, float, float]]:
    axes = [(columns[f"{name}_{letter}"] / PER_METRE).tolist() for letter in "xyz"]
    return list(zip(*axes))


def _goals_of(header: _Header, columns: _Columns) -> list[Goal]:
    places = [_places(columns, f"goal{k}") for k in range(8) if f"goal{k}_x" in columns]
    if header.goal == "point":
        return [PointGoal(place) for place in places[0]]
    numbers = [columns[f"goal{k}_word"].tolist() for k in range(len(places))]
    if header.goal == "category":
        return [
            ObjectGoal(header.words[number], closest=str(closest), arrival=place)
            for number, closest, place in zip(numbers[0], columns["closest"].tolist(), places[0])
        ]
    return [
        MultiGoal(
            tuple(
                ObjectInstance(str(number), header.words[number], place)
                for number, place in zip(row_numbers, row_places)
            )
        )
        for row_numbers, row_places in zip(zip(*numbers), zip(*places))
    ]
