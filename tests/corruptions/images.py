"""Images for tests of corruptions: smooth colours with edges, drawn from a seed."""

import numpy as np

from navarena.core.seeding import make_generator


def draw_image(height: int, width: int, seed: int = 0) -> np.ndarray:
    """(H, W, 3) uint8: waves of colour with boxes in them."""
    generator = make_generator("test image", seed)
    down, right = np.mgrid[:height, :width]
    waves = [127 + 100 * np.sin(right / (9 + 4 * c) + c) * np.cos(down / (13 - 2 * c)) for c in range(3)]
    image = np.stack(waves, 2).astype(np.uint8)
    for top, left in generator.integers(0, (height, width), (12, 2)):
        image[top : top + height // 6, left : left + width // 8] = generator.integers(0, 256, 3)
    return image


def draw_depth(height: int, width: int) -> np.ndarray:
    """(H, W) float32 metres: a floor that runs away, a box at 1 m, and a window where nothing is hit."""
    depth = np.linspace(9, 0.5, height, dtype=np.float32)[:, None] + np.zeros((height, width), np.float32)
    depth[height // 4 : height // 2, width // 3 : width // 2] = 1
    depth[: height // 5, -(width // 5) :] = 0
    return depth
