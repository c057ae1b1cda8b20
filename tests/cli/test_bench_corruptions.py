"""The benchmark of corruptions measures every one of images, depth and motion, beside its mark."""

from navarena.cli.benchmarks.corruptions import TARGETS_MS, measure
from navarena.corruptions import CORRUPTIONS, DepthCorruption, ImageCorruption, MotionCorruption


def test_everything_is_measured() -> None:
    measured = {one.name.split(",")[0].split(":")[0]: one for one in measure(quick=True)}
    kinds = ImageCorruption, DepthCorruption, MotionCorruption
    assert set(measured) == {name for name in CORRUPTIONS.names() if issubclass(CORRUPTIONS.get(name), kinds)}
    for name, mark in TARGETS_MS.items():
        assert measured[name].unit == "ms" and measured[name].target == mark
        assert measured[name].value > 0
