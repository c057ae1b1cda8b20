"""Colours and finishes by name: what surfaces look like, as data."""

from collections.abc import Mapping
from dataclasses import dataclass

COLORS: Mapping[str, tuple[int, int, int]] = {
    "white": (244, 243, 240),
    "ivory": (240, 232, 214),
    "cream": (236, 224, 200),
    "beige": (214, 196, 168),
    "sand": (203, 184, 150),
    "tan": (188, 152, 112),
    "grey": (150, 150, 150),
    "light grey": (202, 202, 200),
    "warm grey": (178, 170, 160),
    "charcoal": (84, 86, 90),
    "black": (38, 38, 40),
    "brown": (112, 76, 50),
    "red": (176, 48, 44),
    "terracotta": (190, 102, 72),
    "orange": (222, 132, 52),
    "mustard": (212, 168, 62),
    "yellow": (236, 206, 96),
    "olive": (122, 124, 70),
    "green": (74, 128, 76),
    "sage": (160, 176, 148),
    "mint": (188, 216, 198),
    "teal": (48, 120, 124),
    "sky blue": (164, 198, 220),
    "blue": (62, 106, 170),
    "navy": (44, 58, 94),
    "lilac": (190, 176, 206),
    "purple": (112, 78, 134),
    "straw": (242, 228, 178),
    "pink": (222, 168, 170),
    "oak": (204, 166, 118),
    "pine": (222, 188, 138),
    "birch": (228, 208, 174),
    "walnut": (148, 106, 76),
    "mahogany": (154, 84, 62),
    "steel": (188, 192, 196),
    "chrome": (216, 220, 224),
    "brass": (200, 164, 92),
    "copper": (190, 118, 82),
    "brick": (168, 92, 72),
}
"""sRGB bytes; the names of woods and metals double as colour names."""


@dataclass(frozen=True)
class Finish:
    """A kind of surface.

    Attributes:
        material: the word a person would use for it.
        texture: name of its base tile in finish_tiles.py, or None for plain colour.
        tile_mm: what one repeat of the tile measures.
        grain: whether the tile's u axis follows the longest side of a part.
        pattern: the word a person would use for it, if it has one.
    """

    material: str
    texture: str | None = None
    tile_mm: int = 1000
    grain: bool = False
    pattern: str = ""


FINISHES: Mapping[str, Finish] = {
    "wood": Finish("wood", "wood", 900, grain=True),
    "lacquer": Finish("lacquered wood"),
    "paint": Finish("paint", "mottle", 1600),
    "plaster": Finish("plaster", "mottle", 1200),
    "wallpaper stripes": Finish("wallpaper", "stripes", 640, pattern="striped"),
    "wallpaper leaves": Finish("wallpaper", "leaves", 700, pattern="leaves"),
    "wall tiles": Finish("tiles", "tiles", 600),
    "metro tiles": Finish("tiles", "bricks_small", 600),
    "floor tiles": Finish("tiles", "tiles", 1200),
    "checker tiles": Finish("tiles", "checker", 1200, pattern="checkered"),
    "planks": Finish("wood", "planks", 2000),
    "parquet": Finish("wood", "parquet", 1600),
    "carpet": Finish("carpet", "carpet", 800),
    "fabric": Finish("fabric", "weave", 320),
    "plaid": Finish("fabric", "plaid", 420, pattern="plaid"),
    "striped fabric": Finish("fabric", "stripes", 260, pattern="striped"),
    "leather": Finish("leather", "leather", 500),
    "dotted fabric": Finish("fabric", "dots", 200, pattern="dotted"),
    "floral fabric": Finish("fabric", "flowers", 360, pattern="floral"),
    "zigzag fabric": Finish("fabric", "zigzag", 260, pattern="zigzag"),
    "terry": Finish("cotton", "carpet", 260),
    "metal": Finish("metal", "brushed", 600, grain=True),
    "plastic": Finish("plastic"),
    "rubber": Finish("rubber"),
    "ceramic": Finish("ceramic"),
    "glass": Finish("glass"),
    "mirror": Finish("glass", "mirror"),
    "marble": Finish("marble", "marble", 1400),
    "granite": Finish("stone", "granite", 700),
    "stone": Finish("stone", "mottle", 700),
    "brick": Finish("brick", "bricks", 900),
    "wicker": Finish("wicker", "weave", 120),
    "paper": Finish("paper"),
    "paper dots": Finish("paper", "dots", 120, pattern="dotted"),
    "paper stripes": Finish("paper", "stripes", 160, pattern="striped"),
    "striped ceramic": Finish("ceramic", "bands", 110, pattern="striped"),
    "dotted ceramic": Finish("ceramic", "dots", 110, pattern="dotted"),
    "print": Finish("paper", "newsprint"),
    "cork": Finish("cork", "granite", 300),
    "fruit": Finish("fruit"),
    "wax": Finish("wax"),
    "crust": Finish("bread", "mottle", 160),
    "bristles": Finish("bristles", "brushed", 200),
    "leaf": Finish("leaves", "foliage", 300),
    "soil": Finish("soil", "carpet", 300),
    "screen": Finish("glass", "screen"),
    "burner": Finish("glass", "burner"),
    "books": Finish("paper", "books"),
    "basketball": Finish("rubber", "basketball"),
    "globe": Finish("paper", "globe"),
    "water": Finish("glass", "water"),
    "piano keys": Finish("plastic", "piano_keys"),
    "keys": Finish("plastic", "keys"),
    "chessboard": Finish("wood", "chessboard", pattern="checkered"),
    "calendar sheet": Finish("paper", "calendar"),
    "rug border": Finish("wool", "rug_border"),
    "rug medallion": Finish("wool", "rug_medallion"),
    "rug stripes": Finish("wool", "rug_stripes"),
    "art hills": Finish("canvas", "art_hills"),
    "art sea": Finish("canvas", "art_sea"),
    "art moon": Finish("canvas", "art_moon"),
    "art birds": Finish("canvas", "art_birds"),
    "art shapes": Finish("canvas", "art_shapes"),
    "art circles": Finish("canvas", "art_circles"),
    "art bars": Finish("canvas", "art_bars"),
    "art portrait": Finish("canvas", "art_portrait"),
    "art flower": Finish("canvas", "art_flower"),
    "garden": Finish("glass", "garden"),
    "street": Finish("glass", "street"),
    "clock face": Finish("paper", "clock"),
    "fire": Finish("fire", "fire"),
    "glow": Finish("light"),
}

