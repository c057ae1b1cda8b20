"""How far bodies walked, by their images of colours before and after a walk, and by depth."""

# mypy: disable-error-code="no-untyped-def"

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float32, UInt8

from navarena.core.errors import InputError
from navarena.core.geometry import focal_length
from navarena.core.kernels import kernel
from navarena.simulation.body import Camera


@dataclass(frozen=True)
class WalkSettings:
    """Settings of measured walks.

    The numbers are ours; walks of one agent in 12 episodes of `test` of `houses-v1`, 454 of 1,422 of them
    blocked, had a mean error of 0.9 cm, where the commands have 6.8 cm.

    Attributes:
        columns: pixels across of the grey images that are compared, about.
        resolution: metres between two lengths that are tried.
        gain: share by which a shorter walk must explain the image better than the whole one. Depth that is
            predicted too small or too large makes whole walks fit a little worse than others.
        cap: levels of grey (0 to 255), greatest difference that counts, for what was hidden before.
    """

    columns: int = 160
    resolution: float = 0.0125
    gain: float = 0.25
    cap: float = 20.0

    def __post_init__(self) -> None:
        if not (self.columns > 0 and self.resolution > 0 and 0 <= self.gain < 1 and self.cap > 0):
            raise InputError(
                f"expected positive columns, resolution and cap, and a gain of 0 to 1, got {self}"
            )


USUAL_WALKS = WalkSettings()


def shrink_to_grey(
    rgb: UInt8[np.ndarray, "n h w 3"], settings: WalkSettings = USUAL_WALKS
) -> Float32[np.ndarray, "n r c"]:
    """Means of colours over squares of pixels, (N, R, C) float32, 0 to 255; what fills no square is left out.

    Args:
        rgb: (N, H, W, 3) uint8 sRGB.
        settings: how many columns.
    """
    count, height, width, _ = rgb.shape
    side = max(1, round(width / settings.columns))
    rows, columns = height // side, width // side
    squares = rgb[:, : rows * side, : columns * side].reshape(count, rows, side, columns, side, 3)
    return squares.mean((2, 4, 5), dtype=np.float32)


def measure_walk(
    before: Float32[np.ndarray, "r c"],
    after: Float32[np.ndarray, "r c"],
    metres: Float32[np.ndarray, "r c"],
    weights: Float32[np.ndarray, "r c"],
    camera: Camera,
    whole: float,
    settings: WalkSettings = USUAL_WALKS,
) -> float:
    """Metres that a body walked ahead, 0 to `whole`: the length by which the image before explains the other.

    Each pixel of `after` is looked up in `before`, where it was if the body walked so far. Where nothing is
    seen that tells lengths apart, it is the whole walk.

    Args:
        before: (R, C) float32 grey image before the walk, as of `shrink_to_grey`.
        after: the same after it.
        metres: (R, C) float32 depth after it, along the optical axis; 0, negative, NaN and infinite depths
            are left out.
        weights: (R, C) float32, of the pixels.
        camera: that sees them; the walk leads ahead at its foot, whatever its pitch.
        whole: metres, the walk that nothing blocks.
        settings: which lengths are tried.
    """
    lengths = np.linspace(0.0, whole, max(2, math.ceil(whole / settings.resolution) + 1))
    stretched = after.shape[0] / after.shape[1] * camera.width_px / camera.height_px
    focal = stretched * focal_length(after.shape[1], camera.hfov)
    differences = np.zeros(len(lengths))
    compare_lengths(
        before, after, metres, weights, focal, (math.sin(camera.pitch), math.cos(camera.pitch)), lengths,
        float(settings.cap), differences,
    )  # fmt: skip
    best = int(differences.argmin())
    return float(lengths[best if differences[best] < (1 - settings.gain) * differences[-1] else -1])


@kernel
def compare_lengths(before, after, metres, weights, focal, pitch, lengths, cap, differences):
    """Write the weighted mean difference of grey (K,) between two images for each of `lengths` (K,) metres.

    focal: pixels, down; pitch: its sine and cosine, upwards. Where no pixel was in view before, the
    difference is 0.
    """
    rows, columns = after.shape
    sine, cosine = pitch
    for k in range(lengths.shape[0]):
        # a walk ahead, in the camera's axes: downwards where it looks up, and along its optical axis
        sinks, comes = sine * lengths[k], cosine * lengths[k]
        total, weight = 0.0, 0.0
        for i in range(rows):
            for j in range(columns):
                depth = metres[i, j]
                if not 0 < depth < math.inf:
                    continue
                v = ((i + 0.5 - rows / 2) * depth + sinks * focal) / (depth + comes) + rows / 2 - 0.5
                u = (j + 0.5 - columns / 2) * depth / (depth + comes) + columns / 2 - 0.5
                if not (0 <= v < rows - 1 and 0 <= u < columns - 1):
                    continue
                r, c = int(v), int(u)
                p, q = v - r, u - c
                grey = (1 - p) * ((1 - q) * before[r, c] + q * before[r, c + 1]) + p * (
                    (1 - q) * before[r + 1, c] + q * before[r + 1, c + 1]
                )
                total += weights[i, j] * min(abs(grey - after[i, j]), cap)
                weight += weights[i, j]
        differences[k] = total / weight if weight > 0 else 0.0
