"""Settings of auxiliary losses, image augmentation and HAMT's proxy tasks. Nothing here needs PyTorch."""

from dataclasses import dataclass
from typing import Literal

from navarena.core.errors import InputError

Kind = Literal[
    "progress", "goal_distance", "inverse_dynamics", "rotation", "recognition", "seen_class", "cpc_action",
    "temporal_distance", "goal_mask", "segmentation",
]  # fmt: skip
"""What an auxiliary loss predicts: see the functions of navarena.learning.auxiliaries.heads."""

_WITH_TARGET = ("progress", "goal_distance", "recognition", "seen_class", "goal_mask", "segmentation")


@dataclass(frozen=True)
class Auxiliary:
    """Settings of one auxiliary loss.

    Attributes:
        kind: what is predicted.
        weight: by which the loss is added to that of the policy.
        target: name of the observation that holds what is to be predicted, for "progress" and
            "goal_distance" (1 number), "recognition" and "segmentation" (an image of classes that are the
            same in every scene), "seen_class" (1 category number) and "goal_mask" (an image of 0 and 1); the
            recipe lists it among its `targets`.
        horizons: numbers of steps ahead that "cpc_action" predicts.
        share: of the frames from which "cpc_action" and "temporal_distance" predict, which "rotation"
            turns, and whose classes "segmentation" tells.
        pairs: "within" an episode, both its steps; or those of RobustNav's "code", where only a
            declaration parts two steps, and the last step stands beside itself. For "inverse_dynamics".

    Raises InputError for a weight or share that is not positive, and for a missing target.
    """

    kind: Kind
    weight: float
    target: str = ""
    horizons: tuple[int, ...] = (1, 2, 4, 8, 16)
    share: float = 0.25
    pairs: Literal["within", "code"] = "within"

    def __post_init__(self) -> None:
        if self.weight <= 0 or not 0 < self.share <= 1:
            raise InputError(f"expected a positive weight, and a share up to 1, got {self}")
        if (self.kind in _WITH_TARGET) != bool(self.target):
            raise InputError(f"expected a target for {', '.join(_WITH_TARGET)} alone, got {self}")
        if not self.horizons or min(self.horizons) < 1:
            raise InputError(f"expected horizons of at least 1 step, got {self.horizons}")


PROGRESS = Auxiliary("progress", 1.0, target="progress")
"""The progress monitor of VLN-CE (map_cma_policy.py 355-366), of weight 1."""

GOAL_DISTANCE = Auxiliary("goal_distance", 0.1, target="goal_distance")
"""The distance to the goal from what is seen now, by which a stopping module decides; the weight is ours."""

INVERSE_DYNAMICS = Auxiliary("inverse_dynamics", 0.001)
"""RobustNav's action prediction (AP), of weight 0.001."""

ROTATION = Auxiliary("rotation", 0.01)
"""RobustNav's rotation prediction (RP), of weight 0.01; the policy itself sees upright images."""

CLASSES = "semantic_classes"
"""The sensor of true classes; categories of `semantic` have other numbers in every scene."""

RECOGNITION = Auxiliary("recognition", 0.25, target=CLASSES)
"""Which categories are in view, of weight 0.25: that of each auxiliary loss of Marza et al. on MultiON's
agents (teaching_agents_how_to_map, ppo_multinav.yaml 48-50)."""

SEEN_CLASS = Auxiliary("seen_class", 0.25, target="nearest_seen_class")
"""ObjRecogMap's: which goal object is in view, said by the classifier whose word the policy writes into its
map. MultiON's paper gives no weight: that of RECOGNITION."""

GOAL_MASK = Auxiliary("goal_mask", 1.0, target="goal_mask")
"""Where in the image the goal is, said by a GroundingNetwork (policy.encoder.images=grounding); ours."""

SEGMENTATION = Auxiliary("segmentation", 0.25, target=CLASSES)
"""What stands at every place of a GroundingNetwork; ours."""

CPC_ACTION = Auxiliary("cpc_action", 0.1)
"""AllenAct's CPC|A of 1, 2, 4, 8 and 16 steps, of weight 0.1 (mixins.py)."""

