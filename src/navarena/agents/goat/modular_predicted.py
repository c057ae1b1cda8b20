"""`modular-goat`: Modular GOAT on predictions of a segmenter and of a joint space of texts and images."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import ClassVar, Literal

import numpy as np

from navarena.agents.agent import Agent
from navarena.agents.encoders import MatcherName, make_encoder, make_matcher
from navarena.agents.explorers.mapping_agent import MappingAgent
from navarena.agents.explorers.sightings import DepthView
from navarena.agents.goat.detection import detect
from navarena.agents.goat.embedding_matching import EmbeddingMatcher, Images, MatchingSettings, Naming
from navarena.agents.goat.goal_query import possible_categories, require_goal_sensors
from navarena.agents.goat.instance_finder import InstanceFinder, Perception, make_segmented_image
from navarena.agents.goat.search import SearchSettings, hash_thresholds, read_thresholds
from navarena.agents.options import split_options
from navarena.core.errors import InputError
from navarena.episodes.encoding.cached import CachedEncoder
from navarena.episodes.encoding.encoder import GoalEncoder
from navarena.episodes.goals import Modality
from navarena.episodes.goat.names import names_of_split
from navarena.mapping import SegmentedImage
from navarena.mapping.labellers import Labeller, find_labeller, hash_weights
from navarena.tasks.options import read_options
from navarena.tasks.task import Task

OUR_SEARCH = SearchSettings(
    accept=MappingProxyType({"object": 0.3, "description": 0.5, "image": 0.4}),
    patience=MappingProxyType({"object": 150, "description": 150, "image": 150}),
    settled=MappingProxyType({"object": 400, "description": 400, "image": 600}),
)
"""Our choices, until thresholds are calibrated."""

_NEVER: Mapping[Modality, int] = MappingProxyType({"object": 5000, "description": 5000, "image": 5000})

PAPER_SEARCH = SearchSettings(
    accept=MappingProxyType({"object": 0.0, "description": 0.24, "image": 24.5}),
    patience=_NEVER,
    settled=_NEVER,
)
"""The thresholds of Modular GOAT (home-robot, hm3d_eval_stretch.yaml): cosines of CLIP, matched keypoints;
the best match is taken where everything is explored, or after 500 actions."""

Preset = Literal["ours", "paper"]


@dataclass(frozen=True)
class ModularGoatOptions:
    """Options of `modular-goat?NAME=VALUE&...`.

    Attributes:
        segmenter: folder or name of the labeller; empty for $NAVARENA_SEGMENTER.
        encoder: name of the encoder of texts and images.
        naming: "open": instances are named by their crops; "closed": as the segmenter calls them.
        images: how images of goals are compared with views.
        matcher: whose keypoints these are, "sift" or the learned ones of "xfeat" (extra xfeat).
        preset: "ours", or the published thresholds "paper", with counted keypoints unless `images` is given.
        thresholds: file of `navarena encoder calibrate`, in the place of the preset's thresholds; empty
            without.
    """

    segmenter: str = ""
    encoder: str = "joint:runs/train/joint-small"
    naming: Naming = "open"
    images: Images = "keypoints"
    matcher: MatcherName = "sift"
    preset: Preset = "ours"
    thresholds: str = ""


def read_goat_options(text: str) -> ModularGoatOptions:
    """The options in NAME=VALUE&NAME=VALUE; raises UnknownNameError, and InputError for other values."""
    given = split_options(text, "modular-goat")
    if given.get("preset") == "paper":
        given.setdefault("images", "count")
    return read_options(ModularGoatOptions, given, "modular-goat")


def choose_search(options: ModularGoatOptions) -> SearchSettings:
    """The search settings with calibrated thresholds; raises FileError if these cannot be read."""
    search = PAPER_SEARCH if options.preset == "paper" else OUR_SEARCH
    if not options.thresholds:
        return search
    found = read_thresholds(options.thresholds)
    return replace(search, accept=MappingProxyType({**search.accept, **found}))


class PredictedLabels(Perception):
    """Objects as a segmenter predicts them: connected parts of one class, without jumps of depth.

    Args:
        labeller: tells the class of every pixel.
        encoder: of texts and images.
        settings: how goals are matched.
        matcher: whose keypoints are compared.

    Raises InputError for an encoder that does not both read and see, MissingExtraError for the matcher's.
    """

    def __init__(
        self,
        labeller: Labeller,
        encoder: GoalEncoder,
        settings: MatchingSettings,
        matcher: MatcherName = "sift",
    ) -> None:
        if not (encoder.reads_words and encoder.sees_images):
            raise InputError(
                f"expected an encoder of texts and images in one space, got {encoder.name!r}; take "
                "joint:FOLDER or clip:FOLDER"
            )
        self._labeller, self._encoder, self._settings = labeller, encoder, settings
        self._words, self._images = CachedEncoder(encoder), make_matcher(matcher)
        self._meanings = {name: possible_categories(name) for name in labeller.classes[1:]}

    def segment(self, slot: int, observations: Mapping[str, np.ndarray], view: DepthView) -> SegmentedImage:
        rgb = observations["rgb"]
        metres = np.asarray(view.metres(view.depth), np.float32)
        segments, classes = detect(self._labeller, rgb, metres)
        return make_segmented_image(view, rgb, segments, classes)

    def make_matcher(self) -> EmbeddingMatcher:
        return EmbeddingMatcher(self._encoder, self._images, self._settings, self._meanings, self._words)


class ModularGoatPredictedAgent(MappingAgent):
    """Modular GOAT without privileged input, for `goat-v1` and its single skills.

    A segmenter cuts images into parts, which join to instances as in `modular-goat-gt`. A goal given by its
    category is an instance whose crops are more like its name than like any other name, in a joint space of
    texts and images (or, as the control, one that the segmenter calls so); a described one the instance whose
    crops are most like the text, one shown in an image the instance with the view that matches best. No
    category of goals given otherwise is known. Behind its name stand options (ModularGoatOptions), as in
    modular-goat?segmenter=runs/segmenter&naming=closed.

    Args:
        task: of GOAT-Bench; raises InputError for another.
        seed: of the run.

    Raises FileError for missing files of segmenter, encoder or thresholds, MissingExtraError.
    """

    options: ClassVar[ModularGoatOptions] = ModularGoatOptions()

    @classmethod
    def with_options(cls, text: str) -> type[Agent]:
        members = {"options": read_goat_options(text), "__doc__": cls.__doc__}
        return type("ModularGoatPredictedAgent", (cls,), members)

    @classmethod
    def weights_beside(cls) -> tuple[str, ...]:
        labeller, encoder = find_labeller(cls.options.segmenter), make_encoder(cls.options.encoder)
        return hash_weights(labeller), encoder.model_sha256, hash_thresholds(cls.options.thresholds)

    def __init__(self, task: Task, seed: int = 0) -> None:
        require_goal_sensors(task)
        options = self.options
        settings = MatchingSettings(options.naming, options.images, names_of_split("train"))
        labeller, encoder = find_labeller(options.segmenter), make_encoder(options.encoder)
        perception = PredictedLabels(labeller, encoder, settings, options.matcher)
        super().__init__(task, InstanceFinder(task, perception, choose_search(options)), seed)
