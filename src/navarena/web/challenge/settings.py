"""Settings in a challenge file (TOML): tracks, phases and quotas.

    name = "Apartments"
    preset = "2020"

    [[tracks]]
    name = "rgb"
    sensors = ["rgb", "goal"]

    [[phases]]
    name = "minival"
    protocol = "objectnav-robothor2021-v1"
    split = "mini"

Times are offset date-times of TOML, such as 2026-05-01T12:00:00Z. A seed of hidden episodes stands in a file
of its own, which only `read_private_seed` opens. `challenge_file` reads and checks all of it.
"""

import datetime
import hashlib
import re
from pathlib import Path
from typing import Literal

import msgspec

from navarena.core.errors import FileError, InputError, unknown_name
from navarena.core.files import read_text
from navarena.corruptions.suites import SUITES
from navarena.evaluation.settings import EvaluationSettings
from navarena.scenes.catalog import SCENE_SETS

Kind = Literal["log", "live", "trajectory"]
"""How a submission comes: the log of a run, an agent that acts in the server's episodes, or trajectories in
the results file of an earlier challenge."""

UNSEEN_MEAN = "unseen_mean:"
"""Before a metric in `rank_by`: its mean over the corruptions that an agent was not trained with."""


class Quota(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Limits on a team's submissions to a phase.

    Attributes:
        per_day: submissions that were received within the last 24 hours; None for as many as it likes.
        in_all: submissions; None likewise.
        seconds: wall-clock of one submission; None for no limit.
    """

    per_day: int | None = None
    in_all: int | None = None
    seconds: float | None = None


PRESETS: dict[str, dict[str, Quota]] = {
    "2020": {
        "minival": Quota(per_day=30, seconds=24 * 3600.0),
        "test-standard": Quota(per_day=10, seconds=24 * 3600.0),
        "test-challenge": Quota(in_all=5, seconds=24 * 3600.0),
    },
    "2021": {
        "minival": Quota(per_day=100, seconds=48 * 3600.0),
        "test-standard": Quota(per_day=10, seconds=48 * 3600.0),
        "test-challenge": Quota(in_all=5, seconds=48 * 3600.0),
    },
}
"""Preset -> phase -> quota, as of the Habitat challenges of these years."""


class Track(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Entries that are ranked with each other.

    Attributes:
        name: in addresses, such as "rgb-d".
        title: for people; the name by default.
        sensors: that a live agent may observe; empty for all of the protocol.
        privileged: whether privileged inputs are allowed; such agents are shown apart and never ranked.
    """

    name: str
    title: str = ""
    sensors: tuple[str, ...] = ()
    privileged: bool = False


class Part(msgspec.Struct, frozen=True):
    """One run of a submission.

    Attributes:
        dataset: of its episodes; None for the protocol's own.
        corruptions: of the agent's images and motion; empty for the clean run.
    """

    dataset: str | None
    corruptions: tuple[str, ...]


class Phase(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Episodes to submit to, within a time.

    Attributes:
        name: in addresses, such as "test-standard".
        protocol: id, such as "pointnav-v1".
        split: of the data sets.
        rank_by: metric that decides about ranks ("t_ndtw" for tours), or "unseen_mean:METRIC".
        title, text: for people; the text is Markdown.
        datasets: whose episodes are run, one after the other; empty for the protocol's own. Names, or files
            beside the challenge file; of protocols on navigation graphs R2R files.
        scenes: of protocols on navigation graphs: folder or tarball of connectivity files, likewise.
        tours: tour file of IVLN that goes with an R2R file, for protocols with tours.
        episodes: only the first so many of each data set.
        private_seed: name of the file, beside the challenge file, that holds the seed of hidden episodes;
            None for those that everybody has.
        per_scene: hidden episodes in each scene.
        new_houses: houses that are made from the private seed; None for the scenes of `datasets` and `split`.
        accepts: how submissions may come.
        opens, closes: when; None for always.
        quota: of each team; a preset's unless given.
        board: whether others see the scores. A hidden one is shown from `reveals` on, or when a host says so.
        reveals: when a hidden board is shown; None for when a host says so.
        corruptions: under which every episode is run.
        suite: of corruptions, each row of which is run.
        hide_corruptions: whether their names are told only when the board is shown.
        calibration_steps: in which a live agent may adapt first, without rewards.
        episode_seconds, step_seconds: that a live agent may take.
        grace_seconds: within which a broken connection may come back.
        folder: of the challenge file, in which its files are looked for.
    """

    name: str
    protocol: str
    split: str
    rank_by: str = "spl"
    title: str = ""
    text: str = ""
    datasets: tuple[str, ...] = ()
    episodes: int | None = None
    private_seed: str | None = None
    per_scene: int | None = None
    new_houses: int | None = None
    accepts: tuple[Kind, ...] = ("log",)
    opens: datetime.datetime | None = None
    closes: datetime.datetime | None = None
    quota: Quota | None = None
    board: Literal["public", "hidden"] = "public"
    reveals: datetime.datetime | None = None
    corruptions: tuple[str, ...] = ()
    suite: str | None = None
    hide_corruptions: bool = False
    calibration_steps: int | None = None
    episode_seconds: float | None = None
    step_seconds: float | None = None
    grace_seconds: float = 300.0
    scenes: str | None = None
    tours: str | None = None
    folder: str = ""

    @property
    def is_hidden(self) -> bool:
        """Whether its episodes are made from a private seed."""
        return self.private_seed is not None

    @property
    def limits(self) -> Quota:
        """The quota, without limits where none is given."""
        return self.quota or Quota()

    @property
    def rank_metric(self) -> str:
        """The metric in `rank_by`."""
        return self.rank_by.removeprefix(UNSEEN_MEAN)

    @property
    def parts(self) -> tuple[Part, ...]:
        """The runs of a submission, in order: data set by data set, under one row of the suite each."""
        rows: tuple[tuple[str, ...], ...] = (self.corruptions,)
        if self.suite is not None:
            rows = SUITES[self.suite].rows
        return tuple(Part(dataset, row) for dataset in self.datasets or (None,) for row in rows)

    def evaluation(self, part: Part) -> EvaluationSettings:
        """The evaluation of one part; the agent is nobody's."""
        return EvaluationSettings(
            protocol=self.protocol,
            split=self.split,
            dataset=self.find_file(part.dataset),
            episodes=self.episodes,
            corrupt=part.corruptions,
            episode_seconds=self.episode_seconds,
            scenes=self.find_file(self.scenes),
            tours=self.find_file(self.tours),
        )

    def find_file(self, name: str | None) -> str | None:
        """The path of a file or folder beside the challenge file; other names as they are."""
        if name is None or not self.folder or name in SCENE_SETS:
            return name
        path = Path(self.folder) / name
        return str(path) if path.exists() else name

    def is_open(self, now: datetime.datetime) -> bool:
        """Whether submissions are taken at `now`."""
        return (self.opens is None or self.opens <= now) and (self.closes is None or now < self.closes)


class Challenge(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A challenge file.

    Attributes:
        name: for people.
        slug: in addresses; made from the name by default.
        text: Markdown.
        tracks: in the order in which they are shown; by default one that allows everything.
        phases: likewise.
        preset: of quotas, for phases of its names that give none.
        folder: of the file; private seeds lie in it.
    """

    name: str
    phases: tuple[Phase, ...]
    slug: str = ""
    text: str = ""
    tracks: tuple[Track, ...] = (Track(name="all", title="All sensors", privileged=True),)
    preset: str | None = None
    folder: str = ""

    def phase(self, name: str) -> Phase:
        """The phase called `name`; raises UnknownNameError with the nearest choice."""
        found = {one.name: one for one in self.phases}
        if name not in found:
            raise unknown_name("phase", name, found)
        return found[name]

    def track(self, name: str) -> Track:
        """The track called `name`; raises UnknownNameError with the nearest choice."""
        found = {one.name: one for one in self.tracks}
        if name not in found:
            raise unknown_name("track", name, found)
        return found[name]


def hash_settings(settings: Challenge | Phase) -> str:
    """16 hex digits of SHA-256 over the settings of a challenge or phase, without file paths."""
    if isinstance(settings, Challenge):
        phases = tuple(msgspec.structs.replace(one, folder="") for one in settings.phases)
        settings = msgspec.structs.replace(settings, phases=phases)
    settings = msgspec.structs.replace(settings, folder="")
    return hashlib.sha256(msgspec.json.encode(settings, order="deterministic")).hexdigest()[:16]


def hash_rules(phase: Phase, with_ranks: bool = True) -> str:
    """16 hex digits over what decides about scores: once a phase has submissions, it cannot change.

    with_ranks: whether `rank_by` is among it; databases of earlier versions hold hashes without.
    """
    deciding = (
        "protocol", "split", "datasets", "episodes", "private_seed", "per_scene", "new_houses", "corruptions",
        "suite", "calibration_steps", "episode_seconds", "step_seconds",
    )  # fmt: skip
    held = {name: getattr(phase, name) for name in deciding}
    # without them a phase has the hash that it had before there were any
    held |= {name: value for name in ("scenes", "tours") if (value := getattr(phase, name)) is not None}
    if with_ranks:
        held["rank_by"] = phase.rank_by
    return hashlib.sha256(msgspec.json.encode(held, order="deterministic")).hexdigest()[:16]


def read_private_seed(challenge: Challenge, phase: Phase) -> int:
    """The seed of hidden episodes, from the file beside the challenge file.

    Raises InputError for a phase without one, and FileError for a file that holds no number; no message
    repeats what it holds.
    """
    if phase.private_seed is None:
        raise InputError(f"expected a phase with hidden episodes, got {phase.name!r}; give it private_seed")
    path = Path(challenge.folder) / phase.private_seed
    text = read_text(path, "private seed").strip()
    if not re.fullmatch(r"[0-9]{1,40}", text):
        raise FileError(f"expected one number of at most 40 digits in the private seed {path}; write one")
    return int(text)
