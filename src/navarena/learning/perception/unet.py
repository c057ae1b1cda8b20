"""A small U-Net: of segmenters, of anticipations of maps, and of depth from colours."""

import itertools
from collections.abc import Sequence

from navarena.learning.perception.settings import UNetSettings
from navarena.learning.tensors import Tensor, torch

CHANNELS = 4
"""Of a segmenter: red, green, blue, depth; each 0 to 1."""

Corner = tuple[int, int]
"""Row and column, each 0 or 1, of the first of every second pixel."""

_functional = torch.nn.functional


class _Block(torch.nn.Sequential):  # type: ignore[misc]
    """Two 3 x 3 convolutions, each with batch normalisation and ReLU."""

    def __init__(self, channels: int, features: int) -> None:
        layers = []
        for count in (channels, features):
            layers += [
                torch.nn.Conv2d(count, features, 3, padding=1, bias=False),
                torch.nn.BatchNorm2d(features),
                torch.nn.ReLU(inplace=True),
            ]
        super().__init__(*layers)


class UNet(torch.nn.Module):
    """A U-Net (Ronneberger et al. 2015) of four levels, the finest at half the image's resolution.

    A convolution with stride 2 begins it and a transposed one ends it: a level at full resolution would take
    half of the time. Every level has an output of its own, for losses at all scales as in
    RedNet (Jiang et al. 2018).

    Args:
        classes: C, void included.
        settings: sizes.
        channels: of the images.
    """

    def __init__(self, classes: int, settings: UNetSettings, channels: int = CHANNELS) -> None:
        super().__init__()
        widths = settings.widths
        first = torch.nn.Conv2d(channels, widths[0], 4, stride=2, padding=1, bias=False)
        self.stem = torch.nn.Sequential(first, torch.nn.BatchNorm2d(widths[0]), torch.nn.ReLU(inplace=True))
        self.down = torch.nn.ModuleList(_Block(a, b) for a, b in zip((widths[0], *widths), widths))
        pairs = list(itertools.pairwise(widths))
        self.up = torch.nn.ModuleList(torch.nn.ConvTranspose2d(b, a, 2, 2) for a, b in pairs)
        self.join = torch.nn.ModuleList(_Block(2 * a, a) for a, _ in pairs)
        self.coarse = torch.nn.ModuleList(torch.nn.Conv2d(width, classes, 1) for width in widths)
        self.fine = torch.nn.ConvTranspose2d(widths[0], classes, 2, 2)

    def forward(self, images: Tensor, corner: Corner | None = None) -> list[Tensor]:
        """Scores (B, C, H / s, W / s) for s of 1, 2, 4, 8, 16 of `images` (B, H, W, c) float32, 0 to 1.

        Of a network that does not learn (`eval`) only the finest. With `corner` these are of every second
        pixel from there, across and down, (B, C, H / 2, W / 2), and stand for those of s = 2, too.
        """
        features = self.stem(images.permute(0, 3, 1, 2))
        skipped = []
        for number, block in enumerate(self.down):
            features = block(_functional.max_pool2d(features, 2) if number else features)
            skipped.append(features)
        levels = [features]
        for number in reversed(range(len(self.up))):
            features = self.join[number](torch.cat((skipped[number], self.up[number](features)), 1))
            levels.append(features)
        finest = self._score_finest(features, corner)
        if not self.training:
            return [finest]
        coarse = list(zip(self.coarse, reversed(levels)))[0 if corner is None else 1 :]
        return [finest, *(layer(level) for layer, level in coarse)]

    def _score_finest(self, features: Tensor, corner: Corner | None) -> Tensor:
        if corner is None:
            return self.fine(features)
        # the transposed convolution makes each of four neighbours by a product of its own
        weight = self.fine.weight[:, :, corner[0], corner[1]].t()[:, :, None, None]
        return _functional.conv2d(features, weight, self.fine.bias)


def compute_loss(
    scores: Sequence[Tensor],
    classes: Tensor,
    weights: Tensor,
    coarse_weight: float,
    corner: Corner | None = None,
) -> Tensor:
    """Cross-entropy weighted by class at all scales: () float32.

    Each scale is a mean over its pixels, weighted by their classes; coarse scales compare with the pixel
    nearest to the middle of what one of theirs covers.

    Args:
        scores: of `UNet.forward`, finest first.
        classes: (B, H, W) int64.
        weights: (C,) float32, of the classes.
        coarse_weight: of every scale but the first.
        corner: of the finest scores, where they are of every second pixel.
    """
    total = torch.zeros((), device=classes.device)
    for number, score in enumerate(scores):
        step = classes.shape[1] // score.shape[2]
        row, column = (step // 2, step // 2) if number or corner is None else corner
        wanted = classes[:, row::step, column::step]
        loss = _functional.cross_entropy(score.float(), wanted, weights)
        total = total + (coarse_weight if number else 1.0) * loss
    return total