TEMPORAL_DISTANCE = Auxiliary("temporal_distance", 0.4)
"""AllenAct's temporal distance, of weight 0.4 (mixins.py)."""

AUXILIARIES: dict[str, Auxiliary] = {
    one.kind: one
    for one in (
        *(PROGRESS, GOAL_DISTANCE, INVERSE_DYNAMICS, ROTATION, RECOGNITION),
        *(SEEN_CLASS, GOAL_MASK, SEGMENTATION, CPC_ACTION, TEMPORAL_DISTANCE),
    )
}
"""By what they predict: their names on the command line."""


@dataclass(frozen=True)
class AugmentationSettings:
    """Random changes of the images that a policy learns from, all images of a slot alike.

    The policy acts on the changed images, too, so that what was chosen and what is learned from agree.

    Attributes:
        crop: greatest share of both sides that is cut off; the rest is enlarged to the whole size.
        shift: greatest shift, in shares of the sides.
        jitter: greatest change of brightness, contrast and saturation (factors 1 - jitter to 1 + jitter)
            and of the hue (in circles) of colour images.
        per: whether each "frame" is changed anew, or all frames of an "episode" alike.
        mirror: probability with which an episode is learned from in a mirror, as in RobustNav's ObjectNav
            (robothor_tasks.py): left and right are exchanged in images, goals and turns.

    Raises InputError for shares out of range.
    """

    crop: float = 0.0
    shift: float = 0.0
    jitter: float = 0.0
    per: Literal["frame", "episode"] = "frame"
    mirror: float = 0.0

    def __post_init__(self) -> None:
        in_range = 0 <= self.crop < 1 and 0 <= self.shift <= 1 and 0 <= self.mirror <= 1
        if not (in_range and 0 <= self.jitter <= 0.5):
            raise InputError(f"expected crop, shift and mirror of 0 to 1 and jitter of 0 to 0.5, got {self}")

    @property
    def is_on(self) -> bool:
        """Whether anything is changed."""
        return max(self.crop, self.shift, self.jitter, self.mirror) > 0

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the augmentations as in results of such a policy, such as crop=0.1."""
        amounts = {"crop": self.crop, "shift": self.shift, "jitter": self.jitter, "mirror": self.mirror}
        return tuple(f"{name}={amount:g}" for name, amount in amounts.items() if amount > 0)


PROXIES = ("mlm", "sap", "sar", "sprel", "mrc", "itm")
"""Proxy tasks by the names of the published code."""


@dataclass(frozen=True)
class ProxySettings:
    """Settings of HAMT's pre-training tasks (Chen et al. 2021, pretrain_src).

    Every minibatch learns one task, drawn by the weights. The shares are the published ones.

    Attributes:
        mlm: weight of masked words, from the whole path.
        sap: of the next action.
        sar: of the next action's heading and elevation, and of how far the path is done.
        sprel: of where all views are relative to one of them.
        mrc: of what is seen in steps whose views are hidden.
        itm: of whether a path is the one that the words describe.
        word_share: of the words that are to be predicted: 0.8 of them masked, 0.1 replaced by others.
        step_share: of the steps whose views are hidden.
        image_share: of the steps of sap, sar and sprel in which what is seen has no features.
        angle_share: of the others, in which it has no angles.
        mask: number of the word that hides another: the unknown word; BERT's [MASK] is 103.

    Raises InputError for weights of which none is positive, and for shares that are not of 0 to 1.
    """

    mlm: float = 5.0
    sap: float = 1.0
    sar: float = 1.0
    sprel: float = 1.0
    mrc: float = 2.0
    itm: float = 2.0
    word_share: float = 0.15
    step_share: float = 0.15
    image_share: float = 0.3
    angle_share: float = 0.43
    mask: int = 1

    def __post_init__(self) -> None:
        shares = (self.word_share, self.step_share, self.image_share, self.angle_share)
        if min(self.weights) < 0 or not sum(self.weights) or not all(0 <= one <= 1 for one in shares):
            raise InputError(f"expected weights of which one is positive, and shares of 0 to 1, got {self}")

    @property
    def weights(self) -> tuple[float, ...]:
        """Weights of PROXIES, in order."""
        return (self.mlm, self.sap, self.sar, self.sprel, self.mrc, self.itm)
