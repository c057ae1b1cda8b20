"""Arrays and frames of streams."""

import pickle
import zlib
from concurrent.futures import ThreadPoolExecutor

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from navarena.core.errors import InputError
from navarena.web import streaming
from navarena.web.streaming import (
    PackedArray,
    StreamError,
    choose_codec,
    decode_frame,
    pack_array,
    unpack_array,
)

DTYPES = ("|b1", "|u1", "|i1", "<u2", "<i4", "<i8", "<f2", "<f4", "<f8", "<U5")


def has_lz4() -> bool:
    try:
        import lz4.block  # noqa: F401
    except ImportError:
        return False
    return True


CODECS = [
    pytest.param(one, marks=pytest.mark.skipif(one == "lz4" and not has_lz4(), reason="needs lz4"))
    for one in streaming.PREFERRED
]
ARRAYS = st.sampled_from(DTYPES).flatmap(
    lambda dtype: hnp.arrays(
        np.dtype(dtype), hnp.array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=12)
    )
)


@pytest.mark.parametrize("codec", CODECS)
@given(array=ARRAYS)
def test_arrays_come_back_bit_by_bit(codec, array) -> None:
    frame = msgspec.msgpack.encode(pack_array(array, codec))
    again = unpack_array(decode_frame(frame, PackedArray, len(frame)))
    assert again.dtype == array.dtype and again.shape == array.shape
    assert again.tobytes() == array.tobytes()  # NaN included


def test_bytes_of_a_known_array() -> None:
    """The form that docs/live_protocol.md promises to clients in other languages."""
    packed = pack_array(np.array([[1.0, 2.0], [3.0, 4.0]], np.float32))
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(packed)) == {
        "shape": [2, 2],
        "dtype": "<f4",
        "codec": "none",
        "rows": [b"\x00\x00\x80\x3f\x00\x00\x00\x40", b"\x00\x00\x40\x40\x00\x00\x80\x40"],
    }


def test_large_rows_are_packed_and_small_ones_are_not() -> None:
    flat = np.zeros((2, 100, 100), np.uint8)
    packed = pack_array(flat, "zlib")
    assert packed.codec == "zlib" and zlib.decompress(packed.rows[1]) == flat[1].tobytes()
    assert sum(map(len, packed.rows)) < 200
    assert pack_array(flat[:, :1, :1], "zlib").codec == "none"


def test_threads_change_nothing() -> None:
    array = np.arange(4 * 50 * 50, dtype=np.int32).reshape(4, 50, 50)
    with ThreadPoolExecutor(3) as pool:
        packed = pack_array(array, "zlib", pool)
        assert packed == pack_array(array, "zlib")
        np.testing.assert_array_equal(unpack_array(packed, pool), array)


def test_other_byte_orders_and_strides_are_straightened() -> None:
    array = np.arange(24, dtype=">i4").reshape(4, 6)[:, ::2]
    again = unpack_array(pack_array(array))
    assert again.dtype == np.dtype("<i4")
    np.testing.assert_array_equal(again, array)


def test_bytes_of_a_known_text() -> None:
    packed = pack_array(np.array(["Go.", "é"], "<U3"))
    assert (packed.shape, packed.dtype) == ((2,), "<U3")
    assert packed.rows == (b"G\0\0\0o\0\0\0.\0\0\0", b"\xe9\0\0\0" + bytes(8))


@pytest.mark.parametrize("array", [np.array([b"a"]), np.array(3), np.array([None]), np.zeros(2, "m8[s]")])
def test_what_is_no_row_of_numbers_is_not_sent(array) -> None:
    with pytest.raises(InputError, match="expected rows of numbers"):
        pack_array(array)


def packed(**changes) -> PackedArray:
    base = {"shape": (2, 300), "dtype": "|u1", "codec": "none", "rows": (bytes(300), bytes(300))}
    return PackedArray(**(base | changes))


@pytest.mark.parametrize(
    "wrong",
    [
        {"dtype": "|O8"},
        {"dtype": "|S3"},
        {"dtype": "<U0"},
        {"dtype": ">f4"},
        {"dtype": "<f9"},
        {"dtype": ""},
        {"rows": (bytes(300),)},
        {"rows": (bytes(300), bytes(299))},
        {"rows": (bytes(300), bytes(301))},
        {"codec": "zlib"},
        {"codec": "zlib", "rows": (zlib.compress(bytes(300)), zlib.compress(bytes(10**6)))},
        {"codec": "zlib", "rows": (zlib.compress(bytes(300)), zlib.compress(bytes(299)))},
        {"shape": (2, 2**24, 2**24, 2**24)},
        {"shape": (2**24, 2**8), "rows": (b"",) * 2},
    ],
)
def test_arrays_that_contradict_themselves_are_refused(wrong) -> None:
    with pytest.raises(StreamError) as caught:
        unpack_array(packed(**wrong))
    assert caught.value.code == "array"


@pytest.mark.skipif(not has_lz4(), reason="needs lz4")
@given(data=st.binary(max_size=400))
def test_forged_blocks_raise_nothing_but_refusals(data) -> None:
    for codec in ("lz4", "zlib"):
        try:
            found = unpack_array(packed(shape=(1, 300), codec=codec, rows=(data,)))
        except StreamError as error:
            assert error.code == "array"
        else:
            assert found.shape == (1, 300)


@pytest.mark.parametrize("shape", [(), (1,) * 7, (-1,), (2**24 + 1,)])
def test_shapes_have_bounds(shape) -> None:
    frame = msgspec.msgpack.encode({"shape": shape, "dtype": "|u1", "codec": "none", "rows": []})
    with pytest.raises(StreamError) as caught:
        decode_frame(frame, PackedArray, 1000)
    assert caught.value.code == "frame"


@given(frame=st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(frame) -> None:
    with pytest.raises(StreamError):
        decode_frame(frame, PackedArray, 1000)


def test_frames_have_a_size() -> None:
    with pytest.raises(StreamError, match="at most 10 bytes, got 11") as caught:
        decode_frame(bytes(11), int, 10)
    assert caught.value.code == "frame_size"
    assert decode_frame(b"\x07", int, 10) == 7


def test_deep_frames_are_refused() -> None:
    with pytest.raises(StreamError):
        decode_frame(b"\x91" * 100_000, list, 10**6)


def test_codecs_are_agreed_on() -> None:
    assert choose_codec(("none", "zlib")) == "zlib"
    assert choose_codec(streaming.PREFERRED) == ("lz4" if has_lz4() else "zlib")
    assert choose_codec(("none", "brotli")) == "none"
    with pytest.raises(StreamError, match="got brotli") as caught:
        choose_codec(("brotli",))
    assert caught.value.code == "codec"


def test_errors_travel_between_processes() -> None:
    again = pickle.loads(pickle.dumps(StreamError("token", "expected another token")))
    assert (again.code, str(again)) == ("token", "expected another token")
