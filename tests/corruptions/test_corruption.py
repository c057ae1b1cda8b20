"""A corruption of somebody else registers, draws from its generators only, and leaves its input alone."""

from collections.abc import Sequence

import numpy as np
import pytest

from navarena.core.errors import InputError, UnknownNameError
from navarena.core.seeding import make_generator
from navarena.corruptions import (
    CORRUPTIONS,
    ImageCorruption,
    find_corruption,
    find_corruptions,
    join_corruptions,
    redraw_corruption,
    write_corruption,
)


class Grain(ImageCorruption):
    """Adds noise of a few grey levels."""

    words = {"light": ("day", "night"), "film": ("fine", "coarse")}

    def corrupt(self, images: np.ndarray, generators: Sequence[np.random.Generator]) -> np.ndarray:
        most = 10 * (self.severity or 0)
        noise = [one.integers(0, most, images.shape[1:]).astype(np.uint8) for one in generators]
        return images // 2 + np.array(noise)


class Plain(Grain):
    severities = ()


@pytest.fixture(autouse=True)
def grain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CORRUPTIONS._objects, "grain", Grain)
    monkeypatch.setitem(CORRUPTIONS._objects, "plain", Plain)


def test_repeats_and_leaves_its_input_alone() -> None:
    image = np.full((1, 4, 5, 3), 200, np.uint8)
    corrupted = [find_corruption("grain:2").corrupt(image, [make_generator("e", i)]) for i in (1, 1, 2)]
    assert np.array_equal(corrupted[0], corrupted[1]) and not np.array_equal(corrupted[0], corrupted[2])
    assert (image == 200).all()


@pytest.mark.parametrize("severity", [0, 6, -1, True])
def test_severity_is_checked(severity: int) -> None:
    with pytest.raises(InputError, match="expected a severity among"):
        Grain(severity)


def test_words_choose_readings() -> None:
    assert find_corruption("grain").choices == {"light": "day", "film": "fine"}
    chosen = find_corruption("grain:4:night")
    assert chosen.severity == 4 and chosen.choices == {"light": "night", "film": "fine"}
    assert find_corruption("plain:coarse").choices["film"] == "coarse"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("grain", "grain:3"),
        ("grain:fine", "grain:3"),
        ("grain:5:coarse:night", "grain:5:night:coarse"),
        ("plain:day", "plain"),
        ("plain:night", "plain:night"),
        ("grain:draw-7", "grain:3:draw-7"),
        ("grain:5:draw-12:night", "grain:5:night:draw-12"),
    ],
)
def test_there_is_one_way_to_write_a_corruption(text: str, written: str) -> None:
    assert write_corruption(text) == written
    assert write_corruption(written) == written


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("fog", UnknownNameError, "unknown corruption 'fog'"),
        ("grain:nigth", UnknownNameError, "unknown word of Grain 'nigth'. Did you mean 'night'"),
        ("grain:3:night:day", InputError, "expected one of day, night, got 'night' and 'day'"),
        ("frame_drop:0.3", UnknownNameError, "unknown word of FrameDrop '0.3'. Known: 10, 20, 30, 40"),
        ("grain:3:4", UnknownNameError, "unknown word of Grain '4'"),
        ("grain::night", InputError, "got 'grain::night'"),
        ("plain:3", InputError, "expected no severity of 'plain', got 3; leave it out"),
    ],
)
def test_bad_texts_are_answered(text: str, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        find_corruption(text)


def test_a_word_draws_anew() -> None:
    assert find_corruption("plain").drawing == 0 and find_corruption("plain:draw-3:night").drawing == 3
    assert redraw_corruption("grain:draw-3:night", 0) == "grain:3:night"
    assert redraw_corruption("grain:night", 9) == "grain:3:night:draw-9"
    with pytest.raises(InputError, match="expected one of draw-N, got 'draw-1' and 'draw-2'"):
        find_corruption("plain:draw-1:draw-2")
    for wrong in ("plain:draw-0", "plain:draw-", "plain:draw-1x", "plain:draw-01"):
        with pytest.raises(UnknownNameError, match="unknown word of Plain"):
            find_corruption(wrong)


def test_each_corruption_comes_once_in_the_given_order() -> None:
    assert list(find_corruptions(["plain", "grain:1"])) == ["plain", "grain:1"]
    with pytest.raises(InputError, match="expected each corruption once, got 'grain:1' and 'grain:2:night'"):
        find_corruptions(["grain:1", "plain", "grain:2:night"])


def test_a_chosen_one_stands_in_for_the_protocols_own(monkeypatch: pytest.MonkeyPatch) -> None:
    class Storm(Plain):
        replaces = ("grain", "nothing")

    monkeypatch.setitem(CORRUPTIONS._objects, "storm", Storm)
    own = ("grain:2", "plain")
    assert list(join_corruptions(own, ())) == ["grain:2", "plain"]
    assert list(join_corruptions(own, ("storm",))) == ["plain", "storm"]
    assert list(join_corruptions(own, ("plain:night",))) == ["grain:2", "plain:night"]
