"""What a format is: its records, and how they become episodes of ours."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from navarena.core.errors import FileError
from navarena.episodes.episode import Episode
from navarena.episodes.exchange.records import Quaternion, Record
from navarena.episodes.goals import ObjectInstance


class Row(ABC):
    """One episode of a file, as its format's `convert` sees it.

    Attributes:
        index: row in the JSON file.
        header: the top level of the file, without episodes and goals.
    """

    index: int
    header: Mapping[str, Any]

    @abstractmethod
    def goals(self, key: str) -> tuple[Record, ...]:
        """The goals under `key` of the file's map of goals; raises FileError when there are none."""

    @abstractmethod
    def has_goals(self, key: str) -> bool:
        """Whether the file's map of goals has `key`."""

    @abstractmethod
    def instances(
        self, key: str, make: Callable[[], tuple[ObjectInstance, ...]]
    ) -> tuple[ObjectInstance, ...]:
        """What `make` returned when it was first called for `key`: episodes share their objects."""

    @abstractmethod
    def yaw(self, rotation: Quaternion) -> float:
        """Yaw in radians; a rotation that is not of unit length is normalised, with one warning per file.

        Raises FileError for a rotation of length zero.
        """

    @abstractmethod
    def error(self, field: str, problem: str) -> FileError:
        """The error that names file, episode and `field`; `problem` is "expected ..., got ...; ..."."""


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
        recognises: whether the fields of a file's first episode are those of this format; for formats
            that a package adds, as None is for those of navarena.
    """

    name: str
    title: str
    task: str
    record: type[Record]
    convert: Callable[[Any, Row], Episode]
    goals_key: str = ""
    goal: type[Record] | None = None
    goal_lists: bool = True
    is_list: bool = False
    header: tuple[str, ...] = ()
    scene_field: str = "scene_id"
    id_field: str = "episode_id"
    recognises: Callable[[Mapping[str, Any]], bool] | None = None
