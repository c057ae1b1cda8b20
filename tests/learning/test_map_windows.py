"""Windows as blocks that are not 0: what reads them beside the same of whole windows."""

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from navarena.learning.networks.map_windows import (  # noqa: E402
    BLOCKS,
    Windows,
    join_blocks,
    split_blocks,
    write_and_read,
)
from navarena.learning.networks.neural_maps import project, turn_maps  # noqa: E402
from navarena.learning.networks.window_encoder import MapQuery, WindowEncoder  # noqa: E402

pytestmark = pytest.mark.learn

FEATURES = 32


def draw_windows(count=3, share=0.3, seed=0):
    """Windows whose blocks are there by chance; the inner ones carry gradients."""
    draw = torch.Generator().manual_seed(seed)
    places = torch.nonzero(torch.rand(count * BLOCKS, generator=draw) < share)[:, 0]
    row, column = places % BLOCKS // 17, places % 17
    inner = torch.nonzero((row >= 5) & (row < 12) & (column >= 5) & (column < 12))[:, 0]
    values = torch.rand((len(places), 9, FEATURES), generator=draw)
    values[torch.rand(values.shape[:2], generator=draw) < 0.3] = 0.0
    return Windows(count, places, values, inner, values[inner].requires_grad_())


def all_gradients(module, windows, outcome):
    draw = torch.Generator().manual_seed(9)
    outcome = outcome.float()
    wanted = torch.randn(outcome.shape, generator=draw)
    return torch.autograd.grad((outcome * wanted).sum(), [*module.parameters(), windows.own])


# gradients in bfloat16 lie 7 % from those in float32 either way: ReLUs turn at other places
@pytest.mark.parametrize(
    ("dtype", "apart", "turned"), [(torch.float32, 1e-5, 1e-5), (torch.bfloat16, 0.02, 0.15)]
)
def test_the_encoder_is_that_of_whole_windows(dtype, apart, turned):
    torch.manual_seed(0)
    encoder, windows = WindowEncoder(16), draw_windows()
    for one in encoder.parameters():
        torch.nn.init.normal_(one, 0.0, 0.05)
    with torch.autocast("cpu", torch.bfloat16, enabled=dtype == torch.bfloat16):
        found = encoder(windows)
        expected = encoder.layers(windows.whole().permute(0, 3, 1, 2))
    assert found.dtype == dtype and found.any()
    assert (found - expected).abs().max() < apart * expected.abs().max()
    for one, other in zip(
        all_gradients(encoder, windows, found), all_gradients(encoder, windows, expected), strict=True
    ):
        assert (one - other).norm() < turned * other.norm()


def query_all_cells(query, asked, windows):
    """The read of MapQuery, of whole windows (B, 51, 51, F)."""
    asks, sharp = query.layer(asked).split((FEATURES, 1), 1)
    cells = windows.flatten(1, 2)
    alike = torch.nn.functional.cosine_similarity(cells, asks[:, None], 2)
    shares = torch.softmax(alike * (1.0 + torch.nn.functional.softplus(sharp)), 1)
    side = torch.linspace(-1.0, 1.0, 51)
    rows, columns = torch.meshgrid(side, side, indexing="ij")
    places = torch.stack((columns.flatten(), rows.flatten()), 1)
    return torch.cat((torch.einsum("bk,bkf->bf", shares, cells), shares @ places), 1)


