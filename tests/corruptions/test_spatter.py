"""Drops on the lens against a plain statement of the source's operations, on the same noise."""

import cv2
import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

from navarena.core.seeding import make_generator
from navarena.corruptions.normals import draw_normals
from navarena.corruptions.spatter import DROPS, put_on_lens, water_mask

from .images import draw_image

TABLE = [
    (0.65, 0.3, 4, 0.69, 0.6, "water"),
    (0.65, 0.3, 3, 0.68, 0.6, "water"),
    (0.65, 0.3, 2, 0.68, 0.5, "water"),
    (0.65, 0.3, 1, 0.65, 1.5, "mud"),
    (0.67, 0.4, 1, 0.65, 1.5, "mud"),
]


def plain_box(layer: np.ndarray) -> np.ndarray:
    padded = np.pad(layer.astype(np.float64), 1, mode="reflect")
    height, width = layer.shape
    return sum(padded[a : a + height, b : b + width] for a in range(3) for b in range(3)) / 9


def plain_equalise(layer: np.ndarray) -> np.ndarray:
    counts = np.bincount(layer.ravel(), minlength=256)
    first = int(np.flatnonzero(counts)[0])
    if counts[first] == layer.size:
        return layer
    scale = 255 / (layer.size - counts[first])
    table = np.rint((np.cumsum(counts) - counts[first]) * np.float32(scale)).clip(0, 255).astype(np.uint8)
    return table[layer]


def plain_spatter(image: np.ndarray, noise: np.ndarray, severity: int) -> np.ndarray:
    """The steps as the source lists them, in double precision; only Canny and distances are OpenCV's."""
    level, spread, reach, threshold, strength, kind = TABLE[severity - 1]
    liquid = gaussian_filter(level + spread * noise.astype(np.float64), reach, mode="nearest", truncate=4)
    liquid[liquid < threshold] = 0
    shares = image / 255
    if kind == "water":
        layer = (liquid * 255).astype(np.uint8)
        distance = cv2.distanceTransform(255 - cv2.Canny(layer, 50, 150), cv2.DIST_L2, 5)
        relief = plain_equalise(plain_box(np.minimum(distance, 20)).astype(np.uint8))
        padded = np.pad(relief.astype(int), 1, mode="reflect")
        height, width = layer.shape
        weights = [(-2, -1, 0), (-1, 1, 1), (0, 1, 2)]
        lit = sum(
            weights[a][b] * padded[a : a + height, b : b + width] for a in range(3) for b in range(3)
        ).clip(0, 255)
        mask = layer * np.rint(plain_box(lit))
        mask = mask / mask.max() * strength
        shares = shares + mask[..., None] * np.array([175, 238, 238]) / 255
    else:
        mask = gaussian_filter((liquid > threshold).astype(np.float64), strength, mode="nearest", truncate=4)
        mask[mask < 0.8] = 0
        shares = shares * (1 - mask[..., None]) + mask[..., None] * np.array([63, 42, 20]) / 255
    return (np.clip(shares, 0, 1) * 255 + 1e-6).astype(np.uint8)


@pytest.mark.parametrize("severity", [1, 2, 3, 4, 5])
def test_every_step_of_the_source(severity: int) -> None:
    image = draw_image(150, 200)
    noise = draw_normals(make_generator("spatter", severity), 150, 200)
    spoilt = put_on_lens(image, noise, DROPS[severity - 1])
    expected = plain_spatter(image, noise, severity)
    difference = np.abs(spoilt.astype(int) - expected)
    assert (difference > 1).mean() < 2e-4 and (difference > 0).mean() < 5e-3
    assert (spoilt != image).mean() > 0.02, "there are drops"


def test_a_dry_lens_changes_nothing() -> None:
    noise = np.full((20, 30), -3, np.float32)
    image = draw_image(20, 30)
    assert not water_mask(0.65 + 0.3 * noise, DROPS[0]).any()
    for drops in DROPS:
        assert np.array_equal(put_on_lens(image, noise, drops), image)
