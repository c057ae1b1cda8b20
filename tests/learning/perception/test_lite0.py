"""EfficientNet-Lite0: its layout, its padding, and features that are kept."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from navarena.core.errors import FileError, MissingExtraError  # noqa: E402
from navarena.core.seeding import make_generator  # noqa: E402
from navarena.learning.perception.lite0 import CHUNK, FrozenTrunk, Lite0, _SameConv  # noqa: E402

pytestmark = pytest.mark.learn


@pytest.fixture(scope="module")
def trunk():
    torch.manual_seed(0)
    return FrozenTrunk(Lite0().state_dict())


IMAGES = make_generator("images").integers(0, 256, (3, 64, 96, 3)).astype(np.uint8)


def test_the_layout_is_that_of_the_package():
    weights = Lite0().state_dict()
    assert len(weights) == 296
    assert sum(one.numel() for one in weights.values() if one.is_floating_point()) == 4_694_024
    assert weights["_blocks.0._depthwise_conv.weight"].shape == (32, 1, 3, 3)
    assert "_blocks.0._expand_conv.weight" not in weights
    assert weights["_blocks.15._project_conv.weight"].shape == (320, 1152, 1, 1)
    with pytest.raises(FileError, match="no weights of EfficientNet-Lite0"):
        FrozenTrunk({"_fc.bias": torch.zeros(1000)})


def test_an_odd_pixel_of_padding_goes_right_and_down():
    layer = _SameConv(1, 1, 3, 2, bias=False)
    torch.nn.init.ones_(layer.weight)
    with torch.inference_mode():
        shown = layer(torch.arange(16.0).reshape(1, 1, 4, 4))
    assert shown[0, 0].tolist() == [[45.0, 39.0], [66.0, 50.0]]


def test_features_have_their_shapes_and_do_not_depend_on_the_batch(trunk):
    pooled, maps = trunk.encode(IMAGES), trunk.encode(IMAGES, "map")
    assert pooled.shape == (3, 1280) and maps.shape == (3, 2, 3, 320) and pooled.dtype == np.float16
    assert np.array_equal(trunk.encode(IMAGES[1:2])[0], pooled[1])
    assert trunk.encode(IMAGES[:0]).shape == (0, 1280)


def test_an_image_has_the_same_bits_in_any_chunk(trunk):
    images = make_generator("chunks").integers(0, 256, (2 * CHUNK + 1, 96, 96, 3)).astype(np.uint8)
    alone = np.concatenate([trunk.encode(image[None]) for image in images])
    for count in (2, CHUNK - 1, CHUNK, CHUNK + 1, len(images)):
        np.testing.assert_array_equal(trunk.encode(images[-count:]), alone[-count:])


def test_folded_normalisations_change_nothing_but_rounding():
    torch.manual_seed(2)
    network = Lite0()
    shown = torch.from_numpy(IMAGES.astype(np.float32))
    with torch.no_grad():
        for _ in range(3):  # statistics other than 0 and 1
            network.train().map(shown)
    expected = network.eval()(shown)
    network.fold_norms()
    assert not any(isinstance(one, torch.nn.BatchNorm2d) for one in network.modules())
    torch.testing.assert_close(network(shown), expected, rtol=1e-3, atol=1e-4)
    assert float(expected.detach().std()) > 1e-3


def test_features_are_kept_by_what_they_are_of(trunk, tmp_path, monkeypatch):
    monkeypatch.setenv("NAVARENA_CACHE", str(tmp_path))
    first = np.array(trunk.load_or_encode(IMAGES))
    assert np.array_equal(first, trunk.encode(IMAGES))
    files = list((tmp_path / "packs" / "features").glob("*.pack"))
    assert len(files) == 1
    with monkeypatch.context() as context:
        context.setattr(trunk, "encode", lambda *arguments: pytest.fail("encoded again"))
        assert np.array_equal(trunk.load_or_encode(IMAGES.copy()), first)
    for images, layer in ((IMAGES[::-1], "pooled"), (IMAGES, "map")):
        trunk.load_or_encode(np.ascontiguousarray(images), layer)
    torch.manual_seed(1)
    FrozenTrunk(Lite0().state_dict()).load_or_encode(IMAGES)
    assert len(list((tmp_path / "packs" / "features").glob("*.pack"))) == 4


def test_the_package_or_how_to_install_it():
    try:
        trunk = FrozenTrunk()
    except MissingExtraError as error:
        assert "navarena[trunk]" in str(error)
        return
    assert len(trunk.digest) == 64 and np.isfinite(trunk.encode(IMAGES)).all()
