"""Memory layout of the tables that kernels share: names of slots, words and sizes.

A *mesh row* is one RenderMesh in an AddressTable; a *scratch row* is one thread's working
memory in another. Slots number the arrays of a row.
"""

import numpy as np

# --- mesh row: the arrays of RenderMesh.record(), in this order
MESH_BOX = 0  # (6 C) float32: centre x, y, z, then half extent x, y, z, each over C clusters
MESH_CONE = 1  # (4 C) float32: mean normal x, y, z, sine of the opening (9 = never culled)
MESH_VERTEX_OFFSET = 2  # (C + 1) int32
MESH_TRIANGLE_OFFSET = 3  # (C + 1) int32
MESH_VERTEX = 4  # (3 V) float32: x, then y, then z over V cluster vertices
MESH_CORNER = 5  # (3 T) int16: corners of each triangle, counted within its cluster
MESH_SURFACE = 6  # (4 T) int32: flat colour, instance, semantic, material
MESH_DETAIL = 7  # (DETAIL_WORDS T or COLOR_DETAIL_WORDS T) int32 and float32 bits, see surfaces.py
MESH_PAINT = 8  # (4 M) int32: mean colour, colour, texel offset, log2 width | log2 height << 8
MESH_TEXEL = 9  # (K) uint32: red | green << 8 | blue << 16, all textures, all mip levels
MESH_FEATURES = 10  # (2) int32: colour planes per triangle (0, 1 or 3), whether textured

# words of a surface, a paint and a detail; a detail fills whole cache lines of 64 bytes
FLAT_COLOR, INSTANCE, SEMANTIC, MATERIAL = 0, 1, 2, 3
MEAN_COLOR, COLOR, TEXEL_OFFSET, TEXTURE_SHAPE = 0, 1, 2, 3
DETAIL_U, DETAIL_V, DETAIL_INSTANCE, DETAIL_SEMANTIC, DETAIL_PAINT, DETAIL_TINT = 0, 4, 8, 9, 10, 12
SURFACE_WORDS, PAINT_WORDS, DETAIL_WORDS, COLOR_DETAIL_WORDS = 4, 4, 16, 32
# an extra object: its surface, paint and detail
EXTRA_SURFACE, EXTRA_PAINT, EXTRA_DETAIL, EXTRA_WORDS = 0, 4, 8, 40

# the row table: camera position, step of the ray per column, ray of column 0, 4 / focal^4,
# then 4 words per pixel from which the second pass of textured shading makes colours
ROW_PREPARED = 16
ROW_POSITION, ROW_COLUMN_STEP, ROW_FIRST_RAY, ROW_MIP_SCALE = 0, 3, 6, 9

# --- scratch row
SCRATCH_VERTEX = 0  # float32, VERTEX_FIELDS x MAX_VERTICES
SCRATCH_TRIANGLE = 1  # float32, TRIANGLE_FIELDS x MAX_TRIANGLES
SCRATCH_ID = 2  # (MAX_TRIANGLES) int32: what the visibility buffer receives
SCRATCH_LIST = 3  # (MAX_TRIANGLES) int32: triangles that survived the set-up
SCRATCH_CANDIDATE = 4  # (C) int32
SCRATCH_NEAREST = 5  # (C) float32: nearest view depth of a cluster, -FAR_AWAY if culled
SCRATCH_ORDER = 6  # (C) int32: candidates front to back
SCRATCH_BUCKET = 7  # (DEPTH_BUCKETS + 2) int32
SCRATCH_HIZ = 8  # float32: per tile the smallest inverse depth
SCRATCH_SPAN = 9  # (2 H) int32: first column and length of each row of a wide triangle
SCRATCH_INVERSE_DEPTH = 10  # float32, (H + 1) rows of `pitch`; 0 = nothing seen
SCRATCH_VISIBLE = 11  # int32, same shape: triangle index, or ~extra for an extra object
SCRATCH_ROW = 12  # (ROW_PREPARED + 4 pitch) float32 and int32: what shading keeps of one image row

# --- sizes
MAX_CLUSTER_TRIANGLES = 128
MAX_VERTICES = 656  # 3 * 128, two more for each clipped triangle; an odd multiple of 16 floats,
MAX_TRIANGLES = 272  # so that the fields of one item never share an L1 cache set
TILE = 8  # pixels, edge of a hi-Z tile
PITCH_SLACK = 16  # pixels past the row's end that a vector may touch
DEPTH_BUCKETS = 256

# --- camera: 16 float32
CAMERA_FLOATS = 16  # position 0-2, right 3-5, down 6-8, forward 9-11, focal 12, centre 13, 14, far 15
CAMERA_FAR = 15

NEAR = np.float32(0.01)  # metres; the same near plane as Habitat's default camera
FAR_AWAY = np.float32(1e9)


def row_pitch(width: int) -> int:
    """Pixels from one row of the visibility buffer to the next: whole vectors, plus slack."""
    return (width + 15) // 16 * 16 + PITCH_SLACK


def hiz_stride(width: int) -> int:
    """Tiles from one row of hi-Z tiles to the next: an even number."""
    return (width + 2 * TILE - 1) // (2 * TILE) * 2
