"""The colours and materials that the furniture of one room shares."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from navarena.scenes.houses.appearance.finishes import Look, Style
from navarena.scenes.houses.furniture.names import NAMES
from navarena.scenes.houses.random_draws import Draws

UPHOLSTERY = ("fabric", "fabric", "fabric", "leather", "leather", "striped fabric", "plaid", "floral fabric")


@dataclass(frozen=True)
class RoomStyle:
    """A room's share of the house's style, and the stream that draws from it.

    Attributes:
        draws: the stream of the model being built.
        style: palette of the house.
        wood: what most furniture of the room is made of.
        textile: main colour of upholstery and bedding.
        accent: colour of cushions and small objects.
        metal: colour of metal parts.
        room_mm: shorter side of the room, millimetres; large furniture is drawn to fit it.
    """

    draws: Draws
    style: Style
    wood: Look
    textile: str
    accent: str
    metal: str
    room_mm: int = 4000

    def draw_wood(self) -> Look:
        """The room's wood in 70 of 100 cases, else any of the style."""
        return self.wood if self.draws.chance(70) else self.draws.choose(self.style.woods)

    def draw_upholstery(self, *finishes: str) -> Look:
        """A cover in a colour of the style; `finishes` default to UPHOLSTERY."""
        color = self.textile if self.draws.chance(50) else self.draws.choose(self.style.textiles)
        return Look(self.draws.choose(finishes or UPHOLSTERY), color)

    def draw_accent(self) -> str:
        """A colour for something small: the room's accent in 40 of 100 cases, else any of the style."""
        return self.accent if self.draws.chance(40) else self.draws.choose(self.style.accents)

    @property
    def metal_look(self) -> Look:
        """Metal parts."""
        return Look("metal", self.metal)

    @cached_property
    def names(self) -> dict[str, Any]:
        """Names that rows of the furniture tables can use: NAMES, the room's colours and materials, draws."""
        draws, style = self.draws, self.style
        return {
            **NAMES,
            "accent": self.accent,
            "any_accent": self.draw_accent,
            "any_front": lambda: draws.choose(style.fronts),
            "any_top": lambda: draws.choose(style.tops),
            "any_wood": self.draw_wood,
            "chance": draws.chance,
            "choose": lambda *choices: draws.choose(choices),
            "draw": draws.integer,
            "fronts": style.fronts,
            "kitchen_front": style.fronts[len(self.textile) % len(style.fronts)],
            "kitchen_top": style.tops[len(self.accent) % len(style.tops)],
            "metal": self.metal_look,
            "metal_color": self.metal,
            "room_mm": self.room_mm,
            "textile": self.textile,
            "textiles": style.textiles,
            "upholstery": self.draw_upholstery,
            "weighted": draws.weighted,
            "wood": self.wood,
        }
