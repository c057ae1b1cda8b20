"""The choices that make the things of one room go together."""

from collections.abc import Sequence
from dataclasses import dataclass

from navarena.scenes.houses.appearance.finishes import Look, Style
from navarena.scenes.houses.random_draws import Draws

FABRICS = ("fabric", "fabric", "fabric", "leather", "leather", "striped fabric", "plaid", "floral fabric")


@dataclass
class Taste:
    """A room's share of the house's style, and the stream that draws from it.

    Attributes:
        draws: the stream of the thing being built.
        style: palette of the house.
        wood: what most furniture of the room is made of.
        textile: main colour of upholstery and bedding.
        accent: colour of cushions and small things.
        metal: colour of metal parts.
        room_mm: shorter side of the room; large things are drawn to fit it.
    """

    draws: Draws
    style: Style
    wood: Look
    textile: str
    accent: str
    metal: str
    room_mm: int = 4000

    def some_wood(self) -> Look:
        """The room's wood, now and then another of the style."""
        return self.wood if self.draws.chance(70) else self.draws.choose(self.style.woods)

    def upholstery(self, finishes: Sequence[str] = FABRICS) -> Look:
        """A cover in a colour of the style."""
        color = self.textile if self.draws.chance(50) else self.draws.choose(self.style.textiles)
        return Look(self.draws.choose(finishes), color)

    def some_accent(self) -> str:
        """A colour for something small."""
        return self.accent if self.draws.chance(40) else self.draws.choose(self.style.accents)

    def metal_look(self) -> Look:
        """Metal parts."""
        return Look("metal", self.metal)
