"""Settings of policies, of reinforcement and of imitation; the presets of the reference code as values.

Nothing here needs PyTorch, so that recipes can be listed without it.
"""

import math
from dataclasses import dataclass, field
from typing import Literal

from navarena.core.errors import InputError
from navarena.learning.auxiliaries.settings import Auxiliary, ProxySettings
from navarena.learning.networks.encoder_settings import EncoderSettings
from navarena.learning.networks.follower_settings import FollowerSettings
from navarena.learning.networks.hamt_settings import SMALL as HAMT_SMALL
from navarena.learning.networks.hamt_settings import HAMTSettings
from navarena.learning.networks.neural_map_settings import NeuralMapSettings

Precision = Literal["float32", "bfloat16", "auto"]
"""Numbers in which products are computed; see `navarena.learning.precision.choose_precision`."""


@dataclass(frozen=True)
class PolicySettings:
    """Networks and sizes of a policy.

    Attributes:
        memory: "gru", "lstm", one that attends to past steps: "smt" or "frmqn", a GRU with a map that it
            writes: "neural_map", or "cma" or (on graphs) "hamt", which follow an instruction.
        hidden: units of the memory.
        layers: of a GRU or LSTM.
        image_features: of the encoder of images.
        number_features: of the layer for numbers and categories.
        action_features: of the previous action; 0 leaves it out.
        remembers: what the state lasts for: it is reset where a new one begins, or anything greater. A
            "tour" has several episodes, an "episode" maybe several sub-tasks.
        encoder: which networks read the observations.
        start_token: whether the previous action has a value of its own at the start of an episode, as in
            habitat-lab. Without, the first action of the protocol stands there, as in multiON: the one by
            which its episodes end.
        memory_steps: that "smt" and "frmqn" attend to, the present one among them.
        heads: of "smt".
        has_pose: whether "smt" knows where its entries are from, by the inputs gps and compass; "neural_map"
            must.
        neural_map: of "neural_map".
        temperature: of the actions in evaluations: 0 takes the likeliest, 1 samples them as training does,
            between them likely ones are preferred. A policy that imitates turns to and fro at 0.
        follower: of "cma".
        hamt: of "hamt", the sizes of its own that it has in the place of others.

    Raises InputError for sizes and temperatures out of range, and for settings that do not go together.
    """

    memory: Literal["gru", "lstm", "smt", "frmqn", "neural_map", "cma", "hamt"] = "gru"
    hidden: int = 256
    layers: int = 1
    image_features: int = 256
    number_features: int = 64
    action_features: int = 32
    remembers: Literal["subtask", "episode", "tour", "scene"] = "episode"
    encoder: EncoderSettings = field(default_factory=EncoderSettings)
    start_token: bool = True
    memory_steps: int = 150
    heads: int = 8
    has_pose: bool = False
    neural_map: NeuralMapSettings = field(default_factory=NeuralMapSettings)
    temperature: float = 0.0
    follower: FollowerSettings = field(default_factory=FollowerSettings)
    hamt: HAMTSettings = HAMT_SMALL

    def __post_init__(self) -> None:
        lasts = self.remembers in ("tour", "scene")
        if self.memory == "hamt" and self.hamt.tour != lasts:
            raise InputError(f"expected remembers=tour with hamt.tour, got {self.remembers}")
        if self.memory == "cma" and (self.follower.tour != "none") != lasts:
            raise InputError(f"expected remembers=tour with follower.tour, got {self.remembers}")
        if not 0 <= self.temperature < math.inf:
            raise InputError(f"expected a temperature of at least 0, got {self.temperature}")
        for name in ("hidden", "layers", "image_features", "number_features", "memory_steps", "heads"):
            if getattr(self, name) < 1:
                raise InputError(f"expected {name} of at least 1, got {getattr(self, name)}")
        if self.action_features < 0:
            raise InputError(f"expected action_features of at least 0, got {self.action_features}")
        if self.encoder.resize and self.memory in ("neural_map", "cma", "hamt"):
            raise InputError(
                f"expected no encoder.resize with memory={self.memory}, whose network ignores it"
            )
        if self.has_pose and self.memory not in ("smt", "neural_map"):
            raise InputError(f"expected memory=smt or neural_map for has_pose, got {self.memory}")
        if self.memory == "neural_map" and not self.has_pose:
            raise InputError("expected has_pose for memory=neural_map, which writes where the body stands")


