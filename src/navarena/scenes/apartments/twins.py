"""Twins of apartments: the same geometry with other materials and lamps, in the place of a real world.

RoboTHOR has physical counterparts of some of its scenes: the same walls and the same objects at the
same places, another appearance, another light, another camera and other control (Batra et al. 2020,
section 4 and figure 5). A twin keeps every wall, object and place, so that an episode of the
apartment is an episode of its twin, with the same shortest path. Looks, lamps and the colour of the
light are the twin's own; apartment_sets.TWIN_CORRUPTIONS say what else differs.

Every finish and colour is exchanged for a similar one: a red mug does not turn blue, but terracotta, or
dotted; oak becomes birch. An object's attributes (colour, material and pattern) change with it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count

import numpy as np

from navarena.scenes.apartments.furnish import draw_lamps
from navarena.scenes.apartments.inventory import FIXTURES
from navarena.scenes.houses.appearance.finishes import FINISHES, PICTURES, Look, Style
from navarena.scenes.houses.furnishing.free_space import Placement
from navarena.scenes.houses.furnishing.furnish_rooms import draw_style
from navarena.scenes.houses.plan.house_plan import HousePlan
from navarena.scenes.houses.random_draws import Draws
from navarena.scenes.houses.solids.models import Model
from navarena.scenes.scene import Scene

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


LIGHTS = ((255, 238, 214), (255, 247, 234), (236, 244, 255))
"""Colours of the light in twins, sRGB: warm, neutral and cool lamps."""

DIMMED_PERCENT = (72, 92)


@dataclass(frozen=True)
class TwinLight:
    """The light of a twin: sRGB bytes that multiply every colour, and percent of the light that is left."""

    color: tuple[int, int, int]
    percent: int


def apartment_draws(number: int) -> Draws:
    """The stream of apartment `number`, 0 to 88."""
    return Draws("robothor-like-v1", "apartment", number)


def twin_draws(number: int) -> Draws:
    """The stream of the twin of apartment `number`; its style is not that of the apartment."""
    own = draw_style(apartment_draws(number).branch("style"))
    twins = (Draws("robothor-like-v1", "twin", number, attempt) for attempt in count())
    return next(twin for twin in twins if draw_style(twin.branch("style")) != own)


def make_twin(house: HousePlan, number: int) -> HousePlan:
    """The twin of the furnished apartment `number`: the same in every length, in other looks and lamps."""
    draws = twin_draws(number)
    style: Style = draw_style(draws.branch("style"))
    (storey,) = house.storeys
    objects = [placed for placed in storey.placements if placed.family not in FIXTURES]
    lamps = draw_lamps(draws.branch("lamps"), storey.plan, style)
    placements = (*repaint(objects, draws.branch("paint")), *lamps)
    return replace(house, storeys=(replace(storey, placements=placements),))


def draw_light(number: int) -> TwinLight:
    """The light in the twin of apartment `number`."""
    draws = twin_draws(number).branch("light")
    return TwinLight(draws.choose(LIGHTS), draws.integer(*DIMMED_PERCENT))


def relight(scene: Scene, light: TwinLight) -> Scene:
    """The scene under another light; the baked light stays a multiple of 1/256."""
    materials = tuple(
        replace(material, color=_lit(material.color, light.color)) for material in scene.materials
    )
    baked = None
    if scene.vertex_light is not None:
        steps = np.rint(scene.vertex_light * 256).astype(np.int64) * light.percent // 100
        baked = (np.maximum(steps, 1) / 256).astype(np.float32)
    return replace(scene, materials=materials, vertex_light=baked)


def _lit(color: tuple[int, int, int], light: tuple[int, int, int]) -> tuple[int, int, int]:
    red, green, blue = (c * tint // 255 for c, tint in zip(color, light, strict=True))
    return red, green, blue
