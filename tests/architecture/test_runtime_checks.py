"""In the tests every call is checked: kinds of arguments, shapes, one length for each name of a dimension."""

import numpy as np
import pytest
from beartype.roar import BeartypeCallHintViolation

from navarena.core.geometry import has_translation
from navarena.episodes.sampling import round_distance
from navarena.scenes.formats.part import Part
from navarena.scenes.pieces import number_pieces
from navarena.scenes.scene import Material

CORNERS, TRIANGLES = np.zeros((3, 3), np.float32), np.zeros((1, 3), np.int32)


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(lambda: round_distance("1.5"), id="kind of an argument"),
        pytest.param(lambda: has_translation(np.zeros((2, 3))), id="shape of an argument"),
        pytest.param(lambda: number_pieces(CORNERS.astype(float), TRIANGLES), id="dtype of an argument"),
        pytest.param(lambda: Material("white", "red"), id="field of a dataclass"),
        pytest.param(
            lambda: Part(CORNERS, TRIANGLES, uv=np.zeros((2, 3, 2))),
            id="one name of a dimension, two lengths",
        ),
    ],
)
def test_wrong_calls_are_noticed(call) -> None:
    with pytest.raises(BeartypeCallHintViolation):
        call()


def test_names_of_dimensions_hold_for_one_call() -> None:
    number_pieces(CORNERS, TRIANGLES)
    assert number_pieces(np.zeros((6, 3), np.float32), np.zeros((4, 3), np.int32)).shape == (4,)
