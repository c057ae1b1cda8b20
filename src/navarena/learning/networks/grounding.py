"""Network of images that says where the goal is: places of the image compared with the goal."""

from collections.abc import Sequence

from navarena.core.errors import InputError
from navarena.learning.networks.encoder_kernels import stack_images
from navarena.learning.networks.encoders import CENTRE, SPREAD, split_rows
from navarena.learning.tensors import Tensor, torch

PLACE_FEATURES = 48
"""Of every place of 4 x 4 pixels."""

ROWS = 128
"""Images that a processor encodes at once: what lies between layers then stays in its cache."""

SCALE = PLACE_FEATURES**0.5
"""By which products of features are divided."""

START = -3.0
"""Logit of the goal at the start: it is rarely in view."""


class GroundingNetwork(torch.nn.Module):
    """Images and the goal as one vector, by way of where in the image the goal is.

    Four convolutions turn 4 x 4 pixels into one place of 48 features, which see 26 x 26 pixels. Their product
    with as many features of the goal is the logit that the goal is there (`locate`), which the auxiliary loss
    `goal_mask` teaches. A convolution of features and logits and a linear layer make the vector. ReLU after
    all but the last convolution of the places.

    Args:
        channels: of all images together.
        height: pixels, a multiple of 4.
        width: pixels, a multiple of 4.
        features: of the output.
        goal_features: of the goal, as it comes from its layer.

    Raises InputError for other sizes.
    """

    def __init__(self, channels: int, height: int, width: int, features: int, goal_features: int) -> None:
        super().__init__()
        if height % 4 or width % 4:
            raise InputError(f"expected sides of multiples of 4 pixels, got {width} x {height}")
        self.places = torch.nn.Sequential(
            torch.nn.Conv2d(channels, 16, 4, 2, 1),
            torch.nn.ReLU(inplace=True),
            torch.nn.Conv2d(16, 32, 4, 2, 1),
            torch.nn.ReLU(inplace=True),
            torch.nn.Conv2d(32, PLACE_FEATURES, 3, 1, 1),
            torch.nn.ReLU(inplace=True),
            torch.nn.Conv2d(PLACE_FEATURES, PLACE_FEATURES, 3, 1, 1),
        )
        self.goal = torch.nn.Linear(goal_features, PLACE_FEATURES)
        self.start = torch.nn.Parameter(torch.full((), START))
        self.compared = torch.nn.Identity()  # auxiliary losses take what passes it
        rows, columns = (-(-side // 8) for side in (height, width))
        self.summary = torch.nn.Sequential(
            torch.nn.ReLU(),
            torch.nn.Conv2d(PLACE_FEATURES + 2, 32, 3, 2, 1),
            torch.nn.ReLU(inplace=True),
            torch.nn.Flatten(),
            torch.nn.Linear(32 * rows * columns, features),
            torch.nn.ReLU(inplace=True),
            # the size of what a memory reads does not depend on what auxiliary losses make of the places
            torch.nn.LayerNorm(features),
        )

    def forward(self, images: Sequence[Tensor], goal: Tensor) -> Tensor:
        """(B, features) of `images` (B, H, W, C_i) and `goal` (B, goal_features)."""
        parts = [
            self.places(stack_images(part, CENTRE, SPREAD).permute(0, 3, 1, 2))
            for part in split_rows(images, ROWS)
        ]
        places, wanted = self.compared((torch.cat(parts), self.goal(goal)))
        logits = self.locate(places, wanted)[:, None]
        # where it is not: ReLU keeps the positive half of either
        marks = torch.cat((logits, -logits), 1).to(places.dtype)
        joined = torch.cat((places, marks), 1)
        return torch.cat([self.summary(part) for part in joined.split(ROWS)])

    def locate(self, places: Tensor, wanted: Tensor) -> Tensor:
        """(B, h, w) float32 logits that the goals `wanted` (B, F) are at the `places` (B, F, h, w)."""
        wanted = (wanted / SCALE).to(places.dtype)  # of places that are of bfloat16, products are too
        return torch.einsum("bchw,bc->bhw", places, wanted).float() + self.start
