"""Explicit SIMD for colour: index of the texel, shading, and packing of bytes.

Colours are sRGB bytes multiplied as such, in 16-bit fixed point.
"""

from llvmlite import ir

from navarena.simulation.rendering.lanes import CONTRACT, I8, I16, I32, I64, Lanes, Value

EVEN_TEXEL_BITS = 0x55555555
LOG_TILE = 2
"""log2 of the side of a tile of texels, which is also the smallest mip level (textures.TILE)."""


def texel_index(lanes: Lanes, u: Value, v: Value, level: Value, offset: Value, shape: Value) -> Value:
    """Index of texel (floor u, floor v), wrapped, at mip `level` of the texture at `offset`.

    Texels lie in tiles of 4 x 4, one cache line each, tiles in rows. Level l of a 2^a x 2^b
    texture holds 2^(a+b-2l) texels, so the levels before it hold the bits above a+b-2l of the
    alternating pattern that starts at bit a+b: no table is needed.
    """
    builder = lanes.builder
    one, two, ones = lanes.iconst(1), lanes.iconst(2), lanes.iconst(-1)
    three, four = lanes.iconst(3), lanes.iconst(4)
    log_w, log_h = builder.and_(shape, lanes.iconst(255)), builder.lshr(shape, lanes.iconst(8))

    def wrapped(value: Value, log_size: Value) -> Value:
        whole = builder.fptosi(lanes.floor(value), lanes.ints)
        inside = builder.and_(whole, builder.sub(builder.shl(one, log_size), one))
        return builder.lshr(inside, level)

    log_area = builder.add(log_w, log_h)
    parity = builder.and_(log_area, one)
    pattern = builder.shl(lanes.iconst(EVEN_TEXEL_BITS), parity)
    pattern = builder.and_(pattern, builder.sub(builder.shl(two, log_area), one))
    kept = builder.shl(ones, builder.sub(builder.add(log_area, two), builder.shl(level, one)))
    start = builder.add(offset, builder.and_(pattern, kept))
    column, row = wrapped(u, log_w), wrapped(v, log_h)
    tile_row = builder.shl(builder.lshr(row, two), builder.add(builder.sub(log_w, level), two))
    tile = builder.add(tile_row, builder.shl(builder.lshr(column, two), four))
    inside = builder.or_(builder.shl(builder.and_(row, three), two), builder.and_(column, three))
    return builder.add(start, builder.or_(tile, inside))


def mip_level(lanes: Lanes, depth: Value, density: Value, facing: Value, scale: Value, shape: Value) -> Value:
    """Mip level: log2 of the texels under a pixel, rounded, within the texture's levels.

    With D texels per metre, a triangle's plane at distance h from the camera and a pixel at
    depth d, the short axis of the pixel's footprint holds t = D d / focal texels and the long
    one d / h times more. Levels follow t (d / h)^(3/4), between blur and shimmer. Given are
    density = D^4, facing = h D^2 and scale = 4 / focal^4 (the 4 rounds to the nearest level).
    """
    builder = lanes.builder

    def multiply(a: Value, b: Value) -> Value:
        return builder.fmul(a, b, flags=CONTRACT)

    root = lanes.call(f"llvm.sqrt.v{lanes.count}f32", lanes.floats, [density])
    stretch = builder.fdiv(multiply(depth, root), lanes.maximum(facing, lanes.fconst(1e-9)))
    squared = multiply(depth, depth)
    short_axis = multiply(multiply(density, scale), multiply(squared, squared))
    fourth_power = multiply(short_axis, multiply(stretch, multiply(stretch, stretch)))
    exponent = builder.sub(
        builder.ashr(builder.bitcast(fourth_power, lanes.ints), lanes.iconst(23)), lanes.iconst(127)
    )
    level = builder.ashr(exponent, lanes.iconst(2))
    log_w, log_h = builder.and_(shape, lanes.iconst(255)), builder.lshr(shape, lanes.iconst(8))
    last = builder.sub(lanes.minimum_int(log_w, log_h), lanes.iconst(LOG_TILE))
    return lanes.maximum_int(lanes.minimum_int(level, last), lanes.iconst(0))


def _halves(lanes: Lanes) -> Value:
    return ir.VectorType(I16, 2 * lanes.count)


def _red_blue(lanes: Lanes, words: Value) -> Value:
    """Red and blue bytes of colour words as pairs of 16-bit numbers."""
    return lanes.builder.bitcast(lanes.builder.and_(words, lanes.iconst(0x00FF00FF)), _halves(lanes))


def _green(lanes: Lanes, words: Value) -> Value:
    return _red_blue(lanes, lanes.builder.lshr(words, lanes.iconst(8)))


def pack_tints(lanes: Lanes, tints: list[Value]) -> list[Value]:
    """One tint, or red, green and blue ones (floats, 1 = unchanged), as two words of 16-bit pairs.

    The first word holds the factors of red and blue, the second that of green, twice.
    """
    builder = lanes.builder

    def fixed(tint: Value) -> Value:  # 0..1 -> 0..65535
        clamped = lanes.minimum(lanes.maximum(tint, lanes.fconst(0)), lanes.fconst(1))
        return builder.fptosi(lanes.fma(clamped, lanes.fconst(65535), lanes.fconst(0.5)), lanes.ints)

    def pair(low: Value, high: Value) -> Value:
        return builder.or_(low, builder.shl(high, lanes.iconst(16)))

    red, green, blue = [fixed(tint) for tint in tints] if len(tints) == 3 else [fixed(tints[0])] * 3
    return [pair(red, blue), pair(green, green)]


def modulate(lanes: Lanes, color: Value, texel: Value | None, tints: list[Value]) -> Value:
    """Bytes of `color` times bytes of `texel` (255 = 1; None = white) times packed tints."""
    builder = lanes.builder
    halves, wide = _halves(lanes), ir.VectorType(I32, 2 * lanes.count)

    def constant(kind: Value, value: int) -> Value:
        return ir.Constant(kind, [value] * (2 * lanes.count))

    def scaled(value: Value) -> Value:  # 0..255 -> 0..256
        return builder.add(value, builder.lshr(value, constant(halves, 7)))

    results = []
    for part, tint in ((_red_blue, tints[0]), (_green, tints[1])):
        if texel is None:
            product = builder.shl(part(lanes, color), constant(halves, 8))
        else:
            product = builder.mul(part(lanes, texel), scaled(part(lanes, color)))
        factor = builder.zext(builder.bitcast(tint, halves), wide)
        full = builder.mul(builder.zext(product, wide), factor)
        lit = builder.trunc(builder.lshr(full, constant(wide, 16)), halves)
        rounded = builder.lshr(builder.add(lit, constant(halves, 128)), constant(halves, 8))
        results.append(builder.bitcast(rounded, lanes.ints))
    return builder.or_(results[0], builder.shl(results[1], lanes.iconst(8)))


def store_rgb(lanes: Lanes, words: Value, address: Value, pixel: Value) -> None:
    """Pack words (red, green, blue, unused) into 3 bytes a pixel."""
    builder = lanes.builder
    many = ir.VectorType(I8, 4 * lanes.count)
    picked = [4 * (k // 3) + k % 3 for k in range(3 * lanes.count)]
    order = ir.Constant(ir.VectorType(I32, len(picked)), picked)
    packed = builder.shuffle_vector(builder.bitcast(words, many), ir.Constant(many, ir.Undefined), order)
    place = lanes.at(address, I8, builder.mul(pixel, ir.Constant(I64, 3)))
    lanes.store(packed, place, align=1)
