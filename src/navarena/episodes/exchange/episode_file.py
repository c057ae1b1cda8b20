"""Episode files of the community, opened without reading more than is asked for."""

import hashlib
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate, chain
from pathlib import Path

import numpy as np

from navarena.core.errors import FileError, InputError, unknown_name
from navarena.core.memo import Memo
from navarena.episodes.episode import Episode
from navarena.episodes.exchange.detection import detect_common_format, detect_format, may_stand_together
from navarena.episodes.exchange.format import Content, EpisodeFormat, Notices, OpenDocument
from navarena.episodes.exchange.habitat import ObjectGoalRecord, scene_stem
from navarena.episodes.exchange.json_files import read_json_bytes, write_json_bytes
from navarena.episodes.exchange.records import Record
from navarena.episodes.sequence import EpisodeSequence, SceneRows, list_scene_rows

KEPT_DOCUMENTS = 4
"""JSON files of a data set that stay in memory."""

SUFFIXES = (".json", ".json.gz")

SCENE_FOLDERS = ("content", "episodes")
"""Folders with one file for each scene: Habitat's and RoboTHOR's."""


class EpisodeFile:
    """A data set of the community: one JSON file, a stub with its folder, or a folder of files.

    Attributes:
        path: what was opened.
        format: its layout, detected from the content.
        parts: the JSON files, in order.
        notices: unknown fields and what was mended, as far as has been read.
    """

    def __init__(
        self, path: Path, layout: EpisodeFormat, parts: Sequence[Path], raw_rotations: bool = False
    ) -> None:
        self._raw_rotations = raw_rotations
        self.path, self.format, self.parts = path, layout, tuple(parts)
        self.notices = Notices()
        self.document = Memo(self._open, KEPT_DOCUMENTS)

    def _open(self, part: int) -> OpenDocument:
        """The JSON file `parts[part]`, opened."""
        path = self.parts[part]
        content = Content(path)
        found = detect_format(content)
        if content.episodes and not may_stand_together(found, self.format):
            raise FileError(
                f"expected episodes of {self.format.name} as in the rest of {self.path}, got "
                f"{found.name if found else found} in {path}; keep formats in folders of their own"
            )
        return OpenDocument(content, self.format, self.notices, self._raw_rotations)

    def documents(self) -> Iterator[OpenDocument]:
        """The JSON files, opened one after another."""
        return map(self.document, range(len(self.parts)))

    @cached_property
    def episodes(self) -> "FileEpisodes":
        """The episodes, ours, converted when they are read."""
        return FileEpisodes(self)

    def records(self) -> Iterator[Record]:
        """The typed records of all parts, in order."""
        return chain.from_iterable(document.records() for document in self.documents())

    @cached_property
    def scene_names(self) -> tuple[str, ...]:
        """Names of the scenes, in order of appearance.

        In a folder with one file for each scene they are the names of the files, and none is read.
        """
        return tuple(self._scene_parts or self._rows_by_scene)

    def of_scene(self, name: str) -> tuple[Episode, ...]:
        """The episodes of one scene of `scene_names`; only its own part is read."""
        if name not in self.scene_names:
            raise unknown_name(f"scene of {self.path}", name, self.scene_names)
        document = self.document(self._scene_parts.get(name, 0))
        rows = range(len(document)) if self._scene_parts else self._rows_by_scene[name].rows
        return tuple(map(document.episode, rows))

    @cached_property
    def _rows_by_scene(self) -> dict[str, SceneRows]:
        """Name of a scene -> its rows in the only part."""
        return list_scene_rows(map(scene_stem, self.document(0).scene_ids))

    @cached_property
    def _scene_parts(self) -> dict[str, int]:
        """Scene -> its part, without the stub that stands beside their folder; empty for a single file."""
        if len(self.parts) == 1:
            return {}
        folder = self.parts[-1].parent
        return {_stem(part): number for number, part in enumerate(self.parts) if part.parent == folder}

    def require_unique_ids(self) -> None:
        """Raise FileError naming files and id when two episodes have the same id."""
        hashes = np.concatenate(
            [np.fromiter(map(hash, document.ids), np.int64, len(document)) for document in self.documents()]
        )
        if len(np.unique(hashes)) == len(hashes):  # of millions of ids, the hashes fit into memory
            return
        seen: dict[str, Path] = {}
        for document in self.documents():
            for name in document.ids:
                if name in seen:
                    places = " and ".join(map(str, dict.fromkeys((seen[name], document.path))))
                    raise FileError(
                        f"expected unique episode ids in {self.path}, got {name!r} twice in {places}; drop "
                        "one, or take one part of the data set at a time"
                    )
                seen[name] = document.path

    def listed_objects(self) -> dict[tuple[str, str], set[str]]:
        """(scene, category) -> object ids of the goals that the files list, asked for or not.

        The scene is the name of its file, as in "x8F5xyUWy9e.glb". Empty for formats without goals.
        """
        found: dict[tuple[str, str], set[str]] = {}
        for document in self.documents() if self.format.goals_key else ():
            for key in document.goal_keys:
                for goal in document.goals(key):
                    if isinstance(goal, ObjectGoalRecord):
                        scene = key.removesuffix(f"_{goal.object_category}").removesuffix(
                            f"_{goal.object_id}"
                        )
                        found.setdefault((scene, goal.object_category), set()).add(str(goal.object_id))
        return found

    @property
    def split(self) -> str:
        """The name of the file or folder: "val" of "val.json.gz", and of "val/content"."""
        return _stem(self.path.absolute().parent if self.path.name in SCENE_FOLDERS else self.path)

    @cached_property
    def hash(self) -> str:
        """16 hex digits of SHA-256 over the text of all parts, whatever their names and compression."""
        digest = hashlib.sha256()
        for part in self.parts:
            digest.update(hashlib.sha256(read_json_bytes(part)).digest())
        return digest.hexdigest()[:16]

    def write(self, path: Path | str) -> None:
        """Write a copy of the same text, and so of the same hash, compressed where `path` ends in .gz.

        `path` is the file, or the first of a data set in parts.
        """
        path = Path(path)
        for k, part in enumerate(self.parts):
            target = path if k == 0 else path.parent / part.relative_to(self.parts[0].parent)
            write_json_bytes(target, read_json_bytes(part))


