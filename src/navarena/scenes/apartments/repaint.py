"""Other looks for the same objects: every finish and colour is exchanged for one of its kin.

A red mug does not turn blue, but terracotta, or dotted; oak becomes birch. What is said of an object
(its colour, material and pattern) changes with it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from navarena.scenes.houses.appearance.finishes import FINISHES, PICTURES, Look
from navarena.scenes.houses.furnishing.free_space import Placement
from navarena.scenes.houses.random_draws import Draws
from navarena.scenes.houses.solids.models import Model

KIN_COLORS: Sequence[tuple[str, ...]] = (
    ("white", "ivory", "cream", "light grey"),
    ("beige", "sand", "tan", "straw"),
    ("grey", "warm grey", "steel", "chrome"),
    ("charcoal", "black"),
    ("red", "terracotta", "brick", "copper"),
    ("orange", "mustard", "brass", "yellow"),
    ("green", "olive", "sage", "mint"),
    ("blue", "navy", "teal", "sky blue"),
    ("lilac", "purple", "pink"),
    ("oak", "pine", "birch"),
    ("walnut", "mahogany", "brown"),
)
"""Colours that stand in for each other."""

KIN_FINISHES: Sequence[tuple[str, ...]] = (
    ("fabric", "striped fabric", "plaid", "dotted fabric", "floral fabric", "zigzag fabric"),
    ("ceramic", "striped ceramic", "dotted ceramic"),
    ("paper", "paper dots", "paper stripes"),
    ("granite", "stone", "marble"),
    ("plastic", "rubber", "lacquer"),
    tuple(PICTURES),
)
"""Finishes that stand in for each other; all others stay what they are."""


def repaint(placements: Sequence[Placement], draws: Draws) -> tuple[Placement, ...]:
    """Exchange the materials of all objects; places stay, and equal models stay equal."""
    models = [repaint_model(placed.model, draws) for placed in placements]
    return tuple(replace(placed, model=model) for placed, model in zip(placements, models, strict=True))


def repaint_model(model: Model, draws: Draws) -> Model:
    """The model with exchanged materials; its attributes follow its main material."""
    looks = {part.look: repaint_look(part.look, draws) for part in model.parts}
    parts = tuple(replace(part, look=looks[part.look]) for part in model.parts)
    said = model.attributes
    main = next(
        (look for look in looks if (look.color, look.material) == (said.get("color"), said.get("material"))),
        None,
    )
    if main is None:
        return replace(model, parts=parts)
    now = looks[main]
    pattern = FINISHES[now.finish].pattern or "plain"
    return replace(
        model,
        parts=parts,
        attributes={**said, "color": now.color, "material": now.material, "pattern": pattern},
    )


def repaint_look(look: Look, draws: Draws) -> Look:
    """Kin of `look` that differs from it, where it has any; one and the same for equal looks."""
    stream = draws.branch("look", look.finish, look.color)
    finish = _kin(look.finish, KIN_FINISHES, stream)
    color = _kin(look.color, KIN_COLORS, stream)
    return Look(finish, color)


def _kin(name: str, groups: Sequence[tuple[str, ...]], draws: Draws) -> str:
    """Another name of the group that `name` is in; itself without a group."""
    others: Mapping[str, list[str]] = {
        member: [other for other in group if other != member] for group in groups for member in group
    }
    return draws.choose(others[name]) if others.get(name) else name
