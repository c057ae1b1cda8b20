"""Features of the 36 views of each place, from files of the community's layouts."""

import base64
import binascii
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float32

from navarena.core.errors import FileError, InputError, require_extra
from navarena.core.files import atomic_path
from navarena.scenes.graphs.panorama import VIEWS

TSV_COLUMNS = ("scanId", "viewpointId", "image_w", "image_h", "vfov", "features")
"""Columns of R2R's precomputed features (`ResNet-152-imagenet.tsv`); the last is base64 of float32."""


FEATURE_RANGE = (1e-9, 1e6)
MOST_STRANGE = 0.05
"""Sizes of the features of encoders; share of those out of this range in a file of another type."""


@runtime_checkable
class ViewFeatures(Protocol):
    """Interface of view features of places: from a file, or from an encoder of rendered images.

    Attributes:
        size: numbers per view.
    """

    size: int

    def views(self, scan: str, viewpoint: str) -> Float32[np.ndarray, "36 d"]:
        """(36, D) float32 values, one row per view; raises FileError or InputError for an unknown place."""
        ...


class StoredFeatures:
    """Features in memory.

    Args:
        table: (scan, viewpoint) -> (36, D) float32.
        source: where they come from, for messages.
    """

    def __init__(self, table: dict[tuple[str, str], Float32[np.ndarray, "36 d"]], source: str) -> None:
        if not table:
            raise FileError(f"expected features of at least one place in {source}, got none")
        self._table, self._source = table, source
        self.size = int(next(iter(table.values())).shape[1])

    def views(self, scan: str, viewpoint: str) -> Float32[np.ndarray, "36 d"]:
        """(36, D) float32 values; raises FileError, naming the place, when the file has none for it."""
        found = self._table.get((scan, viewpoint))
        if found is None:
            raise FileError(f"{self._source} has no features of viewpoint {viewpoint} in scan {scan}")
        return found

    def require(self, places: Iterable[tuple[str, str]]) -> None:
        """Raise FileError when features of one of the (scan, viewpoint) are missing."""
        for scan, viewpoint in places:
            self.views(scan, viewpoint)


def load_tsv_features(
    path: Path, size: int | None = None, scans: Iterable[str] | None = None
) -> StoredFeatures:
    """Read R2R's layout: tab-separated lines of TSV_COLUMNS, 36 x `size` float32 each.

    Args:
        path: the file.
        size: numbers per view; None for as many as the first line has.
        scans: only these are kept; None for all.

    Raises FileError naming file, line, place and reason for a broken line, one of another size, and a place
    that occurs twice.
    """
    wanted = None if scans is None else set(scans)
    table: dict[tuple[str, str], np.ndarray] = {}
    try:
        with Path(path).open(encoding="ascii") as file:
            for number, line in enumerate(file, 1):
                cells = line.rstrip("\n").split("\t")
                if len(cells) != len(TSV_COLUMNS):
                    raise FileError(
                        f"features {path}, line {number}: expected {len(TSV_COLUMNS)} columns "
                        f"({', '.join(TSV_COLUMNS)}), got {len(cells)}"
                    )
                if cells == list(TSV_COLUMNS) or (wanted is not None and cells[0] not in wanted):
                    continue
                where = f"features {path}, line {number}, scan {cells[0]}, viewpoint {cells[1]}"
                if (cells[0], cells[1]) in table:
                    raise FileError(f"{where}: expected each place once, got it again")
                views = _decode(cells[-1], size, where)
                table[cells[0], cells[1]], size = views, views.shape[1]
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"cannot read features {path}: {error}") from error
    return StoredFeatures(table, f"features {path}")


def _decode(text: str, size: int | None, where: str) -> Float32[np.ndarray, "36 d"]:
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise FileError(f"{where}: not base64 ({error})") from error
    found, rest = divmod(len(data), VIEWS * np.dtype(np.float32).itemsize)
    if rest or not found or size not in (None, found):
        wanted = "the same number for each view" if size is None else f"{VIEWS * size * 4} bytes"
        raise FileError(
            f"{where}: expected {VIEWS} x {size or 'D'} float32 ({wanted}), got {len(data)} bytes"
        )
    values = np.frombuffer(data, np.float32).reshape(VIEWS, found)
    _require_float32(values, where)
    return require_features(values, size, where)


def _require_float32(values: Float32[np.ndarray, "36 d"], where: str) -> None:
    """Raise FileError for (36, D) values that only numbers of 16 or 64 bits give when they are read as 32.

    Bytes of others become exponents then, so that many values are far larger or smaller than any feature.
    """
    sizes = np.abs(values[values != 0])
    strange = float(((sizes > FEATURE_RANGE[1]) | (sizes < FEATURE_RANGE[0])).mean()) if sizes.size else 0.0
    if strange > MOST_STRANGE:
        raise FileError(
            f"{where}: expected float32, got {100 * strange:.0f} % of the values above "
            f"{FEATURE_RANGE[1]:g} or below {FEATURE_RANGE[0]:g}; write the file anew as float32"
        )