class FileEpisodes(EpisodeSequence):
    """The episodes of an EpisodeFile, each converted when it is read.

    Iteration holds one part at a time. Lengths and indices need all parts to be opened once.
    """

    def __init__(self, file: EpisodeFile) -> None:
        self._file = file

    @cached_property
    def _ends(self) -> list[int]:
        """Number of episodes up to and with each part."""
        return list(accumulate(map(len, self._file.documents())))

    def __len__(self) -> int:
        return self._ends[-1]

    def episode_at(self, row: int) -> Episode:
        part = bisect_right(self._ends, row)
        return self._file.document(part).episode(row - (self._ends[part - 1] if part else 0))

    def __iter__(self) -> Iterator[Episode]:
        for document in self._file.documents():
            for row in range(len(document)):
                yield document.episode(row)

    def scene_rows(self) -> dict[str, SceneRows]:
        """Scene id -> rows of its episodes; of each episode only the scene is read."""
        return list_scene_rows(chain.from_iterable(document.scene_ids for document in self._file.documents()))


def open_episode_file(path: Path | str, raw_rotations: bool = False) -> EpisodeFile:
    """Open a data set of the community; only its first episode is read.

    Args:
        path: a JSON file, compressed or not; a stub beside a folder `content/`; or a folder that holds
            one file for each scene.
        raw_rotations: read start rotations that are not of unit length as the simulator of MultiON's
            authors rendered them, in the place of normalising them.

    Raises FileError for a file that is missing, damaged or of another kind, naming file, episode and
    field when an episode is read.
    """
    path = Path(path)
    parts = _folder_parts(path) if path.is_dir() else [path]
    content = Content(parts[0])
    if not path.is_dir() and not content.episodes:
        parts += _files_in(path.parent / SCENE_FOLDERS[0])
    layout = detect_common_format(chain([content], map(Content, parts[1:])))
    if layout is None:
        raise InputError(f"expected episodes in {content.path}, got none, nor a folder content/ beside it")
    return EpisodeFile(path, layout, parts, raw_rotations)


def _folder_parts(folder: Path) -> list[Path]:
    """The JSON files of a folder, or of its folder of scenes; raises FileError when there are none."""
    for place in (folder, *(folder / name for name in SCENE_FOLDERS)):
        files = _files_in(place)
        if files:
            return [*files, *(_files_in(folder / SCENE_FOLDERS[0]) if place == folder else [])]
    raise FileError(f"expected a folder with episode files (.json, .json.gz), got none in {folder}")


def _files_in(folder: Path) -> list[Path]:
    """The JSON files of a folder, without those of the expert's places that VLN-CE has beside episodes."""
    found = folder.glob("*") if folder.is_dir() else ()
    return sorted(path for path in found if path.name.endswith(SUFFIXES) and not _stem(path).endswith("_gt"))


def _stem(path: Path) -> str:
    return path.name.removesuffix(".gz").removesuffix(".json")
