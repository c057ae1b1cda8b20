"""Recipe: everything that determines the training of a policy beside the machine."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from navarena.core.errors import InputError
from navarena.episodes.stream import Curriculum
from navarena.learning.auxiliaries.settings import AugmentationSettings
from navarena.learning.checkpoints.selection import TrainingEvaluationSettings
from navarena.learning.recipes.base import TrainingRecipe
from navarena.learning.recipes.catalog import RECIPES
from navarena.learning.settings import ImitationSettings, PolicySettings, PPOSettings, Precision

if TYPE_CHECKING:
    from navarena.learning.distributed import Machine
    from navarena.learning.trainings.demonstrations import DemoTraining
    from navarena.learning.trainings.training import Training

VARIABLE_STEPS = 2
"""Times `steps` that a group takes at most in variable collection: memory of a rollout."""


@dataclass(frozen=True)
class Recipe(TrainingRecipe):
    """Everything that determines the training of a policy beside the machine.

    Its protocol's train split is learned from; `frames` are those of all processes together.

    Attributes:
        sensors: names of what the policy sees.
        method: settings of imitation, or of reinforcement.
        image_size: (height, width) pixels of the images that the policy sees. Training renders this size
            (see training_view); the protocol's own images are subsampled to it, images of goals to a square
            of its longer side.
        policy: sizes.
        precision: of the products in encoders and memories: "float32"; "bfloat16"; or "auto", which takes
            bfloat16 where the processor multiplies it faster.
        start: folder of a checkpoint, or name of an agent that ships, whose weights the training starts from;
            empty for random ones. Its policy and inputs must be those of the recipe.
        first: name of the recipe that `navarena train` trains first, in the folder `first` of the training,
            which then starts from its weights; with protocol, sensors, image_size, policy, features, split,
            seed and auxiliary losses of this one. Empty for none.
        targets: names of sensors that are observed for losses, and that the policy does not see; those of
            auxiliary losses need not be named.
        augmentation: random changes of the images that the policy learns from.
        masked: names of actions that the policy never takes.
        slots: episodes side by side, in each process.
        steps: of each slot in a rollout.
        collection: "synchronous", where all slots take a step together; or "variable", of PPO, where each of
            `groups` goes on by itself until they have slots x steps frames together. When which group steps
            depends on the time it takes, so that no two trainings are alike.
        groups: of neighbouring slots, each with a thread of its own; of variable collection.
        preemption: of several processes, the share that have their rollouts complete when the others end
            theirs (0.6 of DD-PPO, after a quarter of the steps at least); 1 waits for all, and alone makes
            the same bits again. Variable collection fills up such a rollout by steps of older policies.
        declaration_bias: what is added at the start to the logit of the declaration; untrained policies
            declare at once, and a negative number lets episodes go on.
        split: whose episodes are learned from.
        episodes: of each scene and visit.
        scenes: from which episodes are drawn at any time.
        curriculum: short episodes first, in each stream of them (of a process, or of one of its groups).
        act_rows: rows of every call of the network in evaluations; at least 8, below which the last bits of
            matrix products depend on their number.
        evaluation: during the training, and which checkpoints stay.
        corruptions: of what the policy sees and does while it learns, each as "name:severity".
        mixture: rows of more corruptions, each "clean" or some joined by "+": every episode is learned from
            under one of them, drawn by its own name. What is in no row is held out.
        features: of views on graphs: a name of HOUSE_FEATURES, such as "classes"; empty for the default.
        training_view: whether training renders image_size itself, by smaller cameras; else it sees the
            protocol's own images, subsampled as in an evaluation. Corruptions of images count in pixels:
            they are stronger in smaller ones.

    Raises InputError for sizes below 1, a share out of range, no sensors, and for both `start` and `first`.
    """

    sensors: tuple[str, ...]
    method: ImitationSettings | PPOSettings
    image_size: tuple[int, int] = (48, 64)
    policy: PolicySettings = field(default_factory=PolicySettings)
    precision: Precision = "float32"
    start: str = ""
    first: str = ""
    targets: tuple[str, ...] = ()
    augmentation: AugmentationSettings = field(default_factory=AugmentationSettings)
    masked: tuple[str, ...] = ()
    slots: int = 64
    steps: int = 32
    collection: Literal["synchronous", "variable"] = "synchronous"
    groups: int = 2
    preemption: float = 0.6
    declaration_bias: float = 0.0
    split: str = "train"
    episodes: int = 50
    scenes: int = 16
    curriculum: Curriculum = field(default_factory=Curriculum)
    act_rows: int = 16
    evaluation: TrainingEvaluationSettings = field(default_factory=TrainingEvaluationSettings)
    corruptions: tuple[str, ...] = ()
    mixture: tuple[str, ...] = ()
    features: str = ""
    training_view: bool = True

    def __post_init__(self) -> None:
        names = (
            "slots",
            "groups",
            "steps",
            "frames",
            "episodes",
            "scenes",
            "act_rows",
            "save_updates",
            "log_updates",
        )
        self._require_positive(*names)
        if not self.sensors:
            raise InputError("expected at least one of the sensors that the policy sees, got none")
        if not 0 <= self.preemption <= 1:
            raise InputError(f"expected a preemption of 0 to 1, got {self.preemption}")
        if self.start and self.first:
            raise InputError(
                f"expected start or first, got {self.start!r} and {self.first!r}; --set first= ends it"
            )
        if self.collection == "variable":
            self._require_variable()

    def _require_variable(self) -> None:
        """Raise InputError where variable collection does not go with other settings."""
        kinds = [one.kind for one in self.method.auxiliaries]
        if not isinstance(self.method, PPOSettings) or "temporal_distance" in kinds:
            raise InputError(
                "expected PPO without the auxiliary loss temporal_distance, whose unit is the length of a "
                "rollout, for collection=variable"
            )
        if self.slots % self.groups:
            raise InputError(f"expected groups of equal size of {self.slots} slots, got {self.groups}")

    @property
    def stored_steps(self) -> int:
        """Steps per slot for which a rollout has memory."""
        return self.steps * (VARIABLE_STEPS if self.collection == "variable" else 1)

    @property
    def all_targets(self) -> tuple[str, ...]:
        """`targets`, and those of auxiliary losses that the policy does not see, each once."""
        own = (one.target for one in self.method.auxiliaries if one.target and one.target not in self.sensors)
        return tuple(dict.fromkeys((*self.targets, *own)))

    @property
    def shown(self) -> tuple[str, ...]:
        return ("success", "spl", "reward", "imitation_loss", "frames_per_second")

    def begin(self, folder: Path, machine: "Machine", demos: Path | None = None) -> "Training | DemoTraining":
        if demos is None:
            from navarena.learning.rollouts.memory_needs import telling_memory_needs
            from navarena.learning.trainings.training import Training

            with telling_memory_needs(self):
                return Training(self, folder, machine)
        from navarena.learning.trainings.demonstrations import DemoTraining

        if machine.device != "cpu" or machine.processes.count > 1:
            raise InputError(
                f"expected one process on the processor to learn from --demos, got {machine.processes.count} "
                f"on {machine.device}; leave out --device and torchrun"
            )
        return DemoTraining(self, demos, folder, machine.threads)

    def make_first(self) -> "tuple[str, Recipe] | None":
        """Name and recipe of `first`, with what it must have in common with this one."""
        if not self.first:
            return None
        names = ("protocol", "sensors", "image_size", "policy", "features", "split", "seed")
        first: Recipe = RECIPES.get(self.first)
        method = replace(first.method, auxiliaries=self.method.auxiliaries)
        return self.first, replace(first, method=method, **{name: getattr(self, name) for name in names})

    def advise(self, folder: Path) -> str:
        return f"navarena evaluate {self.protocol} --agent checkpoint:{folder}"