def require_features(values: np.ndarray, size: int | None, where: str) -> Float32[np.ndarray, "36 d"]:
    """`values` as (36, D) float32; raises FileError for another shape, another `size`, NaN or infinity."""
    if values.ndim != 2 or values.shape[0] != VIEWS or (size is not None and values.shape[1] < size):
        raise FileError(f"{where}: expected shape ({VIEWS}, {size or 'D'}), got {values.shape}")
    kept = values if size is None else values[:, :size]
    if not np.isfinite(kept).all():
        raise FileError(f"{where}: expected finite features, got NaN or infinity")
    return np.ascontiguousarray(kept, np.float32)


class Hdf5Features:
    """HAMT's layout: one data set `{scan}_{viewpoint}` of shape (36, at least D) in an HDF5 file.

    Rows are read when asked for. Needs h5py: `pip install 'navarena[features]'`.

    Args:
        path: the file.
        size: numbers per view that are used, the first ones of a longer row; None for all.
    """

    def __init__(self, path: Path, size: int | None = None) -> None:
        h5py = require_extra("h5py", "features")
        try:
            self._file: Any = h5py.File(path, "r")
        except OSError as error:
            raise FileError(f"cannot read features {path}: {error}") from error
        if not len(self._file):
            raise FileError(f"expected features of at least one place in {path}, got none")
        self._path = path
        if size is None:
            first = next(iter(self._file.values()))
            while not isinstance(
                first, h5py.Dataset
            ):  # scenes whose names have a "/" are folders of the file
                if not len(first):
                    raise FileError(f"expected features of at least one place in {path}, got an empty folder")
                first = next(iter(first.values()))
            size = int(first.shape[-1])
        self.size = size

    def views(self, scan: str, viewpoint: str) -> Float32[np.ndarray, "36 d"]:
        """(36, D) float32 values; raises FileError when the place is missing or of another size."""
        key = f"{scan}_{viewpoint}"
        if key not in self._file:
            raise FileError(f"features {self._path} have no {key}")
        return require_features(np.asarray(self._file[key]), self.size, f"features {self._path}, {key}")

    def require(self, places: Iterable[tuple[str, str]]) -> None:
        """Raise FileError when features of one of the (scan, viewpoint) are missing."""
        for scan, viewpoint in places:
            if f"{scan}_{viewpoint}" not in self._file:
                raise FileError(f"features {self._path} have no {scan}_{viewpoint}")


def save_hdf5_features(
    path: Path,
    features: ViewFeatures,
    places: Iterable[tuple[str, str]],
    image_size: tuple[int, int],
    vfov_deg: float,
) -> int:
    """Write HAMT's layout, which `Hdf5Features` reads; the number of places. Equal features, equal bytes.

    Each data set `{scan}_{viewpoint}` is (36, D) float32, packed by gzip, with the attributes of the
    reference (precompute_img_features_vit.py): scanId, viewpointId, image_w, image_h, vfov.

    Args:
        path: to write, .hdf5 or .h5.
        features: of the views.
        places: (scan, viewpoint), in the order of the file.
        image_size: (width, height) pixels of the views.
        vfov_deg: vertical field of view, degrees.

    Raises InputError for another ending, MissingExtraError without h5py, StorageError where the disk refuses.
    """
    if Path(path).suffix not in (".hdf5", ".h5"):
        raise InputError(f"expected a file that ends in .hdf5 or .h5, got {path}")
    h5py, count = require_extra("h5py", "features"), 0
    with atomic_path(Path(path)) as temporary, h5py.File(temporary, "w", track_order=False) as file:
        for scan, viewpoint in places:
            values = require_features(features.views(scan, viewpoint), features.size, f"{scan}_{viewpoint}")
            one = file.create_dataset(
                f"{scan}_{viewpoint}", data=values, compression="gzip", track_times=False
            )
            one.attrs["scanId"], one.attrs["viewpointId"] = scan, viewpoint
            one.attrs["image_w"], one.attrs["image_h"] = image_size
            one.attrs["vfov"] = vfov_deg
            count += 1
    return count


def load_features(
    path: Path, size: int | None = None, scans: Iterable[str] | None = None
) -> StoredFeatures | Hdf5Features:
    """Features by the file's ending: .tsv (R2R), .hdf5 or .h5 (HAMT); `size` None for the file's own."""
    if Path(path).suffix == ".tsv":
        return load_tsv_features(path, size, scans)
    if Path(path).suffix in (".hdf5", ".h5"):
        return Hdf5Features(path, size)
    raise FileError(f"expected a features file that ends in .tsv, .hdf5 or .h5, got {path}")
