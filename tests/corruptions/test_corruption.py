"""A corruption of somebody else registers, draws from its generator only, and leaves its input alone."""

import numpy as np
import pytest

from navarena.core.errors import InputError, UnknownNameError
from navarena.core.seeding import make_generator
from navarena.corruptions import CORRUPTIONS, Corruption


class Grain(Corruption):
    """Adds noise of a few grey levels."""

    def corrupt(self, picture: np.ndarray, generator: np.random.Generator) -> np.ndarray:
        return picture // 2 + generator.integers(0, 10 * self.severity, picture.shape).astype(np.uint8)


def test_registers_and_repeats() -> None:
    CORRUPTIONS.register("test-grain", Grain)
    picture = np.full((4, 5, 3), 200, np.uint8)
    spoilt = [CORRUPTIONS.get("test-grain")(2).corrupt(picture, make_generator("e", i)) for i in (1, 1, 2)]
    assert np.array_equal(spoilt[0], spoilt[1]) and not np.array_equal(spoilt[0], spoilt[2])
    assert (picture == 200).all()


@pytest.mark.parametrize("severity", [0, 6, -1])
def test_severity_is_checked(severity: int) -> None:
    with pytest.raises(InputError, match="expected a severity among"):
        Grain(severity)


def test_unknown_name() -> None:
    with pytest.raises(UnknownNameError, match="unknown corruption 'fog'"):
        CORRUPTIONS.get("fog")