FABRIC_PATTERNS = ("plaid", "striped fabric", "dotted fabric", "floral fabric", "zigzag fabric")
PICTURES = (
    "art hills",
    "art shapes",
    "art circles",
    "art bars",
    "art portrait",
    "art flower",
    "art sea",
    "art moon",
    "art birds",
)
RUGS = ("rug border", "rug medallion", "rug stripes")
VIEWS = ("garden", "street")


@dataclass(frozen=True, order=True)
class Look:
    """A finish in a colour, such as Look("wood", "oak"); both must be known names."""

    finish: str
    color: str

    @property
    def material(self) -> str:
        """The word a person would use for the material."""
        return FINISHES[self.finish].material


@dataclass(frozen=True)
class Style:
    """A palette that goes together.

    Attributes:
        walls: wall paints.
        floors: looks of dry floors.
        wet_floors, wet_walls: looks of floors and walls of kitchens and bathrooms.
        woods: looks of furniture.
        fronts: looks of kitchen and built-in fronts.
        tops: looks of worktops.
        textiles: main colours of upholstery, curtains and bedding.
        accents: colours of small objects.
        metals: colours of metal parts.
    """

    walls: tuple[Look, ...]
    floors: tuple[Look, ...]
    wet_floors: tuple[Look, ...]
    wet_walls: tuple[Look, ...]
    woods: tuple[Look, ...]
    fronts: tuple[Look, ...]
    tops: tuple[Look, ...]
    textiles: tuple[str, ...]
    accents: tuple[str, ...]
    metals: tuple[str, ...]


def _looks(finish: str, *colors: str) -> tuple[Look, ...]:
    return tuple(Look(finish, color) for color in colors)


