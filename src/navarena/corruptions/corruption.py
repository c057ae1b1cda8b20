"""Corruptions: reproducible changes of a robot's observations, motion, pose or goals.

A corruption is written `name`, `name:severity`, `name:word` or `name:severity:word:...`; the words
choose between its definitions in paper and code, such as `motion_drift:paper` (see Corruption.words). The
word `draw-1`, `draw-2`, ... gives other random numbers.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar, Literal, TypeVar

import numpy as np
from jaxtyping import Float, Float32, Int64, UInt8

from navarena.core.errors import InputError, unknown_name

SEVERITIES = (1, 2, 3, 4, 5)
"""From barely visible to severe (Hendrycks and Dietterich 2019, section 3; RobustNav uses the same)."""

FLOORS = ("", "wood", "tiles", "carpet")
"""Materials of floors that motion may depend on; "" stands for everything else, such as unknown floors."""

DRAW_WORD = "draw-"
"""Begins the word of other random numbers, as in "draw-2"."""

_DRAW = re.compile(rf"{DRAW_WORD}([1-9][0-9]{{0,8}})")

Entry = TypeVar("Entry")

Per = Literal["step", "episode", "scene"]
"""For how long what a corruption draws stays the same: its generator is named by this."""


class Corruption:
    """A reproducible change of a robot's observations, motion, pose or goals. Derive from a kind below.

    It holds settings only. What it draws comes from generators that it is handed, whose names the
    caller decides, so that equal episodes are corrupted equally in every batch.

    Attributes:
        severities: those it has; empty where its source has none.
        default_severity: taken when none is said; None for corruptions without severities.
        words: name of an option -> the words that stand for its values, the default one first. No word
            occurs twice.
        replaces: names of corruptions that a protocol has itself and that this one stands in for when it is
            chosen; one of the same name always does.
        per: what names the generators it is handed: each step (and image), each episode or each scene.
        severity: the chosen one; None for corruptions without severities.
        choices: name of an option -> its chosen word.
        drawing: which of its random numbers; 0 for those without a word, N for those of "draw-N". The word
            stands in the names of the generators.

    Args:
        severity: one of `severities`; None for the default.
        chosen: words, at most one for each option and one "draw-N".

    Raises InputError for another severity and for two words of one option, UnknownNameError for an
    unknown word.
    """

    severities: ClassVar[tuple[int, ...]] = SEVERITIES
    default_severity: ClassVar[int | None] = 3
    words: ClassVar[Mapping[str, tuple[str, ...]]] = MappingProxyType({})
    replaces: ClassVar[tuple[str, ...]] = ()
    per: Per = "step"

    def __init__(self, severity: int | None = None, *chosen: str) -> None:
        self.severity = self._check_severity(severity)
        drawings = [word for word in chosen if _DRAW.fullmatch(word)]
        if len(drawings) > 1:
            raise InputError(f"expected one of {DRAW_WORD}N, got {drawings[0]!r} and {drawings[1]!r}")
        self.drawing = int(drawings[0].removeprefix(DRAW_WORD)) if drawings else 0
        self.choices = self._read_words([word for word in chosen if word not in drawings])

    def _check_severity(self, severity: int | None) -> int | None:
        if not self.severities:
            if severity is not None:
                raise InputError(f"expected no severity of {type(self).__name__}, got {severity!r}")
            return None
        if severity is None:
            return self.default_severity
        if isinstance(severity, bool) or severity not in self.severities:
            raise InputError(f"expected a severity among {self.severities}, got {severity!r}")
        return severity

    def _read_words(self, chosen: Sequence[str]) -> dict[str, str]:
        meaning = {word: option for option, words in self.words.items() for word in words}
        choices: dict[str, str] = {}
        for word in chosen:
            if word not in meaning:
                known = [*meaning, *map(str, self.severities)]
                raise unknown_name(f"word of {type(self).__name__}", word, known)
            if meaning[word] in choices:
                raise InputError(
                    f"expected one of {', '.join(self.words[meaning[word]])}, got {choices[meaning[word]]!r} "
                    f"and {word!r}"
                )
            choices[meaning[word]] = word
        return {option: choices.get(option, words[0]) for option, words in self.words.items()}

    def of_severity(self, table: Sequence[Entry]) -> Entry:
        """The entry of `table`, one for each of `severities`, for the chosen severity."""
        if self.severity is None:
            raise InputError(f"expected severities of {type(self).__name__}, got none")
        return table[self.severities.index(self.severity)]


class ImageCorruption(Corruption, ABC):
    """Corrupts colour images. Nothing else is touched: neither depth nor labels."""

    @abstractmethod
    def corrupt(
        self, images: UInt8[np.ndarray, "k h w 3"], generators: Sequence[np.random.Generator]
    ) -> UInt8[np.ndarray, "k h w 3"]:
        """Corrupted copies of `images`, (K, H, W, 3) uint8 sRGB bytes, which stay as they are.

        generators: K, one for each image; what happens to one image depends on no other.
        """


class DepthCorruption(Corruption, ABC):
    """Corrupts depth images as the camera measures them, before the sensor clips and scales them."""

    @abstractmethod
    def corrupt(
        self, depths: Float32[np.ndarray, "k h w 1"], generators: Sequence[np.random.Generator]
    ) -> Float32[np.ndarray, "k h w 1"]:
        """Corrupted copies of `depths`, which stay as they are.

        depths: (K, H, W, 1) float32 metres along the optical axis, 0 where nothing was hit.

        generators: K, one for each image; what happens to one image depends on no other.
        """


class CameraCorruption(Corruption, ABC):
    """Changes the cameras themselves; images are then taken with the changed ones.

    The changed camera takes all images; with the word "rgb_only" the colour images alone.
    """

    words: ClassVar[Mapping[str, tuple[str, ...]]] = MappingProxyType({"images": ("all", "rgb_only")})

    @property
    def rgb_only(self) -> bool:
        """Whether depth and labels are taken with the unchanged camera."""
        return self.choices["images"] == "rgb_only"

    @abstractmethod
    def change(self, hfov: float) -> float:
        """Radians of horizontal view in the place of `hfov`; the image's size in pixels stays."""


