"""Reader of Matterport3D connectivity files: `{scan}_connectivity.json`, loose in a folder or in a tarball.

Each file lists the panoramas of a scan. Two panoramas are joined when both are included and one is
unobstructed from the other (Matterport3DSimulator, NavGraph; R2R's `load_nav_graphs`).
"""

import io
import tarfile
from pathlib import Path, PurePosixPath

import msgspec
import numpy as np

from navarena.core.errors import FileError, unknown_name
from navarena.core.files import DAMAGE, decode_json, read_bytes
from navarena.core.geometry import world_from_z_up
from navarena.scenes.graphs.graph import NavGraph

SUFFIX = "_connectivity.json"
KIND = "connectivity file"


class _Panorama(msgspec.Struct):
    image_id: str
    pose: list[float]
    included: bool
    unobstructed: list[bool]
    height: float = 0.0


class Connectivity:
    """The navigation graphs of many scans; each is read when it is first asked for.

    Args:
        path: a folder that holds `{scan}_connectivity.json` (at any depth), or a tarball of such a
            folder (.tar, .tar.gz, .tgz, ...).

    Raises FileError when nothing of that kind is there.
    """

    def __init__(self, path: Path) -> None:
        self.path = Path(path)
        if not self.path.exists():
            raise FileError(f"connectivity {self.path} does not exist; give a folder or a tarball")
        self._packed: dict[str, bytes] = {}
        self._files: dict[str, Path] = {}
        if self.path.is_dir():
            files = sorted(self.path.rglob(f"[!.]*{SUFFIX}"))  # archives of some systems add "._" files
            self._files = {scan_of(file.name): file for file in files}
        else:
            self._packed = _read_tarball(self.path)
        if not (self._packed or self._files):
            raise FileError(
                f"expected files *{SUFFIX} in {self.path}, got none; give the folder that holds them"
            )
        self._graphs: dict[str, NavGraph] = {}

    @property
    def scans(self) -> tuple[str, ...]:
        """Ids of the scans, sorted."""
        return tuple(sorted({*self._packed, *self._files}))

    def __contains__(self, scan: object) -> bool:
        return scan in self._packed or scan in self._files

    def graph(self, scan: str) -> NavGraph:
        """The graph of a scan; raises UnknownNameError for another scan, FileError for a broken file."""
        if scan not in self:
            raise unknown_name(f"scan in {self.path}", scan, self.scans)
        if scan not in self._graphs:
            if scan in self._files:
                name, data = str(self._files[scan]), read_bytes(self._files[scan], KIND)
            else:
                name, data = f"{self.path}:{scan}{SUFFIX}", self._packed[scan]
            self._graphs[scan] = parse_connectivity(data, scan, name)
        return self._graphs[scan]


def scan_of(file_name: str) -> str:
    """The scan that a connectivity file is named after."""
    return file_name.removesuffix(SUFFIX)


def _read_tarball(path: Path) -> dict[str, bytes]:
    """Scan -> content of its file in the tarball."""
    found: dict[str, bytes] = {}
    data = read_bytes(path, "tarball of connectivity files")
    try:
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            for member in archive:
                name = PurePosixPath(member.name).name
                if not (member.isfile() and name.endswith(SUFFIX)) or name.startswith("."):
                    continue
                file = archive.extractfile(member)
                if file is not None:
                    found[scan_of(name)] = file.read()
    except (tarfile.TarError, *DAMAGE) as error:
        raise FileError(
            f"expected a folder or a tarball of connectivity files, got {path}: {error}"
        ) from error
    return found


def parse_connectivity(data: bytes, scan: str, name: str) -> NavGraph:
    """The graph of `scan` from the JSON of its connectivity file.

    A place enters the graph only through an edge: included panoramas that nothing is joined to
    are absent, as in R2R's loader. Raises FileError, with the file's `name`, for broken data.
    """
    panoramas: list[_Panorama] = decode_json(data, f"{KIND} {name}", list[_Panorama])
    count = len(panoramas)
    for row, panorama in enumerate(panoramas):
        if len(panorama.pose) != 16 or len(panorama.unobstructed) != count:
            raise FileError(
                f"{KIND} {name}: expected 16 numbers of pose and {count} of `unobstructed` in panorama "
                f"{row} ({panorama.image_id}), got {len(panorama.pose)} and {len(panorama.unobstructed)}"
            )
    included = np.array([panorama.included for panorama in panoramas], bool)
    joined = np.array([panorama.unobstructed for panorama in panoramas], bool).reshape(count, count)
    joined &= included[:, None] & included
    if (joined != joined.T).any():
        a, b = (panoramas[int(k)].image_id for k in np.argwhere(joined != joined.T)[0])
        raise FileError(f"{KIND} {name}: expected edges in both directions, got one only between {a} and {b}")
    np.fill_diagonal(joined, False)
    kept = np.flatnonzero(joined.any(1))
    if not len(kept):
        raise FileError(f"{KIND} {name}: expected at least one edge, got none among {count} panoramas")
    pose = np.array([panoramas[k].pose for k in kept], float).reshape(-1, 4, 4)
    return NavGraph(
        scan=scan,
        viewpoints=tuple(panoramas[k].image_id for k in kept),
        positions=world_from_z_up(pose[:, :3, 3]),
        edges=np.argwhere(np.triu(joined[np.ix_(kept, kept)])).astype(np.int64),
        camera_heights=np.array([panoramas[k].height for k in kept], float),
    )
