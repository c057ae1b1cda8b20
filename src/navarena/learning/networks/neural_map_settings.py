"""Settings of neural maps: memories that write features into a map. Nothing here needs PyTorch."""

from dataclasses import dataclass
from typing import Literal

from navarena.core.errors import InputError
from navarena.mapping.feature_map import EGO_CELLS, GLOBAL_CELLS


@dataclass(frozen=True)
class NeuralMapSettings:
    """Settings of a neural map of cells of 0.8 m around the start: what is written and read.

    Attributes:
        kind: "projected": features of images, dropped to where they are seen, the greatest of each kept
            (ProjNeuralMap of MultiON). "queried": the same, and a query of the memory picks cells besides
            (EgoMap of Beeching et al. 2020, on ProjNeuralMap's map). "recognised": the class of the goal that
            a classifier sees, written where the body stands (ObjRecogMap of MultiON).
        cells: along a side of a map of features. 275 (code) are 220 m; what lies beyond is not remembered.
            A map of 61 holds every house of houses-v1, which are at most 20 m across, and takes 1/20 of the
            memory. Recognised classes have the 300 cells of the oracle map.
        points: along each side of an image that are projected; 0 takes as many as there are features, as the
            code does, 28 x 28 of 256 x 256 pixels.
        reading: "once" turns a projection by the compass once, to where it belongs. "code" does as multiON's
            code: acting turns it twice, so that it lies wrong but near heading 0, and learning adds the
            projection of the step, turned back once, to the window that acting read.
        depth_metres: what 1 of the depth image means; 0 must be 0 m.
        hfov_deg: degrees, of the camera.
        classes: of "recognised": K; the classifier has one more, for none.
        current_only: of "recognised": whether only the class of the current goal is read
            (DynamicObjRecogMap).

    Raises InputError for sizes out of range.
    """

    kind: Literal["projected", "queried", "recognised"] = "projected"
    cells: int = GLOBAL_CELLS
    points: int = 0
    reading: Literal["once", "code"] = "once"
    depth_metres: float = 10.0
    hfov_deg: float = 79.0
    classes: int = 8
    current_only: bool = False

    def __post_init__(self) -> None:
        if min(self.cells, self.classes) < 1 or self.points < 0:
            raise InputError(f"expected positive sizes of a neural map, got {self}")
        if self.depth_metres <= 0 or not 0 < self.hfov_deg < 180:
            raise InputError(f"expected a positive depth and an hfov_deg of 0 to 180, got {self}")
        if self.current_only and self.kind != "recognised":
            raise InputError(f"expected kind=recognised for current_only, got {self.kind}")


PROJECTED_CHANNELS = 32
"""Features of an image that are projected: those of the last convolution."""

PROJECTION = EGO_CELLS**2 * PROJECTED_CHANNELS
"""Numbers of a projection."""

RECOGNISED = 2
"""Numbers that a map of recognised classes takes: the class that is seen and that of the current goal."""