@pytest.mark.parametrize("bias", [0.0, 100.0])  # of the sharpness: one cell then has nearly all
def test_the_query_is_that_of_all_cells(bias):
    torch.manual_seed(0)
    query, windows, asked = MapQuery(8), draw_windows(), torch.randn(3, 8)
    with torch.no_grad():
        query.layer.bias[-1] = bias
    found, expected = query(asked, windows), query_all_cells(query, asked, windows.whole())
    assert (found - expected).abs().max() < 1e-5 * (1 + bias)
    ours, theirs = all_gradients(query, windows, found), all_gradients(query, windows, expected)
    for one, other in zip(ours[:2], theirs[:2], strict=True):
        assert (one - other).norm() < 1e-4 * (1 + bias) * other.norm()
    kept = windows.own.detach().any(2)  # a cell of zeros has no direction, and gets no gradient
    assert (ours[2] - theirs[2])[kept].norm() < 1e-4 * (1 + bias) * theirs[2][kept].norm()
    assert not ours[2][~kept].isnan().any()


def test_windows_without_anything_are_read():
    windows = Windows(
        2, torch.zeros(0, dtype=torch.int64), torch.zeros(0, 9, FEATURES), torch.zeros(0).long()
    )
    encoder, query = WindowEncoder(16), MapQuery(8)
    assert torch.equal(encoder(windows), encoder.layers(torch.zeros(2, FEATURES, 51, 51)))
    assert query(torch.randn(2, 8), windows).abs().max() == 0.0
    assert not windows.whole().any()


def test_blocks_are_split_and_joined():
    windows = torch.rand(2, 51, 51, 3)
    assert torch.equal(join_blocks(split_blocks(windows)), windows)
    assert torch.equal(split_blocks(windows)[1, 17 * 2 + 4, 5], windows[1, 2 * 3 + 1, 4 * 3 + 2])


def test_blocks_far_from_what_is_written_are_not_read():
    maps, turned = torch.zeros(61**2, FEATURES), torch.zeros(1, 169, FEATURES)
    turned[0, 84] = 1.0  # in the body's own cell
    poses, mask = torch.tensor([[[0.1, 0.1, 0.7]]]), torch.ones(1, 1, dtype=torch.bool)
    windows, wins = write_and_read(maps, turned, poses, mask, 61)
    assert maps.any(1).sum() == 1 and wins[0].any(1).nonzero().tolist() == [[84]]
    assert 1 <= len(windows.places) <= 9 and len(windows.inner) == len(windows.places)
    windows, _ = write_and_read(maps, turned, poses, mask, 61, reads_inner=True)
    assert len(windows.places) == 49
    assert (windows.whole()[0, 25, 25] == 1.0).all()


def test_the_gradient_of_turning_is_its_transpose():
    draw = torch.Generator().manual_seed(0)
    turns = 20 * torch.rand(50, generator=draw) - 10
    for own, side in ((13, 13), (13, 19), (19, 13)):
        maps = torch.randn((50, own, own, 3), generator=draw, requires_grad=True)
        wanted = torch.randn((50, side, side, 3), generator=draw)
        product = (turn_maps(maps, turns, side) * wanted).sum((1, 2, 3))
        (found,) = torch.autograd.grad(product.sum(), maps)
        assert torch.allclose((maps * found).sum((1, 2, 3)), product, atol=1e-3)


def test_equal_features_of_a_cell_share_the_gradient():
    features = torch.tensor([[[[1.0, 1.0], [1.0, 0.5]]]], requires_grad=True)
    depth = torch.full((1, 4, 4), 2.0)
    found = project(features, depth, math.radians(1), 4)  # all sixteen points lie in one cell
    found.sum().backward()
    assert np.allclose(features.grad.flatten(), [1 / 3, 1 / 3, 1 / 3, 0.0])


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_windows_of_few_blocks_do_not_depend_on_others(count):
    encoder, others = WindowEncoder(16), draw_windows(1)
    values = torch.rand((count, 9, FEATURES), generator=torch.Generator().manual_seed(1))
    none = torch.zeros(0, dtype=torch.int64)
    alone = Windows(2, torch.arange(count), values, none)
    both = Windows(
        2, torch.cat((alone.places, BLOCKS + others.places)), torch.cat((values, others.values)), none
    )
    with torch.no_grad():
        assert torch.equal(encoder(alone)[0], encoder(both)[0])
