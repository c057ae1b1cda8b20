"""Image matching: whether two images show the same object, by keypoints, colours and edges."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import cv2
import numpy as np
from jaxtyping import Float32, UInt8

from navarena.agents.encoders.images import ImagesEncoder

Image: TypeAlias = UInt8[np.ndarray, "_ _ 3"]
"""(H, W, 3) sRGB bytes."""

MatcherName = Literal["sift", "xfeat"]
"""Whose keypoints are compared: those of SIFT, or the learned ones of XFeat."""


@dataclass(frozen=True)
class MatchSettings:
    """Settings of image matching.

    Attributes:
        longest_side: pixels to which larger images are brought.
        max_points: keypoints of an image, the clearest first.
        ratio: a match must be nearer than this share of the next best (Lowe 2004 advises 0.8 at most).
        error_px: by how much points of one plane may miss each other.
        min_points: matches without which no plane is sought; four fix one.
        max_tries: planes that are tried; 200 find one that 40 % of the matches lie on 99 times in 100.
        chance_points: inliers that images of different objects have, too; only more of them count.
        half_points: further inliers at which the keypoints say 0.5.
        max_growth: times by which areas may grow or shrink from one image to the other.
        points_weight: share of the keypoints in the score; the rest is likeness of the histograms. Small,
            as keypoints seldom survive a look from another side, and walls have them, too.
    """

    longest_side: int = 320
    max_points: int = 300
    ratio: float = 0.7
    error_px: float = 5.0
    min_points: int = 6
    max_tries: int = 200
    chance_points: int = 6
    half_points: float = 10.0
    max_growth: float = 20.0
    points_weight: float = 0.2


@dataclass(frozen=True, eq=False)
class ImageFeatures:
    """Keypoints and histogram of an image, for matching.

    Attributes:
        points: (P, 2) float32 pixels (right, down) of keypoints.
        features: (P, F) float32: 128 of SIFT, as roots of shares (Arandjelovic and Zisserman 2012), or 64 of
            XFeat.
        histogram: (D,) float32 of length 1 (ImagesEncoder).
        size: pixels (across, down) of the image in which the points lie.
    """

    points: Float32[np.ndarray, "p 2"]
    features: Float32[np.ndarray, "p f"]
    histogram: Float32[np.ndarray, "d"]
    size: tuple[int, int]


class ImageMatcher:
    """Compares a goal's image with views: SIFT, ratio test, inliers of a homography, histograms.

    Args:
        settings: thresholds and weights.
    """

    def __init__(self, settings: MatchSettings = MatchSettings()) -> None:
        self.settings = settings
        self._histograms = ImagesEncoder()
        self._sift = cv2.SIFT.create(nfeatures=settings.max_points)

    def __reduce__(self) -> tuple[type, tuple[MatchSettings]]:
        return type(self), (self.settings,)  # OpenCV's objects have no pickle

    def extract(self, image: Image) -> ImageFeatures:
        """The features of an image (H, W, 3) uint8 sRGB, to be computed once per image."""
        height, width = image.shape[:2]
        scale = min(1.0, self.settings.longest_side / max(height, width))
        size = max(1, round(width * scale)), max(1, round(height * scale))
        grey = cv2.cvtColor(np.ascontiguousarray(image), cv2.COLOR_RGB2GRAY)
        found, features = self._sift.detectAndCompute(
            cv2.resize(grey, size, interpolation=cv2.INTER_AREA), None
        )
        points = np.array([point.pt for point in found], np.float32).reshape(-1, 2)
        if features is None:
            features = np.zeros((0, 128), np.float32)
        shares = features / np.maximum(features.sum(1, keepdims=True), 1e-9)
        return ImageFeatures(points, np.sqrt(shares, dtype=np.float32), self.count(image), size)

    def count(self, image: Image) -> Float32[np.ndarray, "d"]:
        """(D,) float32 of length 1: the histogram of an image (H, W, 3) uint8 sRGB."""
        return np.asarray(self._histograms.encode_images([image])[0])

    def scores(
        self, goal_image: Image | ImageFeatures, views: Sequence[Image | ImageFeatures]
    ) -> Float32[np.ndarray, "n"]:
        """(N,) float32 in [0, 1]: confidence that each of N views shows the object of the goal image."""
        goal = self._features_of(goal_image)
        weight = self.settings.points_weight
        scores = np.zeros(len(views), np.float32)
        for row, view in enumerate(views):
            other = self._features_of(view)
            points = self.inliers(goal, other)
            alike = float(np.clip(goal.histogram @ other.histogram, 0.0, 1.0))
            more = max(0, points - self.settings.chance_points)
            scores[row] = weight * more / (more + self.settings.half_points) + (1 - weight) * alike
        return scores

    def inliers(self, goal: ImageFeatures, view: ImageFeatures) -> int:
        """Number of keypoints of `goal` that match keypoints of `view` under one homography."""
        if len(goal.points) < self.settings.min_points or len(view.points) < self.settings.min_points:
            return 0
        pairs = match_features(goal.features, view.features, self.settings.ratio)
        if len(pairs) < self.settings.min_points:
            return 0
        plane, agree = cv2.findHomography(
            goal.points[pairs[:, 0]],
            view.points[pairs[:, 1]],
            cv2.RANSAC,
            self.settings.error_px,
            maxIters=self.settings.max_tries,
        )
        if plane is None or agree is None:
            return 0
        growth, most = float(np.linalg.det(plane[:2, :2])), self.settings.max_growth
        return int(np.count_nonzero(agree)) if 1 / most < growth < most else 0

    def _features_of(self, image: Image | ImageFeatures) -> ImageFeatures:
        return image if isinstance(image, ImageFeatures) else self.extract(image)


def make_matcher(name: MatcherName) -> ImageMatcher:
    """The matcher of images with the keypoints of `name`.

    Raises MissingExtraError where its package is not installed, FileError without weights.
    """
    if name == "sift":
        return ImageMatcher()
    from navarena.agents.encoders.xfeat import XFeatMatcher  # derives from ImageMatcher, and loads PyTorch

    return XFeatMatcher()


def match_features(
    first: Float32[np.ndarray, "p d"], second: Float32[np.ndarray, "q d"], ratio: float
) -> np.ndarray:
    """(M, 2) int64 rows of `first` and `second` whose features are nearest to each other.

    The nearest of `second` (Q >= 2 of them) must be nearer than `ratio` times the next one.
    """
    squares = (first**2).sum(1)[:, None] + (second**2).sum(1) - 2 * first @ second.T
    everyone, nearest = np.arange(len(first)), squares.argmin(1)
    best, mutual = squares[everyone, nearest], squares.argmin(0)[nearest] == everyone
    squares[everyone, nearest] = np.inf
    rows = np.flatnonzero(mutual & (np.maximum(best, 0.0) < ratio**2 * np.maximum(squares.min(1), 0.0)))
    return np.stack([rows, nearest[rows]], 1)