@dataclass(frozen=True)
class Schedule:
    """A number that changes with the share of the training that is done.

    Attributes:
        first: at the start.
        last: at the end.
        shape: "linear"; "exponential", by equal factors; or "sigmoid", late and then fast: the three decays
            of scheduled sampling (Bengio et al. 2015).
        stairs: 0 for a smooth change; else the number of equal parts of the training in which the number
            stays the same: the first part has `first`, the last one `last`.

    Raises InputError for an exponential shape with numbers that are not positive, and for stairs below 0.
    """

    first: float
    last: float
    shape: Literal["linear", "exponential", "sigmoid"] = "linear"
    stairs: int = 0

    def __post_init__(self) -> None:
        if self.shape == "exponential" and min(self.first, self.last) <= 0:
            raise InputError(f"expected positive numbers of an exponential schedule, got {self}")
        if self.stairs < 0 or (self.stairs == 1 and self.first != self.last):
            raise InputError(f"expected no stairs or at least 2, got {self.stairs}")

    def at(self, done: float) -> float:
        """The number when the share `done`, 0 to 1, of all frames has been collected; constant beyond."""
        share = min(max(done, 0.0), 1.0)
        if self.stairs > 1:
            # a share that was computed as k / stairs may lie a rounding below it
            share = min(int(share * self.stairs + 1e-9), self.stairs - 1) / (self.stairs - 1)
        if self.shape == "exponential":
            return self.first * (self.last / self.first) ** share
        if self.shape == "sigmoid":
            steep = 10.0  # from 0.7 % to 99.3 % of the way
            low, high = (1.0 / (1.0 + math.exp(steep * (0.5 - end))) for end in (0.0, 1.0))
            share = (1.0 / (1.0 + math.exp(steep * (0.5 - share))) - low) / (high - low)
        return self.first + (self.last - self.first) * share


def constant(value: float) -> Schedule:
    """The schedule that stays at `value`."""
    return Schedule(value, value)


def powers(factor: float, iterations: int) -> Schedule:
    """The teacher's shares of DAgger in VLN-CE (dagger_trainer.py): `factor` to the power of 1, 2, 3, ...

    The training's `iterations` parts have one each.
    """
    return Schedule(factor, factor**iterations, "exponential", iterations)


@dataclass(frozen=True)
class OptimiserSettings:
    """Settings of Adam.

    Attributes:
        rate: learning rate, by frames.
        epsilon: of Adam.
        max_gradient: norm of the whole gradient beyond which it is scaled down.
        weight_decay: share of each weight that a step at rate 1 takes off, beside the gradient (AdamW); 0 for
            none.
    """

    rate: Schedule = Schedule(2.5e-4, 2.5e-4)
    epsilon: float = 1e-5
    max_gradient: float = 0.5
    weight_decay: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.weight_decay < 1:
            raise InputError(f"expected a weight_decay from 0 to below 1, got {self.weight_decay}")
        if not all(one > 0 for one in (self.rate.first, self.epsilon, self.max_gradient)):
            raise InputError(f"expected a positive rate, epsilon and max_gradient, got {self}")
        if not self.rate.last >= 0:
            raise InputError(f"expected a rate that ends at 0 or above, got {self.rate.last}")


