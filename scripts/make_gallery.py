"""Draw the gallery of the documentation from seeds: `python scripts/make_gallery.py`.

Writes docs/gallery.md and one small JPEG for each scene into docs/gallery/. Houses come from their
ids, so the same version draws the same images.
"""

import io
from pathlib import Path

from PIL import Image

from navarena.core.files import write_atomic
from navarena.reports.preview import draw_preview
from navarena.simulation import get_body, open_world

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "gallery"
WIDTH_PX, QUALITY = 1120, 78
SCENES = {
    "houses-v1/val/00000": "A flat of four rooms, with much lying about",
    "houses-v1/val/00002": "A house of seven rooms off a corridor",
    "houses-v1/val/00035": "Two storeys",
    "houses-v1/train/00008": "Three storeys, without the categories kept unseen",
    "examples/floor_plan.json": "A floor plan from a file, with L-shaped rooms",
    "examples/floor_plan_slanted.json": "A floor plan with slanted walls",
    "examples/floor_plan_storeys.json": "A floor plan of two storeys",
}
"""Scene -> caption; paths are relative to the repository."""

HEAD = """# Gallery

Each image is what `navarena scene preview SCENE --out FILE.png` draws, made smaller: storeys from above
with the floor that a LoCoBot can walk on outlined in green, and four views. `python scripts/make_gallery.py`
draws this page anew.
"""


def main() -> None:
    """Draw every scene and write the page."""
    FOLDER.mkdir(exist_ok=True)
    sections = [HEAD]
    for scene, caption in SCENES.items():
        path = ROOT / scene
        world = open_world(str(path) if path.exists() else scene, get_body("locobot"))
        image = Image.fromarray(draw_preview(world).image)
        height = image.height * WIDTH_PX // image.width
        data = io.BytesIO()
        image.resize((WIDTH_PX, height), Image.Resampling.LANCZOS).save(data, "JPEG", quality=QUALITY)
        name = scene.replace("/", "-").removesuffix(".json") + ".jpg"
        write_atomic(FOLDER / name, data.getvalue())
        sections.append(f"## {caption}\n\n![{scene}](gallery/{name})\n\n`{scene}`\n")
    write_atomic(ROOT / "docs" / "gallery.md", "\n".join(sections).encode())


if __name__ == "__main__":
    main()
