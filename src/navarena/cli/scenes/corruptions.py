"""`navarena corruptions sheet`: example images of corruptions."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from navarena.cli.console import Console
from navarena.cli.flags import OutputFile
from navarena.simulation.body_catalog import LOCOBOT
from navarena.simulation.world import open_world


@dataclass(frozen=True)
class CorruptionsSheet:
    """Draw a view of a scene under every corruption of colour, cameras and depth, at every severity."""

    scene: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="SCENE")]
    """Scene id, or the path of a mesh file."""
    out: Annotated[Path, OutputFile(".png")]
    """The image to write, .png."""
    corruption: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()
    """Corruptions to draw, by name without severity; may be repeated. By default all that change images or
    cameras."""
    view: int = 0
    """Which view of the scene to take, from 0 (`navarena scene preview` numbers them from 1)."""
    cell_width: int = 200
    """Width of each image on the sheet, pixels."""
    json: bool = False
    """Print one JSON document instead of a line."""

    def run(self, console: Console) -> int:
        """Draw and write the image; the exit code is 0."""
        from navarena.reports.corruption_sheet import draw_corruption_sheet
        from navarena.reports.preview import write_png

        world = open_world(self.scene, LOCOBOT)
        sheet = draw_corruption_sheet(world, self.corruption, self.view, self.cell_width)
        write_png(sheet.image, self.out)
        height, width = sheet.image.shape[:2]
        console.text(f"{self.out}: {len(sheet.corruptions)} corruptions of {self.scene}, {width} x {height}")
        console.result(
            {
                "scene_id": self.scene,
                "file": str(self.out),
                "width_px": width,
                "height_px": height,
                "corruptions": list(sheet.corruptions),
            }
        )
        return 0