class MotionCorruption(Corruption, ABC):
    """Changes how bodies carry out their movements.

    Everything random about an episode is drawn when it begins; a step only looks its row up.

    Attributes:
        acts_on: what it changes; a protocol none of whose actions does any of it is refused.
        reads_floors: whether it depends on the floor under the body.
    """

    per: Per = "episode"
    acts_on: ClassVar[tuple[Literal["walk", "turn"], ...]] = ("walk", "turn")
    reads_floors: ClassVar[bool] = False

    @property
    def stays_when_blocked(self) -> bool:
        """Whether a movement that meets an obstacle is not made at all; else the body goes up to it."""
        return False

    @abstractmethod
    def draw(self, generator: np.random.Generator, steps: int) -> Float[np.ndarray, "steps d"]:
        """(steps, D) numbers of one episode (or scene): row t is for the step after t steps."""

    @abstractmethod
    def change(
        self,
        movements: Float[np.ndarray, "n 4"],
        commanded: Float[np.ndarray, "n 4"],
        drawn: Float[np.ndarray, "n d"],
        floors: Int64[np.ndarray, "n"],
    ) -> Float[np.ndarray, "n 4"]:
        """(N, 4) changed movements [along m, across m (right), turn rad (left), tilt rad (up)], walk first.

        Args:
            movements: what corruptions before this one made of the commands; it may be rewritten.
            commanded: what the actions mean exactly.
            drawn: rows of `draw`.
            floors: index into FLOORS of the floor under each body; zeros unless `reads_floors`.
        """


class PoseCorruption(Corruption, ABC):
    """Corrupts the estimated poses of bodies.

    Everything random about an episode is drawn when it begins.

    Attributes:
        sensors: what it corrupts: ("gps", "compass") or ("odometry",). Sensors that derive from these,
            such as pointgoal_with_gps_compass, follow them.
    """

    per: Per = "episode"
    sensors: ClassVar[tuple[str, ...]] = ("gps", "compass")

    @abstractmethod
    def draw(self, generator: np.random.Generator, steps: int) -> Float[np.ndarray, "steps d"]:
        """(steps, D) numbers of one episode: row t is for the estimate after t steps."""

    @abstractmethod
    def corrupt(
        self,
        poses: Float[np.ndarray, "n 3"],
        last: Float[np.ndarray, "n 3"],
        drawn: Float[np.ndarray, "n d"],
    ) -> Float[np.ndarray, "n 3"]:
        """(N, 3) corrupted [ahead m, right m, yaw rad (left)] as new arrays.

        Args:
            poses: in the frame of the start (gps, compass), or of the pose before the last step (odometry).
            last: what this corruption made of them one step ago; at the start the poses themselves.
            drawn: rows of `draw`.
        """


class TimingCorruption(Corruption, ABC):
    """Changes which images are in view: those of an earlier step, of all cameras alike.

    Nothing else is late: gps, compass, odometry and goals are those of now.
    """

    per: Per = "episode"

    @abstractmethod
    def draw(self, generator: np.random.Generator, steps: int) -> Int64[np.ndarray, "steps 1"]:
        """(steps, 1) of one episode: row t is the step, 0 to t, whose images are in view after t steps."""


class GoalCorruption(Corruption, ABC):
    """Corrupts the goals that an agent observes. What counts as the goal stays as it is.

    Attributes:
        modality: of the goals that it corrupts: "object" (given by a category), "description" or "image".
    """

    per: Per = "episode"
    modality: ClassVar[Literal["object", "description", "image"]]


class GoalImageCorruption(GoalCorruption, ABC):
    """Corrupts the images of goals."""

    modality = "image"

    @abstractmethod
    def corrupt(
        self, image: UInt8[np.ndarray, "h w 3"], generator: np.random.Generator
    ) -> UInt8[np.ndarray, "h w 3"]:
        """A corrupted copy of `image`, (H, W, 3) uint8 sRGB bytes, of one goal of an episode."""


class GoalWordsCorruption(GoalCorruption, ABC):
    """Replaces goals by other words that the task knows; drawn for each goal of an episode."""


class InstructionCorruption(Corruption, ABC):
    """Changes the words of the instruction that an agent reads; the described path stays as it is.

    Attributes:
        change: what is done with the words; see navarena.episodes.language.rewording.
        shares: of the words that it concerns, how many are changed, by severity.
    """

    per: Per = "episode"
    change: ClassVar[Literal["paraphrase", "word_drop", "landmark_swap"]]
    shares: ClassVar[Sequence[float]]

    @property
    def share(self) -> float:
        """Probability with which each phrase or word is changed."""
        return self.of_severity(self.shares)