@dataclass(frozen=True)
class PPOSettings:
    """Settings of recurrent PPO; the defaults are those of habitat-lab (default_structured_configs.py).

    Attributes:
        optimiser: Adam and the gradient's norm.
        clip: of the ratio and of values, by frames.
        epochs: passes over a rollout.
        minibatches: of whole slots, in each epoch.
        order: "shuffled" slots are dealt to the minibatches (habitat-lab, multiON), or "ranges" of
            neighbouring slots come in random order (AllenAct).
        value_weight: of the value loss, which has a factor of 0.5 in itself.
        entropy_weight: by frames.
        value_clip: reading of the clipped value loss: "detached" (habitat-lab), where a clipped value gets no
            gradient; "maximum" (multiON, AllenAct) of clipped and unclipped error; or "none".
        normalise: of advantages, once per rollout: "none"; "variance" (habitat-lab):
            (A - mean) / sqrt(variance + 1e-5); "deviation" (AllenAct): (A - mean) / (deviation + 1e-5), the
            deviation of a sample.
        discount: gamma.
        trace: lambda of generalised advantage estimation.
        bootstrap_truncated: whether the value of the last observation stands for the rewards that a cut-off
            episode would still have brought; the reference code treats time-outs as ends.
        critic_share: of all frames, at first, from which the value's last layer and the heads of auxiliary
            losses alone learn: a policy that imitated has no values, and advantages of random ones would
            undo it (PIRLNav, section 3.2).
        actor_ramp: of all frames, after these, over which the learning rate of everything else rises from 0
            to its full height (PIRLNav's warm-up of the actor).
        auxiliaries: what is learned beside.
    """

    optimiser: OptimiserSettings = OptimiserSettings()
    clip: Schedule = Schedule(0.2, 0.2)
    epochs: int = 4
    minibatches: int = 2
    order: Literal["shuffled", "ranges"] = "shuffled"
    value_weight: float = 0.5
    entropy_weight: Schedule = Schedule(0.01, 0.01)
    value_clip: Literal["detached", "maximum", "none"] = "detached"
    normalise: Literal["none", "variance", "deviation"] = "none"
    discount: float = 0.99
    trace: float = 0.95
    bootstrap_truncated: bool = False
    critic_share: float = 0.0
    actor_ramp: float = 0.0
    auxiliaries: tuple[Auxiliary, ...] = ()

    def __post_init__(self) -> None:
        if min(self.epochs, self.minibatches) < 1:
            raise InputError(
                f"expected at least one epoch and minibatch, got {self.epochs}, {self.minibatches}"
            )
        amounts = (self.clip, self.entropy_weight, Schedule(self.value_weight, self.value_weight))
        if not all(min(one.first, one.last) >= 0 for one in amounts):
            raise InputError(
                f"expected clip, entropy_weight and value_weight of at least 0, got {self.clip}, "
                f"{self.entropy_weight} and {self.value_weight}"
            )
        shares = (self.discount, self.trace, self.critic_share)
        if not all(0 <= share <= 1 for share in shares):
            raise InputError(f"expected discount, trace and critic_share of 0 to 1, got {shares}")
        if not 0 <= self.actor_ramp <= 1 - self.critic_share:
            raise InputError(
                f"expected an actor_ramp of 0 to 1 - critic_share, got {self.actor_ramp} after "
                f"{self.critic_share}"
            )

    def actor_share(self, done: float) -> float:
        """The share, 0 to 1, of the rate at which the actor learns; `done` of all frames were collected."""
        if done < self.critic_share:
            return 0.0
        return 1.0 if not self.actor_ramp else min((done - self.critic_share) / self.actor_ramp, 1.0)


HABITAT_DDPPO = PPOSettings(
    optimiser=OptimiserSettings(max_gradient=0.2),
    epochs=2,
)
"""The preset `habitat-ddppo`: habitat-lab, DD-PPO of PointNav (4 slots x 128 steps per process)."""

_MULTION_LEFT = 1.0 - 19_531 / 300_000

MULTION = PPOSettings(
    optimiser=OptimiserSettings(Schedule(2.5e-4, 2.5e-4 * _MULTION_LEFT), max_gradient=0.2),
    clip=Schedule(0.2, 0.2 * _MULTION_LEFT),
    epochs=2,
    minibatches=4,
    value_clip="maximum",
)
"""The preset `multion`: multiON (16 slots x 128 steps, 40 million frames). Rate and clip fall by
update / 300,000, of which 19,531 updates are made."""

ALLENACT = PPOSettings(
    optimiser=OptimiserSettings(Schedule(3e-4, 0.0), epsilon=1e-8),
    clip=constant(0.1),
    minibatches=1,
    order="ranges",
    value_clip="maximum",
    normalise="deviation",
)
"""The preset `allenact`: RobustNav's settings of AllenAct (60 slots x 128 steps over all processes)."""

PPO_PRESETS = {"multion": MULTION, "habitat-ddppo": HABITAT_DDPPO, "allenact": ALLENACT}
"""Name -> settings."""


