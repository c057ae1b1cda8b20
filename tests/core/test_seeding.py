"""Seeds are SHA-256 of length-prefixed parts; the expected digests were computed with sha256sum."""

import inspect

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from navarena.core.seeding import derive_seed, make_generator

unchecked_derive_seed = inspect.unwrap(derive_seed)
"""Without the run-time type checks of the tests."""

Parts = st.lists(st.one_of(st.integers(-(2**40), 2**40), st.text(max_size=8)), max_size=4)


def little_endian(digest: str) -> int:
    """The first 16 bytes of a hexadecimal digest, lowest byte first."""
    return sum(int(digest[2 * k : 2 * k + 2], 16) << (8 * k) for k in range(16))


@pytest.mark.parametrize(
    ("name", "digest"),
    [
        # printf '' | sha256sum
        ((), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        # printf '\x01\0\0\0\0\0\0\0a\x02\0\0\0\0\0\0\0#1' | sha256sum
        (("a", 1), "49f7cb2367ceb51aafa8c49eb764fac0a4bd5a11f0243841dc7e185ea388fd06"),
        # printf '\x0b\0\0\0\0\0\0\0pointnav-v1\x03\0\0\0\0\0\0\0val' | sha256sum
        (("pointnav-v1", "val"), "c8e7351a958be483c7867b31a07d7c44d031424ef9b5b90f9cb7dfe668a2fc08"),
    ],
)
def test_known_seeds(name: tuple[str | int, ...], digest: str) -> None:
    assert derive_seed(*name) == little_endian(digest)


def test_generator_is_pcg64_of_the_seed() -> None:
    expected = np.random.Generator(np.random.PCG64(derive_seed("a", 1))).random(3)
    assert np.array_equal(make_generator("a", 1).random(3), expected)


def test_stream_is_the_same_everywhere() -> None:
    """A frozen draw: PCG64 seeded by numpy's SeedSequence is specified bit for bit."""
    assert make_generator("pointnav-v1", "val").integers(0, 1000, 4).tolist() == [330, 375, 235, 984]


@given(Parts, Parts)
def test_different_names_give_different_seeds(one: list[str | int], other: list[str | int]) -> None:
    same = [(type(part), part) for part in one] == [(type(part), part) for part in other]
    spelled_alike = [p if isinstance(p, str) else f"#{p}" for p in one] == [
        p if isinstance(p, str) else f"#{p}" for p in other
    ]
    assert (derive_seed(*one) == derive_seed(*other)) == (same or spelled_alike)


def test_numbers_and_their_text_differ() -> None:
    assert derive_seed("1") != derive_seed(1)
    assert derive_seed("ab", "c") != derive_seed("a", "bc")


def test_numpy_integers_are_integers() -> None:
    assert unchecked_derive_seed(np.int64(3)) == derive_seed(3)


@pytest.mark.parametrize("part", [True, 1.5, None, b"x"])
def test_other_parts_are_refused(part: object) -> None:
    with pytest.raises(TypeError, match="expected str or int"):
        unchecked_derive_seed("a", part)