STYLES: Mapping[str, Style] = {
    "scandinavian": Style(
        walls=_looks("paint", "white", "ivory", "light grey", "mint"),
        floors=_looks("planks", "birch", "pine", "oak"),
        wet_floors=_looks("floor tiles", "light grey", "white", "warm grey"),
        wet_walls=_looks("metro tiles", "white", "mint", "ivory"),
        woods=(*_looks("wood", "birch", "oak", "pine"), Look("lacquer", "white")),
        fronts=(*_looks("lacquer", "white", "sage", "light grey"), Look("wood", "birch")),
        tops=(Look("wood", "oak"), Look("marble", "white")),
        textiles=("light grey", "grey", "sage", "sky blue", "beige"),
        accents=("mustard", "teal", "pink", "sky blue", "charcoal", "green"),
        metals=("black", "steel"),
    ),
    "classic": Style(
        walls=(
            *_looks("paint", "cream", "beige", "ivory", "sage"),
            Look("wallpaper stripes", "cream"),
            Look("wallpaper leaves", "ivory"),
        ),
        floors=(*_looks("parquet", "oak", "walnut"), Look("carpet", "beige"), Look("planks", "oak")),
        wet_floors=_looks("checker tiles", "white", "ivory"),
        wet_walls=_looks("wall tiles", "ivory", "cream", "sky blue"),
        woods=_looks("wood", "walnut", "mahogany", "oak"),
        fronts=(*_looks("lacquer", "cream", "ivory"), Look("wood", "walnut")),
        tops=(Look("marble", "ivory"), Look("granite", "charcoal")),
        textiles=("red", "navy", "beige", "olive", "brown"),
        accents=("red", "navy", "mustard", "green", "ivory", "copper"),
        metals=("brass", "black"),
    ),
    "modern": Style(
        walls=_looks("paint", "white", "light grey", "warm grey", "white"),
        floors=(
            Look("planks", "walnut"),
            Look("floor tiles", "warm grey"),
            Look("carpet", "grey"),
            Look("planks", "oak"),
        ),
        wet_floors=_looks("floor tiles", "charcoal", "grey", "warm grey"),
        wet_walls=_looks("wall tiles", "white", "grey", "light grey"),
        woods=(Look("lacquer", "white"), Look("lacquer", "charcoal"), *_looks("wood", "walnut", "oak")),
        fronts=_looks("lacquer", "white", "charcoal", "navy"),
        tops=(Look("granite", "charcoal"), Look("marble", "white")),
        textiles=("charcoal", "grey", "navy", "cream", "teal"),
        accents=("orange", "teal", "red", "yellow", "black", "white"),
        metals=("chrome", "black", "steel"),
    ),
    "country": Style(
        walls=(*_looks("paint", "ivory", "cream", "sky blue", "straw"), Look("wallpaper leaves", "cream")),
        floors=(*_looks("planks", "pine", "oak"), Look("floor tiles", "terracotta")),
        wet_floors=_looks("floor tiles", "terracotta", "sand", "beige"),
        wet_walls=_looks("wall tiles", "white", "ivory", "mint"),
        woods=(*_looks("wood", "pine", "oak"), Look("lacquer", "ivory"), Look("lacquer", "sage")),
        fronts=_looks("lacquer", "ivory", "sage", "sky blue"),
        tops=(Look("wood", "oak"), Look("wood", "pine")),
        textiles=("beige", "blue", "sage", "cream", "terracotta"),
        accents=("red", "blue", "yellow", "green", "pink", "terracotta"),
        metals=("copper", "black"),
    ),
    "bohemian": Style(
        walls=_looks("plaster", "ivory", "sand", "terracotta", "sage", "white"),
        floors=(Look("planks", "oak"), Look("parquet", "pine"), Look("planks", "walnut")),
        wet_floors=_looks("checker tiles", "sand", "mint"),
        wet_walls=_looks("metro tiles", "teal", "white", "sage"),
        woods=_looks("wood", "walnut", "pine", "mahogany"),
        fronts=(Look("lacquer", "teal"), Look("wood", "pine"), Look("lacquer", "olive")),
        tops=(Look("wood", "walnut"), Look("stone", "sand")),
        textiles=("mustard", "terracotta", "teal", "purple", "olive"),
        accents=("orange", "teal", "pink", "mustard", "purple", "green"),
        metals=("brass", "copper"),
    ),
    "industrial": Style(
        walls=(
            Look("plaster", "light grey"),
            Look("brick", "brick"),
            Look("plaster", "warm grey"),
            Look("paint", "white"),
        ),
        floors=(Look("planks", "walnut"), Look("stone", "warm grey"), Look("planks", "oak")),
        wet_floors=_looks("floor tiles", "charcoal", "grey"),
        wet_walls=_looks("metro tiles", "white", "light grey", "charcoal"),
        woods=(*_looks("wood", "walnut", "oak"), Look("metal", "charcoal")),
        fronts=(Look("lacquer", "charcoal"), Look("wood", "walnut"), Look("metal", "steel")),
        tops=(Look("granite", "charcoal"), Look("wood", "walnut"), Look("metal", "steel")),
        textiles=("brown", "charcoal", "grey", "olive", "tan"),
        accents=("orange", "red", "copper", "black", "mustard", "teal"),
        metals=("black", "steel"),
    ),
}