@dataclass(frozen=True)
class AggregationSettings:
    """Settings of DAgger with a store (VLN-CE, dagger_trainer.py): collect, then learn from everything.

    Attributes:
        iterations: equal parts of the training's frames; after each one the whole store is learned from.
            The teacher's share follows them with a schedule of as many `stairs` (see `powers`).
        epochs: over the whole store, after each part.
        batch: episodes side by side in a batch.
        order: "lengths" puts episodes of like length together, in shuffled batches, each from a fresh state;
            "tours" puts the episodes of a tour one after the other, and carries the state as far as the
            policy remembers.
        shuffles_tours: whether the episodes of a tour are shuffled before every epoch, as in the reference
            code (tour_dataset.py 163-164); else they keep their order.

    Raises InputError for numbers below 1.
    """

    iterations: int = 10
    epochs: int = 4
    batch: int = 5
    order: Literal["lengths", "tours"] = "lengths"
    shuffles_tours: bool = False

    def __post_init__(self) -> None:
        if min(self.iterations, self.epochs, self.batch) < 1:
            raise InputError(f"expected at least one iteration, epoch and episode in a batch, got {self}")


@dataclass(frozen=True)
class ActorCriticSettings:
    """Settings of HAMT's imitation and reinforcement together (Chen et al. 2021, finetune_src/r2r).

    Episodes that the teacher leads are imitated; from those that the policy leads it learns as actor and
    critic (A2C), by the reward of `navarena.tasks.graphs.fidelity`.

    Attributes:
        teacher_weight: of the loss of imitation.
        discount: gamma.
        value_weight: of the value loss, which has a factor of 0.5 in itself.
        entropy_weight: of the entropy, which is made large.
    """

    teacher_weight: float = 0.2
    discount: float = 0.9
    value_weight: float = 1.0
    entropy_weight: float = 0.01

    def __post_init__(self) -> None:
        if min(vars(self).values()) < 0 or self.discount > 1:
            raise InputError(f"expected weights of at least 0 and a discount of 0 to 1, got {self}")


@dataclass(frozen=True)
class ImitationSettings:
    """Settings of imitation in rollouts: behaviour cloning where the teacher acts alone, else DAgger.

    Attributes:
        optimiser: Adam and the gradient's norm.
        epochs: passes over a rollout.
        minibatches: of whole slots, in each epoch.
        teacher: name of the agent that is imitated, such as "frontier-rgb", which sees what the body sees (in
            the sizes of the policy's images); empty for the one that knows the shortest paths.
        teacher_share: of what the teacher decides, by frames: 1 throughout is behaviour cloning.
        mixing: whether the teacher is drawn for a whole "episode" or for each "step".
        veto: probability with which the teacher's action takes the place of a declaration that it would not
            make: untrained policies declare at once, and episodes would end after a few steps.
        inflection_weight: of labels that differ from the label before, and of first ones; 1 weighs all alike.
            Steps per inflection of the data (`measure_inflections`) is the usual choice.
        skips_stuck: whether labels count nothing that the teacher found by a search, since no single move
            led nearer to the goal.
        auxiliaries: what is learned beside.
        aggregation: for DAgger over a growing store of all episodes; None learns from each rollout once.
        proxies: for HAMT, the proxy tasks that are learned in the place of the labels; None for the labels.
        actor_critic: for HAMT, how it learns from the episodes that it leads; None for imitation in all.
    """

    optimiser: OptimiserSettings = OptimiserSettings()
    epochs: int = 1
    minibatches: int = 2
    teacher: str = ""
    teacher_share: Schedule = Schedule(1.0, 1.0)
    mixing: Literal["episode", "step"] = "episode"
    veto: float = 0.0
    inflection_weight: float = 1.0
    skips_stuck: bool = False
    auxiliaries: tuple[Auxiliary, ...] = ()
    aggregation: AggregationSettings | None = None
    proxies: ProxySettings | None = None
    actor_critic: ActorCriticSettings | None = None

    def __post_init__(self) -> None:
        shares = (self.teacher_share.first, self.teacher_share.last, self.veto)
        if min(self.epochs, self.minibatches) < 1:
            raise InputError(
                f"expected at least one epoch and minibatch, got {self.epochs}, {self.minibatches}"
            )
        if not all(0 <= share <= 1 for share in shares) or not 0 < self.inflection_weight < math.inf:
            raise InputError(f"expected shares of 0 to 1 and a positive inflection_weight, got {self}")
        led = self.teacher_share.first == self.teacher_share.last == 1
        if self.proxies is not None and (not led or self.aggregation or self.auxiliaries):
            raise InputError("expected the teacher alone (teacher_share=1) for proxies, got others")
        if self.actor_critic is not None and (self.mixing != "episode" or self.aggregation or self.proxies):
            raise InputError("expected mixing=episode, no store and no proxies for actor_critic, got others")
