"""Results files of earlier challenges for submission: gzip over lines of JSON.

    {"submission": "navarena-submission-v1", "track": ..., ...}    what the team says: log_format.About
    {"layout": "r2r", "agent": ..., ...}                           what it says of a file: FileClaim
    {"instr_id": ..., "trajectory": [...]}                         the file's members, one a line
    ...

    r2r            R2R's list of {"instr_id", "trajectory": [[viewpoint, heading, elevation], ...]}, of
                   protocols on navigation graphs
    robothor2021   RoboTHOR's {split: {"episodes": {id: {"trajectory", "actions_taken", "success"}}}}, of
                   objectnav-robothor2021-v1; members are {"id", "trajectory", ...}

A phase of several parts has one file for each, in their order.
"""

import gzip
import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from navarena.core.errors import InputError
from navarena.core.files import read_bytes, translate_damage
from navarena.evaluation.exchange.official import RobothorEpisode
from navarena.tasks.catalog import get_task
from navarena.tasks.graphs.task import GraphTask
from navarena.tasks.protocols.object_nav_robothor import ObjectNavRobothor2021
from navarena.web.challenge.log_format import GZIP, About, decode_line, require_no_zero_byte
from navarena.web.challenge.refusals import Refusal
from navarena.web.challenge.settings import Phase

Layout = Literal["r2r", "robothor2021"]

Name = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
Names = Annotated[tuple[Name, ...], msgspec.Meta(max_length=100)]

_CLAIM = b'{"layout":'
MEMBERS = 'a list of {"instr_id", "trajectory"} (R2R) or {split: {"episodes": {...}}} (RoboTHOR 2021)'


class FileClaim(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A team's description of a results file, before its members.

    Attributes:
        layout: of the file.
        agent: its name.
        privileged_inputs: at which it looks behind its observations.
        trained_with: corruptions that it knows.
    """

    layout: Layout
    agent: Name
    privileged_inputs: Names = ()
    trained_with: Names = ()


class PathAnswer(msgspec.Struct, frozen=True):
    """A path of viewpoints; see r2r_results.Answer for its places."""

    instr_id: Name
    trajectory: list[Any]

    @property
    def episode_id(self) -> str:
        """Whose path it is."""
        return self.instr_id

    @property
    def proof(self) -> object:
        """Content that distinguishes answers: the viewpoints."""
        return [one[0] if isinstance(one, list) and one else one for one in self.trajectory]


class PoseAnswer(RobothorEpisode, frozen=True, kw_only=True):
    """Poses and actions of an episode; `success` is the file's word, and counts for nothing."""

    id: Name

    @property
    def episode_id(self) -> str:
        """Whose poses they are."""
        return self.id

    @property
    def proof(self) -> object:
        """Content that distinguishes answers: poses and actions."""
        return self.trajectory, self.actions_taken


Answer = PathAnswer | PoseAnswer
ANSWERS: dict[Layout, type[PathAnswer] | type[PoseAnswer]] = {"r2r": PathAnswer, "robothor2021": PoseAnswer}


def find_layout(protocol: str) -> Layout:
    """The layout of results files of a protocol; raises InputError if there is none."""
    task = get_task(protocol)
    if isinstance(task, GraphTask):
        return "r2r"
    if isinstance(task, ObjectNavRobothor2021):
        return "robothor2021"
    raise InputError(
        f"expected a protocol on navigation graphs or objectnav-robothor2021-v1 for results files of earlier "
        f"challenges, got {protocol}; leave trajectory out of accepts"
    )


def require_layout(phase: Phase) -> None:
    """Raise InputError for a phase whose trajectories no results file holds."""
    find_layout(phase.protocol)
    if phase.corruptions or phase.suite is not None:
        raise InputError(
            "expected a phase without corruptions for results files of earlier challenges, which know none; "
            "leave trajectory out of accepts"
        )


def read_results_file(path: Path, split: str) -> tuple[Layout, list[dict[str, Any]]]:
    """(layout, members) of a results file, as lines of a submission; `split` is the one that is wanted.

    Raises FileError for a file that is missing or damaged, and InputError for one of another kind, and for
    an episode that it holds twice.
    """
    data = read_bytes(path, "results file")
    with translate_damage(f"results file {path}"):
        text = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
        # the reference code writes NaN for means of nothing, which JSON does not know
        document = json.loads(text, parse_constant=lambda text: None, object_pairs_hook=_require_once)
    if isinstance(document, list) and all(isinstance(one, dict) and "instr_id" in one for one in document):
        return "r2r", document
    if isinstance(document, dict) and document:
        chosen = document.get(split, next(iter(document.values())) if len(document) == 1 else None)
        episodes = chosen.get("episodes") if isinstance(chosen, dict) else None
        if isinstance(episodes, dict) and all(isinstance(one, dict) for one in episodes.values()):
            return "robothor2021", [{**one, "id": name} for name, one in episodes.items()]
        if chosen is None:
            raise InputError(
                f"expected results of the split {split!r} in {path}, got those of {', '.join(document)}"
            )
    raise InputError(f"expected a results file ({MEMBERS}), got another document in {path}")


def _require_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"expected each name of a JSON object once, got {twice!r} twice")
    return found


def pack_trajectories(
    about: About, claim: FileClaim, files: Sequence[Sequence[dict[str, Any]]]
) -> Iterator[bytes]:
    """The members of `files` (see read_results_file) as pieces of gzip; the claim is that of each file."""
    packer = zlib.compressobj(6, zlib.DEFLATED, GZIP)
    yield packer.compress(msgspec.json.encode(about) + b"\n")
    for members in files:
        yield packer.compress(msgspec.json.encode(claim) + b"\n")
        for one in members:
            yield packer.compress(msgspec.json.encode(one) + b"\n")
    yield packer.flush()


def read_trajectories(lines: Iterable[bytes], layout: Layout) -> Iterator[FileClaim | Answer]:
    """The files in the lines after the first one: each time its claim, then its members.

    Raises Refusal "damaged_log", and "other_format" for a file of another layout.
    """
    begun = False
    for line in lines:
        require_no_zero_byte(line)
        if line.startswith(_CLAIM):
            claim = decode_line(line, FileClaim, "second line")
            if claim.layout != layout:
                raise Refusal(
                    "other_format",
                    f"expected a results file of the layout {layout}, got one of {claim.layout}",
                )
            begun = True
            yield claim
        elif not begun:
            raise Refusal("damaged_log", "expected what is said of a results file on the second line")
        else:
            yield decode_line(line, ANSWERS[layout], "a member of the results file")
