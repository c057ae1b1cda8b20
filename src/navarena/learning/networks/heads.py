"""Heads: distributions over actions, discrete or continuous."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from navarena.core.errors import InputError
from navarena.learning.storage import NO_ACTION
from navarena.learning.tensors import Tensor, torch

Uniforms = Callable[[int, int], Tensor]
"""(rows, columns) -> (rows, columns) float64 random numbers in [0, 1): where sampled actions come from."""

FORBIDDEN = -1e9
"""Logit of an action that is masked: its probability is exactly 0, and 0 times its logarithm still 0."""

LOG_DEVIATION = (-5.0, 2.0)
"""Bounds of the logarithm of the standard deviation of continuous actions (SAC of Spinning Up begins
at -20; from -5 on a deviation is far below what a body here resolves)."""

LARGEST_ACTION = 1.0 - 1e-6
"""Continuous actions stay within: beyond, float32 cannot invert tanh."""


@runtime_checkable
class Distribution(Protocol):
    """A distribution over actions, for each of any leading dimensions."""

    def mode(self) -> Tensor:
        """The likeliest actions."""
        ...

    def sample(self, uniforms: Uniforms) -> Tensor:
        """Actions drawn by `uniforms`; of (N,) distributions."""
        ...

    def sharpen(self, temperature: float) -> "Distribution":
        """The distributions at a `temperature` above 0: 1 changes nothing, 0.5 doubles logits."""
        ...

    def log_prob(self, actions: Tensor) -> Tensor:
        """Logarithms of the probabilities (or densities) of `actions`, float32."""
        ...

    def entropy(self) -> Tensor:
        """Entropies in nats, float32."""
        ...


@dataclass(frozen=True)
class Categorical:
    """A distribution over A discrete actions.

    Attributes:
        log_probs: (..., A) float32, normalised.
    """

    log_probs: Tensor

    def mode(self) -> Tensor:
        """(...,) int64, the first of the likeliest."""
        return self.log_probs.argmax(-1)

    def sample(self, uniforms: Uniforms) -> Tensor:
        """(N,) int64, by the inverse of the cumulative probabilities, in float64."""
        cumulative = self.log_probs.double().exp().cumsum(-1)
        drawn = uniforms(len(cumulative), 1).to(cumulative.device) * cumulative[:, -1:]
        return (cumulative <= drawn).sum(-1)

    def sharpen(self, temperature: float) -> "Categorical":
        """The distributions with logits divided by `temperature`."""
        return (
            self if temperature == 1.0 else Categorical(torch.log_softmax(self.log_probs / temperature, -1))
        )

    def log_prob(self, actions: Tensor) -> Tensor:
        """(...,) float32: logarithms of the probabilities of `actions` (...,) int64; 0 of NO_ACTION."""
        found = self.log_probs.gather(-1, actions.clamp_min(0)[..., None])[..., 0]
        return torch.where(actions == NO_ACTION, 0.0, found)

    def entropy(self) -> Tensor:
        """(...,) float32, nats."""
        return -(self.log_probs.exp() * self.log_probs).sum(-1)


class CategoricalHead(torch.nn.Module):
    """A linear layer with small weights (orthogonal, gain 0.01, as habitat-lab's CategoricalNet).

    Args:
        features: of the memory's output.
        actions: A.
        masked: indices of actions that are never taken.

    Raises InputError when no action is left, or a masked one does not exist.
    """

    def __init__(self, features: int, actions: int, masked: Sequence[int] = ()) -> None:
        super().__init__()
        if not set(masked) < set(range(actions)):
            raise InputError(f"expected masked actions below {actions}, and one left, got {list(masked)}")
        self.linear = torch.nn.Linear(features, actions)
        torch.nn.init.orthogonal_(self.linear.weight, 0.01)
        torch.nn.init.zeros_(self.linear.bias)
        forbidden = torch.zeros(actions, dtype=torch.bool)
        forbidden[list(masked)] = True
        self.register_buffer("forbidden", forbidden, persistent=False)

    def mask(self, action: int) -> None:
        """Never take `action` from here on; raises InputError where no other is left."""
        left = ~self.forbidden
        left[action] = False
        if not left.any():
            raise InputError(f"expected another action than {action} to be left, got none")
        self.forbidden[action] = True

    def forward(self, features: Tensor) -> Categorical:
        """The distributions (...,) of `features` (..., F)."""
        logits = self.linear(features).float().masked_fill(self.forbidden, FORBIDDEN)
        return Categorical(torch.log_softmax(logits, -1))


@dataclass(frozen=True)
class TanhGaussian:
    """A normal distribution of K numbers, squashed by tanh into (-1, 1).

    Attributes:
        mean: (..., K) float32, before tanh.
        log_deviation: (..., K) float32, before tanh.
    """

    mean: Tensor
    log_deviation: Tensor

    def mode(self) -> Tensor:
        """(..., K) float32: tanh of the mean."""
        return self.mean.tanh().clamp(-LARGEST_ACTION, LARGEST_ACTION)

    def sample(self, uniforms: Uniforms) -> Tensor:
        """(N, K) float32, by the inverse of the normal distribution."""
        drawn = uniforms(*self.mean.shape).to(self.mean.device).clamp(1e-12, 1.0 - 1e-12)
        normal = (math.sqrt(2.0) * torch.erfinv(2.0 * drawn - 1.0)).float()
        before = self.mean + self.log_deviation.exp() * normal
        return before.tanh().clamp(-LARGEST_ACTION, LARGEST_ACTION)

    def sharpen(self, temperature: float) -> "TanhGaussian":
        """The distributions with deviations multiplied by the square root of `temperature`."""
        return TanhGaussian(self.mean, self.log_deviation + 0.5 * math.log(temperature))

    def log_prob(self, actions: Tensor) -> Tensor:
        """(...,) float32: logarithm of the density at `actions` (..., K), with the Jacobian of tanh."""
        before = torch.atanh(actions)
        scaled = (before - self.mean) / self.log_deviation.exp()
        normal = -0.5 * scaled.square() - self.log_deviation - 0.5 * math.log(2.0 * math.pi)
        return (normal - torch.log1p(-actions.square())).sum(-1)

    def entropy(self) -> Tensor:
        """(...,) float32, before tanh: the squashed one has no closed form."""
        return (self.log_deviation + 0.5 * math.log(2.0 * math.pi * math.e)).sum(-1)


class GaussianHead(torch.nn.Module):
    """A linear layer for mean and logarithm of the deviation; the latter is clamped to LOG_DEVIATION.

    Args:
        features: of the memory's output.
        numbers: K, of an action.
    """

    def __init__(self, features: int, numbers: int) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(features, 2 * numbers)
        torch.nn.init.orthogonal_(self.linear.weight, 0.01)
        torch.nn.init.zeros_(self.linear.bias)

    def forward(self, features: Tensor) -> TanhGaussian:
        """The distributions (...,) of `features` (..., F)."""
        mean, log_deviation = self.linear(features).float().chunk(2, -1)
        return TanhGaussian(mean, log_deviation.clamp(*LOG_DEVIATION))
