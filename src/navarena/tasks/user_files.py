"""Files of the user's that a protocol needs beside its episodes."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from navarena.core.errors import InputError

HOUSE_FEATURES = ("colours", "classes")
"""Features of generated houses: colours, or (privileged) categories, of parts of a view."""


@dataclass(frozen=True)
class Sources:
    """Files of the user's that a protocol needs beside its episodes, by path; None for none.

    Attributes:
        scenes: folder of meshes in the place of those that an episode file names; on graphs the folder or
            tarball of Matterport3D connectivity files.
        tours: tour file of IVLN, for protocols with tours.
        references: gt_ndtw.json of IVLN-CE: the paths that metrics compare with.
        features: of the 36 views of each place on a graph: .tsv (R2R) or .hdf5 (HAMT); in generated houses
            also one of HOUSE_FEATURES by name.
        vocabulary: file of words that encodes instructions for the sensor instruction_tokens.
    """

    scenes: str | None = None
    tours: str | None = None
    references: str | None = None
    features: str | None = None
    vocabulary: str | None = None

    def absolute(self) -> "Sources":
        """The files by absolute paths, so that a run can be replayed from any directory."""
        return Sources(
            **{
                name: path if path is None or path in HOUSE_FEATURES else str(Path(path).resolve())
                for name, path in vars(self).items()
            }
        )

    def require_none(self, names: Sequence[str], protocol_id: str) -> None:
        """Raise InputError for a file among `names` that the protocol has no use for."""
        given = [name for name in names if getattr(self, name) is not None]
        if given:
            raise InputError(f"expected no {given[0]} for {protocol_id}, got {getattr(self, given[0])}")


NO_SOURCES = Sources()
"""No files of the user's."""
