"""Redwood's noise against its steps in plain Python, with both tables."""

from pathlib import Path

import numpy as np
import pytest

from navarena.core.errors import FileError, InputError
from navarena.core.seeding import make_generator
from navarena.corruptions import find_corruption
from navarena.corruptions.normals import draw_normals
from navarena.corruptions.redwood import TABLE_VARIABLE, load_table, smooth_table

from .images import draw_depth


def plain_redwood(depth: np.ndarray, noise: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Jitter, even pixels, distortion, disparities in eighths, pixel by pixel."""
    height, width = depth.shape
    measured = np.zeros_like(depth)
    for j in range(height):
        for i in range(width):
            y = int(min(max(j + 0.25 * noise[j, i, 0], 0), height - 1) + 0.5)
            x = int(min(max(i + 0.25 * noise[j, i, 1], 0), width - 1) + 0.5)
            d = float(depth[y - y % 2, x - x % 2])
            cell = table[
                int(y / (height - 1) * 479 + 0.5) // 6,
                int(x / (width - 1) * 639 + 0.5) // 8,
            ].astype(float)
            f = float(np.interp(d, [1, 3, 5, 7, 9], cell))
            if d >= 10 or d == 0 or f < 1e-5:
                continue
            disparity = round((35.13 / (d / f) + 0.027778 * float(noise[j, i, 2])) * 8)
            measured[j, i] = 35.13 * 8 / disparity if disparity > 0 else 0
    return measured


@pytest.fixture
def published(real_data: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = real_data / "noise" / "redwood-depth-dist-model.npy"
    monkeypatch.setenv(TABLE_VARIABLE, str(path))
    return path


def check(text: str, table: np.ndarray) -> None:
    depth = draw_depth(48, 64)
    depth[40:, :10] = 12
    corrupted = find_corruption(text).corrupt(depth[None, :, :, None], [make_generator("redwood")])
    noise = draw_normals(make_generator("redwood"), 48, 64, 3)
    expected = plain_redwood(depth, noise, table)
    assert np.allclose(corrupted[0, :, :, 0], expected, rtol=1e-6)
    assert (expected > 0).mean() > 0.6 and not expected[42:, :8].any()


def test_every_step_with_our_fit() -> None:
    check("redwood_depth", smooth_table())


@pytest.mark.real_data
def test_every_step_with_the_published_table(published: Path) -> None:
    """Its rows of 400 numbers are 80 cells of 5 layers, the first axis from above."""
    check("redwood_depth:published", np.load(published).reshape(80, 80, 5))


@pytest.mark.real_data
def test_our_fit_is_near_the_published_table(published: Path) -> None:
    theirs, ours = load_table(published), smooth_table()
    assert ((theirs > 0) == (ours > 0)).mean() > 0.99
    both = (theirs > 0) & (ours > 0)
    for layer, most in enumerate((0.0025, 0.0055, 0.0095, 0.0135, 0.0175)):
        error = (theirs - ours)[both[..., layer], layer]
        assert np.sqrt((error**2).mean()) < most, layer


def test_noise_grows_with_the_square_of_depth() -> None:
    """Disparities of equal error make depths of error z^2 / 35.13, plus quantisation."""
    spreads = {}
    for metres in (2.0, 6.0):
        depth = np.full((1, 240, 320, 1), metres, np.float32)
        corrupted = find_corruption("redwood_depth").corrupt(depth, [make_generator("square")])[0, :, :, 0]
        middle = corrupted[115:125, 155:165]
        step = metres**2 / 35.13 / 8
        expected = np.hypot(0.027778 * metres**2 / 35.13, step / np.sqrt(12))
        spreads[metres] = middle.std() / expected
    assert all(0.5 < ratio < 1.6 for ratio in spreads.values()), spreads


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (np.zeros((80, 80)), "80 x 80 x 5"),
        (np.full((80, 400), -1.0), "finite numbers from 0"),
        (np.full((80, 80, 5), np.nan), "finite numbers from 0"),
        (np.ones((80, 400), int), "finite numbers from 0"),
        (b"not an array", "damaged or of another kind"),
        (b"\x93NUMPY\x01\x00\x06\x00{'a\x00\n\n", "damaged or of another kind"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, content: np.ndarray | bytes, message: str) -> None:
    path = tmp_path / "table.npy"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        np.save(path, content)
    with pytest.raises(FileError, match=message):
        load_table(path)


def test_missing_file_and_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(TABLE_VARIABLE, raising=False)
    with pytest.raises(InputError, match=f"expected {TABLE_VARIABLE} to name"):
        find_corruption("redwood_depth:published")
    monkeypatch.setenv(TABLE_VARIABLE, str(tmp_path / "none.npy"))
    with pytest.raises(FileError, match="distortion table .* does not exist"):
        find_corruption("redwood_depth:published")
