"""Corruptions: an image at a time at RobustNav's 400 x 300, and movements in a batch."""

import time

import numpy as np

from navarena.cli.benchmarks.measurement import Measurement, median_seconds
from navarena.core.seeding import make_generator
from navarena.corruptions import (
    CORRUPTIONS,
    Corruption,
    DepthCorruption,
    ImageCorruption,
    MotionCorruption,
    find_corruption,
)

WIDTH_PX, HEIGHT_PX = 400, 300

TARGETS_MS = {
    "speckle_noise": 3.0,
    "lighting": 2.0,
    "defocus_blur": 5.0,
    "motion_blur": 5.0,
    "spatter": 10.0,
}
"""Marks for one image on one core; straightforward OpenCV takes 5, 1.7, 7.5, 16 and 8 ms."""

BATCHES, STEP_TARGET_US = (1, 64), 5.0


def measure(quick: bool) -> list[Measurement]:
    """Milliseconds for an image and microseconds for a step of every corruption, at its slowest severity.

    Args:
        quick: fewer repetitions.
    """
    repeats = 5 if quick else 25
    measured = []
    for name in CORRUPTIONS.names():
        texts = [f"{name}:{severity}" for severity in CORRUPTIONS.get(name).severities] or [name]
        corruptions = {text: find_corruption(text) for text in texts}
        kind = next(iter(corruptions.values()))
        if isinstance(kind, ImageCorruption | DepthCorruption):
            measured.append(max((measure_image(*one, repeats) for one in corruptions.items()), key=_value))
        elif isinstance(kind, MotionCorruption):
            for batch in BATCHES:
                steps = (measure_step(*one, batch, repeats) for one in corruptions.items())
                measured.append(max(steps, key=_value))
    return measured


def _value(one: Measurement) -> float:
    return one.value


def measure_image(text: str, corruption: Corruption, repeats: int) -> Measurement:
    """Milliseconds for one image under a corruption of images or depth, on one core."""
    assert isinstance(corruption, ImageCorruption | DepthCorruption)
    generator = make_generator("bench", "picture")
    if isinstance(corruption, ImageCorruption):
        image = generator.integers(0, 256, (1, HEIGHT_PX, WIDTH_PX, 3), np.uint8)
    else:
        image = generator.uniform(0.5, 8, (1, HEIGHT_PX, WIDTH_PX, 1)).astype(np.float32)
    seconds = median_seconds(
        lambda: corruption.corrupt(image, [make_generator("bench", text)]), repeats, time.thread_time
    )
    name = f"{text}, {WIDTH_PX}x{HEIGHT_PX}"
    return Measurement(
        name, 1e3 * seconds, "ms", TARGETS_MS.get(text.partition(":")[0]), "one core, CPU time"
    )


def measure_step(text: str, corruption: Corruption, batch: int, repeats: int) -> Measurement:
    """Microseconds for one body's movement in a batch of so many, on one core; draws are made before."""
    assert isinstance(corruption, MotionCorruption)
    generator = make_generator("bench", "movement")
    commanded = generator.normal(0, 0.2, (batch, 4))
    drawn = np.stack([corruption.draw(make_generator("bench", text, k), 1)[0] for k in range(batch)])
    floors = np.zeros(batch, np.int64)

    def steps() -> None:
        for _ in range(100):
            corruption.change(commanded.copy(), commanded, drawn, floors)

    seconds = median_seconds(steps, repeats, time.thread_time) / 100 / batch
    return Measurement(
        f"{text}, batch of {batch}", 1e6 * seconds, "us", STEP_TARGET_US, "for a step, one core, CPU time"
    )
