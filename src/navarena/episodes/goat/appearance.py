"""Attributes of objects in words: adjectives before the noun, phrases after it."""

from collections.abc import Sequence
from typing import Literal

from navarena.scenes.scene import SceneObject

Place = Literal["before", "after"]

ORDER = ("size", "shape", "color", "pattern", "material")
"""In which adjectives stand before a noun."""

MATERIALS = {
    "wood": "wooden", "lacquered wood": "lacquered", "metal": "metal", "fabric": "fabric",
    "plastic": "plastic", "ceramic": "ceramic", "paper": "paper", "glass": "glass", "leather": "leather",
    "cotton": "cotton", "wicker": "wicker", "wool": "woollen", "stone": "stone", "marble": "marble",
    "rubber": "rubber", "cork": "cork", "brick": "brick", "carpet": "carpet",
}  # fmt: skip
"""Material -> adjective; what is not listed is not said."""

WOODS = frozenset(("oak", "walnut", "pine", "mahogany", "birch"))
"""Colours that name the material, too."""

METALS = frozenset(("steel", "brass", "copper", "chrome"))

PATTERNS = {
    "striped": "striped", "stripes": "striped", "dotted": "dotted", "plaid": "plaid", "floral": "floral",
    "zigzag": "zigzag",
}  # fmt: skip
"""Pattern -> adjective."""

MOTIFS = {
    "hills": "hills", "circles": "circles", "flower": "a flower", "bars": "bars", "portrait": "a portrait",
    "moon": "a moon", "shapes": "shapes", "sea": "the sea", "birds": "birds", "garden": "a garden",
    "street": "a street", "medallion": "a medallion", "border": "a border",
}  # fmt: skip
"""Pattern -> what is to be seen on it."""

SHAPES = frozenset((
    "round", "square", "rectangular", "hanging", "folded", "tall", "squat", "long", "slatted", "wall-mounted",
    "standing", "domed", "low", "freestanding", "leaning", "slim", "wide", "narrow", "corner", "ribbed",
    "double", "built-in", "deep", "bulbous", "panelled", "flared", "short", "shallow", "slender", "wall-hung",
    "egg-shaped", "three-seater", "two-seater", "king size", "small double", "padded", "swivel", "jointed",
    "upright", "folding", "rolled", "furled", "compact",
))  # fmt: skip
"""Shapes that are adjectives."""

PARTS = (
    "drawers",
    "drawer",
    "doors",
    "door",
    "shelves",
    "boards",
    "rows",
    "steps",
    "levels",
    "arms",
    "panels",
)
"""Of which shapes count some."""

ALIKE = (
    {"white", "ivory", "cream"},
    {"grey", "light grey", "warm grey", "steel", "chrome"},
    {"black", "charcoal"},
    {"oak", "pine", "birch", "straw", "sand", "tan", "beige"},
    {"walnut", "mahogany", "brown"},
    {"brass", "mustard", "yellow"},
    {"copper", "terracotta", "orange", "brick"},
    {"green", "olive", "sage", "mint"},
    {"blue", "navy", "sky blue", "teal"},
)
"""Colours that a reader may take for one another."""


def say(name: str, value: str) -> tuple[Place, str] | None:
    """Position and word of an attribute, such as ("before", "wooden"); None if it is not mentioned."""
    if name == "size":
        return ("before", value) if value in ("small", "large") else None
    if name == "color":
        return "before", value
    if name == "material":
        return ("before", MATERIALS[value]) if value in MATERIALS else None
    if name == "pattern":
        if value in PATTERNS:
            return "before", PATTERNS[value]
        return ("after", f"with {MOTIFS[value]}") if value in MOTIFS else None
    if name == "shape":
        if value in SHAPES:
            return "before", value
        if value.startswith(("with ", "on ")):
            return "after", value
        return ("after", f"with {value}") if value.split()[-1] in PARTS else None
    return None


def describable_attributes(obj: SceneObject) -> tuple[tuple[str, str], ...]:
    """(name, value) of the attributes of `obj` that can be said, the most usual first."""
    found = tuple(
        (name, obj.attributes[name])
        for name in ("color", "pattern", "shape", "material", "size")
        if name in obj.attributes and say(name, obj.attributes[name]) is not None
    )
    color = obj.attributes.get("color")
    return tuple(one for one in found if one[0] != "material" or color not in WOODS | METALS)


def is_alike(name: str, said: str, value: str | None) -> bool:
    """Whether a reader of the attribute `said` may think of an object whose attribute is `value`."""
    if said == value:
        return True
    return name == "color" and any({said, value} <= colors for colors in ALIKE)


def name_with(noun: str, attributes: Sequence[tuple[str, str]]) -> str:
    """A noun with its attributes, without an article: "large grey sofa with 2 doors"."""
    said = {name: say(name, value) for name, value in attributes}
    found = {name: one for name, one in said.items() if one is not None}
    before = [found[name][1] for name in ORDER if name in found and found[name][0] == "before"]
    after = [found[name][1] for name in ORDER if name in found and found[name][0] == "after"]
    return " ".join([*before, noun, " and ".join(after)]).strip()
