"""Twins of apartments: the same geometry with other materials and lamps, in the place of a real world.

RoboTHOR has physical counterparts of some of its scenes: the same walls and the same objects at the
same places, another appearance, another light, another camera and other control (Batra et al. 2020,
section 4 and figure 5). A twin keeps every wall, object and place, so that an episode of the
apartment is an episode of its twin, with the same shortest path. Looks, lamps and the colour of the
light are the twin's own; apartment_sets.TWIN_CORRUPTIONS say what else differs.
"""

from dataclasses import dataclass, replace
from itertools import count

import numpy as np

from navarena.scenes.apartments.furnish import draw_lamps
from navarena.scenes.apartments.inventory import FIXTURES
from navarena.scenes.apartments.repaint import repaint
from navarena.scenes.houses.appearance.finishes import Style
from navarena.scenes.houses.furnishing.furnish_rooms import draw_style
from navarena.scenes.houses.plan.house_plan import HousePlan
from navarena.scenes.houses.random_draws import Draws
from navarena.scenes.scene import Scene

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
