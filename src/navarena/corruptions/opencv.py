"""The image operations of OpenCV that corruptions need, each as one function."""

import cv2
import numpy as np
from jaxtyping import Bool, Float, Float32, Int32, Int64, UInt8


def repeat_edges(image: UInt8[np.ndarray, "h w 3"], margin: int) -> UInt8[np.ndarray, "H W 3"]:
    """(H + 2 margin, W + 2 margin, 3) uint8: `image` inside repetitions of its outermost pixels."""
    return np.asarray(
        cv2.copyMakeBorder(image, margin, margin, margin, margin, cv2.BORDER_REPLICATE), np.uint8
    )


def mirror_edges(image: UInt8[np.ndarray, "h w 3"], margin: int) -> UInt8[np.ndarray, "H W 3"]:
    """(H + 2 margin, W + 2 margin, 3) uint8: `image` mirrored at its outermost pixels, which are not
    repeated.
    """
    return np.asarray(
        cv2.copyMakeBorder(image, margin, margin, margin, margin, cv2.BORDER_REFLECT_101), np.uint8
    )


def blur_gaussian(layer: Float32[np.ndarray, "h w"], sigma: float) -> Float32[np.ndarray, "h w"]:
    """(H, W) float32: `layer` blurred by a Gaussian of `sigma` pixels, cut at 4 sigma, edges repeated."""
    size = 2 * int(4 * sigma + 0.5) + 1
    return np.asarray(cv2.GaussianBlur(layer, (size, size), sigma, borderType=cv2.BORDER_REPLICATE))


def soften_kernel(kernel: Float32[np.ndarray, "m m"], size: int, sigma: float) -> Float32[np.ndarray, "m m"]:
    """(M, M) float32 weights: `kernel` blurred by a Gaussian of size x size taps and `sigma` pixels,
    mirrored at its edges.
    """
    return np.asarray(cv2.GaussianBlur(kernel, (size, size), sigma))


def find_edges(layer: UInt8[np.ndarray, "h w"], low: float, high: float) -> UInt8[np.ndarray, "h w"]:
    """(H, W) uint8: 255 on Canny's edges with these thresholds, else 0."""
    return np.asarray(cv2.Canny(layer, low, high), np.uint8)


def measure_distances(free: UInt8[np.ndarray, "h w"]) -> Float32[np.ndarray, "h w"]:
    """(H, W) float32 pixels to the nearest zero of `free`, by chamfer steps of a 5 x 5 mask."""
    return np.asarray(cv2.distanceTransform(free, cv2.DIST_L2, 5), np.float32)


def blur_box(layer: np.ndarray, size: int = 3) -> np.ndarray:
    """(H, W): means of `layer` over size x size pixels, mirrored at the edges, of its dtype."""
    return np.asarray(cv2.blur(layer, (size, size)))


def widen(mask: Bool[np.ndarray, "h w"], margin: int) -> Bool[np.ndarray, "h w"]:
    """(H, W) bool: whether a true pixel of `mask` lies within `margin` pixels in each direction."""
    square = np.ones((2 * margin + 1, 2 * margin + 1), np.uint8)
    return np.asarray(cv2.dilate(mask.astype(np.uint8), square) > 0)


def equalise(layer: UInt8[np.ndarray, "h w"]) -> UInt8[np.ndarray, "h w"]:
    """(H, W) uint8: `layer` with its histogram equalised."""
    return np.asarray(cv2.equalizeHist(layer), np.uint8)


def filter_bytes(
    layer: UInt8[np.ndarray, "h w"], kernel: Int64[np.ndarray, "m m"]
) -> UInt8[np.ndarray, "h w"]:
    """(H, W) uint8: weighted sums of `layer` under `kernel` (M, M) weights, clipped to bytes."""
    return np.asarray(cv2.filter2D(layer, cv2.CV_8U, kernel.astype(np.float32)), np.uint8)


def draw_lines(
    layer: UInt8[np.ndarray, "h w"],
    points: Float[np.ndarray, "p 2"],
    value: int,
    thickness: int,
    smooth: bool = True,
) -> None:
    """Draw a line of bytes.

    Args:
        layer: (H, W) uint8 to draw into.
        points: (P, 2) pixels right and down, along the line.
        value: byte to write.
        thickness: pixels.
        smooth: whether its edges are mixed with what is there.
    """
    fixed = np.rint(points * 16).astype(np.int32)[:, None]
    cv2.polylines(layer, [fixed], False, value, thickness, cv2.LINE_AA if smooth else cv2.LINE_8, 4)


def label_regions(free: UInt8[np.ndarray, "h w"]) -> Int32[np.ndarray, "h w"]:
    """(H, W) int32 number of each pixel's region of non-zero pixels, joined by sides; 0 where zero."""
    return np.asarray(cv2.connectedComponents(free, connectivity=4)[1], np.int32)
