"""Normaliser of images: mean and variance of each channel over all frames that were learned from."""

from navarena.learning.tensors import Tensor, torch

MIN_VARIANCE = 1e-2
"""Smaller variances count as this one (habitat-lab, rl/ddppo/policy/running_mean_and_var.py)."""


class RunningNormaliser(torch.nn.Module):
    """Scales channels by running means and variances, which are part of the weights.

    The statistics change by `learn` alone, once after the updates of each rollout, so that acting and
    learning see the same numbers. (habitat-lab changes them in every forward pass of every epoch; there the
    first ratios of PPO are not 1.) They begin at mean 0 and variance 1, which count as one frame.

    Args:
        channels: C.
    """

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(1, channels, 1, 1))
        self.register_buffer("variance", torch.ones(1, channels, 1, 1))
        self.register_buffer("count", torch.ones(()))

    def forward(self, images: Tensor) -> Tensor:
        """The `images` (B, C, H, W) float32, scaled."""
        return (images - self.mean) * torch.rsqrt(self.variance.clamp(min=MIN_VARIANCE))

    def learn(self, images: Tensor) -> None:
        """Count `images` (B, C, H, W) float32, B frames of equal weight, too."""
        self.merge(
            images.mean((0, 2, 3), keepdim=True),
            images.var((0, 2, 3), correction=0, keepdim=True),
            torch.tensor(float(len(images)), device=images.device),
        )

    def moments(self) -> Tensor:
        """(1 + 2 C,) float64: frames, and the sums of the means and mean squares over them."""
        mean, count = self.mean.flatten().double(), self.count.double().reshape(1)
        squares = self.variance.flatten().double() + mean.square()
        return torch.cat((count, count * mean, count * squares))

    def restore_moments(self, moments: Tensor) -> None:
        """Take over `moments` (1 + 2 C,), in which those of several processes were added up."""
        mean, squares = (moments[1:] / moments[0]).chunk(2)
        self.count.copy_(moments[0])
        self.mean.copy_(mean.reshape(self.mean.shape))
        self.variance.copy_((squares - mean.square()).reshape(self.variance.shape))

    def merge(self, mean: Tensor, variance: Tensor, count: Tensor) -> None:
        """Join the statistics of other frames with these.

        Args:
            mean: (1, C, 1, 1) float32.
            variance: (1, C, 1, 1) float32, around `mean`.
            count: () float32, frames.
        """
        total = self.count + count
        apart = (mean - self.mean).square() * self.count * count / total
        self.variance.copy_((self.variance * self.count + variance * count + apart) / total)
        self.mean.copy_((self.mean * self.count + mean * count) / total)
        self.count.copy_(total)
