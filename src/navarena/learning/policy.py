"""Policies: one interface for choosing actions and for evaluating executed ones."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

from navarena.core.errors import InputError
from navarena.learning.inputs import POSE_INPUTS, InputSpec
from navarena.learning.networks.attention import POSE
from navarena.learning.networks.encoders import FROZEN
from navarena.learning.networks.heads import CategoricalHead, Distribution, GaussianHead, Uniforms
from navarena.learning.networks.making import make_encoder, make_memory
from navarena.learning.settings import PolicySettings
from navarena.learning.tensors import Tensor, Tree, reset_rows, torch

PREVIOUS = "previous_action"
"""Name in a state: (N,) int64, the action before, plus 1; 0 at the start of an episode and behind NO_ACTION.
Of continuous policies (N, K) float32."""


class Decision(NamedTuple):
    """Decisions of a policy in N slots.

    Attributes:
        actions: (N,) int64, or (N, K) float32.
        state: after the step, the actions included.
        values: (N,) float32, expected return.
        log_probs: (N,) float32, of the actions.
    """

    actions: Tensor
    state: Tree
    values: Tensor
    log_probs: Tensor


class Judgement(NamedTuple):
    """Judgement of a policy on T x N steps.

    Attributes:
        distribution: over the actions, (T, N).
        values: (T, N) float32, expected returns.
        state: after the last step.
    """

    distribution: Distribution
    values: Tensor
    state: Tree


class Policy(torch.nn.Module):
    """Interface of policies; the state is explicit: a tree of tensors with a row for each slot.

    Attributes:
        in_bfloat16: whether products of encoders and memories are computed in bfloat16, while acting as in
            `evaluate_sequence`; what comes out, the heads, states and weights stay float32.
    """

    in_bfloat16 = False

    @abstractmethod
    def initial_state(self, slots: int) -> Tree:
        """The state of `slots` (N) slots before anything was seen: all 0."""

    @abstractmethod
    def act(
        self,
        observations: Tree,
        state: Tree,
        mask: Tensor,
        generator: Uniforms | None = None,
        temperature: float = 1.0,
    ) -> Decision:
        """Decide in N slots.

        Args:
            observations: name -> (N, ...).
            state: before the step.
            mask: (N,) bool, False where the step is the first of an episode; the state counts as 0 there.
            generator: draws the actions; None takes the likeliest.
            temperature: above 0, at which they are drawn; the log-probabilities are those of 1.
        """

    def follow(self, observations: Tree, state: Tree, mask: Tensor) -> Tree:
        """The state after a step in which a teacher decides in all slots; arguments as of `act`.

        `replace_actions` adds what was executed.
        """
        return self.act(observations, state, mask).state

    @abstractmethod
    def replace_actions(self, state: Tree, actions: Tensor) -> Tree:
        """The `state` after a step in which `actions` (N,) or (N, K) were executed."""

    @abstractmethod
    def evaluate_sequence(self, observations: Tree, actions: Tensor, state: Tree, mask: Tensor) -> Judgement:
        """Judge T steps of N slots, as `act` would have one after the other.

        Args:
            observations: name -> (T, N, ...).
            actions: (T, N) int64, or (T, N, K) float32, that were taken.
            state: before the first step.
            mask: (T, N) bool, as of `act`.
        """

    @property
    def frozen(self) -> tuple[InputSpec, ...]:
        """Specs of frozen image features that rollouts store; see Encoder."""
        return ()

    def see_frozen(self, observations: Tree) -> Tree:
        """Frozen features, name -> (N, ...) float32, of the images in name -> (N, ...)."""
        return {}

    def learn_statistics(self, observations: Tree) -> None:
        """Count a rollout's `observations`, name -> (T, N, ...), in what scales the inputs.

        It comes after the updates from the rollout, so that acting and learning scale alike.
        """

    def measure_image_effect(self, observations: Tree) -> float | None:
        """Mean change of a feature, in units of its mean size, when slots see each other's camera images.

        It is 0 for an encoder that has died: the policy is blind, whatever its loss. None without cameras or
        such an encoder, and for a single slot.

        Args:
            observations: name -> (N, ...), of N slots.
        """
        return None

    def _mixed(self, device: Any) -> Any:
        """The context of encoders and memory."""
        return torch.autocast(device.type, torch.bfloat16, enabled=self.in_bfloat16)


class RecurrentPolicy(Policy):
    """An encoder, a memory with explicit state, a head for actions and one for the value.

    Args:
        inputs: what it sees.
        actions: number of discrete actions, or numbers of a continuous one.
        settings: networks and sizes.
        is_continuous: whether actions are numbers in (-1, 1).
        masked: indices of discrete actions that are never taken.

    Raises InputError for inputs that the networks cannot read.
    """

    def __init__(
        self,
        inputs: Sequence[InputSpec],
        actions: int,
        settings: PolicySettings,
        is_continuous: bool = False,
        masked: Sequence[int] = (),
    ) -> None:
        super().__init__()
        self._is_continuous, self._actions = is_continuous, actions
        self._cameras = [one.name for one in inputs if one.is_image and not one.is_map]
        self._has_token, self._has_pose = settings.start_token, settings.has_pose
        if settings.has_pose and not set(POSE_INPUTS) <= {one.name for one in inputs}:
            raise InputError(f"expected the inputs {', '.join(POSE_INPUTS)} for has_pose, got {inputs}")
        self.encoder = make_encoder(inputs, settings)
        self.action_encoder = self._make_action_encoder(settings.action_features)
        size = self.encoder.features + settings.action_features + POSE * settings.has_pose
        self.memory = make_memory(size, settings, self.encoder)
        self.head = (
            GaussianHead(self.memory.features, actions)
            if is_continuous
            else CategoricalHead(self.memory.features, actions, masked)
        )
        self.critic = torch.nn.Linear(self.memory.features, 1)
        torch.nn.init.orthogonal_(self.critic.weight)
        torch.nn.init.zeros_(self.critic.bias)

    def mask_action(self, action: int) -> None:
        """Exclude the discrete `action` from now on; raises InputError if no other is left."""
        self.head.mask(action)

    def _make_action_encoder(self, features: int) -> torch.nn.Module | None:
        if not features:
            return None
        if self._is_continuous:
            return torch.nn.Linear(self._actions, features)
        return torch.nn.Embedding(self._actions + self._has_token, features)

    def initial_state(self, slots: int) -> Tree:
        state, device = self.memory.initial_state(slots), self.critic.weight.device
        if self._is_continuous:
            return state | {PREVIOUS: torch.zeros(slots, self._actions, device=device)}
        return state | {PREVIOUS: torch.zeros(slots, dtype=torch.int64, device=device)}

    def act(
        self,
        observations: Tree,
        state: Tree,
        mask: Tensor,
        generator: Uniforms | None = None,
        temperature: float = 1.0,
    ) -> Decision:
        with self._mixed(mask.device):
            features = self._encode(observations, state[PREVIOUS], mask)
            output, after = self.memory.step(features, state, mask)
        output = output.float()
        distribution = self.head(output)
        if generator is None:
            actions = distribution.mode()
        else:
            actions = distribution.sharpen(temperature).sample(generator)
        values = self.critic(output).float()[:, 0]
        return Decision(actions, self.replace_actions(after, actions), values, distribution.log_prob(actions))

    def _encode(self, observations: Tree, previous: Tensor, mask: Tensor) -> Tensor:
        """(B, F) float32 memory inputs of B steps; `previous` (B, ...) are the actions before them."""
        parts = [observations[name].float() for name in POSE_INPUTS] if self._has_pose else []
        parts.append(self.encoder(observations))
        if self.action_encoder is not None:
            previous = reset_rows({PREVIOUS: previous}, mask)[PREVIOUS]
            if not (self._is_continuous or self._has_token):
                previous = (previous - 1).clamp(min=0)
            parts.append(self.action_encoder(previous).to(parts[-1].dtype))
        return torch.cat(parts, 1)

    @property
    def frozen(self) -> tuple[InputSpec, ...]:
        found: tuple[InputSpec, ...] = self.encoder.frozen
        return found

    def see_frozen(self, observations: Tree) -> Tree:
        with self._mixed(self.critic.weight.device):
            found: Tree = self.encoder.see_frozen(observations)
        return found

    def replace_actions(self, state: Tree, actions: Tensor) -> Tree:
        return state | {PREVIOUS: actions if self._is_continuous else actions + 1}

    def evaluate_sequence(self, observations: Tree, actions: Tensor, state: Tree, mask: Tensor) -> Judgement:
        steps, slots = mask.shape
        before = self.replace_actions({}, actions[:-1])[PREVIOUS]
        previous = torch.cat((state[PREVIOUS][None], before)).flatten(0, 1)
        with self._mixed(mask.device):
            seen = {name: value.flatten(0, 1) for name, value in observations.items()}
            features = self._encode(seen, previous, mask.flatten()).reshape(steps, slots, -1)
            # on a CPU the loop is as fast as packing, and gives the very bits of acting
            unroll = self.memory.unroll_packed if features.is_cuda else self.memory.unroll
            outputs, after = unroll(features, state, mask)
        outputs = outputs.float()
        values = self.critic(outputs).float()[..., 0]
        return Judgement(self.head(outputs), values, self.replace_actions(after, actions[-1]))

    def measure_image_effect(self, observations: Tree) -> float | None:
        images = [name for name in observations if name.removesuffix(FROZEN) in self._cameras]
        if not images or len(observations[images[0]]) < 2:
            return None
        swapped = observations | {name: observations[name].roll(1, 0) for name in images}
        with torch.no_grad():
            own, other = self.encoder(observations), self.encoder(swapped)
        return float((own - other).abs().mean() / own.abs().mean().clamp_min(1e-9))

    def learn_statistics(self, observations: Tree) -> None:
        with torch.no_grad():
            self.encoder.learn_statistics({name: value.flatten(0, 1) for name, value in observations.items()})
